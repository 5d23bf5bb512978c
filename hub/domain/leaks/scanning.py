"""Everything that must be settled before these bytes become public."""

from __future__ import annotations

import hashlib
import sys
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from hub.domain.leaks.assignments import assigned_hits, named_hit
from hub.domain.leaks.hits import Hit
from hub.domain.leaks.kinds import KINDS
from hub.domain.leaks.masking import context, hide, united
from hub.domain.leaks.overlap import Overlaps, PublicWords
from hub.domain.leaks.places import Place, in_words, parsed, places, pointer, titles
from hub.domain.leaks.reading import Reading, Readings, readings
from hub.domain.leaks.structure import DIGEST, is_fixed
from hub.domain.leaks.tokens import token_hits
from hub.domain.leaks.traces import email_hits, path_hits, user_name_hits, user_names
from hub.domain.leaks.types import Finding, PathPart, PrivateMaterial, Span
from hub.domain.leaks.words import plain_words

LINE_BREAKS = "line breaks"
PRIVATE_TEXT = "private_text"
SMALLEST = 5
"""Characters; `/root` is the shortest thing found."""
WHOLE_ENCODINGS = frozenset({"base64", "hexadecimal"})
NEIGHBOURS = 8
MOST_FOUND = 200
"""Findings told of one text."""
TOO_MUCH = f"more than {MOST_FOUND} findings in one text"
ACROSS_LINES = frozenset({"secret", "private_key", "password", "private"})
"""Groups that are looked for where line breaks were taken out; two words put together make no address."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hit with its span in the string as it is in the document."""

    kind: str
    span: Span
    value: str
    label: str
    encodings: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def scan(
    body: bytes,
    private: PrivateMaterial,
    public_names: Collection[str],
    public_texts: Collection[str] = (),
) -> list[Finding]:
    """Findings in `body`, the exact JSON bytes that would be published, in the order of their places.

    `public_names` are names that are public by themselves (Tasks, Categories, tools, models, Agents): private
    material that mentions them is not disclosed by them. `public_texts` are longer texts that are public
    whatever is published (rules, boundary texts): a part of one that also stands in private material is no
    finding, but a whole private value inside one is. Never raises: bytes that are no JSON are read as text.
    """
    document, _ = parsed(body)
    strings = list(places(document))
    read = {place.text: _readings(place.text) for place in strings}
    public = PublicWords(public_names, public_texts)
    compared = {place.text for place in strings if not is_fixed(place)}
    overlaps = Overlaps(
        {reading.text for text in compared for reading in read[text].all}, private, public
    )
    names = _names(read, private, public)
    in_texts = {text: list(_found(of_text, names)) for text, of_text in read.items()}
    in_private = {text: list(_overlapping(read[text], overlaps)) for text in compared}
    by_place: list[tuple[Place, list[Found]]] = []
    for place in strings:
        found = [*in_texts[place.text], *in_private.get(place.text, ())] if not is_fixed(place) else in_texts[place.text]
        if place.name and not place.in_key and not place.breaks and (hit := named_hit(place.name, place.text)):
            found = [*found, Found(hit.kind, (hit.start, hit.end), hit.value, hit.label)]
        by_place.append((place, _settled(place, found)))
    reported = _Report(document, by_place)
    return [*reported.findings(), *_public_names(strings, overlaps, reported)]


def _readings(text: str) -> Readings:
    return Readings((Reading(text),)) if DIGEST.fullmatch(text) else readings(text)


def _names(read: dict[str, Readings], private: PrivateMaterial, public: PublicWords) -> tuple[str, ...]:
    """User names in any path, published or private, unless they are public anyway."""
    found = {name for of_text in read.values() for reading in of_text.all for name in user_names(reading.text)}
    for strings in private.lists.values():
        for string in strings:
            found.update(user_names(string))
    return tuple(sorted(name for name in found if not public.known.issuperset(plain_words(name))))


def _found(of_text: Readings, names: Collection[str]) -> Iterator[Found]:
    for reading in of_text.all:
        for hit in _outermost(_hits(reading.text, names)):
            yield from _traced(reading, hit)
    if not of_text.is_whole:
        text = of_text.all[0].text
        yield Found("unchecked", (0, len(text)), text, "")


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
    """Whether one of `spans`, which are sorted and not inside one another, holds [start, end)."""
    index = bisect_right(spans, (start, sys.maxsize))
    return any(last >= end for _, last in spans[max(0, index - NEIGHBOURS) : index])


def _traced(reading: Reading, hit: Hit, sources: tuple[str, ...] = ()) -> Iterator[Found]:
    span, encodings = reading.back(hit.start, hit.end)
    if _may_be(hit.kind, encodings):
        yield Found(hit.kind, span, hit.value, hit.label, encodings, sources)


def _may_be(kind: str, encodings: tuple[str, ...]) -> bool:
    """Words on two lines put together make no address or path; what was decoded after that may be one."""
    if KINDS[kind].group in ACROSS_LINES or LINE_BREAKS not in encodings:
        return True
    return not WHOLE_ENCODINGS.isdisjoint(encodings[encodings.index(LINE_BREAKS) :])


