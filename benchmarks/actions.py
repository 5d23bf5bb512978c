"""Writes of this app. Everything recorded here is frozen; only labels on the resource move."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from benchmarks.domain.definitions import rules_from_content
from benchmarks.domain.identity import canonical_jcs, rules_hash
from benchmarks.domain.tracks import check_release_rules
from benchmarks.domain.types import Definition, DomainError
from benchmarks.models import (
    Category,
    Configuration,
    Dependency,
    Release,
    Resource,
    Revision,
    TaskCategory,
    TaskPin,
    Track,
)
from plural_site.accounts.models import Project, User

VERSION = re.compile(r"^(?![0-9]+\Z)[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}\Z")


def slug_of(name: str, fallback: str) -> str:
    """Folder name for a display name, as the client makes it: lower case, `-` for the rest, 80 characters."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-")
    return slug or fallback


def record_revision(
    *, project: Project, definition: Definition, slug: str = "", actor: User | None = None
) -> tuple[Revision, bool]:
    """The revision with this content in the project, made if it isn't there; True if it was made.

    Call inside a transaction that holds the project (`lock_project`). What it depends on must be there.
    A version that another content of the resource holds is left to it.
    Raises DomainError where a dependency is missing.
    """
    known = Revision.objects.filter(
        resource__project=project, resource__kind=definition.kind, content_hash=definition.content_hash
    )
    if found := known.order_by("pk").first():
        return found, False
    short = definition.content_hash.removeprefix("sha256:")[:12]
    slug = slug_of(slug or definition.slug or definition.name, f"{definition.kind}-{short}")
    resource, _ = Resource.objects.get_or_create(
        project=project, kind=definition.kind, slug=slug, defaults={"name": definition.name}
    )
    latest = resource.revisions.order_by("-number").first()
    revision = Revision.objects.create(
        resource=resource,
        number=latest.number + 1 if latest else 1,
        content_hash=definition.content_hash,
        parent=latest,
        definition=canonical_jcs(definition.content).decode(),
        claimed_version=definition.version if VERSION.match(definition.version) else "",
        forked_from=definition.forked_from or "",
        pushed_by=actor,
    )
    needed = dict.fromkeys(definition.dependencies)
    Dependency.objects.bulk_create(
        Dependency(revision=revision, depends_on=found) for found in _find(project, list(needed))
    )
    if revision.claimed_version and not resource.releases.filter(version=revision.claimed_version).exists():
        Release.objects.create(revision=revision, resource=resource, version=revision.claimed_version)
    return revision, True


def record_benchmark(
    *,
    project: Project,
    definition: Definition,
    tasks: Sequence[tuple[str, str, str]],
    slug: str = "",
    actor: User | None = None,
) -> tuple[Revision, bool]:
    """Like `record_revision`, with Task pins, Categories and tracks. `tasks`: (name, version, hash) in order.

    Raises DomainError where the declared rules are broken, or where a track's rules differ from those
    that the Benchmark already holds under the same `id@version`.
    """
    revision, made = record_revision(project=project, definition=definition, slug=slug, actor=actor)
    if not made:
        return revision, False
    rules = rules_from_content(definition.content)
    names = [name for name, _, _ in tasks]
    if problems := check_release_rules(
        names, rules.categories, rules.scoring, rules.tracks, rules.default_view
    ):
        raise DomainError(" ".join(problems))
    by_hash = {found.content_hash: found for found in _find(project, [task[2] for task in tasks])}
    pins = TaskPin.objects.bulk_create(
        TaskPin(
            revision=revision,
            position=position,
            name=name,
            version=version,
            task_revision=by_hash[digest],
            task_digest=digest,
            weight=rules.scoring.task_weights.get(name, 1.0),
        )
        for position, (name, version, digest) in enumerate(tasks)
    )
    pin_of = {pin.name: pin for pin in pins}
    for position, category in enumerate(rules.categories):
        row = Category.objects.create(
            revision=revision,
            position=position,
            slug=category.id,
            name=category.name,
            description=category.description,
            taxonomy=category.taxonomy or "",
        )
        TaskCategory.objects.bulk_create(
            TaskCategory(category=row, pin=pin_of[name]) for name in dict.fromkeys(category.tasks)
        )
    _declare_tracks(revision)
    return revision, True


def _declare_tracks(revision: Revision) -> None:
    content = revision.content
    for position, track in enumerate(rules_from_content(content).tracks):
        digest = rules_hash(track)
        held = (
            Track.objects.filter(
                revision__resource=revision.resource_id, track_id=track.id, version=track.version
            )
            .exclude(rules_hash=digest)
            .first()
        )
        if held:
            raise DomainError(
                f"Track {track.reference} already stands for other rules in this Benchmark (since revision "
                f"{held.revision.number}). Changed rules need a new track version."
            )
        Track.objects.create(
            revision=revision,
            position=position,
            track_id=track.id,
            version=track.version,
            name=track.name,
            kind=track.kind,
            attempts=track.attempts,
            rules=content["tracks"][position],
            rules_hash=digest,
        )


def record_configuration(*, project: Project, definition: Definition, model: str) -> Configuration:
    row, _ = Configuration.objects.get_or_create(
        project=project,
        content_hash=definition.content_hash,
        defaults={"model": model, "definition": canonical_jcs(definition.content).decode()},
    )
    return row


def lock_project(project: Project) -> None:
    """Makes writers of one project's resources wait for each other until the transaction ends."""
    Project.objects.select_for_update().get(pk=project.pk)


def follow_jobs(revisions: Mapping[Revision, str], *, started_at: datetime) -> None:
    """Makes these revisions current, each under its display name, where their Job started latest.

    A revision that a push or a person chose stays. Call inside a transaction.
    """
    by_resource = {revision.resource_id: (revision, name) for revision, name in revisions.items()}
    moved = []
    for resource in Resource.objects.select_for_update().filter(pk__in=by_resource):
        if resource.current_is_chosen or (resource.current_since and resource.current_since > started_at):
            continue
        resource.current, resource.name = by_resource[resource.pk]
        resource.current_since = started_at
        moved.append(resource)
    Resource.objects.bulk_update(moved, ["current", "name", "current_since"], batch_size=200)


def _find(project: Project, hashes: Sequence[str]) -> list[Revision]:
    found: dict[str, Revision] = {}
    for start in range(0, len(hashes), 500):
        chunk = hashes[start : start + 500]
        for revision in Revision.objects.filter(resource__project=project, content_hash__in=chunk):
            found.setdefault(revision.content_hash, revision)
    if missing := [digest for digest in hashes if digest not in found]:
        raise DomainError(f"depends on {missing[0]}, which this project does not hold")
    return [found[digest] for digest in hashes]


