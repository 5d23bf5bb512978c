"""From the shapes that a Job's config.json holds to resources as they are hashed.

Each function takes one mapping, complete as the client writes it (every field present, nulls too), and
raises DomainError where a part that identity needs is missing or of the wrong kind. What is left out of
a content here (names, versions, where files lie) is left out of its hash by the client as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from benchmarks.domain.fields import FieldReader
from benchmarks.domain.identity import hashed_content, revision_hash
from benchmarks.domain.tracks import TRACK_KINDS, parse_category, parse_scoring, parse_track
from benchmarks.domain.types import (
    Category,
    Definition,
    DomainError,
    JsonObject,
    ResourceKind,
    Scoring,
    Track,
    TrackKind,
)

RUNTIME_NAMES = {
    "allowed_hosts": "network_allowlist",
    "build_timeout_seconds": "build_timeout_sec",
    "compute": "resources",
}
AGENT_NAMES = {"harness_config": "harness_kwargs", "auth": "auth_mode", "secrets": "secret_names"}
"""Fields that are hashed under the name they once had."""
EXTERNAL_KEYS = ("url", "version")
TASK_KEYS = ("instructions", "goals", "info", "metadata", "resources")
BENCHMARK_KEYS = ("primary_metric", "description", "metadata")
LATER_SCORING = {"harness_timeout": "infrastructure_error"}
"""Rules younger than content hashes: at these values they are left out of the content."""


@dataclass(frozen=True, slots=True)
class BenchmarkRules:
    """What a Benchmark declares besides its Tasks, with every default in place."""

    scoring: Scoring = field(default_factory=Scoring)
    categories: tuple[Category, ...] = ()
    tracks: tuple[Track, ...] = ()
    default_view: TrackKind = "agents"
    purpose: str = ""
    success: str = ""
    limitations: tuple[str, ...] = ()
    license: str = ""
    description: str = ""
    primary_metric: str = "score"
    metadata: JsonObject = field(default_factory=dict)

    @property
    def default_track(self) -> Track | None:
        """The first track of the default view, else the first."""
        of_view = [track for track in self.tracks if track.kind == self.default_view]
        return next(iter([*of_view, *self.tracks]), None)


def environment_definition(environment: JsonObject) -> Definition:
    """`task.environment` of a config.json."""
    content = _without(environment, "source")
    source = environment.get("source")
    content["source_digest"] = (
        None if source is None else _mapping(source, "environment.source").get("digest")
    )
    content["apps"] = [
        _without(app, *(() if app.get("credentials") else ("credentials",)))
        for app in _mappings(environment, "apps", "environment")
    ]
    content["runtime"] = _environment_runtime(_part(environment, "runtime", "environment"))
    if content.get("party") is None:
        content.pop("party", None)
    return _definition(
        "environment", content, name=environment.get("name"), version=environment.get("version")
    )


def verifier_definition(verifier: JsonObject) -> Definition:
    """`task.verifiers[i].verifier` of a config.json."""
    absent = [key for key in ("reward", "hindsight") if verifier.get(key) is None]
    content = _without(verifier, *absent)
    if content.get("runtime") is not None:
        content["runtime"] = _renamed(_part(verifier, "runtime", "verifier"), RUNTIME_NAMES)
    return _definition("verifier", content, name=verifier.get("name"), version=verifier.get("version"))


def harness_definition(package: JsonObject) -> Definition:
    """`agent.harness_package` of a config.json: a definition and where its files are.

    Files without a digest are identified by their place. That place is hashed, as the client does, but
    not kept in the content, since it may be a path of somebody's machine.
    """
    definition = _part(package, "definition", "harness_package")
    source = _part(package, "source", "harness_package")
    if source.get("digest") is None:
        hashed = {**definition, "source": source}
        kept = {**definition, "source": _without(source, "uri")}
    else:
        hashed = kept = {**definition, "source_digest": source["digest"]}
    return Definition(
        kind="harness",
        name=_label(definition.get("name")),
        version=_label(definition.get("revision")),
        content=hashed_content(kept),
        content_hash=revision_hash("harness", hashed),
    )


def agent_definition(agent: JsonObject) -> Definition:
    """`agents[i].agent` of a config.json. It depends on its Harness where the Job holds the package."""
    content = _renamed(_without(agent, "harness", "harness_package"), AGENT_NAMES)
    if not content.get("credentials"):
        content.pop("credentials", None)
    external = content.pop("external", None)
    if external is not None:
        external = _mapping(external, "agent.external")
        content["external"] = {key: external.get(key) for key in EXTERNAL_KEYS}
    dependencies: tuple[str, ...] = ()
    content["harness"] = None
    if agent.get("harness_package") is not None:
        content["harness"] = harness_definition(_part(agent, "harness_package", "agent")).content_hash
        dependencies = (content["harness"],)
    elif agent.get("harness") is not None:
        content["harness"] = _part(agent, "harness", "agent").get("digest")
    return _definition(
        "agent",
        content,
        name=agent.get("name"),
        version=agent.get("revision"),
        dependencies=dependencies,
    )


def task_definition(task: JsonObject, environment_hash: str, verifier_hashes: Sequence[str]) -> Definition:
    """A task of a config.json, with the content hashes of its Environment and, in order, its Verifiers."""
    content: dict[str, Any] = {key: _present(task, key, "task") for key in TASK_KEYS}
    content |= {
        "environment": environment_hash,
        "verifiers": list(verifier_hashes),
        "initial_state": _present(task, "state", "task"),
        "reset_options": {},
    }
    if task.get("seat_instructions"):
        content["seat_instructions"] = task["seat_instructions"]
    if task.get("expected") is not None:
        content["expected"] = task["expected"]
    return _definition(
        "task",
        content,
        name=task.get("task_id"),
        version=task.get("revision"),
        dependencies=(environment_hash, *verifier_hashes),
    )


def benchmark_definition(benchmark: JsonObject, task_hashes: Sequence[str]) -> Definition:
    """`source.benchmark` of a config.json, with the content hashes of its Tasks in order."""
    declared = _declared(benchmark)
    defaults = _declared(asdict(BenchmarkRules()))
    content: dict[str, Any] = {key: _present(declared, key, "benchmark") for key in BENCHMARK_KEYS}
    content |= {
        key: declared[key]
        for key, default in defaults.items()
        if key not in BENCHMARK_KEYS and declared.get(key, default) != default
    }
    content["tasks"] = list(task_hashes)
    forked_from = benchmark.get("forked_from")
    return replace(
        _definition(
            "benchmark",
            content,
            name=benchmark.get("name"),
            version=benchmark.get("revision"),
            dependencies=tuple(task_hashes),
        ),
        forked_from=forked_from if isinstance(forked_from, str) else None,
    )


def task_with_parts(content: JsonObject, environment_hash: str, verifier_hashes: Sequence[str]) -> Definition:
    """A Task of this hashed content, but with another Environment and other Verifiers. It has no labels."""
    changed = {**content, "environment": environment_hash, "verifiers": list(verifier_hashes)}
    dependencies = (environment_hash, *verifier_hashes)
    return _definition("task", changed, name="", version="", dependencies=dependencies)


def benchmark_with_tasks(content: JsonObject, task_hashes: Sequence[str]) -> Definition:
    """A Benchmark of this hashed content, but with these Tasks in order. It has no labels."""
    changed = {**content, "tasks": list(task_hashes)}
    return _definition("benchmark", changed, name="", version="", dependencies=tuple(task_hashes))


def rules_from_content(content: JsonObject) -> BenchmarkRules:
    """The rules in a Benchmark's hashed content, which leaves out what is at its default.

    Raises RulesError with every problem of what is declared.
    """
    fields = FieldReader({key: value for key, value in content.items() if key != "tasks"})
    rules = BenchmarkRules(
        scoring=fields.one("scoring", partial(parse_scoring, absent_threshold="none"), Scoring()),
        categories=fields.each("categories", parse_category),
        tracks=fields.each("tracks", parse_track),
        default_view=fields.choice("default_view", TRACK_KINDS, "agents"),
        purpose=fields.text("purpose", ""),
        success=fields.text("success", ""),
        limitations=fields.texts("limitations"),
        license=fields.text("license", ""),
        description=fields.text("description", ""),
        primary_metric=fields.choice("primary_metric", ("score",), "score"),
        metadata=fields.mapping("metadata"),
    )
    fields.finish()
    return rules


def _declared(rules: JsonObject) -> dict[str, Any]:
    """Rules in the form in which they are compared and hashed."""
    declared = hashed_content(rules)
    scoring = declared.get("scoring")
    if isinstance(scoring, dict):
        declared["scoring"] = {
            key: value for key, value in scoring.items() if (key, value) not in LATER_SCORING.items()
        }
    return declared


def _environment_runtime(runtime: JsonObject) -> dict[str, Any]:
    content = _renamed(runtime, RUNTIME_NAMES)
    if content.get("ref") is None:
        content.pop("ref", None)
    packages = content.get("packages")
    if packages is None or not any(_mapping(packages, "environment.runtime.packages").values()):
        content.pop("packages", None)
    return content


def _definition(
    kind: ResourceKind,
    content: JsonObject,
    *,
    name: object,
    version: object,
    dependencies: tuple[str, ...] = (),
) -> Definition:
    return Definition(
        kind=kind,
        name=_label(name),
        version=_label(version),
        content=hashed_content(content),
        content_hash=revision_hash(kind, content),
        dependencies=dependencies,
    )


def _label(value: object) -> str:
    return value if isinstance(value, str) else ""


def _without(value: JsonObject, *keys: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in keys}


def _renamed(value: JsonObject, names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(key, key): item for key, item in value.items()}


def _present(value: JsonObject, key: str, where: str) -> Any:
    if key not in value:
        raise DomainError(f"{where}.{key} is missing, so its content hash can't be computed.")
    return value[key]


def _part(value: JsonObject, key: str, where: str) -> JsonObject:
    return _mapping(_present(value, key, where), f"{where}.{key}")


def _mapping(value: object, where: str) -> JsonObject:
    if not isinstance(value, Mapping):
        raise DomainError(f"{where} must be an object.")
    return value


def _mappings(value: JsonObject, key: str, where: str) -> list[JsonObject]:
    items = _present(value, key, where)
    if not isinstance(items, list):
        raise DomainError(f"{where}.{key} must be a list.")
    return [_mapping(item, f"{where}.{key}.{position}") for position, item in enumerate(items)]
