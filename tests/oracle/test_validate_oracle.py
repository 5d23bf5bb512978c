"""What the published client refuses in a project, we refuse with the same facts, and little more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("plural", reason="the published client is not installed")

from plural.project import Project, ProjectError, Workspace
from plural.project.layout import ResourceRef

from benchmarks.domain.definitions import environment_definition, verifier_definition
from benchmarks.domain.folder import check_folder
from benchmarks.domain.folder_identity import known_among, resolve
from tests.sample_project import (
    APPS_ENVIRONMENT,
    BENCHMARK,
    ENVIRONMENT,
    HUMAN_VERIFIER,
    SLUG,
    TASK,
    VERIFIER,
    Edit,
    add,
    put,
    remove,
    swap,
    unpack,
)

TASK_FOLDER = TASK.rpartition("/")[0]
VERIFIERS = 'verifiers: ["routing-check", "reply-check"]'
HUMAN = swap(TASK, '"reply-check"', '"tone-review"')
CAP = swap(BENCHMARK, "    max_turns: 8", "    max_turns: 8\n    max_cost_usd: 1")
LIMITS = "limits:\n  max_turns: 8\n  max_seconds: 45\n"

MINIMAL = f"name: {SLUG}\npurpose: p\nscoring: {{description: d}}\ntasks: [bill-tax-id]\n"

REFUSED: dict[str, tuple[list[Edit], list[str]]] = {
    "models track that allows instructions": (
        [swap(BENCHMARK, "    instructions: none\n", "")],
        ["tracks.0", "'controlled'", "'none'"],
    ),
    "models track with two harnesses": (
        [swap(BENCHMARK, "    instructions: none\n", "    instructions: none\n    harnesses: [a, b]\n")],
        ["tracks.0", "'controlled'"],
    ),
    "turns beyond a cap": (
        [swap(BENCHMARK, "max_turns: 8", "max_turns: 4")],
        ["'bill-proration' allows 8 turns", "'acct-sso-lockout' allows 8 turns", "controlled@1.0.0", "4"],
    ),
    "default seconds beyond a cap": (
        [swap(ENVIRONMENT, LIMITS, "")],
        ["'bill-proration' allows 120 seconds", "controlled@1.0.0", "60"],
    ),
    "cost cap without a cost limit": ([CAP], ["'bill-proration' allows", "controlled@1.0.0", "$1"]),
    "category with an unknown Task": (
        [swap(BENCHMARK, '"tech-export-stuck", "acct', '"nope", "acct')],
        ["'technical'", "nope"],
    ),
    "weight for an unknown Task": (
        [swap(BENCHMARK, '"tech-export-stuck": 0.5', '"nope": 0.5')],
        ["task_weights", "nope"],
    ),
    "threshold outside the range": (
        [swap(BENCHMARK, "success_threshold: 0.8", "success_threshold: 1.8")],
        ["scoring", "success_threshold", "must be inside score_range"],
    ),
    "default view without such a track": (
        [swap(BENCHMARK, "kind: models", "kind: agents")],
        ["default_view is 'models'"],
    ),
    "no purpose": (
        [swap(BENCHMARK, "purpose: >-", "license: >-"), swap(BENCHMARK, "license: Apache-2.0\n", "")],
        ["purpose"],
    ),
    "version that is a number": ([swap(BENCHMARK, "version: 1.1.0", "version: 1.1")], ["version"]),
    "version that is not semantic": (
        [swap(BENCHMARK, "version: 1.1.0", "version: '1.1'")],
        ["version", "1.0.0"],
    ),
    "unknown field": ([add(BENCHMARK, "weights: {}\n")], ["weights"]),
    "infrastructure_error: zero": (
        [swap(BENCHMARK, "infrastructure_error: exclude", "infrastructure_error: zero")],
        ["scoring.infrastructure_error", "exclude"],
    ),
    "another name": (
        [swap(BENCHMARK, "name: support-triage", "name: other")],
        ["name", "'other'", f"'{SLUG}'"],
    ),
    "no name": ([swap(BENCHMARK, "name: support-triage\n", "")], ["name"]),
    "empty title": ([swap(BENCHMARK, "title: Support Triage", "title: ''")], ["title"]),
    "no README": ([remove(f"benchmarks/{SLUG}/README.md")], ["README.md"]),
    "no scoring description": (
        [swap(BENCHMARK, "  description: Weighted", "  # Weighted")],
        ["scoring.description"],
    ),
    "Task listed twice": (
        [swap(BENCHMARK, "  - bill-tax-id\n", "  - bill-tax-id\n" * 2)],
        ["tasks", "listed once"],
    ),
    "Task that isn't there": (
        [swap(BENCHMARK, "  - bill-tax-id\n", "  - bill-tax\n")],
        ["bill-tax", "tasks/"],
    ),
    "two Tasks of one title": (
        [swap(TASK, "version:", "title: bill-tax-id\nversion:")],
        ["Task"],
    ),
    "Task named by its slug despite a title": (
        [swap(TASK, "version:", "title: Erasure\nversion:")],
        ["'account'", "acct-delete-data"],
    ),
    "category id used twice": ([swap(BENCHMARK, "id: technical", "id: billing")], ["'billing'", "twice"]),
    "category without Tasks": (
        [swap(BENCHMARK, '["acct-owner-transfer", "acct-delete-data", "acct-sso-lockout"]', "[]")],
        ["categories.2.tasks"],
    ),
    "track id used twice": ([swap(BENCHMARK, "id: open", "id: controlled")], ["track id"]),
    "33 attempts": ([swap(BENCHMARK, "attempts: 2", "attempts: 33")], ["tracks.0.attempts", "32"]),
    "list instead of mapping": ([put(BENCHMARK, "- a\n")], [BENCHMARK, "mapping"]),
    "empty file": ([put(BENCHMARK, "")], [BENCHMARK, "empty"]),
    "broken YAML": ([add(BENCHMARK, "a: b: c\n")], [BENCHMARK, "line 69", "mapping values are not allowed"]),
    "Task without Environment": (
        [swap(TASK, "environment: helpdesk\n", "")],
        ["acct-delete-data", "environment"],
    ),
    "Environment that isn't there": (
        [swap(TASK, "environment: helpdesk", "environment: desk")],
        ["acct-delete-data", "environment", "desk", "environments/"],
    ),
    "Verifier that isn't there": (
        [swap(TASK, '"reply-check"', '"reply"')],
        ["acct-delete-data", "verifier", "reply", "verifiers/"],
    ),
    "Task without Verifiers": ([swap(TASK, VERIFIERS, "")], ["acct-delete-data", "verifiers"]),
    "empty instructions": (
        [put(f"{TASK_FOLDER}/instruction.md", " \n")],
        ["instructions", "instruction.md is empty"],
    ),
    "instructions elsewhere": (
        [swap(TASK, "instructions: ", "instructions: ../bill-tax-id/")],
        ["instructions: ../bill-tax-id/instruction.md", "inside acct-delete-data/"],
    ),
    "resource that isn't there": ([add(TASK, "resources: [files]\n")], ["resources.0", "files"]),
    "reset_options": (
        [add(TASK, "reset_options: {a: 1}\n")],
        ["acct-delete-data", "reset_options", "initial_state"],
    ),
    "State of an App that isn't there": (
        [swap(APPS_ENVIRONMENT, "name: status_page", "name: board")],
        ["initial_state", "status_page", "tickets, board"],
    ),
    "README elsewhere": (
        [swap(ENVIRONMENT, "readme: ", "readme: ../../")],
        ["readme: ../../README.md", "inside helpdesk/"],
    ),
    "code that isn't there": (
        [swap(ENVIRONMENT, "desk.py:Desk", "dsk.py:Desk")],
        ["python: dsk.py", "exist"],
    ),
    "limit beyond 1000 turns": (
        [swap(ENVIRONMENT, "max_turns: 8", "max_turns: 1001")],
        ["helpdesk", "limits.max_turns", "1000"],
    ),
    "App of two kinds": (
        [swap(ENVIRONMENT, "python: desk.py:Desk", "apps: [{python: 'desk.py:Desk', mcp: {url: x}}]")],
        ["apps.0", "exactly one of python, mcp, openapi,"],
    ),
    "Runtime setting of no meaning": (
        [swap(ENVIRONMENT, "provider: local", "provider: local\n  speed: 1")],
        ["runtime", "speed"],
    ),
    "party": ([add(ENVIRONMENT, "party: 2\n")], ["helpdesk", "party"]),
    "Verifier kind": (
        [swap(VERIFIER, "kind: deterministic", "kind: robot")],
        ["reply-check", "kind", "robot", "deterministic", "agent", "human"],
    ),
    "Verifier weight": (
        [swap(VERIFIER, "weight: 2", "weight: 0")],
        ["reply-check", "weight", "greater than 0"],
    ),
    "only rewards": (
        [swap(TASK, VERIFIERS, "verifiers: [reply-check]"), swap(VERIFIER, "check:", "reward:")],
        ["acct-delete-data", "at least one Verifier with a check"],
    ),
    "total_reward without rewards": (
        [swap(VERIFIER, "verify.py:check", "total_reward")],
        ["reply-check", "reward", "total_reward"],
    ),
    "rubric outside the range": (
        [HUMAN, swap(HUMAN_VERIFIER, "max_score: 1", "max_score: 5")],
        ["'acct-delete-data'", "tone-review", "criterion 'warmth'", "5", "score_range", "0", "1"],
    ),
}

ACCEPTED: dict[str, list[Edit]] = {
    "as it is": [],
    "title and version": [
        swap(BENCHMARK, "Support Triage", "Other"),
        swap(BENCHMARK, "version: 1.1.0", "version: 2.0.0-rc.1+b"),
    ],
    "template": [
        swap(BENCHMARK, "purpose: >-", "# PLURAL-TODO: purpose\nsuccess: >-"),
        swap(BENCHMARK, "success: The", "# The"),
        remove(f"benchmarks/{SLUG}/README.md"),
    ],
    "scoring": [
        swap(BENCHMARK, "harness_timeout: infrastructure_error", "harness_timeout: agent_failure"),
        swap(BENCHMARK, "success_threshold: 0.8", "success_threshold: null"),
        swap(BENCHMARK, "score_range: [0.0, 1.0]", "score_range: [-1, 2]"),
    ],
    "default threshold": [
        swap(BENCHMARK, "  success_threshold: 0.8\n", ""),
        swap(BENCHMARK, "score_range: [0.0, 1.0]", "score_range: [0, 5]"),
    ],
    "metadata": [
        add(BENCHMARK, "metadata: {targets: [b, a], n: &n [1.0, 9007199254740993], m: *n}\nforked_from: x\n")
    ],
    "nothing optional": [put(BENCHMARK, MINIMAL)],
    "title of a Task": [
        swap(TASK, "version:", "title: Erasure\nversion:"),
        swap(BENCHMARK, '"acct-delete-data", "acct-sso', '"Erasure", "acct-sso'),
        swap(BENCHMARK, '"acct-delete-data": 3', '"Erasure": 3'),
    ],
    "cost limits as high as the cap": [
        CAP,
        swap(ENVIRONMENT, "max_seconds: 45", "max_seconds: 45\n  max_cost_usd: 1"),
        swap(APPS_ENVIRONMENT, "max_seconds: 25", "max_seconds: 25\n  max_cost_usd: 0.5"),
    ],
    "default limits": [swap(ENVIRONMENT, LIMITS, ""), swap(BENCHMARK, "max_seconds: 60", "max_seconds: 120")],
    "Task with files": [
        put(f"{TASK_FOLDER}/resources/law.md", "a\r\nb"),
        put(f"{TASK_FOLDER}/resources/sub/é.jsonl", "{}"),
        put(f"{TASK_FOLDER}/resources/sub/.hidden", "x"),
        put(f"{TASK_FOLDER}/resources/a/form.docx", b"\xff\0"),
        put(f"{TASK_FOLDER}/resources/a-b.webp", b"\xff\0"),
        put(f"{TASK_FOLDER}/instruction.md", "a\r\nb\r\n"),
        swap(TASK, "info: {", "info: {n: 1.0, big: 9007199254740993, "),
    ],
    "one file": [put(f"{TASK_FOLDER}/note", "x"), add(TASK, "resources: [./note]\nreset_options: {}\n")],
    "Environment without README": [swap(ENVIRONMENT, "readme: README.md", "readme: null")],
    "Environment settings": [
        swap(ENVIRONMENT, "mode: allow_all", "mode: allowlist\n  allowed_harnesses: [b, a]"),
        swap(ENVIRONMENT, "mode:", "denied_capabilities: [web_search, shell]\n  mode:"),
        swap(ENVIRONMENT, "- resources/style.md", "- {kind: data, name: d, config: {a: 1}}"),
        add(ENVIRONMENT, "guardrails: [{rule: Be kind.}]\n"),
    ],
    "named App": [
        swap(ENVIRONMENT, "python: desk.py:Desk", "apps: [{python: 'desk.py:Desk', name: other, config: {}}]")
    ],
    "files of an Environment": [
        put("environments/helpdesk/.pluralignore", "# c\n./note.txt\n"),
        put("environments/helpdesk/note.txt", "x"),
        put("environments/helpdesk/__pycache__/x.pyc", "x"),
        put("environments/helpdesk/a-b/x", "1"),
        put("environments/helpdesk/a/task.yaml", "1"),
        put("environments/helpdesk/task.yaml", "1"),
    ],
    "docker": [
        swap(ENVIRONMENT, "provider: local", "provider: docker\n  memory_mb: 512\n  ref: fast"),
        swap(ENVIRONMENT, "provider:", "python_packages: [duckdb]\n  provider:"),
        swap(APPS_ENVIRONMENT, "provider: local", "provider: docker\n  image: x\n  network: allowlist"),
        swap(APPS_ENVIRONMENT, "provider:", "allowed_hosts: [a.b]\n  provider:"),
    ],
    "dockerfile and daytona": [
        swap(ENVIRONMENT, "provider: local", "provider: docker\n  dockerfile: Dockerfile"),
        swap(APPS_ENVIRONMENT, "provider: local", "provider: daytona\n  timeout_seconds: 9"),
    ],
    "human Verifier": [HUMAN],
    "total_reward": [
        swap("verifiers/routing-check/verifier.yaml", "check: verify.py:check", "check: total_reward")
    ],
    "command": [swap(VERIFIER, "verify.py:check", "python verify.py --as 'a b'")],
    "Verifier settings": [
        add(VERIFIER, "secrets: [CRM_TOKEN]\ninfo: {a: 1.0}\n"),
        add(VERIFIER, "evidence_required: false\nresult_path: r.json\n"),
        add(VERIFIER, "rubric: [{name: a, description: b, weight: 2}]\n"),
        add(VERIFIER, "runtime: {image: x, compute: {cpu: 1}}\n"),
    ],
}

STRICTER: dict[str, tuple[Edit, str]] = {
    "field written twice": (add(BENCHMARK, "license: MIT\n"), "license"),
    "date": (add(BENCHMARK, "metadata: {made: 2026-01-31}\n"), "metadata.made"),
    "number in quotes": (swap(BENCHMARK, "attempts: 2", "attempts: '2'"), "tracks.0.attempts"),
    "exponent without a sign, which is text in YAML": (
        swap(BENCHMARK, "max_seconds: 60", "max_seconds: 6e1"),
        "tracks.0.max_seconds",
    ),
    "yes as a number": (swap(VERIFIER, "weight: 2", "weight: yes"), "weight"),
}
"""Taken by the client, which guesses; refused here, so that what was meant is written down."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("sample"))


