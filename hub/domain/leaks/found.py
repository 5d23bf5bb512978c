"""What was found in one string, over all its readings, and which of it is told."""

from __future__ import annotations

import sys
from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from hub.domain.leaks.assignments import assigned_hits
from hub.domain.leaks.decoding import LINE_BREAKS
from hub.domain.leaks.hits import Hit
from hub.domain.leaks.kinds import KINDS
from hub.domain.leaks.overlap import Overlaps
from hub.domain.leaks.places import Place
from hub.domain.leaks.reading import Reading, Readings
from hub.domain.leaks.tokens import token_hits
from hub.domain.leaks.traces import email_hits, path_hits, user_name_hits
from hub.domain.leaks.types import Span

PRIVATE_TEXT = "private_text"
SMALLEST = 5
"""Characters; `/root` is the shortest thing found."""
ACROSS_LINES = frozenset({"secret", "private_key", "password", "private"})
"""Groups that are looked for where line breaks were taken out; two words put together make no address."""
WHOLE_ENCODINGS = frozenset({"base64", "hexadecimal"})
VAGUE = frozenset({"prefixed_key", "random_value"})
"""Kinds that say less than any other of the same place."""
NEIGHBOURS = 8
MOST_FOUND = 200
"""Findings told of one string."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hit with its span in the string as it is in the document."""

    kind: str
    span: Span
    value: str
    label: str = ""
    encodings: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def rank(self) -> int:
        return KINDS[self.kind].rank


def found_in(of_text: Readings, names: Collection[str]) -> list[Found]:
    """Secrets and traces; `names` are user names."""
    found: list[Found] = []
    for reading in of_text.all:
        for hit in _outermost(_hits(reading.text, names)):
            found += _traced(reading, hit)
    if not of_text.is_whole:
        text = of_text.all[0].text
        found.append(Found("unchecked", (0, len(text)), text))
    return found


def overlaps_in(of_text: Readings, overlaps: Overlaps) -> list[Found]:
    """Overlaps with private material. One with its line breaks taken out counts where there is no other."""
    found: list[Found] = []
    for reading in of_text.all:
        for overlap in overlaps.in_text(reading.text):
            hit = Hit(PRIVATE_TEXT, overlap.start, overlap.end, overlap.value)
            for one in _traced(reading, hit, overlap.sources):
                if LINE_BREAKS not in one.encodings or not any(
                    _meet(one.span, other.span) for other in found
                ):
                    found.append(one)
    return found


def settled(found: Sequence[Found], text: str) -> list[Found]:
    """What of `found` in `text` is told: each value once, as it says most."""
    if len(found) < 2:
        return list(found)
    kept: list[Found] = []
    for one in sorted(found, key=_first):
        if len(kept) == MOST_FOUND:
            return [*kept, Found("unchecked", (0, len(text)), text, f"more than {MOST_FOUND} findings")]
        if not any(_tells_all(other, one) for other in kept):
            kept.append(one)
    return kept


def across(place: Place, found: Iterable[Found], in_items: Collection[Span]) -> list[Found]:
    """Of what was found in a list's items put together what shows only there; `in_items` is the rest."""
    return [
        one
        for one in found
        if any(one.span[0] <= at < one.span[1] for at in place.breaks)
        and all(
            _goes_on(place.text[end : one.span[1]])
            for start, end in in_items
            if _meet(one.span, (start, end))
        )
    ]


def _goes_on(rest: str) -> bool:
    """Whether the next line goes on with a secret: it has digits among letters, as words have not."""
    return sum(map(str.isdigit, rest)) >= 2 and any(map(str.isalpha, rest))


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _hits(text: str, names: Collection[str]) -> Iterator[Hit]:
    if len(text) < SMALLEST:
        return
    yield from token_hits(text)
    yield from assigned_hits(text)
    yield from email_hits(text)
    yield from path_hits(text)
    yield from user_name_hits(text, names)


def _outermost(hits: Iterable[Hit]) -> list[Hit]:
    """Without those inside another that says more: a password's part that looks like an address."""
    kept: list[Hit] = []
    spans: list[Span] = []
    for hit in sorted(hits, key=lambda hit: (-KINDS[hit.kind].rank, hit.start, -hit.end)):
        if not _is_inside(spans, hit.start, hit.end):
            kept.append(hit)
            insort(spans, (hit.start, hit.end))
    return kept


def _is_inside(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether one of the last `spans`, in order, that begin at `start` or before holds [start, end)."""
    index = bisect_right(spans, (start, sys.maxsize))
    return any(last >= end for _, last in spans[max(0, index - NEIGHBOURS) : index])


def _traced(reading: Reading, hit: Hit, sources: tuple[str, ...] = ()) -> Iterator[Found]:
    span, encodings = reading.back(hit.start, hit.end)
    told_already = hit.kind == "random_value" and bool(reading.layers) and not encodings
    if not told_already and _may_be(hit.kind, encodings):
        yield Found(hit.kind, span, hit.value, hit.label, encodings, sources)


def _may_be(kind: str, encodings: tuple[str, ...]) -> bool:
    """Words on two lines put together make no address or path; a broken line of base64 may hold one."""
    whole = LINE_BREAKS not in encodings or not WHOLE_ENCODINGS.isdisjoint(encodings)
    return whole or KINDS[kind].group in ACROSS_LINES


def _first(found: Found) -> tuple[int, int, int, tuple[str, ...], str]:
    start, end = found.span
    return (-found.rank, start - end, len(found.encodings), found.encodings, found.value)


def _tells_all(kept: Found, other: Found) -> bool:
    """Whether `kept` makes `other`, inside its span, needless to tell."""
    if other.kind in VAGUE and kept.kind not in VAGUE and _meet(kept.span, other.span):
        return kept.kind != PRIVATE_TEXT
    if not (kept.span[0] <= other.span[0] and other.span[1] <= kept.span[1]):
        return False
    if kept.kind == other.kind:
        return kept.span != other.span or kept.value == other.value or not kept.encodings
    if (kept.kind == PRIVATE_TEXT) != (other.kind == PRIVATE_TEXT):
        return False
    return not kept.encodings or not other.encodings
