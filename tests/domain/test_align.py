"""Which steps of two trajectories stand beside each other, and the small helpers of their pages."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain import ansi, pretty_json
from jobs.domain.sharing import fair_limit
from jobs.domain.trajectory import align as aligning
from jobs.domain.trajectory.align import Pair, Signature, align, matches, runs, signature
from jobs.domain.trajectory.types import Block, Step


def marks(text: str) -> list[Signature]:
    """Each letter a step; upper and lower case are of one kind."""
    return [Signature(letter, letter.lower()) for letter in text]


def written(a: str, b: str) -> str:
    """E.g. "a=a b~B -c": equal, of a kind, only in B."""
    return " ".join(
        f"{'-' if pair.a is None else a[pair.a]}{'=' if pair.kind == 'equal' else '~'}"
        f"{'-' if pair.b is None else b[pair.b]}"
        for pair in align(marks(a), marks(b))
    )


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("", "", ""),
        ("ab", "ab", "a=a b=b"),
        ("abc", "aBc", "a=a b~B c=c"),
        ("abc", "ac", "a=a b~- c=c"),
        ("ac", "abc", "a=a -~b c=c"),
        ("abc", "xyz", "a~- b~- c~- -~x -~y -~z"),
        ("aabca", "abcaa", "a=a a~- b=b c=c -~a a=a"),
        ("", "ab", "-~a -~b"),
    ],
)
def test_steps_are_aligned(a: str, b: str, expected: str) -> None:
    assert written(a, b) == expected


@given(st.text("abAB", max_size=30), st.text("abAB", max_size=30))
def test_every_step_stands_once_and_in_order(a: str, b: str) -> None:
    pairs = align(marks(a), marks(b))
    assert [pair.a for pair in pairs if pair.a is not None] == list(range(len(a)))
    assert [pair.b for pair in pairs if pair.b is not None] == list(range(len(b)))
    for pair in pairs:
        if pair.a is not None and pair.b is not None:
            assert (pair.kind == "equal") == (a[pair.a] == b[pair.b])
            assert a[pair.a].lower() == b[pair.b].lower()


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_matches_rise_and_are_equal(a: str, b: str) -> None:
    found = matches(a, b)
    assert all(a[i] == b[j] for i, j in found)
    assert found == sorted(found)
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)


def test_a_long_stretch_goes_by_position(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(matches("xaabb", "aabby")) == 4
    monkeypatch.setattr(aligning, "MOST_CELLS", 3)
    assert matches("xaabb", "aabby") == [(1, 1), (3, 3)]
    assert matches("abab", "cbcb") == [(1, 1), (3, 3)]


def test_equal_pairs_in_a_row_are_one_run() -> None:
    found = runs(align(marks("aabcd"), marks("aaBcd")))
    assert [(run.kind, len(run.pairs)) for run in found] == [("equal", 2), ("differs", 1), ("equal", 2)]
    assert found[1].pairs == (Pair(2, 2, "differs"),)


def one_step(*blocks: Block, source: str = "agent", cost: float | None = None) -> Step:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Step(1, "1", source, moment, "m", None, None, None, cost, None, False, blocks, "", ())


def test_signature_leaves_out_what_every_run_has_of_its_own() -> None:
    call = Block("call", "read", "{}", 2, call_id="c1")
    reward = Block("reward", "r", "0.5", 3)
    plain = signature(one_step(call))
    assert signature(one_step(Block("call", "read", "{}", 2, call_id="c2"), reward, cost=1.0)) == plain
    assert signature(one_step(Block("call", "write", "{}", 2))).rough != plain.rough
    assert signature(one_step(Block("call", "read", '{"a": 1}', 8))).rough == plain.rough
    assert signature(one_step(Block("call", "read", '{"a": 1}', 8))).exact != plain.exact
    assert signature(one_step(call, source="user")).rough != plain.rough
    assert signature(one_step(Block("message", "m", "\ud800", 1))).exact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;javascript:alert(1)\x1b\\click\x1b]8;;\x1b\\", "click"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b(Bplain\x1b=\x1b>\x1b7\x1b8", "plain"),
        ("\x1bPdevice string\x1b\\after", "after"),
        ("10%\r20%\r\nend", "10%\n20%\nend"),
        ("\x1b]8;;never ends\nshown", "\x1b]8;;never ends\nshown"),
        ("\x1b", "\x1b"),
    ],
)
def test_terminal_codes_go_as_a_whole(text: str, expected: str) -> None:
    assert ansi.strip(text) == expected


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=40),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=30,
    )
)
def test_json_on_lines_is_the_same_json(value: object) -> None:
    text = json.dumps(value)
    shown = pretty_json.indent(text, 100_000)
    assert json.loads(shown) == value
    assert shown == json.dumps(value, indent=2) or len(text) <= pretty_json.SHORT


def test_json_keeps_what_parsing_would_lose() -> None:
    text = '{"n": 1.10, "n": 1e999, "long": "' + "x" * 80 + '"}'
    shown = pretty_json.indent(text, 1000)
    assert '"n": 1.10' in shown and '"n": 1e999' in shown and shown.count("\n") == 4
    deep = "[" * 900 + "1" * 80 + "]" * 900
    assert pretty_json.indent(deep, 10_000) == deep
    assert pretty_json.indent(text, 100) == text


@pytest.mark.parametrize(
    ("sizes", "room", "limit"),
    [((), 10, 10), ((1, 2, 3), 10, 3), ((1, 100, 100), 41, 20), ((5, 5), 4, 2), ((7,), 0, 0)],
)
def test_room_is_shared_fairly(sizes: tuple[int, ...], room: int, limit: int) -> None:
    assert fair_limit(sizes, room) == limit


@given(st.lists(st.integers(0, 1000), max_size=50), st.integers(0, 5000))
def test_shares_never_exceed_the_room(sizes: list[int], room: int) -> None:
    limit = fair_limit(sizes, room)
    assert sum(min(size, limit) for size in sizes) <= max(room, 0) or not sizes
