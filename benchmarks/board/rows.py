"""Rows of a board: an entry as finished text, each number with the address that it opens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.board.parts import BoardRow, CategoryCell, IntervalBar
from benchmarks.board.types import Entry, Figures
from benchmarks.board.words import threshold_words
from benchmarks.domain.choice import NOT_PRICED
from benchmarks.domain.explanation import OUTCOME_NAMES
from benchmarks.domain.types import Scoring
from benchmarks.pages import Figure
from plural_site import formats


@dataclass(frozen=True, slots=True)
class RowLinks:
    """Addresses that a row opens. `main` is that of the name, `more` stand in the row's details."""

    main: str
    figure: Callable[..., str]
    """How a figure was computed, by its name and, as `category`, that of a Category; '' for nowhere."""
    more: tuple[Figure, ...] = ()


class FigureTexts:
    """Figures of an entry as text, on the score range of its release."""

    def __init__(self, scoring: Scoring) -> None:
        self.scoring = scoring
        self.low, self.high = scoring.score_range

    def _text(self, value: float | None) -> str:
        return formats.score_text(value, self.low, self.high)

    def score(self, row: Figures, href: str) -> Figure:
        return self.score_of(row.score, href)

    def interval(self, row: Figures, href: str) -> IntervalBar:
        return self.interval_of(row.score, row.low, row.high, row.unavailable_reason, href)

    def score_of(self, score: float | None, href: str) -> Figure:
        if score is None:
            return Figure(formats.DASH, "No Task has a valid attempt", href=href)
        return Figure(self._text(score), str(score), href=href)

    def interval_of(
        self, score: float | None, low: float | None, high: float | None, unavailable: str, href: str
    ) -> IntervalBar:
        bar = formats.interval_bar(score, low, high, self.low, self.high)
        if score is None:
            return IntervalBar(None, None, None, "no score", "no score", "No Task has a valid attempt.", href)
        if low is None or high is None:
            label = f"{self._text(score)}, no interval"
            return IntervalBar(bar.point_x, None, None, label, "no interval", unavailable, href)
        text = f"{self._text(low)} – {self._text(high)}"
        same = "Every Task scores the same, so the formula gives no width." if low == high else ""
        label = f"{self._text(score)}, interval {self._text(low)} to {self._text(high)}"
        return IntervalBar(bar.point_x, bar.low_x, bar.width, label, text, same, href)

    def success(self, row: Figures, href: str) -> Figure:
        if row.success_rate is None:
            why = (
                "No attempt is valid"
                if self.scoring.success_threshold is not None
                else threshold_words(self.scoring)
            )
            return Figure(formats.DASH, why, href=href)
        return Figure(formats.percent(row.success_rate), note=f"{row.successes} of {row.valid}", href=href)

    def coverage(self, row: Figures, href: str) -> Figure:
        note = f"{row.tasks_covered} of {row.tasks_total}"
        return Figure(formats.percent(row.coverage), note=note, href=href)

    def cost(self, row: Figures, href: str) -> Figure:
        measured = f"measured {row.cost_measured} of {row.cost_attempts}"
        if row.cost is None:
            return Figure(formats.DASH, "No attempt reported a cost", measured, href)
        least = "≥ " if row.cost_partial else ""
        title = "A lower bound: some calls reported no cost" if row.cost_partial else str(row.cost)
        if row.cost == 0:
            measured += ", reported as $0"
            those = "" if row.cost_measured >= row.cost_attempts else " that told its cost"
            title = title if least else f"Every attempt{those} reported a cost of exactly 0. {NOT_PRICED}"
        return Figure(f"{least}{formats.money(row.cost)}", title, measured, href)

    def total(self, row: Figures, href: str) -> Figure:
        if row.cost_total is None:
            return Figure(formats.DASH, "No attempt reported a cost", href=href)
        least = "≥ " if row.cost_partial or row.cost_measured < row.cost_attempts else ""
        title = "A lower bound: not every attempt reported its whole cost" if least else str(row.cost_total)
        return Figure(f"{least}{formats.money(row.cost_total)}", title, href=href)

    def latency(self, row: Figures, href: str) -> Figure:
        measured = f"measured {row.latency_measured} of {row.latency_attempts}"
        if row.latency is None:
            return Figure(formats.DASH, "No attempt reported a time", measured, href)
        return Figure(formats.seconds(row.latency), str(row.latency), measured, href)

    def board_row(self, entry: Entry, links: RowLinks, *, with_categories: bool) -> BoardRow:
        overall = entry.overall
        names = [formats.clean_text(name) for name in entry.names]
        return BoardRow(
            key=entry.key,
            rank=entry.place,
            agent=names[0],
            also_named=tuple(names[1:]),
            model=formats.clean_text(entry.model),
            harness=formats.clean_text(entry.harness) or "built-in loop",
            href=links.main,
            score=self.score(overall, links.figure("score")),
            interval=self.interval(overall, links.figure("interval")),
            success=self.success(overall, links.figure("success")),
            spread=self._spread(entry, links.figure("spread")),
            pass_hat=self._pass_hat(entry, links.figure("pass")),
            coverage=self.coverage(overall, links.figure("coverage")),
            cost=self.cost(overall, links.figure("cost")),
            total_cost=self.total(overall, links.figure("total")),
            latency=self.latency(overall, links.figure("latency")),
            jobs=Figure(formats.count(entry.jobs), href=links.figure("jobs")),
            attempts=self._attempts(entry, links.figure("attempts")),
            outcomes=tuple(
                Figure(formats.count(overall.outcomes[key]), label, href=links.figure(key))
                for key, label in OUTCOME_NAMES.items()
                if overall.outcomes.get(key)
            ),
            categories=tuple(self._category(links, row) for row in entry.categories)
            if with_categories
            else (),
            reasons=() if entry.rank is not None else formats.clean_texts(overall.reasons),
            rank_href=links.figure("rank"),
            more=links.more,
        )

    def _spread(self, entry: Entry, href: str) -> Figure:
        spread = entry.consistency.spread
        if spread is None:
            return Figure(formats.DASH, "No Task has two valid attempts", href=href)
        return Figure(formats.score_text(spread, self.low, self.high), str(spread), href=href)

    def _pass_hat(self, entry: Entry, href: str) -> Figure:
        value = entry.consistency.pass_hat
        if value is None:
            return Figure(formats.DASH, "Needs a pass mark and a valid attempt", href=href)
        return Figure(formats.percent(value), note=f"k = {entry.consistency.k}", href=href)

    def _attempts(self, entry: Entry, href: str) -> Figure:
        attempts = entry.overall.attempts
        note = f"{attempts} of {entry.planned} planned" if entry.missing else ""
        return Figure(formats.count(attempts), note=note, href=href)

    def _category(self, links: RowLinks, row: Figures) -> CategoryCell:
        interval = "" if row.low is None else f"{self._text(row.low)} – {self._text(row.high)}"
        bar = formats.interval_bar(row.score, None, None, self.low, self.high)
        return CategoryCell(
            name=formats.clean_text(row.name),
            score=Figure(
                self._text(row.score),
                "" if row.score is not None else "No valid attempt",
                href=links.figure("score", row.key),
            ),
            fill=round((bar.point_x or 0) / formats.BAR_WIDTH * 100, 1),
            interval=interval,
            coverage=f"{row.tasks_covered} of {row.tasks_total} Tasks",
            column=f"category.{row.key}",
            interval_href=links.figure("interval", row.key),
        )
