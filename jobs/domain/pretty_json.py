"""JSON text broken into lines, without being parsed: every value stays as it was written. Pure."""

from __future__ import annotations

import re

_PART = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_OPEN, _CLOSE = "{[", "}]"
SHORT = 72
"""A text of so many characters stays on one line."""
MOST_DEPTH = 20


def indent(text: str, most: int) -> str:
    """`text`, which has to be valid JSON, on lines; as it is where that takes more than `most` characters."""
    if len(text) <= SHORT or len(text) > most:
        return text
    found: list[str] = []
    depth = size = 0
    before = ""
    for part in _PART.findall(text):
        piece = part
        if part in _OPEN:
            depth += 1
        elif part in _CLOSE:
            depth -= 1
            if before not in _OPEN:
                piece = "\n" + "  " * depth + part
        elif part == ":":
            piece = ": "
        if before and (before in _OPEN or before == ",") and part not in _CLOSE:
            level = depth - (part in _OPEN)
            piece = "\n" + "  " * level + piece
        size += len(piece)
        if size > most or depth > MOST_DEPTH:
            return text
        found.append(piece)
        before = part
    return "".join(found)
