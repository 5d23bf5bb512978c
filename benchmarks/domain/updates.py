"""Newer revisions of what a Benchmark pins, and the revision that it becomes with those that are taken. Pure.

A Task is offered at its newest revision. A newer Environment or Verifier makes a new revision of each Task
that pins an older one; together they make the next revision of the Benchmark. A Task whose own newer revision
is left stays altogether as it is pinned: nothing grows out of an older state of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.domain.definitions import (
    benchmark_with_tasks,
    rules_from_content,
    task_with_parts,
)
from benchmarks.domain.revision_diff import Part, PinnedTask
from benchmarks.domain.task_checks import environment_problems, verifier_problems
from benchmarks.domain.tracks import check_release_rules
from benchmarks.domain.types import Definition, JsonObject

Thing = tuple[str, str]
"""Kind and slug of what has revisions."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A Task as the Benchmark pins it. `newest` is its newest revision, under the name that it has now.

    `newest` is None where the pinned one is the newest. Versions are labels.
    """

    task: PinnedTask
    version: str = ""
    newest: PinnedTask | None = None
    newest_version: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A newer revision, `new`, of something that is pinned at `old`: in these Tasks, by name."""

    kind: str
    slug: str
    name: str
    old: tuple[int, ...]
    new: int
    content_hash: str
    tasks: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.slug}@{self.new}"


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A Task of the next revision. `made_from` is None where its revision is there already.

    Otherwise `definition` is to be recorded first: the content of `made_from` with newer parts.
    """

    task: PinnedTask
    version: str
    made_from: PinnedTask | None = None
    definition: Definition | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be saved. With `problems` it can't be; `warnings` don't hinder it."""

    benchmark: Definition
    tasks: tuple[PlannedTask, ...]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def made(self) -> tuple[PlannedTask, ...]:
        """Tasks that get a new revision."""
        return tuple(task for task in self.tasks if task.definition)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The revision that is brought up to date."""

    slug: str
    name: str
    content: JsonObject
    content_hash: str
    forked_from: str = ""


def find_offers(pins: Sequence[Pin], newest: Mapping[Thing, Part]) -> tuple[Offer, ...]:
    """Tasks in order, then Environments and Verifiers by name.

    `newest` holds the newest revision of each part, as far as it is known; older ones count where a Task's
    newest state has them.
    """
    old: dict[Thing, set[int]] = defaultdict(set)
    tasks: dict[Thing, dict[str, None]] = defaultdict(dict)
    new: dict[Thing, Part | PinnedTask] = {}
    for pin in pins:
        for part in (pin.newest or pin.task).parts:
            thing: Thing = (part.kind, part.slug)
            if (found := newest.get(thing)) and part.number < found.number:
                old[thing].add(part.number)
                tasks[thing][pin.task.name] = None
                new[thing] = found
        if pin.newest:
            thing = ("task", pin.task.slug)
            old[thing].add(pin.task.number or 0)
            tasks[thing][pin.task.name] = None
            new[thing] = pin.newest
    of_tasks = [thing for thing in new if thing[0] == "task"]
    of_parts = sorted(new.keys() - set(of_tasks), key=lambda thing: (thing[0], new[thing].name, thing))
    return tuple(
        Offer(
            kind=thing[0],
            slug=thing[1],
            name=new[thing].name,
            old=tuple(sorted(old[thing])),
            new=new[thing].number or 0,
            content_hash=new[thing].content_hash,
            tasks=tuple(tasks[thing]),
        )
        for thing in (*of_tasks, *of_parts)
    )


def needed_contents(pins: Sequence[Pin], newest: Mapping[Thing, Part], taken: Container[str]) -> set[str]:
    """Content hashes that `plan_update` looks at: Tasks that change, and what they then pin."""
    found: set[str] = set()
    for pin in pins:
        base, parts = _chosen(pin, newest, taken)
        if base is not pin.task or parts != base.parts:
            found |= {base.content_hash, *(part.content_hash for part in parts)}
    return found


def plan_update(
    benchmark: Benchmark,
    pins: Sequence[Pin],
    newest: Mapping[Thing, Part],
    taken: Container[str],
    contents: Mapping[str, JsonObject],
) -> Plan:
    """The next revision with the offers whose keys are `taken`; `contents` are those that it needs, by hash.

    A Task is called as it is called now where its newest revision is taken and no other Task has that name;
    Categories and weights follow. Everything else of the Benchmark stays.
    """
    names = _names(pins, taken)
    tasks = [
        _planned(pin, name, *_chosen(pin, newest, taken), contents)
        for pin, name in zip(pins, names, strict=True)
    ]
    content = _renamed(
        benchmark.content, {pin.task.name: name for pin, name in zip(pins, names, strict=True)}
    )
    definition = benchmark_with_tasks(content, [planned.task.content_hash for planned in tasks])
    changed = [
        planned
        for pin, planned in zip(pins, tasks, strict=True)
        if planned.task.content_hash != pin.task.content_hash
    ]
    return Plan(
        benchmark=replace(
            definition,
            name=benchmark.name,
            slug=benchmark.slug,
            forked_from=benchmark.forked_from or None,
        ),
        tasks=tuple(tasks),
        problems=tuple(_problems(content, names, changed, contents)),
        warnings=tuple(_twins(tasks)),
    )


def _base(pin: Pin, taken: Container[str]) -> PinnedTask:
    """The Task's revision that is taken, or that stays."""
    is_taken = pin.newest and _key("task", pin.newest.slug, pin.newest.number) in taken
    return pin.newest if pin.newest and is_taken else pin.task


