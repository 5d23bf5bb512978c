"""Findings for people: by value, with masked contexts and the names of places."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from hub.domain.leaks.found import Found
from hub.domain.leaks.kinds import KINDS
from hub.domain.leaks.masking import context, hide, on_one_line, united
from hub.domain.leaks.places import Place, in_words, pointer, titles
from hub.domain.leaks.types import Finding, PathPart, Span

LONGEST_NAME = 80


class Report:
    """`hidden` are the spans, by path and whether it is a key, that no finding may show."""

    def __init__(self, document: Any, hidden: Mapping[tuple[tuple[PathPart, ...], bool], list[Span]]) -> None:
        self._document, self._hidden = document, hidden

    @cached_property
    def _titles(self) -> dict[tuple[PathPart, ...], str]:
        named = titles(self._document)
        return {item: on_one_line(title) for item, at, title in named if (at, False) not in self._hidden}

    def findings(self, place: Place, found: Sequence[Found]) -> Iterator[Finding]:
        """In the order of the string, one for each value of a kind."""
        grouped: dict[tuple[str, str], list[Found]] = defaultdict(list)
        for one in sorted(found, key=lambda one: one.span):
            grouped[one.kind, one.value].append(one)
        for same in grouped.values():
            yield self.finding(place, same)

    def finding(self, place: Place, same: Sequence[Found]) -> Finding:
        """Of one value, found once or more in the string of `place`."""
        first, what = same[0], KINDS[same[0].kind]
        spans = united(one.span for one in same)
        shown = self._shown(place.path, in_key=place.in_key)
        return Finding(
            id=_id(place, first),
            kind=first.kind,
            group=what.group,
            label=first.label or what.label,
            pointer=pointer(shown),
            where=in_words(shown, self._titles, in_key=place.in_key),
            context=self._context(place, first, spans),
            blocks=what.blocks,
            spans=() if place.breaks else tuple(spans),
            encodings=first.encodings,
            source=", ".join(dict.fromkeys(name for one in same for name in one.sources)),
            in_key=place.in_key,
            path=place.path,
        )

    def _context(self, place: Place, found: Found, spans: Sequence[Span]) -> str:
        hidden = self._hidden.get((place.path, place.in_key), []) if not place.breaks else list(spans)
        if not KINDS[found.kind].blocks:
            return on_one_line(hide(place.text, hidden))[:LONGEST_NAME]
        return context(place.text, found.span, hidden)

    def _shown(self, path: tuple[PathPart, ...], *, in_key: bool) -> tuple[PathPart, ...]:
        """`path` with found values in its keys masked."""
        shown: list[PathPart] = []
        for depth, part in enumerate(path, 1):
            hidden = self._hidden.get((path[:depth], True)) if isinstance(part, str) else None
            shown.append(hide(str(part), hidden) if hidden else part)
        return tuple(shown)


def _id(place: Place, found: Found) -> str:
    digest = hashlib.sha256(found.value.encode("utf-8", "surrogatepass")).hexdigest()
    sort = "key" if place.in_key else "list" if place.breaks else "value"
    whole = "\n".join((found.kind, sort, pointer(place.path), digest))
    return "leak_" + hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:20]
