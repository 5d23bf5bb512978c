"""What a reader has to know before the figures: withdrawn, no longer the newest, scored by older rules."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.pages import Figure
from hub.public_links import diff_href, history_href, manifest_href, publication_href, release_href
from hub.public_pages import Notice
from hub.public_read import Place, Published, RecordLine, ReleaseLine
from hub.public_words import record_words
from plural_site import formats

clean = formats.clean_text


def notices_of(
    place: Place, line: ReleaseLine, record: RecordLine, published: Published, *, is_pinned: bool
) -> tuple[Notice, ...]:
    """The gravest first. They are computed: a manifest itself never changes."""
    return tuple(_notices(place, line, record, published, is_pinned))


def _notices(
    place: Place, line: ReleaseLine, record: RecordLine, published: Published, is_pinned: bool
) -> Iterator[Notice]:
    if not published.is_intact:
        yield Notice(
            "bad",
            "The stored bytes don’t match their digest",
            "Somebody changed them after they were published. Don’t rely on any figure here.",
            (Figure("What was checked", href=f"{manifest_href(place, record.manifest_digest)}/verify"),),
        )
    if end := line.withdrawal:
        yield _withdrawn(place, line, end)
    elif line.head is not record:
        yield _outdated(place, line, record)
    if not is_pinned and line.withdrawal is None:
        yield from _newer_withdrawn(place, line)
    yield from _newer_release(place, line)
    if published.differing:
        count = len(published.differing)
        yield Notice(
            "warn",
            "Scored by older rules",
            f"Figures of {count} result{'' if count == 1 else 's'} come out otherwise when they are computed "
            "from the per-Task figures by the rules that this site applies today. They are shown as they "
            "were published.",
            (Figure("See which", href=f"{manifest_href(place, record.manifest_digest)}/verify"),),
        )


def when_and_who(record: RecordLine) -> str:
    """E.g. "2 Nov 2026, 14:05 UTC, by Ann"."""
    return f"{formats.datetime_text(record.at)}, by {clean(record.by)}"


def _withdrawn(place: Place, line: ReleaseLine, end: RecordLine) -> Notice:
    links = [Figure("What happened", href=history_href(place))]
    standing = place.current
    if standing.withdrawal is None and standing is not line:
        href = release_href(place, standing.version)
        links.insert(0, Figure(f"Release {standing.version}, which stands", href=href))
    return Notice(
        "bad",
        f"Release {line.version} was withdrawn",
        f"On {when_and_who(end)}: {clean(end.reason)} What was published stays readable, and nothing of it "
        "should be relied on.",
        tuple(links),
    )


def _outdated(place: Place, line: ReleaseLine, record: RecordLine) -> Notice:
    head = line.head
    more = head.sequence - record.sequence
    return Notice(
        "info",
        "A newer manifest of this release exists",
        f"This is manifest {record.sequence} as it was frozen on {formats.date_text(record.at)}. "
        f"{more} newer one{'' if more == 1 else 's'} followed; the last says: "
        f"{record_words(head.kind, head.result, head.sequence)}. {clean(head.reason)}".strip(),
        (
            Figure("The newest", href=release_href(place, line.version)),
            Figure("What changed", href=diff_href(place, record.manifest_digest, head.manifest_digest)),
        ),
    )


def _newer_withdrawn(place: Place, line: ReleaseLine) -> Iterator[Notice]:
    """The newest release is not this one because it was withdrawn."""
    stands = f" Release {line.version} is the newest that stands." if line is place.current else ""
    for other in place.lines[: place.lines.index(line)]:
        if end := other.withdrawal:
            yield Notice(
                "warn",
                f"Release {other.version} came later and was withdrawn",
                f"On {when_and_who(end)}: {clean(end.reason)}{stands}",
                (Figure(f"Release {other.version}", href=release_href(place, other.version)),),
            )


def _newer_release(place: Place, line: ReleaseLine) -> Iterator[Notice]:
    current = place.current
    if current is line or current.withdrawal is not None or line.withdrawal is not None:
        return
    if place.lines.index(current) > place.lines.index(line):
        return
    yield Notice(
        "info",
        f"Release {current.version} is newer",
        f"It was first published on {formats.date_text(current.first.at)}. Scores of different releases "
        "compare only on Tasks and rules that are the same.",
        (Figure(f"Release {current.version}", href=publication_href(place)),),
    )
