"""From a Job's config.json to resources with the hashes that the Job itself recorded."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.definitions import (
    BenchmarkRules,
    agent_definition,
    benchmark_definition,
    environment_definition,
    harness_definition,
    rules_from_content,
    task_definition,
    verifier_definition,
)
from benchmarks.domain.fields import RulesError
from benchmarks.domain.identity import revision_hash
from benchmarks.domain.types import Category, Definition, DomainError, Scoring, Track

ROOT = Path(__file__).parents[2]
ARCHIVES = [
    ROOT / "jobs" / "demo" / "support-triage.tar.gz",
    ROOT.parent / "shared" / "data" / "plural" / "support-triage-jobs.tar.gz",
]
HASH = f"sha256:{'a' * 64}"
RUNTIME = {"allowed_hosts": [], "build_timeout_seconds": 600.0, "compute": {}, "ref": None, "packages": {}}
ENVIRONMENT: dict[str, Any] = {
    "name": "desk", "version": "1.0.0", "description": "", "apps": [], "runtime": RUNTIME,
    "source": {"kind": "local", "uri": "/srv/evals/desk", "digest": HASH},
}  # fmt: skip
AGENT: dict[str, Any] = {
    "name": "steady", "revision": "1.0.0", "model": "m/one", "harness": None, "harness_package": None,
    "harness_config": {}, "auth": "none", "secrets": [], "credentials": {}, "external": None,
}  # fmt: skip
HARNESS: dict[str, Any] = {
    "definition": {"name": "walker", "revision": "0.3.0", "command": ["walk"], "capabilities": ["b", "a"]},
    "source": {"kind": "local", "uri": "/srv/evals/walker", "digest": HASH, "trusted": True},
}


@cache
def archived_jobs() -> dict[str, dict[str, Any]]:
    """File name to content, by Job, of the JSON files that name resources."""
    archive = next((path for path in ARCHIVES if path.exists()), None)
    if archive is None:
        pytest.skip("the sample archive of recorded Jobs is not here")
    jobs: dict[str, dict[str, Any]] = {}
    with tarfile.open(archive) as members:
        for member in members:
            path = Path(member.name)
            if path.parent.name.startswith("job_") and path.name in {"config.json", "lock.json", "run.json"}:
                file = members.extractfile(member)
                assert file
                jobs.setdefault(path.parent.name, {})[path.name] = json.load(file)
    assert jobs
    return jobs


def archived_tasks(config: dict[str, Any]) -> list[dict[str, Any]]:
    source = config["source"]
    return source["benchmark"]["tasks"] if source["kind"] == "benchmark" else [source["task"]]


def task_definitions(task: dict[str, Any]) -> Iterator[Definition]:
    """The Environment, the Verifiers and the Task itself, in that order."""
    environment = environment_definition(task["environment"])
    verifiers = [verifier_definition(binding["verifier"]) for binding in task["verifiers"]]
    yield environment
    yield from verifiers
    yield task_definition(task, environment.content_hash, [v.content_hash for v in verifiers])


def definitions(config: dict[str, Any]) -> list[Definition]:
    found = [d for task in archived_tasks(config) for d in task_definitions(task)]
    if config["source"]["kind"] == "benchmark":
        hashes = [d.content_hash for d in found if d.kind == "task"]
        found.append(benchmark_definition(config["source"]["benchmark"], hashes))
    for binding in config["agents"]:
        if binding["agent"]["harness_package"]:
            found.append(harness_definition(binding["agent"]["harness_package"]))
        found.append(agent_definition(binding["agent"]))
    return found


def hashes_of(kind: str, found: list[Definition]) -> list[str]:
    return [definition.content_hash for definition in found if definition.kind == kind]


def test_archived_hashes_are_those_of_the_lock() -> None:
    for job, files in archived_jobs().items():
        lock, found = files["lock.json"], definitions(files["config.json"])
        assert hashes_of("environment", found) == lock["environment_digests"], job
        assert hashes_of("verifier", found) == lock["verifier_digests"], job
        assert hashes_of("task", found) == lock["task_digests"], job
        assert hashes_of("task", found) == [pin["content_hash"] for pin in lock["task_pins"]], job
        expected = [lock["benchmark"]["content_hash"]] if lock["benchmark"] else []
        assert hashes_of("benchmark", found) == expected, job


def test_archived_hashes_are_those_of_the_configuration() -> None:
    for files in archived_jobs().values():
        config = files["config.json"]
        found = definitions(config)
        assert hashes_of("task", found) == [task["source_hash"] for task in archived_tasks(config)]
        if config["source"]["kind"] == "benchmark":
            assert hashes_of("benchmark", found) == [config["source"]["benchmark"]["source_hash"]]


def test_archived_inputs_are_all_known() -> None:
    jobs = archived_jobs()
    known = {d.content_hash for files in jobs.values() for d in definitions(files["config.json"])}
    checked = set()
    for files in jobs.values():
        own = {d.content_hash for d in definitions(files["config.json"])}
        for name, given_ in files.get("run.json", {}).get("inputs", {}).items():
            kind = name.partition("/")[0]
            # A rerun of one Trial lists the inputs of its whole Benchmark, and plans one Task of it.
            rerun = files["run.json"]["rerun_of_trial_id"]
            assert given_["content_hash"] in (known if rerun else own), name
            checked.add(kind)
    assert checked == {"agent", "benchmark", "environment", "harness", "task", "verifier"}


def test_archived_contents_hash_to_themselves_and_hold_no_place() -> None:
    for files in archived_jobs().values():
        for definition in definitions(files["config.json"]):
            assert revision_hash(definition.kind, definition.content) == definition.content_hash
            text = json.dumps(definition.content)
            assert '"uri": "/' not in text
            assert ".plural/packages" not in text


def test_archived_rules_come_back_to_the_same_content() -> None:
    seen = 0
    for files in archived_jobs().values():
        for definition in definitions(files["config.json"]):
            if definition.kind == "benchmark":
                rules = rules_from_content(definition.content)
                again = benchmark_definition(asdict(rules), definition.content["tasks"])
                assert again.content == definition.content
                seen += 1
    assert seen


def test_labels_and_dependencies_stand_beside_the_content() -> None:
    environment = environment_definition(ENVIRONMENT)
    assert (environment.kind, environment.name, environment.version) == ("environment", "desk", "1.0.0")
    assert environment.content["source_digest"] == HASH
    assert not {"name", "version", "source"} & environment.content.keys()
    renamed = environment_definition({**ENVIRONMENT, "name": "other", "version": "2.0.0"})
    assert renamed.content_hash == environment.content_hash
    benchmark = benchmark_definition(
        {**asdict(BenchmarkRules()), "name": "B", "revision": "1.0.0", "forked_from": "x"}, [HASH]
    )
    assert (benchmark.name, benchmark.version, benchmark.forked_from) == ("B", "1.0.0", "x")
    assert benchmark.dependencies == (HASH,)
    assert benchmark.content == {
        "tasks": [HASH],
        "primary_metric": "score",
        "description": "",
        "metadata": {},
    }


def test_what_is_empty_leaves_an_environment_unchanged() -> None:
    app = {"name": "a", "credentials": []}
    plain = environment_definition({**ENVIRONMENT, "apps": [{"name": "a"}]})
    packages = {**RUNTIME, "packages": {"python": []}}
    empty = environment_definition({**ENVIRONMENT, "apps": [app], "runtime": packages, "party": None})
    assert empty.content_hash == plain.content_hash
    for other in (
        {"apps": [{**app, "credentials": [{"name": "K"}]}]},
        {"runtime": {**RUNTIME, "packages": {"python": ["duckdb"]}}},
        {"runtime": {**RUNTIME, "ref": "shared"}},
        {"party": {"min": 2}},
        {"source": None},
    ):
        changed = environment_definition({**ENVIRONMENT, "apps": [app], **other})
        assert changed.content_hash != plain.content_hash


def test_where_files_lie_is_not_kept() -> None:
    harness = harness_definition(HARNESS)
    moved = harness_definition({**HARNESS, "source": {**HARNESS["source"], "uri": "/elsewhere"}})
    assert harness == moved
    assert harness.content["source_digest"] == HASH
    unsigned = {**HARNESS, "source": {**HARNESS["source"], "digest": None}}
    assert "/srv" not in str(harness_definition(unsigned).content)
    assert harness_definition(unsigned).content_hash == revision_hash(
        "harness", {**HARNESS["definition"], "source": unsigned["source"]}
    )


def test_an_agent_depends_on_the_harness_it_brings() -> None:
    bare = agent_definition(AGENT)
    assert (bare.content["harness"], bare.dependencies) == (None, ())
    binding = {"name": "walker", "revision": "0.3.0", "digest": HASH}
    bound = agent_definition({**AGENT, "harness": binding})
    assert (bound.content["harness"], bound.dependencies) == (HASH, ())
    packed = agent_definition({**AGENT, "harness": binding, "harness_package": HARNESS})
    harness = harness_definition(HARNESS).content_hash
    assert (packed.content["harness"], packed.dependencies) == (harness, (harness,))


def test_an_external_agent_keeps_no_key_and_no_certificate() -> None:
    external = {"url": "https://a.example", "version": "1", "signing_key": "KEY", "ca_bundle": "/srv/ca.pem"}
    agent = agent_definition({**AGENT, "external": external})
    assert agent.content["external"] == {"url": "https://a.example", "version": "1"}
    assert "credentials" not in agent.content
    assert agent_definition({**AGENT, "credentials": {"K": {}}}).content["credentials"] == {"K": {}}


def test_a_task_holds_its_answer_and_its_seats_where_it_has_some() -> None:
    task: dict[str, Any] = {
        "task_id": "t", "revision": "1.0.0", "instructions": "Do.", "goals": [], "info": None,
        "metadata": {}, "resources": [], "state": {"a": 1},
    }  # fmt: skip
    plain = task_definition(task, HASH, [HASH])
    assert plain.dependencies == (HASH, HASH)
    assert plain.content["initial_state"] == {"a": 1}
    assert task_definition({**task, "expected": None, "seat_instructions": {}}, HASH, [HASH]) == plain
    answered = task_definition({**task, "expected": 0, "seat_instructions": {"seat_1": "x"}}, HASH, [HASH])
    assert (answered.content["expected"], answered.content["seat_instructions"]) == (0, {"seat_1": "x"})


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: environment_definition({**ENVIRONMENT, "runtime": None}), "environment.runtime"),
        (lambda: environment_definition({**ENVIRONMENT, "apps": {}}), "environment.apps"),
        (lambda: environment_definition({**ENVIRONMENT, "apps": ["x"]}), "environment.apps.0"),
        (lambda: environment_definition({**ENVIRONMENT, "source": "/x"}), "environment.source"),
        (lambda: environment_definition({}), "environment.apps"),
        (lambda: verifier_definition({"runtime": "docker"}), "verifier.runtime"),
        (lambda: harness_definition({"definition": {}}), "harness_package.source"),
        (lambda: agent_definition({**AGENT, "external": "x"}), "agent.external"),
        (lambda: agent_definition({**AGENT, "harness": "x"}), "agent.harness"),
        (lambda: task_definition({"instructions": "x"}, HASH, []), "task.goals"),
        (lambda: benchmark_definition({}, []), "benchmark.primary_metric"),
    ],
)
def test_a_missing_or_wrong_part_is_named(make: Any, field: str) -> None:
    with pytest.raises(DomainError) as refused:
        make()
    assert str(refused.value).startswith(field)


def test_rules_restore_what_the_content_leaves_out() -> None:
    assert rules_from_content({"tasks": [HASH]}) == BenchmarkRules()
    content = benchmark_definition(
        asdict(BenchmarkRules(scoring=Scoring(harness_timeout="agent_failure"))), [HASH]
    ).content
    assert content["scoring"]["harness_timeout"] == "agent_failure"
    content = benchmark_definition(asdict(BenchmarkRules(scoring=Scoring(metric="M"))), [HASH]).content
    assert "harness_timeout" not in content["scoring"]
    content = benchmark_definition(
        asdict(BenchmarkRules(scoring=Scoring(success_threshold=None))), []
    ).content
    assert content["scoring"]["success_threshold"] is None


def test_rules_report_every_problem() -> None:
    with pytest.raises(RulesError) as refused:
        rules_from_content(
            {
                "tasks": [HASH], "scoring": {"score_range": [1, 0]}, "default_view": "all", "purpose": 3,
                "tracks": [{"id": "a", "name": "A", "kind": "agents", "version": "1"}], "metadata": [],
                "categories": [{"id": "a"}], "limitations": [None], "primary_metric": "cost", "levels": 1,
            }
        )  # fmt: skip
    assert sorted(problem.field for problem in refused.value.problems) == [
        "categories.0.name", "categories.0.tasks", "default_view", "levels", "limitations.0", "metadata",
        "primary_metric", "purpose", "scoring.score_range", "tracks.0.version",
    ]  # fmt: skip


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=5)
positive = st.none() | st.floats(0.01, 1e6)
tracks = st.builds(
    Track,
    id=st.from_regex(r"[a-z0-9][a-z0-9._-]{0,9}", fullmatch=True),
    name=words,
    kind=st.just("agents"),
    attempts=st.integers(1, 32),
    harnesses=st.lists(words, max_size=2).map(tuple),
    instructions=st.sampled_from(["none", "any"]),
    temperature=st.none() | st.floats(0, 2),
    max_tokens=st.none() | st.integers(1, 9999),
    max_seconds=positive,
    max_cost_usd=positive,
)
rule_sets = st.builds(
    BenchmarkRules,
    scoring=st.builds(
        Scoring,
        metric=words,
        success_threshold=st.none() | st.floats(0, 1),
        task_weights=st.dictionaries(words, st.floats(0.1, 9)),
        harness_timeout=st.sampled_from(["infrastructure_error", "agent_failure"]),
        agent_failure=st.sampled_from(["zero", "exclude"]),
    )
    | st.just(Scoring()),
    categories=st.lists(
        st.builds(Category, st.just("c"), words, words, st.lists(words, min_size=1).map(tuple)), max_size=2
    ).map(tuple),
    tracks=st.lists(tracks, max_size=2).map(tuple),
    default_view=st.sampled_from(["models", "agents"]),
    purpose=words | st.just(""),
    limitations=st.lists(words, max_size=2).map(tuple),
    license=words | st.just(""),
    metadata=st.dictionaries(words, st.integers() | words),
)


@given(rule_sets)
def test_rules_survive_their_content(rules: BenchmarkRules) -> None:
    content = benchmark_definition(asdict(rules), [HASH]).content
    assert rules_from_content(content) == rules
    assert rules_from_content(json.loads(json.dumps(content))) == rules
