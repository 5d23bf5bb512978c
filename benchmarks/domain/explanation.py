"""What `explain` gives: a number of a leaderboard with its rule, its formula and its attempts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from benchmarks.domain.arithmetic import evaluate, printed
from benchmarks.domain.types import (
    Attempt,
    Category,
    ConfigurationResult,
    Outcome,
    Scoring,
    TaskResult,
    Track,
)

OUTCOME_NAMES: Mapping[Outcome, str] = {
    "scored": "scored",
    "agent_failure": "agent failures",
    "infrastructure_error": "infrastructure errors",
    "cancelled": "cancelled",
    "pending": "pending",
}
OF_WHOLE = (
    "rank",
    "score",
    "interval",
    "success",
    "spread",
    "pass",
    "coverage",
    "complete",
    "completion",
    "cost",
    "total",
    "latency",
    "attempts",
    *OUTCOME_NAMES,
    "jobs",
)
OF_CATEGORY = ("score", "interval", "success", "coverage", "cost", "total", "latency")

"""Figures of an entry, and those that it has in each category."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An entry as `aggregate` took it and what it gave.

    `planned` counts the Trials that its Jobs planned, `recorded` those of them that left a result, with
    every copy of a Trial that several Jobs hold. `ranked` are all ranked entries, this one with them, as
    (name, score), and `jobs` the ids of its Jobs.
    """

    attempts: Sequence[Attempt]
    result: ConfigurationResult
    scoring: Scoring
    categories: Sequence[Category] = ()
    track: Track | None = None
    planned: int = 0
    recorded: int = 0
    ranked: Sequence[tuple[str, float]] = ()
    jobs: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """A summand, e.g. "2 × 0.75", and what it stands for: a Task, an entry or a Job."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """`symbol` = the sum of `terms` = `result`; every number is printed with all its digits."""

    symbol: str
    terms: tuple[Term, ...]
    result: str
    value: Fraction

    @property
    def operand(self) -> str:
        """As it stands in the formula of a later step."""
        return printed(self.value)

    def cut(self, most: int) -> Step:
        """With at most so many terms, and one more for the sum of the others."""
        rest = self.terms[most:]
        if not rest:
            return self
        total = sum((evaluate(term.text) for term in rest), Fraction(0))
        more = Term(printed(total), f"{len(rest)} more together")
        return replace(self, terms=(*self.terms[:most], more))


@dataclass(frozen=True, slots=True)
class Value:
    """A number as `aggregate` gives it, and whether the printed formula gives it too."""

    name: str
    value: float | None
    agrees: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """An attempt; `value` is what it brings into the figure, None where it brings nothing."""

    trial_id: str | None
    attempt: int
    outcome: Outcome
    value: float | None


@dataclass(frozen=True, slots=True)
class TaskPart:
    result: TaskResult
    samples: tuple[Sample, ...]
    figure: float | None
    """The Task's own part in the figure."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the funnel from planned to counted; `count` is None where it isn't known."""

    name: str
    count: int | None
    how: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    figure: str
    values: tuple[Value, ...]
    missing: str
    """Why there is no number; '' where there is one."""
    rules: tuple[str, ...]
    steps: tuple[Step, ...]
    counted: str
    """Which attempts the last stage of the funnel holds: valid, cost or latency (those that reported one),
    ended, attempted, or those of one outcome."""
    funnel: tuple[Stage, ...]
    task_head: str
    """What `TaskPart.figure` is."""
    tasks: tuple[TaskPart, ...]

    @property
    def agrees(self) -> bool:
        return all(value.agrees for value in self.values)
