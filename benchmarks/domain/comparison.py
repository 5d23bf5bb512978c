"""Two entries of one release compared Task by Task.

Only common Tasks count: those where both entries have a valid attempt. Two views of the difference:

* weighted, the headline: the difference of the two scores over the common Tasks with the release's Task
  weights. Where all covered Tasks are common it is exactly the difference of the two scores of the board.
* plain: every common Task counts the same (the paired mean). The same figures where weights are equal.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.domain.scoring import binary_exponent, shares_of, weighted_mean
from benchmarks.domain.significance import (
    ALPHA,
    DRAWS,
    detectable_difference,
    mcnemar,
    sign_flip,
    student_t_quantile,
    tasks_needed,
)
from benchmarks.domain.types import Scoring

FEWEST_DIFFERING = 6
"""With fewer differing Tasks no two-sided exact p can fall below 0.05: five give 2/2^5 = 0.0625."""
NO_SPREAD = "The difference is the same at every common Task, so nothing shows how far it would vary."
TestMethod = Literal["mcnemar", "sign_flip_exact", "sign_flip_random"]
_ROUNDING = 1e-12
"""Task scores closer than this share of the figures they are made of differ by rounding only."""


@dataclass(frozen=True, slots=True)
class TaskScore:
    """One entry at one Task: the mean of its `valid` attempts (at least one), in the units of the score.

    `successes` is None without a threshold; `spread` is the sample standard deviation over the attempts,
    None below two.
    """

    score: float
    valid: int = 1
    successes: int | None = None
    spread: float | None = None


TaskScores = Mapping[str, TaskScore]
"""By Task name; a Task without a valid attempt is not in it."""


@dataclass(frozen=True, slots=True)
class TaskDifference:
    """`difference` is a - b in the units of the score, exactly 0 where only rounding tells them apart."""

    task: str
    weight: float
    a: TaskScore
    b: TaskScore
    difference: float


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Two-sided test of "no difference". `for_a` and `for_b` count the Tasks where that entry is better."""

    p: float
    method: TestMethod
    why: str
    for_a: int
    for_b: int

    @property
    def differing(self) -> int:
        return self.for_a + self.for_b

    @property
    def too_few(self) -> bool:
        return self.differing < FEWEST_DIFFERING

    def finding(self, adjusted_p: float | None = None) -> str:
        """In words what the test says, by the p adjusted for several comparisons where there is one."""
        if self.too_few:
            tasks = "1 Task differs" if self.differing == 1 else f"{self.differing or 'no'} Tasks differ"
            return (
                f"Too few Tasks differ to tell: {tasks}, and with fewer than {FEWEST_DIFFERING} "
                f"no p can fall below {ALPHA}."
            )
        if (self.p if adjusted_p is None else adjusted_p) <= ALPHA:
            return "The difference is larger than chance explains."
        return "The two can't be told apart on these Tasks, which doesn't say that they are equal."


@dataclass(frozen=True, slots=True)
class Difference:
    """`value` = score_a - score_b over the common Tasks, with its 95 % paired t interval.

    SE^2 = m/(m-1) * sum((w_i/W)^2 (d_i - value)^2), the interval is value +- t(0.975, m-1) * SE, not
    clipped. `standard_error`, `low` and `high` are None for the reason given.
    """

    score_a: float
    score_b: float
    value: float
    standard_error: float | None
    low: float | None
    high: float | None
    unavailable_reason: str | None
    test: PairedTest


