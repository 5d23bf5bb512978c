"""Content hashes of rich definitions, against the published client that would record them."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.domain.definitions import (
    agent_definition,
    benchmark_definition,
    environment_definition,
    harness_definition,
    rules_from_content,
    task_definition,
    verifier_definition,
)
from benchmarks.domain.identity import revision_hash
from benchmarks.domain.types import Definition

pytest.importorskip("plural", reason="the published client is not installed")

from plural.agents.models import Agent, AgentDefinition
from plural.common import HarnessBinding, HarnessPackage
from plural.environments.definition import EnvironmentDefinition
from plural.tasks import Benchmark, Task
from plural.verifiers import AgentVerifier, DeterministicVerifier, HumanVerifier

DIGEST = f"sha256:{'d' * 64}"
BIG = 2**53 + 1
CRITERIA = [
    {"name": "tone", "description": "Polite.", "weight": 2, "max_score": 5},
    {"name": "事実", "description": "Right.", "min_score": -1},
]

APPS: dict[str, dict[str, Any]] = {
    "python": {
        "name": "desk", "python": "desk.py:Desk", "description": "Größe \U0001f600", "has_reset": True,
        "config": {"limit": BIG, "ratio": 1.0, "targets": ["b", "a"], "steps": ["b", "a"]},
        "actions": [
            {"name": "read", "parameters": {"type": "object", "capabilities": [{"b": 1}, {"a": 2.5}]}},
            {"name": "write", "timeout_seconds": 7, "mutates_state": False, "binding": {"method": "POST"}},
        ],
        "state_schema": {"title": "State", "version": "kept"},
    },
    "mcp": {
        "name": "crm", "kind": "mcp", "config": {"server": "crm-server", "command": ["crm", "--x"]},
        "secrets": [{"name": "CRM_KEY", "required": False, "scopes": ["read"]}],
    },
    "credentials": {
        "name": "mail", "python": "mail.py:Mail", "control": "sandboxed",
        "credentials": [{"name": "MAIL_TOKEN", "scopes": ["send", "read"], "description": "d"}],
    },
}  # fmt: skip
RUNTIMES: dict[str, dict[str, Any]] = {
    "default": {},
    "local": {"provider": "local", "targets": ["local"], "allow_unsafe_local": True},
    "custom": {
        "provider": "docker", "ref": "big-box", "image": "python:3.12", "network": "allowlist",
        "allowed_hosts": ["b.example", "a.example"], "compute": {"cpu": 2, "memory_mb": 512, "disk_mb": 9},
        "packages": {"python": ["duckdb>=1.1", "polars"]}, "targets": ["remote", "docker"],
        "extra_capabilities": ["resources", "image"], "persistent": True, "timeout_seconds": 12.5,
        "build_timeout_seconds": 99, "placement": {"zone": "x"}, "variables": [{"name": "TZ"}],
    },
    "built": {"provider": "docker", "dockerfile": "Dockerfile", "build_context": ".", "read_only_root": True},
    "snapshot": {"provider": "docker", "snapshot": "snap-1"},
}  # fmt: skip
ENVIRONMENT_PARTS: list[dict[str, Any]] = [
    {},
    {"party": {"min": 2, "max": 8, "isolation": "shared"}},
    {"source": {"kind": "local", "uri": "/srv/a/desk", "digest": DIGEST, "trusted": True}},
    {"source": {"kind": "local", "uri": "/srv/a/desk", "unsafe_local": True}},
    {
        "description": "d", "overview": "o", "readme": "# r\n", "python": "env.py:Env",
        "guardrails": [{"name": "g", "rule": "no"}],
        "limits": {"max_turns": 3, "max_seconds": 9, "max_cost_usd": 1},
        "metadata": {"name": "kept", "denied": [2, 10, 1], "none": None, "big": BIG},
        "harness_policy": {
            "mode": "allowlist", "allowed_harnesses": ["z", "a"],
            "allowed_capabilities": ["shell", "browser", "mcp"],
            "denied_capabilities": ["web_search", "file_edit"],
        },
        "resources": [
            {"kind": "file", "name": "a.md", "path": "a.md", "delivery": "inline", "content": "# ü\n"},
            {"kind": "file", "name": "b.bin", "path": "b.bin", "delivery": "blob", "digest": DIGEST},
            {"kind": "data", "name": "c", "uri": "https://data.example/c",
             "digest": DIGEST, "config": {"n": 1.0}},
        ],
    },
]  # fmt: skip
VERIFIERS = [
    DeterministicVerifier(name="v", check="verify.py:check"),
    DeterministicVerifier(name="cmd", check=["python", "check.py"], reward="verify.py:step",
                          info={"k": [1, 1.0]}),
    DeterministicVerifier(name="total", check="total_reward", reward={"python": "v.py:r", "digest": DIGEST}),
    DeterministicVerifier.model_validate(
        {
            "name": "rich", "version": "2.0.0", "weight": 2.5, "evidence_required": False,
            "check": {"python": "v.py:c", "digest": DIGEST},
            "hindsight": "v.py:h", "secrets": [{"name": "K"}], "result_path": "r.json",
            "runtime": {"provider": "docker", "image": "x", "network": "allowlist", "allowed_hosts": ["h"],
                        "compute": {"cpu": 0.5}, "timeout_seconds": 5},
        }
    ),
    HumanVerifier.model_validate({"name": "human", "criteria": CRITERIA, "instructions": "Look."}),
    AgentVerifier.model_validate(
        {"name": "judge", "criteria": CRITERIA, "model": "openai/gpt-5.6-luna", "instructions": "Judge.",
         "fallback_models": [], "metadata": {"declared": ["b", "a"]}}
    ),
]  # fmt: skip
HARNESS = {
    "name": "walker", "revision": "0.3.0", "implementation": "runnable", "command": ["walk", "--fast"],
    "setup": [["pip", "install", "walker"]], "secret_names": ["K"],
    "capabilities": ["shell", "browser", "mcp"],
    "outputs": [{"path": "result.json"}], "artifacts": [{"path": "t.jsonl", "required": False}],
    "trajectory_path": "t.jsonl", "supports_tito": True, "tito_path": "t.jsonl", "healthcheck": ["true"],
}  # fmt: skip
SOURCES = [
    {"kind": "local", "uri": "/srv/a/walker", "digest": DIGEST, "trusted": True},
    {"kind": "local", "uri": "/srv/a/walker", "unsafe_local": True},
    {"kind": "oci", "uri": "oci://registry.example/walker", "digest": DIGEST},
]


def recorded(model: Any) -> Any:
    """The value as a Job's config.json holds it."""
    return json.loads(json.dumps(model.model_dump(mode="json"), ensure_ascii=False))


