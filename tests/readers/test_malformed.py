"""Bad input is refused with the file and the field, whatever is wrong with it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers import folders, header, packs, plural, strict_json
from jobs.domain.readers.sources import open_source
from tests.builders import AgentSpec, BenchmarkSpec, Outcome, change, failed, make_job, remove, track
from tests.readers.conftest import Refused, read_all

TRIAL = "trials/*/result.json"
EXECUTION = "trials/*/executions/1"
HASH = "sha256:" + "0" * 64


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A Job with one Trial of two executions."""
    outcome = Outcome(scores={"part": 1.0}, artifacts={"note.txt": b"hello"}, before=(failed("timeout"),))
    spec = BenchmarkSpec(tasks=("only",), tracks=(track(),))
    return make_job(
        tmp_path / "store",
        benchmark=spec,
        agents=(AgentSpec(harness="loop"),),
        outcomes=lambda *_: outcome,
        track_id="open",
    )


def find(job: Path, pattern: str) -> Path:
    return next(iter(job.glob(pattern)), job / pattern)


def assert_names(problem: ImportProblemError, job: Path, file: Path, field: str) -> None:
    assert problem.file == file.relative_to(job).as_posix()
    assert problem.field == field
    assert problem.message


@pytest.mark.parametrize("file", ["lock.json", "config.json", TRIAL, f"{EXECUTION}/receipt.json"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"[]", "must hold an object, not a list"),
        (b"null", "must hold an object, not null"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        (b'{"a": "tab\there"}', "not valid JSON"),
        (b'{"a": 1} {}', "not valid JSON"),
        (b'{"a": 1' + b"0" * 5000 + b"}", "too many digits"),
        (b"\0" * 20, "not valid JSON"),
    ],
)
def test_file_that_is_not_a_json_object(
    job: Path, refused: Refused, file: str, content: bytes, message: str
) -> None:
    path = find(job, file)
    path.write_bytes(content)
    problem = refused(job)
    assert_names(problem, job, path, "")
    assert message in problem.message


@pytest.mark.parametrize("file", ["run.json", "lock.json", "config.json", TRIAL, f"{EXECUTION}/receipt.json"])
@pytest.mark.parametrize(
    ("value", "field", "message"),
    [
        ("NaN", "extra[1]", "NaN"),
        ("-Infinity", "extra[1]", "-Infinity"),
        ("1e999", "extra[1]", "too large"),
        ("9" * 250 + "e99", "extra[1]", "too large"),
        ("-" + "9" * 250 + ".5e99", "extra[1]", "too large"),
        ('"\\ud800"', "extra[1]", "surrogate"),
        ('{"\\udfff": 1}', "extra[1].\ufffd", "surrogate"),
        ("[" * 200 + "]" * 200, "extra", "nested"),
        ('{"a":' * 200 + "1" + "}" * 200, "extra", "nested"),
        ("[" * 100_000 + "]" * 100_000, "extra", "nested"),
    ],
)
def test_value_that_is_not_strict_json(
    job: Path, refused: Refused, file: str, value: str, field: str, message: str
) -> None:
    path = find(job, file)
    text = path.read_text(encoding="utf-8").rstrip().removesuffix("}")
    path.write_text(f'{text},"extra":[0,{value}]}}', encoding="utf-8")
    problem = refused(job)
    assert_names(problem, job, path, field)
    assert message in problem.message


@pytest.mark.parametrize("file", ["run.json", "lock.json", "config.json"])
def test_job_file_with_a_nul_or_a_key_twice(job: Path, refused: Refused, file: str) -> None:
    path = find(job, file)
    text = path.read_text(encoding="utf-8").rstrip().removesuffix("}")
    path.write_text(text + ',"x":{"y":["a\\u0000"]}}', encoding="utf-8")
    problem = refused(job)
    assert_names(problem, job, path, "x.y[0]")
    assert "NUL" in problem.message
    path.write_text(text + ',"x":{"y":1,"y":2}}', encoding="utf-8")
    problem = refused(job)
    assert problem.file == file
    assert "'y' twice" in problem.message


