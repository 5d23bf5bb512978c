"""How evidence may grow. A Job is imported again and again while it runs, is retried and reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from jobs.domain.parsed import ParsedTrial

FINAL = frozenset({"succeeded", "failed", "cancelled"})


class Change(Enum):
    NEW = "new"
    SAME = "same"
    GROWN = "grown"
    OLDER = "older"
    """The copy at hand is older than what is stored: keep what is stored."""
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Known:
    """What is stored of a Trial."""

    result_digest: str
    status: str
    executions: int


def compare(known: Known | None, trial: ParsedTrial) -> Change:
    """What a Trial read from a folder is to the one that is stored.

    A Trial grows when it finishes, when a review settles it, or when a failed one is tried again. A
    success never changes; a copy with fewer executions or an open status is an older one.
    """
    if known is None:
        return Change.NEW
    if known.result_digest == result_digest(trial):
        return Change.SAME
    if known.status not in FINAL:
        return Change.GROWN
    if trial.status not in FINAL or len(trial.executions) < known.executions:
        return Change.OLDER
    if known.status == "succeeded" or len(trial.executions) == known.executions:
        return Change.BROKEN
    return Change.GROWN


def result_digest(trial: ParsedTrial) -> str:
    """sha256 of the result.json of the final execution, '' for a Trial that left none."""
    for execution in trial.executions:
        if execution.is_final:
            return next((file.sha256 for file in execution.pack.files if file.path == "result.json"), "")
    return ""
