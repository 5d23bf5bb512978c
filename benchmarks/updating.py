"""Saves the next revision of a Benchmark with newer revisions of what it pins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from django.db import transaction

from benchmarks.actions import choose_current, lock_project, record_benchmark, record_revisions
from benchmarks.domain.types import DomainError
from benchmarks.domain.updates import Plan, find_offers
from benchmarks.models import Resource, Revision
from benchmarks.pinned import current_pins, plan_for
from plural_site.accounts.actions import record
from plural_site.accounts.models import User


class OutdatedPlanError(DomainError):
    """What would be saved is no longer what was shown: something else was saved meanwhile."""


@transaction.atomic
def save_update(*, actor: User, resource: Resource, taken: Collection[str], expected_hash: str) -> Revision:
    """The revision with the offers whose keys are `taken`, made current. The caller has checked Need.WRITE.

    `expected_hash` is the content hash that the person has seen. Saved again, it is the same revision. Raises
    OutdatedPlanError where another content would be saved, DomainError with every reason why it can't be.
    """
    project = resource.project
    lock_project(project)
    resource = Resource.objects.select_related("project").get(pk=resource.pk)
    current = resource.revisions.get(pk=resource.current_id or 0)
    if current.content_hash == expected_hash:
        return current
    pinned = current_pins(resource)
    plan = plan_for(resource, current, pinned, taken)
    if plan.benchmark.content_hash != expected_hash:
        raise OutdatedPlanError(
            "Something of this Benchmark has changed since this page was made, so nothing was saved. "
            "Look at what would be saved now."
        )
    if plan.problems:
        raise DomainError(" ".join(plan.problems))
    revision = _record(plan, resource, actor)
    kinds = Counter(offer.kind for offer in find_offers(pinned.pins, pinned.newest) if offer.key in taken)
    record(
        actor,
        "benchmark.update",
        revision,
        project=project,
        digest=revision.content_hash,
        slug=resource.slug,
        number=revision.number,
        taken={f"{kind.title()}{'' if number == 1 else 's'}": number for kind, number in kinds.items()},
        from_digest=current.content_hash,
    )
    return revision


def _record(plan: Plan, resource: Resource, actor: User) -> Revision:
    """Tasks first, each the current one where it was made from that."""
    definitions = [planned.definition for planned in plan.tasks if planned.definition]
    found, _ = record_revisions(project=resource.project, definitions=definitions, actor=actor)
    revision, _ = record_benchmark(
        project=resource.project,
        definition=plan.benchmark,
        tasks=[(planned.task.name, planned.version, planned.task.content_hash) for planned in plan.tasks],
        actor=actor,
    )
    bases = {
        planned.definition.content_hash: planned.made_from.content_hash
        for planned in plan.tasks
        if planned.definition and planned.made_from
    }
    owners = Resource.objects.select_related("current").in_bulk({row.resource_id for row in found.values()})
    grown = []
    for digest, base in bases.items():
        current = owners[found[digest].resource_id].current
        if current is None or current.content_hash == base:
            grown.append(found[digest])
    choose_current([*grown, revision])
    return revision
