"""Atom feeds of what happened: on the whole site, and to one publication."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from benchmarks.domain.types import DomainError
from hub.domain.records import parse_record
from hub.models import ManifestRecord
from hub.public_links import absolute, publication_href
from hub.public_read import Place
from hub.public_words import record_words
from plural_site import formats

MOST_ENTRIES = 50
CONTENT_TYPE = "application/atom+xml; charset=utf-8"


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """A record, with the address of the manifest that came with it."""

    digest: str
    title: str
    text: str
    by: str
    at: datetime
    href: str


def entries_of(place: Place | None = None) -> list[FeedEntry]:
    """The newest records, of the whole site or of one publication. One query."""
    rows = ManifestRecord.objects.order_by("-pk")
    if place:
        rows = rows.filter(publication=place.pk)
    return [_entry(row) for row in rows.values(*_COLUMNS)[:MOST_ENTRIES]]


def etag_of(entries: Sequence[FeedEntry]) -> str:
    return entries[0].digest if entries else "empty"


def site_feed(entries: Iterable[FeedEntry]) -> str:
    return _feed(
        "Published on Plural Site",
        "Benchmarks that were published, corrected and withdrawn.",
        reverse("hub:home"),
        reverse("hub:feed"),
        entries,
    )


def publication_feed(place: Place, entries: Iterable[FeedEntry]) -> str:
    title = formats.clean_text(place.title)
    path = publication_href(place)
    return _feed(title, f"What happened to {title}.", path, f"{path}/feed.atom", entries)


_COLUMNS = (
    *("digest", "version", "sequence", "kind", "reason", "by", "at", "body", "manifest__digest"),
    *("publication__title", "publication__account_slug", "publication__slug"),
)


def _entry(row: Mapping[str, Any]) -> FeedEntry:
    try:
        result = parse_record(bytes(row["body"])).subject.result or ""
    except DomainError:
        result = ""
    what = record_words(row["kind"], result, row["sequence"])
    name, by = formats.clean_text(row["publication__title"]), formats.clean_text(row["by"])
    place = (row["publication__account_slug"], row["publication__slug"], row["manifest__digest"])
    return FeedEntry(
        digest=row["digest"],
        title=f"{name} {row['version']}: {what[0].lower()}{what[1:]}",
        text=formats.clean_text(row["reason"]) or f"{what} by {by}.",
        by=by,
        at=row["at"],
        href=reverse("hub:manifest", args=place),
    )


def _feed(title: str, about: str, path: str, own: str, entries: Iterable[FeedEntry]) -> str:
    feed = Atom1Feed(
        title=title, link=absolute(path), description=about, subtitle=about, feed_url=absolute(own)
    )
    for entry in entries:
        feed.add_item(
            title=entry.title,
            link=absolute(entry.href),
            description=entry.text,
            author_name=entry.by,
            pubdate=entry.at.astimezone(UTC),
            updateddate=entry.at.astimezone(UTC),
            unique_id=f"urn:sha256:{entry.digest.removeprefix('sha256:')}",
        )
    text: str = feed.writeString("utf-8")
    return text
