"""Big JSON objects read piece by piece: what comes out is what the standard library reads at once."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.readers import stream_json
from jobs.domain.readers.strict_json import NotStrictError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=20,
)


def slowly(data: bytes, seed: int) -> Callable[[int], bytes]:
    """A file that gives a few bytes at a time, whatever is asked for."""
    stream, rng = io.BytesIO(data), random.Random(seed)  # noqa: S311
    return lambda size: stream.read(min(size, rng.randint(1, 7)))


def expected(document: dict[str, Any]) -> list[tuple[str, Any]]:
    return [
        pair
        for key, value in document.items()
        for pair in ([(key, item) for item in value] if isinstance(value, list) else [(key, value)])
    ]


@given(st.dictionaries(st.text(), VALUES), st.sampled_from([None, 1]), st.booleans(), st.integers())
def test_members_are_those_of_the_standard_library(
    document: dict[str, Any], indent: int | None, ascii_only: bool, seed: int
) -> None:
    try:
        data = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()
    except UnicodeEncodeError:
        return
    assert list(stream_json.members(slowly(data, seed))) == expected(json.loads(data))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"1",
        b"{",
        b'{"a"',
        b'{"a":',
        b'{"a":1',
        b'{"a":1,',
        b'{"a":1,}',
        b'{"a":[1,',
        b'{"a":[1,]}',
        b'{"a":[1 2]}',
        b'{"a" 1}',
        b"{a:1}",
        b"{1:1}",
        b'{"a":1}{',
        b'{"a":1} x',
        b'{"a":NaN}',
        b'{"a":1e999}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":"\xff"}',
        b'{"a":"\xc3',
        b'{"a":{"b":tru}}',
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"\xef\xbb\xbf{}",
    ],
)
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(NotStrictError):
        list(stream_json.members(slowly(data, 1)))
    with pytest.raises(NotStrictError):
        list(stream_json.members(io.BytesIO(data).read))


def test_real_error_is_found_without_reading_on() -> None:
    stream = io.BytesIO(b'{"a": {"b": oops}, "c": "' + b"x" * 5_000_000 + b'"}')
    with pytest.raises(NotStrictError):
        list(stream_json.members(stream.read))
    assert stream.tell() <= 1024 * 1024


def test_element_that_would_fill_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_json, "PIECE_LIMIT", 1000)
    monkeypatch.setattr(stream_json, "_CHUNK", 100)
    data = b'{"a": ["' + b"x" * 5000 + b'"]}'
    with pytest.raises(NotStrictError, match="too large"):
        list(stream_json.members(io.BytesIO(data).read))
    assert len(list(stream_json.members(io.BytesIO(b'{"a": [' + b"1," * 5000 + b"1]}").read))) == 5001
