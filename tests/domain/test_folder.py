from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.domain.definitions import environment_definition, verifier_definition
from benchmarks.domain.folder import BenchmarkFolder, FolderReport, check_folder
from benchmarks.domain.folder_identity import Known, known_among, resolve
from benchmarks.domain.types import Definition
from tests.sample_project import (
    APPS_ENVIRONMENT,
    BENCHMARK,
    ENVIRONMENT,
    SLUG,
    TASK,
    VERIFIER,
    Edit,
    add,
    job_files,
    put,
    remove,
    swap,
    unpack,
)

Check = Callable[..., FolderReport]
README = f"benchmarks/{SLUG}/README.md"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("sample"))


@pytest.fixture
def project(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / SLUG, ignore=shutil.ignore_patterns(".plural"))


@pytest.fixture
def check(project: Path) -> Check:
    def edit_and_check(*edits: Edit) -> FolderReport:
        for edit in edits:
            edit(project)
        return check_folder(project / "benchmarks" / SLUG)

    return edit_and_check


def held_definitions(project: Path) -> list[Definition]:
    """Environments and Verifiers of every Job."""
    found: list[Definition] = []
    for config in job_files(project, "config.json"):
        source = config["source"]
        for task in source["benchmark"]["tasks"] if source["kind"] == "benchmark" else [source["task"]]:
            found.append(environment_definition(task["environment"]))
            found.extend(verifier_definition(item["verifier"]) for item in task["verifiers"])
    return found


@pytest.fixture(scope="module")
def known(original: Path) -> Known:
    return known_among(held_definitions(original))


def usable(report: FolderReport) -> BenchmarkFolder:
    assert report.problems == ()
    assert report.folder is not None
    return report.folder


def places(report: FolderReport) -> list[tuple[str, str]]:
    return [(problem.file, problem.field) for problem in report.problems]


def test_reads_the_sample(check: Check) -> None:
    report = check()
    folder = usable(report)
    assert report.warnings == ()
    assert (folder.slug, folder.title, folder.version) == (SLUG, "Support Triage", "1.1.0")
    assert len(folder.tasks) == 10
    assert folder.tasks[0] == "bill-duplicate-charge"
    assert folder.readme.startswith("#")
    assert folder.declared["scoring"]["success_threshold"] == 0.8
    assert folder.declared["tracks"][0]["temperature"] == 0.0


def test_reports_everything_at_once_with_file_field_and_line(check: Check) -> None:
    report = check(
        swap(BENCHMARK, "version: 1.1.0", "version: 1.1"),
        swap(BENCHMARK, '"tech-export-stuck", ', '"tech-exprt-stuck", '),
        swap(BENCHMARK, "max_turns: 8", "max_turns: 4"),
        add(BENCHMARK, "extra: 1\n"),
        remove("tasks/bill-tax-id/instruction.md"),
        swap(TASK, "environment: helpdesk", "environment: helpdeks"),
        swap(VERIFIER, "weight: 2", "weight: 0"),
        swap(APPS_ENVIRONMENT, "max_seconds: 25", "max_seconds: 0"),
    )
    assert report.folder is None
    assert set(places(report)) == {
        (BENCHMARK, "version"),
        (BENCHMARK, "categories.1.tasks"),
        (BENCHMARK, "tracks.0"),
        (BENCHMARK, "extra"),
        ("tasks/bill-tax-id/task.yaml", "instructions"),
        (TASK, "environment"),
        (VERIFIER, "weight"),
        (APPS_ENVIRONMENT, "limits.max_seconds"),
    }
    found = {(problem.file, problem.field): problem for problem in report.problems}
    assert found[BENCHMARK, "version"].line == 3
    assert "Did you mean 'tech-export-stuck'?" in found[BENCHMARK, "categories.1.tasks"].message
    assert "Did you mean 'helpdesk'?" in found[TASK, "environment"].message
    assert "environments/helpdesk/environment.yaml" in found[BENCHMARK, "tracks.0"].message


