"""The entries of a board as a page shows them: filtered, in the chosen order, with chart and choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from benchmarks.board.chart_part import chart_part
from benchmarks.board.chooser import chooser_part
from benchmarks.board.columns import Columns
from benchmarks.board.filters import board_filters
from benchmarks.board.neighbours import Marks
from benchmarks.board.parts import BoardRow, BoardTable, Choice, Option
from benchmarks.board.types import Board, Entry
from benchmarks.board.words import INTERVAL_WORDS
from benchmarks.domain.types import Track
from plural_site import formats

E = TypeVar("E", bound=Entry)


def board_table(
    board: Board, shown: Sequence[E], row: Callable[[E], BoardRow], marks: Marks, jobs: Sequence[Option] = ()
) -> BoardTable:
    """`shown` are the entries of `board.shown`, `jobs` the Jobs that a reader may choose from."""
    columns = Columns(board)
    low, high = board.scoring.score_range
    ordered = columns.ordered(shown)
    ranked = [entry for entry in ordered if entry.rank is not None]
    unranked = [entry for entry in ordered if entry.rank is None]
    return BoardTable(
        views=_views(board),
        filters=board_filters(board, columns.hideable(), jobs),
        columns=tuple(columns.heads()),
        hidden=columns.left_out,
        show_categories=bool(board.state.view),
        range_low=formats.score_text(low, low, high),
        range_high=formats.score_text(high, low, high),
        rows=tuple(marks.onto(row(entry)) for entry in ranked),
        unranked=tuple(marks.onto(row(entry)) for entry in unranked),
        summary=_summary(len(ranked), len(unranked), len(board.entries)),
        caption=columns.caption(),
        alike_note=marks.note,
        chart=chart_part(board),
        chooser=chooser_part(board),
    )


def shows_ranges(board: Board) -> bool:
    """Whether ranges of ranks are to be worked out for it."""
    return "range" not in Columns(board).left_out


def measured_words(entries: int, tasks: int, track: Track) -> str:
    """What was measured, of how many, under which rules, e.g. "3 Agents on 10 Tasks, 2 attempts each, …"."""
    times = f"{track.attempts} attempt{'s' if track.attempts > 1 else ''} each"
    name = formats.clean_text(track.name)
    return f"{who_words(entries, tasks)}, {times}, on the track {track.reference} ({name})."


def who_words(entries: int, tasks: int) -> str:
    agents = "Agent" if entries == 1 else "Agents"
    return f"{entries} {agents} on {tasks} {'Task' if tasks == 1 else 'Tasks'}"


def score_words(board: Board) -> str:
    """What the score is, from where to where, and how its interval is made."""
    low, high = board.scoring.score_range
    ends = [formats.score_text(end, low, high) for end in (low, high)]
    unit = formats.score_unit(low, high)
    metric = formats.clean_text(board.scoring.metric) or "Score"
    return (
        f"{metric} is the weighted mean over Tasks, from {ends[0]} to {ends[1]}{' ' + unit if unit else ''}. "
        f"{INTERVAL_WORDS}"
    )


def _views(board: Board) -> tuple[Choice, ...]:
    if not board.categories:
        return ()
    return (
        Choice("Overview", board.href(view="", sort=""), not board.state.view),
        Choice("Categories", board.href(view="categories", sort=""), bool(board.state.view)),
    )


def _summary(ranked: int, unranked: int, entries: int) -> str:
    words = f"{ranked} ranked, {unranked} not ranked"
    hidden = entries - ranked - unranked
    return f"{words}, {hidden} left out by the filters" if hidden else words
