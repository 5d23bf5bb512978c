"""Updates of a Benchmark: what is newer, what taking it would change, and the question before it is saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from benchmarks.diff_part import Side, diff_part
from benchmarks.domain.updates import Offer, Plan, find_offers
from benchmarks.links import benchmark_href, revision_label, updates_href
from benchmarks.models import Revision
from benchmarks.pages import Crumb
from benchmarks.pinned import Pinned, current_pins, plan_for
from benchmarks.selectors import benchmark_crumbs, find_benchmark, find_revision
from benchmarks.update_note import KINDS
from benchmarks.update_pages import OfferRow, PlanPart, SavedTask, SavePage, UpdatesPage
from plural_site import formats
from plural_site.accounts.models import Project

MOST_SINGLE = 100
"""Offers of one kind that are taken or left one by one; more, all together."""
DIGITS = 10
NAMES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class UpdateQuery:
    """What an address takes: starts of content hashes or whole kinds; None for everything."""

    take: tuple[str, ...] | None
    page: int = 1

    @classmethod
    def parse(cls, query: QueryDict) -> UpdateQuery:
        page = query.get("page", "")
        number = int(page) if page.isascii() and page.isdigit() and len(page) < 7 else 1
        take = tuple(dict.fromkeys(filter(None, query.getlist("take"))))
        return cls(take if take or "chosen" in query else None, number)


class Updates:
    """The updates of one Benchmark and those that a person takes."""

    def __init__(self, project: Project, slug: str, query: UpdateQuery) -> None:
        self.project, self.query = project, query
        self.resource = find_benchmark(project, slug)
        self.resource.project = project
        self.current: Revision = find_revision(self.resource, "")
        self.pinned: Pinned = current_pins(self.resource)
        self.offers = find_offers(self.pinned.pins, self.pinned.newest)
        counts = Counter(offer.kind for offer in self.offers)
        self.grouped = {kind for kind, number in counts.items() if number > MOST_SINGLE}
        self.taken, self.unknown = self._taken()

    @property
    def keys(self) -> frozenset[str]:
        """Of the offers that are taken."""
        return frozenset(offer.key for offer in self.taken)

    def value(self, offer: Offer) -> str:
        """The offer as an address takes it."""
        if offer.kind in self.grouped:
            return offer.kind
        return offer.content_hash.removeprefix("sha256:")[:DIGITS]

    def values(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.value(offer) for offer in self.taken))

    def href(self, page: int = 1, *, save: bool = False) -> str:
        query = [("chosen", "1"), *(("take", value) for value in self.values())]
        query += [("page", str(page))] if page > 1 else []
        name = "benchmarks:updates-save" if save else "benchmarks:updates"
        return f"{reverse(name, args=[self.project.slug, self.resource.slug])}?{urlencode(query)}"

    def plan(self) -> Plan:
        return plan_for(self.resource, self.current, self.pinned, self.keys)

    def _taken(self) -> tuple[tuple[Offer, ...], tuple[str, ...]]:
        if self.query.take is None:
            return self.offers, ()
        wanted = set(self.query.take)
        taken = tuple(offer for offer in self.offers if self.value(offer) in wanted)
        return taken, tuple(sorted(wanted - {self.value(offer) for offer in self.offers}))


def updates_page(updates: Updates, *, can_write: bool) -> UpdatesPage:
    resource, current = updates.resource, updates.current
    plan = updates.plan() if updates.taken else None
    shown = _plan_part(updates, plan) if plan else None
    diff = None
    if plan:
        made = [planned.definition for planned in plan.tasks if planned.definition]
        new = Side(
            plan.benchmark.content,
            [planned.task for planned in plan.tasks],
            made={definition.content_hash: definition.content for definition in made},
        )
        old = Side(current.content, [pin.task for pin in updates.pinned.pins], current)
        diff, _ = diff_part(updates.project, old, new, page=updates.query.page, href=updates.href)
    return UpdatesPage(
        crumbs=benchmark_crumbs(updates.project, resource, Crumb("Updates")),
        name=formats.clean_text(resource.name),
        label=revision_label(current),
        back_href=benchmark_href(updates.project, resource.slug),
        action=updates_href(updates.project, resource.slug),
        offers=tuple(_offer_rows(updates)),
        problems=tuple(
            f"{formats.clean_text(value[:20])} is no newer revision of anything that is pinned now."
            for value in updates.unknown
        ),
        plan=shown,
        diff=diff,
        save_href=updates.href(save=True) if can_write and shown and shown.problems == () else "",
        may_save=can_write,
    )


def save_page(updates: Updates, *, error: str = "") -> SavePage:
    resource, plan = updates.resource, updates.plan()
    part = _plan_part(updates, plan)
    verb = "Make revision {} current again?" if part.exists else "Save revision {}?"
    carried = [("chosen", "1"), *(("take", value) for value in updates.values())]
    return SavePage(
        crumbs=benchmark_crumbs(updates.project, resource, Crumb("Updates", updates.href()), Crumb("Save")),
        title=verb.format(part.number),
        name=formats.clean_text(resource.name),
        parent=revision_label(updates.current),
        plan=part,
        may_save=not part.problems and part.content_hash != updates.current.content_hash,
        carried=(*carried, ("expected", part.content_hash)),
        action=reverse("benchmarks:updates-save", args=[updates.project.slug, resource.slug]),
        back_href=updates.href(),
        tasks=tuple(_saved_tasks(updates, plan)),
        definition=formats.json_text(plan.benchmark.content),
        error=error,
    )


def _plan_part(updates: Updates, plan: Plan) -> PlanPart:
    """Two queries."""
    revisions = updates.resource.revisions
    digest = plan.benchmark.content_hash
    held = revisions.filter(content_hash=digest).values_list("number", flat=True).first()
    latest = revisions.order_by("-number").values_list("number", flat=True).first() or 0
    return PlanPart(
        number=held or latest + 1,
        exists=held is not None,
        content_hash=digest,
        made=len(plan.made),
        problems=formats.clean_texts(plan.problems),
        warnings=formats.clean_texts(plan.warnings),
    )


def _offer_rows(updates: Updates) -> Iterator[OfferRow]:
    """One for each offer, or for all of a kind where there are many."""
    taken = updates.keys
    grouped: set[str] = set()
    for offer in updates.offers:
        if offer.kind in updates.grouped:
            if offer.kind not in grouped:
                grouped.add(offer.kind)
                yield _group_row(updates, offer.kind)
            continue
        yield OfferRow(
            value=updates.value(offer),
            chosen=offer.key in taken,
            kind=KINDS[offer.kind],
            name=formats.clean_text(offer.name),
            old=", ".join(map(str, offer.old)),
            new=str(offer.new),
            content_hash=offer.content_hash,
            short_hash=offer.content_hash.removeprefix("sha256:")[:12],
            tasks=formats.clean_texts(offer.tasks[:NAMES_SHOWN]),
            more_tasks=max(len(offer.tasks) - NAMES_SHOWN, 0),
        )


def _group_row(updates: Updates, kind: str) -> OfferRow:
    offers = [offer for offer in updates.offers if offer.kind == kind]
    names = [name for offer in offers for name in offer.tasks]
    return OfferRow(
        value=kind,
        chosen=any(offer.kind == kind for offer in updates.taken),
        kind=f"{KINDS[kind]}s",
        name=f"all {formats.count(len(offers))}",
        old="older",
        new="newest",
        content_hash="",
        short_hash="",
        tasks=formats.clean_texts(names[:NAMES_SHOWN]),
        more_tasks=max(len(names) - NAMES_SHOWN, 0),
    )


def _saved_tasks(updates: Updates, plan: Plan) -> Sequence[SavedTask]:
    rows = []
    for position, (pin, planned) in enumerate(zip(updates.pinned.pins, plan.tasks, strict=True), start=1):
        task, is_same = planned.task, planned.task == pin.task
        if planned.made_from:
            how = f"a new revision, made from revision {planned.made_from.number}"
        elif is_same:
            how = f"revision {task.number}, as it is"
        else:
            how = f"revision {task.number} in place of revision {pin.task.number}"
        rows.append(SavedTask(position, formats.clean_text(task.name), how, task.content_hash, not is_same))
    return rows
