"""The chain of records: what may follow what, and every way in which one can be broken."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.identity import sha256_digest
from benchmarks.domain.types import DomainError
from hub.domain.codec import FormError
from hub.domain.records import (
    Record,
    StoredRecord,
    Subject,
    check_chain,
    next_record,
    parse_record,
    record_bytes,
    record_problems,
    store,
)
from tests.domain.hub.made import AT, LATER, digest

WHOLE = Subject("pub_1", "1.0.0")
RESULT = Subject("pub_1", "1.0.0", "res_1")
FIRST: dict[str, Any] = {
    "manifest": digest("one"),
    "kind": "publish",
    "reason": "",
    "by": "Ada",
    "at": AT,
    "subject": WHOLE,
}
NEXT = {**FIRST, "manifest": digest("two"), "kind": "correct", "reason": "A wrong key.", "at": LATER}
WITHDRAWN = {**NEXT, "kind": "withdraw", "manifest": None}
RESTORED = {**NEXT, "kind": "restore"}


def chain(*steps: dict[str, Any]) -> list[StoredRecord]:
    found: list[StoredRecord] = []
    for step in steps:
        found.append(store(next_record(found[-1] if found else None, **step)))
    return found


def test_a_record_is_canonical_json_with_its_own_digest() -> None:
    one, two = chain(FIRST, {**NEXT, "subject": RESULT})
    assert json.loads(two.body) == {
        "schema_version": "plural-site.record/1",
        "sequence": 2,
        "kind": "correct",
        "subject": {"publication": "pub_1", "release": "1.0.0", "result": "res_1"},
        "manifest": digest("two"),
        "previous": one.digest,
        "reason": "A wrong key.",
        "by": "Ada",
        "at": "2026-12-01T09:30:00Z",
    }
    assert two.digest == sha256_digest(two.body)
    assert record_bytes(parse_record(two.body)) == two.body
    with pytest.raises(FormError, match="extra: is not a field here"):
        parse_record(two.body.replace(b'{"at"', b'{"extra":1,"at"'))


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [FIRST],
        [FIRST, NEXT, NEXT],
        [
            FIRST,
            {**NEXT, "kind": "withdraw", "subject": RESULT},
            {**NEXT, "kind": "restore", "subject": RESULT},
        ],
        [FIRST, WITHDRAWN, RESTORED, NEXT],
        [FIRST, {**WITHDRAWN, "manifest": digest("gone")}, RESTORED, {**NEXT, "kind": "publish"}],
    ],
)
def test_sound_chains_in_any_order(steps: list[dict[str, Any]]) -> None:
    records = chain(*steps)
    assert check_chain(records) is None
    assert check_chain(records[::-1]) is None


@pytest.mark.parametrize(
    ("before", "step", "message"),
    [
        ([], NEXT, "The first record of a release publishes it."),
        ([FIRST], {**NEXT, "reason": " "}, "Say why"),
        ([FIRST], {**NEXT, "by": ""}, "Say who"),
        ([FIRST], {**NEXT, "manifest": None}, "without a manifest"),
        ([FIRST], {**WITHDRAWN, "subject": RESULT}, "without a manifest"),
        ([FIRST], {**NEXT, "manifest": "sha256:0"}, "The manifest must be named"),
        ([FIRST], {**NEXT, "subject": Subject("pub_1", "1.1.0")}, "another release"),
        ([FIRST], {**NEXT, "subject": Subject("pub_1", "")}, "must be named"),
        ([FIRST], {**NEXT, "subject": Subject("pub_1", "1.0.0", "")}, "by its id"),
        ([FIRST], RESTORED, "is not withdrawn"),
        ([FIRST, WITHDRAWN], NEXT, "restore it first"),
        ([FIRST, WITHDRAWN], WITHDRAWN, "restore it first"),
        ([FIRST, WITHDRAWN], {**RESTORED, "subject": RESULT}, "restore it first"),
    ],
)
def test_records_that_may_not_follow_are_refused(
    before: list[dict[str, Any]], step: dict[str, Any], message: str
) -> None:
    with pytest.raises(DomainError, match=message):
        chain(*before, step)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"at": "2026-12-01"}, "The time must be"),
        ({"previous": "abc"}, "The record before must be named"),
        ({"sequence": 0}, "number 1"),
        ({"sequence": 1}, "number 1"),
        ({"previous": None}, "number 1"),
    ],
)
def test_a_record_is_checked_by_itself(change: dict[str, Any], message: str) -> None:
    record = parse_record(chain(FIRST, NEXT)[1].body)
    assert record_problems(record) == []
    assert any(message in problem for problem in record_problems(replace(record, **change)))


def broken(position: int, **change: Any) -> list[StoredRecord]:
    """A chain of three whose record at `position` was changed and digested anew."""
    records = chain(FIRST, NEXT, {**NEXT, "manifest": digest("three")})
    records[position] = store(replace(parse_record(records[position].body), **change))
    return records


def test_the_first_fault_of_a_chain_is_named() -> None:
    sound = chain(FIRST, NEXT, {**NEXT, "manifest": digest("three")})
    other = chain(FIRST, {**NEXT, "reason": "Something else."})
    changed = StoredRecord(sound[1].digest, sound[1].body.replace(b"wrong", b"right"))
    spaced = b" " + sound[1].body
    unread = StoredRecord(sha256_digest(b"{}"), b"{}")
    cases = {
        "digest": [sound[0], changed, sound[2]],
        "form": [sound[0], unread],
        "gap": [sound[0], sound[2]],
        "fork": [*sound, other[1]],
        "previous": broken(1, reason="Rewritten."),
        "subject": broken(2, subject=Subject("pub_1", "2.0.0")),
        "state": broken(2, kind="restore"),
    }
    for kind, records in cases.items():
        fault = check_chain(records)
        assert fault is not None, kind
        assert fault.kind == kind, fault
    for records, message in (
        ([sound[0], StoredRecord(sha256_digest(spaced), spaced)], "not canonical"),
        (broken(2, by=""), "Say who"),
        (sound[1:], "record 1 is not"),
        (broken(0, kind="correct", reason="x"), "publishes it"),
    ):
        fault = check_chain(records)
        assert fault is not None and message in fault.message


@given(st.integers(0, 2), st.data())
def test_no_byte_of_a_chain_can_change_unseen(position: int, data: st.DataObject) -> None:
    records = chain(FIRST, NEXT, {**NEXT, "manifest": digest("three")})
    body = bytearray(records[position].body)
    at = data.draw(st.integers(0, len(body) - 1))
    body[at] ^= data.draw(st.integers(1, 255))
    changed = bytes(body)
    records[position] = StoredRecord(records[position].digest, changed)
    fault = check_chain(records)
    assert fault is not None and fault.kind == "digest"
    records[position] = StoredRecord(sha256_digest(changed), changed)
    if position < 2:  # nothing follows the last one yet, so it can be rewritten whole
        assert check_chain(records) is not None


def test_defaults_of_a_record() -> None:
    record = Record(1, "publish", WHOLE, digest("one"), None, "", "Ada", "2026-11-30T18:00:00Z")
    assert store(record) == chain(FIRST)[0]