@pytest.mark.parametrize(
    ("file", "field", "value"),
    [
        ("lock.json", "job_id", 5),
        ("lock.json", "job_id", "job_other"),
        ("lock.json", "job_id", "../job_x"),
        ("lock.json", "spec_hash", None),
        ("lock.json", "agent_digests", []),
        ("lock.json", "agent_digests", "x"),
        ("lock.json", "agent_digests[0]", 1),
        ("lock.json", "task_pins", []),
        ("lock.json", "task_pins[0]", "x"),
        ("lock.json", "task_pins[0].name", "another"),
        ("lock.json", "task_pins[0].content_hash", HASH),
        ("lock.json", "task_digests", []),
        ("lock.json", "task_digests[0]", HASH),
        ("lock.json", "environment_digests", [HASH, HASH]),
        ("lock.json", "environment_digests[0]", HASH),
        ("lock.json", "verifier_digests[0]", HASH),
        ("lock.json", "verifier_digests", []),
        ("lock.json", "source_digest", HASH),
        ("lock.json", "benchmark", None),
        ("lock.json", "benchmark.content_hash", HASH),
        ("run.json", "job_id", "job_other"),
        ("run.json", "created_at", "yesterday"),
        ("run.json", "created_at", "2026-11-30T12:52:09"),
        ("run.json", "created_at", 5),
        ("run.json", "inputs", []),
        ("run.json", "evaluation_track", 5),
        ("config.json", "attempts", 0),
        ("config.json", "attempts", 1001),
        ("config.json", "attempts", True),
        ("config.json", "attempts", 1.5),
        ("config.json", "attempts", "1"),
        ("config.json", "agents", []),
        ("config.json", "agents", {}),
        ("config.json", "agents[0]", "solo"),
        ("config.json", "agents[0].agent", []),
        ("config.json", "agents[0].agent.name", ""),
        ("config.json", "agents[0].agent.name", "x" * 501),
        ("config.json", "agents[0].agent.harness", "loop"),
        ("config.json", "agents[0].agent.harness.name", None),
        ("config.json", "source", None),
        ("config.json", "source.kind", "suite"),
        ("config.json", "source.benchmark", None),
        ("config.json", "source.benchmark.tasks", []),
        ("config.json", "source.benchmark.tasks[0]", 1),
        ("config.json", "source.benchmark.tasks[0].source_hash", HASH),
        ("config.json", "source.benchmark.tasks[0].verifiers", None),
        ("config.json", "source.benchmark.tasks[0].environment", 3),
        ("config.json", "source.benchmark.scoring.score_range", [1, 0]),
        ("config.json", "source.benchmark.tracks[0].kind", "robots"),
        ("config.json", "source.benchmark.source_hash", HASH),
        ("result.json", "job_id", "job_other"),
        ("result.json", "status", "splendid"),
        ("result.json", "status", None),
        ("result.json", "aggregates", 5),
    ],
)
def test_header_field_that_is_wrong(job: Path, refused: Refused, file: str, field: str, value: Any) -> None:
    change(job / file, field, value)
    problem = refused(job)
    assert problem.file == file
    assert problem.field.startswith(field)
    assert problem.message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("score", "0.5"),
        ("score", True),
        ("score", [1]),
        ("score", 10**400),
        ("status", "great"),
        ("status", None),
        ("status", 1),
        ("error_code", {}),
        ("error_code", "a\0"),
        ("error_message", 5),
        ("error_message", "x" * 100_001),
        ("stop_reason", []),
        ("stop_reason", "x" * 501),
        ("turns", -1),
        ("turns", 2**31),
        ("seed", "7"),
        ("seed", 2**63),
        ("receipt", None),
        ("receipt", []),
        ("receipt.trial_id", "trl_other"),
        ("receipt.trial_id", None),
        ("receipt.job_id", "job_other"),
        ("receipt.execution_id", None),
        ("receipt.execution_id", -1),
        ("receipt.execution_id", "1"),
        ("receipt.agent_digest", HASH),
        ("receipt.agent_digest", 5),
        ("receipt.attempt", 0),
        ("receipt.attempt", 1.0),
        ("receipt.attempt", True),
        ("receipt.task_pin", None),
        ("receipt.task_pin.name", "a\0b"),
        ("receipt.task_pin.content_hash", None),
        ("receipt.cost_usd", -0.5),
        ("receipt.cost_usd", "free"),
        ("receipt.cost_usd", False),
        ("receipt.timings", []),
        ("receipt.timings.total_seconds", -1),
        ("receipt.timings.total_seconds", "2"),
        ("receipt.started_at", "now"),
        ("receipt.completed_at", "0001-01-01T00:00:00+23:59"),
        ("receipt.artifact_hashes", []),
        ("verifier_results", {}),
        ("verifier_results[0]", 1),
        ("verifier_results[0].verifier_name", None),
        ("verifier_results[0].score", "1"),
        ("verifier_results[0].scores", []),
        ("verifier_results[0].scores.part", None),
        ("verifier_results[0].evidence", "x"),
        ("verifier_results[0].feedback", 1),
    ],
)
def test_trial_field_that_is_wrong(job: Path, refused: Refused, field: str, value: Any) -> None:
    path = find(job, TRIAL)
    for file in (path, find(job, f"{EXECUTION}/result.json")):
        change(file, field, value)
    problem = refused(job)
    assert_names(problem, job, path, field)


