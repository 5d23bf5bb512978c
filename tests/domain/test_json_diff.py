"""What changed between two JSON values, said so that a person can read it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.json_diff import MAX_VALUE, diff, same

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


def changes(old: Any, new: Any) -> list[tuple[str, str, str | None, str | None]]:
    return [
        (
            change.path,
            change.kind,
            change.old.text if change.old else None,
            change.new.text if change.new else None,
        )
        for change in diff(old, new).changes
    ]


def test_fields_are_added_removed_and_changed() -> None:
    old = {"team": "", "seed": 7, "gone": [1], "deep": {"a": {"b": 1}}}
    new = {"team": "billing", "seed": 7, "deep": {"a": {"b": 2}}, "come": None}
    assert changes(old, new) == [
        ("team", "changed", '""', '"billing"'),
        ("gone", "removed", "[1]", None),
        ("deep.a.b", "changed", "1", "2"),
        ("come", "added", None, "null"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        (None, False, False),
        ("1", 1, False),
        ([1, [True]], [1.0, [True]], True),
        ([True], [1], False),
        ({"a": 0}, {"a": False}, False),
        ({}, [], False),
    ],
)
def test_values_are_compared_as_json(old: Any, new: Any, *, is_same: bool) -> None:
    assert same(old, new) is is_same
    assert (diff({"x": old}, {"x": new}).total == 0) is is_same


@given(JSON, JSON)
def test_there_is_a_change_exactly_where_states_differ(old: Any, new: Any) -> None:
    assert (diff(old, new).total == 0) is same(old, new)
    assert diff(old, old).total == 0


def test_objects_of_a_list_are_matched_by_what_names_them() -> None:
    old = [{"id": "a", "n": 1}, {"id": "b", "n": 1}]
    new = [{"id": "c", "n": 3}, {"id": "b", "n": 2}]
    assert changes({"t": old}, {"t": new}) == [
        ("t[id=a]", "removed", '{"id": "a", "n": 1}', None),
        ("t[id=b].n", "changed", "1", "2"),
        ("t[id=c]", "added", None, '{"id": "c", "n": 3}'),
    ]
    by_ticket = diff([{"ticket_id": 1, "n": 1}], [{"ticket_id": 1, "n": 2}])
    assert [change.path for change in by_ticket.changes] == ["[ticket_id=1].n"]


def test_a_new_order_of_named_objects_is_one_change() -> None:
    old = [{"id": "a"}, {"id": "b"}, {"id": "c"}]
    assert changes(old, old[::-1]) == [(" (order)", "changed", '["a", "b", "c"]', '["c", "b", "a"]')]


@pytest.mark.parametrize(
    "items", [[{"id": "a"}, {"id": "a"}], [{"id": "a"}, {}], [{"id": None}], [{"id": 1}, {"id": True}]]
)
def test_objects_without_names_of_their_own_are_matched_by_place(items: list[Any]) -> None:
    assert changes(items, [*items, {"x": 1}])[-1][:2] == (f"[{len(items)}]", "added")


def test_an_item_put_into_the_middle_is_one_change() -> None:
    assert changes([1, 2, 3], [1, 9, 2, 3]) == [("[1]", "added", None, "9")]
    assert changes([1, 9, 2, 3], [1, 2, 3]) == [("[1]", "removed", "9", None)]
    assert changes([1, 2, 3], [1, 5, 3]) == [("[1]", "changed", "2", "5")]
    assert changes(["a", "a"], ["a"]) == [("[1]", "removed", '"a"', None)]


def test_only_the_first_changes_are_kept_and_all_are_counted() -> None:
    found = diff({}, {str(n): n for n in range(1000)}, most=10)
    assert (len(found.changes), found.total) == (10, 1000)


def test_long_values_are_cut_and_say_how_long_they_are() -> None:
    (change,) = diff({"a": ""}, {"a": "x" * 10_000}).changes
    assert change.new is not None
    assert (len(change.new.text), change.new.length, change.new.left_out) == (
        MAX_VALUE,
        10_002,
        10_002 - MAX_VALUE,
    )


def test_long_texts_are_shown_from_where_they_differ() -> None:
    start = 'Hello "you", ' * 400
    (change,) = diff({"a": start + "old end"}, {"a": start + "new end"}).changes
    assert change.old is not None
    assert change.new is not None
    assert change.old.text.endswith('old end"')
    assert change.new.text.endswith('new end"')
    assert change.old.left_out == change.new.left_out == 0
    assert change.old.skipped == change.new.skipped > 5000


def test_odd_keys_do_not_make_two_paths_one() -> None:
    paths = [change.path for change in diff({}, {"a.b": 1, "a": {"b": 1}, "": 2, "c[0]": 3}).changes]
    assert paths == ['"a.b"', "a", '""', '"c[0]"']
    (deep,) = diff({"a": {"b.c": 1}}, {"a": {"b.c": 2}}).changes
    assert deep.path == 'a."b.c"'


def test_deep_and_wide_states_take_no_time() -> None:
    deep: Any = 0
    for _ in range(95):
        deep = {"k" * 200: deep}
    started = time.monotonic()
    assert diff(deep, json.loads(json.dumps(deep).replace("0", "1"))).total == 1
    wide = [{f"{n}_id": n for n in range(2000)}] + [{} for _ in range(50_000)]
    assert diff(wide, wide[:-1]).total == 1
    assert time.monotonic() - started < 3


def test_texts_of_several_lines_are_compared_by_line_where_that_is_asked_for() -> None:
    old, new = {"a": "one\ntwo\n", "b": "x"}, {"a": "one\n2\n", "b": "y"}
    text, word = diff(old, new, lines=True).changes
    assert text.lines is not None
    assert [(line.kind, line.text) for line in text.lines.lines] == [
        ("kept", "one"),
        ("removed", "two"),
        ("added", "2"),
    ]
    assert word.lines is None
    assert [change.lines for change in diff(old, new).changes] == [None, None]
    (ends,) = diff("a\r\nb", "a\nb", lines=True).changes
    assert (ends.lines, ends.kind) == (None, "changed")
