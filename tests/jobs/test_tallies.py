"""Tallies: what attempts add up to, and why an entry is or isn't ranked."""

from __future__ import annotations

import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.domain.definitions import rules_from_content
from benchmarks.domain.scoring import aggregate
from benchmarks.domain.types import Attempt
from benchmarks.models import Revision
from jobs.models import JobAgent, Tally, Trial
from plural_site.accounts.models import Project
from tests.builders import (
    AWAITING_REVIEW,
    CANCELLED,
    AgentSpec,
    BenchmarkSpec,
    Outcome,
    category,
    change,
    failed,
    make_job,
    scoring,
    share_trial,
    track,
)
from tests.importing import bring, overall


def of_tasks(**by_task: Outcome | float) -> Any:
    return lambda agent, task, attempt: by_task[task]


@pytest.mark.parametrize(
    ("limits", "scores", "mean"), [([-1.0, 1.0], (-1.0, 0.5), -0.25), ([0.0, 10.0], (7.5, 10.0), 8.75)]
)
def test_other_score_ranges(
    limits: list[float], scores: tuple[float, float], mean: float, project: Project, tmp_path: Path
) -> None:
    spec = BenchmarkSpec(
        tasks=("a", "b", "c"), scoring=scoring(score_range=limits, success_threshold=limits[1] / 2)
    )
    outcomes = of_tasks(a=scores[0], b=scores[1], c=Outcome(score=limits[1] * 1.01))
    bring(project, make_job(tmp_path, benchmark=spec, outcomes=outcomes))
    row = overall()
    assert row.score == mean
    assert row.outcomes == {"scored": 2, "infrastructure_error": 1}
    assert (row.low, row.detail["unavailable_reason"] != "") == (None, True)
    assert Trial.objects.get(task_name="c").score == limits[1] * 1.01


def test_agent_failure_counts_as_the_bottom_of_the_range(project: Project, tmp_path: Path) -> None:
    spec = BenchmarkSpec(scoring=scoring(score_range=[-4.0, 4.0], success_threshold=0.0))
    outcomes = of_tasks(first=failed("", "max_turns"), second=4.0)
    bring(project, make_job(tmp_path, benchmark=spec, outcomes=outcomes))
    row = overall()
    assert (row.score, row.successes, row.valid) == (0.0, 1, 2)
    assert row.outcomes == {"agent_failure": 1, "scored": 1}


def test_unknown_costs_are_unknown_and_partial_ones_a_lower_bound(project: Project, tmp_path: Path) -> None:
    spec = BenchmarkSpec(
        tasks=("a", "b", "c", "d"), categories=(category("free", "c"), category("dear", "a"))
    )
    outcomes = of_tasks(
        a=Outcome(cost_usd=0.5, calls_missing_cost=2, latency_seconds=1.0),
        b=Outcome(cost_usd=None, latency_seconds=None),
        c=Outcome(cost_usd=None, calls_missing_cost=3, latency_seconds=2.0),
        d=Outcome(cost_usd=0.0, latency_seconds=0.0),
    )
    bring(project, make_job(tmp_path, benchmark=spec, outcomes=outcomes))
    row = overall()
    assert (row.cost, row.cost_total, row.cost_measured, row.cost_attempts) == (0.25, 0.5, 2, 4)
    assert row.cost_partial
    assert (row.latency, row.latency_measured, row.latency_attempts) == (1.0, 3, 4)
    by_category = {tally.key: tally for tally in Tally.objects.filter(scope=Tally.Scope.CATEGORY)}
    assert (by_category["free"].cost, by_category["free"].cost_measured) == (None, 0)
    assert (by_category["free"].cost_total, by_category["free"].cost_partial) == (None, False)
    assert (by_category["dear"].cost, by_category["dear"].cost_partial) == (0.5, True)
    agent = JobAgent.objects.get()
    assert (agent.cost_total, agent.cost_measured, agent.cost_partial) == (0.5, 2, True)


def test_models_track_does_not_rank_an_entry_that_called_another_model(
    project: Project, tmp_path: Path
) -> None:
    spec = BenchmarkSpec(tracks=(track("models", kind="models"), track("open")))
    agents = [AgentSpec(name="honest", model="sim/one"), AgentSpec(name="other", model="sim/two")]

    def outcomes(agent: str, task: str, attempt: int) -> Outcome:
        mixed = agent == "other" and task == "second"
        return Outcome(models=("one", "big/three") if mixed else None)

    for name in ("models", "open"):
        bring(
            project,
            make_job(
                tmp_path / name, benchmark=spec, agents=agents, outcomes=outcomes, track_id=name, key=name
            ),
        )
    rows = {
        (row.track_ref, row.configuration.model): row
        for row in Tally.objects.filter(scope=Tally.Scope.OVERALL).select_related("configuration")
    }
    assert rows["models@1.0.0", "sim/one"].eligible
    assert rows["open@1.0.0", "sim/two"].eligible
    bad = rows["models@1.0.0", "sim/two"]
    (reason,) = bad.reasons
    assert not bad.eligible
    assert "big/three" in reason
    assert "sim/two" in reason


