"""Where the pieces of a JSON or JSON Lines file lie, byte by byte, and what they hold.

Memory is bounded by the largest piece, and that by `PIECE_LIMIT`. Nothing here raises for what a file
holds: a piece that can't be parsed comes with its bytes and the reason, a file that ends too early or goes
on in no known way ends with a `Fault`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

PIECE_LIMIT = 64 * 1024 * 1024
"""Bytes. A larger piece is skipped."""
TOO_LARGE = "is too large to be shown"
CUT_SHORT = "is cut short"
_CHUNK = 1024 * 1024
_LONGEST_NUMBER = 4_000

Reader = Callable[[int], bytes]

_SPACE = re.compile(rb"[ \t\n\r]*")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\]}\[{\":]++")
_TO_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+[\[\]{}]', re.DOTALL)
"""All up to the next bracket that is in no string."""
_IN_STRING = re.compile(rb"[^\"\\]*+(?:\\.[^\"\\]*+)*+", re.DOTALL)
_MARK = re.compile(rb'["\[\]{}]')


@dataclass(frozen=True, slots=True)
class Piece:
    """An element of a list in the file, another member of its object, or a line.

    `key` is the member that it is or stands in, '' without one. `data` are its bytes, b"" when it is too
    large; `problem` says why `value` is not what they hold.
    """

    key: str
    in_list: bool
    offset: int
    size: int
    data: bytes
    value: Any = None
    problem: str = ""
    is_lossy: bool = False
    """Some bytes were no UTF-8 and stand as U+FFFD."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why reading ended before the file did: at byte `offset`, `message` completes 'The file …'."""

    offset: int
    message: str


def document(read: Reader, start: int = 0) -> Iterator[Piece | Fault]:
    """The members of an object, with the elements of lists one by one, or the elements of a list.

    `start` is the offset of the first byte that `read` gives. A lone scalar is one piece.
    """
    window = _Window(read, start)
    window.skip(b"\xef\xbb\xbf")
    first = window.peek()
    if first == b"{":
        fault = yield from _members(window)
    elif first == b"[":
        fault = yield from _elements(window, "")
    elif first:
        piece = window.piece("", in_list=False)
        fault = None
        yield piece or Fault(window.position, "is not JSON")
    else:
        fault = Fault(window.position, "is empty")
    if fault:
        yield fault
    elif window.peek():
        yield Fault(window.position, "goes on after the end of its JSON")


def lines(read: Reader, start: int = 0) -> Iterator[Piece | Fault]:
    """Each line that is not blank."""
    window = _Window(read, start)
    window.skip(b"\xef\xbb\xbf")
    while window.peek():
        yield window.line()


def load(data: bytes) -> tuple[Any, str, bool]:
    """(value, why there is none, whether bytes were no UTF-8). Takes NaN and control characters."""
    lossy = False
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text, lossy = data.decode(errors="replace"), True
    try:
        try:
            return _DECODER.decode(text), "", lossy
        except json.JSONDecodeError:
            raise
        except ValueError:
            return _PATIENT_DECODER.decode(text), "", lossy
    except json.JSONDecodeError as error:
        return None, f"is not valid JSON: {error.msg} at character {error.pos}", lossy
    except RecursionError:
        return None, "is nested too deeply", lossy


def _number(text: str) -> int | float:
    return int(text) if len(text) < _LONGEST_NUMBER else float(text)


_DECODER = json.JSONDecoder(strict=False)
_PATIENT_DECODER = json.JSONDecoder(strict=False, parse_int=_number)
"""For numbers of more digits than Python reads."""


def _members(window: _Window) -> Generator[Piece | Fault, None, Fault | None]:
    """Returns the fault that stopped it, if any."""
    window.take(b"{")
    if window.peek() == b"}":
        window.take(b"}")
        return None
    while True:
        key = window.key()
        if key is None:
            return _fault(window, "a key and ':' are expected")
        if window.peek() == b"[":
            fault = yield from _elements(window, key)
            if fault:
                return fault
        elif piece := window.piece(key, in_list=False):
            yield piece
        if window.peek() == b"}":
            window.take(b"}")
            return None
        if window.peek() != b",":
            return _fault(window, "',' or '}' is expected")
        window.take(b",")


def _elements(window: _Window, key: str) -> Generator[Piece | Fault, None, Fault | None]:
    window.take(b"[")
    if window.peek() == b"]":
        window.take(b"]")
        return None
    while True:
        piece = window.piece(key, in_list=True)
        if piece is None:
            return _fault(window, "a value is expected")
        yield piece
        if window.peek() == b"]":
            window.take(b"]")
            return None
        if window.peek() != b",":
            return _fault(window, "',' or ']' is expected")
        window.take(b",")


def _fault(window: _Window, expected: str) -> Fault:
    if not window.peek():
        return Fault(window.position, CUT_SHORT)
    return Fault(window.position, f"is not valid JSON: {expected}")


def _piece(key: str, in_list: bool, offset: int, size: int, found: tuple[bytes, str]) -> Piece:
    """`found`: its bytes, and why they are not to be parsed."""
    data, problem = found
    if problem:
        return Piece(key, in_list, offset, size, data, None, problem)
    value, problem, lossy = load(data)
    return Piece(key, in_list, offset, size, data, value, problem, lossy)


