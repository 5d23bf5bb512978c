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
MOST_READINGS = 24
MOST_DECODED = 12
"""Characters of readings for one character of the text. A text of one layer needs 2 or 3."""
ROOM = 200_000
"""Characters that may be read above that, for short texts."""
STEPS: tuple[tuple[Decoder, ...], ...] = (
    (decoding.usual_characters, decoding.entities, decoding.percent_decoded),
    (decoding.unescaped,),
    (decoding.encoded_runs,),
    (decoding.joined_lines,),
)
"""Each makes one reading from another. Backslashes are a step of their own: they may also be of a path."""


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
    found = [Reading(text)]
    if not HIDDEN.search(text):
        return Readings(tuple(found))
    seen = {text}
    room = ROOM + MOST_DECODED * len(text)
    is_whole = True
    for reading in found:  # grows while it is gone through
        for text_of, layers in _next(reading):
            if text_of in seen:
                continue
            room -= len(text_of)
            if room < 0 or len(found) >= MOST_READINGS or len(layers) > MOST_LAYERS:
                is_whole = False
                break
            seen.add(text_of)
            found.append(Reading(text_of, layers))
    return Readings(tuple(found), is_whole)


def _next(reading: Reading) -> Iterator[tuple[str, tuple[Edited, ...]]]:
    for decoders in STEPS:
        yield from _applied(reading, decoders)


def _applied(reading: Reading, decoders: tuple[Decoder, ...]) -> Iterator[tuple[str, tuple[Edited, ...]]]:
    text, layers = reading.text, reading.layers
    for decoder in decoders:
        edits = list(decoder(text))
        if edits:
            edited = Edited(text, edits)
            text, layers = edited.text, (edited, *layers)
    if layers is not reading.layers:
        yield text, layers
