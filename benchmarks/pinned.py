"""What the revisions of Benchmarks pin, read in a few queries whatever the number of Tasks."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q

from benchmarks.domain.revision_diff import Part, PartKind, PinnedTask
from benchmarks.domain.updates import Benchmark, Pin, Plan, Thing, needed_contents, plan_update
from benchmarks.models import Dependency, Kind, Resource, Revision, TaskPin
from plural_site.accounts.models import Project

CHUNK = 500
PARTS: dict[str, PartKind] = {Kind.ENVIRONMENT: "environment", Kind.VERIFIER: "verifier"}


@dataclass(frozen=True, slots=True)
class Pinned:
    """By a Benchmark's current revision. `newest` holds that of each Environment and Verifier."""

    pins: tuple[Pin, ...]
    newest: Mapping[Thing, Part]


@dataclass(frozen=True, slots=True)
class TaskParts:
    """By content hash of a Task, its Environment and Verifiers; and the current revision of each of these."""

    of_task: Mapping[str, tuple[Part, ...]]
    newest: Mapping[Thing, Part]


def pinned_tasks(revision: Revision) -> tuple[PinnedTask, ...]:
    """The Tasks of a Benchmark's revision in order, without their parts. One query."""
    rows = revision.pins.order_by("position").values_list(
        "name", "task_revision__resource__slug", "task_digest", "task_revision__number"
    )
    return tuple(PinnedTask(name, slug, digest, number) for name, slug, digest, number in rows)


def with_parts(project: Project, tasks: Iterable[PinnedTask]) -> dict[str, PinnedTask]:
    """These Tasks with their Environments and Verifiers, by content hash. One query for 500 of them."""
    wanted = {task.content_hash: task for task in tasks}
    found: dict[str, tuple[Part, ...]] = {}
    hashes = sorted(wanted)
    for start in range(0, len(hashes), CHUNK):
        of_task = Q(
            revision__resource__project=project,
            revision__resource__kind=Kind.TASK,
            revision__content_hash__in=hashes[start : start + CHUNK],
        )
        found |= _parts(of_task).of_task
    return {digest: replace(task, parts=found.get(digest, ())) for digest, task in wanted.items()}


def current_pins(resource: Resource) -> Pinned:
    """What the current revision of a Benchmark pins, and what is newer in the project. Three queries."""
    rows = list(
        TaskPin.objects.filter(revision=resource.current_id)
        .order_by("position")
        .values_list(
            "name",
            "version",
            "task_digest",
            "task_revision__number",
            "task_revision__resource__slug",
            "task_revision__resource__name",
            "task_revision__resource__current__number",
            "task_revision__resource__current__content_hash",
            "task_revision__resource__current__claimed_version",
            "task_revision__resource__current__release__version",
        )
    )
    is_pinned = Q(revision__pinned_in__revision=resource.current_id)
    owners = Resource.objects.filter(revisions__pinned_in__revision=resource.current_id)
    others = owners.exclude(current__pinned_in__revision=resource.current_id)
    parts, newer = _parts(is_pinned), _parts(Q(revision__in=others.values("current")))
    pins = []
    for name, version, digest, number, slug, called, now, now_digest, claimed, released in rows:
        newest, newest_version = None, ""
        if now is not None and now_digest is not None and now > number:
            newest = PinnedTask(called, slug, now_digest, now, newer.of_task.get(now_digest, ()))
            newest_version = released or claimed or ""
        task = PinnedTask(name, slug, digest, number, parts.of_task.get(digest, ()))
        pins.append(Pin(task, version, newest, newest_version))
    return Pinned(tuple(pins), {**parts.newest, **newer.newest})


def plan_for(resource: Resource, current: Revision, pinned: Pinned, taken: Collection[str]) -> Plan:
    """The revision of a Benchmark that comes after its current one, with what is taken. One query."""
    contents = contents_of(resource.project, needed_contents(pinned.pins, pinned.newest, taken))
    benchmark = Benchmark(
        slug=resource.slug,
        name=resource.name,
        content=current.content,
        content_hash=current.content_hash,
        forked_from=current.forked_from,
    )
    return plan_update(benchmark, pinned.pins, pinned.newest, taken, contents)


def contents_of(project: Project, hashes: Collection[str]) -> dict[str, dict[str, Any]]:
    """Contents that a project holds, by hash. One query for 500 of them."""
    found = {}
    wanted: Sequence[str] = sorted(hashes)
    for start in range(0, len(wanted), CHUNK):
        rows = Revision.objects.filter(
            resource__project=project, content_hash__in=wanted[start : start + CHUNK]
        )
        for digest, definition in rows.values_list("content_hash", "definition"):
            if digest not in found:
                found[digest] = json.loads(definition)
    return found


def _parts(of_task: Q) -> TaskParts:
    """Environments and Verifiers of these Tasks (a condition on dependencies), in the order of the Task."""
    rows = Dependency.objects.filter(of_task, depends_on__resource__kind__in=list(PARTS)).order_by("pk")
    found: dict[str, dict[Part, None]] = defaultdict(dict)
    newest: dict[Thing, Part] = {}
    for task, digest, number, kind, slug, name, now, now_digest in rows.values_list(
        "revision__content_hash",
        "depends_on__content_hash",
        "depends_on__number",
        "depends_on__resource__kind",
        "depends_on__resource__slug",
        "depends_on__resource__name",
        "depends_on__resource__current__number",
        "depends_on__resource__current__content_hash",
    ):
        part = Part(PARTS[kind], slug, name, digest, number)
        found[task][part] = None
        if now is not None and now_digest is not None:
            newest[kind, slug] = Part(PARTS[kind], slug, name, now_digest, now)
    return TaskParts({task: tuple(parts) for task, parts in found.items()}, newest)
