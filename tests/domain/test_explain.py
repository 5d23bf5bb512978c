"""What is printed as the way to a number leads to that number, whatever the attempts were."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.arithmetic import evaluate, number, plain, printed
from benchmarks.domain.explain import explain
from benchmarks.domain.explanation import OF_CATEGORY, OF_WHOLE, OUTCOME_NAMES, Case, Explanation
from benchmarks.domain.scoring import aggregate
from benchmarks.domain.types import Attempt, Category, ConfigurationResult, Scoring, Track
from tests.formulas import work_out

CATEGORIES = (Category("x", "X", tasks=("a", "b", "nope")), Category("y", "Y", tasks=("b", "c", "d", "e")))
RANGES = [(0.0, 1.0), (-1.0, 1.0), (0.0, 100.0), (-3.0, -1.0)]
STATUSES = ["succeeded", "succeeded", "succeeded", "failed", "cancelled", "running"]

amounts = st.none() | st.sampled_from([0.0, 0.1, 1e-9, math.nan]) | st.floats(0, 1e6)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    low, high = draw(st.sampled_from(RANGES))
    scoring = Scoring(
        score_range=(low, high),
        success_threshold=draw(st.none() | st.floats(low, high)),
        task_weights=draw(st.dictionaries(st.sampled_from("abcx"), st.floats(0.001, 1000.0))),
        agent_failure=draw(st.sampled_from(["zero", "exclude"])),
        harness_timeout=draw(st.sampled_from(["infrastructure_error", "agent_failure"])),
        min_tasks_for_interval=draw(st.integers(2, 5)),
    )
    attempts = draw(
        st.lists(
            st.builds(
                Attempt,
                task=st.sampled_from(["a", "b", "c", "d", "e", "outside"]),
                attempt=st.integers(1, 3),
                status=st.sampled_from(STATUSES),
                score=st.none() | st.floats(low, high) | st.sampled_from([low, high, high + 1]),
                error_code=st.sampled_from([None, "harness_failed", "provider_unavailable"]),
                stop_reason=st.sampled_from([None, "max_turns", "harness_timeout"]),
                cost_usd=amounts,
                latency_seconds=amounts,
                cost_partial=st.booleans(),
            ),
            max_size=25,
        )
    )
    return case(attempts, scoring, Track("open", "Open", "agents", attempts=draw(st.integers(1, 3))))


def case(attempts: list[Attempt], scoring: Scoring, track: Track | None = None, **more: Any) -> Case:
    result = aggregate(
        "abcde",
        attempts,
        scoring=scoring,
        categories=CATEGORIES,
        required_attempts=track.attempts if track else 1,
        compared_attempts=track.attempts if track else None,
    )
    attempted = sum(result.outcomes.values())
    if result.eligible and result.score is not None:
        more.setdefault("ranked", [("this", result.score), ("best", 101.0), ("worst", -101.0)])
    return Case(
        attempts=attempts,
        result=result,
        scoring=scoring,
        categories=CATEGORIES,
        track=track,
        **{"planned": attempted + 2, "recorded": attempted + 1, "jobs": ["job_1", "job_2"], **more},
    )


def from_aggregate(result: ConfigurationResult, category: str) -> Mapping[str, tuple[float | None, ...]]:
    part: Any = {part.id: part for part in result.categories}[category] if category else result
    figures: dict[str, tuple[float | None, ...]] = {
        "score": (part.score,),
        "interval": (part.uncertainty.low, part.uncertainty.high),
        "success": (part.success_rate,),
        "coverage": (part.coverage,),
        "cost": (part.cost.value,),
        "total": (part.cost.total,),
        "latency": (part.latency.value,),
    }
    if category:
        return figures
    return {
        **figures,
        "complete": (result.complete_coverage,),
        "completion": (result.completion_rate,),
        "spread": (result.consistency.spread,),
        "pass": (result.consistency.pass_hat,),
        "attempts": (sum(result.outcomes.values()),),
        **{key: (result.outcomes.get(key, 0),) for key in OUTCOME_NAMES},
    }


def check_formula(found: Explanation) -> None:
    """Every step by itself, and the last of each name by the number that `aggregate` gave."""
    results = {}
    for step in found.steps:
        total = sum((work_out(term.text) for term in step.terms), Fraction(0))
        off = abs(total - Fraction(step.result))
        assert off <= max(abs(total) / 10**9, Fraction(1, 10**10)), (found.figure, step)
        results[step.symbol] = float(step.result)
    for value in found.values:
        assert value.agrees, (found.figure, value)
        if value.value is not None and not found.missing:
            assert results[value.name] == value.value


@given(cases())
def test_explanations_give_what_aggregate_gives(entry: Case) -> None:
    for category, figures in (("", OF_WHOLE), ("x", OF_CATEGORY), ("y", OF_CATEGORY)):
        expected = from_aggregate(entry.result, category)
        for figure in figures:
            found = explain(figure, entry, category)
            if figure in expected:
                assert tuple(value.value for value in found.values) == expected[figure], figure
            assert bool(found.missing) == any(value.value is None for value in found.values), figure
            assert bool(found.steps) != bool(found.missing), figure
            check_formula(found)
            check_funnel(found)


def check_funnel(found: Explanation) -> None:
    counts = {stage.name: stage.count for stage in found.funnel}
    assert list(counts) == ["planned", "attempted", "finished", "scored", "counted"]
    samples = [sample for task in found.tasks for sample in task.samples]
    outcomes = [sample.outcome for sample in samples]
    assert counts["attempted"] == len(samples)
    assert counts["finished"] == len(samples) - outcomes.count("pending")
    assert counts["scored"] == outcomes.count("scored")
    if found.counted in ("valid", "cost", "latency"):
        assert counts["counted"] == sum(sample.value is not None for sample in samples)
    if found.counted in OUTCOME_NAMES:
        assert counts["counted"] == outcomes.count(next(o for o in OUTCOME_NAMES if o == found.counted))


def ran(task: str, score: float | None, **fields: Any) -> Attempt:
    return Attempt(task=task, attempt=1, status="succeeded", score=score, **fields)


def steps(found: Explanation) -> dict[str, str]:
    return {
        step.symbol: f"{' + '.join(term.text for term in step.terms)} = {step.result}" for step in found.steps
    }


def test_formulas_read_as_people_would_write_them() -> None:
    attempts = [
        ran("a", 1.0),
        ran("b", 0.5),
        ran("b", 1.0, cost_usd=0.25),
        ran("c", None, stop_reason="max_turns"),
    ]
    entry = case(attempts, Scoring(task_weights={"a": 2.0}, success_threshold=0.75))
    assert steps(explain("score", entry)) == {
        "Σ weight × Task score": "2 × 1 + 1 × 0.75 + 1 × 0 = 2.75",
        "Σ weight": "2 + 1 + 1 = 4",
        "score": "2.75 / 4 = 0.6875",
    }
    assert steps(explain("success", entry)) == {
        "successes": "1 + 1 + 0 = 2",
        "valid attempts": "1 + 2 + 1 = 4",
        "success rate": "2 / 4 = 0.5",
    }
    assert steps(explain("cost", entry)) == {"Σ cost": "0.25 = 0.25", "cost": "0.25 / 1 = 0.25"}
    assert steps(explain("spread", entry))["Σ spread of a Task"] == (
        "√(((0.5 − 0.75)² + (1 − 0.75)²) / (2 − 1)) = 0.3535533905932738"
    )
    assert steps(explain("coverage", entry))["coverage"] == "4 / 6 = 0.6666666666666666"
    assert steps(explain("interval", case(attempts, Scoring(min_tasks_for_interval=3))))["low"] == (
        "max(0, 0.5833333333333333 − 1.96 × 0.3004626062886658) = 0"
    )


def test_pass_hat_takes_all_of_k_without_putting_back() -> None:
    attempts = [ran("a", value) for value in (1.0, 1.0, 1.0, 0.0, 0.0)]
    found = explain("pass", case(attempts, Scoring(), Track("t", "T", "agents", attempts=2)))
    assert steps(found)["Σ C(c, k) / C(K, k)"] == "C(3, 2) / C(5, 2) = 0.3"
    assert "k is 2" in " ".join(found.rules)


def test_a_rank_counts_those_with_a_higher_score() -> None:
    everything = [ran(task, 0.5) for task in "abcde"]
    ranked = [("best", 0.75), ("also", 0.75), ("this", 0.5), ("same", 0.5), ("last", 0.25)]
    found = explain("rank", case(everything, Scoring(), ranked=ranked))
    assert steps(found) == {"rank": "1 + 1 + 1 = 3"}
    assert [term.label for term in found.steps[0].terms] == ["", "best: 0.75", "also: 0.75"]
    short = explain("rank", case(everything[:2], Scoring(), ranked=ranked))
    assert (short.values[0].value, short.steps) == (None, ())
    assert "40%" in short.missing and "c, d, e" in short.missing


def test_where_nothing_was_measured_it_says_so() -> None:
    entry = case([], Scoring(), ranked=[])
    without = {figure for figure in OF_WHOLE if explain(figure, entry).missing}
    assert without == {
        "rank", "score", "interval", "success", "spread", "pass", "completion", "cost", "total", "latency",
    }  # fmt: skip
    for figure in OF_WHOLE:
        found = explain(figure, entry)
        check_formula(found)
        assert bool(found.steps) != bool(found.missing)
    assert "5 Tasks" in explain("interval", entry).missing


def test_without_a_pass_mark_nothing_passes() -> None:
    entry = case([ran("a", 1.0)] * 2, Scoring(success_threshold=None))
    for figure in ("success", "pass"):
        found = explain(figure, entry)
        assert "pass mark" in found.missing
        assert any("no pass mark" in rule for rule in found.rules)


def test_agent_failures_at_the_bottom_or_left_out() -> None:
    attempts = [ran("a", 0.5), ran("a", None, stop_reason="max_turns")]
    at_bottom = explain("score", case(attempts, Scoring(score_range=(-1.0, 1.0))))
    assert [sample.value for sample in at_bottom.tasks[0].samples] == [0.5, -1.0]
    assert steps(at_bottom)["Σ weight × Task score"] == "1 × (-0.25) = -0.25"
    assert "count as -1," in at_bottom.rules[0]
    left_out = explain("score", case(attempts, Scoring(agent_failure="exclude")))
    assert [sample.value for sample in left_out.tasks[0].samples] == [0.5, None]
    assert left_out.funnel[-1].count == 1


def test_a_number_that_the_formula_does_not_give_is_said_to_differ() -> None:
    entry = case([ran("a", 0.5), ran("b", 1.0)], Scoring())
    wrong = replace(entry, result=replace(entry.result, score=0.7501))
    assert explain("score", entry).agrees
    found = explain("score", wrong)
    assert not found.agrees
    assert (found.values[0].value, found.steps[-1].result) == (0.7501, "0.75")


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_extreme_numbers_are_written_out(size: float) -> None:
    scoring = Scoring(
        score_range=(-1e307, 1e307), task_weights={"a": size, "b": 2 * size}, min_tasks_for_interval=2
    )
    attempts = [ran("a", 1e307, cost_usd=1e308), ran("b", -1e306, cost_usd=1e308), ran("b", 1e306)]
    entry = case(attempts, scoring)
    for figure in OF_WHOLE:
        check_formula(explain(figure, entry))
    assert "larger than a number" in explain("total", entry).missing


def test_of_many_terms_the_rest_can_stand_together() -> None:
    entry = case([ran(task, 0.1) for task in "abcde"], Scoring())
    whole = explain("score", entry).steps[0]
    cut = whole.cut(2)
    assert [term.text for term in cut.terms] == ["1 × 0.1", "1 × 0.1", "0.3"]
    assert cut.terms[2].label == "3 more together"
    assert (cut.result, whole.cut(5)) == (whole.result, whole)


def test_only_what_a_board_shows_can_be_explained() -> None:
    entry = case([], Scoring())
    for figure, category in (("", ""), ("low", ""), ("rank", "x"), ("jobs", "y"), ("score", "nope")):
        with pytest.raises(KeyError):
            explain(figure, entry, category)


# Arithmetic ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("1 + 2 × 3", "7"),
        ("10 − 3 − 2", "5"),
        ("12 / 4 / 3", "1"),
        ("(2 × 1 + 0.5) / (2 + 3)", "0.5"),
        ("(0.5 − 1)²", "0.25"),
        ("2 × (-3)²", "18"),
        ("max((-1), 0.5 − 1)", "-0.5"),
        ("min(1, 2)", "1"),
        ("√(6.25)", "2.5"),
        ("C(5, 2) / C(2, 5)", None),
        ("1e-05 × 2", "2e-05"),
        ("1.5e+309 / 1e+300", "1500000000"),
    ],
)
def test_formulas_are_worked_out(formula: str, value: str | None) -> None:
    if value is None:
        with pytest.raises(ZeroDivisionError):
            evaluate(formula)
    else:
        assert printed(evaluate(formula)).strip("()") == value
        assert evaluate(formula) == work_out(formula)


@pytest.mark.parametrize("text", ["", "1 +", "(1", "1)", "1 2", "min 1", "a", "1 * 2", "nan", "²", "C", "+"])
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="formula|lacks"):
        evaluate(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_printed_with_every_digit(value: float) -> None:
    assert float(evaluate(number(value))) == value
    assert float(plain(value)) == value


def test_sums_do_not_depend_on_the_order() -> None:
    chance = random.Random(1)  # noqa: S311 - any numbers will do
    values = [chance.random() for _ in range(200)]
    sums = set()
    for _ in range(5):
        chance.shuffle(values)
        sums.add(printed(evaluate(" + ".join(map(number, values)))))
    assert len(sums) == 1
