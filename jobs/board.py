"""The leaderboard page: entries as rows of finished text, in the order the reader asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urlencode

from django.urls import reverse

from benchmarks.domain.tracks import describe_track
from benchmarks.domain.types import Scoring
from benchmarks.links import board_href, revision_label
from benchmarks.models import Revision
from benchmarks.pages import Crumb, Figure
from benchmarks.track_example import TRACK_EXAMPLE
from jobs.entries import Entry, load_entries
from jobs.models import Tally
from jobs.pages import BoardPage, BoardRow, CategoryCell, Choice, Column, IntervalBar, TrackTab
from jobs.tracks import UNTRACKED, Selection
from plural_site import formats
from plural_site.accounts.models import Project

OUTCOMES = {
    "scored": "scored",
    "agent_failure": "agent failures",
    "infrastructure_error": "infrastructure errors",
    "cancelled": "cancelled",
    "pending": "pending",
}
SortValue = float | str | None


@dataclass(frozen=True, slots=True)
class Sort:
    key: str
    descending: bool

    @classmethod
    def parse(cls, text: str) -> Sort:
        return cls(text.removeprefix("-"), text.startswith("-"))


@dataclass(frozen=True, slots=True)
class Sorter:
    """A column that can be sorted by; `first` is the direction of the first click."""

    label: str
    value: Callable[[Entry], SortValue]
    unit: str = ""
    title: str = ""
    numeric: bool = True
    minor: bool = True
    first: str = "descending"


def board_page(
    project: Project, revision: Revision, selection: Selection, query: dict[str, str]
) -> BoardPage:
    """Builds the page. `query` holds `sort` and `view` as the reader gave them; rubbish means the default."""
    return _Board(project, revision, selection, query).page()


@dataclass(frozen=True, slots=True)
class _Links:
    """Addresses of an entry's Trials and Jobs."""

    trials: str
    jobs: str

    def trials_with(self, name: str, value: str) -> str:
        return f"{self.trials}&{name}={quote(value)}"