def _chosen(
    pin: Pin, newest: Mapping[Thing, Part], taken: Container[str]
) -> tuple[PinnedTask, tuple[Part, ...]]:
    """As `_base`, with the parts that it then has."""
    base = _base(pin, taken)
    if pin.newest and base is not pin.newest:
        return base, base.parts
    return base, tuple(_newer(part, newest.get((part.kind, part.slug)), taken) for part in base.parts)


def _newer(part: Part, newest: Part | None, taken: Container[str]) -> Part:
    if newest is None or newest.number <= part.number:
        return part
    return newest if _key(part.kind, part.slug, newest.number) in taken else part


def _key(kind: str, slug: str, number: int | None) -> str:
    return f"{kind}/{slug}@{number}"


def _names(pins: Sequence[Pin], taken: Container[str]) -> list[str]:
    """What each Task is called, in order."""
    slugs = Counter(pin.task.slug for pin in pins)
    bases = [_base(pin, taken) for pin in pins]
    wanted = [
        base.name if slugs[pin.task.slug] == 1 else pin.task.name
        for pin, base in zip(pins, bases, strict=True)
    ]
    counts = Counter([*wanted, *(pin.task.name for pin in pins)])
    return [
        name if name == pin.task.name or counts[name] == 1 else pin.task.name
        for pin, name in zip(pins, wanted, strict=True)
    ]


def _planned(
    pin: Pin,
    name: str,
    base: PinnedTask,
    parts: tuple[Part, ...],
    contents: Mapping[str, JsonObject],
) -> PlannedTask:
    if parts == base.parts:
        version = pin.version if base is pin.task else pin.newest_version
        return PlannedTask(replace(base, name=name), version)
    became = {
        old.content_hash: new.content_hash for old, new in zip(base.parts, parts, strict=True) if old != new
    }
    content = contents[base.content_hash]
    environment, *verifiers = (
        became.get(digest, digest) for digest in (content["environment"], *content["verifiers"])
    )
    definition = task_with_parts(content, environment, verifiers)
    task = replace(base, name=name, content_hash=definition.content_hash, number=None, parts=parts)
    return PlannedTask(task, "", base, replace(definition, name=name, slug=base.slug))


def _renamed(content: JsonObject, names: Mapping[str, str]) -> dict[str, Any]:
    """The content of a Benchmark with its Tasks called anew where Categories and weights name them."""
    renamed = dict(content)
    if all(old == new for old, new in names.items()):
        return renamed
    if "categories" in content:
        renamed["categories"] = [
            {**category, "tasks": [names.get(name, name) for name in category["tasks"]]}
            for category in content["categories"]
        ]
    scoring = content.get("scoring")
    if scoring and "task_weights" in scoring:
        weights = {names.get(name, name): weight for name, weight in scoring["task_weights"].items()}
        renamed["scoring"] = {**scoring, "task_weights": weights}
    return renamed


def _problems(
    content: JsonObject,
    names: Sequence[str],
    changed: Sequence[PlannedTask],
    contents: Mapping[str, JsonObject],
) -> Iterator[str]:
    rules = rules_from_content(content)
    yield from check_release_rules(names, rules.categories, rules.scoring, rules.tracks, rules.default_view)
    for planned in changed:
        task, environment = planned.task, planned.task.environment
        made = planned.definition
        own = made.content if made else contents[task.content_hash]
        if environment is not None:
            held = contents[environment.content_hash]
            yield from environment_problems(task.name, own, held, rules.tracks)
        verifiers = [(part.name, contents[part.content_hash]) for part in task.verifiers]
        yield from verifier_problems(task.name, verifiers, rules.scoring)


def _twins(tasks: Sequence[PlannedTask]) -> Iterator[str]:
    by_content: dict[str, list[str]] = defaultdict(list)
    for planned in tasks:
        by_content[planned.task.content_hash].append(planned.task.name)
    for names in by_content.values():
        if len(names) > 1:
            yield f"The Tasks {', '.join(names)} have one content, so such a release can't be published."
