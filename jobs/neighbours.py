"""Marks on a board for entries that can't be told apart from those next to them in rank."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from benchmarks.domain.comparison import TaskScore
from benchmarks.domain.neighbours import Neighbours, neighbours
from benchmarks.pages import Figure
from jobs.board import Board
from jobs.compare_links import compare_href, entry_key
from jobs.compare_pairs import p_text
from jobs.entries import Entry
from jobs.task_scores import task_scores
from plural_site import formats

MOST_SCORES = 20_000
"""Entries times Tasks up to which a board reads the Task scores that the tests take."""


@dataclass(frozen=True, slots=True)
class Marks:
    """By the keys of an entry and a neighbour that it can't be told apart from, the mark of that."""

    by_pair: dict[tuple[str, str], Figure]
    note: str
    """What the marks mean, or why there are none; '' where fewer than two entries are ranked."""

    def of(self, key: str) -> tuple[Figure, ...]:
        """Marks of one entry, the better neighbour first."""
        return tuple(mark for (entry, _), mark in self.by_pair.items() if entry == key)


def neighbour_marks(board: Board) -> Marks:
    """Of all ranked entries of the board, whatever the filters leave. One query, none for chosen Jobs."""
    ranked = [entry for entry in board.entries if entry.rank is not None]
    if len(ranked) * len(board.selection.task_names) > MOST_SCORES:
        return Marks(
            {}, "Whether neighbours can be told apart is not tested on a board of this size: compare them."
        )
    scores = task_scores(board, ranked)
    tests = neighbours(
        [
            {task: TaskScore(score) for task, score in scores[entry.configuration.pk].items()}
            for entry in ranked
        ],
        board.scoring,
    )
    found: dict[tuple[str, str], Figure] = {}
    for (upper, lower), test in zip(pairwise(ranked), tests, strict=True):
        if not test.apart and upper.rank != lower.rank:
            for one, other in ((upper, lower), (lower, upper)):
                found[entry_key(one), entry_key(other)] = _mark(board, one, other, test)
    return Marks(found, _note(len(tests)))


def _mark(board: Board, entry: Entry, other: Entry, test: Neighbours) -> Figure:
    name = formats.clean_text(other.names[0])
    if test.too_few:
        differ = "1 Task differs" if test.differing == 1 else f"{test.differing or 'no'} Tasks differ"
        why = f"too few Tasks differ to tell ({differ})"
    else:
        why = f"p = {p_text(test.p)}, adjusted {p_text(test.adjusted_p)}"
    return Figure(
        f"≈ {other.rank}",
        f"Can't be told apart from {name}, rank {other.rank}: {why}",
        href=compare_href(board, entry_key(entry), [entry_key(other)]),
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
