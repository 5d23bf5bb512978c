"""The Jobs that the published client recorded, held against its own figures."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from jobs.domain.parsed import JobHeader, ParsedTrial
from tests.readers.conftest import Jobs, read_all

ARCHIVES = (
    Path(__file__).parents[2] / "jobs" / "demo" / "support-triage.tar.gz",
    Path(__file__).parents[3] / "shared" / "data" / "plural" / "support-triage-jobs.tar.gz",
)
EXPECTED = Path(__file__).parents[3] / "shared" / "data" / "plural" / "support-triage-expected.json"


@pytest.fixture(scope="module")
def archive() -> Path:
    found = next((path for path in ARCHIVES if path.exists()), None)
    if found is None:
        pytest.skip("the recorded Jobs are not here")
    return found


@pytest.fixture(scope="module")
def recorded(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    return read_all(archive, tmp_path_factory.mktemp("scratch"))


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    if not EXPECTED.exists():
        pytest.skip("the client's own figures are not here")
    jobs: dict[str, Any] = json.loads(EXPECTED.read_bytes())["jobs"]
    return jobs


def test_every_recorded_job_is_read_without_a_note(recorded: Jobs) -> None:
    assert len(recorded) == 19
    trials = [trial for _, found in recorded for trial in found]
    assert len(trials) == 270
    assert sum(len(trial.executions) for trial in trials) == 275
    assert all(header.notes == () for header, _ in recorded)
    assert all(trial.notes == () for trial in trials)


def test_headers_agree_with_the_client(recorded: Jobs, expected: dict[str, Any]) -> None:
    for header, trials in recorded:
        wanted = expected[header.job_id]
        assert header.status == (wanted["status"] or "")
        assert header.attempts == wanted["attempts"]
        assert header.planned == wanted["planned_trials"]
        assert len(trials) == wanted["recorded_trials"]
        assert [task.name for task in header.tasks] == wanted["task_names"]
        assert header.track_id == (wanted["evaluation_track"] or "")
        assert header.rerun_of_job_id == (wanted["rerun_of_job_id"] or "")
        assert header.rerun_of_trial_id == (wanted["rerun_of_trial_id"] or "")
        release = wanted["benchmark"] and tuple(wanted["benchmark"].values())
        found = header.benchmark and (
            header.benchmark.name,
            header.benchmark.version,
            header.benchmark.content_hash,
        )
        assert found == release
        started = wanted["created_at"] or wanted["first_event_at"]
        assert header.started_at.isoformat() == started.replace("Z", "+00:00")
        assert (header.finished_at is None) == (not header.status)


def test_agents_agree_with_the_client(recorded: Jobs, expected: dict[str, Any]) -> None:
    for header, _ in recorded:
        wanted = expected[header.job_id]["agents"]
        assert [
            (a.name, a.version, a.digest, a.definition.content_hash, a.model, a.harness, a.harness_version)
            for a in header.agents
        ] == [
            (
                w["agent_name"],
                w["agent_version"],
                w["binding_digest"],
                w["agent_content_hash"],
                w["model"],
                w["harness"],
                w["harness_version"],
            )
            for w in wanted
        ]


def test_attempts_agree_with_the_client(recorded: Jobs, expected: dict[str, Any]) -> None:
    for header, trials in recorded:
        for position, wanted in enumerate(expected[header.job_id]["agents"]):
            found = {t.trial_id: t for t in trials if t.agent_position == position}
            assert {attempt["trial_id"] for attempt in wanted["attempts"]} == found.keys()
            for attempt in wanted["attempts"]:
                assert _facts(header, found[attempt["trial_id"]]) == {
                    key: attempt[key]
                    for key in (
                        "task",
                        "attempt",
                        "status",
                        "score",
                        "error_code",
                        "stop_reason",
                        "cost_usd",
                        "latency_seconds",
                        "executions",
                    )  # fmt: skip
                }


def _facts(header: JobHeader, trial: ParsedTrial) -> dict[str, Any]:
    assert trial.task_position is not None
    assert header.tasks[trial.task_position].name == trial.task_name
    return {
        "task": trial.task_name,
        "attempt": trial.attempt,
        "status": trial.status,
        "score": trial.score,
        "error_code": trial.error_code or None,
        "stop_reason": trial.stop_reason or None,
        "cost_usd": trial.cost_usd,
        "latency_seconds": trial.latency_seconds,
        "executions": len(trial.executions),
    }


def test_slugs_come_from_run_json(recorded: Jobs) -> None:
    tracked = [header for header, _ in recorded if header.track_id]
    assert {header.benchmark_slug for header in tracked} == {"support-triage"}
    slugs = {definition.slug for header in tracked for definition in header.definitions}
    assert {"helpdesk", "status-desk", "routing-check", "bill-tax-id", "quick"} <= slugs
    for header, _ in recorded:
        hashes = [definition.content_hash for definition in header.definitions]
        assert len(hashes) == len(set(hashes))
        for at, definition in enumerate(header.definitions):
            assert set(definition.dependencies) <= set(hashes[:at])


def test_trajectories_tell_tokens_and_models(recorded: Jobs) -> None:
    trials = [trial for _, found in recorded for trial in found]
    told = [trial for trial in trials if trial.models_used]
    assert {model for trial in told for model in trial.models_used} == {
        "desk-sim/labeler-1",
        "desk-sim/quick-1",
        "desk-sim/rambler-1",
        "desk-sim/steady-1",
        "desk-sim/wobbly-1",
        "desk-sim/overload-1",
    }
    assert all(trial.input_tokens and trial.output_tokens for trial in told)


def test_packs_hold_every_file_once(archive: Path, recorded: Jobs) -> None:
    with tarfile.open(archive) as tar:
        wanted = sorted(
            member.name.partition("/trials/")[2]
            for member in tar
            if member.isfile() and ("/executions/" in member.name or "/reviews/" in member.name)
        )
    found = []
    for _, trials in recorded:
        for trial in trials:
            for execution in trial.executions:
                for file in execution.pack.files:
                    place = "" if file.path.startswith("reviews/") else f"executions/{execution.number}/"
                    found.append(f"{trial.trial_id}/{place}{file.path}")
    assert sorted(found) == wanted
