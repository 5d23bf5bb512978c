"""What changed between two JSON values: paths with their old and new values. Pure.

Lists of objects are matched by an id or name that all of them carry, other lists by what they begin and end
with alike. `1` and `1.0` are one number; `true` and `1` are not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from os.path import commonprefix
from typing import Any, Literal

from benchmarks.domain.line_diff import LineDiff, line_diff

MAX_CHANGES = 100
MAX_VALUE = 400
MAX_DEPTH = 40
MAX_PART = 60
COMMON_START = 160
"""From so many equal characters on, two texts are shown from shortly before they differ."""
BEFORE_DIFFERENCE = 40
KEYS = ("id", "key", "uuid", "slug", "name")
MAX_OTHER_KEYS = 5

Kind = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class Value:
    """JSON text of a value, cut; `length` is that of the whole, `skipped` what is left out before it."""

    text: str
    length: int
    skipped: int = 0

    @property
    def left_out(self) -> int:
        return self.length - self.skipped - len(self.text)


@dataclass(frozen=True, slots=True)
class Change:
    path: str
    """E.g. `tickets[id=B-101].status`; '' for the whole value."""
    kind: Kind
    old: Value | None
    new: Value | None
    lines: LineDiff | None = None
    """Of texts of several lines, where it was asked for."""


@dataclass(frozen=True, slots=True)
class JsonDiff:
    changes: tuple[Change, ...]
    """The first of them, in the order of the values."""
    total: int


def diff(old: Any, new: Any, *, most: int = MAX_CHANGES, lines: bool = False) -> JsonDiff:
    """From `old` to `new`, both as parsed from JSON and of bounded depth; `lines` compares texts by line."""
    walk = _Walk(most, by_line=lines)
    walk.compare("", old, new, MAX_DEPTH)
    return JsonDiff(tuple(walk.changes), walk.total)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON values."""
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(item, other[key]) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return False  # both the same one would have been caught above
    return bool(one == other)


class _Walk:
    def __init__(self, most: int, *, by_line: bool) -> None:
        self.most, self.total, self.by_line = most, 0, by_line
        self.changes: list[Change] = []

    def compare(self, path: str, old: Any, new: Any, depth: int) -> None:
        if depth > 0 and isinstance(old, dict) and isinstance(new, dict):
            self._objects(path, old, new, depth)
        elif depth > 0 and isinstance(old, list) and isinstance(new, list):
            self._lists(path, old, new, depth)
        elif not same(old, new):
            self._note(path, "changed", old, new)

    def _objects(self, path: str, old: dict[str, Any], new: dict[str, Any], depth: int) -> None:
        for key, value in old.items():
            place = _join(path, key)
            if key in new:
                self.compare(place, value, new[key], depth - 1)
            else:
                self._note(place, "removed", value, None)
        for key, value in new.items():
            if key not in old:
                self._note(_join(path, key), "added", None, value)

    def _lists(self, path: str, old: list[Any], new: list[Any], depth: int) -> None:
        name = _common_key(old, new)
        if name:
            self._keyed(path, name, old, new, depth)
            return
        start = 0
        while start < min(len(old), len(new)) and same(old[start], new[start]):
            start += 1
        end = 0
        while end < min(len(old), len(new)) - start and same(old[-1 - end], new[-1 - end]):
            end += 1
        gone, come = old[start : len(old) - end], new[start : len(new) - end]
        both = min(len(gone), len(come))
        for index in range(both):
            self.compare(f"{path}[{start + index}]", gone[index], come[index], depth - 1)
        for index, value in enumerate(gone[both:], start + both):
            self._note(f"{path}[{index}]", "removed", value, None)
        for index, value in enumerate(come[both:], start + both):
            self._note(f"{path}[{index}]", "added", None, value)

    def _keyed(self, path: str, name: str, old: list[Any], new: list[Any], depth: int) -> None:
        before, after = ({item[name]: item for item in items} for items in (old, new))
        for key, item in before.items():
            place = f"{path}[{_cut(name)}={_cut(str(key))}]"
            if key in after:
                self.compare(place, item, after[key], depth - 1)
            else:
                self._note(place, "removed", item, None)
        for key, item in after.items():
            if key not in before:
                self._note(f"{path}[{_cut(name)}={_cut(str(key))}]", "added", None, item)
        kept = [key for key in before if key in after]
        moved = [key for key in after if key in before]
        if kept != moved:
            self._note(f"{path} (order)", "changed", kept, moved)

    def _note(self, path: str, kind: Kind, old: Any, new: Any) -> None:
        self.total += 1
        if len(self.changes) >= self.most:
            return
        skipped, lines = 0, None
        if kind == "changed" and isinstance(old, str) and isinstance(new, str):
            alike = len(commonprefix([old, new]))
            skipped = alike - BEFORE_DIFFERENCE if alike > COMMON_START else 0
            if self.by_line and "\n" in old + new:
                found = line_diff(old, new)
                lines = found if found.lines else None  # they may differ in how lines end only
        self.changes.append(
            Change(
                path,
                kind,
                None if kind == "added" else _value(old, skipped),
                None if kind == "removed" else _value(new, skipped),
                lines,
            )
        )


def _value(value: Any, skipped: int) -> Value:
    text = json.dumps(value, ensure_ascii=False)
    if skipped:  # what precedes may be longer once it is written as JSON
        skipped = len(json.dumps(value[:skipped], ensure_ascii=False)) - 1
    return Value(text[skipped : skipped + MAX_VALUE], len(text), skipped)


def _common_key(old: Sequence[Any], new: Sequence[Any]) -> str:
    """A field that tells the objects of both lists apart, '' where there is none."""
    items = [*old, *new]
    if not items or not all(isinstance(item, dict) for item in items):
        return ""
    first: dict[str, Any] = items[0]
    others = islice((key for key in first if key.endswith("_id")), MAX_OTHER_KEYS)
    for name in (*KEYS, *others):
        if name in first and _tells_apart(name, old) and _tells_apart(name, new):
            return name
    return ""


def _tells_apart(name: str, items: Sequence[dict[str, Any]]) -> bool:
    values = [item.get(name) for item in items]
    return all(type(value) in (str, int) for value in values) and len(set(values)) == len(values)


def _join(path: str, key: str) -> str:
    plain = _cut(key) if key and not set(key) & set('.[]="') else json.dumps(_cut(key), ensure_ascii=False)
    return f"{path}.{plain}" if path else plain


def _cut(text: str) -> str:
    return text if len(text) <= MAX_PART else text[: MAX_PART - 1] + "…"