def test_message_says_what_is_wanted(job: Path, refused: Refused) -> None:
    path = find(job, TRIAL)
    change(path, "verifier_results[0].score", "high")
    change(find(job, f"{EXECUTION}/result.json"), "verifier_results[0].score", "high")
    assert refused(job).message == "must be a finite number or null, not a string"
    remove(path, "status")
    remove(find(job, f"{EXECUTION}/result.json"), "status")
    change(path, "verifier_results[0].score", 1)
    change(find(job, f"{EXECUTION}/result.json"), "verifier_results[0].score", 1)
    assert refused(job).message == "is missing"


def test_name_of_a_score_with_a_nul(job: Path, refused: Refused) -> None:
    for file in (find(job, TRIAL), find(job, f"{EXECUTION}/result.json")):
        change(file, "verifier_results[0].scores", {"a\0": 1})
    assert_names(refused(job), job, find(job, TRIAL), "verifier_results[0].scores.a\ufffd")


def test_earlier_execution_is_checked_too(job: Path, refused: Refused) -> None:
    path = find(job, "trials/*/executions/0/result.json")
    change(path, "receipt.execution_id", 1)
    assert_names(refused(job), job, path, "receipt.execution_id")


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "a//b", "./a", "..\\x", "", "a\0b"])
def test_manifest_path_that_leads_elsewhere(job: Path, refused: Refused, path: str) -> None:
    manifest = find(job, f"{EXECUTION}/artifacts/manifest.json")
    change(manifest, "artifacts[0].path", path)
    assert_names(refused(job), job, manifest, "artifacts[0].path")


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ("lock.json", "lock.json"),
        ("config.json", "config.json"),
        ("trials/*/executions", "executions"),
        ("trials/*/executions/0", "0"),
        ("trials/*/executions/1", "1"),
        ("trials/*/executions/0/result.json", "result.json"),
        (f"{EXECUTION}/result.json", "result.json"),
        (f"{EXECUTION}/receipt.json", "receipt.json"),
    ],
)
def test_file_that_is_missing(job: Path, refused: Refused, missing: str, named: str) -> None:
    path = find(job, missing)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    problem = refused(job)
    assert problem.file.rpartition("/")[2] == named
    assert "missing" in problem.message


def test_start_that_nothing_tells(job: Path, refused: Refused) -> None:
    (job / "run.json").unlink()
    (job / "events.jsonl").write_bytes(b"")
    assert_names(refused(job), job, job / "events.jsonl", "")
    (job / "events.jsonl").write_bytes(b'{"type":"plan\n')
    assert_names(refused(job), job, job / "events.jsonl", "")
    (job / "events.jsonl").unlink()
    assert_names(refused(job), job, job / "events.jsonl", "")


def test_one_place_taken_by_two_trials(job: Path, refused: Refused) -> None:
    trial = find(job, "trials/*")
    copy = trial.with_name("trl_zzz")
    shutil.copytree(trial, copy)
    for file in copy.rglob("result.json"):
        if "artifacts" not in file.parts:
            change(file, "receipt.trial_id", "trl_zzz")
    problem = refused(job)
    assert_names(problem, job, copy / "result.json", "receipt.attempt")
    assert "two Trials" in problem.message