def test_a_task_goes_by_its_title(check: Check) -> None:
    report = check(swap(TASK, "version:", "title: Erasure\nversion:"))
    assert set(places(report)) == {(BENCHMARK, "categories.2.tasks"), (BENCHMARK, "scoring.task_weights")}
    assert all("called by its title here, 'Erasure'" in problem.message for problem in report.problems)


@pytest.mark.parametrize("reference", ["../../README.md", "/etc/hostname", "..", "a\\b", "README.md/x"])
@pytest.mark.parametrize(
    ("file", "field", "old"),
    [(ENVIRONMENT, "readme", "readme: README.md"), (TASK, "instructions", "instructions: instruction.md")],
)
def test_paths_stay_inside_their_folder(
    check: Check, reference: str, file: str, field: str, old: str
) -> None:
    assert places(check(swap(file, old, f"{field}: '{reference}'"))) == [(file, field)]


@pytest.mark.parametrize("name", ["../helpdesk", "helpdesk/../helpdesk", ".", "..", "/", "a\\b", "helpdesk/"])
def test_names_are_names_of_folders(check: Check, name: str) -> None:
    assert (TASK, "environment") in places(
        check(swap(TASK, "environment: helpdesk", f"environment: '{name}'"))
    )


@pytest.mark.parametrize(
    ("link", "target", "place"),
    [
        (README, "/etc/hostname", (README, "")),
        (BENCHMARK, "/etc/hostname", (BENCHMARK, "")),
        ("tasks/acct-delete-data", "../bill-tax-id", (BENCHMARK, "tasks.8")),
        ("tasks/acct-delete-data/instruction.md", "/etc/hostname", (TASK, "instructions")),
        ("tasks/acct-delete-data/resources", "/etc", (TASK, "resources.0")),
        ("environments/helpdesk/data", "/etc", (ENVIRONMENT, "")),
        ("verifiers/reply-check/verify.py", "/etc/hostname", (VERIFIER, "check")),
    ],
)
def test_links_are_not_followed(
    project: Path, check: Check, link: str, target: str, place: tuple[str, str]
) -> None:
    path = project / link
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    report = check()
    assert place in places(report)
    assert any("link" in problem.message for problem in report.problems)


def test_a_pipe_is_not_waited_for(project: Path, check: Check) -> None:
    (project / README).unlink()
    os.mkfifo(project / README)
    assert places(check()) == [(README, "")]


def test_what_pushing_needs_is_a_warning_only_in_a_template(check: Check) -> None:
    edits = [remove(README), swap(BENCHMARK, "  description: Weighted", "  # Weighted")]
    needed = [(README, ""), (BENCHMARK, "scoring.description")]
    report = check(*edits)
    assert places(report) == needed
    assert report.folder is not None
    report = check(add(BENCHMARK, "# PLURAL-TODO: say who it helps\n"))
    assert report.problems == ()
    assert [(item.file, item.field) for item in report.warnings] == [*needed, (BENCHMARK, "")]
    assert "say who it helps" in report.warnings[-1].message


def test_two_tasks_of_one_content_are_a_warning(project: Path, check: Check) -> None:
    shutil.copytree(project / "tasks/bill-proration", project / "tasks/twin")
    report = check(
        swap("tasks/twin/task.yaml", "name: bill-proration", "name: twin"),
        swap(BENCHMARK, "  - bill-tax-id\n", "  - bill-tax-id\n  - twin\n"),
    )
    usable(report)
    assert [warning.field for warning in report.warnings] == ["tasks"]
    assert "'twin'" in report.warnings[0].message
    assert "'bill-proration'" in report.warnings[0].message


def test_a_folder_without_its_project_is_checked_by_itself(project: Path, tmp_path: Path) -> None:
    alone = shutil.copytree(project / "benchmarks" / SLUG, tmp_path / "alone" / SLUG)
    report = check_folder(alone)
    assert usable(report).task_folders == {}
    assert [(warning.file, warning.field) for warning in report.warnings] == [("benchmark.yaml", "tasks")]
    text = (alone / "benchmark.yaml").read_text().replace('"bill-proration", ', '"nope", ')
    (alone / "benchmark.yaml").write_text(text)
    assert places(check_folder(alone)) == [("benchmark.yaml", "categories.0.tasks")]


