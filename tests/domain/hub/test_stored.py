"""Bytes, digests and references: what is written, and what is not taken back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.types import DomainError
from hub.domain.assemble import assemble
from hub.domain.codec import MAX_PROBLEMS, FormError
from hub.domain.stored import (
    Reference,
    digest_of,
    manifest_bytes,
    parse_manifest,
    parse_reference,
    reference,
    reference_of,
)
from tests.domain.hub.made import MADE

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
free = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | texts
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts | st.sampled_from(["targets", "denied"]), inner, max_size=3)
    ),
    max_leaves=10,
)


def problems(data: bytes) -> list[tuple[str, str]]:
    with pytest.raises(FormError) as caught:
        parse_manifest(data)
    assert str(caught.value)
    return [(problem.field, problem.message) for problem in caught.value.problems]


def test_bytes_are_canonical_and_floats_stay_floats() -> None:
    manifest = assemble(**MADE)
    manifest = replace(
        manifest,
        about=replace(manifest.about, purpose="Größe 𝟙 – “x”"),
        results=(replace(manifest.results[0], score=1),),
    )
    data = manifest_bytes(manifest)
    assert (
        data
        == json.dumps(json.loads(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    )
    assert "Größe 𝟙 – “x”".encode() in data
    assert b'"score":1.0' in data and b'"max_turns":8,' in data


def test_references_are_written_and_read() -> None:
    manifest = assemble(**MADE)
    data = manifest_bytes(manifest)
    written = reference_of(manifest, digest_of(data))
    assert (
        written
        == f"plural:benchmark/desk@1.0.0#{digest_of(data)}"
        == reference("desk", "1.0.0", digest_of(data))
    )
    assert parse_reference(written) == Reference("desk", "1.0.0", digest_of(data))
    for text in ("", "desk@1.0.0", written + "0", written.replace("sha256", "md5"), "x" * 500):
        with pytest.raises(DomainError, match="is no reference"):
            parse_reference(text)


@given(st.dictionaries(texts | st.sampled_from(["targets", "denied"]), free, max_size=3), texts)
def test_what_is_written_is_read_back(applicability: dict[str, Any], text: str) -> None:
    manifest = assemble(**MADE)
    task = replace(manifest.tasks[0], applicability=applicability, description=text)
    manifest = replace(manifest, tasks=(task, *manifest.tasks[1:]))
    data = manifest_bytes(manifest)
    assert manifest_bytes(parse_manifest(data)) == data
    assert parse_manifest(data).tasks[0].description == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff", "is not UTF-8 text (byte 0)"),
        (b"{", "is not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        (b"\xef\xbb\xbf{}", "is not JSON: Unexpected UTF-8 BOM (decode using utf-8-sig) at line 1, column 1"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"x":' + b"9" * 5000 + b"}", "holds a number with too many digits"),
        (b"[]", "must be an object, not a list"),
        (b"null", "must be an object, not null"),
        (b'"' + b"x" * 100 + b'"', "must be an object, not '" + "x" * 39 + "…"),
    ],
)
def test_what_is_no_manifest_at_all(data: bytes, message: str) -> None:
    assert problems(data) == [("", message)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            b'"status":"published"',
            b'"status":"published","status":"withdrawn"',
            ("status", "stands twice in one object"),
        ),
        (
            b'"applicability":{}',
            b'"applicability":{"a":[{"b":{"c":1,"c":2}}]}',
            ("tasks.0.applicability.a.0.b.c", "stands twice in one object"),
        ),
        (
            b'"applicability":{}',
            b'"applicability":{"a":{"b":1,"b":2}}',
            ("tasks.0.applicability.a.b", "stands twice in one object"),
        ),
        (
            b'"applicability":{}',
            b'"applicability":{"a":1,"a":2}',
            ("tasks.0.applicability.a", "stands twice in one object"),
        ),
        (
            b'"applicability":{}',
            b'"applicability":{"a":NaN}',
            ("tasks.0.applicability.a", "must be a finite number, not nan"),
        ),
        (
            b'"applicability":{}',
            b'"applicability":{"a":-Infinity}',
            ("tasks.0.applicability.a", "must be a finite number, not -inf"),
        ),
        (
            b'"applicability":{}',
            b'"applicability":{"\\u0007' + b"a" * 100 + b'":"\\ud800"}',
            (
                "tasks.0.applicability.\ufffd" + "a" * 79 + "…",
                "holds a character that can't be stored (NUL or a lone surrogate)",
            ),
        ),
        (b'"score":0.4375', b'"score":1e999', ("results.0.score", "must be a finite number, not inf")),
        (b'"score":0.4375', b'"score":true', ("results.0.score", "must be a number, not true")),
        (
            b'"score_range":[0.0,1.0]',
            b'"score_range":[0.0]',
            ("scoring.score_range", "must have 2 items, not 1"),
        ),
        (
            b'"default_view":"agents"',
            b'"default_view":"all"',
            ("default_view", "must be 'models' or 'agents', not 'all'"),
        ),
        (b'"traces":false', b'"traces":"no"', ("disclosure.traces", "must be true or false, not 'no'")),
        (b'"limitations":[]', b'"limitations":"none"', ("about.limitations", "must be a list, not 'none'")),
        (
            b'"task_weights":{"b":3.0}',
            b'"task_weights":[]',
            ("scoring.task_weights", "must be an object, not a list"),
        ),
        (
            b'"max_turns":8',
            b'"max_turns":8.5',
            ("tasks.0.requirements.max_turns", "must be a whole number, not 8.5"),
        ),
        (b'"weight":3.0', b'"weight":9007199254740992', ("tasks.1.weight", "must be a number within 2**53")),
    ],
)
def test_each_fault_of_form_is_named_by_its_path(old: bytes, new: bytes, expected: tuple[str, str]) -> None:
    data = manifest_bytes(assemble(**MADE))
    assert old in data
    assert expected in problems(data.replace(old, new))


def test_whole_numbers_are_taken_for_floats_but_are_not_canonical() -> None:
    data = manifest_bytes(assemble(**MADE))
    other = data.replace(b'"weight":3.0', b'"weight":3')
    assert manifest_bytes(parse_manifest(other)) == data != other


def test_problems_are_not_endless() -> None:
    value = json.loads(manifest_bytes(assemble(**MADE)))
    value |= {f"x{number}": 1 for number in range(MAX_PROBLEMS * 2)}
    assert len(problems(json.dumps(value).encode())) == MAX_PROBLEMS


def test_what_has_no_canonical_form_is_not_written() -> None:
    manifest = assemble(**MADE)
    for odd in (float("nan"), "\ud800", {1, 2}):
        task = replace(manifest.tasks[0], applicability={"a": odd})
        with pytest.raises(DomainError):
            manifest_bytes(replace(manifest, tasks=(task,)))
    with pytest.raises(DomainError):
        manifest_bytes(replace(manifest, tasks=(replace(manifest.tasks[0], weight=10**400),)))