@pytest.mark.parametrize(("harness", "reasons"), [("loop", 0), ("Loop", 1), (None, 1), ("native", 1)])
def test_conformance_is_by_the_harness_name(
    harness: str | None, reasons: int, project: Project, tmp_path: Path
) -> None:
    spec = BenchmarkSpec(tracks=(track(harnesses=["loop"]),))
    bring(project, make_job(tmp_path, benchmark=spec, track_id="open", agents=[AgentSpec(harness=harness)]))
    row = overall("open@1.0.0")
    assert (len(row.reasons), row.eligible) == (reasons, reasons == 0)
    if reasons:
        assert (harness or "built-in loop") in row.reasons[0]


def test_reasons_come_in_order_and_all_of_them(project: Project, tmp_path: Path) -> None:
    spec = BenchmarkSpec(
        tasks=("a", "b", "c", "d"),
        tracks=(track("m", kind="models", attempts=2, temperature=0.0, max_tokens=10),),
        default_view="models",
    )
    outcomes = of_tasks(a=1.0, b=AWAITING_REVIEW, c=CANCELLED, d=failed("provider_unavailable"))
    agent = AgentSpec(instructions="Be quick.", fallback_models=("sim/two",), temperature=0.5)
    bring(
        project,
        make_job(tmp_path, benchmark=spec, attempts=2, track_id="m", agents=[agent], outcomes=outcomes),
    )
    row = overall("m@1.0.0")
    found = [
        next(
            word
            for word in ("falls back", "nstruction", "emperature", "max_tokens", "%", "pending")
            if word in reason
        )
        for reason in row.reasons
    ]
    assert found == ["falls back", "nstruction", "emperature", "max_tokens", "%", "pending"]
    assert "25" in row.reasons[4]
    assert all(name in row.reasons[4] for name in ("b", "c", "d"))
    assert "2" in row.reasons[5]
    assert (row.score, row.coverage, row.complete_coverage) == (1.0, 0.25, 0.25)
    assert row.outcomes == {"scored": 2, "pending": 2, "cancelled": 2, "infrastructure_error": 2}


def test_planned_trials_without_a_result_are_neither_attempts_nor_pending(
    project: Project, tmp_path: Path
) -> None:
    spec = BenchmarkSpec(tracks=(track(),))
    bring(
        project,
        make_job(
            tmp_path,
            benchmark=spec,
            track_id="open",
            outcomes=lambda a, t, n: 1.0 if t == "first" else None,
            result_json=False,
        ),
    )
    row = overall("open@1.0.0")
    assert (row.planned, row.attempts, row.outcomes) == (2, 1, {"scored": 1})
    assert len(row.reasons) == 1
    assert "second" in row.reasons[0]


def test_trials_at_unknown_tasks_are_kept_and_never_score(project: Project, tmp_path: Path) -> None:
    folder = make_job(tmp_path, outcomes=of_tasks(first=1.0, second=0.0))
    digest = "sha256:" + "0" * 64
    for trial in (folder / "trials").iterdir():
        for file in (trial / "result.json", trial / "executions/0/result.json"):
            if '"name":"second"' in file.read_text():
                change(file, "receipt.task_pin.content_hash", digest)
                change(file, "receipt.task_digest", digest)
        receipt = trial / "executions/0/receipt.json"
        if '"name":"second"' in receipt.read_text():
            change(receipt, "task_pin.content_hash", digest)
            change(receipt, "task_digest", digest)
    bring(project, folder)
    row = overall()
    assert (row.score, row.coverage, row.attempts, row.outcomes) == (1.0, 0.5, 1, {"scored": 1})
    kept = Trial.objects.get(task_position=Trial.UNPLANNED)
    assert (kept.pin, kept.task_digest, kept.score) == (None, digest, 0.0)
    assert JobAgent.objects.get().unplanned == 1


