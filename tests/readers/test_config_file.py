"""A config.json that repeats another's source reads as it would alone, errors and all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers import config_file, strict_json

SOURCE = {"kind": "task", "task": {"source": {"a": 1}, "weights": [1, 1.0, True, None, "é\ud7ff"]}}
OTHER = {"kind": "task", "task": {"source": {"a": 1.0}, "weights": []}}

finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | finite
    # Text that looks like a member of that name, and a member of that name further in.
    | st.sampled_from(["", "source", '"source":', '"source":{"kind":1}', "\\"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["source", "a", "kind"]), inner, max_size=3)
    ),
    max_leaves=8,
)
sources = st.sampled_from([SOURCE, OTHER, {"a": 1}, {"a": 1.0}, {"a": True}, {}]) | values
files = st.fixed_dictionaries({"source": sources}, optional={"agents": values, "z": values})
spacing = st.sampled_from([{"separators": (",", ":")}, {}, {"indent": 2}, {"ensure_ascii": False}])


def outcome(reads: Any, data: bytes) -> tuple[str, str]:
    """What a reader makes of the bytes, so that 1, 1.0 and true differ."""
    try:
        return "", json.dumps(reads(data, "config.json"))
    except ImportProblemError as error:
        return str(error), ""


def remembered(data: bytes, file: str) -> dict[str, Any]:
    return config_file.read(data, file)[0].data


def alone(data: bytes, file: str) -> dict[str, Any]:
    return strict_json.loads(data, file, unique_keys=True, allow_nul=False)


@given(st.lists(st.tuples(files, spacing), min_size=2, max_size=5), st.data())
def test_files_in_a_row_read_as_each_does_alone(rows: list[tuple[Any, Any]], data: st.DataObject) -> None:
    for content, how in rows:
        text = json.dumps(content, **how).encode()
        cut = data.draw(st.sampled_from([text, text[:-1], text + b"}", text.replace(b"agents", b"source")]))
        for given_text in (text, cut):
            assert outcome(remembered, given_text) == outcome(alone, given_text)


def test_source_that_repeats_is_the_same_value() -> None:
    first, known = config_file.read(json.dumps({"agents": [1], "source": SOURCE}).encode(), "a")
    again, repeated = config_file.read(json.dumps({"agents": [2], "source": SOURCE, "z": 3}).encode(), "b")
    assert known is repeated is not None
    assert again.data["source"] is first.data["source"]
    assert list(again.data) == ["agents", "source", "z"]
    assert (again.data["agents"], again.data["z"]) == ([2], 3)


def test_source_is_remembered_where_another_of_its_name_stands_further_in() -> None:
    text = json.dumps({"agents": [{"source": {"a": 1}}], "source": {"a": 1.0}}).encode()
    config_file.read(text, "a")
    assert json.dumps(config_file.read(text, "a")[0].data).encode() == text


@pytest.mark.parametrize("content", [{}, {"source": None}, {"source": [1]}, {"source": "text"}])
def test_source_that_is_no_object_is_not_remembered(content: dict[str, Any]) -> None:
    assert config_file.read(json.dumps(content).encode(), "a")[1] is None


def test_only_the_latest_sources_are_remembered_and_none_of_a_huge_file() -> None:
    for number in range(config_file.REMEMBERED + 1):
        config_file.read(b'{"source": {"number": %d}}' % number, "a")
    assert len(config_file._known) == config_file.REMEMBERED
    filler = b" " * config_file.LONGEST
    assert config_file.read(b'{"source": {}}' + filler, "a")[1] is None


def test_error_tells_the_place_in_the_whole_file() -> None:
    config_file.read(b'{"source": {"a": 1, "b": 2}}', "a")
    with pytest.raises(ImportProblemError, match="line 1, column 28"):
        config_file.read(b'{"source": {"a": 1, "b": 2}x}', "a")
