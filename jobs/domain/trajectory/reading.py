"""From a file to steps: which format it is, and one pass over it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Protocol, cast

from jobs.domain.trajectory import atif, episode, messages, parts, raw, scan, values
from jobs.domain.trajectory.about import About
from jobs.domain.trajectory.outline import Outline, Row
from jobs.domain.trajectory.scan import Fault, Piece
from jobs.domain.trajectory.types import Read

HEAD = 64 * 1024
"""Bytes that tell lines from one document."""
_SCHEMA = re.compile(rb'"schema_version"\s*:\s*"ATIF')


class Format(Protocol):
    FORMAT: str
    LABEL: str
    STEPS: str
    """Member of the file's object that holds the steps; '' where every piece is one."""

    def member(self, about: About, piece: Piece) -> None: ...
    def step(self, value: Any, number: int, key: str = "") -> Read: ...


def _format(module: ModuleType) -> Format:
    return cast("Format", module)


FORMATS = {one.FORMAT: one for one in map(_format, (atif, messages, episode, raw))}


class Reading:
    """One pass over a file. `open_at` gives a reader of its bytes from the start, as often as wanted."""

    def __init__(self, open_file: Callable[[], scan.Reader], name: str, start: int = 0) -> None:
        self._open, self._name, self._start = open_file, name, start
        head = open_file()(HEAD)
        self.is_lines = _is_lines(head, name)
        self.format = self._detect(head)
        self.outline = Outline(About())

    def rows(self) -> Iterator[Row]:
        """A row for every step; `outline` knows the rest when they are through."""
        form, about = self.format, self.outline.about
        for piece in self._pieces():
            if isinstance(piece, Fault):
                about.problem(f"{self._name} {piece.message} (byte {piece.offset}).")
                continue
            if form.STEPS and piece.key != form.STEPS:
                self._member(piece)
                continue
            number = self.outline.steps + 1
            if form.STEPS and not piece.in_list:
                about.problem(f"{self._name}, {form.STEPS} is not a list (byte {piece.offset}).")
            row = self.outline.add(read_piece(form, piece, number), piece, "" if form.STEPS else piece.key)
            if piece.problem:
                about.problem(f"{self._name}, step {number} {piece.problem} (byte {piece.offset}).")
            elif piece.is_lossy:
                about.problem(f"{self._name}, step {number} holds bytes that are not UTF-8 text.")
            if row:
                yield row
        if row := self.outline.last():
            yield row

    def _member(self, piece: Piece) -> None:
        about = self.outline.about
        if piece.problem and piece.key != "subagent_trajectories":
            key = values.storable(piece.key[:80])
            about.problem(f"{self._name}, {key} {piece.problem} (byte {piece.offset}).")
        else:
            self.format.member(about, piece)

    def _pieces(self) -> Iterator[Piece | Fault]:
        read = scan.lines if self.is_lines else scan.document
        return read(self._open(), self._start)

    def _detect(self, head: bytes) -> Format:
        if self.is_lines:
            first = next(self._pieces(), None)
            event = isinstance(first, Piece) and episode.is_event(first.value)
            return _format(episode if event else raw)
        if _SCHEMA.search(head):
            return _format(atif)
        for piece in self._pieces():
            if isinstance(piece, Piece) and piece.in_list:
                if piece.key == atif.STEPS:
                    return _format(atif)
                if piece.key == messages.STEPS:
                    return _format(messages)
                if not piece.key:
                    break
            if isinstance(piece, Piece) and piece.key == "schema_version" and _is_atif(piece.value):
                return _format(atif)
        return _format(raw)


def _is_atif(value: Any) -> bool:
    return type(value) is str and value.startswith("ATIF")


def _is_lines(head: bytes, name: str) -> bool:
    """Whether each line is a JSON text of its own; the name decides where the head can't."""
    named = name.lower().endswith((".jsonl", ".ndjson"))
    first, end, rest = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    if not end:
        return named
    try:
        json.loads(first, strict=False)
    except (ValueError, RecursionError):
        return named and first.strip() not in (b"{", b"[")
    return named or rest.strip()[:1] in (b"{", b"[")


def read_piece(form: Format, piece: Piece, number: int) -> Read:
    """Never raises: what can't be read as a step is shown as it was written."""
    if piece.problem:
        return _unread(piece, number)
    try:
        return form.step(piece.value, number, piece.key)
    except (RecursionError, MemoryError):
        return _unread(piece, number, "is nested too deeply")


def reread(format_name: str, data: bytes, number: int, key: str) -> Read:
    """The step that its bytes make up."""
    value, problem, lossy = scan.load(data)
    piece = Piece(key, True, 0, len(data), data, value, problem, lossy)
    return read_piece(FORMATS.get(format_name, _format(raw)), piece, number)


def _unread(piece: Piece, number: int, problem: str = "") -> Read:
    problem = problem or piece.problem
    remark = f"This step {problem}"
    remark += ", but can be downloaded." if not piece.data else "; it is shown as it was written."
    blocks = parts.unread(piece.data, "unreadable")
    return parts.step(number, "", list(blocks), remarks=[remark])
