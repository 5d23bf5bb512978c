"""Which entries of a board can't be told apart: marks at neighbours in rank, and the ranks each may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

from benchmarks.board.parts import BoardRow
from benchmarks.board.types import Board, Entry
from benchmarks.board.words import p_text
from benchmarks.domain.comparison import TaskScore, TaskScores
from benchmarks.domain.neighbours import Neighbours, neighbours, rank_ranges
from benchmarks.domain.types import Scoring
from benchmarks.pages import Figure
from plural_site import formats

E = TypeVar("E", bound=Entry)

MOST_SCORES = 20_000
"""Entries times Tasks up to which a board reads the Task scores that the tests take."""
MOST_RANGED = 12
"""Ranked entries up to which all pairs are tested. With many more, adjusting for so many tests tells
nothing apart that a release's number of Tasks could show."""
RANGE = "range"
"""Key of the column of rank ranges."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks of entries and, where they are worked out, the ranks that each may have."""

    by_entry: Mapping[str, Mapping[str, Figure]]
    """By the key of an entry and that of a neighbour it can't be told apart from, the better one first."""
    note: str
    """What the marks mean, or why there are none; '' where fewer than two entries are ranked."""
    ranges: Mapping[str, Figure] = field(default_factory=dict)
    """By the key of an entry, the ranks that it may have; empty where they are not worked out."""

    def of(self, key: str) -> tuple[Figure, ...]:
        """Marks of one entry, the better neighbour first."""
        return tuple(self.by_entry.get(key, {}).values())

    def onto(self, row: BoardRow) -> BoardRow:
        """The row with what is known of its entry."""
        unknown = Figure(formats.DASH, "Not ranked") if self.ranges else row.rank_range
        return replace(row, alike=self.of(row.key), rank_range=self.ranges.get(row.key, unknown))


def has_ranges(board: Board) -> bool:
    """Whether the board has a column of rank ranges, which readers may hide."""
    ranked = sum(entry.rank is not None for entry in board.entries)
    few = ranked <= MOST_RANGED and ranked * board.task_count <= MOST_SCORES
    return few and ranked > 1 and not board.state.view


def too_large(board: Board) -> Marks | None:
    """What stands instead of marks on a board that has too many scores to test; None where it hasn't."""
    ranked = sum(entry.rank is not None for entry in board.entries)
    if ranked * board.task_count <= MOST_SCORES:
        return None
    return Marks(
        {}, "Whether neighbours can be told apart is not tested on a board of this size: compare them."
    )


def neighbour_marks(
    ranked: Sequence[E],
    scores: Sequence[Mapping[str, float]],
    scoring: Scoring,
    compare: Callable[[E, Sequence[E]], str],
    *,
    with_ranges: bool = False,
) -> Marks:
    """Of all ranked entries of a board, in their order, whatever the filters leave.

    `scores` are each one's scores by Task, `compare` gives the address that sets some beside one.
    """
    found_scores = [{task: TaskScore(score) for task, score in own.items()} for own in scores]
    tests = neighbours(found_scores, scoring)
    found: dict[str, dict[str, Figure]] = {}
    for (upper, lower), test in zip(pairwise(ranked), tests, strict=True):
        if not test.apart and upper.rank != lower.rank:
            for one, other in ((upper, lower), (lower, upper)):
                found.setdefault(one.key, {})[other.key] = _mark(other, test, compare(one, [other]))
    ranges = _ranges(ranked, found_scores, scoring, compare) if with_ranges else {}
    return Marks(found, _note(len(tests)) + (RANGE_NOTE if ranges else ""), ranges)


def _ranges(
    ranked: Sequence[E],
    scores: Sequence[TaskScores],
    scoring: Scoring,
    compare: Callable[[E, Sequence[E]], str],
) -> dict[str, Figure]:
    found = {}
    for entry, ends in zip(ranked, rank_ranges(scores, scoring), strict=True):
        # Where coverage differs, common Tasks may say other than the scores that the ranks are by.
        best, worst = min(ends[0], entry.rank or 1), max(ends[1], entry.rank or 1)
        found[entry.key] = Figure(
            f"{best}" if best == worst else f"{best}–{worst}",
            "Told apart from every other ranked entry"
            if best == worst
            else f"Not told apart from {worst - best} other{'s' if worst - best > 1 else ''} that are ranked",
            href=compare(entry, [other for other in ranked if other is not entry]),
        )
    return found


def _mark(other: Entry, test: Neighbours, href: str) -> Figure:
    name = formats.clean_text(other.names[0])
    if test.too_few:
        differ = "1 Task differs" if test.differing == 1 else f"{test.differing or 'no'} Tasks differ"
        why = f"too few Tasks differ to tell ({differ})"
    else:
        why = f"p = {p_text(test.p)}, adjusted {p_text(test.adjusted_p)}"
    return Figure(f"≈ {other.rank}", f"Can't be told apart from {name}, rank {other.rank}: {why}", href=href)


RANGE_NOTE = (
    " A rank range such as 1–3 holds the ranks that an entry may have: the same test of all pairs of ranked "
    "entries, adjusted for all of them, so a range may hold a neighbour without a mark."
)


def _note(pairs: int) -> str:
    if not pairs:
        return ""
    adjusted = f", adjusted by Holm's method for the {pairs} pairs of neighbours" if pairs > 1 else ""
    return (
        "≈ 2 marks an entry that can't be told apart from its neighbour of rank 2: a paired sign-flip test "
        f"over their common Tasks at the 5 % level{adjusted}. It doesn't say that the two are equal, and "
        "whether bars overlap plays no part in it."
    )
