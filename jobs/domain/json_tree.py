"""A JSON value as a tree to be unfolded on a page: bounded in depth, width, nodes and text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from jobs.domain.room import Room

MAX_DEPTH = 10
MAX_MEMBERS = 100
MAX_TEXT = 2000
MAX_KEY = 200
OPEN_MEMBERS = 8
"""A container of up to so many members at the top is shown unfolded."""

Kind = Literal["object", "list", "text", "number", "word", "deeper"]


@dataclass(frozen=True, slots=True)
class Node:
    """`label` is the key or the position in the list, '' at the top. `text` is '' for a container.

    `size` counts members, or characters of a text; `left_out` says how many of them are not shown.
    A "deeper" node is a container below the last level that is shown.
    """

    label: str
    kind: Kind
    text: str = ""
    size: int = 0
    children: tuple[Node, ...] = ()
    left_out: int = 0
    is_open: bool = False

    @property
    def is_long(self) -> bool:
        return len(self.text) > 300 or "\n" in self.text

    @property
    def members(self) -> str:
        """E.g. "3 items"."""
        what = "item" if self.kind == "list" else "field"
        return f"{self.size} {what}{'' if self.size == 1 else 's'}"


def tree(value: Any, room: Room, *, depth: int = MAX_DEPTH, label: str = "") -> Node:
    """`value` as parsed from JSON. What `room` has no place for is left out and counted."""
    return _node(value, room, label, depth, is_top=True)


def _node(value: Any, room: Room, label: str, depth: int, *, is_top: bool = False) -> Node:
    room.node()
    if isinstance(value, Mapping | list | tuple):
        return _container(value, room, label, depth, is_top=is_top)
    if isinstance(value, str):
        cut = room.text(value, MAX_TEXT)
        return Node(label, "text", cut.text, len(value), left_out=cut.left_out)
    if value is None or isinstance(value, bool):
        return Node(label, "word", {None: "null", True: "true", False: "false"}[value])
    return Node(label, "number", room.text(_number(value), MAX_KEY).text)


def _container(
    value: Mapping[Any, Any] | list[Any] | tuple[Any, ...],
    room: Room,
    label: str,
    depth: int,
    *,
    is_top: bool,
) -> Node:
    kind: Kind = "object" if isinstance(value, Mapping) else "list"
    size = len(value)
    if size and depth <= 0:
        return Node(label, "deeper", "{…}" if kind == "object" else "[…]", size)
    members = value.items() if isinstance(value, Mapping) else enumerate(value, 1)
    children = []
    for key, member in islice(members, MAX_MEMBERS):
        if room.nodes <= 0 or room.size <= 0:
            break
        name = room.text(str(key), MAX_KEY)
        shown = name.text + ("…" if name.left_out else "")
        children.append(_node(member, room, shown, depth - 1))
    return Node(
        label,
        kind,
        size=size,
        children=tuple(children),
        left_out=size - len(children),
        is_open=is_top and size <= OPEN_MEMBERS,
    )


def _number(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # more digits than Python writes
        return "a number of very many digits"
