"""Addresses of the pages that are made from a board: comparison, grid, and the Trials behind a cell."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.urls import reverse

from benchmarks.board.state import BoardState
from benchmarks.links import task_href
from jobs.board import Board
from jobs.entries import Entry

MOST_COMPARED = 10
"""Entries that are set beside a baseline at once."""


def entry_key(entry: Entry) -> str:
    """The entry as it stands in an address."""
    return entry.key


def compare_href(board: Board, a: str = "", others: Sequence[str] = (), page: int = 1) -> str:
    """The comparison of these entries of a board, or the form to choose them."""
    query = [("track", board.selection.key), *(("job", job) for job in board.state.job)]
    query += [("a", a)] if a else []
    query += [("b", key) for key in others]
    query += [("page", str(page))] if page > 1 else []
    return f"{board.path}/compare?{urlencode(query)}"


def grid_href(board: Board, **changes: str) -> str:
    """The grid of what the board shows; `changes` are parameters of the grid, '' for their default."""
    state = board.state
    filters = BoardState(
        track=board.selection.key,
        job=state.job,
        q=state.q,
        model=state.model,
        harness=state.harness,
        min=state.min,
        cost=state.cost,
        ranked=state.ranked,
    )
    own = urlencode({name: text for name, text in changes.items() if text})
    return f"{board.path}/grid?{'&'.join(filter(None, (filters.query(), own)))}"


def benchmark_search_href(board: Board) -> str:
    """Where what the Trials of a board's track said can be searched."""
    return f"{board.path}/search?{BoardState(track=board.selection.key).query()}"


def trials_href(board: Board, entry: Entry | None, task: str = "") -> str:
    """The Trials of one entry or all, at one Task or all, in the chosen Jobs."""
    query = {
        "benchmark": board.revision.resource.slug,
        "revision": str(board.revision.number),
        "track": board.selection.key,
        "agent": entry_key(entry) if entry else "",
        "task": task,
        "job": ",".join(board.state.job),
    }
    path = reverse("jobs:trials", args=[board.project.slug])
    return f"{path}?{urlencode({name: text for name, text in query.items() if text})}"


def task_page_href(board: Board, position: int, **query: str) -> str:
    """The page of a Task of the board's release, from 1, on its track and with its chosen Jobs."""
    own = {"track": board.selection.key, **{name: text for name, text in query.items() if text}}
    href = task_href(board.project, board.revision, position, **own)
    jobs = BoardState(job=board.state.job).query()
    return f"{href}&{jobs}" if jobs else href


def whole_number(text: str) -> int:
    """From 1 on; 1 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 7 and int(text) else 1
