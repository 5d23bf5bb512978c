"""Writes of this app. Everything recorded here is frozen; only labels on the resource move."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from django.db import transaction
from django.db.models import Q

from benchmarks.domain.definitions import BenchmarkRules, rules_from_content
from benchmarks.domain.identity import canonical_jcs, rules_hash
from benchmarks.domain.releasing import VERSION, Candidate, Texts, check_release
from benchmarks.domain.tracks import check_release_rules
from benchmarks.domain.types import Definition, DomainError
from benchmarks.models import (
    Category,
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
from plural_site.accounts.actions import Actor, record
from plural_site.accounts.models import Project, User


def slug_of(name: str, fallback: str) -> str:
    """Folder name for a display name, as the client makes it: lower case, `-` for the rest, 80 characters."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-")
    return slug or fallback


def record_revisions(
    *,
    project: Project,
    definitions: Sequence[Definition],
    actor: User | None = None,
    held: Mapping[str, Revision] = MappingProxyType({}),
    anew: Collection[str] = (),
) -> tuple[dict[str, Revision], set[str]]:
    """The revision of each content in the project, by content hash, and which hashes were made now.

    Call inside a transaction that holds the project (`lock_project`). A definition comes after what it
    depends on. A version that another content of the resource holds is left to it. `held`: revisions of
    the project that are at hand already, by content hash. `anew`: hashes to make although some other
    resource holds them.
    Raises DomainError where a dependency is missing. A fixed number of queries, whatever their number.
    """
    wanted = {definition.content_hash: definition for definition in definitions}
    needed = {digest for definition in definitions for digest in definition.dependencies}
    hashes = [*wanted, *(needed - wanted.keys())]
    found = {digest: held[digest] for digest in hashes if digest in held}
    found |= _held(project, [digest for digest in hashes if digest not in found])
    missing = [wanted[digest] for digest in wanted if digest in anew or digest not in found]
    if not missing:
        return found, set()
    resources, held_resources = _resources(project, missing)
    made = _make_revisions(resources, held_resources, missing, actor)
    found |= made
    Dependency.objects.bulk_create(
        Dependency(revision=made[definition.content_hash], depends_on=_dependency(found, digest))
        for definition in missing
        for digest in dict.fromkeys(definition.dependencies)
    )
    return found, set(made)


def _held(project: Project, hashes: Sequence[str]) -> dict[str, Revision]:
    found: dict[str, Revision] = {}
    for start in range(0, len(hashes), 500):
        rows = Revision.objects.filter(
            resource__project=project, content_hash__in=hashes[start : start + 500]
        )
        for revision in rows.defer("definition").select_related("release", "resource").order_by("pk"):
            found.setdefault(revision.content_hash, revision)
    return found


def _dependency(found: Mapping[str, Revision], digest: str) -> Revision:
    if digest not in found:
        raise DomainError(f"depends on {digest}, which this project does not hold")
    return found[digest]


def _resources(project: Project, definitions: Sequence[Definition]) -> tuple[list[Resource], list[Resource]]:
    """The resource of each definition, made where it isn't there; and those that were there."""
    keys: list[tuple[str, str]] = [(definition.kind, _slug(definition)) for definition in definitions]
    held: dict[tuple[str, str], Resource] = {
        (row.kind, row.slug): row
        for row in Resource.objects.filter(project=project, slug__in={slug for _, slug in keys})
    }
    new: dict[tuple[str, str], Resource] = {
        key: Resource(project=project, kind=key[0], slug=key[1], name=definition.name)
        for key, definition in zip(keys, definitions, strict=True)
        if key not in held
    }
    Resource.objects.bulk_create(new.values())
    found = held | new
    return [found[key] for key in keys], list(held.values())


def _slug(definition: Definition) -> str:
    short = definition.content_hash.removeprefix("sha256:")[:12]
    return slug_of(definition.slug or definition.name, f"{definition.kind}-{short}")