def test_verifier_with_two_results(job: Path, refused: Refused) -> None:
    path = find(job, TRIAL)
    results = json.loads(path.read_bytes())["verifier_results"]
    for file in (path, find(job, f"{EXECUTION}/result.json")):
        change(file, "verifier_results", results * 2)
    assert_names(refused(job), job, path, "verifier_results[1].verifier_name")


@pytest.mark.parametrize(
    "place",
    ["trials/x", "trials/trl_a b", "trials/*/executions/00", "trials/*/executions/one", "trials/note.txt"],
)
def test_name_that_does_not_belong(job: Path, refused: Refused, place: str) -> None:
    parent, _, name = place.rpartition("/")
    path = find(job, parent) / name
    path.write_bytes(b"") if name.endswith(".txt") else path.mkdir()
    assert_names(refused(job), job, path, "")


def to_symlink(path: Path) -> None:
    target = path.rename(path.with_name("elsewhere"))
    path.symlink_to(target)


def to_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def to_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


NOTE = f"{EXECUTION}/artifacts/note.txt"


@pytest.mark.parametrize(
    ("place", "damage"),
    [
        *((place, to_symlink) for place in ("lock.json", "config.json", "events.jsonl", TRIAL, NOTE)),
        *((place, to_pipe) for place in ("lock.json", "config.json", "events.jsonl", TRIAL, NOTE)),
        ("lock.json", to_folder),
        ("config.json", to_folder),
    ],
)
def test_what_is_no_regular_file(
    job: Path, refused: Refused, place: str, damage: Callable[[Path], None]
) -> None:
    path = find(job, place)
    damage(path)
    assert refused(job).file == path.relative_to(job).as_posix()


@pytest.mark.parametrize(
    "place",
    [
        "trials",
        "trials/*",
        "trials/*/executions",
        EXECUTION,
        f"{EXECUTION}/logs",
        f"{EXECUTION}/artifacts",
    ],
)
def test_folder_that_is_a_link(job: Path, refused: Refused, place: str) -> None:
    path = find(job, place)
    target = job.parent / "elsewhere"
    path.rename(target)
    path.symlink_to(target)
    problem = refused(job)
    assert problem.file == path.relative_to(job).as_posix()
    assert "link" in problem.message


def test_link_where_a_job_is_expected(tmp_path: Path, job: Path, refused: Refused) -> None:
    project = tmp_path / "project"
    (project / ".plural" / "jobs").mkdir(parents=True)
    (project / ".plural" / "jobs" / "job_link").symlink_to(job)
    assert refused(project).file == ".plural/jobs/job_link"
    shutil.rmtree(project / ".plural" / "jobs")
    (project / ".plural" / "jobs").symlink_to(job.parent)
    assert refused(project).file == ".plural/jobs"


def test_name_that_is_not_utf8(job: Path, refused: Refused) -> None:
    folder = find(job, f"{EXECUTION}/artifacts")
    try:
        with open(os.fsencode(folder) + b"/\xff.txt", "wb"):  # noqa: PTH123
            pass
    except OSError:
        pytest.skip("this file system takes no such name")
    problem = refused(job)
    assert "not UTF-8" in problem.message
    str(problem).encode()


def test_files_that_are_too_big(job: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header, "STORE_FILE_LIMIT", 10)
    problem = refused(job)
    assert_names(problem, job, job / "lock.json", "")
    assert "at most 10" in problem.message
    monkeypatch.setattr(folders, "MAX_ENTRIES", 2)
    assert "more than 2 entries" in refused(job).message


def test_artifacts_that_are_too_deep(job: Path, refused: Refused) -> None:
    path = find(job, f"{EXECUTION}/artifacts") / "/".join(["d"] * 40)
    path.mkdir(parents=True)
    assert "inside each other" in refused(job).message


@pytest.mark.parametrize(
    "rest", [b'"b": }', b'"b": ' + b"[" * 200 + b"]" * 200 + b"}", b'"b": ' + b"[" * 10_000]
)
def test_number_that_is_none_among_worse(job: Path, refused: Refused, rest: bytes) -> None:
    (job / "lock.json").write_bytes(b'{"a": NaN, ' + rest)
    assert_names(refused(job), job, job / "lock.json", "")