def test_says_where_the_folder_may_be(project: Path) -> None:
    report = check_folder(project)
    assert f"benchmarks/{SLUG}" in report.problems[0].message
    assert check_folder(project / "README.md").problems
    assert check_folder(project / "nothing").problems


def test_hashes_are_those_of_the_latest_job(original: Path, check: Check, known: Known) -> None:
    runs = [run for run in job_files(original, "run.json") if f"benchmark/{SLUG}" in run["inputs"]]
    inputs = max(runs, key=lambda run: run["created_at"])["inputs"]
    resolution = resolve(usable(check()), known)
    assert resolution.reason == ""
    assert resolution.benchmark is not None
    assert resolution.benchmark.content_hash == inputs[f"benchmark/{SLUG}"]["content_hash"]
    assert (resolution.benchmark.slug, resolution.benchmark.version) == (SLUG, "1.1.0")
    assert {f"task/{task.slug}": task.content_hash for task in resolution.tasks} == {
        name: entry["content_hash"] for name, entry in inputs.items() if name.startswith("task/")
    }


@pytest.mark.parametrize(
    ("edit", "changed_tasks"),
    [
        (swap("tasks/acct-delete-data/instruction.md", "the", "a"), 1),
        (swap(TASK, '"priority": "normal"', '"priority": "high"'), 1),
        (put("tasks/acct-delete-data/resources/law.md", "30 days"), 1),
        (swap(BENCHMARK, "success_threshold: 0.8", "success_threshold: 0.9"), 0),
    ],
)
def test_another_content_is_another_hash(check: Check, known: Known, edit: Edit, changed_tasks: int) -> None:
    before = resolve(usable(check()), known)
    after = resolve(usable(check(edit)), known)
    assert before.benchmark is not None
    assert after.benchmark is not None
    assert after.benchmark.content_hash != before.benchmark.content_hash
    pairs = zip(before.tasks, after.tasks, strict=True)
    assert sum(old.content_hash != new.content_hash for old, new in pairs) == changed_tasks


def test_labels_are_not_content(check: Check, known: Known) -> None:
    before = resolve(usable(check()), known)
    after = resolve(
        usable(
            check(
                swap(BENCHMARK, "title: Support Triage", "title: Another"),
                swap(BENCHMARK, "version: 1.1.0", "version: 9.0.0"),
                swap(ENVIRONMENT, "version: 1.0.0", "version: 9.0.0"),
                put("environments/helpdesk/__pycache__/desk.pyc", "x"),
            )
        ),
        known,
    )
    assert before.benchmark is not None
    assert after.benchmark is not None
    assert after.benchmark.content_hash == before.benchmark.content_hash
    assert (after.benchmark.name, after.benchmark.version) == ("Another", "9.0.0")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            swap(ENVIRONMENT, "max_seconds: 45", "max_seconds: 44"),
            "environments/helpdesk/environment.yaml (limits)",
        ),
        (swap(ENVIRONMENT, "mode: allow_all", "mode: allowlist"), "(harness_policy)"),
        (swap(ENVIRONMENT, "owner: data-generator", "owner: me"), "(metadata)"),
        (swap(ENVIRONMENT, "provider: local", "provider: docker"), "(runtime)"),
        (swap(ENVIRONMENT, "provider: local", "provider: docker\n  compose: true"), "(runtime)"),
        (swap(ENVIRONMENT, "description: One", "description: Two"), "(description)"),
        (add(ENVIRONMENT, "guardrails: [{rule: Be kind.}]\n"), "(guardrails)"),
        (
            swap(ENVIRONMENT, "python: desk.py:Desk", "apps: [{name: other, python: 'desk.py:Desk'}]"),
            "(apps)",
        ),
        (
            swap(ENVIRONMENT, "python: desk.py:Desk", "apps: [{python: 'desk.py:Desk', config: {a: 1}}]"),
            "(apps)",
        ),
        (add("environments/helpdesk/desk.py", "# changed\n"), "environments/helpdesk"),
        (put("environments/helpdesk/more.txt", ""), "environments/helpdesk"),
        (swap(VERIFIER, "weight: 2", "weight: 3"), "verifiers/reply-check"),
        (add("verifiers/reply-check/verify.py", "# changed\n"), "verifiers/reply-check"),
    ],
)
def test_what_no_job_has_used_is_not_guessed(check: Check, known: Known, edit: Edit, said: str) -> None:
    resolution = resolve(usable(check(edit)), known)
    assert resolution.benchmark is None
    assert resolution.tasks == ()
    file, _, fields = said.rpartition(" (")
    assert file in resolution.reason
    assert fields in resolution.reason
    assert f"plural run -b {SLUG}" in resolution.reason