def test_trial_stored_in_two_jobs_counts_once(project: Project, tmp_path: Path) -> None:
    one = make_job(tmp_path, outcomes=lambda a, t, n: 1.0, key="1")
    two = make_job(tmp_path, outcomes=lambda a, t, n: 0.0, key="2")
    same = share_trial(one, two, "first")
    bring(project, one)
    bring(project, two)
    assert Trial.objects.filter(client_trial_id=same).count() == 2
    row = overall()
    assert (row.attempts, row.planned) == (3, 4)
    assert row.score == 0.75
    assert sorted(t for r in Tally.objects.filter(scope="task") for t in r.detail["trial_ids"]) == sorted(
        set(Trial.objects.values_list("client_trial_id", flat=True))
    )


TASKS = ("a", "b", "c", "d", "e", "f", "g")
RANDOM = BenchmarkSpec(
    tasks=TASKS,
    categories=(category("odd", "a", "c", "e", "g"), category("few", "b", "g")),
    tracks=(track(attempts=3),),
    scoring=scoring(
        task_weights={"a": 3.0, "c": 0.1},
        success_threshold=0.3,
        min_tasks_for_interval=2,
        coverage_required=0.5,
    ),
)


def random_outcome(chance: random.Random) -> Outcome:
    cost, latency = chance.choice([None, chance.random()]), chance.choice([None, chance.random() * 100])
    return chance.choice(
        [
            Outcome(score=chance.random(), cost_usd=cost, latency_seconds=latency, calls_missing_cost=1),
            Outcome(score=chance.choice([0.1, 0.3]), cost_usd=cost, latency_seconds=latency),
            failed("", "max_seconds", cost_usd=cost, latency_seconds=latency),
            failed("harness_failed", latency_seconds=latency),
            failed("provider_unavailable"),
            failed("timeout", "harness_timeout"),
            AWAITING_REVIEW,
            CANCELLED,
            Outcome(score=1.5),
        ]
    )


@pytest.mark.parametrize("seed", range(3))
def test_tallies_are_what_the_pure_function_gives_in_any_order(
    seed: int, project: Project, tmp_path: Path
) -> None:
    chance = random.Random(seed)  # noqa: S311 - any numbers will do
    drawn: list[tuple[str, int, Outcome]] = []

    def outcomes(agent: str, task: str, attempt: int) -> Outcome:
        drawn.append((task, attempt, random_outcome(chance)))
        return drawn[-1][2]

    for key in ("1", "2"):
        make_job(tmp_path, benchmark=RANDOM, attempts=3, outcomes=outcomes, track_id="open", key=key)
    bring(project, tmp_path)
    attempts = [
        Attempt(
            task,
            number,
            outcome.status,
            outcome.score,
            outcome.error_code or None,
            outcome.stop_reason or None,
            outcome.cost_usd,
            outcome.latency_seconds,
            None,
            outcome.cost_usd is not None and outcome.trajectory and outcome.calls_missing_cost > 0,
        )
        for task, number, outcome in drawn
    ]
    chance.shuffle(attempts)
    rules = rules_from_content(Revision.objects.get(resource__kind="benchmark").content)
    expected = aggregate(
        list(TASKS),
        attempts,
        scoring=rules.scoring,
        categories=rules.categories,
        required_attempts=3,
        compared_attempts=3,
        blocking_issues=[],
    )
    row = overall("open@1.0.0")
    for name in (
        "score", "coverage", "complete_coverage", "success_rate", "completion_rate", "outcomes", "valid",
        "successes", "eligible",
    ):  # fmt: skip
        assert getattr(row, name) == getattr(expected, name), name
    assert row.reasons == list(expected.ineligible_reasons)
    assert row.attempts == len(attempts) == row.planned
    assert row.detail["consistency"] == asdict(expected.consistency)
    check_measures(row, expected)
    tallies = Tally.objects.order_by("position")
    for tally, part in zip(tallies.filter(scope="category"), expected.categories, strict=True):
        assert (tally.key, tally.score, tally.coverage) == (part.id, part.score, part.coverage)
        check_measures(tally, part)
    for tally, task in zip(tallies.filter(scope="task"), expected.tasks, strict=True):
        assert (tally.key, tally.score, tally.valid) == (task.task, task.score, task.valid)
        assert (tally.detail["spread"], tally.detail["pending"]) == (task.spread, task.pending)


def check_measures(row: Tally, expected: Any) -> None:
    cost, latency, interval = expected.cost, expected.latency, expected.uncertainty
    assert (row.cost, row.cost_total, row.cost_measured, row.cost_attempts, row.cost_partial) == (
        cost.value,
        cost.total,
        cost.measured,
        cost.attempts,
        cost.partial,
    )
    assert (row.latency, row.latency_measured, row.latency_attempts) == (
        latency.value,
        latency.measured,
        latency.attempts,
    )
    assert (row.low, row.high, row.standard_error, row.sample_size) == (
        interval.low,
        interval.high,
        interval.standard_error,
        interval.sample_size,
    )
