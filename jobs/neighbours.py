"""Which entries of the private board can't be told apart, each with the address of its comparison."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.board import neighbours
from benchmarks.board.neighbours import Marks, too_large
from jobs.board import Board
from jobs.compare_links import MOST_COMPARED, compare_href
from jobs.entries import Entry
from jobs.task_scores import task_scores


def neighbour_marks(board: Board, *, with_ranges: bool = False) -> Marks:
    """Of all ranked entries of the board, whatever the filters leave. One query, none for chosen Jobs."""
    if marks := too_large(board):
        return marks
    ranked = [entry for entry in board.entries if entry.rank is not None]
    found = task_scores(board, ranked)

    def compare(entry: Entry, others: Sequence[Entry]) -> str:
        return compare_href(board, entry.key, [other.key for other in others[:MOST_COMPARED]])

    scores = [found[entry.configuration.pk] for entry in ranked]
    return neighbours.neighbour_marks(ranked, scores, board.scoring, compare, with_ranges=with_ranges)
