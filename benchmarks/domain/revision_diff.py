"""What changed between two revisions of a Benchmark: Tasks, what they pin, configuration. Pure."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from benchmarks.domain.definitions import BenchmarkRules, rules_from_content
from benchmarks.domain.json_diff import JsonDiff, diff
from benchmarks.domain.types import Category, JsonObject

PartKind = Literal["environment", "verifier"]
PARTS_OF_TASK = frozenset({"environment", "verifiers"})


@dataclass(frozen=True, slots=True)
class Part:
    """An Environment or a Verifier that a Task pins, as one of its revisions."""

    kind: PartKind
    slug: str
    name: str
    content_hash: str
    number: int


@dataclass(frozen=True, slots=True)
class PinnedTask:
    """A Task under the name that scoring joins on, as one of its revisions (`number`, None for a new one).

    `parts` are its Environment, then its Verifiers in order; () where nobody asked for them.
    """

    name: str
    slug: str
    content_hash: str
    number: int | None = None
    parts: tuple[Part, ...] = ()

    @property
    def environment(self) -> Part | None:
        return next((part for part in self.parts if part.kind == "environment"), None)

    @property
    def verifiers(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.kind == "verifier")


@dataclass(frozen=True, slots=True)
class TaskPair:
    """One Task in both revisions."""

    old: PinnedTask
    new: PinnedTask

    @property
    def is_updated(self) -> bool:
        return self.old.content_hash != self.new.content_hash

    @property
    def is_renamed(self) -> bool:
        return self.old.name != self.new.name


@dataclass(frozen=True, slots=True)
class Move:
    """A Task that stands elsewhere among those of both revisions. Places count all Tasks, from 1."""

    name: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class TaskChanges:
    pairs: tuple[TaskPair, ...]
    """Every Task of both revisions, in the order of the new one."""
    added: tuple[PinnedTask, ...]
    removed: tuple[PinnedTask, ...]
    moved: tuple[Move, ...]
    """The fewest Tasks that have to be moved to get the new order."""

    @property
    def updated(self) -> tuple[TaskPair, ...]:
        return tuple(pair for pair in self.pairs if pair.is_updated)

    @property
    def renamed(self) -> tuple[TaskPair, ...]:
        return tuple(pair for pair in self.pairs if pair.is_renamed)

    @property
    def is_empty(self) -> bool:
        return not (self.updated or self.renamed or self.added or self.removed or self.moved)


@dataclass(frozen=True, slots=True)
class PartPair:
    """An Environment or Verifier that became another one in `tasks`, by name; None where it isn't there."""

    old: Part | None
    new: Part | None
    tasks: tuple[str, ...]

    @property
    def is_same_thing(self) -> bool:
        """Whether both are revisions of one Environment or Verifier."""
        return self.old is not None and self.new is not None and self.old.slug == self.new.slug


def match_tasks(old: Sequence[PinnedTask], new: Sequence[PinnedTask]) -> TaskChanges:
    """Which Task is which: by name, then by content, then by the Task that its revisions belong to."""
    found: dict[int, int] = {}
    for key in (_by_name, _by_content, _by_slug):
        _match(old, new, key, found)
    taken = set(found.values())
    return TaskChanges(
        pairs=tuple(TaskPair(old[found[at]], task) for at, task in enumerate(new) if at in found),
        added=tuple(task for at, task in enumerate(new) if at not in found),
        removed=tuple(task for at, task in enumerate(old) if at not in taken),
        moved=tuple(Move(new[at].name, found[at] + 1, at + 1) for at in _out_of_order(sorted(found), found)),
    )


def part_changes(updated: Iterable[TaskPair]) -> tuple[PartPair, ...]:
    """Each change of an Environment or Verifier once, with the Tasks that it is in, the first one first."""
    tasks: dict[tuple[Part | None, Part | None], list[str]] = defaultdict(list)
    for pair in updated:
        for change in parts_of(pair):
            tasks[change].append(pair.new.name)
    return tuple(PartPair(old, new, tuple(names)) for (old, new), names in tasks.items())


def parts_of(pair: TaskPair) -> tuple[tuple[Part | None, Part | None], ...]:
    """(before, after) of each Environment and Verifier of an updated Task that isn't as it was."""
    before, after = (_by_thing(task.parts) for task in (pair.old, pair.new))
    changed = [
        (before.get(thing), after.get(thing))
        for thing in dict.fromkeys((*before, *after))
        if _content(before.get(thing)) != _content(after.get(thing))
    ]
    return tuple(changed)


