"""The ways in which one text can be read: as it is, and with what hides a text undone, layer after layer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hub.domain.leaks import decoding
from hub.domain.leaks.decoding import Decoder
from hub.domain.leaks.edits import Edited
from hub.domain.leaks.types import Span

HIDDEN = re.compile(r"[^ -~]|[\\%&]|[\w+/-]{16}|(?:[0-9a-fA-F]{2}[ :,]){6}", re.ASCII)
"""Something to undo. Most texts of a manifest have nothing."""
MOST_LAYERS = 12
MOST_READINGS = 60
MOST_DECODED = 20
"""Characters of readings for one character of the text. A text of one layer needs 2 or 3."""
ROOM = 200_000
"""Characters that may be read above that, for short texts."""
DECODING: tuple[Decoder, ...] = (decoding.encoded_runs,)
STEPS: tuple[tuple[Decoder, ...], ...] = (
    (decoding.usual_characters, decoding.entities, decoding.percent_decoded),
    (decoding.unescaped,),
    DECODING,
)
"""Each makes one reading from another. Backslashes are a step of their own: they may also be of a path."""
EVERY_JOIN: tuple[Decoder, ...] = (decoding.joined_lines,)
SOME_JOINS: tuple[tuple[Decoder, ...], ...] = ((decoding.even_lines_joined,), (decoding.odd_lines_joined,))
"""So that a value over two lines stands apart from the lines before and after it."""
LONGEST_OF_SOME = 200_000
"""Characters up to which some joins are tried, too."""


@dataclass(frozen=True, slots=True)
class Reading:
    """`layers` lead back to the text as it was, last made first."""

    text: str
    layers: tuple[Edited, ...] = field(default=(), repr=False)

    def back(self, start: int, end: int) -> tuple[Span, tuple[str, ...]]:
        """Where [start, end) stands in the text as it was, and what was undone there, outermost first."""
        names: list[str] = []
        for layer in self.layers:
            (start, end), found = layer.back(start, end)
            names += sorted(found - set(names[-1:]))
        return (start, end), tuple(reversed(names))


@dataclass(frozen=True, slots=True)
class Readings:
    """`is_whole` is False where there was more to undo than is done."""

    all: tuple[Reading, ...]
    is_whole: bool = True


def readings(text: str) -> Readings:
    """`text` as it is first, then what is made from it. Bounded by `MOST_…`, whatever `text` holds."""
    if not HIDDEN.search(text):
        return Readings((Reading(text),))
    found = _Readings(text)
    found.undo([Reading(text)])
    for reading in tuple(found.all):
        for joined in _applied(reading, EVERY_JOIN):
            if found.add(joined):
                found.undo(list(_applied(joined, DECODING)))
        if len(reading.text) <= LONGEST_OF_SOME:
            for decoders in SOME_JOINS:
                for joined in _applied(reading, decoders):
                    found.add(joined)
    return Readings(tuple(found.all), found.is_whole)


class _Readings:
    """Readings of one text as long as there is room for them."""

    def __init__(self, text: str) -> None:
        self.all: list[Reading] = []
        self.is_whole = True
        self._seen: set[str] = set()
        self._room = ROOM + MOST_DECODED * len(text)

    def add(self, reading: Reading) -> bool:
        """False where it is held already or there is no room."""
        if reading.text in self._seen:
            return False
        self._room -= len(reading.text)
        if self._room < 0 or len(self.all) >= MOST_READINGS or len(reading.layers) > MOST_LAYERS:
            self.is_whole = False
            return False
        self.is_whole = self.is_whole and decoding.CUT not in reading.text
        self._seen.add(reading.text)
        self.all.append(reading)
        return True

    def undo(self, found: list[Reading]) -> None:
        """Adds `found` and all that `STEPS` make of them."""
        for reading in found:  # grows while it is gone through
            if self.add(reading):
                for decoders in STEPS:
                    found += _applied(reading, decoders)


def _applied(reading: Reading, decoders: tuple[Decoder, ...]) -> Iterator[Reading]:
    text, layers = reading.text, reading.layers
    for decoder in decoders:
        edits = list(decoder(text))
        if edits:
            edited = Edited(text, edits)
            text, layers = edited.text, (edited, *layers)
    if layers is not reading.layers:
        yield Reading(text, layers)