def test_two_revisions_that_only_code_tells_apart_are_not_guessed(check: Check, original: Path) -> None:
    definitions = held_definitions(original)
    twin = copy.deepcopy(dict(next(d for d in definitions if d.kind == "environment").content))
    twin["apps"][0]["actions"] = []
    twin["source"] = {"digest": twin.pop("source_digest")}
    twin["runtime"] = {
        {"network_allowlist": "allowed_hosts"}.get(key, key): value for key, value in twin["runtime"].items()
    }
    resolution = resolve(usable(check()), known_among([*definitions, environment_definition(twin)]))
    assert resolution.benchmark is None
    assert "2 revisions" in resolution.reason


def test_ignored_files_are_no_content(check: Check) -> None:
    ignore = add("environments/helpdesk/.pluralignore", "# notes\n./notes.txt\n")
    with_list = usable(check(ignore)).task_folders["bill-proration"].environment
    with_file = (
        usable(check(put("environments/helpdesk/notes.txt", "x"))).task_folders["bill-proration"].environment
    )
    assert with_list is not None
    assert with_file is not None
    assert with_list.source_digest == with_file.source_digest


VALUES = st.sampled_from(
    [None, True, 0, -1, 2, 0.5, 1e308, 2**70, "", "x", "1", "none", "é\n", "../x"]
    + [[], ["x"], [[]], {}, {"a": {}}]
).map(copy.deepcopy)  # what was put in is changed by the next change
NAMES = st.sampled_from(
    ["limits", "title", "metadata", "tracks", "party", "resources", "criteria", "apps", "x"]
    + ["seat_instructions", "runtime", "readme", "scoring"]
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_a_manifest_is_a_report(project: Path, data: st.DataObject) -> None:
    file = project / data.draw(st.sampled_from([BENCHMARK, TASK, ENVIRONMENT, APPS_ENVIRONMENT, VERIFIER]))
    original = file.read_bytes()
    try:
        value = yaml.safe_load(original)
        for _ in range(data.draw(st.integers(1, 3))):
            _mutate(value, data)
        file.write_text(yaml.safe_dump(value), "utf-8")
        _assert_is_report(check_folder(project / "benchmarks" / SLUG))
    finally:
        file.write_bytes(original)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1), gone=st.integers(0, 40), put_in=st.binary(max_size=8))
def test_any_bytes_are_a_report(project: Path, at: float, gone: int, put_in: bytes) -> None:
    file = project / BENCHMARK
    original = file.read_bytes()
    start = int(at * len(original))
    try:
        file.write_bytes(original[:start] + put_in + original[start + gone :])
        _assert_is_report(check_folder(project / "benchmarks" / SLUG))
    finally:
        file.write_bytes(original)


def _mutate(value: Any, data: st.DataObject) -> None:
    """Change one place of nested mappings and lists, wherever the draws lead."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = data.draw(st.sampled_from(keys))
    inner = value[key]
    if isinstance(inner, (dict, list)) and data.draw(st.booleans()):
        _mutate(inner, data)
    elif isinstance(value, dict) and data.draw(st.booleans()):
        value[data.draw(NAMES)] = data.draw(VALUES)
    elif data.draw(st.booleans()):
        del value[key]
    else:
        value[key] = data.draw(VALUES)


def _assert_is_report(report: FolderReport) -> None:
    assert report.folder is not None or report.problems
    for problem in (*report.problems, *report.warnings):
        assert problem.file
        assert problem.message
        assert problem.line is None or problem.line > 0