def _make_revisions(
    resources: Sequence[Resource],
    held: Sequence[Resource],
    definitions: Sequence[Definition],
    actor: User | None,
) -> dict[str, Revision]:
    """One of each resource. `held`: those that may have some already."""
    latest: dict[int, Revision] = {}
    taken: set[tuple[int, str]] = set()
    if held:
        for revision in Revision.objects.filter(resource__in=held).defer("definition").order_by("number"):
            latest[revision.resource_id] = revision
        taken.update(Release.objects.filter(resource__in=held).values_list("resource_id", "version"))
    made: dict[str, Revision] = {}
    numbers: Counter[int] = Counter({pk: revision.number for pk, revision in latest.items()})
    for resource, definition in zip(resources, definitions, strict=True):
        numbers[resource.pk] += 1
        made[definition.content_hash] = Revision(
            resource=resource,
            number=numbers[resource.pk],
            content_hash=definition.content_hash,
            parent=latest.get(resource.pk),
            definition=canonical_jcs(definition.content).decode(),
            claimed_version=definition.version if VERSION.match(definition.version) else "",
            forked_from=definition.forked_from or "",
            pushed_by=actor,
        )
    Revision.objects.bulk_create(made.values())
    releases = []
    for revision in made.values():
        key = (revision.resource_id, revision.claimed_version)
        if revision.claimed_version and key not in taken:
            taken.add(key)
            releases.append(
                Release(revision=revision, resource=revision.resource, version=revision.claimed_version)
            )
    Release.objects.bulk_create(releases)
    return made


def record_benchmark(
    *,
    project: Project,
    definition: Definition,
    tasks: Sequence[tuple[str, str, str]],
    actor: User | None = None,
    held: Mapping[str, Revision] = MappingProxyType({}),
) -> tuple[Revision, bool]:
    """The revision of a Benchmark with Task pins, Categories and tracks; True if it was made now.

    `tasks`: (name, version, content hash) in order; their revisions must be there. Raises DomainError
    where the declared rules are broken, or where a track's rules differ from those that the Benchmark
    already holds under the same `id@version`. A definition with a slug belongs to that Benchmark, whoever
    else in the project holds the same content; one without to the Benchmark that holds it already.
    """
    digest = definition.content_hash
    if own := _own_revision(project, definition, held.get(digest)):
        return own, False
    found, made = record_revisions(
        project=project,
        definitions=[definition],
        actor=actor,
        held=held,
        anew={digest} if definition.slug else (),
    )
    revision = found[digest]
    if not made:
        return revision, False
    rules = rules_from_content(definition.content)
    _declare_rules(revision, rules, found, tasks)
    _declare_tracks(revision)
    return revision, True


def _own_revision(project: Project, definition: Definition, at_hand: Revision | None) -> Revision | None:
    if not definition.slug:
        return None
    if at_hand and (at_hand.resource.kind, at_hand.resource.slug) == (definition.kind, _slug(definition)):
        return at_hand
    own = Revision.objects.filter(resource__project=project, resource__kind=definition.kind)
    own = own.filter(resource__slug=_slug(definition), content_hash=definition.content_hash)
    return own.select_related("release", "resource").first()


def _declare_rules(
    revision: Revision,
    rules: BenchmarkRules,
    found: Mapping[str, Revision],
    tasks: Sequence[tuple[str, str, str]],
) -> None:
    names = [name for name, _, _ in tasks]
    if problems := check_release_rules(
        names, rules.categories, rules.scoring, rules.tracks, rules.default_view
    ):
        raise DomainError(" ".join(problems))
    pins = TaskPin.objects.bulk_create(
        TaskPin(
            revision=revision,
            position=position,
            name=name,
            version=version,
            task_revision=found[digest],
            task_digest=digest,
            weight=rules.scoring.task_weights.get(name, 1.0),
        )
        for position, (name, version, digest) in enumerate(tasks)
    )
    pin_of = {pin.name: pin for pin in pins}
    categories = Category.objects.bulk_create(
        Category(
            revision=revision,
            position=position,
            slug=category.id,
            name=category.name,
            description=category.description,
            taxonomy=category.taxonomy or "",
        )
        for position, category in enumerate(rules.categories)
    )
    TaskCategory.objects.bulk_create(
        TaskCategory(category=row, pin=pin_of[name])
        for row, category in zip(categories, rules.categories, strict=True)
        for name in dict.fromkeys(category.tasks)
    )


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