@dataclass(frozen=True, slots=True)
class Detectable:
    """Smallest true difference (weighted view) that these Tasks find with 80 % power at the 5 % level.

    Miller's formula (arXiv 2411.00640) with variances estimated from this pair. `with_more_attempts` is
    the limit that more attempts at the same Tasks approach: only more Tasks go below it. None where an
    entry has a Task with one attempt, which shows no variation. `tasks_for_observed` is the number of
    Tasks like these that would make a true difference as large as the observed one detectable.
    `assumes` says in words what is assumed, or why there is no figure.
    """

    difference: float | None
    with_more_attempts: float | None
    tasks_for_observed: int | None
    assumes: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """`weighted` and `plain` are None where no Task is common; they are equal where weights are."""

    tasks: tuple[TaskDifference, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    weighted: Difference | None
    plain: Difference | None
    detectable: Detectable


def compare(a: TaskScores, b: TaskScores, scoring: Scoring) -> Comparison:
    """Entry `a` against entry `b` on one release and track. Tasks come in the order of `a`, then `b`."""
    rounding = rounding_of(scoring, (a, b))
    tasks = tuple(
        TaskDifference(
            task=name,
            weight=float(scoring.task_weights.get(name, 1.0)),
            a=score,
            b=b[name],
            difference=_apart(score.score, b[name].score, rounding),
        )
        for name, score in a.items()
        if name in b
    )
    weights = [task.weight for task in tasks]
    weighted = _difference(tasks, weights, scoring, rounding) if tasks else None
    equal = [1.0] * len(tasks)
    plain = _difference(tasks, equal, scoring, rounding) if len(set(weights)) > 1 else weighted
    return Comparison(
        tasks=tasks,
        only_a=tuple(name for name in a if name not in b),
        only_b=tuple(name for name in b if name not in a),
        weighted=weighted,
        plain=plain,
        detectable=_detectable(tasks, weighted),
    )


def _difference(
    tasks: Sequence[TaskDifference], weights: Sequence[float], scoring: Scoring, rounding: float
) -> Difference:
    score_a = weighted_mean([task.a.score for task in tasks], weights) or 0.0
    score_b = weighted_mean([task.b.score for task in tasks], weights) or 0.0
    value = _apart(score_a, score_b)
    reason = _too_few_tasks(len(tasks), scoring)
    error = low = high = None
    if reason is None:
        error = _standard_error([task.difference for task in tasks], weights, value, rounding)
        reason = None if error else NO_SPREAD
    if error:
        margin = student_t_quantile(1 - ALPHA / 2, len(tasks) - 1) * error
        low, high = value - margin, value + margin
    return Difference(
        score_a=score_a,
        score_b=score_b,
        value=value,
        standard_error=error,
        low=low,
        high=high,
        unavailable_reason=reason,
        test=_paired_test(tasks, weights, scoring),
    )


def _too_few_tasks(m: int, scoring: Scoring) -> str | None:
    needed = scoring.min_tasks_for_interval
    return None if m >= needed else f"An interval needs at least {needed} common Tasks; there are {m}."


def _standard_error(
    differences: Sequence[float], weights: Sequence[float], center: float, rounding: float
) -> float | None:
    """None where the differences don't vary: a width of zero would be no finding."""
    n = len(differences)
    if max(differences) - min(differences) <= 2 * rounding:
        return None
    scale = binary_exponent(differences)
    terms = (
        (share * (math.ldexp(difference, -scale) - math.ldexp(center, -scale))) ** 2
        for share, difference in zip(shares_of(weights), differences, strict=True)
    )
    error = math.sqrt(n / (n - 1) * math.fsum(terms))
    size = 2.0**scale if scale < sys.float_info.max_exp else sys.float_info.max
    return min(error * size, sys.float_info.max) or None


def _paired_test(tasks: Sequence[TaskDifference], weights: Sequence[float], scoring: Scoring) -> PairedTest:
    for_a = sum(task.difference > 0 for task in tasks)
    for_b = sum(task.difference < 0 for task in tasks)
    reason = _not_pass_or_fail(tasks, weights, scoring)
    if reason is None:
        return PairedTest(
            p=mcnemar(for_a, for_b),
            method="mcnemar",
            why="McNemar's exact test, because both have one valid attempt at every common Task "
            "and it either passed or failed.",
            for_a=for_a,
            for_b=for_b,
        )
    shares = shares_of(weights)
    flipped = sign_flip([share * task.difference for share, task in zip(shares, tasks, strict=True)])
    differ = f"{for_a + for_b} Tasks differ"
    how = (
        "Exact sign-flip test over all patterns of signs"
        if flipped.exact
        else f"Sign-flip test over {DRAWS:,} random patterns of signs with a fixed seed ({differ}, which "
        "makes too many patterns to count)"
    )
    return PairedTest(
        p=flipped.p,
        method="sign_flip_exact" if flipped.exact else "sign_flip_random",
        why=f"{how}, because {reason}.",
        for_a=for_a,
        for_b=for_b,
    )


def _not_pass_or_fail(
    tasks: Sequence[TaskDifference], weights: Sequence[float], scoring: Scoring
) -> str | None:
    """Why McNemar's test doesn't fit the data, None where it does."""
    sides = [side for task in tasks for side in (task.a, task.b)]
    if any(side.valid != 1 for side in sides):
        return "Tasks have more than one valid attempt"
    found = {side.score for side in sides}
    by_threshold = {(side.score, side.successes) for side in sides}
    split = len(found) <= 2 and {count for _, count in by_threshold} == {0, 1} and len(by_threshold) == 2
    if not split and not found <= set(scoring.score_range):
        return "scores lie between the ends of the range"
    if len(set(weights)) > 1:
        return "Tasks weigh differently"
    return None


def _detectable(tasks: Sequence[TaskDifference], weighted: Difference | None) -> Detectable:
    if weighted is None or weighted.standard_error is None:
        reason = "No Task is common." if weighted is None else weighted.unavailable_reason or ""
        return Detectable(None, None, None, reason)
    m, error = len(tasks), weighted.standard_error
    noise = _noise(tasks, error)  # variances in units of the squared error: then all of them make m
    within = 0.0 if noise is None else min(noise, m)
    between = m - within
    value = weighted.value / error
    return Detectable(
        difference=error * detectable_difference(m, between, within),
        with_more_attempts=None if noise is None else error * detectable_difference(m, between, 0.0),
        tasks_for_observed=max(math.ceil(tasks_needed(value, between, within)), 1) if value else None,
        assumes="Found in 4 of 5 repeats (80 % power, two-sided 5 % level); the Tasks are a sample of Tasks "
        "like these, their differences vary as they do here, and their mean is about normal.",
    )


def _noise(tasks: Sequence[TaskDifference], unit: float) -> float | None:
    """Variance that attempts add to a Task's difference, over `unit` squared; None where it doesn't show."""
    m = len(tasks)
    terms = []
    for share, task in zip(shares_of([task.weight for task in tasks]), tasks, strict=True):
        for side in (task.a, task.b):
            if side.spread is None:
                return None
            term = m * share * (side.spread / unit)
            terms.append(term * term / side.valid)
    return math.fsum(terms) / m


def weighted_terms(
    a: TaskScores, b: TaskScores, weights: Mapping[str, float], rounding: float
) -> list[float]:
    return [
        weights[name] * difference
        for name, score in a.items()
        if name in b and (difference := _apart(score.score, b[name].score, rounding))
    ]


def _apart(a: float, b: float, rounding: float = 0.0) -> float:
    """a - b, 0 where that is rounding, and always finite."""
    largest = sys.float_info.max
    return 0.0 if abs(a - b) <= rounding else min(max(a - b, -largest), largest)


def rounding_of(scoring: Scoring, entries: Iterable[TaskScores]) -> float:
    scores = (abs(score.score) for entry in entries for score in entry.values())
    return _ROUNDING * max(*map(abs, scoring.score_range), *scores)
