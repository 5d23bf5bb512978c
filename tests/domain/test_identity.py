"""Both canonical forms and the digests made from them, against vectors of the published client."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.identity import (
    LABEL_KEYS,
    SET_KEYS,
    canonical_jcs,
    canonical_plain,
    hashed_content,
    plain_hash,
    revision_hash,
    rules_hash,
    sha256_digest,
)
from benchmarks.domain.tracks import parse_track
from benchmarks.domain.types import DomainError

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "identity-vectors.json").read_text("utf-8"))

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(names | st.sampled_from(sorted(SET_KEYS)), inner)
    ),
    max_leaves=12,
)
contents = st.dictionaries(names, json_values, max_size=4)


@pytest.mark.parametrize("case", VECTORS["canonical_json"], ids=lambda case: case["canonical"][:30])
def test_canonical_jcs_vector(case: dict[str, Any]) -> None:
    assert canonical_jcs(case["value"]) == case["canonical"].encode()
    assert hashlib.sha256(canonical_jcs(case["value"])).hexdigest() == case["sha256"]


@pytest.mark.parametrize("case", VECTORS["plain_hash"], ids=lambda case: case["hash"][7:15])
def test_plain_hash_vector(case: dict[str, Any]) -> None:
    assert plain_hash(case["value"]) == case["hash"]


@pytest.mark.parametrize("case", VECTORS["revision_hash"], ids=lambda case: case.get("note"))
def test_revision_hash_vector(case: dict[str, Any]) -> None:
    assert revision_hash(case["kind"], case["content"]) == case["hash"]


@pytest.mark.parametrize("case", VECTORS["builtin_harness"], ids=lambda case: case["name"])
def test_built_in_harness_vector(case: dict[str, Any]) -> None:
    assert revision_hash("harness", case["content"]) == case["hash"]


@pytest.mark.parametrize("case", VECTORS["rules_hash"], ids=lambda case: case["rules_hash"][7:15])
def test_rules_hash_vector(case: dict[str, Any]) -> None:
    track = parse_track(case["track"])
    assert rules_hash(track) == case["rules_hash"]
    assert track.reference == case["reference"]
    assert canonical_plain(case["hashed_content"]).decode() == case["hash_input_text"]


def test_rules_hash_leaves_out_name_and_description_and_nothing_else() -> None:
    base = {"id": "a", "name": "A", "kind": "agents"}
    same = rules_hash(parse_track(base))
    assert rules_hash(parse_track({**base, "name": "B", "description": "b"})) == same
    others: list[dict[str, Any]] = [
        {"id": "b"}, {"kind": "models", "instructions": "none"}, {"version": "1.0.1"}, {"attempts": 2},
        {"max_retries": 1}, {"harnesses": ["x"]}, {"instructions": "none"}, {"temperature": 0},
        {"max_tokens": 1}, {"tools": ""}, {"max_turns": 1}, {"max_seconds": 1}, {"max_cost_usd": 1},
    ]  # fmt: skip
    hashes = {rules_hash(parse_track({**base, **other})) for other in others}
    assert len(hashes | {same}) == len(others) + 1


def test_rules_hash_takes_whole_numbers_for_floats() -> None:
    base = {"id": "a", "name": "A", "kind": "agents"}
    whole = parse_track({**base, "temperature": 0, "max_seconds": 60, "max_cost_usd": 2})
    written = parse_track({**base, "temperature": 0.0, "max_seconds": 60.0, "max_cost_usd": 2.0})
    assert rules_hash(whole) == rules_hash(written)


def test_jcs_orders_keys_by_utf16_and_plain_by_code_point() -> None:
    value = {"\U0001f600": 1, "\ufb33": 2}
    assert canonical_jcs(value) == '{"\U0001f600":1,"\ufb33":2}'.encode()
    assert canonical_plain(value) == '{"\ufb33":2,"\U0001f600":1}'.encode()


def test_jcs_writes_integers_of_any_size_exactly() -> None:
    value = [2**53 - 1, 2**53, -(2**53) - 1, 10**40]
    assert canonical_jcs(value) == f"[{','.join(map(str, value))}]".encode()


def test_the_two_forms_differ_on_number_text() -> None:
    assert canonical_jcs([1.0, -0.0, 1e21]) == b"[1,0,1e+21]"
    assert canonical_plain([1.0, -0.0, 1e21]) == b"[1.0,-0.0,1e+21]"
    assert plain_hash({"a": 1}) != plain_hash({"a": 1.0})


@pytest.mark.parametrize("canonical", [canonical_jcs, canonical_plain])
@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, "\ud800", {"\udfff": 1}, {1: "x"}, {None: 1}, b"x", {1, 2}, object],
    ids=repr,
)
def test_what_is_not_json_is_refused(canonical: Any, value: object) -> None:
    for nested in (value, [value], {"targets": [1, value]}):
        with pytest.raises(DomainError):
            canonical(nested)
        with pytest.raises(DomainError):
            revision_hash("task", {"info": nested})


@pytest.mark.parametrize("canonical", [canonical_jcs, canonical_plain])
def test_depth_without_end_is_refused(canonical: Any) -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(DomainError, match="deep"):
        canonical(value)


def test_integers_too_long_to_write_are_refused() -> None:
    with pytest.raises(DomainError):
        canonical_jcs(10**5000)


@given(json_values)
def test_jcs_text_reads_back_to_the_same_text(value: Any) -> None:
    text = canonical_jcs(value)
    assert canonical_jcs(json.loads(text)) == text


@given(json_values)
def test_plain_text_reads_back_to_the_same_text(value: Any) -> None:
    text = canonical_plain(value)
    assert canonical_plain(json.loads(text)) == text


@given(json_values)
def test_jcs_agrees_with_the_rfc8785_package_where_that_can_write(value: Any) -> None:
    try:
        expected = rfc8785.dumps(value)
    except rfc8785.IntegerDomainError:
        return
    assert canonical_jcs(value) == expected


@given(contents, st.randoms(use_true_random=False))
def test_order_of_keys_never_changes_a_hash(content: dict[str, Any], random: Any) -> None:
    items = list(content.items())
    random.shuffle(items)
    assert revision_hash("task", dict(items)) == revision_hash("task", content)
    assert plain_hash(dict(items)) == plain_hash(content)


@given(contents, st.sampled_from(sorted(LABEL_KEYS)), names)
def test_labels_count_below_the_top_level_only(content: dict[str, Any], key: str, label: str) -> None:
    plain = {k: v for k, v in content.items() if k not in LABEL_KEYS}
    assert revision_hash("agent", {**plain, key: label}) == revision_hash("agent", plain)
    nested = {**plain, "nested": {key: label}}
    assert revision_hash("agent", nested) != revision_hash("agent", {**plain, "nested": {}})


@given(
    st.lists(json_values, max_size=5), st.sampled_from(sorted(SET_KEYS)), st.randoms(use_true_random=False)
)
def test_order_counts_except_in_sets(items: list[Any], key: str, random: Any) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)
    for wrap in (lambda v: {key: v}, lambda v: {"deep": [{key: v}]}):
        assert revision_hash("verifier", wrap(items)) == revision_hash("verifier", wrap(shuffled))
    if canonical_jcs(items) != canonical_jcs(shuffled) and key not in str(items):
        assert revision_hash("verifier", {"steps": items}) != revision_hash("verifier", {"steps": shuffled})


@given(contents)
def test_hashed_content_is_what_is_hashed(content: dict[str, Any]) -> None:
    stored = hashed_content(content)
    digest = sha256_digest(canonical_jcs({"content": stored, "identity": 2, "kind": "task"}))
    assert digest == revision_hash("task", content) == revision_hash("task", stored)
    assert hashed_content(stored) == stored