def assert_sound(definition: Definition, expected: str) -> None:
    assert definition.content_hash == expected
    if "uri" not in str(definition.content.get("source")):
        assert "/srv" not in json.dumps(definition.content)


def environments() -> list[EnvironmentDefinition]:
    found = []
    for parts, runtime in itertools.product(ENVIRONMENT_PARTS, RUNTIMES.values()):
        alone = [[], ["python"], ["python", "mcp"], ["credentials"]]
        for apps in alone if "party" not in parts else [["python"]]:
            given_ = {"name": "Größe", "apps": [APPS[app] for app in apps], "runtime": runtime, **parts}
            found.append(EnvironmentDefinition.model_validate(given_))
    return found


def task_of(environment: EnvironmentDefinition, **fields: Any) -> Task:
    return Task.model_validate(
        {"name": "t", "instructions": "Do.", "environment": environment, "verifiers": VERIFIERS[:1], **fields}
    )


def read_task(task: Task) -> Definition:
    config = recorded(task.definition())
    environment = environment_definition(config["environment"])
    verifiers = [verifier_definition(binding["verifier"]) for binding in config["verifiers"]]
    return task_definition(config, environment.content_hash, [v.content_hash for v in verifiers])


@pytest.mark.parametrize("environment", environments(), ids=lambda _: "")
def test_environment_hash_is_the_clients(environment: EnvironmentDefinition) -> None:
    definition = environment_definition(recorded(environment))
    assert_sound(definition, environment.content_hash)
    assert revision_hash("environment", definition.content) == environment.content_hash


