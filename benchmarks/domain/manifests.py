"""What the manifests of a project's folders declare, with every default of the published client in place.

Each `parse_*` takes the value of one YAML file and returns what it declares together with every problem in
it. With problems, the result still has the right types, so that other files can be checked against it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.domain.definitions import BenchmarkRules
from benchmarks.domain.fields import FieldProblem, FieldReader, RulesError
from benchmarks.domain.manifest_fields import (
    Parsed,
    as_is,
    finished,
    problems_of,
    read_code,
    read_positive,
    read_title,
    read_unique,
    read_version,
)
from benchmarks.domain.tracks import TRACK_KINDS, parse_category, parse_scoring, parse_track
from benchmarks.domain.types import JsonObject, Scoring

MAX_TURNS = 1000
CAPABILITIES = (
    *("shell", "file_read", "file_edit", "code_execution", "web_search", "browser"),
    *("network_fetch", "mcp", "subagents", "persistence"),
)
APP_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
RUNTIME_SETTINGS = frozenset(
    {
        *("provider", "ref", "placement", "variables", "image", "snapshot", "declarative_image"),
        *("build_context", "dockerfile", "network", "allowed_hosts", "network_allowlist", "compute"),
        *("resources", "packages", "python_packages", "read_only_root", "targets", "persistent", "compose"),
        *("extra_capabilities", "timeout_seconds", "build_timeout_seconds", "build_timeout_sec"),
        *("allow_unsafe_local", "cpus", "memory_mb", "storage_mb"),
    }
)
"""Settings of the providers that run on the machine itself; others have their own besides."""
APP_KINDS = ("python", "mcp", "openapi", "replay")


@dataclass(frozen=True, slots=True)
class BenchmarkManifest:
    name: str
    title: str
    version: str
    tasks: tuple[str, ...]
    rules: BenchmarkRules
    forked_from: str | None

    def declared(self) -> dict[str, Any]:
        """The mapping that `benchmark_definition` takes."""
        return {
            **asdict(self.rules),
            "name": self.title,
            "revision": self.version,
            "forked_from": self.forked_from,
        }


@dataclass(frozen=True, slots=True)
class TaskManifest:
    """`instructions` and `resources` are paths inside the Task's folder."""

    name: str
    title: str
    version: str
    instructions: str
    environment: str
    verifiers: tuple[str, ...]
    resources: tuple[str, ...]
    goals: tuple[str, ...]
    info: Any
    metadata: JsonObject
    initial_state: JsonObject
    expected: Any
    seat_instructions: JsonObject


@dataclass(frozen=True, slots=True)
class Limits:
    """What one attempt may use: turns, seconds, USD (None: any)."""

    max_turns: int = 8
    max_seconds: float = 120.0
    max_cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class AppManifest:
    name: str | None
    kind: str
    python: str | None
    config: JsonObject


@dataclass(frozen=True, slots=True)
class EnvironmentManifest:
    name: str
    version: str
    description: str
    overview: str
    python: str | None
    apps: tuple[AppManifest, ...]
    readme: str | None
    resources: tuple[JsonObject, ...]
    runtime: JsonObject
    harness_policy: JsonObject
    limits: Limits
    party: Any
    guardrails: tuple[JsonObject, ...]
    metadata: JsonObject

    def app_names(self) -> tuple[str, ...] | None:
        """The names of its Apps, None where only their code tells."""
        names = tuple(app.name for app in self.apps if app.name)
        return names if self.python is None and len(names) == len(self.apps) else None