def test_members_that_are_too_deep_to_be_written_again() -> None:
    deep: dict[str, Any] = {}
    for _ in range(10_000):
        deep = {"a": deep}
    with pytest.raises(ImportProblemError, match="nested"):
        strict_json.checked(deep, "result.json")


def test_file_name_in_a_job_with_strange_letters_is_fine(job: Path, scratch: Path) -> None:
    (find(job, f"{EXECUTION}/artifacts") / "no\u00a0break \u202e.txt").write_bytes(b"")
    [(_, [trial])] = read_all(job, scratch)
    assert [note.field for note in trial.notes] == ["", "receipt.artifact_hashes"]


def test_path_that_is_too_long(job: Path, refused: Refused) -> None:
    path = find(job, f"{EXECUTION}/artifacts") / "/".join(["d" * 200] * 5)
    path.mkdir(parents=True)
    (path / "file").write_bytes(b"")
    assert "more than 1000 characters" in refused(job).message


def test_name_with_a_control_character(job: Path, refused: Refused) -> None:
    (find(job, f"{EXECUTION}/artifacts") / "a\x1b[31m\n").write_bytes(b"")
    problem = refused(job)
    assert problem.file.endswith("artifacts/a\ufffd[31m\ufffd")
    assert "control character" in problem.message


def test_folder_above_a_job_with_a_control_character(tmp_path: Path, job: Path, refused: Refused) -> None:
    above = tmp_path / "top" / "a\x1b"
    above.mkdir(parents=True)
    shutil.move(job, above)
    problem = refused(tmp_path / "top")
    assert problem.file == f"a\ufffd/{job.name}"
    assert "control character" in problem.message


def test_manifest_that_names_a_file_twice(job: Path, refused: Refused) -> None:
    manifest = find(job, f"{EXECUTION}/artifacts/manifest.json")
    change(manifest, "artifacts", json.loads(manifest.read_bytes())["artifacts"] * 2)
    assert_names(refused(job), job, manifest, "artifacts[2].path")


def test_two_tasks_of_one_name(tmp_path: Path, refused: Refused) -> None:
    spec = BenchmarkSpec(tasks=("twin", "twin"))
    problem = refused(make_job(tmp_path / "store", benchmark=spec, outcomes=lambda *_: None))
    assert (problem.file, problem.field) == ("config.json", "source.benchmark.tasks[1].task_id")


def test_definition_without_a_part_of_its_identity(job: Path, refused: Refused) -> None:
    remove(job / "config.json", "source.benchmark.tasks[0].goals")
    problem = refused(job)
    assert (problem.file, problem.field) == ("config.json", "source.benchmark.tasks[0]")
    assert "goals" in problem.message


def test_job_that_vanishes_while_it_is_read(job: Path, scratch: Path) -> None:
    with open_source(job, scratch) as source:
        [folder] = source.job_folders()
        (job / "events.jsonl").unlink()
        os.mkfifo(job / "events.jsonl")
        with pytest.raises(ImportProblemError, match="neither a file"):
            plural.pack_job_files(folder)
        shutil.rmtree(job)
        with pytest.raises(ImportProblemError, match="missing"):
            plural.read_header(folder)


def test_file_that_shrinks_or_fails_while_it_is_read(job: Path) -> None:
    with folders.DiskFolder.open(str(job), "") as folder:
        with folder.open_file("lock.json") as file:
            (job / "lock.json").write_bytes(b"x")
            with pytest.raises(ImportProblemError, match="shorter"):
                file.read(file.size)
        broken = folders.File(-1, 0, 1, "lock.json", is_shared=True)
        with pytest.raises(ImportProblemError, match=r"lock\.json: can't be read"):
            broken.read(1)
        with pytest.raises(ImportProblemError, match="too long"):
            folder.read("n" * 300, 1)
        with pytest.raises(ImportProblemError, match="regular"):
            folder.read("trials", 1)


def test_file_that_comes_in_pieces(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, pread = (job / "lock.json").read_bytes(), os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: pread(fd, min(size, 7), at))
    with folders.DiskFolder.open(str(job), "") as folder, folder.open_file("lock.json") as file:
        assert file.read(10) + file.read(10**6) == whole
        assert file.read(1) == b""