def are_verifiers_reordered(pair: TaskPair) -> bool:
    """Whether a Task's Verifiers are the same ones in another order."""
    before, after = ([part.content_hash for part in task.verifiers] for task in (pair.old, pair.new))
    return before != after and sorted(before) == sorted(after)


def task_content_changes(old: JsonObject, new: JsonObject) -> JsonDiff:
    """Fields of two Task contents, large texts by line; what they pin is told by `parts_of`."""
    return diff(
        *({key: each[key] for key in each if key not in PARTS_OF_TASK} for each in (old, new)), lines=True
    )


def part_content_changes(old: JsonObject, new: JsonObject) -> JsonDiff:
    """Fields of two contents of an Environment or a Verifier, large texts by line."""
    return diff(dict(old), dict(new), lines=True)


def configuration_changes(old: JsonObject, new: JsonObject) -> JsonDiff:
    """Fields of two Benchmark contents but for the Tasks: texts, scoring, Categories and tracks.

    Every default is in place, so leaving a field out and writing its default are the same.
    """
    before, after = rules_from_content(old), rules_from_content(new)
    order = {category.id: category.tasks for category in before.categories}
    reordered = {
        category.id
        for category in after.categories
        if sorted(order.get(category.id, ())) == sorted(category.tasks)
        and order[category.id] != category.tasks
    }
    return diff(_declared(before, reordered), _declared(after, reordered), lines=True)


def scores_may_differ(changes: TaskChanges, old: JsonObject, new: JsonObject) -> bool:
    """Whether anything changed that scores depend on: Tasks, scoring or tracks. Texts don't matter."""
    before, after = rules_from_content(old), rules_from_content(new)
    is_same = (before.scoring, before.tracks) == (after.scoring, after.tracks)
    return bool(changes.added or changes.removed or changes.updated) or not is_same


def _match(
    old: Sequence[PinnedTask],
    new: Sequence[PinnedTask],
    key: Callable[[PinnedTask], Hashable],
    found: dict[int, int],
) -> None:
    """Adds pairs of positions (new to old) that share a key and are in no pair yet, first with first."""
    taken = set(found.values())
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for at, task in enumerate(old):
        if at not in taken:
            waiting[key(task)].append(at)
    for at, task in enumerate(new):
        if at not in found and (same := waiting.get(key(task))):
            found[at] = same.pop(0)


def _by_name(task: PinnedTask) -> Hashable:
    return task.name


def _by_content(task: PinnedTask) -> Hashable:
    return task.content_hash


def _by_slug(task: PinnedTask) -> Hashable:
    return task.slug


def _out_of_order(places: Sequence[int], found: Mapping[int, int]) -> list[int]:
    """The places that are in no longest row of pairs that kept their order (patience sorting)."""
    tops: list[int] = []
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for at in places:
        pile = bisect_left(tops, found[at])
        before[at] = ends[pile - 1] if pile else None
        tops[pile : pile + 1] = [found[at]]
        ends[pile : pile + 1] = [at]
    kept: set[int] = set()
    at_end = ends[-1] if ends else None
    while at_end is not None:
        kept.add(at_end)
        at_end = before[at_end]
    return [at for at in places if at not in kept]


def _by_thing(parts: Sequence[Part]) -> dict[tuple[str, str, int], Part]:
    """By what each is a revision of; one that is pinned twice counts as two things."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    found: dict[tuple[str, str, int], Part] = {}
    for part in parts:
        thing: tuple[str, str] = (part.kind, "" if part.kind == "environment" else part.slug)
        found[(*thing, counts[thing])] = part
        counts[thing] += 1
    return found


def _content(part: Part | None) -> str:
    return part.content_hash if part else ""


def _declared(rules: BenchmarkRules, reordered: Container[str]) -> dict[str, Any]:
    """As JSON holds it."""
    declared = asdict(rules)
    declared["categories"] = [_category(category, reordered) for category in rules.categories]
    as_json: dict[str, Any] = json.loads(json.dumps(declared))
    return as_json


def _category(category: Category, reordered: Container[str]) -> dict[str, Any]:
    """Its Tasks by name, so that one that went doesn't move the others."""
    order = {"order of tasks": ", ".join(category.tasks)} if category.id in reordered else {}
    return {**asdict(category), "tasks": {name: name for name in sorted(category.tasks)}, **order}
