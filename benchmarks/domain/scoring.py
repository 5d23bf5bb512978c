"""From attempts to a score: the outcome of an attempt, and one configuration's figures on a release.

Sums use math.fsum, which rounds once, so the order of the attempts never changes a digit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import TypeGuard

from benchmarks.domain import consistency
from benchmarks.domain.types import (
    Attempt,
    Category,
    CategoryResult,
    ConfigurationResult,
    Consistency,
    Measure,
    Outcome,
    Scoring,
    TaskResult,
    Uncertainty,
)

INTERVAL_METHOD = (
    "95% normal interval over Task scores, the release's Tasks taken as a sample; "
    "variation between attempts at one Task is not in it"
)
Z_95 = 1.96
"""Exactly this, by the rules: not the 1.959964 of the normal distribution."""
COVERAGE_TOLERANCE = 1e-9
MISSING_NAMED = 5

_number = attrgetter("attempt")

OUTCOMES: tuple[Outcome, ...] = ("scored", "agent_failure", "infrastructure_error", "cancelled", "pending")
PENDING_STATUSES = frozenset({"queued", "provisioning", "running", "verifying", "awaiting_review"})
BUDGET_STOPS = frozenset({"max_turns", "max_seconds", "max_cost"})
AGENT_ERRORS = frozenset({"harness_failed", "protocol_failed", "evidence_missing"})
RAN: tuple[Outcome, ...] = ("scored", "agent_failure")
"""Outcomes of attempts that cost and latency are measured over."""


def classify(attempt: Attempt, scoring: Scoring | None) -> Outcome:
    """Outcome of one attempt. `scoring` is what the release declared, None where nothing did."""
    if attempt.status in PENDING_STATUSES:
        return "pending"
    if _reported(attempt.score):
        if scoring and not scoring.score_range[0] <= attempt.score <= scoring.score_range[1]:
            return "infrastructure_error"
        return "scored"
    if attempt.status == "cancelled" or attempt.error_code == "cancelled":
        return "cancelled"
    timeout_is_failure = scoring is not None and scoring.harness_timeout == "agent_failure"
    agent_failed = (
        attempt.stop_reason in BUDGET_STOPS
        or (attempt.stop_reason == "harness_timeout" and timeout_is_failure)
        or attempt.error_code in AGENT_ERRORS
    )
    return "agent_failure" if agent_failed else "infrastructure_error"


def counted_value(attempt: Attempt, outcome: Outcome, scoring: Scoring) -> float | None:
    """What an attempt brings into its Task's score; None where it is not valid.

    -0.0 becomes 0.0: they compare equal, print apart.
    """
    if outcome == "scored" and attempt.score is not None:
        return attempt.score + 0.0
    if outcome == "agent_failure" and scoring.agent_failure == "zero":
        return scoring.score_range[0] + 0.0
    return None


def measured_value(reported: float | None, outcome: Outcome) -> float | None:
    """A cost or a time as it is measured; None where there is none or the attempt does not count for it."""
    return reported + 0.0 if outcome in RAN and _reported(reported) else None


def aggregate(
    task_names: Sequence[str],
    attempts: Iterable[Attempt],
    *,
    scoring: Scoring,
    categories: Sequence[Category] = (),
    required_attempts: int = 1,
    blocking_issues: Sequence[str] = (),
    declared: bool = True,
    compared_attempts: int | None = None,
) -> ConfigurationResult:
    """One configuration's figures from all its attempts on one release and track.

    `task_names` are the release's Tasks in order; attempts at other Tasks count nowhere.
    `required_attempts` is the track's, 1 without a track. `blocking_issues` are the reasons found
    elsewhere (conformance) that keep the result from ranking. `declared` is False for default scoring
    that no release declared: then the score range bounds nothing and a killed Harness counts by its
    error code. `compared_attempts` is the most that k of pass^k may be: the same for every entry of a
    board, whoever ran more.
    """
    tallies = {name: _Tally() for name in task_names}
    rules = scoring if declared else None
    for attempt in attempts:
        tally = tallies.get(attempt.task)
        if tally is not None:
            tally.add(attempt, classify(attempt, rules), scoring)
    membership = _membership(categories)
    tasks = tuple(
        _task_result(name, tally, scoring, membership.get(name, ()), required_attempts)
        for name, tally in tallies.items()
    )
    whole = _Group(tasks, list(tallies.values()), scoring)
    complete = _share(tasks, [task for task in tasks if task.complete])
    outcomes = _outcomes(tallies.values())
    reasons = (
        *blocking_issues,
        *_coverage_reason(tasks, complete, scoring.coverage_required, required_attempts),
        *_pending_reason(outcomes.get("pending", 0)),
    )
    return ConfigurationResult(
        score=whole.score,
        uncertainty=whole.uncertainty(),
        coverage=whole.coverage,
        complete_coverage=complete,
        tasks_total=len(tasks),
        tasks_covered=len(whole.covered),
        success_rate=whole.success_rate,
        completion_rate=_completion_rate(outcomes),
        cost=whole.cost(),
        latency=whole.latency(),
        outcomes=outcomes,
        valid=whole.valid,
        successes=whole.successes,
        consistency=_consistency(whole.covered, scoring, compared_attempts),
        tasks=tasks,
        categories=_category_results(categories, tasks, tallies, scoring),
        eligible=not reasons,
        ineligible_reasons=reasons,
    )


def competition_ranks(scores: Sequence[float | None]) -> list[int | None]:
    """Ranks by score, highest first, 1 2 2 4; None for what has no finite score. Input order is kept."""
    first: dict[float, int] = {}
    ranked = sorted((score for score in scores if _reported(score)), reverse=True)
    for position, score in enumerate(ranked, start=1):
        first.setdefault(score, position)
    return [first[score] if _reported(score) else None for score in scores]


@dataclass(slots=True)
class _Tally:
    """What one Task's attempts add up to."""

    outcomes: dict[Outcome, int] = field(default_factory=dict)
    values: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    cost_partial: bool = False
    attempts: list[Attempt] = field(default_factory=list)

    def add(self, attempt: Attempt, outcome: Outcome, scoring: Scoring) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        self.attempts.append(attempt)
        counted = counted_value(attempt, outcome, scoring)
        if counted is not None:
            self.values.append(counted)
        cost = measured_value(attempt.cost_usd, outcome)
        if cost is not None:
            self.costs.append(cost)
            self.cost_partial = self.cost_partial or attempt.cost_partial
        latency = measured_value(attempt.latency_seconds, outcome)
        if latency is not None:
            self.latencies.append(latency)

    @property
    def ran(self) -> int:
        """Attempts that cost and latency are measured over."""
        return sum(self.outcomes.get(outcome, 0) for outcome in RAN)