def record_configurations(*, project: Project, agents: Mapping[str, Definition]) -> dict[str, Configuration]:
    """Configurations by content hash; `agents` maps each hash to the Agent's definition."""
    held = Configuration.objects.filter(project=project, content_hash__in=agents)
    found = {row.content_hash: row for row in held}
    new = [
        Configuration(
            project=project,
            content_hash=digest,
            model=agent.content["model"],
            definition=canonical_jcs(agent.content).decode(),
        )
        for digest, agent in agents.items()
        if digest not in found
    ]
    return found | {row.content_hash: row for row in Configuration.objects.bulk_create(new)}


def lock_project(project: Project) -> None:
    """Makes writers of one project's resources wait for each other until the transaction ends."""
    Project.objects.select_for_update().get(pk=project.pk)


def follow_jobs(revisions: Mapping[Revision, str], *, started_at: datetime) -> None:
    """Makes these revisions current, each under its display name, where their Job started latest.

    A revision that a push or a person chose stays. Call inside a transaction.
    """
    by_resource = {revision.resource_id: (revision, name) for revision, name in revisions.items()}
    older = Q(current_since=None) | Q(current_since__lte=started_at)
    rows = Resource.objects.select_for_update().filter(older, pk__in=by_resource, current_is_chosen=False)
    moved, renamed, confirmed = [], [], []
    for pk, current, called in rows.values_list("pk", "current_id", "name"):
        revision, name = by_resource[pk]
        confirmed.append(pk)
        if current != revision.pk:
            moved.append(Resource(pk=pk, current=revision))
        if called != name:
            renamed.append(Resource(pk=pk, name=name))
    Resource.objects.bulk_update(moved, ["current"], batch_size=200)
    Resource.objects.bulk_update(renamed, ["name"], batch_size=200)
    Resource.objects.filter(pk__in=confirmed).update(current_since=started_at)


def choose_current(revisions: Iterable[Revision]) -> None:
    """Makes each the current one of its resource, as a push or a person does: no import moves it then."""
    rows = [
        Resource(pk=revision.resource_id, current=revision, current_is_chosen=True) for revision in revisions
    ]
    Resource.objects.bulk_update(rows, ["current", "current_is_chosen"], batch_size=200)


@transaction.atomic
def release_revision(*, actor: Actor, revision: Revision, version: str) -> Release:
    """Gives a revision a version, for ever. The caller has checked Need.WRITE.

    The version that it has already is given back. Which revision is current stays as it is. Raises
    ReleaseRefusedError with every reason.
    """
    project = revision.resource.project
    lock_project(project)
    found = Revision.objects.with_release().select_related("resource").get(pk=revision.pk)
    check_release(candidate_of(found), version)
    if found.version:
        return found.release
    release = Release.objects.create(revision=found, resource=found.resource, version=version)
    record(
        actor,
        "revision.release",
        found,
        project=project,
        digest=found.content_hash,
        kind=found.resource.kind,
        slug=found.resource.slug,
        number=found.number,
        version=version,
    )
    return release


def candidate_of(revision: Revision) -> Candidate:
    """What releasing looks at. Needs the revision's resource and release; one query."""
    resource = revision.resource
    rows = resource.releases.values_list("version", "revision__number")
    texts = None
    if resource.kind == Kind.BENCHMARK:
        rules = revision.rules
        texts = Texts(resource.readme, rules.purpose, rules.scoring.description)
    return Candidate(number=revision.number, version=revision.version, taken=dict(rows), texts=texts)
