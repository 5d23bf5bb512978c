"""Every string in a JSON document, keys too, with where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hub.domain.leaks.types import PathPart

SMALLEST_NUMBER = 10**11
"""Whole numbers from 12 digits on are read as texts: they can be somebody's number."""
LONGEST_LIST = 2000
TITLES = ("name", "title", "label", "id")
WORDS = {
    "about": "about",
    "task_id": "Task",
    "tasks": "Tasks",
    "categories": "Categories",
    "tracks": "tracks",
    "verifiers": "Verifiers",
    "configurations": "configurations",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A string and the way to it. `name` is the key that it is the value of, or its sibling's that names it.

    `breaks` are positions in `text` where one item of a list ends and the next begins: such a text is a whole
    list of strings, put together by line breaks, and the strings are places of their own too.
    """

    text: str
    path: tuple[PathPart, ...] = ()
    in_key: bool = False
    name: str = ""
    breaks: tuple[int, ...] = ()


class Members(list[tuple[str, Any]]):
    """A JSON object with every member, also those of one key."""


def parsed(body: bytes) -> Any:
    """The document in `body`, its objects as `Members`; its text where it is no JSON."""
    try:
        return json.loads(body, object_pairs_hook=Members)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


def places(document: Any) -> Iterator[Place]:
    """In document order. Goes to any depth that the parser went to."""
    stack: list[tuple[Any, tuple[PathPart, ...], str]] = [(document, (), "")]
    while stack:
        value, path, name = stack.pop()
        if isinstance(value, str):
            yield Place(value, path, name=name)
        elif isinstance(value, int) and not isinstance(value, bool) and abs(value) >= SMALLEST_NUMBER:
            yield Place(str(value), path, name=name)
        elif isinstance(value, Members):
            sibling = next(
                (item for key, item in value if key in ("name", "key") and isinstance(item, str)), ""
            )
            for key, item in reversed(value):
                stack.append((item, (*path, key), sibling if key == "value" else key))
            yield from (Place(key, (*path, key), in_key=True) for key, _ in value)
        elif isinstance(value, list):
            stack += [(item, (*path, index), name) for index, item in reversed(list(enumerate(value)))]
            yield from _as_one_text(value, path)


def _as_one_text(items: list[Any], path: tuple[PathPart, ...]) -> Iterator[Place]:
    """A text kept as a list of its lines, as one text: something can be broken over them."""
    if not 2 <= len(items) <= LONGEST_LIST or not all(isinstance(item, str) for item in items):
        return
    breaks, length = [], -1
    for item in items[:-1]:
        length += len(item) + 1
        breaks.append(length)
    yield Place("\n".join(items), path, breaks=tuple(breaks))


def pointer(path: tuple[PathPart, ...]) -> str:
    """RFC 6901."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def in_words(path: tuple[PathPart, ...], titles: Mapping[tuple[PathPart, ...], str], *, in_key: bool) -> str:
    """E.g. "Tasks, item 2 (desk-first), description"; `titles` are what items are called, by their paths."""
    words = []
    for depth, part in enumerate(path, 1):
        if isinstance(part, int):
            title = titles.get(path[:depth])
            words.append(f"item {part + 1}" + (f" ({title})" if title else ""))
        else:
            words.append(WORDS.get(part, part.replace("_", " ")))
    text = ", ".join(words) or "the whole document"
    return f"{text}: the key itself" if in_key else text


def titles(document: Any) -> Iterator[tuple[tuple[PathPart, ...], tuple[PathPart, ...], str]]:
    """What list items that are objects are called: the item's path, the title's path, the title."""
    stack: list[tuple[Any, tuple[PathPart, ...]]] = [(document, ())]
    while stack:
        value, path = stack.pop()
        if isinstance(value, Members):
            members = dict(value)
            if path and isinstance(path[-1], int):
                for key in TITLES:
                    if isinstance(title := members.get(key), str) and 0 < len(title) <= 60:
                        yield path, (*path, key), title
                        break
            stack += [(item, (*path, key)) for key, item in value]
        elif isinstance(value, list):
            stack += [(item, (*path, index)) for index, item in enumerate(value)]
