"""Which Jobs have outlived a retention rule. Pure: no clock, no database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from benchmarks.domain.types import DomainError
from jobs.domain.file_kinds import REMOVABLE

MOST_DAYS, MOST_NEWEST = 36_500, 1_000_000


@dataclass(frozen=True, slots=True)
class Rule:
    """A Job keeps its files while it is young enough or among the newest; at least one bound is set.

    `keep_days` since anything of it came in; `keep_newest` of each Benchmark, by when they started.
    `kinds` are values of `file_kinds.REMOVABLE`, in that order.
    """

    keep_days: int | None
    keep_newest: int | None
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobAge:
    """`group` is the Benchmark, or the Task of a Job on a single one. `is_open`: more may come of it."""

    key: int
    group: int
    started_at: datetime
    came_at: datetime
    is_open: bool


def parse_rule(days: str, newest: str, kinds: Iterable[str]) -> Rule:
    """From a form or an address. Raises DomainError with what to do."""
    chosen = set(kinds)
    rule = Rule(
        _number(days, MOST_DAYS, "days"),
        _number(newest, MOST_NEWEST, "newest Jobs"),
        tuple(kind.value for kind in REMOVABLE if kind.value in chosen),
    )
    if rule.keep_days is None and rule.keep_newest is None:
        raise DomainError("Say how long files are kept: a number of days, of newest Jobs, or both.")
    if not rule.kinds:
        raise DomainError("Choose at least one kind of file that goes.")
    return rule


def _number(text: str, most: int, what: str) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and 1 <= int(text) <= most):
        raise DomainError(f"The number of {what} has to be a whole number from 1 to {most}.")
    return int(text)


def outlived(rule: Rule, jobs: Sequence[JobAge], now: datetime) -> list[int]:
    """Keys of the Jobs whose files go, the oldest first. An open Job keeps all."""
    newest: set[int] = set()
    if rule.keep_newest is not None:
        groups: defaultdict[int, list[JobAge]] = defaultdict(list)
        for job in sorted(jobs, key=_by_start, reverse=True):
            groups[job.group].append(job)
        newest = {job.key for group in groups.values() for job in group[: rule.keep_newest]}
    since = None if rule.keep_days is None else now - timedelta(days=rule.keep_days)
    return [
        job.key
        for job in sorted(jobs, key=_by_start)
        if not job.is_open and job.key not in newest and (since is None or job.came_at < since)
    ]


def _by_start(job: JobAge) -> tuple[datetime, int]:
    return job.started_at, job.key
