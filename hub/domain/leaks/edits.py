"""Texts made from other texts by replacing parts, with the way back from each part."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from hub.domain.leaks.types import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` instead of [start, end). Later edits of one text begin where earlier ones end, or after."""

    start: int
    end: int
    text: str
    name: str


class Edited:
    """`source` with `edits` done. Positions are code points."""

    __slots__ = ("_ends", "_names", "_sources", "_starts", "text")

    def __init__(self, source: str, edits: Iterable[Edit]) -> None:
        parts: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._sources: list[Span] = []
        self._names: list[str] = []
        done = length = 0
        for edit in edits:
            kept = source[done : edit.start]
            length += len(kept)
            parts += (kept, edit.text)
            self._starts.append(length)
            length += len(edit.text)
            self._ends.append(length)
            self._sources.append((edit.start, edit.end))
            self._names.append(edit.name)
            done = edit.end
        parts.append(source[done:])
        self.text = "".join(parts)

    def back(self, start: int, end: int) -> tuple[Span, set[str]]:
        """Where [start, end) of the text came from, whole replaced parts included, and the edits in it."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, max(end, start + 1))
        inside = range(first, last)
        begin = self._sources[first][0] if inside and self._starts[first] <= start else self._plain(start)
        finish = self._sources[last - 1][1] if inside and self._ends[last - 1] >= end else self._plain(end)
        return (begin, finish), {self._names[index] for index in inside}

    def _plain(self, position: int) -> int:
        """The source of a position outside replaced parts."""
        index = bisect_right(self._ends, position) - 1
        if index < 0:
            return position
        return self._sources[index][1] + position - self._ends[index]
