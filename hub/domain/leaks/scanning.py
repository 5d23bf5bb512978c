"""Everything that must be settled before these bytes become public."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from hub.domain.leaks.assignments import named_hit
from hub.domain.leaks.found import Found, across, found_in, overlaps_in, settled
from hub.domain.leaks.masking import united
from hub.domain.leaks.overlap import Overlaps, PublicWords
from hub.domain.leaks.places import Place, parsed, places
from hub.domain.leaks.reading import Reading, Readings, readings
from hub.domain.leaks.reporting import Report
from hub.domain.leaks.structure import DIGEST, is_fixed
from hub.domain.leaks.traces import user_names
from hub.domain.leaks.types import Finding, PathPart, PrivateMaterial, Span
from hub.domain.leaks.words import plain_words

At = tuple[tuple[PathPart, ...], bool]


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
    document = parsed(body)
    strings = list(places(document))
    read = {place.text: _readings(place.text) for place in strings}
    public = PublicWords(public_names, public_texts)
    free = {place.text for place in strings if not is_fixed(place)}
    overlaps = Overlaps({reading.text for text in free for reading in read[text].all}, private, public)
    names = _names(read, private, public)
    in_texts = {text: found_in(of_text, names) for text, of_text in read.items()}
    in_private = {text: overlaps_in(read[text], overlaps) for text in free}

    found: dict[int, list[Found]] = {}
    hidden: dict[At, list[Span]] = {}
    for index, place in enumerate(strings):
        here = [*in_texts[place.text], *(() if is_fixed(place) else in_private[place.text]), *_by_name(place)]
        if here and not place.breaks:
            hidden[place.path, place.in_key] = united(one.span for one in here)
        if here:
            found[index] = here
    report = Report(document, hidden)
    findings: dict[str, Finding] = {}
    for index, here in found.items():
        place = strings[index]
        told = across(place, here, _in_items(place, hidden)) if place.breaks else here
        for finding in report.findings(place, settled(told, place.text)):
            findings.setdefault(finding.id, finding)
    return [*findings.values(), *_public_names(strings, overlaps, report)]


def _readings(text: str) -> Readings:
    return Readings((Reading(text),)) if DIGEST.fullmatch(text) else readings(text)


def _names(read: Mapping[str, Readings], private: PrivateMaterial, public: PublicWords) -> tuple[str, ...]:
    """User names in any path, published or private, unless they are public anyway."""
    found = {
        name for of_text in read.values() for reading in of_text.all for name in user_names(reading.text)
    }
    for strings in private.lists.values():
        for string in strings:
            found.update(user_names(string))
    return tuple(sorted(name for name in found if not public.known.issuperset(plain_words(name))))


def _by_name(place: Place) -> Iterator[Found]:
    if place.name and not place.in_key and not place.breaks:
        hit = named_hit(place.name, place.text)
        if hit:
            yield Found(hit.kind, (hit.start, hit.end), hit.value, hit.label)


def _in_items(place: Place, hidden: Mapping[At, list[Span]]) -> list[Span]:
    """Spans found in the items of a list, as positions in its text."""
    starts = (0, *(at + 1 for at in place.breaks))
    return [
        (offset + start, offset + end)
        for index, offset in enumerate(starts)
        for start, end in hidden.get(((*place.path, index), False), ())
    ]


def _public_names(strings: Sequence[Place], overlaps: Overlaps, report: Report) -> Iterator[Finding]:
    """Private values that are public names, each once, where the name comes first."""
    wanted = {plain_words(name): sources for name, sources in overlaps.names.items()}
    for place in strings:
        if not wanted:
            return
        if is_fixed(place) or place.breaks:
            continue
        sources = wanted.pop(plain_words(place.text), None)
        if sources is not None:
            found = Found(
                "public_name", (0, len(place.text)), place.text, "", (), overlaps.source_names(sources)
            )
            yield report.finding(place, [found])