class _Board:
    def __init__(
        self, project: Project, revision: Revision, selection: Selection, query: dict[str, str]
    ) -> None:
        self.project, self.revision, self.selection = project, revision, selection
        self.scoring: Scoring = selection.rules.scoring
        self.low, self.high = self.scoring.score_range
        self.entries = load_entries(revision, selection.reference)
        self.trials_path = reverse("jobs:trials", args=[project.slug])
        self.jobs_path = reverse("jobs:jobs", args=[project.slug])
        has_categories = bool(selection.rules.categories)
        self.view = "categories" if has_categories and query.get("view") == "categories" else ""
        self.sorters = self._sorters()
        sort = Sort.parse(query.get("sort", ""))
        self.sort = sort if sort.key in self.sorters else Sort("rank", descending=False)

    def page(self) -> BoardPage:
        revision, selection = self.revision, self.selection
        resource = revision.resource
        ordered = self._ordered()
        ranked = [entry for entry in ordered if entry.rank is not None]
        unranked = [entry for entry in ordered if entry.rank is None]
        benchmark = reverse("benchmarks:benchmark", args=[self.project.slug, resource.slug])
        return BoardPage(
            crumbs=(
                Crumb(self.project.name, reverse("jobs:project", args=[self.project.slug])),
                Crumb(resource.name, benchmark),
                Crumb(f"Leaderboard {revision_label(revision)}"),
            ),
            name=resource.name,
            slug=resource.slug,
            version=revision.version,
            number=revision.number,
            benchmark_href=benchmark,
            claim=self._claim(),
            claim_more=self._claim_more(),
            tabs=tuple(self._tabs()),
            releases=tuple(
                Choice(revision_label(other), board_href(self.project, other), other.pk == revision.pk)
                for other in selection.revisions
            ),
            views=self._views(),
            columns=tuple(self._columns()),
            show_categories=bool(self.view),
            range_low=formats.score_text(self.low, self.low, self.high),
            range_high=formats.score_text(self.high, self.low, self.high),
            rows=tuple(self._row(entry) for entry in ranked),
            unranked=tuple(self._row(entry) for entry in unranked),
            summary=f"{len(ranked)} ranked, {len(unranked)} not ranked",
            caption=self._caption(),
            is_untracked=selection.track is None,
            track_rules=tuple(describe_track(selection.track)) if selection.track else (),
            track_example="" if selection.rules.tracks else TRACK_EXAMPLE,
            json_href=self._json_href(),
            this_href=self._href(),
        )

    # Addresses --------------------------------------------------------------------------------------

    def _href(self, **changes: str) -> str:
        state = {"track": self.selection.key, "view": self.view, "sort": self._sort_text(), **changes}
        return board_href(self.project, self.revision, **{k: v for k, v in state.items() if v})

    def _sort_text(self) -> str:
        default = self.sort.key == "rank" and not self.sort.descending
        return "" if default else f"{'-' if self.sort.descending else ''}{self.sort.key}"

    def _json_href(self) -> str:
        path = (
            f"/api/v1/benchmarks/{self.revision.resource.slug}/revisions/{self.revision.number}/leaderboard"
        )
        return f"{path}?{urlencode({'track': self.selection.key, 'project': self.project.slug})}"

    def _links(self, entry: Entry) -> _Links:
        query = {
            "benchmark": self.revision.resource.slug,
            "revision": str(self.revision.number),
            "track": self.selection.key,
            "agent": short_hash(entry.configuration.content_hash),
        }
        return _Links(f"{self.trials_path}?{urlencode(query)}", f"{self.jobs_path}?{urlencode(query)}")

    # Order ------------------------------------------------------------------------------------------

    def _ordered(self) -> list[Entry]:
        value = self.sorters[self.sort.key].value
        known = [entry for entry in self.entries if value(entry) is not None]
        unknown = [entry for entry in self.entries if value(entry) is None]
        known.sort(key=lambda entry: cast("Any", value(entry)), reverse=self.sort.descending)
        return known + unknown

    def _sorters(self) -> dict[str, Sorter]:
        unit = formats.score_unit(self.low, self.high)
        sorters = {
            "rank": Sorter("Rank", lambda e: e.rank, first="ascending", minor=False),
            "agent": Sorter(
                "Agent", lambda e: e.names[0].casefold(), numeric=False, minor=False, first="ascending"
            ),
            "score": Sorter("Score", lambda e: e.overall.score, unit, minor=False),
        }
        if self.view:
            for position, category in enumerate(self.selection.rules.categories):
                sorters[f"category.{category.id}"] = Sorter(category.name, _category_score(position), unit)
            return sorters
        return sorters | {
            "success": Sorter("Success", lambda e: e.overall.success_rate, "%", self._threshold_words()),
            "spread": Sorter(
                "Spread",
                lambda e: _consistency(e, "spread"),
                "",
                "Mean over Tasks of the standard deviation "
                "of the attempts at one Task, in the units of the score",
                first="ascending",
            ),
            "pass": Sorter(
                "pass^k",
                lambda e: _consistency(e, "pass_hat"),
                "%",
                "Chance that k attempts at one Task all succeed, mean over Tasks. k is the track's number of "
                "attempts, less where a Task has fewer valid ones",
            ),
            "coverage": Sorter(
                "Coverage", lambda e: e.overall.coverage, "%", "Weight of Tasks with a valid attempt, of all"
            ),
            "cost": Sorter("Cost", lambda e: e.overall.cost, "$ per attempt", first="ascending"),
            "total": Sorter("Total", lambda e: e.overall.cost_total, "$", first="ascending"),
            "latency": Sorter("Time", lambda e: e.overall.latency, "s per attempt", first="ascending"),
            "attempts": Sorter("Attempts", lambda e: float(e.overall.attempts)),
            "jobs": Sorter("Jobs", lambda e: float(len(_jobs(e)))),
        }

    def _columns(self) -> list[Column]:
        columns = []
        for key, sorter in self.sorters.items():
            current = key == self.sort.key
            first_descending = sorter.first == "descending"
            descending = not self.sort.descending if current else first_descending
            columns.append(
                Column(
                    key=key,
                    label=sorter.label,
                    unit=sorter.unit,
                    title=sorter.title,
                    numeric=sorter.numeric,
                    href=self._href(
                        sort=f"{'-' if descending else ''}{key}"
                        if (key, descending) != ("rank", False)
                        else ""
                    ),
                    sort=("descending" if self.sort.descending else "ascending") if current else "",
                    minor=sorter.minor,
                )
            )
            if key == "score":
                columns.append(Column("interval", "95 % interval", title=INTERVAL_WORDS, numeric=False))
        return columns

    # Words ------------------------------------------------------------------------------------------

    def _claim(self) -> str:
        track = self.selection.track
        tasks, agents = len(self.selection.task_names), len(self.entries)
        who = (
            f"{agents} {'Agent' if agents == 1 else 'Agents'} on {tasks} {'Task' if tasks == 1 else 'Tasks'}"
        )
        if track is None:
            return f"{who}, run on no track: evidence only, never ranked."
        times = f"{track.attempts} attempt{'s' if track.attempts > 1 else ''} each"
        return f"{who}, {times}, on the track {track.reference} ({formats.clean_text(track.name)})."

    def _claim_more(self) -> str:
        low, high = (self._text(end) for end in (self.low, self.high))
        unit = formats.score_unit(self.low, self.high)
        metric = formats.clean_text(self.scoring.metric) or "Score"
        return (
            f"{metric} is the weighted mean over Tasks, from {low} to {high}{' ' + unit if unit else ''}. "
            f"{INTERVAL_WORDS}"
        )

    def _threshold_words(self) -> str:
        threshold = self.scoring.success_threshold
        if threshold is None:
            return "This release has no pass mark"
        mark = formats.score_text(threshold, self.low, self.high)
        unit = formats.score_unit(self.low, self.high)
        return f"Share of valid attempts at or above {mark}{' ' + unit if unit else ''}"

    def _caption(self) -> str:
        label = self.sorters[self.sort.key].label
        if self.sort.key == "rank":
            order = "Best score first" if not self.sort.descending else "Lowest rank first"
        else:
            order = (
                f"By {label[0].lower() + label[1:]}, {'highest' if self.sort.descending else 'lowest'} first"
            )
        return f"{order}; unknown values last. Rank is always by score; equal scores share a rank."

    def _tabs(self) -> list[TrackTab]:
        counts = self.selection.counts
        tabs = [
            TrackTab(
                label=track.name,
                detail=track.reference,
                count=counts.get(track.reference, 0),
                href=self._href(track=track.reference, sort=""),
                current=self.selection.track == track,
            )
            for track in self.selection.rules.tracks
        ]
        untracked = counts.get("", 0)
        if untracked or not tabs or self.selection.track is None:
            tabs.append(
                TrackTab(
                    "Untracked evidence",
                    "",
                    untracked,
                    self._href(track=UNTRACKED, sort=""),
                    self.selection.track is None,
                )
            )
        return tabs

    def _views(self) -> tuple[Choice, ...]:
        if not self.selection.rules.categories:
            return ()
        return (
            Choice("Overview", self._href(view="", sort=""), not self.view),
            Choice("Categories", self._href(view="categories", sort=""), bool(self.view)),
        )

    # Rows -------------------------------------------------------------------------------------------

    def _row(self, entry: Entry) -> BoardRow:
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
            harness=f"{latest.harness} {latest.harness_version}".strip() or "built-in loop",
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
            jobs=Figure(formats.count(len(_jobs(entry))), href=links.jobs),
            attempts=self._attempts(entry, href),
            outcomes=tuple(
                Figure(formats.count(overall.outcomes[key]), label, href=links.trials_with("outcome", key))
                for key, label in OUTCOMES.items()
                if overall.outcomes.get(key)
            ),
            categories=tuple(self._category(links, row) for row in entry.categories) if self.view else (),
            reasons=() if entry.rank is not None else tuple(formats.clean_text(r) for r in overall.reasons),
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
        label = f"{self._text(row.score)}, interval {self._text(row.low)} to {self._text(row.high)}"
        return IntervalBar(bar.point_x, bar.low_x, bar.width, label, text)

    def _success(self, row: Tally, href: str) -> Figure:
        if row.success_rate is None:
            why = (
                "No attempt is valid"
                if self.scoring.success_threshold is not None
                else self._threshold_words()
            )
            return Figure(formats.DASH, why)
        return Figure(formats.percent(row.success_rate), note=f"{row.successes} of {row.valid}", href=href)

    def _spread(self, entry: Entry, href: str) -> Figure:
        spread = _consistency(entry, "spread")
        if spread is None:
            return Figure(formats.DASH, "No Task has two valid attempts")
        return Figure(formats.score_text(spread, self.low, self.high), str(spread), href=href)

    def _pass_hat(self, entry: Entry, href: str) -> Figure:
        value = _consistency(entry, "pass_hat")
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
            name=row.detail["name"],
            score=Figure(
                self._text(row.score), "" if row.score is not None else "No valid attempt", href=href
            ),
            fill=round((bar.point_x or 0) / formats.BAR_WIDTH * 100, 1),
            interval=interval,
            coverage=f"{covered} of {total} Tasks",
        )


INTERVAL_WORDS = "Bars are 95 % intervals (normal, over Tasks) and leave out how attempts at one Task vary."


def short_hash(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]


def _category_score(position: int) -> Callable[[Entry], SortValue]:
    return lambda entry: entry.categories[position].score


def _jobs(entry: Entry) -> set[int]:
    return {agent.job_id for agent in entry.agents}


def _consistency(entry: Entry, name: str) -> float | None:
    value: float | None = entry.overall.detail["consistency"][name]
    return value