class _Group:
    """Figures over some of a release's Tasks: all of them, or those of one category."""

    def __init__(self, tasks: Sequence[TaskResult], tallies: Sequence[_Tally], scoring: Scoring) -> None:
        self.scoring = scoring
        self.tallies = tallies
        self.covered = [task for task in tasks if task.score is not None]
        self.score = weighted_mean(
            [task.score or 0.0 for task in self.covered], [task.weight for task in self.covered]
        )
        self.coverage = _share(tasks, self.covered)
        self.valid = sum(task.valid for task in tasks)
        self.successes = sum(task.successes for task in tasks)
        self.success_rate = _success_rate(self.successes, self.valid, scoring)
        self.ran = sum(tally.ran for tally in tallies)

    def cost(self) -> Measure:
        return _measure(
            list(chain.from_iterable(tally.costs for tally in self.tallies)),
            self.ran,
            partial=any(tally.cost_partial for tally in self.tallies),
        )

    def latency(self) -> Measure:
        return _measure(list(chain.from_iterable(tally.latencies for tally in self.tallies)), self.ran)

    def uncertainty(self) -> Uncertainty:
        scores = [task.score or 0.0 for task in self.covered]
        return uncertainty_of(scores, [task.weight for task in self.covered], self.scoring)


def uncertainty_of(scores: Sequence[float], weights: Sequence[float], scoring: Scoring) -> Uncertainty:
    """Of the weighted mean of the scores of n covered Tasks, or why there is none.

    SE² = n/(n-1) · Σ (wᵢ/W)² (xᵢ - score)²; score ± 1.96·SE, clipped to the range.
    """
    n, needed = len(scores), scoring.min_tasks_for_interval
    score = weighted_mean(scores, weights)
    if score is None or n < needed:
        return Uncertainty(
            sample_size=n,
            unavailable_reason=f"An interval needs at least {needed} Tasks with a score; there are {n}.",
        )
    scale = binary_exponent(scores)
    center = math.ldexp(score, -scale)
    terms = (
        (share * (math.ldexp(value, -scale) - center)) ** 2
        for share, value in zip(shares_of(weights), scores, strict=True)
    )
    error = math.ldexp(math.sqrt(n / (n - 1) * math.fsum(terms)), scale)
    low, high = scoring.score_range
    return Uncertainty(
        low=max(low, score - Z_95 * error),
        high=min(high, score + Z_95 * error),
        standard_error=error,
        sample_size=n,
        method=INTERVAL_METHOD,
    )


