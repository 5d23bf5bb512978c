"""What an address of the public Hub means: which manifest it shows, and where a reference leads."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404

from benchmarks.domain.types import DomainError
from hub.domain.stored import parse_reference, reference
from hub.models import PublishedResult
from hub.public_links import Links, links_of, manifest_href, publication_href, release_href
from hub.public_read import (
    Place,
    Published,
    RecordLine,
    ReleaseLine,
    find_place,
    place_of_manifest,
    published,
)


@dataclass(frozen=True, slots=True)
class Target:
    """A manifest at an address, with the release that it belongs to."""

    place: Place
    line: ReleaseLine
    record: RecordLine
    links: Links

    @property
    def published(self) -> Published:
        return published(self.record)


def target(account: str, slug: str, *, version: str = "", digest: str = "") -> Target:
    """The manifest with this digest, the newest of a version, or the newest of the current release.

    Two queries. Raises Http404 where nothing like it is published at this address.
    """
    place = find_place(account, slug)
    if digest:
        line, record = place.record(digest)
        path = manifest_href(place, digest)
    else:
        line = place.line(version) if version else place.current
        record = line.head
        path = release_href(place, line.version) if version else publication_href(place)
    return Target(place, line, record, links_of(place, path, record.manifest_digest, is_pinned=bool(digest)))


def target_of_result(account: str, slug: str, result_id: str) -> Target:
    """The newest manifest that holds a result. Three queries. Raises Http404 where none does."""
    place = find_place(account, slug)
    rows = PublishedResult.objects.filter(result_id=result_id, manifest__publication=place.pk)
    digest = rows.order_by("-manifest_id").values_list("manifest__digest", flat=True).first()
    if digest is None:
        raise Http404("No such result.")
    line, record = place.record(digest)
    path = release_href(place, line.version)
    return Target(place, line, record, links_of(place, path, digest, is_pinned=False))


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a reference leads. `newest` is the newest reference of the same release."""

    place: Place
    line: ReleaseLine
    record: RecordLine
    reference: str
    newest: str
    href: str


def resolve(text: str) -> Resolved:
    """What a reference names. Three queries. Raises DomainError for what is no reference, or whose parts
    don't belong together, Http404 for one of nothing published here.
    """
    wanted = parse_reference(text.strip())
    place = place_of_manifest(wanted.digest)
    line, record = place.record(wanted.digest)
    if (wanted.slug, wanted.version) != (place.slug, line.version):
        raise DomainError(
            f"The digest is that of {place.slug}@{line.version}, not of {wanted.slug}@{wanted.version}."
        )
    return Resolved(
        place,
        line,
        record,
        reference(place.slug, line.version, record.manifest_digest),
        reference(place.slug, line.version, line.head.manifest_digest),
        manifest_href(place, wanted.digest),
    )