class _Window:
    """The part of the file that is being looked at: `data[at:]` is still to be read."""

    def __init__(self, read: Reader, start: int) -> None:
        self._read = read
        self._data = b""
        self._base = start
        self._at = 0
        self._ended = False

    @property
    def position(self) -> int:
        return self._base + self._at

    def peek(self) -> bytes:
        """The next byte that is not white space, b"" at the end."""
        while True:
            self._at = _SPACE.match(self._data, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._data):
                return self._data[self._at : self._at + 1]
            if self._ended:
                return b""
            self._fill()

    def skip(self, mark: bytes) -> None:
        while len(self._data) < len(mark) and not self._ended:
            self._fill()
        if self._data.startswith(mark, self._at):
            self._at += len(mark)

    def take(self, symbol: bytes) -> None:
        """Past a byte that `peek` has shown."""
        self._at += len(symbol)

    def key(self) -> str | None:
        """Past a key and its colon; None if there are none."""
        piece = self.piece("", in_list=False) if self.peek() == b'"' else None
        if piece is None or self.peek() != b":":
            return None
        self.take(b":")
        return piece.value if type(piece.value) is str else ""

    def piece(self, key: str, *, in_list: bool) -> Piece | None:
        """The value that starts here; None if none does."""
        first = self.peek()
        offset = self.position
        if first in (b"{", b"["):
            data, problem = self._nested()
        elif first == b'"':
            data, problem = self._matched(_STRING)
        elif first and first not in b",]}:":
            data, problem = self._matched(_SCALAR)
        else:
            return None
        return _piece(key, in_list, offset, self.position - offset, (data, problem))

    def line(self) -> Piece:
        """The line from here on; too large a one is passed over."""
        offset, searched = self.position, self._at
        problem = ""
        while (end := self._data.find(b"\n", searched)) < 0 and not self._ended:
            if len(self._data) - self._at > PIECE_LIMIT:
                problem = TOO_LARGE
                self._at = len(self._data)
            searched = len(self._data) - self._at
            self._fill()
        torn = end < 0
        stop = len(self._data) if torn else end
        data = b"" if problem else self._data[self._at : stop].rstrip(b" \t\r")
        size = len(data) or self._base + stop - offset
        self._at = stop
        if size > PIECE_LIMIT:
            data, problem = b"", TOO_LARGE
        piece = _piece("", True, offset, size, (data, problem))
        if torn and piece.problem and piece.data:
            return replace(piece, problem=CUT_SHORT)
        return piece

    def _matched(self, pattern: re.Pattern[bytes]) -> tuple[bytes, str]:
        while True:
            match = pattern.match(self._data, self._at)
            # A number may go on in the next chunk.
            if match and (match.end() < len(self._data) or self._ended or pattern is _STRING):
                return self._taken(match.end())
            if self._ended:
                return self._taken(len(self._data), CUT_SHORT)
            if len(self._data) - self._at > PIECE_LIMIT:
                if pattern is _SCALAR:
                    return self._taken(len(self._data), TOO_LARGE)
                return self._passed_over(self._at + 1, depth=0, in_string=True)
            self._fill()

    def _nested(self) -> tuple[bytes, str]:
        at, depth = self._at, 0
        while True:
            match = _TO_BRACKET.match(self._data, at)
            if match:
                at = match.end()
                depth += 1 if self._data[at - 1] in b"{[" else -1
                if depth == 0:
                    return self._taken(at)
            elif self._ended:
                return self._taken(len(self._data), CUT_SHORT)
            elif len(self._data) - self._at > PIECE_LIMIT:
                return self._passed_over(at, depth, in_string=False)
            else:
                at -= self._at
                self._fill()

    def _taken(self, end: int, problem: str = "") -> tuple[bytes, str]:
        data = self._data[self._at : end] if end - self._at <= PIECE_LIMIT else b""
        self._at = end
        return data, problem if data else TOO_LARGE

    def _passed_over(self, at: int, depth: int, *, in_string: bool) -> tuple[bytes, str]:
        """To the end of a piece that is too large to be held."""
        while True:
            if in_string:
                at = _IN_STRING.match(self._data, at).end()  # type: ignore[union-attr]
                found = self._data[at : at + 1] == b'"'
            else:
                mark = _MARK.search(self._data, at)
                at = mark.start() if mark else len(self._data)
                found = mark is not None
            if found:
                symbol = self._data[at]
                at += 1
                if symbol == 0x22:
                    in_string = not in_string
                else:
                    depth += 1 if symbol in b"{[" else -1
                if depth == 0 and not in_string:
                    self._at = at
                    return b"", TOO_LARGE
            elif self._ended:
                self._at = len(self._data)
                return b"", f"{TOO_LARGE}, and {CUT_SHORT}"
            else:
                self._at = at
                self._fill(_CHUNK)
                at = 0

    def _fill(self, size: int | None = None) -> None:
        rest = self._data[self._at :]
        data = self._read(max(_CHUNK, len(rest)) if size is None else size)
        self._ended = not data
        self._base += self._at
        self._at = 0
        self._data = rest + data if rest else data