def _task_result(
    name: str, tally: _Tally, scoring: Scoring, categories: tuple[str, ...], required: int
) -> TaskResult:
    values, outcomes = tally.values, tally.outcomes
    threshold = scoring.success_threshold
    successes = 0 if threshold is None else sum(value >= threshold for value in values)
    return TaskResult(
        task=name,
        weight=float(scoring.task_weights.get(name, 1.0)),
        categories=categories,
        attempts=len(tally.attempts),
        scored=outcomes.get("scored", 0),
        agent_failures=outcomes.get("agent_failure", 0),
        infrastructure_errors=outcomes.get("infrastructure_error", 0),
        cancelled=outcomes.get("cancelled", 0),
        pending=outcomes.get("pending", 0),
        valid=len(values),
        successes=successes,
        score=_mean(values),
        success_rate=_success_rate(successes, len(values), scoring),
        score_min=min(values, default=None),
        score_max=max(values, default=None),
        spread=consistency.spread(values),
        complete=len(values) >= required,
        trial_ids=tuple(a.trial_id for a in sorted(tally.attempts, key=_number) if a.trial_id),
    )


def _category_results(
    categories: Sequence[Category],
    tasks: Sequence[TaskResult],
    tallies: Mapping[str, _Tally],
    scoring: Scoring,
) -> tuple[CategoryResult, ...]:
    by_name = {task.task: task for task in tasks}
    results = []
    for category in categories:
        members = [by_name[name] for name in dict.fromkeys(category.tasks) if name in by_name]
        group = _Group(members, [tallies[task.task] for task in members], scoring)
        results.append(
            CategoryResult(
                id=category.id,
                name=category.name,
                taxonomy=category.taxonomy,
                score=group.score,
                uncertainty=group.uncertainty(),
                coverage=group.coverage,
                tasks_total=len(members),
                tasks_covered=len(group.covered),
                success_rate=group.success_rate,
                cost=group.cost(),
                latency=group.latency(),
            )
        )
    return tuple(results)


def _membership(categories: Sequence[Category]) -> dict[str, tuple[str, ...]]:
    """Category ids of each Task, in the release's order of categories."""
    members: dict[str, list[str]] = {}
    for category in categories:
        for name in dict.fromkeys(category.tasks):
            members.setdefault(name, []).append(category.id)
    return {name: tuple(ids) for name, ids in members.items()}


def _outcomes(tallies: Iterable[_Tally]) -> dict[str, int]:
    """Only the outcomes that occur, in a fixed order."""
    totals = dict.fromkeys(OUTCOMES, 0)
    for tally in tallies:
        for outcome, count in tally.outcomes.items():
            totals[outcome] += count
    return {outcome: count for outcome, count in totals.items() if count}