@pytest.fixture
def project(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return shutil.copytree(original, tmp_path / SLUG, ignore=shutil.ignore_patterns(".plural"))


def client_refusal(project: Path) -> str:
    """What the client says against the folder, '' when it takes it."""
    try:
        Workspace(Project.at(project)).load(ResourceRef("benchmark", SLUG))
    except ProjectError as error:
        return str(error)
    return ""


def our_refusal(project: Path) -> str:
    return "\n".join(
        f"{problem.file}, line {problem.line}: {problem.field}: {problem.message}"
        for problem in check_folder(project / "benchmarks" / SLUG).problems
    )


@pytest.mark.parametrize("case", REFUSED)
def test_both_refuse_with_the_same_facts(project: Path, case: str) -> None:
    edits, facts = REFUSED[case]
    for edit in edits:
        edit(project)
    for said in (client_refusal(project), our_refusal(project)):
        assert [fact for fact in facts if fact.lower() not in said.lower()] == [], said


@pytest.mark.parametrize("case", ACCEPTED)
def test_both_accept_and_hash_alike(project: Path, case: str) -> None:
    for edit in ACCEPTED[case]:
        edit(project)
    assert client_refusal(project) == ""
    assert our_refusal(project) == ""
    workspace = Workspace(Project.at(project))
    held = [
        environment_definition(workspace.get("environment", name).definition().model_dump(mode="json"))
        for name in ("helpdesk", "status-desk")
    ] + [
        verifier_definition(workspace.get("verifier", name).model_dump(mode="json"))
        for name in ("reply-check", "routing-check", "tone-review")
    ]
    folder = check_folder(project / "benchmarks" / SLUG).folder
    assert folder is not None
    resolution = resolve(folder, known_among(held))
    assert resolution.reason == ""
    assert resolution.benchmark is not None
    benchmark = workspace.get("benchmark", SLUG)
    assert resolution.benchmark.content_hash == benchmark.content_hash
    assert [(task.name, task.version, task.content_hash) for task in resolution.tasks] == [
        (pin.name, pin.version, pin.content_hash) for pin in benchmark.task_pins
    ]


@pytest.mark.parametrize("case", STRICTER)
def test_where_we_are_stricter(project: Path, case: str) -> None:
    edit, field = STRICTER[case]
    edit(project)
    assert client_refusal(project) == ""
    assert [problem.field for problem in check_folder(project / "benchmarks" / SLUG).problems] == [field]


def test_the_command_line_says_what_its_library_says(project: Path, tmp_path: Path) -> None:
    command = Path(sys.executable).parent / "plural"
    if not command.exists():
        pytest.skip("the client's command is not beside this Python")
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [command, "benchmark", "validate", SLUG, "--json"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    benchmark = Workspace(Project.at(project)).get("benchmark", SLUG)
    assert json.loads(done.stdout)["content_hash"] == benchmark.content_hash