def test_what_becomes_a_link_after_it_was_listed(job: Path) -> None:
    (job / "file").symlink_to(job / "lock.json")
    (job / "folder").symlink_to(job / "trials")
    with folders.DiskFolder.open(str(job), "") as folder:
        with pytest.raises(ImportProblemError, match="file: is a link"):
            folder.read("file", 10**6)
        with pytest.raises(ImportProblemError, match="folder: is a link"):
            folder.folder("folder")
        os.close(folder.fd)
        for look in (folder.entries, folder.names):
            with pytest.raises(ImportProblemError, match="can't be read"):
                look()
        folder.fd = os.open(job, os.O_RDONLY)


def test_big_pack_is_closed_when_its_execution_is_refused(
    job: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "IN_MEMORY", 100)
    (find(job, f"{EXECUTION}/artifacts") / "zz\n").write_bytes(b"")
    find(job, f"{EXECUTION}/logs/stdout.log").write_bytes(bytes(1000))
    assert "control character" in refused(job).message


def test_job_result_that_is_cut_short(job: Path, refused: Refused) -> None:
    data = (job / "result.json").read_bytes()
    for cut in (1, len(data) // 2, len(data) - 3):
        (job / "result.json").write_bytes(data[:cut])
        assert_names(refused(job), job, job / "result.json", "")


def test_folder_without_a_job(tmp_path: Path, scratch: Path, refused: Refused) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused(empty).file == "empty"
    assert refused(tmp_path / "absent").file == "absent"
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe").file == "pipe"


def test_folder_renamed_by_hand(job: Path, refused: Refused) -> None:
    problem = refused(job.rename(job.with_name("mine")))
    assert (problem.file, problem.field) == ("lock.json", "job_id")
    assert "mine" in problem.message


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outcome = Outcome(scores={"part": 1.0}, before=(failed("timeout"),))
    spec = BenchmarkSpec(tasks=("only",), tracks=(track(),))
    return make_job(tmp_path_factory.mktemp("small"), benchmark=spec, outcomes=lambda *_: outcome)


@given(data=st.data())
def test_damaged_bytes_are_refused_or_read(
    small: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever bytes stand in a store file, nothing but an ImportProblemError comes of it."""
    files = sorted(path for path in small.rglob("*") if path.is_file() and path.stat().st_size)
    file = data.draw(st.sampled_from(files))
    original = file.read_bytes()
    at = data.draw(st.integers(0, len(original) - 1))
    length = data.draw(st.integers(0, 12))
    piece = data.draw(
        st.binary(max_size=8)
        | st.sampled_from([b"null", b"NaN", b"-1", b"[]", b"{}", b'"\\u0000"', b'"\\ud800"', b"1e400", b'""'])
    )
    file.write_bytes(original[:at] + piece + original[at + length :])
    try:
        read_all(small, small.parent)
    except ImportProblemError as problem:
        str(problem).encode()
        assert str(small.parent) not in str(problem)
    finally:
        file.write_bytes(original)


@given(data=st.data())
def test_damaged_values_are_refused_or_read(small: Path, data: st.DataObject) -> None:
    """The same for files that stay JSON, with any one value replaced by any other."""
    names = ("run.json", "lock.json", "config.json", "result.json", "trials/*/result.json")
    file = find(small, data.draw(st.sampled_from(names)))
    original = file.read_bytes()
    document = json.loads(original)
    target: Any = document
    while True:
        key = data.draw(
            st.sampled_from(list(target) if isinstance(target, dict) else list(range(len(target))))
        )
        if not isinstance(target[key], dict | list) or not target[key] or data.draw(st.booleans()):
            break
        target = target[key]
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
    target[key] = data.draw(
        st.recursive(
            scalars, lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside), max_leaves=5
        )
    )
    file.write_text(json.dumps(document), encoding="utf-8")
    try:
        read_all(small, small.parent)
    except ImportProblemError as problem:
        assert problem.file
    finally:
        file.write_bytes(original)


def test_source_is_closed_again(job: Path, scratch: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        read_all(job, scratch)
        change(find(job, TRIAL), "score", "x")
        with pytest.raises(ImportProblemError):
            read_all(job, scratch)
        change(find(job, TRIAL), "score", 1.0)
        with open_source(job, scratch):
            pass
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
