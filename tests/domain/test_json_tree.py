"""JSON values of any size and shape as trees that fit on a page, within a room that counts bytes."""

from __future__ import annotations

import html
from typing import Any

import pytest

from jobs.domain.json_tree import MAX_DEPTH, MAX_MEMBERS, MAX_TEXT, Node, tree
from jobs.domain.room import Room


def room(size: int = 1_000_000, nodes: int = 10_000) -> Room:
    return Room(size, nodes, str)


def nodes_of(node: Node) -> list[Node]:
    return [node] + [inner for child in node.children for inner in nodes_of(child)]


def depth_of(node: Node) -> int:
    return 1 + max((depth_of(child) for child in node.children), default=0)


def test_every_kind_of_value() -> None:
    node = tree({"text": "a", "n": 1.5, "yes": True, "no": None, "list": [1, "b"], "empty": {}}, room())
    assert [(child.label, child.kind, child.text) for child in node.children] == [
        ("text", "text", "a"),
        ("n", "number", "1.5"),
        ("yes", "word", "true"),
        ("no", "word", "null"),
        ("list", "list", ""),
        ("empty", "object", ""),
    ]
    assert [(child.label, child.text) for child in node.children[4].children] == [("1", "1"), ("2", "b")]
    assert (node.members, node.children[4].members, node.children[5].members) == (
        "6 fields",
        "2 items",
        "0 fields",
    )


def test_nesting_is_bounded() -> None:
    value: Any = "core"
    for _ in range(200):
        value = [value]
    node = tree(value, room())
    assert depth_of(node) == MAX_DEPTH + 1
    last = nodes_of(node)[-1]
    assert (last.kind, last.text, last.size) == ("deeper", "[…]", 1)


def test_members_and_texts_are_bounded() -> None:
    node = tree(list(range(5000)), room())
    assert (len(node.children), node.left_out, node.size) == (MAX_MEMBERS, 5000 - MAX_MEMBERS, 5000)
    text = tree("x" * 5000, room())
    assert (len(text.text), text.left_out, text.size) == (MAX_TEXT, 5000 - MAX_TEXT, 5000)


def test_one_room_serves_several_trees() -> None:
    shared = room(nodes=30)
    values = [list(range(20)) for _ in range(5)]
    found = [tree(value, shared) for value in values]
    assert sum(len(nodes_of(node)) for node in found) <= 30 + len(values)
    assert [node.left_out for node in found][1:] == [12, 20, 20, 20]


@pytest.mark.parametrize("text", ["'" * 5000, "\U0001f600" * 5000, "<&>" * 2000, "a" * 5000])
def test_room_counts_the_bytes_of_escaped_html(text: str) -> None:
    left = room(size=1000)
    cut = left.text(text, 4000)
    written = len(html.escape(cut.text).encode())
    assert 900 < written <= 1000
    assert cut.left_out == len(text) - len(cut.text)
    assert left.size == 1000 - written


def test_room_cleans_before_it_counts() -> None:
    left = Room(100, 1, lambda text: text.replace("\0", "⟨NUL⟩"))
    cut = left.text("\0" * 50)
    assert cut.text == "⟨NUL⟩" * (100 // len("⟨NUL⟩".encode()))
    assert cut.left_out == 50 - len(cut.text) // 5


def test_nothing_is_shown_where_there_is_no_room() -> None:
    none = room(size=0)
    assert none.text("abc").left_out == 3
    assert tree({"a": 1}, none).left_out == 1
    assert not none.spend(1)


def test_huge_numbers_are_no_error() -> None:
    assert tree(10**5000, room()).text == "a number of very many digits"
    assert tree(10**300, room()).text.startswith("1000")
