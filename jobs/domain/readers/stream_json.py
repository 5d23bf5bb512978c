"""Reading one big JSON object piece by piece, in memory bounded by its largest piece."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from jobs.domain.readers.strict_json import DECODER, NotStrictError

PIECE_LIMIT = 32 * 1024 * 1024
_CHUNK = 1024 * 1024
_LONGEST_TOKEN = 16
_SPACE = re.compile(r"[ \t\n\r]*")


def members(read: Callable[[int], bytes]) -> Iterator[tuple[str, Any]]:
    """(key, value) of each member of the object that `read` delivers, to its very end.

    A list comes element by element under its key, an empty one not at all. Raises `NotStrictError` for
    text that is not one JSON object, or that has an element of more than `PIECE_LIMIT` characters.
    """
    window = _Window(read)
    window.expect("{", "must hold an object")
    if window.peek() == "}":
        window.expect("}", "")
    else:
        separator = ","
        while separator == ",":
            key = window.value() if window.peek() == '"' else None
            if type(key) is not str:
                raise NotStrictError("is not valid JSON: a key is expected")
            window.expect(":", "is not valid JSON: ':' is expected")
            if window.peek() == "[":
                yield from ((key, element) for element in window.elements())
            else:
                yield key, window.value()
            separator = window.expect(",}", "is not valid JSON: ',' or '}' is expected")
    if window.peek():
        raise NotStrictError("is not valid JSON: there is more after its end")


class _Window:
    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._text = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """The next character that is not white space, '' at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._fill()

    def expect(self, symbols: str, message: str) -> str:
        found = self.peek()
        if not found or found not in symbols:
            raise NotStrictError(message if found else "is not valid JSON: it is cut short")
        self._at += 1
        return found

    def elements(self) -> Iterator[Any]:
        self.expect("[", "")
        if self.peek() == "]":
            self.expect("]", "")
            return
        separator = ","
        while separator == ",":
            yield self.value()
            separator = self.expect(",]", "is not valid JSON: ',' or ']' is expected")

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended or not self._may_go_on(error):
                    raise NotStrictError(f"is not valid JSON: {error.msg}") from None
                if len(self._text) - self._at > PIECE_LIMIT:
                    raise NotStrictError("is not valid JSON, or has too large an element") from None
            except RecursionError:
                raise NotStrictError("is nested too deeply") from None
            except NotStrictError:
                raise
            except ValueError:
                raise NotStrictError("holds a number with too many digits") from None
            else:
                # A number may go on in the next chunk: "0" with ".5" or "e-5".
                if end < len(self._text) - _LONGEST_TOKEN or self._ended:
                    self._at = end
                    return value
            self._fill()

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        """Whether more text could mend the error: it is at the end, or says where an open string starts."""
        return error.pos > len(self._text) - _LONGEST_TOKEN or error.msg.startswith("Unterminated")

    def _fill(self) -> None:
        rest = self._text[self._at :]
        data = self._read(max(_CHUNK, len(rest)))
        self._ended = not data
        try:
            self._text = rest + self._decode(data, final=self._ended)
        except UnicodeDecodeError:
            raise NotStrictError("is not UTF-8 text") from None
        self._at = 0
