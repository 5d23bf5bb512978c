"""What a Job ran, from config.json, with every hash recomputed and held against the pinned ones."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from benchmarks.domain import definitions
from benchmarks.domain.fields import RulesError
from benchmarks.domain.identity import plain_hash
from benchmarks.domain.types import Definition, DomainError
from jobs.domain.parsed import ImportProblemError, Note, ParsedAgent, ParsedTask
from jobs.domain.readers import strict_json
from jobs.domain.readers.config_file import Repeated
from jobs.domain.readers.strict_json import Fields

_REMEMBERED_LENGTH = 32 * 1024
Slugs: TypeAlias = dict[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class _Task:
    name: str
    definition: Definition
    environment: Definition
    verifiers: tuple[Definition, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """What config.json says is run, consistent in itself."""

    benchmark: Definition | None
    tasks: tuple[_Task, ...]


def same_length(fields: Fields, key: str, wanted: int, what: str) -> None:
    found = len(fields.array(key))
    if found != wanted:
        raise fields.problem(key, f"has {found} entries for {wanted} {what}")


class Inputs:
    """Collects the definitions of one Job, dependencies first, each hash once."""

    def __init__(self, lock: Fields, slugs: Slugs) -> None:
        self.lock = lock
        self.definitions: dict[str, Definition] = {}
        self._slugs = slugs

    def source(
        self, source: Fields, repeated: Repeated | None
    ) -> tuple[Definition | None, tuple[ParsedTask, ...]]:
        """The Benchmark (None for a Job on a single Task) and the planned Tasks."""
        found = _source(source, repeated)
        tasks = self._tasks(found.tasks)
        if found.benchmark is None:
            _check(self.lock, "source_digest", tasks[0].content_hash)
            return None, tasks
        benchmark = self._labelled(found.benchmark)
        for fields, key in ((self.lock.object("benchmark"), "content_hash"), (self.lock, "source_digest")):
            _check(fields, key, benchmark.content_hash)
        return benchmark, tasks

    def agents(self, config: Fields) -> tuple[ParsedAgent, ...]:
        bindings = config.objects("agents")
        if not bindings:
            raise config.problem("agents", "is empty")
        same_length(self.lock, "agent_digests", len(bindings), "agents")
        digests = self.lock.texts("agent_digests")
        return tuple(
            self._agent(position, binding.object("agent"), digests[position])
            for position, binding in enumerate(bindings)
        )

    def check_agent_digests(self, config: Fields, notes: list[Note]) -> None:
        for position, (binding, claimed) in enumerate(
            zip(config.array("agents"), self.lock.array("agent_digests"), strict=True)
        ):
            found = plain_hash(binding)
            if found != claimed:
                message = f"is {strict_json.shown(claimed)}, but config.json gives {found}"
                notes.append(Note(self.lock.file, f"agent_digests[{position}]", message))

    def _agent(self, position: int, agent: Fields, digest: str) -> ParsedAgent:
        harness = agent.optional_object("harness")
        package = agent.optional_object("harness_package")
        if package is not None:
            self._add(_definition(package, "harness"))
        definition = self._add(_definition(agent, "agent"))
        return ParsedAgent(
            position=position,
            name=agent.text("name"),
            version=agent.optional_text("revision"),
            digest=digest,
            definition=definition,
            model=agent.optional_text("model"),
            harness=harness.text("name") if harness else None,
            harness_version=harness.optional_text("revision") if harness else None,
        )

    def _tasks(self, declared: Sequence[_Task]) -> tuple[ParsedTask, ...]:
        for key in ("task_pins", "task_digests", "environment_digests"):
            same_length(self.lock, key, len(declared), "Tasks")
        tasks = []
        for position, (task, pin) in enumerate(zip(declared, self.lock.objects("task_pins"), strict=True)):
            for definition in (task.environment, *task.verifiers, task.definition):
                self._add(definition)
            _check(pin, "content_hash", task.definition.content_hash)
            if pin.text("name") != task.name:
                raise pin.problem("name", f"must be {strict_json.shown(task.name)!r}, as in config.json")
            version = pin.optional_text("version")
            tasks.append(ParsedTask(position, task.name, version, task.definition.content_hash))
        self._check_list("environment_digests", [task.environment.content_hash for task in declared])
        self._check_list("task_digests", [task.content_hash for task in tasks])
        verifiers = [verifier.content_hash for task in declared for verifier in task.verifiers]
        self._check_list("verifier_digests", verifiers)
        return tuple(tasks)

    def _add(self, definition: Definition) -> Definition:
        held = self.definitions.get(definition.content_hash)
        if held is None:
            held = self.definitions[definition.content_hash] = self._labelled(definition)
        return held

    def _labelled(self, definition: Definition) -> Definition:
        slug = self._slugs.get((definition.kind, definition.content_hash), "")
        return replace(definition, slug=slug) if slug else definition

    def _check_list(self, key: str, found: list[str]) -> None:
        claimed = self.lock.texts(key)
        same_length(self.lock, key, len(found), "entries in config.json")
        for position, (one, other) in enumerate(zip(claimed, found, strict=True)):
            if one != other:
                raise _mismatch(self.lock, f"{key}[{position}]", one, other)


def _check(fields: Fields, key: str, found: str) -> None:
    claimed = fields.text(key)
    if claimed != found:
        raise _mismatch(fields, key, claimed, found)


def _mismatch(fields: Fields, key: str, claimed: str, found: str) -> ImportProblemError:
    return fields.problem(key, f"is {strict_json.shown(claimed)[:80]}, but the definition gives {found}")


def _source(source: Fields, repeated: Repeated | None) -> _Source:
    if repeated is None:
        return _read_source(source)
    if not repeated.made:
        repeated.made.append(_read_source(source))
    found: _Source = repeated.made[0]
    return found


def _read_source(source: Fields) -> _Source:
    kind = source.text("kind")
    if kind == "task":
        return _Source(None, (_task(source.object("task")),))
    if kind != "benchmark":
        raise source.problem("kind", f"must be benchmark or task, not {strict_json.shown(kind)!r}")
    declared = source.object("benchmark")
    if not declared.array("tasks"):
        raise declared.problem("tasks", "is empty")
    tasks: dict[str, _Task] = {}
    for fields in declared.objects("tasks"):
        task = _task(fields)
        if task.name in tasks:
            raise fields.problem("task_id", f"is the name of two Tasks: {strict_json.shown(task.name)!r}")
        tasks[task.name] = task
    hashes = tuple(task.definition.content_hash for task in tasks.values())
    benchmark = _definition(_without(declared, "tasks"), "benchmark", hashes)
    _check(declared, "source_hash", benchmark.content_hash)
    return _Source(benchmark, tuple(tasks.values()))


def _task(task: Fields) -> _Task:
    environment = _definition(task.object("environment"), "environment")
    verifiers = tuple(
        _definition(binding.object("verifier"), "verifier") for binding in task.objects("verifiers")
    )
    dependencies = (environment.content_hash, *(verifier.content_hash for verifier in verifiers))
    definition = _definition(_without(task, "environment", "verifiers"), "task", dependencies)
    _check(task, "source_hash", definition.content_hash)
    return _Task(task.text("task_id"), definition, environment, verifiers)


def _without(fields: Fields, *keys: str) -> Fields:
    kept = {key: value for key, value in fields.data.items() if key not in keys}
    return Fields(kept, fields.file, fields.path)


def _definition(fields: Fields, kind: str, dependencies: tuple[str, ...] = ()) -> Definition:
    """Domain code's definition, its refusals turned into ones that name file and field."""
    text = json.dumps(fields.data)
    define = _remembered if len(text) <= _REMEMBERED_LENGTH else _remembered.__wrapped__
    try:
        return define(kind, text, dependencies)
    except RulesError as error:
        first = error.problems[0]
        path = re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", first.field)
        raise fields.problem(path, first.message) from None
    except DomainError as error:
        raise fields.problem("", str(error)) from None


@lru_cache(maxsize=1000)
def _remembered(kind: str, text: str, dependencies: tuple[str, ...]) -> Definition:
    """Jobs of one release repeat its definitions, and a Job repeats its Environments: hash each once."""
    content = json.loads(text)
    match kind:
        case "environment":
            return definitions.environment_definition(content)
        case "verifier":
            return definitions.verifier_definition(content)
        case "task":
            return definitions.task_definition(content, dependencies[0], dependencies[1:])
        case "harness":
            return definitions.harness_definition(content)
        case "agent":
            return definitions.agent_definition(content)
    benchmark = definitions.benchmark_definition(content, dependencies)
    definitions.rules_from_content(benchmark.content)
    return benchmark
