"""Entries of a board at single Tasks: from tallies or, for chosen Jobs, from what was computed of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.domain.comparison import TaskScore
from benchmarks.domain.types import Scoring
from jobs.board import Board
from jobs.entries import Entry
from jobs.models import Tally


@dataclass(frozen=True, slots=True)
class TaskFigures:
    """`score` is None without a valid attempt, `spread` below two; the rest counts attempts."""

    score: float | None
    attempts: int
    valid: int
    successes: int
    spread: float | None
    outcomes: Mapping[str, int]
    """Those that left no score of their own: agent_failures, infrastructure_errors, cancelled, pending."""

    def paired(self, scoring: Scoring) -> TaskScore | None:
        """As a comparison takes it."""
        if self.score is None:
            return None
        successes = self.successes if scoring.success_threshold is not None else None
        return TaskScore(self.score, self.valid, successes, self.spread)


OUTCOMES = ("agent_failures", "infrastructure_errors", "cancelled", "pending")


def task_scores(
    board: Board, entries: Sequence[Entry], tasks: Sequence[str] | None = None
) -> dict[int, dict[str, float]]:
    """By configuration and Task, the scores at `tasks` or all. One query, none for chosen Jobs."""
    found: dict[int, dict[str, float]] = {entry.configuration.pk: {} for entry in entries}
    for owner, task, score in _values(board, entries, tasks, "configuration_id", "key", "score"):
        if score is not None:
            found[owner][task] = score
    return found


def task_figures(
    board: Board, entries: Sequence[Entry], tasks: Sequence[str] | None = None
) -> dict[int, dict[str, TaskFigures]]:
    """By configuration and Task, at `tasks` or all. One query, none for chosen Jobs."""
    found: dict[int, dict[str, TaskFigures]] = {entry.configuration.pk: {} for entry in entries}
    names = ("configuration_id", "key", "score", "attempts", "valid", "successes", "detail")
    for owner, task, score, attempts, valid, successes, detail in _values(board, entries, tasks, *names):
        outcomes = {name: detail[name] for name in OUTCOMES if detail[name]}
        found[owner][task] = TaskFigures(score, attempts, valid, successes, detail["spread"], outcomes)
    return found


def _values(
    board: Board, entries: Sequence[Entry], tasks: Sequence[str] | None, *names: str
) -> Iterator[tuple[Any, ...]]:
    if board.state.job:
        wanted = None if tasks is None else set(tasks)
        for entry in entries:
            for row in entry.tasks:
                if wanted is None or row.key in wanted:
                    yield tuple(getattr(row, name) for name in names)
        return
    rows = Tally.objects.board(board.revision, board.selection.reference).filter(
        scope=Tally.Scope.TASK, configuration__in=[entry.configuration.pk for entry in entries]
    )
    if tasks is not None:
        rows = rows.filter(key__in=tasks)
    yield from rows.order_by("configuration_id", "position").values_list(*names).iterator(chunk_size=5000)
