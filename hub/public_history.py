"""What happened to a publication, and what differs between two of its manifests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from django.http import Http404
from django.urls import reverse

from benchmarks.pages import Crumb, Figure
from hub.domain.diff import Change, diff
from hub.public_links import diff_href, history_href, manifest_href, publication_href, release_href
from hub.public_pages import DiffPage, DiffPart, DiffRow, HistoryLine, HistoryPage, RecordRow
from hub.public_read import Place, RecordLine, ReleaseLine, published
from hub.public_words import RECORD_TONES, record_words
from plural_site import formats

clean = formats.clean_text
SIGNS = ("added", "removed", "changed")
MOST_PARTS = 100
"""Values of one change that are listed."""


def history_page(place: Place) -> HistoryPage:
    return HistoryPage(
        crumbs=(*crumbs_of(place), Crumb("History")),
        title=clean(place.title),
        lines=tuple(
            HistoryLine(
                version=line.version,
                href=release_href(place, line.version),
                is_current=line is place.current,
                records=tuple(record_row(place, line, record) for record in reversed(line.records)),
            )
            for line in place.lines
        ),
        diff_action=reverse("hub:diff", args=[place.account, place.slug]),
        choices=tuple(_choices(place)),
        feed_href=f"{publication_href(place)}/feed.atom",
    )


def crumbs_of(place: Place) -> tuple[Crumb, ...]:
    return (Crumb("Hub", reverse("hub:home")), Crumb(clean(place.title), publication_href(place)))


def record_row(place: Place, line: ReleaseLine, record: RecordLine) -> RecordRow:
    before = _before(line, record)
    manifest = manifest_href(place, record.manifest_digest)
    return RecordRow(
        sequence=record.sequence,
        version=record.version,
        title=record_words(record.kind, record.result, record.sequence),
        tone=RECORD_TONES.get(record.kind, ""),
        reason=clean(record.reason),
        by=clean(record.by),
        at=formats.datetime_text(record.at),
        digest=record.manifest_digest,
        short_digest=record.manifest_digest.removeprefix("sha256:")[:12],
        manifest_href=manifest,
        verify_href=f"{manifest}/verify",
        diff=Figure(
            f"What changed since manifest {before.sequence}",
            href=diff_href(place, before.manifest_digest, record.manifest_digest),
        )
        if before
        else None,
        is_head=record is line.head,
    )


def _before(line: ReleaseLine, record: RecordLine) -> RecordLine | None:
    at = line.records.index(record)
    return line.records[at - 1] if at else None


def _choices(place: Place) -> Iterator[tuple[str, str]]:
    for line in place.lines:
        for record in reversed(line.records):
            words = f"{line.version}, manifest {record.sequence} of {formats.date_text(record.at)}"
            yield record.manifest_digest, words


def diff_page(place: Place, old: str, new: str) -> DiffPage:
    """From the manifest `old` to `new`, by their digests; '' for `old` compares with nothing.

    '' for `new` is the newest. Raises Http404 for what isn't published here, UnreadableError.
    """
    after_line, after = place.record(new) if new else (place.current, place.current.head)
    before = place.record(old) if old else None
    if before and before[1] is after:
        raise Http404("Both are the same manifest.")
    changes = changes_between(before[1] if before else None, after)
    return DiffPage(
        crumbs=(*crumbs_of(place), Crumb("History", history_href(place)), Crumb("Compare")),
        title=clean(place.title),
        old=record_row(place, *before) if before else None,
        new=record_row(place, after_line, after),
        rows=tuple(map(_row, changes)),
        summary=_summary(changes),
        between=tuple(_between(place, before[1] if before else None, after_line, after)),
        swap_href=diff_href(place, after.manifest_digest, before[1].manifest_digest) if before else "",
        history_href=history_href(place),
        diff_action=reverse("hub:diff", args=[place.account, place.slug]),
        choices=tuple(_choices(place)),
        old_digest=before[1].manifest_digest if before else "",
        new_digest=after.manifest_digest,
    )


@lru_cache(maxsize=8)
def changes_between(old: RecordLine | None, new: RecordLine) -> tuple[Change, ...]:
    """Kept, as manifests never change and comparing large ones takes a second or two."""
    return tuple(diff(published(old).manifest if old else None, published(new).manifest))


def _between(place: Place, old: RecordLine | None, line: ReleaseLine, new: RecordLine) -> Iterator[RecordRow]:
    """The steps from one manifest to a later one of the same release."""
    if old is None or old.version != new.version or old.sequence > new.sequence:
        return
    for record in line.records:
        if old.sequence < record.sequence <= new.sequence:
            yield record_row(place, line, record)


def _row(change: Change) -> DiffRow:
    return DiffRow(
        sign=change.sign,
        what=clean(change.what).replace("`", ""),
        reason=clean(change.reason).replace("`", ""),
        parts=tuple(
            DiffPart(clean(part.label).replace("`", ""), clean(part.old or ""), clean(part.new or ""))
            for part in change.parts[:MOST_PARTS]
        ),
        more=max(len(change.parts) - MOST_PARTS, 0),
    )


def _summary(changes: Sequence[Change]) -> str:
    if not changes:
        return "Nothing differs."
    counts = [(sign, sum(change.sign == sign for change in changes)) for sign in SIGNS]
    return f"{', '.join(f'{count} {sign}' for sign, count in counts if count)}."
