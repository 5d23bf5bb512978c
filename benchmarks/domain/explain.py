"""Where a number of a leaderboard comes from: its rule, its formula with the numbers put in, its attempts.

The numbers themselves are those of `scoring.aggregate`. Here they are written out from the same attempts,
worked out once more from what is printed, and compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from benchmarks.domain.arithmetic import evaluate, number, plain, printed
from benchmarks.domain.evidence import COUNTS, Evidence
from benchmarks.domain.explanation import (
    OF_CATEGORY,
    OF_WHOLE,
    OUTCOME_NAMES,
    Case,
    Explanation,
    Step,
    TaskPart,
    Term,
    Value,
)
from benchmarks.domain.scoring import (
    OUTCOMES,
    Z_95,
    competition_ranks,
    total,
)
from benchmarks.domain.types import Outcome, TaskResult

_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


def explain(figure: str, case: Case, category: str = "") -> Explanation:
    """Raises KeyError where there is no such figure, or none of that category."""
    return _Explainer(case, category).explain(figure)


@dataclass(slots=True)
class _Draft:
    """What differs from figure to figure. `known` are the numbers that `aggregate` gave, by symbol."""

    known: dict[str, float | None]
    missing: str
    rules: list[str]
    steps: list[Step] = field(default_factory=list)
    counted: str = "valid"
    task_head: str = "Task score"
    of_task: Callable[[TaskResult], float | None] = lambda task: task.score


class _Explainer(Evidence):
    def explain(self, figure: str) -> Explanation:
        if figure not in (OF_CATEGORY if self.category else OF_WHOLE):
            raise KeyError(figure)
        draft = self._outcome(figure) if figure in OUTCOME_NAMES else _DRAFTS[figure](self)
        steps = draft.steps if all(value is not None for value in draft.known.values()) else []
        scale = max(map(abs, self.scoring.score_range))
        worked_out = {step.symbol: step for step in steps}
        values = tuple(
            Value(name, known, known is None or _same(known, worked_out[name].value, scale))
            for name, known in draft.known.items()
        )
        exact = {value.name: value.value for value in values if value.agrees and value.value is not None}
        return Explanation(
            figure=figure,
            values=values,
            missing="" if steps else draft.missing,
            rules=tuple(draft.rules),
            steps=tuple(_known(step, exact[step.symbol]) if step.symbol in exact else step for step in steps),
            counted=draft.counted,
            funnel=self.funnel(draft.counted),
            task_head=draft.task_head,
            tasks=tuple(
                TaskPart(task, self.samples(task, draft.counted), draft.of_task(task)) for task in self.tasks
            ),
        )

    # Rules in words --------------------------------------------------------------------------------

    def _valid_rule(self) -> str:
        failures = (
            f"agent failures, which count as {self.low}, the bottom of the range"
            if self.scoring.agent_failure == "zero"
            else ""
        )
        valid = f"the scored ones and {failures}" if failures else "the scored ones; agent failures are not"
        return (
            f"Valid attempts are {valid}. Infrastructure errors, cancelled and pending attempts are left out."
        )

    def _score_rules(self) -> list[str]:
        weights = "Each Task has the weight that the release declares for it, 1 where it declares none."
        return [
            f"A Task’s score is the mean of its valid attempts, never the best one. {self._valid_rule()}",
            f"The score is the weighted mean of the Task scores{self._where()}. {weights}",
            "A Task without a valid attempt is unknown, not zero: it is left out, and the coverage says so.",
        ]

    def _where(self) -> str:
        return f" over the Tasks of the category {self.part_name}" if self.category else ""

    def _threshold_rule(self) -> str:
        threshold = self.scoring.success_threshold
        if threshold is None:
            return "This release has no pass mark, so no attempt passes or fails."
        return f"A valid attempt succeeds at {plain(threshold)} or above. {self._valid_rule()}"

    def _attempts_rule(self) -> str:
        track = self.case.track
        if track is None:
            return "Without a track one valid attempt at a Task is enough."
        return f"The track {track.reference} asks for {track.attempts} valid attempts at each Task."

    # Figures ---------------------------------------------------------------------------------------

    def _score_steps(self) -> list[Step]:
        products = _sum(
            "Σ weight × Task score",
            [Term(f"{number(t.weight)} × {number(t.score or 0.0)}", t.task) for t in self.covered],
        )
        weights = self._weights("Σ weight", self.covered)
        return [products, weights, _step("score", f"{products.operand} / {weights.operand}")]

    def _weights(self, symbol: str, tasks: Sequence[TaskResult]) -> Step:
        return _sum(symbol, [Term(number(task.weight), task.task) for task in tasks])

    def score(self) -> _Draft:
        steps = self._score_steps() if self.covered else []
        return _Draft({"score": self.part.score}, "No Task has a valid attempt.", self._score_rules(), steps)

    def interval(self) -> _Draft:
        found, needed = self.part.uncertainty, self.scoring.min_tasks_for_interval
        rules = [
            "n is the number of Tasks with a score, W the sum of their weights. "
            "SE² = n/(n−1) · Σ (weight/W)² (Task score − score)²; the interval is score ± 1.96·SE, cut off "
            f"at the ends of the range, {self.low} and {self.high}.",
            "It takes the Tasks as a sample; how attempts at one Task vary is not in it.",
            f"This release gives an interval from {needed} Tasks with a score on.",
            *self._score_rules(),
        ]
        steps = self._interval_steps() if found.low is not None else []
        return _Draft({"low": found.low, "high": found.high}, found.unavailable_reason or "", rules, steps)

    def _interval_steps(self) -> list[Step]:
        products, weights, score = self._score_steps()
        center, n = number(self.part.score or 0.0), len(self.covered)
        squares = _sum(
            "Σ (weight / W)² × (Task score − score)²",
            [
                Term(
                    f"({number(t.weight)} / {weights.operand})² × ({number(t.score or 0.0)} − {center})²",
                    t.task,
                )
                for t in self.covered
            ],
        )
        variance = _step("SE²", f"{n} / ({n} − 1) × {squares.operand}")
        error = _step("SE", f"√({variance.operand})")
        low, high = self.scoring.score_range
        width = f"{number(Z_95)} × {error.operand}"
        return [
            products,
            weights,
            _known(score, self.part.score or 0.0),
            squares,
            variance,
            error,
            _step("low", f"max({number(low)}, {center} − {width})"),
            _step("high", f"min({number(high)}, {center} + {width})"),
        ]

    def success(self) -> _Draft:
        successes = _sum("successes", [Term(str(t.successes), t.task) for t in self.covered])
        valid = _sum("valid attempts", [Term(str(t.valid), t.task) for t in self.covered])
        judged = self.scoring.success_threshold is not None
        return _Draft(
            {"success rate": self.part.success_rate},
            "No attempt is valid." if judged else "This release has no pass mark.",
            [
                f"Successes of all valid attempts{self._where()}, pooled: no mean of the Tasks’ rates.",
                self._threshold_rule(),
            ],
            [successes, valid, _step("success rate", f"{successes.operand} / {valid.operand}")]
            if self.part.success_rate is not None
            else [],
            task_head="Successes",
            of_task=lambda task: task.successes if judged else None,
        )

    def spread(self) -> _Draft:
        found = self.case.result.consistency.spread
        known = [task for task in self.covered if task.spread is not None]
        total = _sum("Σ spread of a Task", [Term(self._deviation(task), task.task) for task in known])
        return _Draft(
            {"spread": found},
            "No Task has two valid attempts.",
            [
                "The spread of a Task is the sample standard deviation (n − 1) of its valid attempts, in the "
                "units of the score. The spread shown is the plain mean over the Tasks with two or more.",
                self._valid_rule(),
            ],
            [total, _step("spread", f"{total.operand} / {len(known)}")] if known else [],
            task_head="Spread",
            of_task=lambda task: task.spread,
        )

    def _deviation(self, task: TaskResult) -> str:
        mean = number(task.score or 0.0)
        squares = " + ".join(f"({number(value)} − {mean})²" for value in self.measured(task, "valid"))
        return f"√(({squares}) / ({task.valid} − 1))"

    def pass_hat(self) -> _Draft:
        found = self.case.result.consistency
        chances = [
            Term(f"C({t.successes}, {found.k}) / C({t.valid}, {found.k})", t.task) for t in self.covered
        ]
        total = _sum("Σ C(c, k) / C(K, k)", chances if found.pass_hat is not None else [])
        return _Draft(
            {"pass^k": found.pass_hat},
            "It needs a pass mark and a valid attempt.",
            [
                "With K valid attempts at a Task, c of them successes, the chance that k of them all succeed "
                "is C(c, k) / C(K, k). The figure is the plain mean over the Tasks with a valid attempt.",
                f"Here k is {found.k}: the track’s number of attempts, or less where a Task has fewer.",
                self._threshold_rule(),
            ],
            [total, _step("pass^k", f"{total.operand} / {len(self.covered)}")]
            if found.pass_hat is not None
            else [],
            task_head="Successes",
            of_task=lambda task: task.successes,
        )

    def coverage(self) -> _Draft:
        return self._share(
            "coverage",
            self.part.coverage,
            self.covered,
            ["The weight of the Tasks with at least one valid attempt, of the weight of all" + self._of()],
        )

    def complete(self) -> _Draft:
        done = [task for task in self.tasks if task.complete]
        required = self.scoring.coverage_required
        rules = [
            "The weight of the Tasks with as many valid attempts as they need, of the weight of all"
            + (self._of()),
            self._attempts_rule(),
            f"To rank, an entry needs {plain(required)} of the weight.",
        ]
        return self._share("complete coverage", self.case.result.complete_coverage, done, rules)

    def _of(self) -> str:
        return f" in the category {self.part_name}." if self.category else " of the release."

    def _share(self, name: str, known: float, some: list[TaskResult], rules: list[str]) -> _Draft:
        part, whole = self._weights("Σ weight of these", some), self._weights("Σ weight of all", self.tasks)
        names = {task.task for task in some}
        return _Draft(
            {name: known},
            "",
            [*rules, self._valid_rule()],
            [part, whole, _step(name, f"{part.operand} / {whole.operand}" if self.tasks else "0")],
            task_head="Weight that counts",
            of_task=lambda task: task.weight if task.task in names else 0.0,
        )

    def completion(self) -> _Draft:
        scored, failures = self.count("scored"), self.count("agent_failure")
        errors = self.count("infrastructure_error")
        known = self.case.result.completion_rate
        return _Draft(
            {"completion rate": known},
            "No attempt has ended with a score or an error.",
            ["Scored attempts, of the scored ones, agent failures and infrastructure errors together."],
            [_step("completion rate", f"{scored} / ({scored} + {failures} + {errors})")]
            if known is not None
            else [],
            counted="ended",
            task_head="Scored",
            of_task=lambda task: task.scored,
        )

    def cost(self) -> _Draft:
        return self._mean("cost", self.part.cost.value)

    def latency(self) -> _Draft:
        return self._mean("latency", self.part.latency.value)

    def _mean(self, counted: str, known: float | None) -> _Draft:
        draft = self._sum_of(counted)
        total = draft.steps[0]
        measured = sum(len(self.measured(task, counted)) for task in self.tasks)
        draft.known = {counted: known}
        draft.rules.insert(0, "The mean over the attempts that reported one: unknown is never zero.")
        draft.steps += [_step(counted, f"{total.operand} / {measured}")] if measured else []
        return draft

    def total(self) -> _Draft:
        draft = self._sum_of("cost")
        draft.known = {"total": self.part.cost.total}
        draft.rules.insert(0, "The sum over the attempts that reported a cost.")
        draft.steps = [replace(step, symbol="total") for step in draft.steps]
        if any(self.measured(task, "cost") for task in self.tasks):
            draft.missing = "The sum is larger than a number here can be."
        return draft

    def _sum_of(self, counted: str) -> _Draft:
        what, unit = ("cost", "US dollars") if counted == "cost" else ("time", "seconds")
        values = {task.task: self.measured(task, counted) for task in self.tasks}
        terms = [Term(" + ".join(map(number, found)), name) for name, found in values.items() if found]
        partial = counted == "cost" and self.part.cost.partial
        return _Draft(
            {},
            f"No attempt reported a {what}.",
            [
                f"Scored attempts and agent failures count, where they reported a finite {what}, in {unit}"
                f"{self._where()}.",
                *(["Some calls reported no cost, so this is a lower bound."] if partial else []),
            ],
            [_sum(f"Σ {what}", terms)],
            counted=counted,
            task_head="Sum",
            of_task=lambda task: total(values[task.task]),
        )

    def attempts_made(self) -> _Draft:
        terms = [Term(str(task.attempts), task.task) for task in self.tasks]
        return _Draft(
            {"attempts": sum(self.case.result.outcomes.values())},
            "",
            [
                "Every Trial of every Job of this entry, at the Tasks of the release. A retry is no attempt "
                "of its own, a Trial in several Jobs counts once, and one that left no result is none.",
            ],
            [_sum("attempts", terms)],
            counted="attempted",
            task_head="Attempts",
            of_task=lambda task: task.attempts,
        )

    def _outcome(self, figure: str) -> _Draft:
        key = next(outcome for outcome in OUTCOMES if outcome == figure)
        terms = [Term(str(COUNTS[key](task)), task.task) for task in self.tasks]
        return _Draft(
            {OUTCOME_NAMES[key]: self.case.result.outcomes.get(key, 0)},
            "",
            ["Each Trial has one outcome, that of its last execution.", self._outcome_rule(key)],
            [_sum(OUTCOME_NAMES[key], terms)],
            counted=key,
            task_head=OUTCOME_NAMES[key].capitalize(),
            of_task=COUNTS[key],
        )

    def _outcome_rule(self, outcome: Outcome) -> str:
        timeout = self.scoring.harness_timeout == "agent_failure"
        return {
            "scored": f"Scored: a Verifier gave a number from {self.low} to {self.high}.",
            "agent_failure": "Agent failure: no score, because the Agent ran out of turns, time or money, or "
            "its harness failed, broke the protocol or left no evidence"
            + (", or ran past its time and was killed." if timeout else "."),
            "infrastructure_error": "Infrastructure error: no score for a reason that is not the Agent’s, or "
            f"a score outside {self.low} to {self.high}.",
            "cancelled": "Cancelled: it was stopped before it got a score.",
            "pending": "Pending: it is still running or awaits review.",
        }[outcome]

    def jobs(self) -> _Draft:
        return _Draft(
            {"Jobs": len(self.case.jobs)},
            "",
            ["Every Job that ran this configuration on this release and track."],
            [_sum("Jobs", [Term("1", job) for job in self.case.jobs])],
            counted="attempted",
            task_head="Attempts",
            of_task=lambda task: task.attempts,
        )

    def rank(self) -> _Draft:
        result = self.case.result
        own = result.score if result.eligible else None
        scores = [own, *(score for _, score in self.case.ranked)]
        higher = [(name, score) for name, score in self.case.ranked if own is not None and score > own]
        why = result.ineligible_reasons or ("It has no score.",)
        return _Draft(
            {"rank": competition_ranks(scores)[0]},
            f"Not ranked. {' '.join(why)}",
            [
                "The rank is 1 and one more for each ranked entry with a higher score; equal scores share a "
                "rank. Sorting and filtering never change it.",
                "An entry ranks only if its Jobs ran on the track, its configuration conforms, its complete "
                "coverage is enough and nothing is pending.",
            ],
            [_sum("rank", [Term("1"), *(Term("1", f"{name}: {number(score)}") for name, score in higher)])],
        )


_DRAFTS: dict[str, Callable[[_Explainer], _Draft]] = {
    "rank": _Explainer.rank,
    "score": _Explainer.score,
    "interval": _Explainer.interval,
    "success": _Explainer.success,
    "spread": _Explainer.spread,
    "pass": _Explainer.pass_hat,
    "coverage": _Explainer.coverage,
    "complete": _Explainer.complete,
    "completion": _Explainer.completion,
    "cost": _Explainer.cost,
    "total": _Explainer.total,
    "latency": _Explainer.latency,
    "attempts": _Explainer.attempts_made,
    "jobs": _Explainer.jobs,
}


def _sum(symbol: str, terms: Sequence[Term]) -> Step:
    value = sum((evaluate(term.text) for term in terms), Fraction(0))
    return Step(symbol, tuple(terms), printed(value).strip("()"), value)


def _step(symbol: str, formula: str) -> Step:
    return _sum(symbol, [Term(formula)])


def _known(step: Step, value: float) -> Step:
    """The step with its number as `aggregate` rounded it."""
    return replace(step, result=plain(value))


def _same(known: float, worked_out: Fraction, scale: float) -> bool:
    """Equal but for rounding; next to `scale`, the size of the range, a rounding difference vanishes."""
    try:
        return math.isclose(
            known, float(worked_out), rel_tol=_RELATIVE, abs_tol=_ABSOLUTE * min(scale, 1e300)
        )
    except OverflowError:
        return False
