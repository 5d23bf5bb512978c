"""Scores, intervals, coverage, cost and reasons: recorded cases, and properties that hold for any input."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.consistency import agreement, pass_at, pass_hat, spread, summarize
from benchmarks.domain.scoring import aggregate, classify, competition_ranks
from benchmarks.domain.types import Attempt, Category, ConfigurationResult, Scoring

DATA = Path(__file__).parents[1] / "data"
CASES = [json.loads(line) for line in (DATA / "scoring-cases.jsonl").read_text("utf-8").splitlines()]
OURS_IN_WORDS = {"unit", "method", "unavailable_reason", "ineligible_reasons"}

figures = st.none() | st.floats() | st.floats(-1e3, 1e3) | st.sampled_from([0.0, -0.0, 0.1, 0.5, 1.0])
attempt_lists = st.lists(
    st.builds(
        Attempt,
        task=st.sampled_from(["a", "b", "c", "d", "e", "outside"]),
        attempt=st.just(0),
        status=st.sampled_from(["succeeded", "failed", "cancelled", "running", "awaiting_review"]),
        score=figures.filter(lambda score: score is None or not 1e307 < abs(score) < math.inf),
        error_code=st.sampled_from([None, "cancelled", "timeout", "harness_failed", "provider_unavailable"]),
        stop_reason=st.sampled_from([None, "max_turns", "harness_timeout", "agent_finished"]),
        cost_usd=figures,
        latency_seconds=figures,
        cost_partial=st.booleans(),
    ),
    max_size=25,
).map(lambda attempts: [replace(a, attempt=n, trial_id=f"trl_{n}") for n, a in enumerate(attempts)])
scorings = st.builds(
    Scoring,
    success_threshold=st.sampled_from([None, 0.0, 0.5, 1.0]),
    task_weights=st.dictionaries(st.sampled_from("abcx"), st.floats(1e-300, 1e300)),
    agent_failure=st.sampled_from(["zero", "exclude"]),
    harness_timeout=st.sampled_from(["infrastructure_error", "agent_failure"]),
    min_tasks_for_interval=st.integers(2, 5),
)
CATEGORIES = (Category("x", "X", tasks=("a", "b", "nope")), Category("y", "Y", tasks=("b", "c", "d", "e")))


def score(attempts: list[Attempt], scoring: Scoring, **options: Any) -> ConfigurationResult:
    return aggregate("abcde", attempts, scoring=scoring, categories=CATEGORIES, **options)


def ran(task: str, value: float | None, **fields: Any) -> Attempt:
    return Attempt(task=task, attempt=1, status="succeeded", score=value, **fields)


def case_attempts(case: dict[str, Any]) -> list[Attempt]:
    def number(value: Any) -> float | None:
        return None if value is None else float(value)

    return [
        Attempt(**{**a, **{key: number(a[key]) for key in ("score", "cost_usd", "latency_seconds")}})
        for a in case["input"]["attempts"]
    ]


def case_result(case: dict[str, Any]) -> ConfigurationResult:
    given_, rules = case["input"], case["scoring_resolved"]
    return aggregate(
        given_["task_names"],
        case_attempts(case),
        scoring=Scoring(**{**rules, "score_range": tuple(rules["score_range"])}),
        categories=[Category(**{**c, "tasks": tuple(c["tasks"])}) for c in given_["categories"]],
        required_attempts=given_["required_attempts"],
        blocking_issues=given_["blocking_issues"],
        declared=given_["declared"],
    )


def assert_same(expected: Any, actual: Any, path: str) -> None:
    if isinstance(expected, dict):
        for key in expected.keys() - OURS_IN_WORDS:
            assert_same(expected[key], actual[key], f"{path}.{key}")
    elif isinstance(expected, list):
        assert len(expected) == len(actual), path
        for position, item in enumerate(expected):
            assert_same(item, actual[position], f"{path}.{position}")
    elif isinstance(expected, float) and actual is not None:
        assert actual == pytest.approx(expected, rel=1e-9, abs=0), path
    else:
        assert actual == expected, path


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_recorded_case(case: dict[str, Any]) -> None:
    rules = case["scoring_resolved"]
    declared = Scoring(**{**rules, "score_range": tuple(rules["score_range"])})
    outcomes = [classify(a, declared if case["input"]["declared"] else None) for a in case_attempts(case)]
    assert outcomes == case["attempt_outcomes"]
    result, expected = case_result(case), case["expected"]
    assert_same(expected, asdict(result), case["id"])
    assert set(result.outcomes) == set(expected["outcomes"])

    interval = expected["uncertainty"]
    assert (result.uncertainty.method is None) == (interval["method"] is None)
    assert numbers(result.uncertainty.unavailable_reason or "") == numbers(
        interval["unavailable_reason"] or ""
    )

    blocking = case["input"]["blocking_issues"]
    assert list(result.ineligible_reasons[: len(blocking)]) == blocking
    missing = [task.task for task in result.tasks if not task.complete]
    ours, theirs = result.ineligible_reasons[len(blocking) :], expected["ineligible_reasons"][len(blocking) :]
    assert len(ours) == len(theirs)
    for reason, other in zip(ours, theirs, strict=True):
        before, _, named = other.partition(" Missing: ")
        assert numbers(reason.partition(": ")[0]) == numbers(before)
        if named:
            more = f" and {len(missing) - 5} more" if named.endswith("….") else ""
            assert reason.endswith(f": {named.rstrip('.…')}{more}.")


def test_agent_failure_under_exclude_still_has_cost_and_latency() -> None:
    result = score(
        [ran("a", None, stop_reason="max_cost", cost_usd=2.0, latency_seconds=3.0)],
        Scoring(agent_failure="exclude"),
    )
    assert result.score is None
    assert (result.cost.value, result.cost.measured, result.cost.attempts) == (2.0, 1, 1)
    assert (result.latency.value, result.latency.measured, result.latency.attempts) == (3.0, 1, 1)


def test_cost_counts_what_reported_a_finite_number() -> None:
    costs = [0.0, 0.2, None, math.nan, math.inf]
    attempts = [ran("a", 1.0, cost_usd=cost) for cost in costs]
    lost = Attempt("a", 1, "failed", error_code="provider_unavailable", cost_usd=9.0)
    cost = score([*attempts, lost], Scoring()).cost
    assert (cost.value, cost.total, cost.measured, cost.attempts, cost.partial) == (0.1, 0.2, 2, 5, False)


def test_a_partial_cost_marks_the_whole_and_its_categories_only() -> None:
    attempts = [ran("a", 1.0, cost_usd=0.1, cost_partial=True), ran("c", 1.0, cost_usd=0.3)]
    result = score([*attempts, ran("d", 1.0, cost_partial=True)], Scoring())
    assert result.cost.partial
    first, second = result.categories
    assert (first.cost.value, first.cost.total, first.cost.partial) == (0.1, 0.1, True)
    assert (second.cost.value, second.cost.measured, second.cost.attempts) == (0.3, 1, 2)
    assert not second.cost.partial


def test_a_category_has_an_interval_and_latency_of_its_own() -> None:
    attempts = [
        ran(t, v, latency_seconds=10 * v) for t, v in zip("abcde", [0.0, 1.0, 0.5, 0.5, 1.0], strict=True)
    ]
    first, second = score(attempts, Scoring(min_tasks_for_interval=3)).categories
    assert (first.uncertainty.low, first.uncertainty.sample_size) == (None, 2)
    assert first.latency.value == 5.0
    # 4/3 · Σ (1/4)² (x - 0.75)² over 1, .5, .5, 1
    error = math.sqrt(4 / 3 * 4 * (0.25 * 0.25) ** 2)
    assert second.uncertainty.standard_error == pytest.approx(error, rel=1e-12)
    assert second.uncertainty.low == pytest.approx(0.75 - 1.96 * error, rel=1e-12)
    assert second.uncertainty.high == 1.0  # clipped to the range


def test_equal_attempts_give_exactly_their_score() -> None:
    many, one = score([ran("a", 0.1)] * 3, Scoring()), score([ran("a", 0.1)], Scoring())
    assert many.score == one.score == 0.1


def test_coverage_reason_tells_almost_from_all() -> None:
    weights = {"a": 1000.0}
    attempts = [ran(task, 1.0) for task in "abcd"]
    (reason,) = score(attempts, Scoring(task_weights=weights)).ineligible_reasons
    assert reason.startswith("99.9% ")
    assert "100.0%" in reason
    assert reason.endswith(": e.")


def test_extreme_weights_and_scores_stay_finite() -> None:
    attempts = [
        ran(task, value) for task, value in zip("abcde", [1e300, -1e300, 0.0, 1e300, 1.0], strict=True)
    ]
    weights = {"a": 1e300, "b": 1e300, "c": 1e-300}
    result = score(attempts * 3, Scoring(score_range=(-1e300, 1e300), task_weights=weights))
    assert result.score == pytest.approx(0.0, abs=1e290)
    assert math.isfinite(result.uncertainty.standard_error or math.inf)
    assert all(task.spread == 0 for task in result.tasks)
    huge = aggregate("a", [ran("a", 1.7e308, cost_usd=1.7e308)] * 3, scoring=Scoring(), declared=False)
    assert (huge.score, huge.cost.value, huge.cost.total) == (1.7e308, 1.7e308, None)


@given(attempt_lists, scorings, st.booleans(), st.randoms(use_true_random=False))
def test_order_of_attempts_never_changes_a_digit(
    attempts: list[Attempt], scoring: Scoring, declared: bool, rng: random.Random
) -> None:
    shuffled = list(attempts)
    rng.shuffle(shuffled)
    result = score(attempts, scoring, declared=declared, required_attempts=2)
    # repr tells -0.0 from 0.0, which == doesn't.
    assert repr(score(shuffled, scoring, declared=declared, required_attempts=2)) == repr(result)


@given(attempt_lists, scorings, st.booleans())
def test_figures_fit_together(attempts: list[Attempt], scoring: Scoring, declared: bool) -> None:
    result = score(attempts, scoring, declared=declared)
    inside = [a for a in attempts if a.task != "outside"]
    assert sum(result.outcomes.values()) == len(inside) == sum(task.attempts for task in result.tasks)
    assert all(count > 0 for count in result.outcomes.values())
    assert 0 <= result.complete_coverage <= result.coverage <= 1
    assert result.valid == sum(task.valid for task in result.tasks)
    assert result.cost.measured <= result.cost.attempts
    assert result.eligible == (not result.ineligible_reasons)
    values = [v for task in result.tasks for v in (task.score_min, task.score_max) if v is not None]
    if result.score is None:
        assert not values
    else:
        assert min(values) <= result.score <= max(values)
    assert {t for task in result.tasks for t in task.trial_ids} == {a.trial_id for a in inside}


@given(attempt_lists, scorings)
def test_attempts_outside_the_release_count_nowhere(attempts: list[Attempt], scoring: Scoring) -> None:
    inside = [attempt for attempt in attempts if attempt.task != "outside"]
    assert score(attempts, scoring) == score(inside, scoring)


@given(attempt_lists, scorings)
def test_a_category_of_all_tasks_reads_as_the_whole(attempts: list[Attempt], scoring: Scoring) -> None:
    everything = Category("all", "All", tasks=tuple("edcba"))
    whole = aggregate("abcde", attempts, scoring=scoring, categories=[everything])
    (same,) = whole.categories
    for name in ("score", "uncertainty", "coverage", "tasks_covered", "success_rate", "cost", "latency"):
        assert getattr(same, name) == getattr(whole, name), name


def test_trial_ids_go_by_attempt_then_as_given() -> None:
    attempts = [
        Attempt("a", number, "succeeded", score=1.0, trial_id=trial)
        for number, trial in [(2, "t2"), (1, "t1b"), (1, "t1a"), (1, None), (0, "t0")]
    ]
    assert score(attempts, Scoring()).tasks[0].trial_ids == ("t0", "t1b", "t1a", "t2")


def test_competition_ranks_leave_out_what_has_no_score() -> None:
    assert competition_ranks([0.80, 0.78, 0.78, 0.70, 0.55]) == [1, 2, 2, 4, 5]
    scores = [0.5, None, math.nan, 0.9, math.inf, -math.inf, 0.5, -0.0, 0.0]
    assert competition_ranks(scores) == [2, None, None, 1, None, None, 2, 4, 4]
    assert competition_ranks([]) == []


# Tables of unbiased estimates: 3 of 5, and Tasks with 5, 3, 0 and 1 of 5.


def test_pass_hat_is_not_the_power_of_the_rate() -> None:
    assert pass_hat(5, 3, 2) == pytest.approx(0.30, rel=1e-12)


def test_pass_at_and_pass_hat_by_k() -> None:
    assert [pass_at(5, 3, k) for k in range(1, 6)] == pytest.approx([0.6, 0.9, 1, 1, 1])
    assert [pass_hat(5, 3, k) for k in range(1, 6)] == pytest.approx([0.6, 0.3, 0.1, 0, 0])


def test_pass_at_and_pass_hat_over_tasks() -> None:
    passes = [5, 3, 0, 1]
    for k, at, hat in [(1, 0.45, 0.45), (2, 0.575, 0.325), (3, 0.65, 0.275), (5, 0.75, 0.25)]:
        assert sum(pass_at(5, c, k) for c in passes) / 4 == pytest.approx(at)
        assert sum(pass_hat(5, c, k) for c in passes) / 4 == pytest.approx(hat)
    summary = summarize([(5, c) for c in passes], [])
    assert summary.k == 5
    capped = summarize([(5, c) for c in passes], [], most=2)
    assert capped.k == 2
    assert [capped.pass_hat, capped.pass_at] == pytest.approx([0.325, 0.575])
    assert [summary.pass_at, summary.pass_hat] == pytest.approx([0.75, 0.25])


def test_agreement_of_two_attempts() -> None:
    assert [agreement(5, c) for c in (5, 4, 3, 0)] == pytest.approx([1, 0.6, 0.4, 1])


def test_consistency_takes_the_smallest_number_of_attempts() -> None:
    attempts = [ran("a", 1.0)] * 2 + [ran("b", value) for value in (1.0, 0.0, 0.0)]
    found = score(attempts, Scoring()).consistency
    assert found.k == 2
    assert found.pass_hat == pytest.approx((1 + 0) / 2)
    assert found.pass_at == pytest.approx((1 + 2 / 3) / 2)
    assert found.agreement == pytest.approx((1 + 1 / 3) / 2)
    assert found.spread == pytest.approx((0 + math.sqrt(1 / 3)) / 2)
    single = score([ran("c", 1.0)], Scoring()).consistency
    assert (single.k, single.pass_hat, single.agreement, single.spread) == (1, 1.0, None, None)
    without = score(attempts, Scoring(success_threshold=None)).consistency
    assert (without.k, without.pass_hat, without.pass_at, without.agreement) == (0, None, None, None)
    assert without.spread == found.spread


def test_spread_of_few_equal_and_extreme_values() -> None:
    assert spread([0.3]) is None
    assert spread([0.1, 0.1, 0.1]) == 0.0
    assert spread([1.0, 0.6, 0.2, 0.8, 0.0, 0.4]) == pytest.approx(0.374166, abs=1e-6)
    assert spread([-1e308, 1e308]) == pytest.approx(math.sqrt(2) * 1e308)
    assert spread([0.0, 5e-324]) is not None
