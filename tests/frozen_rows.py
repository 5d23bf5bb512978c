"""Manifests straight into the tables of the Hub, for tests that need many or strange ones."""

from __future__ import annotations

from datetime import datetime

from hub.domain.manifest import Manifest as ManifestValue
from hub.domain.records import RecordKind, StoredRecord, Subject, next_record, store
from hub.domain.stored import digest_of, manifest_bytes
from hub.domain.times import parse_time
from hub.listing import list_publication
from hub.models import Manifest, ManifestRecord, Publication, PublishedResult
from tests.builders import START


def frozen(
    manifest: ManifestValue,
    kind: RecordKind = "publish",
    reason: str = "",
    *,
    result: str | None = None,
    by: str = "Ann",
    at: datetime | None = None,
    account: str = "ada",
    body: bytes | None = None,
) -> ManifestRecord:
    """A manifest with its record after those of its release, its results and its listing, as rows.

    `body` stands in for the manifest's own bytes, where a test needs others.
    """
    named, version = manifest.publication, manifest.release.version
    publication, _ = Publication.objects.get_or_create(
        account_slug=account, slug=named.slug, defaults={"title": named.title}
    )
    when = at or parse_time(manifest.release.published_at) or START
    body = manifest_bytes(manifest) if body is None else body
    row = Manifest.objects.create(
        publication=publication,
        version=version,
        schema_version=manifest.schema_version,
        digest=digest_of(body),
        body=body,
        published_at=when,
    )
    before = ManifestRecord.objects.head(publication, version)
    record = next_record(
        StoredRecord(before.digest, bytes(before.body)) if before else None,
        manifest=row.digest,
        kind=kind,
        reason=reason,
        by=by,
        at=when,
        subject=Subject(named.id, version, result),
    )
    stored = store(record)
    found = ManifestRecord.objects.create(
        publication=publication,
        version=version,
        sequence=record.sequence,
        manifest=row,
        previous=before,
        kind=kind,
        reason=reason,
        by=by,
        at=when,
        digest=stored.digest,
        body=stored.body,
    )
    _results(row, manifest)
    list_publication(publication, row, manifest, when)
    return found


def _results(row: Manifest, manifest: ManifestValue) -> None:
    configurations = {each.id: each for each in manifest.configurations}
    PublishedResult.objects.bulk_create(
        PublishedResult(
            manifest=row,
            result_id=result.id,
            track_ref=result.track,
            configuration=result.configuration,
            label=configurations[result.configuration].label,
            model=configurations[result.configuration].model,
            status=result.status,
            provenance=result.provenance,
            score=result.score,
            eligible=result.eligible,
        )
        for result in manifest.results
    )
