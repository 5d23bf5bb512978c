"""Publications as the Hub's tables hold them, and their manifests parsed from the stored bytes.

Nothing here, nor in anything it imports, reads another table than those of the Hub.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.http import Http404

from benchmarks.domain.types import DomainError
from hub.domain.consistency import structure_problems
from hub.domain.consistency_results import compared
from hub.domain.manifest import Manifest as ManifestValue
from hub.domain.recompute import Figures, alike, recompute
from hub.domain.records import parse_record
from hub.domain.stored import digest_of, parse_manifest, reference
from hub.models import Manifest, ManifestRecord, Publication

CACHED_BYTES = 16 * 1024 * 1024
"""Stored bytes whose parsed manifests a process keeps; parsed, they take some ten times as much."""


class UnreadableError(Exception):
    """The bytes kept under a digest are no manifest that this version of the site can read."""

    def __init__(self, digest: str, why: str) -> None:
        super().__init__(why)
        self.digest = digest


@dataclass(frozen=True, slots=True)
class Published:
    """A manifest with what is computed from it alone."""

    digest: str
    size: int
    """Of the stored bytes."""
    is_intact: bool
    """Whether the stored bytes give this digest."""
    manifest: ManifestValue
    figures: Mapping[str, Figures]
    """By result id, computed anew from the per-Task figures by the rules of today."""
    differing: tuple[str, ...]
    """Ids of results whose figures come out otherwise today."""

    @property
    def reference(self) -> str:
        return reference(self.manifest.publication.slug, self.manifest.release.version, self.digest)


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A record beside a manifest. `result` is the id of the result that it is about, '' for the whole."""

    version: str
    sequence: int
    kind: str
    reason: str
    by: str
    at: datetime
    digest: str
    manifest_pk: int
    manifest_digest: str
    result: str

    @property
    def withdraws_release(self) -> bool:
        return self.kind == "withdraw" and not self.result


@dataclass(frozen=True, slots=True)
class ReleaseLine:
    """All records of one published release, from its first."""

    version: str
    records: tuple[RecordLine, ...]

    @property
    def first(self) -> RecordLine:
        return self.records[0]

    @property
    def head(self) -> RecordLine:
        return self.records[-1]

    @property
    def withdrawal(self) -> RecordLine | None:
        return self.head if self.head.withdraws_release else None


@dataclass(frozen=True, slots=True)
class Place:
    """A publication with its releases, the last one published first."""

    pk: int
    account: str
    slug: str
    title: str
    lines: tuple[ReleaseLine, ...]

    @property
    def current(self) -> ReleaseLine:
        """The newest release that stands; the newest of all where none does."""
        return next((line for line in self.lines if line.withdrawal is None), self.lines[0])

    @property
    def newest(self) -> RecordLine:
        """The last thing that happened to any release."""
        return max((line.head for line in self.lines), key=lambda record: (record.at, record.manifest_pk))

    def line(self, version: str) -> ReleaseLine:
        """Raises Http404 for a version that isn't published."""
        for line in self.lines:
            if line.version == version:
                return line
        raise Http404("No such release.")

    def record(self, digest: str) -> tuple[ReleaseLine, RecordLine]:
        """The record of a manifest. Raises Http404 for a digest of nothing published here."""
        for line in self.lines:
            for record in line.records:
                if record.manifest_digest == digest:
                    return line, record
        raise Http404("No such manifest.")


def find_place(account: str, slug: str) -> Place:
    """Two queries. Raises Http404 where nothing is published at this address."""
    found = Publication.objects.filter(account_slug=account, slug=slug).values_list("pk", "title").first()
    if found is None:
        raise Http404("No such publication.")
    return _place(found[0], account, slug, found[1])


def place_of_manifest(digest: str) -> Place:
    """The publication that a manifest belongs to. Two queries. Raises Http404 where there is none."""
    publications = Publication.objects.filter(records__manifest__digest=digest)
    found = publications.values_list("pk", "account_slug", "slug", "title").first()
    if found is None:
        raise Http404("No such manifest.")
    return _place(*found)


def _place(pk: int, account: str, slug: str, title: str) -> Place:
    by_version: dict[str, list[RecordLine]] = {}
    for record in _records(pk):
        by_version.setdefault(record.version, []).append(record)
    if not by_version:
        raise Http404("Nothing is published here.")
    lines = [ReleaseLine(version, tuple(records)) for version, records in by_version.items()]
    lines.sort(key=lambda line: (line.first.at, line.first.manifest_pk), reverse=True)
    return Place(pk, account, slug, title, tuple(lines))


def _records(publication: int) -> Iterable[RecordLine]:
    rows = ManifestRecord.objects.filter(publication=publication).order_by("sequence", "pk")
    names = ("version", "sequence", "kind", "reason", "by", "at", "digest", "manifest_id", "body")
    for row in rows.values(*names, "manifest__digest"):
        try:
            result = parse_record(bytes(row["body"])).subject.result or ""
        except DomainError:
            result = ""
        yield RecordLine(
            version=row["version"],
            sequence=row["sequence"],
            kind=row["kind"],
            reason=row["reason"],
            by=row["by"],
            at=row["at"],
            digest=row["digest"],
            manifest_pk=row["manifest_id"],
            manifest_digest=row["manifest__digest"],
            result=result,
        )


def published(record: RecordLine) -> Published:
    """The manifest of a record, one query unless it was read before. Raises UnreadableError."""
    if found := _cache.get(record.manifest_digest):
        return found
    body = stored_bytes(record.manifest_digest)
    found = read_published(body, record.manifest_digest)
    if found.is_intact:
        _cache.put(found)
    return found


def stored_bytes(digest: str) -> bytes:
    """Exactly the bytes that were frozen. One query. Raises Http404 unless a record names them."""
    rows = Manifest.objects.filter(digest=digest, record__isnull=False)
    body = rows.values_list("body", flat=True).first()
    if body is None:
        raise Http404("No such manifest.")
    return bytes(body)


def read_published(body: bytes, digest: str) -> Published:
    """What a page shows of these bytes, stored or about to be. Raises UnreadableError."""
    try:
        manifest = parse_manifest(body)
    except DomainError as error:
        raise UnreadableError(digest, str(error)) from None
    if problems := structure_problems(manifest):
        raise UnreadableError(digest, f"{problems[0].field}: {problems[0].message}")
    figures = {result.id: recompute(manifest, result) for result in manifest.results}
    return Published(
        digest=digest,
        size=len(body),
        is_intact=digest_of(body) == digest,
        manifest=manifest,
        figures=figures,
        differing=tuple(
            result.id
            for result in manifest.results
            if not all(alike(stated, now) for _, stated, now in compared(result, figures[result.id]))
        ),
    )


class _Cache:
    """Parsed manifests by digest, the least recently used go first. Frozen bytes never get stale."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.lock = threading.Lock()
        self.held: OrderedDict[str, Published] = OrderedDict()
        self.size = 0

    def get(self, digest: str) -> Published | None:
        with self.lock:
            if digest in self.held:
                self.held.move_to_end(digest)
            return self.held.get(digest)

    def put(self, found: Published) -> None:
        with self.lock:
            if found.digest in self.held or found.size > self.room:
                return
            self.held[found.digest] = found
            self.size += found.size
            while self.size > self.room:
                self.size -= self.held.popitem(last=False)[1].size

    def clear(self) -> None:
        with self.lock:
            self.held.clear()
            self.size = 0


_cache = _Cache(CACHED_BYTES)


def forget() -> None:
    """Drops what this process has read, for tests."""
    _cache.clear()
