"""A published manifest checked before the reader's eyes: digests, chain, and every figure recomputed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.pages import Crumb
from hub.domain.records import StoredRecord
from hub.domain.verify import NOT_RECOMPUTABLE, Check, verify
from hub.models import ManifestRecord
from hub.public_history import crumbs_of, record_row
from hub.public_links import absolute, json_href, manifest_href
from hub.public_pages import CheckGroup, CheckRow, VerifyPage
from hub.public_read import Place, RecordLine, stored_bytes
from plural_site import formats

clean = formats.clean_text
MOST_ROWS = 100
"""Checks of one result that are listed, unless more of them fail."""


def stored_records(publication: int, version: str) -> list[StoredRecord]:
    """The chain of a release as it is stored, from its first record. One query."""
    rows = ManifestRecord.objects.filter(publication=publication, version=version).order_by("sequence")
    return [StoredRecord(digest, bytes(body)) for digest, body in rows.values_list("digest", "body")]


def verify_page(place: Place, record: RecordLine) -> VerifyPage:
    """Reads the bytes and the records anew, whatever is cached."""
    line = place.line(record.version)
    digest = record.manifest_digest
    body = stored_bytes(digest)
    checks = verify(body, stored_records(place.pk, record.version), digest=digest)
    failed = [check for check in checks if not check.ok]
    path = manifest_href(place, digest)
    reference = next((check.found for check in checks if check.what == "Reference"), "")
    return VerifyPage(
        crumbs=(
            *crumbs_of(place),
            Crumb(f"Manifest {record.sequence} of release {record.version}", path),
            Crumb("Verify"),
        ),
        title=clean(place.title),
        version=record.version,
        digest=digest,
        reference=clean(reference),
        tone="bad" if failed else "good",
        summary=f"{formats.count(len(failed))} of {formats.count(len(checks))} checks failed."
        if failed
        else f"All {formats.count(len(checks))} checks hold.",
        failed=tuple(map(_row, failed)),
        groups=tuple(_groups(checks)),
        records=tuple(record_row(place, line, each) for each in line.records),
        not_recomputable=tuple(NOT_RECOMPUTABLE.items()),
        commands=(
            f"curl -s {absolute(json_href(digest))} | sha256sum",
            "python manage.py verify_publication bundle.zip",
        ),
        bundle_href=f"{path}/bundle.zip",
        json_href=json_href(digest),
        manifest_href=path,
    )


def _groups(checks: Sequence[Check]) -> Iterator[CheckGroup]:
    """Checks of the bytes, then those of each result, in the order in which they were made."""
    by_title: dict[str, list[Check]] = {}
    for check in checks:
        name, colon, _ = check.what.partition(": ")
        of_result = colon and name.startswith("Result ")
        title = clean(name).replace("`", "") if of_result else "Bytes and records"
        by_title.setdefault(title, []).append(check)
    for title, found in by_title.items():
        failed = sum(not check.ok for check in found)
        rows = sorted(found, key=lambda check: check.ok)[: max(MOST_ROWS, failed)]
        shown = tuple(_row(check, title) for check in rows)
        yield CheckGroup(title, len(found) - failed, failed, shown, len(found) - len(shown))


def _row(check: Check, title: str = "") -> CheckRow:
    what = clean(check.what).replace("`", "").removeprefix(f"{title}: ")
    return CheckRow(what[:1].upper() + what[1:], clean(check.expected), clean(check.found), check.ok)
