"""Rows of the leaderboard: an entry as finished text, each number with the address that it opens."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from django.urls import reverse

from benchmarks.pages import Figure
from jobs.board import Board, short_hash, threshold_words
from jobs.entries import Entry
from jobs.models import Tally
from jobs.pages import BoardRow, CategoryCell, IntervalBar
from plural_site import formats

OUTCOMES = {
    "scored": "scored",
    "agent_failure": "agent failures",
    "infrastructure_error": "infrastructure errors",
    "cancelled": "cancelled",
    "pending": "pending",
}


@dataclass(frozen=True, slots=True)
class _Links:
    """Addresses of an entry's Trials and Jobs."""

    trials: str
    jobs: str

    def trials_with(self, name: str, value: str) -> str:
        return f"{self.trials}&{name}={quote(value)}"


class RowBuilder:
    def __init__(self, board: Board) -> None:
        self.board = board
        self.scoring = board.scoring
        self.low, self.high = board.scoring.score_range
        self.trials_path = reverse("jobs:trials", args=[board.project.slug])
        self.jobs_path = reverse("jobs:jobs", args=[board.project.slug])

    def _links(self, entry: Entry) -> _Links:
        query = {
            "benchmark": self.board.revision.resource.slug,
            "revision": str(self.board.revision.number),
            "track": self.board.selection.key,
            "agent": short_hash(entry.configuration.content_hash),
        }
        return _Links(f"{self.trials_path}?{urlencode(query)}", f"{self.jobs_path}?{urlencode(query)}")

    def row(self, entry: Entry) -> BoardRow:
        overall, latest = entry.overall, entry.agents[0]
        links = self._links(entry)
        href = links.trials
        names = [formats.clean_text(name) for name in entry.names]
        return BoardRow(
            key=short_hash(entry.configuration.content_hash),
            rank=formats.DASH if entry.rank is None else f"{entry.rank}{'=' if entry.shares_rank else ''}",
            agent=names[0],
            also_named=tuple(names[1:]),
            model=formats.clean_text(entry.configuration.model),
            harness=formats.clean_text(f"{latest.harness} {latest.harness_version}".strip())
            or "built-in loop",
            href=href,
            score=self._score(overall, href),
            interval=self._interval(overall),
            success=self._success(overall, href),
            spread=self._spread(entry, href),
            pass_hat=self._pass_hat(entry, href),
            coverage=self._coverage(overall, href),
            cost=self._cost(overall, links.trials_with("measured", "cost")),
            total_cost=self._total(overall, links.trials_with("measured", "cost")),
            latency=self._latency(overall, links.trials_with("measured", "latency")),
            jobs=Figure(formats.count(len(entry.job_ids)), href=links.jobs),
            attempts=self._attempts(entry, href),
            outcomes=tuple(
                Figure(formats.count(overall.outcomes[key]), label, href=links.trials_with("outcome", key))
                for key, label in OUTCOMES.items()
                if overall.outcomes.get(key)
            ),
            categories=tuple(self._category(links, row) for row in entry.categories)
            if self.board.state.view
            else (),
            reasons=() if entry.rank is not None else formats.clean_texts(overall.reasons),
        )

    def _text(self, value: float | None) -> str:
        return formats.score_text(value, self.low, self.high)

    def _score(self, row: Tally, href: str) -> Figure:
        if row.score is None:
            return Figure(formats.DASH, "No Task has a valid attempt", href=href)
        return Figure(self._text(row.score), str(row.score), href=href)

    def _interval(self, row: Tally) -> IntervalBar:
        bar = formats.interval_bar(row.score, row.low, row.high, self.low, self.high)
        if row.score is None:
            return IntervalBar(None, None, None, "no score", "no score", "No Task has a valid attempt.")
        if row.low is None or row.high is None:
            reason = row.detail_text("unavailable_reason")
            return IntervalBar(
                bar.point_x, None, None, f"{self._text(row.score)}, no interval", "no interval", reason
            )
        text = f"{self._text(row.low)} – {self._text(row.high)}"
        same = "Every Task scores the same, so the formula gives no width." if row.low == row.high else ""
        label = f"{self._text(row.score)}, interval {self._text(row.low)} to {self._text(row.high)}"
        return IntervalBar(bar.point_x, bar.low_x, bar.width, label, text, same)

    def _success(self, row: Tally, href: str) -> Figure:
        if row.success_rate is None:
            why = (
                "No attempt is valid"
                if self.scoring.success_threshold is not None
                else threshold_words(self.scoring)
            )
            return Figure(formats.DASH, why)
        return Figure(formats.percent(row.success_rate), note=f"{row.successes} of {row.valid}", href=href)

    def _spread(self, entry: Entry, href: str) -> Figure:
        spread = entry.consistency("spread")
        if spread is None:
            return Figure(formats.DASH, "No Task has two valid attempts")
        return Figure(formats.score_text(spread, self.low, self.high), str(spread), href=href)

    def _pass_hat(self, entry: Entry, href: str) -> Figure:
        value = entry.consistency("pass_hat")
        if value is None:
            return Figure(formats.DASH, "Needs a pass mark and a valid attempt")
        k = entry.overall.detail["consistency"]["k"]
        return Figure(formats.percent(value), note=f"k = {k}", href=href)

    def _coverage(self, row: Tally, href: str) -> Figure:
        covered, total = row.detail["tasks_covered"], row.detail["tasks_total"]
        return Figure(formats.percent(row.coverage), note=f"{covered} of {total}", href=href)

    def _cost(self, row: Tally, href: str) -> Figure:
        measured = f"measured {row.cost_measured} of {row.cost_attempts}"
        if row.cost is None:
            return Figure(formats.DASH, "No attempt reported a cost", measured)
        least = "≥ " if row.cost_partial else ""
        title = "A lower bound: some calls reported no cost" if row.cost_partial else str(row.cost)
        return Figure(f"{least}{formats.money(row.cost)}", title, measured, href)

    def _total(self, row: Tally, href: str) -> Figure:
        if row.cost_total is None:
            return Figure(formats.DASH, "No attempt reported a cost")
        least = "≥ " if row.cost_partial or row.cost_measured < row.cost_attempts else ""
        title = "A lower bound: not every attempt reported its whole cost" if least else str(row.cost_total)
        return Figure(f"{least}{formats.money(row.cost_total)}", title, href=href)

    def _latency(self, row: Tally, href: str) -> Figure:
        measured = f"measured {row.latency_measured} of {row.latency_attempts}"
        if row.latency is None:
            return Figure(formats.DASH, "No attempt reported a time", measured)
        return Figure(formats.seconds(row.latency), str(row.latency), measured, href)

    def _attempts(self, entry: Entry, href: str) -> Figure:
        row = entry.overall
        note = f"{row.attempts} of {row.planned} planned" if entry.missing else ""
        return Figure(formats.count(row.attempts), note=note, href=href)

    def _category(self, links: _Links, row: Tally) -> CategoryCell:
        covered, total = row.detail["tasks_covered"], row.detail["tasks_total"]
        href = links.trials_with("category", row.key)
        interval = "" if row.low is None else f"{self._text(row.low)} – {self._text(row.high)}"
        bar = formats.interval_bar(row.score, None, None, self.low, self.high)
        return CategoryCell(
            name=formats.clean_text(row.detail["name"]),
            score=Figure(
                self._text(row.score), "" if row.score is not None else "No valid attempt", href=href
            ),
            fill=round((bar.point_x or 0) / formats.BAR_WIDTH * 100, 1),
            interval=interval,
            coverage=f"{covered} of {total} Tasks",
        )
