"""Checks of rows: what the database enforces, what refers to what, and definitions against their hashes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import connection, models
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat

from benchmarks.domain.identity import canonical_jcs, revision_hash, rules_hash
from benchmarks.domain.tracks import parse_track
from benchmarks.domain.types import DomainError
from benchmarks.models import (
    Configuration,
    Dependency,
    Kind,
    Release,
    Resource,
    Revision,
    TaskCategory,
    TaskPin,
    Track,
)
from jobs.integrity import Finding, Looked, Scope
from jobs.models import Blob, Job, JobAgent, SupersededTrial, Tally, Trial
from plural_site.db.frozen import missing_triggers

MOST_NAMED = 20
"""Rows that one question names; it counts the rest."""
CONSTRAINT = re.compile(r'CONSTRAINT "([^"]+)"')
_FETCHED = 200


def own_models() -> list[type[models.Model]]:
    found = apps.get_models(include_auto_created=True)
    return [model for model in found if model._meta.managed and not model._meta.proxy]


def name_of(model: type[models.Model], key: Any) -> str:
    return f"{model._meta.label_lower} {key}"


def named(rows: QuerySet[Any], message: str) -> Iterator[Finding]:
    """One finding for each of the first rows and one for all the others."""
    keys = list(rows.order_by("pk").values_list("pk", flat=True)[: MOST_NAMED + 1])
    for key in keys[:MOST_NAMED]:
        yield Finding(name_of(rows.model, key), message)
    if len(keys) > MOST_NAMED:
        yield Finding(rows.model._meta.label_lower, f"{rows.count() - MOST_NAMED:,} more rows: {message}")


# What the database enforces ---------------------------------------------------------------------------


def frozen_tables(scope: Scope, looked: Looked) -> Iterator[Finding]:
    for table, trigger in missing_triggers(connection):
        yield Finding(table, f"trigger {trigger} is missing or disabled: run manage.py migrate")
    looked.number = len(own_models())


def constraints(scope: Scope, looked: Looked) -> Iterator[Finding]:
    """By name: SQLite loses nothing silently but what a hand at its file takes away."""
    there = _named_in_database()
    for model in own_models():
        meta = model._meta
        for rule in (*meta.constraints, *meta.indexes):
            looked.number += 1
            if rule.name not in there:
                yield Finding(meta.db_table, f"constraint or index {rule.name} is missing")


def _named_in_database() -> set[str]:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT conname FROM pg_constraint WHERE connamespace = current_schema::regnamespace "
                "UNION SELECT indexname FROM pg_indexes WHERE schemaname = current_schema"
            )
            return {name for (name,) in cursor.fetchall()}
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index')")
        found = cursor.fetchall()
    return {name for name, _ in found}.union(*(CONSTRAINT.findall(sql or "") for _, sql in found))


# What refers to what ----------------------------------------------------------------------------------


def references(scope: Scope, looked: Looked) -> Iterator[Finding]:
    for model in own_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.ForeignKey):
                looked.number += 1
                scope.say(f"references of {model._meta.label_lower}")
                target = field.target_field
                there = field.related_model._base_manager.filter(**{target.attname: OuterRef(field.attname)})
                rows = model._base_manager.filter(~Exists(there), **{f"{field.attname}__isnull": False})
                yield from named(rows, f"{field.name} refers to a row that is not there")
    for key, packs in SupersededTrial.objects.exclude(packs=[]).values_list("pk", "packs").iterator():
        held = set(Blob.objects.filter(digest__in=packs).values_list("digest", flat=True))
        for digest in sorted(set(packs) - held):
            yield Finding(name_of(SupersededTrial, key), f"refers to {digest}, which is not there")


def _unlike(one: str, other: str) -> Q:
    """Both columns hold a value, and not the same."""
    return ~Q(**{one: F(other)}) & Q(**{f"{one}__isnull": False})


def _agreements() -> Iterator[tuple[QuerySet[Any], str]]:
    """Rows that contradict others, which no constraint of the database can tell."""
    yield Trial.objects.filter(_unlike("job", "job_agent__job")), "its Agent is of another Job"
    pinned = Trial.objects.filter(pin__isnull=False)
    yield (
        pinned.filter(_unlike("pin__revision", "job__revision") | Q(job__revision__isnull=True)),
        "its Task is of another release than its Job",
    )
    yield pinned.filter(_unlike("task_position", "pin__position")), "stands at another position than its Task"
    yield pinned.filter(_unlike("task_digest", "pin__task_digest")), "ran another content than its Task's"
    finals = Trial.objects.annotate(
        tries=Count("executions"), finals=Count("executions", filter=Q(executions__is_final=True))
    )
    yield finals.filter(tries__gt=0).exclude(finals=1), "has not exactly one execution that counts"
    whose = "is of another project"
    yield JobAgent.objects.filter(_unlike("configuration__project", "job__project")), f"its Agent {whose}"
    for source in ("revision", "task_revision"):
        yield Job.objects.filter(_unlike(f"{source}__resource__project", "project")), f"its {source} {whose}"
    ready = Job.objects.filter(state=Job.State.READY)
    yield ready.filter(revision=None, task_revision=None), "names nothing that it ran"
    tracks = Track.objects.filter(revision=OuterRef("revision")).annotate(
        ref=Concat("track_id", Value("@"), "version", output_field=models.CharField())
    )
    untold = ~Exists(tracks.filter(ref=OuterRef("track_ref")))
    yield ready.exclude(track_ref="").filter(untold), "ran on a track that its release does not have"
    other = "is of another resource"
    yield Release.objects.filter(_unlike("resource", "revision__resource")), f"its revision {other}"
    yield Revision.objects.filter(_unlike("parent__resource", "resource")), f"its parent {other}"
    yield Resource.objects.filter(_unlike("current__resource", "pk")), f"its current revision {other}"
    project = "revision__resource__project"
    yield Dependency.objects.filter(_unlike("depends_on__resource__project", project)), f"its need {whose}"
    yield TaskPin.objects.filter(_unlike("task_revision__resource__project", project)), f"its Task {whose}"
    odd = TaskPin.objects.filter(_unlike("task_digest", "task_revision__content_hash"))
    yield odd, "its digest is not that of its Task"
    strays = TaskCategory.objects.filter(_unlike("pin__revision", "category__revision"))
    yield strays, "its Task is of another release"
    yield Tally.objects.filter(_unlike("configuration__project", project)), f"its Agent {whose}"


def agreements(scope: Scope, looked: Looked) -> Iterator[Finding]:
    for rows, message in _agreements():
        looked.number += 1
        scope.say(f"rows of {rows.model._meta.label_lower}")
        yield from named(rows, message)


# Definitions ------------------------------------------------------------------------------------------


def definitions(scope: Scope, looked: Looked) -> Iterator[Finding]:
    """Revisions and configurations, hashed again from what is stored of them."""
    untold = 0
    found = Revision.objects.select_related("resource").prefetch_related("tracks", "pins", "categories")
    for revision in found.order_by("pk").iterator(chunk_size=_FETCHED):
        looked.number += 1
        scope.say(f"{looked.number:,} definitions")
        kind, where = revision.resource.kind, name_of(Revision, revision.pk)
        if kind == Kind.HARNESS and "source" in _content(revision.definition):
            untold += 1  # the place of its files is hashed and not kept
        else:
            yield from _hashed(where, kind, revision.definition, revision.content_hash)
        if kind == Kind.BENCHMARK:
            yield from _declared(where, revision)
    for row in Configuration.objects.order_by("pk").iterator(chunk_size=_FETCHED):
        looked.number += 1
        where = name_of(Configuration, row.pk)
        yield from _hashed(where, Kind.AGENT, row.definition, row.content_hash)
        if _content(row.definition).get("model") != row.model:
            yield Finding(where, "its model is not that of its definition")
    if untold:
        yield Finding(
            "harnesses", f"{untold:,} can't be hashed again: where their files were is not kept", is_note=True
        )


def _content(definition: str) -> dict[str, Any]:
    try:
        content = json.loads(definition)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _hashed(where: str, kind: str, definition: str, digest: str) -> Iterator[Finding]:
    try:
        content = json.loads(definition)
        is_canonical = canonical_jcs(content).decode() == definition
        computed = revision_hash(kind, content)  # type: ignore[arg-type]  # a kind by its check
    except (ValueError, AttributeError, DomainError):
        yield Finding(where, "its definition can't be read")
        return
    if not is_canonical:
        yield Finding(where, "its definition is not written in the canonical form")
    if computed != digest:
        yield Finding(where, f"its definition hashes to {computed}, not to {digest}")


def _declared(where: str, revision: Revision) -> Iterator[Finding]:
    """Rows of tracks, Categories and weights against the definition that they were made from."""
    try:
        rules, content = revision.rules, revision.content
        tracks = [(track.id, track.version, rules_hash(track)) for track in rules.tracks]
    except (ValueError, AttributeError, KeyError, TypeError, DomainError):
        yield Finding(where, "its rules can't be read")
        return
    rows = sorted(revision.tracks.all(), key=lambda track: track.position)
    if [(row.track_id, row.version, row.rules_hash) for row in rows] != tracks:
        yield Finding(where, "its tracks are not those of its definition")
    for row in rows:
        if rules_hash(parse_track(row.rules)) != row.rules_hash:
            yield Finding(name_of(Track, row.pk), "its rules do not fit their hash")
    kept = [row.slug for row in sorted(revision.categories.all(), key=lambda row: row.position)]
    if kept != [category.id for category in rules.categories]:
        yield Finding(where, "its Categories are not those of its definition")
    weights = rules.scoring.task_weights
    for pin in revision.pins.all():
        if pin.weight != weights.get(pin.name, 1.0):
            yield Finding(name_of(TaskPin, pin.pk), "its weight is not that of the definition")
    pinned = [pin.task_digest for pin in sorted(revision.pins.all(), key=lambda pin: pin.position)]
    if "tasks" in content and content["tasks"] != pinned:
        yield Finding(where, "its Tasks are not those of its definition")