def _completion_rate(outcomes: Mapping[str, int]) -> float | None:
    scored = outcomes.get("scored", 0)
    ended = scored + outcomes.get("agent_failure", 0) + outcomes.get("infrastructure_error", 0)
    return scored / ended if ended else None


def _consistency(covered: Sequence[TaskResult], scoring: Scoring, most: int | None) -> Consistency:
    judged = covered if scoring.success_threshold is not None else ()
    return consistency.summarize(
        [(task.valid, task.successes) for task in judged],
        [task.spread for task in covered if task.spread is not None],
        most,
    )


def _coverage_reason(
    tasks: Sequence[TaskResult], complete: float, required: float, attempts: int
) -> Iterator[str]:
    if complete + COVERAGE_TOLERANCE >= required:
        return
    missing = [task.task for task in tasks if not task.complete]
    more = len(missing) - MISSING_NAMED
    named = ", ".join(missing[:MISSING_NAMED]) + (f" and {more} more" if more > 0 else "")
    reached, needed = _distinct_percents(complete, required)
    yield (
        f"{reached} of the Tasks, by weight, have the required {attempts} valid "
        f"attempt{'' if attempts == 1 else 's'}; the release requires {needed}. Run what is missing: {named}."
    )


def _pending_reason(pending: int) -> Iterator[str]:
    if pending:
        subject = "1 attempt is" if pending == 1 else f"{pending} attempts are"
        yield f"{subject} still pending. Wait until the Job has ended and its reviews are in."


def _distinct_percents(low: float, high: float) -> tuple[str, str]:
    """Both shares as percentages, with the fewest digits that tell them apart."""
    digits = next((d for d in range(9) if f"{low:.{d}%}" != f"{high:.{d}%}"), 9)
    return f"{low:.{digits}%}", f"{high:.{digits}%}"


def _success_rate(successes: int, valid: int, scoring: Scoring) -> float | None:
    return successes / valid if valid and scoring.success_threshold is not None else None


def _measure(values: list[float], ran: int, *, partial: bool = False) -> Measure:
    return Measure(
        value=_mean(values),
        measured=len(values),
        attempts=ran,
        total=total(values),
        partial=partial,
    )


def total(values: Sequence[float]) -> float | None:
    """Sum, None over nothing and where it is more than a float holds."""
    try:
        return math.fsum(values) if values else None
    except OverflowError:
        return None


def _share(tasks: Sequence[TaskResult], some: Sequence[TaskResult]) -> float:
    """Weight of some Tasks over the weight of all; 0 over none."""
    if not some:
        return 0.0
    scale = binary_exponent(task.weight for task in tasks)
    part = math.fsum(math.ldexp(task.weight, -scale) for task in some)
    return part / math.fsum(math.ldexp(task.weight, -scale) for task in tasks)


def shares_of(weights: Sequence[float]) -> list[float]:
    scale = binary_exponent(weights)
    scaled = [math.ldexp(weight, -scale) for weight in weights]
    total = math.fsum(scaled)
    return [weight / total for weight in scaled]


def _mean(values: Sequence[float]) -> float | None:
    """None over none; never outside the values, whatever rounding does."""
    if not values:
        return None
    try:
        mean = math.fsum(values) / len(values)
    except OverflowError:
        mean = math.fsum(value / len(values) for value in values)
    return min(max(mean, min(values)), max(values))


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float | None:
    """As `_mean`, weighted."""
    if not values:
        return None
    scale = binary_exponent(values)
    terms = (
        math.ldexp(value, -scale) * share for value, share in zip(values, shares_of(weights), strict=True)
    )
    return min(max(math.ldexp(math.fsum(terms), scale), min(values)), max(values))


def binary_exponent(values: Iterable[float]) -> int:
    """Power of two that brings the values into (-1, 1).

    Scaling by it changes no digit and keeps sums and products of extreme figures finite.
    """
    return math.frexp(max(map(abs, values), default=0.0))[1]


def _reported(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)