def _overlapping(of_text: Readings, overlaps: Overlaps) -> Iterator[Found]:
    for reading in of_text.all:
        for overlap in overlaps.in_text(reading.text):
            hit = Hit(PRIVATE_TEXT, overlap.start, overlap.end, overlap.value)
            yield from _traced(reading, hit, overlap.sources)


def _settled(place: Place, found: Sequence[Found]) -> list[Found]:
    """What of `found`, from all readings, is told at `place`: each value once, as it says most."""
    if place.breaks:
        found = [one for one in found if any(one.span[0] <= at < one.span[1] for at in place.breaks)]
    if len(found) < 2:
        return list(found)
    kept: list[Found] = []
    for one in sorted(found, key=_first):
        if len(kept) == MOST_FOUND:
            return [*kept, Found("unchecked", (0, len(place.text)), place.text, TOO_MUCH)]
        if not any(_tells_all(other, one) for other in kept):
            kept.append(one)
    return kept


def _first(found: Found) -> tuple[int, int, int, tuple[str, ...], str]:
    start, end = found.span
    return (-KINDS[found.kind].rank, start - end, len(found.encodings), found.encodings, found.value)


def _tells_all(kept: Found, other: Found) -> bool:
    """Whether `kept` makes `other`, inside its span, needless to tell."""
    if not (kept.span[0] <= other.span[0] and other.span[1] <= kept.span[1]):
        return False
    if kept.kind == other.kind:
        return kept.span != other.span or kept.value == other.value
    if (kept.kind == PRIVATE_TEXT) != (other.kind == PRIVATE_TEXT):
        return False
    return not kept.encodings or not other.encodings


class _Report:
    """Findings for people: grouped by value, with masked contexts and names of places."""

    def __init__(self, document: object, by_place: list[tuple[Place, list[Found]]]) -> None:
        self._by_place = by_place
        self._hidden: dict[tuple[tuple[PathPart, ...], bool], list[Span]] = {
            (place.path, place.in_key): united(one.span for one in found)
            for place, found in by_place
            if found and not place.breaks
        }
        self._titles = {
            item: title
            for item, at, title in titles(document)
            if (at, False) not in self._hidden
        } if any(found for _, found in by_place) else {}

    def findings(self) -> Iterator[Finding]:
        told: set[str] = set()
        for place, found in self._by_place:
            grouped: dict[tuple[str, str], list[Found]] = defaultdict(list)
            for one in sorted(found, key=lambda one: one.span):
                grouped[one.kind, one.value].append(one)
            for (kind, value), same in grouped.items():
                finding = self.finding(place, kind, value, same)
                if finding.id not in told:
                    told.add(finding.id)
                    yield finding

    def finding(self, place: Place, kind: str, value: str, same: Sequence[Found]) -> Finding:
        first = same[0]
        hidden = united([*self._hidden.get((place.path, place.in_key), ()), *(one.span for one in same)])
        shown = self._shown(place.path, in_key=place.in_key)
        what = KINDS[kind]
        return Finding(
            id=_id(kind, place, value),
            kind=kind,
            group=what.group,
            label=first.label or what.label,
            pointer=pointer(shown),
            where=in_words(shown, self._titles, in_key=place.in_key),
            context=context(place.text, first.span, hidden),
            blocks=what.blocks,
            spans=() if place.breaks else tuple(united(one.span for one in same)),
            encodings=first.encodings,
            source=", ".join(dict.fromkeys(name for one in same for name in one.sources)),
            in_key=place.in_key,
            path=place.path,
        )

    def _shown(self, path: tuple[PathPart, ...], *, in_key: bool) -> tuple[PathPart, ...]:
        """`path` with found values in its keys masked."""
        shown = []
        for depth, part in enumerate(path, 1):
            hidden = self._hidden.get((path[:depth], True)) if isinstance(part, str) else None
            shown.append(hide(str(part), hidden) if hidden else part)
        return tuple(shown)


def _id(kind: str, place: Place, value: str) -> str:
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    sort = "key" if place.in_key else "list" if place.breaks else "value"
    whole = "\n".join((kind, sort, pointer(place.path), digest)).encode("utf-8", "surrogatepass")
    return "leak_" + hashlib.sha256(whole).hexdigest()[:20]


def _public_names(strings: Sequence[Place], overlaps: Overlaps, report: _Report) -> Iterator[Finding]:
    """Private values that are public names, each once, where the name comes first."""
    wanted = dict(overlaps.names)
    for place in strings:
        if not wanted:
            return
        if is_fixed(place) or place.breaks:
            continue
        words = plain_words(place.text)
        for name in [name for name in wanted if plain_words(name) == words]:
            sources = overlaps.source_names(wanted.pop(name))
            same = [Found("public_name", (0, len(place.text)), " ".join(words), "", (), sources)]
            yield report.finding(place, "public_name", same[0].value, same)
