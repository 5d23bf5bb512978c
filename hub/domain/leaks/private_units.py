"""Private material cut into what is compared: values, and the pieces of longer texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hub.domain.leaks.places import SMALLEST_NUMBER
from hub.domain.leaks.types import PrivateMaterial
from hub.domain.leaks.words import TOKEN, folded

MOST_SHORT_WORDS = 12
ESCAPED_BREAK = re.compile(r"\\[nrt]")


@dataclass(frozen=True, slots=True)
class Unit:
    """A private value as tokens: words and, between its pieces, what separates them.

    `is_value` says that it is a value by itself and not a name inside one, `source` which list it is in.
    """

    tokens: tuple[str, ...]
    source: int
    is_value: bool = True


def units(private: PrivateMaterial) -> Iterator[Unit]:
    """Every distinct value once for each list."""
    for source, strings in enumerate(private.lists.values()):
        seen: set[tuple[str, bool]] = set()
        for string in strings:
            for value, is_value in _values(string):
                if (value, is_value) not in seen:
                    seen.add((value, is_value))
                    yield Unit(tuple(TOKEN.findall(folded(_spread(value)))), source, is_value)


def _spread(value: str) -> str:
    return ESCAPED_BREAK.sub("\n", value) if "\\" in value else value


def _values(string: str) -> Iterator[tuple[str, bool]]:
    if string.lstrip()[:1] not in ("{", "[", '"'):
        yield string, True
        return
    try:
        document = json.loads(string)
    except (ValueError, RecursionError):
        yield string, True
        return
    yield from _leaves(document)


def _leaves(document: Any) -> Iterator[tuple[str, bool]]:
    stack = [document]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value, True
        elif isinstance(value, dict):
            yield from ((key, False) for key in value)
            stack += value.values()
        elif isinstance(value, list):
            stack += value
        elif isinstance(value, int) and abs(value) >= SMALLEST_NUMBER:
            yield str(value), True