def parse_benchmark(value: object) -> Parsed[BenchmarkManifest]:
    fields = FieldReader(value)
    name = fields.text("name", filled=True)
    rules = BenchmarkRules(
        scoring=fields.one("scoring", parse_scoring, Scoring()),
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
    manifest = BenchmarkManifest(
        name=name,
        title=read_title(fields) or name,
        version=read_version(fields),
        tasks=read_unique(fields, "tasks", some=True),
        rules=rules,
        forked_from=fields.optional_text("forked_from"),
    )
    return manifest, problems_of(fields)


def parse_task(value: object) -> Parsed[TaskManifest]:
    fields = FieldReader(value)
    name = fields.text("name", filled=True)
    if fields.one("reset_options", as_is, None):
        fields.problem("reset_options", "isn't taken any more: put the values in initial_state or info")
    resources = fields.texts("resources") if fields.has("resources") else ("resources",)
    manifest = TaskManifest(
        name=name,
        title=read_title(fields) or name,
        version=read_version(fields),
        instructions=fields.text("instructions", "instruction.md", filled=True),
        environment=fields.text("environment", filled=True),
        verifiers=read_unique(fields, "verifiers", some=True),
        resources=resources,
        goals=fields.texts("goals"),
        info=fields.one("info", as_is, None),
        metadata=fields.mapping("metadata"),
        initial_state=fields.mapping("initial_state"),
        expected=fields.one("expected", as_is, None),
        seat_instructions=fields.mapping("seat_instructions"),
    )
    return manifest, problems_of(fields)


def parse_environment(value: object) -> Parsed[EnvironmentManifest]:
    fields = FieldReader(value)
    apps = fields.each("apps", _app)
    names = [app.name for app in apps if app.name]
    for name in sorted({name for name in names if names.count(name) > 1}):
        fields.problem("apps", f"two Apps have the name {name!r}: give each its own")
    manifest = EnvironmentManifest(
        name=fields.text("name", filled=True),
        version=read_version(fields),
        description=fields.text("description", ""),
        overview=fields.text("overview", ""),
        python=read_code(fields, "python"),
        apps=apps,
        readme=fields.optional_text("readme") if fields.has("readme") else "README.md",
        resources=fields.each("resources", _resource),
        runtime=fields.one("runtime", _runtime, {"provider": "docker"}),
        harness_policy=fields.one("harness_policy", _harness_policy, _harness_policy({}, "")),
        limits=fields.one("limits", _limits, Limits()),
        party=fields.one("party", as_is, None),
        guardrails=fields.each("guardrails", _guardrail),
        metadata=fields.mapping("metadata"),
    )
    return manifest, problems_of(fields)


def _app(value: object, at: str) -> AppManifest:
    fields = FieldReader(value, at)
    settings = {kind: fields.one(kind, as_is, None) for kind in APP_KINDS[1:]}
    python = read_code(fields, "python")
    given = [kind for kind, item in {"python": python, **settings}.items() if item]
    config = fields.mapping("config")
    name = fields.optional_text("name")
    if len(given) != 1 and not fields.problems:
        fields.problem(
            "", f"needs exactly one of {', '.join(APP_KINDS)}; it has {' and '.join(given) or 'none'}"
        )
    elif not python and not name:
        fields.problem("name", f"is missing: an App of kind {given[0] if given else 'python'} needs one")
    elif config and not python:
        fields.problem("config", "belongs to a python App: put the settings under the App's kind")
    if name and not APP_NAME.fullmatch(name):
        fields.problem("name", f"must be a to z, then up to 39 of a-z, 0-9 and '_', not {name!r}")
    for kind, item in settings.items():
        if item is not None and not isinstance(item, Mapping):
            fields.problem(kind, "must be a mapping")
    return finished(fields, AppManifest(name, given[0] if given else "python", python, config))


def _resource(value: object, at: str) -> JsonObject:
    if isinstance(value, str):
        value = {"kind": "file", "name": value, "path": value, "delivery": "source"}
    fields = FieldReader(value, at)
    deliveries = ("descriptor", "source", "inline", "resolver", "blob")
    resource = {
        "kind": fields.choice("kind", ("data", "application", "file")),
        "name": fields.text("name", filled=True),
        **{key: fields.optional_text(key) for key in ("path", "uri", "digest", "content", "resolver")},
        "content_type": fields.text("content_type", ""),
        "config": fields.mapping("config"),
        "description": fields.text("description", ""),
        "delivery": fields.choice("delivery", deliveries, "descriptor"),
    }
    if resource["delivery"] != "descriptor" and not resource["path"] and not fields.problems:
        fields.problem("path", "is missing")
    return finished(fields, resource)


def _runtime(value: object, at: str) -> JsonObject:
    ref_only = isinstance(value, Mapping) and "ref" in value and value.keys() <= {"ref", "variables"}
    if isinstance(value, str) or ref_only:
        problem = "names a Runtime of the project without its settings: run `plural runtime use`"
        raise RulesError([FieldProblem(at, problem)])
    if not isinstance(value, Mapping):
        raise RulesError([FieldProblem(at, "must be a mapping of settings")])
    runtime = {"provider": "docker", **value}
    unknown = sorted(runtime.keys() - RUNTIME_SETTINGS) if runtime["provider"] in ("docker", "local") else []
    if unknown:
        raise RulesError([FieldProblem(f"{at}.{key}", "is not a setting of this Runtime") for key in unknown])
    return runtime


def _harness_policy(value: object, at: str) -> JsonObject:
    fields = FieldReader(value, at)
    policy: dict[str, Any] = {
        "mode": fields.choice("mode", ("allow_all", "allowlist"), "allow_all"),
        "allowed_harnesses": list(fields.texts("allowed_harnesses")),
        "allowed_capabilities": None,
        "denied_capabilities": [],
    }
    for key in ("allowed_capabilities", "denied_capabilities"):
        if fields.one(key, as_is, None) is None and key == "allowed_capabilities":
            continue
        policy[key] = sorted(set(fields.texts(key)))
        for name in policy[key]:
            if name not in CAPABILITIES:
                fields.problem(key, f"holds {name!r}, which is none of {', '.join(CAPABILITIES)}")
    return finished(fields, policy)


def _limits(value: object, at: str) -> Limits:
    fields = FieldReader(value, at)
    defaults = Limits()
    limits = Limits(
        max_turns=fields.integer("max_turns", defaults.max_turns, low=1, high=MAX_TURNS),
        max_seconds=read_positive(fields, "max_seconds", defaults.max_seconds),
        max_cost_usd=fields.optional_number("max_cost_usd", above=0),
    )
    return finished(fields, limits)


def _guardrail(value: object, at: str) -> JsonObject:
    fields = FieldReader(value, at)
    return finished(fields, {"name": fields.text("name", ""), "rule": fields.text("rule", filled=True)})