@pytest.mark.parametrize("verifier", VERIFIERS, ids=lambda verifier: verifier.name)
def test_verifier_hash_is_the_clients(verifier: Any) -> None:
    assert_sound(verifier_definition(recorded(verifier)), verifier.content_hash)


TASKS: list[dict[str, Any]] = [
    {},
    {"goals": ["b", "a"], "info": {"targets": [2, 1]}, "metadata": {"version": 1.0, "n": BIG}},
    {"expected": {"answer": [1, 1.0, "ü"]}, "verifiers": VERIFIERS, "version": "3.0.0"},
    {"expected": 0, "name": "文書"},
    {"expected": False},
    {"resources": [{"kind": "file", "name": "r", "path": "r", "delivery": "blob", "digest": DIGEST}]},
]


@pytest.mark.parametrize("fields", TASKS, ids=",".join)
def test_task_hash_is_the_clients(fields: dict[str, Any]) -> None:
    for parts in ({}, ENVIRONMENT_PARTS[4]):
        task = task_of(EnvironmentDefinition.model_validate({"name": "e", **parts}), **fields)
        definition = read_task(task)
        assert_sound(definition, task.content_hash)
        assert (definition.name, definition.version) == (task.name, task.version)


def test_hash_of_a_task_with_seats_is_the_clients() -> None:
    environment = EnvironmentDefinition.model_validate(
        {"name": "e", "apps": [APPS["python"]], **ENVIRONMENT_PARTS[1]}
    )
    for seats in ({}, {"seat_1": "Bluff.", "seat_2": "Call."}):
        task = task_of(environment, seat_instructions=seats)
        assert_sound(read_task(task), task.content_hash)


@pytest.mark.parametrize("source", SOURCES, ids=["digest", "unsigned", "oci"])
def test_harness_hash_is_the_clients(source: dict[str, Any]) -> None:
    package = HarnessPackage.model_validate({"definition": HARNESS, "source": source})
    definition = harness_definition(recorded(package))
    assert definition.content_hash == package.content_hash
    assert "/srv" not in json.dumps(definition.content)
    binding = HarnessBinding.from_package(package)
    for held in (package, None):
        agent = AgentDefinition(name="a", model="m", harness=binding, harness_package=held)
        assert agent_definition(recorded(agent)).content_hash == agent.content_hash


AGENTS: list[dict[str, Any]] = [
    {"model": "openai/gpt-5.6-luna"},
    {"model": "openai/gpt-5.6-luna", "harness": "codex", "instructions": "Be brief. \U0001f600"},
    {"model": "openai/gpt-5.6-luna", "harness": "hermes", "metadata": {"capabilities": ["b", "a"], "n": BIG}},
    {"model": "own", "endpoint": "https://agent.example/v1", "endpoint_key": "KEY",
     "temperature": 0, "max_tokens": 9},
    {
        "model": "svc", "credentials": ["MAIL_TOKEN", {"name": "CRM", "scopes": ["w", "r"]}],
        "external": {"url": "https://svc.example/run", "signing_key": "K", "version": "3",
                     "ca_bundle": "/srv/ca.pem"},
    },
]  # fmt: skip


@pytest.mark.parametrize("fields", AGENTS, ids=lambda fields: fields.get("harness") or fields["model"])
def test_agent_hash_is_the_clients(fields: dict[str, Any]) -> None:
    agent = Agent.model_validate({"name": "Größe", "version": "1.2.3", **fields})
    definition = agent_definition(recorded(agent._definition()))
    assert_sound(definition, agent.content_hash)
    assert (definition.name, definition.version) == ("Größe", "1.2.3")


