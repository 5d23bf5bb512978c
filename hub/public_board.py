"""The board of a published manifest: its results as the components of a leaderboard take them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from django.http import Http404, QueryDict

from benchmarks.board import neighbours
from benchmarks.board.filters import passes
from benchmarks.board.neighbours import Marks, too_large
from benchmarks.board.parts import BoardRow, BoardTable, Option
from benchmarks.board.rows import FigureTexts, RowLinks
from benchmarks.board.state import BoardState, joined
from benchmarks.board.table import board_table, shows_ranges
from benchmarks.domain.consistency import summarize
from benchmarks.domain.types import Category, Consistency, Scoring, Track
from benchmarks.pages import Figure
from hub.domain.manifest import (
    COST_LOWER_BOUND,
    Manifest,
    ManifestConfiguration,
    ManifestResult,
    ManifestTaskResult,
)
from hub.domain.recompute import CategoryFigures, ranking
from hub.public_links import Links
from hub.public_read import Published
from hub.public_words import COST_OF_WHOLE, PROVENANCE
from plural_site import formats

LACKS = frozenset({"spread", "total", "jobs"})
"""Columns of a private board that a manifest has no figures for."""


@dataclass(frozen=True, slots=True)
class PublicState(BoardState):
    """A board's state in an address. A published result's Jobs can't be chosen."""

    provenance: str = ""

    @classmethod
    def parse(cls, query: QueryDict) -> Self:
        state = super(PublicState, cls).parse(query)  # slots make a new class, which super() doesn't know
        known = state.provenance in PROVENANCE
        return replace(state, job=(), provenance=state.provenance if known else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicFigures:
    """A result's figures on the whole or on one Category, as `benchmarks.board.types.Figures`."""

    key: str = ""
    name: str = ""
    score: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    sample_size: int
    unavailable_reason: str
    success_rate: float | None
    successes: int
    valid: int
    coverage: float
    tasks_covered: int
    tasks_total: int
    cost: float | None
    cost_measured: int
    cost_attempts: int
    cost_total: float | None = None
    cost_partial: bool
    latency: float | None
    latency_measured: int
    latency_attempts: int
    attempts: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    reasons: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicEntry:
    """An accepted result, as `benchmarks.board.types.Entry`."""

    result: ManifestResult
    configuration: ManifestConfiguration
    rank: int | None
    shares_rank: bool
    overall: PublicFigures
    categories: tuple[PublicFigures, ...]
    consistency: Consistency
    missing: int = 0

    @property
    def key(self) -> str:
        return self.result.id

    @property
    def names(self) -> tuple[str, ...]:
        return (self.configuration.label,)

    @property
    def model(self) -> str:
        return self.configuration.model

    @property
    def harness(self) -> str:
        return harness_words(self.configuration)

    @property
    def place(self) -> str:
        return formats.DASH if self.rank is None else f"{self.rank}{'=' if self.shares_rank else ''}"

    @property
    def jobs(self) -> int:
        return len(self.result.reproducibility.evaluation_ids)

    @property
    def planned(self) -> int:
        return self.overall.attempts


@dataclass(frozen=True, slots=True)
class PublicBoard:
    """The results of a manifest on one track, as `benchmarks.board.types.Board`."""

    published: Published
    links: Links
    track: Track
    state: PublicState
    entries: tuple[PublicEntry, ...]
    shown: tuple[PublicEntry, ...]
    categories: tuple[Category, ...]

    @property
    def scoring(self) -> Scoring:
        return self.published.manifest.scoring

    @property
    def task_count(self) -> int:
        return len(self.published.manifest.tasks)

    @property
    def path(self) -> str:
        return self.links.path

    @property
    def lacks(self) -> frozenset[str]:
        return LACKS

    @property
    def cost_scope(self) -> str:
        return COST_OF_WHOLE

    def href(self, **changes: Any) -> str:
        return joined(self.path, self.state.query(**{"track": self.track.reference, **changes}))

    def part_href(self, part: str, **more: str) -> str:
        query = self.state.query(track=self.track.reference)
        return joined(href, query, **more) if (href := self.links.part(part)) else ""


def chosen_track(published: Published, wanted: str) -> Track | None:
    """The track named by id or `id@version`, '' for the default; None where the manifest has no tracks.

    Raises Http404 where it has no such track.
    """
    manifest = published.manifest
    for track in manifest.tracks:
        if wanted in (track.id, track.reference):
            return track
    if wanted:
        raise Http404(f"This release has no track {wanted}.")
    of_view = [track for track in manifest.tracks if track.kind == manifest.default_view]
    return next(iter([*of_view, *manifest.tracks]), None)


def public_board(
    published: Published,
    links: Links,
    track: Track,
    state: PublicState,
    also: Sequence[ManifestResult] = (),
) -> PublicBoard:
    """`also` are results that stand among the entries though they aren't accepted any more."""
    manifest = published.manifest
    ranks = ranking(manifest, track.reference)
    shared = Counter(rank for rank in ranks.values() if rank is not None)
    entries = [
        _entry(published, result, track, ranks.get(result.id), shared)
        for result in manifest.results
        if result.id in ranks or result in also
    ]
    entries.sort(key=lambda entry: (entry.rank is None, entry.rank or 0, entry.names, entry.key))
    shown = [entry for entry in entries if _passes(entry, state, manifest.scoring)]
    names = {task.id: task.name for task in manifest.tasks}
    categories = tuple(
        Category(
            id=found.id,
            name=found.name,
            description=found.description,
            tasks=tuple(names[task] for task in found.tasks),
            taxonomy=found.taxonomy,
        )
        for found in manifest.categories
    )
    return PublicBoard(published, links, track, state, tuple(entries), tuple(shown), categories)


def _passes(entry: PublicEntry, state: PublicState, scoring: Scoring) -> bool:
    of_provenance = not state.provenance or entry.result.provenance == state.provenance
    return of_provenance and passes(entry, state, scoring)


def _entry(
    published: Published, result: ManifestResult, track: Track, rank: int | None, shared: Counter[int]
) -> PublicEntry:
    manifest, scoring = published.manifest, published.manifest.scoring
    overall = overall_figures(result)
    names = {category.id: category.name for category in manifest.categories}
    covered = [task for task in result.tasks if task.score is not None]
    judged = covered if scoring.success_threshold is not None else []
    return PublicEntry(
        result=result,
        configuration=configuration_of(manifest, result),
        rank=rank,
        shares_rank=rank is not None and shared[rank] > 1,
        overall=overall,
        categories=tuple(
            _of_category(overall, figures, names[figures.id])
            for figures in published.figures[result.id].categories
        ),
        consistency=summarize([(task.valid, task.successes) for task in judged], [], track.attempts),
    )


def configuration_of(manifest: Manifest, result: ManifestResult) -> ManifestConfiguration:
    return next(found for found in manifest.configurations if found.id == result.configuration)


def overall_figures(result: ManifestResult) -> PublicFigures:
    """As the manifest states them."""
    spread, tasks = result.uncertainty, result.tasks
    return PublicFigures(
        score=result.score,
        low=spread.low,
        high=spread.high,
        standard_error=spread.standard_error,
        sample_size=spread.sample_size,
        unavailable_reason=spread.unavailable_reason or "",
        success_rate=result.success_rate,
        successes=sum(task.successes for task in tasks),
        valid=sum(task.valid for task in tasks),
        coverage=result.coverage,
        tasks_covered=sum(_is_covered(task) for task in tasks),
        tasks_total=len(tasks),
        cost=result.cost.value,
        cost_measured=result.cost.measured,
        cost_attempts=result.cost.attempts,
        cost_partial=result.cost.unit == COST_LOWER_BOUND,
        latency=result.latency.value,
        latency_measured=result.latency.measured,
        latency_attempts=result.latency.attempts,
        attempts=sum(result.outcomes.values()),
        outcomes=result.outcomes,
        reasons=result.ineligible_reasons,
    )


def _is_covered(task: ManifestTaskResult) -> bool:
    return task.score is not None and math.isfinite(task.score)


def _of_category(overall: PublicFigures, figures: CategoryFigures, name: str) -> PublicFigures:
    """Score and interval from the per-Task figures; cost and time of the whole, which is all there is."""
    spread = figures.uncertainty
    return replace(
        overall,
        key=figures.id,
        name=name,
        score=figures.score,
        low=spread.low,
        high=spread.high,
        standard_error=spread.standard_error,
        sample_size=spread.sample_size,
        unavailable_reason=spread.unavailable_reason or "",
        success_rate=figures.success_rate,
        coverage=figures.coverage,
        tasks_covered=figures.tasks_covered,
        tasks_total=figures.tasks_total,
    )


def harness_words(configuration: ManifestConfiguration) -> str:
    """Name and version, "built-in loop" for none."""
    named = (configuration.harness or "", configuration.harness_version or "")
    return " ".join(filter(None, named)) or "built-in loop"


def public_table(board: PublicBoard) -> BoardTable:
    table = board_table(board, board.shown, _Rows(board).row, _marks(board))
    found = Counter(entry.result.provenance for entry in board.entries)
    chosen = board.state.provenance
    options = [
        Option(key, f"{words.label} ({found[key]})", key == chosen)
        for key, words in PROVENANCE.items()
        if found[key] or key == chosen
    ]
    filters = table.filters
    words = [f"results that are {words.label.lower()}" for key, words in PROVENANCE.items() if key == chosen]
    return replace(
        table,
        filters=replace(
            filters,
            carried=tuple(pair for pair in filters.carried if pair[0] != "provenance"),
            provenances=tuple(options),
            words=(*filters.words, *words),
            active=filters.active or bool(chosen),
            narrowing=filters.narrowing + bool(chosen),
            clear_href=board.href(**_CLEARED, hide=()),
        ),
    )


_CLEARED = dict.fromkeys(("q", "model", "harness", "min", "cost", "ranked", "provenance"), "")


class _Rows(FigureTexts):
    def __init__(self, board: PublicBoard) -> None:
        super().__init__(board.scoring)
        self.board = board

    def row(self, entry: PublicEntry) -> BoardRow:
        href = self.board.links.result(entry.result.id)

        def figure(name: str, category: str = "") -> str:
            return f"{href}#{_ANCHORS.get(name, 'figures')}" if href else ""

        more = (Figure("How to reproduce it", href=f"{href}#reproduce"),) if href else ()
        row = self.board_row(entry, RowLinks(href, figure, more), with_categories=bool(self.board.state.view))
        words = PROVENANCE[entry.result.provenance]
        return replace(
            row,
            spread=Figure(""),
            total_cost=Figure(""),
            jobs=Figure(""),
            provenance=Figure(words.label, words.means, href="#provenance"),
        )


_ANCHORS = {"score": "tasks", "interval": "tasks", "success": "tasks", "pass": "tasks", "coverage": "tasks"}
"""Where a result's page explains a figure; the rest stands among its figures."""


def _marks(board: PublicBoard) -> Marks:
    if marks := too_large(board):
        return marks
    ranked = [entry for entry in board.entries if entry.rank is not None]
    names = {task.id: task.name for task in board.published.manifest.tasks}
    scores = [
        {names[task.task_id]: task.score for task in entry.result.tasks if task.score is not None}
        for entry in ranked
    ]

    def other_row(entry: PublicEntry, others: Sequence[PublicEntry]) -> str:
        return f"#entry-{others[0].key}"

    return neighbours.neighbour_marks(
        ranked, scores, board.scoring, other_row, with_ranges=shows_ranges(board)
    )
