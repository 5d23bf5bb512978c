"""What the reader makes of Jobs that were written from scratch."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jobs.domain.parsed import ParsedTrial
from jobs.domain.readers import packs, plural, progress
from jobs.domain.readers.folders import JobFolder
from tests.builders import (
    AWAITING_REVIEW,
    CANCELLED,
    START,
    AgentSpec,
    BenchmarkSpec,
    Outcome,
    category,
    change,
    failed,
    line,
    make_job,
    remove,
    track,
)
from tests.readers.conftest import Read, evidence


def only_trial(read: Read, job: Path) -> ParsedTrial:
    [(_, [trial])] = read(job)
    return trial


def trial_file(job: Path, name: str = "result.json") -> Path:
    return next(job.glob(f"trials/*/{name}"))


def one(tmp_path: Path, outcome: Outcome | float = 1.0, **changes: object) -> Path:
    """A Job with one Trial."""
    spec = BenchmarkSpec(tasks=("only",))
    return make_job(tmp_path, benchmark=spec, outcomes=lambda *_: outcome, **changes)  # type: ignore[arg-type]


def test_header_of_a_release(tmp_path: Path, read: Read) -> None:
    spec = BenchmarkSpec(
        name="Ünïcode <b>Bench</b>",
        slug="unicode-bench",
        version="2.0.0",
        tasks=("één", "two"),
        categories=(category("g", "één"),),
        scoring={"score_range": [-1.0, 1.0], "success_threshold": None},
        tracks=(track("fixed", "models", attempts=2),),
    )
    agents = (AgentSpec(name="a", model="sim/a"), AgentSpec(name="b", harness="loop", temperature=0.5))
    [(header, trials)] = read(
        make_job(tmp_path, benchmark=spec, agents=agents, attempts=2, track_id="fixed", rerun_of="job_1")
    )
    assert header.benchmark is not None
    assert (header.benchmark.name, header.benchmark.version) == ("Ünïcode <b>Bench</b>", "2.0.0")
    assert header.benchmark_slug == header.benchmark.slug == "unicode-bench"
    assert header.benchmark.dependencies == tuple(task.content_hash for task in header.tasks)
    assert [task.name for task in header.tasks] == ["één", "two"]
    assert [(a.name, a.model, a.harness, a.harness_version) for a in header.agents] == [
        ("a", "sim/a", None, None),
        ("b", "sim/one", "loop", "0.1.0"),
    ]
    assert [d.kind for d in header.definitions] == [
        "environment", "verifier", "task", "task", "agent", "harness", "agent",
    ]  # fmt: skip
    assert (header.track_id, header.rerun_of_job_id, header.status) == ("fixed", "job_1", "succeeded")
    assert header.planned == len(trials) == 8
    assert header.started_at == START
    assert header.finished_at is not None
    assert header.finished_at > START


def test_killed_job_started_from_python(tmp_path: Path, read: Read) -> None:
    job = make_job(
        tmp_path,
        run_json=False,
        result_json=False,
        outcomes=lambda agent, task, attempt: 1.0 if task == "first" else None,
    )
    (job / "events.jsonl").write_bytes((job / "events.jsonl").read_bytes() + b'{"type":"compl')
    [(header, trials)] = read(job)
    assert (header.status, header.finished_at, header.track_id) == ("", None, "")
    assert header.started_at.replace(microsecond=0) == datetime(2026, 11, 1, 8, 0, 1, tzinfo=UTC)
    assert (header.planned, len(trials)) == (2, 1)


def test_start_falls_back_to_the_first_event(tmp_path: Path, read: Read) -> None:
    job = make_job(tmp_path)
    change(job / "run.json", "created_at", None)
    [(header, _)] = read(job)
    assert (header.started_at - START).total_seconds() == 1


def test_job_on_a_single_task_has_no_release(tmp_path: Path, read: Read) -> None:
    [(header, [trial])] = read(make_job(tmp_path, single_task="only", outcomes=lambda *_: AWAITING_REVIEW))
    assert header.benchmark is None
    assert header.benchmark_slug == ""
    assert header.status == trial.status == "awaiting_review"
    assert trial.score is None


def test_trial_takes_the_figures_of_its_last_execution(tmp_path: Path, read: Read) -> None:
    outcome = Outcome(
        score=0.25,
        cost_usd=0.5,
        latency_seconds=3.5,
        before=(failed("provider_unavailable"), failed("timeout")),
    )
    trial = only_trial(read, one(tmp_path, outcome))
    assert (trial.score, trial.cost_usd, trial.latency_seconds) == (0.25, 0.5, 3.5)
    assert [(e.number, e.status, e.error_code, e.is_final) for e in trial.executions] == [
        (0, "failed", "provider_unavailable", False),
        (1, "failed", "timeout", False),
        (2, "succeeded", "", True),
    ]
    [found] = trial.executions[2].verifier_results
    assert (found.verifier, found.score, list(found.evidence)) == ("check", 0.25, ["as expected"])


def test_unmeasured_is_not_zero(tmp_path: Path, read: Read) -> None:
    trial = only_trial(read, one(tmp_path, CANCELLED))
    assert (trial.status, trial.stop_reason) == ("cancelled", "")
    assert (trial.score, trial.cost_usd, trial.latency_seconds, trial.input_tokens) == (None,) * 4
    free = only_trial(read, one(tmp_path / "free", Outcome(score=0.0, cost_usd=0.0)))
    assert (free.score, free.cost_usd) == (0.0, 0.0)


def test_cost_is_partial_where_calls_reported_none(tmp_path: Path, read: Read) -> None:
    partial = Outcome(calls_missing_cost=2, models=("sim/two", "sim/one", "sim/two"))
    trial = only_trial(read, one(tmp_path, partial))
    assert trial.cost_partial
    assert trial.models_used == ("sim/one", "sim/two")
    assert (trial.input_tokens, trial.output_tokens) == (100, 10)
    unknown = only_trial(read, one(tmp_path / "unknown", Outcome(calls_missing_cost=2, cost_usd=None)))
    assert not unknown.cost_partial


def test_older_stores_call_executions_attempts(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path)
    trial_file(job, "executions").rename(trial_file(job, "executions").with_name("attempts"))
    assert len(only_trial(read, job).executions) == 1


def test_temporary_files_are_passed_over(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path)
    before = only_trial(read, job)
    executions = trial_file(job, "executions")
    (executions / ".1.x7").mkdir()
    (executions / "0" / "logs" / ".stdout.log.tmp").write_bytes(b"half")
    (job / ".result.json.tmp").write_bytes(b"{")
    after = only_trial(read, job)
    assert evidence(after) == evidence(before)


def test_identical_agents_in_one_job_keep_their_own_trials(tmp_path: Path, read: Read) -> None:
    [(_, trials)] = read(make_job(tmp_path, agents=(AgentSpec(), AgentSpec()), attempts=2))
    assert sorted((t.agent_position, t.task_position, t.attempt) for t in trials) == [
        (agent, task, attempt) for agent in (0, 1) for task in (0, 1) for attempt in (1, 2)
    ]


def test_nul_in_free_text_is_replaced(tmp_path: Path, read: Read) -> None:
    outcome = failed("timeout", error_message="a\0b")
    assert only_trial(read, one(tmp_path, outcome)).error_message == "a\ufffdb"
    outcome = Outcome(evidence=("x\0", {"k\0": ["\0"]}), feedback="\0")
    [found] = only_trial(read, one(tmp_path / "more", outcome)).executions[0].verifier_results
    assert list(found.evidence) == ["x\ufffd", {"k\ufffd": ["\ufffd"]}]
    assert found.feedback == "\ufffd"


def test_review_files_are_kept_with_the_execution_that_counts(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path)
    review = trial_file(job).parent / "reviews" / "tone"
    review.mkdir(parents=True)
    (review / "submission.json").write_bytes(b"{}\n")
    assert "reviews/tone/submission.json" in [f.path for f in only_trial(read, job).executions[0].pack.files]


def test_pack_is_the_files_one_after_another(tmp_path: Path) -> None:
    artifacts = {"b/deep.txt": b"deep", "a.bin": b"\0\1", "empty": b""}
    job = one(tmp_path, Outcome(artifacts=artifacts))
    folder = JobFolder(str(job), "", job.name)
    [trial] = plural.iter_trials(folder, plural.read_header(folder))
    [execution] = trial.executions
    with execution.pack.spool as spool:
        data = spool.read()
    assert execution.pack.size == len(data) == sum(file.size for file in execution.pack.files)
    root = trial_file(job, "executions/0")
    for file in execution.pack.files:
        content = (root / file.path).read_bytes()
        assert data[file.offset : file.offset + file.size] == content
        assert file.sha256 == "sha256:" + hashlib.sha256(content).hexdigest()
    by_path = {file.path: file for file in execution.pack.files}
    assert by_path["artifacts/atif-trajectory.json"].role == "trajectory"
    assert by_path["artifacts/a.bin"].media_type == "application/octet-stream"
    assert by_path["logs/stdout.log"].media_type == "text/plain"
    assert [f.path for f in execution.pack.files][:2] == ["result.json", "receipt.json"]


def test_big_files_are_streamed_with_the_same_result(
    tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = one(tmp_path, Outcome(calls_missing_cost=1, artifacts={"big.bin": bytes(5000)}))
    whole = only_trial(read, job)
    monkeypatch.setattr(packs, "IN_MEMORY", 100)
    streamed = only_trial(read, job)
    assert whole.notes == streamed.notes == ()
    assert evidence(streamed) == evidence(whole)
    assert (streamed.models_used, streamed.input_tokens, streamed.cost_partial) == (("sim/one",), 100, True)


def test_job_files_are_packed(tmp_path: Path) -> None:
    job = one(tmp_path)
    (job / "cancel").write_bytes(b"cancelled\n")
    pack = plural.pack_job_files(JobFolder(str(job), "", job.name))
    with pack.spool:
        assert [file.path for file in pack.files] == [
            "run.json", "config.json", "lock.json", "events.jsonl", "result.json", "cancel",
        ]  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b"\xff",
        b'{"steps": 5}',
        b'{"steps": [5]}',
        b'{"steps": [], "final_metrics": []}',
        b'{"steps": [], "final_metrics": {"total_prompt_tokens": NaN}}',
        b'{"steps": [], "final_metrics": {"total_prompt_tokens": -1}}',
        b'{"steps": [], "final_metrics": {"total_prompt_tokens": 1.5}}',
        b'{"steps": [{"source": "agent", "model_name": ["x"]}]}',
        b'{"steps": [{"source": "agent", "model_name": "x\\u0000"}]}',
        b'{"steps": [], "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
@pytest.mark.parametrize("in_memory", [packs.IN_MEMORY, 100])
def test_odd_trajectory_is_kept_and_noted(
    tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch, content: bytes, in_memory: int
) -> None:
    monkeypatch.setattr(packs, "IN_MEMORY", in_memory)
    trial = only_trial(read, one(tmp_path, Outcome(artifacts={"atif-trajectory.json": content})))
    [note] = trial.notes
    assert note.file.endswith("executions/0/artifacts/atif-trajectory.json")
    assert "not used" in note.message
    assert (trial.input_tokens, trial.models_used, trial.cost_usd) == (None, (), 0.01)
    assert "artifacts/atif-trajectory.json" in [f.path for f in trial.executions[0].pack.files]


def test_artifacts_that_differ_from_the_manifest_are_noted(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path, Outcome(artifacts={"a.txt": b"a", "b.txt": b"b", "c.txt": b"c"}))
    artifacts = trial_file(job, "executions/0/artifacts")
    (artifacts / "a.txt").write_bytes(b"changed")
    (artifacts / "b.txt").unlink()
    (artifacts / "extra.txt").write_bytes(b"x")
    notes = only_trial(read, job).notes
    assert sorted((note.file.rpartition("/")[2], note.field) for note in notes) == [
        ("extra.txt", ""),
        ("manifest.json", "artifacts[0].sha256"),
        ("manifest.json", "artifacts[2].path"),
        ("result.json", "receipt.artifact_hashes"),
    ]


def test_contradictions_that_can_be_lived_with_are_noted(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path)
    change(trial_file(job, "selected.json"), "receipt_hash", "sha256:0")
    change(trial_file(job, "executions/0/receipt.json"), "cost_usd", 5)
    change(trial_file(job), "receipt.attempt", 3)
    change(job / "lock.json", "spec_hash", "sha256:0")
    change(job / "lock.json", "agent_digests[0]", "sha256:0")
    change(trial_file(job), "receipt.agent_digest", "sha256:0")
    change(trial_file(job), "receipt.task_pin.content_hash", "sha256:0")
    [(header, [trial])] = read(job)
    assert [note.field for note in header.notes] == ["spec_hash", "agent_digests[0]"]
    assert sorted(
        (note.file.partition("/trials/")[2] or note.file).rpartition("/")[2] for note in trial.notes
    ) == [
        "receipt.json",
        "result.json",
        "result.json",
        "result.json",
        "selected.json",
    ]
    assert trial.task_position is None
    assert trial.attempt == 3


def test_wrong_size_and_missing_manifest_are_noted(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path, Outcome(artifacts={"a.txt": b"a"}, trajectory=False))
    manifest = trial_file(job, "executions/0/artifacts/manifest.json")
    change(manifest, "artifacts[0].size", 2)
    assert [note.field for note in only_trial(read, job).notes] == ["artifacts[0].size"]
    manifest.unlink()
    [note] = only_trial(read, job).notes
    assert note.file.endswith("artifacts/a.txt")


def test_files_that_the_format_does_not_know_are_kept(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path)
    trial_file(job, "executions/0/result.json").with_name("sync.json").write_bytes(b"{}")
    assert "sync.json" in [file.path for file in only_trial(read, job).executions[0].pack.files]


@pytest.mark.parametrize("extra", ["", ', "final_metrics": null', ', "final_metrics": {}'])
def test_trajectory_without_totals(tmp_path: Path, read: Read, extra: str) -> None:
    content = f'{{"steps": [{{"source": "agent", "model_name": "m"}}, {{"source": "agent"}}]{extra}}}'
    trial = only_trial(read, one(tmp_path, Outcome(artifacts={"atif-trajectory.json": content.encode()})))
    assert (trial.models_used, trial.input_tokens, trial.notes) == (("m",), None, ())


def test_trajectory_with_too_many_models_is_noted(tmp_path: Path, read: Read) -> None:
    trial = only_trial(read, one(tmp_path, Outcome(models=tuple(f"m{n}" for n in range(101)))))
    assert trial.models_used == ()
    assert [note.field for note in trial.notes] == ["steps[101].model_name"]


def test_job_without_a_trials_folder(tmp_path: Path, read: Read) -> None:
    job = make_job(tmp_path, outcomes=lambda *_: None, result_json=False)
    (job / "trials").rmdir()
    [(header, trials)] = read(job)
    assert (header.planned, trials) == (2, [])


def test_trial_that_has_no_result_yet_is_no_attempt(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path)
    trial_file(job).unlink()
    [(_, trials)] = read(job)
    assert trials == []


def test_selection_of_another_execution_is_noted(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path, Outcome(before=(failed("timeout"),)))
    change(trial_file(job, "selected.json"), "execution_id", 0)
    assert [note.field for note in only_trial(read, job).notes] == ["execution_id"]


def test_events_that_are_odd_only_cost_the_end(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path)
    events = (job / "events.jsonl").read_bytes()
    (job / "events.jsonl").write_bytes(events + b'{"message":"completed"}\n{"type":"completed"\n')
    [(header, _)] = read(job)
    assert header.finished_at is not None
    (job / "events.jsonl").write_bytes(b"torn\n" + events)
    [(header, _)] = read(job)
    assert (header.started_at, header.finished_at) == (START, None)
    assert [note.file for note in header.notes] == ["events.jsonl"]


@pytest.mark.parametrize("limit", [400, 1000, 2000, 2500, 4000, 10**6])
def test_only_the_ends_of_events_are_read(
    tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    job = one(tmp_path)
    lines = (job / "events.jsonl").read_bytes().splitlines(keepends=True)
    assert all(len(event) < 400 for event in (lines[0], lines[-1]))
    [(wanted, _)] = read(job)
    padding = b'{"type":"progress"}\n' * 60
    (job / "events.jsonl").write_bytes(b"".join([lines[0], padding, *lines[1:-1], padding, lines[-1]]))
    (job / "run.json").unlink()
    monkeypatch.setattr(progress, "EVENT_LINE_LIMIT", limit)
    [(header, _)] = read(job)
    assert header.finished_at == wanted.finished_at is not None
    assert (header.started_at - START).total_seconds() == 1


def test_job_result_is_read_past_its_trials(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path)
    result = json.loads((job / "result.json").read_bytes())
    result["trials"] = [{"filler": "x" * 300_000, "n": n} for n in range(12)]
    (job / "result.json").write_bytes(line(result))
    [(header, _)] = read(job)
    assert header.status == "succeeded"
    assert header.aggregates[0]["agent_name"] == "solo"


def test_missing_optional_fields_are_no_problem(tmp_path: Path, read: Read) -> None:
    job = one(tmp_path)
    for field in ("seed", "turns", "stop_reason", "error_message", "receipt.phases", "receipt.timings"):
        remove(trial_file(job), field)
    trial = only_trial(read, job)
    assert (trial.seed, trial.turns, trial.stop_reason, trial.latency_seconds) == (None, None, "", None)