def test_agent_with_routing_and_harness_settings_is_the_clients() -> None:
    agent = AgentDefinition.model_validate(
        {
            "name": "a", "model": "m", "harness_config": {"reasoning_effort": "high", "denied": ["b", "a"]},
            "routing": {"provider": "p", "fallback_models": ["z", "a"], "temperature": 0.7, "max_tokens": 5},
            "auth": "api_key", "secrets": ["B", "A"],
        }
    )  # fmt: skip
    assert_sound(agent_definition(recorded(agent)), agent.content_hash)


TASK_NAMES = ("文書", "alpha")
LIMITS = {"max_turns": 3, "max_seconds": 9, "max_cost_usd": 1}
BENCHMARK_TASKS = tuple(
    task_of(EnvironmentDefinition.model_validate({"name": "e", "limits": LIMITS}), name=name)
    for name in TASK_NAMES
)
words = st.sampled_from(["", "plain", "Größe \U0001f600"])
numbers = st.sampled_from([0, 0.0, 0.5, 1, 1.0])
benchmarks = st.fixed_dictionaries(
    {},
    optional={
        "description": words,
        "purpose": words,
        "success": words,
        "license": words,
        "limitations": st.lists(words, max_size=2),
        "metadata": st.sampled_from([{}, {"n": BIG, "granted": ["b", "a"], "name": None}]),
        "forked_from": st.sampled_from([None, "plural:benchmark/x@1.0.0#sha256:0"]),
        "default_view": st.just("agents"),
        "categories": st.sampled_from(
            [
                [],
                [{"id": "c", "name": "C", "tasks": ["文書"], "taxonomy": "plural:x"}],
                [{"id": "a", "name": "A", "tasks": ["alpha", "文書"]},
                 {"id": "b", "name": "B", "tasks": ["alpha"]}],
            ]
        ),
        "tracks": st.sampled_from(
            [
                [],
                [{"id": "open", "name": "Open", "kind": "agents"}],
                [
                    {
                        "id": "held", "name": "Held", "kind": "models", "instructions": "none",
                        "temperature": 0, "version": "2.0.0-rc.1", "harnesses": ["walker"],
                        "attempts": 3, "max_retries": 2,
                        "max_tokens": 512, "tools": "Shell.", "description": "d",
                    },
                    {
                        "id": "caps", "name": "Caps", "kind": "agents", "max_turns": 8, "max_seconds": 60,
                        "max_cost_usd": 2, "harnesses": ["b", "a"],
                    },
                ],
            ]
        ),
        "scoring": st.fixed_dictionaries(
            {},
            optional={
                "metric": st.sampled_from(["Score", "Rate"]),
                "description": words,
                "score_range": st.sampled_from([[0, 1], [0, 10], [-1.5, 1]]),
                "success_threshold": st.none() | numbers,
                "task_weights": st.dictionaries(st.sampled_from(TASK_NAMES), st.sampled_from([1, 2.5])),
                "coverage_required": st.sampled_from([0.5, 1]),
                "agent_failure": st.sampled_from(["zero", "exclude"]),
                "harness_timeout": st.sampled_from(["infrastructure_error", "agent_failure"]),
                "min_tasks_for_interval": st.sampled_from([5, 2]),
            },
        ),
    },
)  # fmt: skip


@given(benchmarks)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_benchmark_hash_and_rules_are_the_clients(fields: dict[str, Any]) -> None:
    benchmark = Benchmark.model_validate(
        {"name": "B", "version": "1.0.0", "tasks": BENCHMARK_TASKS, **fields}
    )
    definition = benchmark_definition(
        recorded(benchmark._definition()), [task.content_hash for task in BENCHMARK_TASKS]
    )
    assert_sound(definition, benchmark.content_hash)
    assert definition.forked_from == benchmark.forked_from
    rules = rules_from_content(definition.content)
    assert [track.reference for track in rules.tracks] == [track.reference for track in benchmark.tracks]
    assert rules.scoring.success_threshold == benchmark.scoring.success_threshold
    assert rules.scoring.harness_timeout == benchmark.scoring.harness_timeout
    assert rules.purpose == benchmark.purpose
