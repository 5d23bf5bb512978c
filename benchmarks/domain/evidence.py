"""The attempts behind an entry's figures, over all of its Tasks or those of one category."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from benchmarks.domain.arithmetic import plain
from benchmarks.domain.explanation import OUTCOME_NAMES, Case, Sample, Stage
from benchmarks.domain.scoring import OUTCOMES, RAN, classify, counted_value, measured_value
from benchmarks.domain.types import Attempt, CategoryResult, ConfigurationResult, Outcome, TaskResult

COUNTS: dict[Outcome, Callable[[TaskResult], int]] = {
    "scored": lambda task: task.scored,
    "agent_failure": lambda task: task.agent_failures,
    "infrastructure_error": lambda task: task.infrastructure_errors,
    "cancelled": lambda task: task.cancelled,
    "pending": lambda task: task.pending,
}


class Evidence:
    """Raises KeyError where the release has no such category; '' is all Tasks."""

    def __init__(self, case: Case, category: str) -> None:
        self.case, self.scoring = case, case.scoring
        self.part: ConfigurationResult | CategoryResult = case.result
        self.tasks = case.result.tasks
        self.category = category
        if category:
            self.part = {part.id: part for part in case.result.categories}[category]
            self.tasks = tuple(task for task in self.tasks if category in task.categories)
        self.covered = [task for task in self.tasks if task.score is not None]
        self.low, self.high = (plain(bound) for bound in case.scoring.score_range)
        self.attempts: dict[str, list[tuple[Attempt, Outcome]]] = defaultdict(list)
        for attempt in case.attempts:
            self.attempts[attempt.task].append((attempt, classify(attempt, case.scoring)))

    @property
    def part_name(self) -> str:
        return self.part.name if isinstance(self.part, CategoryResult) else ""

    def samples(self, task: TaskResult, counted: str) -> tuple[Sample, ...]:
        """By attempt number, then as given."""
        return tuple(
            Sample(attempt.trial_id, attempt.attempt, outcome, self.brings(attempt, outcome, counted))
            for attempt, outcome in sorted(self.attempts[task.task], key=lambda pair: pair[0].attempt)
        )

    def brings(self, attempt: Attempt, outcome: Outcome, counted: str) -> float | None:
        if counted == "valid":
            return counted_value(attempt, outcome, self.scoring)
        if counted == "cost":
            return measured_value(attempt.cost_usd, outcome)
        if counted == "latency":
            return measured_value(attempt.latency_seconds, outcome)
        return None

    def measured(self, task: TaskResult, counted: str) -> list[float]:
        values = (self.brings(attempt, outcome, counted) for attempt, outcome in self.attempts[task.task])
        return [value for value in values if value is not None]

    def count(self, outcome: Outcome) -> int:
        return sum(COUNTS[outcome](task) for task in self.tasks)

    def funnel(self, counted: str) -> tuple[Stage, ...]:
        totals = {outcome: self.count(outcome) for outcome in OUTCOMES}
        attempted = sum(totals.values())
        left_out = ", ".join(
            f"{totals[outcome]} {OUTCOME_NAMES[outcome]}"
            for outcome in ("agent_failure", "infrastructure_error", "cancelled")
        )
        return (
            *self._planned(attempted),
            Stage("finished", attempted - totals["pending"], f"attempted, less {totals['pending']} pending"),
            Stage("scored", totals["scored"], f"finished, less {left_out}"),
            Stage("counted", *self._counted(counted, totals)),
        )

    def _planned(self, attempted: int) -> tuple[Stage, Stage]:
        case = self.case
        if self.category:
            return Stage("planned", None, "known for the whole only"), Stage("attempted", attempted)
        without, copies = case.planned - case.recorded, case.recorded - attempted
        how = f"planned, less {without} that left no result"
        if copies:
            how += f" and {copies} that another Job holds too"
        return Stage("planned", case.planned), Stage("attempted", attempted, how)

    def _counted(self, counted: str, totals: dict[Outcome, int]) -> tuple[int, str]:
        failures = totals["agent_failure"]
        if counted == "valid":
            valid = sum(task.valid for task in self.tasks)
            if self.scoring.agent_failure == "zero":
                return valid, f"scored, and {failures} agent failures as {self.low}"
            return valid, f"scored; the {failures} agent failures are left out"
        if counted in ("cost", "latency"):
            measured = sum(len(self.measured(task, counted)) for task in self.tasks)
            ran, what = sum(totals[outcome] for outcome in RAN), "cost" if counted == "cost" else "time"
            return measured, f"scored and {failures} agent failures, less {ran - measured} without a {what}"
        if counted == "ended":
            ended = totals["scored"] + failures + totals["infrastructure_error"]
            return ended, f"scored, {failures} agent failures, {totals['infrastructure_error']} " + (
                "infrastructure errors"
            )
        if counted == "attempted":
            return sum(totals.values()), "all that were attempted"
        return next((totals[key], f"those {words}") for key, words in OUTCOME_NAMES.items() if key == counted)
