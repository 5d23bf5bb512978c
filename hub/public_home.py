"""The Hub's first page: search and facets over what is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import Count, Exists, OuterRef, Q
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone

from benchmarks.pages import Figure
from hub.models import Facet, Listing
from hub.public_pages import FacetGroup, FacetValue, HubHomePage, ListingCard
from hub.querysets import ListingQuerySet
from plural_site import formats
from plural_site.http import paginate

PAGE_SIZE = 20
MOST_VALUES = 12
"""Values of a facet that are listed, those that occur most."""
MOST_TEXT = 200
SHOWN_TEXT = 280
GROUPS: Mapping[str, str] = {
    Facet.Kind.TAXONOMY: "Category",
    Facet.Kind.KIND: "Compares",
    Facet.Kind.LICENCE: "Licence",
    Facet.Kind.PUBLISHER: "Publisher",
}
KIND_WORDS = {"models": "models", "agents": "whole Agents"}
UPDATED = {"7": "in the last 7 days", "30": "in the last 30 days", "365": "in the last year"}
"""Days, as they stand in an address."""


@dataclass(frozen=True, slots=True)
class HubQuery:
    """What a reader asks the Hub for. Values of one facet widen, facets narrow."""

    q: str = ""
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    updated: str = ""
    withdrawn: bool = False
    cursor: str = ""

    @classmethod
    def parse(cls, query: QueryDict) -> HubQuery:
        """Rubbish means the default."""
        given = {
            kind: tuple(dict.fromkeys(filter(None, map(_text, query.getlist(kind)))))[:MOST_VALUES]
            for kind in GROUPS
        }
        updated = query.get("updated", "")
        return cls(
            q=_text(query.get("q", "")),
            facets={kind: values for kind, values in given.items() if values},
            updated=updated if updated in UPDATED else "",
            withdrawn=query.get("withdrawn") == "1",
            cursor=query.get("cursor", ""),
        )

    def pairs(self) -> list[tuple[str, str]]:
        """As parameters of an address, without the search and the place in the list."""
        found = [(kind, value) for kind, values in self.facets.items() for value in values]
        found += [("updated", self.updated)] if self.updated else []
        return found + ([("withdrawn", "1")] if self.withdrawn else [])


def _text(value: str) -> str:
    return value.replace("\0", "").strip()[:MOST_TEXT]


def home_page(query: HubQuery) -> HubHomePage:
    return _Home(query, timezone.now()).page()


class _Home:
    def __init__(self, query: HubQuery, now: datetime) -> None:
        self.query, self.now = query, now
        self.path = reverse("hub:home")

    def page(self) -> HubHomePage:
        query = self.query
        rows = self._rows()
        page = paginate(
            rows.prefetch_related("facets").select_related("publication"),
            order=["-updated_at"],
            cursor=query.cursor,
            size=PAGE_SIZE,
        )
        counts = self._counts()
        hidden = 0 if query.withdrawn else self._rows(withdrawn=True).count() - counts["all"]
        return HubHomePage(
            query=query.q,
            carried=tuple(query.pairs()),
            facets=(*self._groups(), self._updated(counts)),
            chosen=tuple(self._chosen()),
            total=_counted(counts["all"], "Benchmark"),
            listings=tuple(map(_card, page.items)),
            next_href=self._href([*query.pairs(), ("cursor", page.next_cursor)]) if page.next_cursor else "",
            first_href=self._href(query.pairs()) if query.cursor else "",
            clear_href=self.path,
            is_empty=not page.items and not Listing.objects.exists(),
            withdrawn=self._withdrawn(hidden),
            feed_href=reverse("hub:feed"),
        )

    def _rows(self, *, but: str = "", withdrawn: bool = False) -> ListingQuerySet:
        """Listings that are asked for, without regard to the facet `but`."""
        found = Listing.objects.matching(self.query.q)
        if not (self.query.withdrawn or withdrawn):
            found = found.filter(is_withdrawn=False)
        if self.query.updated and but != "updated":
            found = found.filter(updated_at__gte=self.now - timedelta(days=int(self.query.updated)))
        for kind, values in self.query.facets.items():
            if kind != but:
                same = Facet.objects.filter(listing=OuterRef("pk"), kind=kind, value__in=values)
                found = found.filter(Exists(same))
        return found

    def _counts(self) -> Mapping[str, int]:
        """All listings found, and how many there are of each age."""
        since = {
            f"days_{days}": Count("pk", filter=Q(updated_at__gte=self.now - timedelta(days=int(days))))
            for days in UPDATED
        }
        ages: dict[str, int] = self._rows(but="updated").aggregate(**since)
        return {**ages, "all": self._rows().count()}

    def _groups(self) -> Sequence[FacetGroup]:
        return [group for kind, label in GROUPS.items() if (group := self._group(kind, label)).values]

    def _group(self, kind: str, label: str) -> FacetGroup:
        rows = Facet.objects.filter(kind=kind, listing__in=self._rows(but=kind))
        found = list(rows.values_list("value").annotate(n=Count("pk")).order_by("-n", "value"))
        chosen = self.query.facets.get(kind, ())
        counts = dict(found)
        shown = [value for value, _ in found[:MOST_VALUES]]
        shown += [value for value in chosen if value not in shown]
        values = [
            FacetValue(_label(kind, value), counts.get(value, 0), self._toggled(kind, value), value in chosen)
            for value in shown
        ]
        return FacetGroup(kind, label, tuple(values), max(len(found) - MOST_VALUES, 0))

    def _updated(self, counts: Mapping[str, int]) -> FacetGroup:
        others = [pair for pair in self.query.pairs() if pair[0] != "updated"]
        values = []
        for days, words in UPDATED.items():
            is_chosen = days == self.query.updated
            href = self._href(others if is_chosen else [*others, ("updated", days)])
            values.append(FacetValue(words, counts[f"days_{days}"], href, is_chosen))
        return FacetGroup("updated", "Updated", tuple(values), 0)

    def _chosen(self) -> Sequence[Figure]:
        found = [
            Figure(f"{GROUPS[kind]}: {_label(kind, value)}", href=self._toggled(kind, value))
            for kind, values in self.query.facets.items()
            for value in values
        ]
        others = [pair for pair in self.query.pairs() if pair[0] not in ("updated", "withdrawn")]
        if self.query.updated:
            found.append(Figure(f"Updated {UPDATED[self.query.updated]}", href=self._href(others)))
        return found

    def _withdrawn(self, hidden: int) -> Figure | None:
        pairs = self.query.pairs()
        if self.query.withdrawn:
            rest = [pair for pair in pairs if pair[0] != "withdrawn"]
            return Figure("Leave out withdrawn ones", href=self._href(rest))
        if not hidden:
            return None
        return Figure(
            f"Show {_counted(hidden, 'withdrawn one')} too", href=self._href([*pairs, ("withdrawn", "1")])
        )

    def _toggled(self, kind: str, value: str) -> str:
        pairs = self.query.pairs()
        pair = (kind, value)
        return self._href([each for each in pairs if each != pair] if pair in pairs else [*pairs, pair])

    def _href(self, pairs: Sequence[tuple[str, str]]) -> str:
        query = urlencode([*([("q", self.query.q)] if self.query.q else []), *pairs])
        return f"{self.path}?{query}" if query else self.path


def _label(kind: str, value: str) -> str:
    return KIND_WORDS.get(value, value) if kind == Facet.Kind.KIND else formats.clean_text(value)


def _counted(number: int, word: str) -> str:
    return f"{formats.count(number)} {word}{'' if number == 1 else 's'}"


def _card(listing: Listing) -> ListingCard:
    found: dict[str, list[str]] = {kind: [] for kind in GROUPS}
    for facet in listing.facets.all():
        found[facet.kind].append(_label(facet.kind, facet.value))
    results = _counted(listing.results, "result")
    about = formats.clean_text(listing.description)
    return ListingCard(
        title=formats.clean_text(listing.title),
        href=listing.publication.get_absolute_url(),
        version=listing.version,
        publisher=formats.clean_text(listing.publisher),
        description=about if len(about) <= SHOWN_TEXT else f"{about[:SHOWN_TEXT].rstrip()}…",
        results=f"{results} on {_counted(listing.tasks, 'Task')}",
        kinds=tuple(sorted(found[Facet.Kind.KIND])),
        taxonomies=tuple(sorted(found[Facet.Kind.TAXONOMY])),
        licence=", ".join(found[Facet.Kind.LICENCE]),
        updated=formats.date_text(listing.updated_at),
        is_withdrawn=listing.is_withdrawn,
    )
