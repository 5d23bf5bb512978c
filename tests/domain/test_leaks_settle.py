"""Settling findings, and taking them out of texts."""

from __future__ import annotations

import base64
import json

from hub.domain.leaks import (
    Finding,
    PrivateMaterial,
    Waiver,
    open_findings,
    redact,
    redact_all,
    replacement,
    scan,
    settle,
)

KEY = "sk-proj-" + "aB3dE5gH7jK9" * 3
OTHER = "ghp_" + "Zx8Kq2Wm4R" * 4
PRIVATE = PrivateMaterial({"expected answers": ("refunds", "close as duplicate")})


def findings_in(text: str) -> list[Finding]:
    return scan(json.dumps({"about": {"description": text}}).encode(), PRIVATE, ("refunds",))


def test_what_is_open_is_neither_waived_nor_information() -> None:
    found = scan(json.dumps({"a": KEY, "b": OTHER, "c": "refunds"}).encode(), PRIVATE, ("refunds",))
    key, other, name = found
    waivers = {key.id: Waiver("a key of the sandbox, revoked", "ann"), "leak_gone": Waiver("old", "ann")}
    settled = settle(found, waivers)
    assert settled.open == (other,) == open_findings(found, waivers)
    assert settled.waived == ((key, waivers[key.id]),)
    assert settled.information == (name,)
    assert settled.stale == ("leak_gone",)
    assert not settled.may_publish
    assert settle([name], {}).may_publish


def test_a_waiver_needs_a_reason_and_a_person() -> None:
    [found] = findings_in(KEY)
    for waiver in (Waiver("", "ann"), Waiver(" \n", "ann"), Waiver("fine", "")):
        assert open_findings([found], {found.id: waiver}) == (found,)


def test_a_waiver_stays_with_the_value_and_its_place() -> None:
    [before] = findings_in(f"use {KEY}")
    [again] = findings_in(f"please do use {KEY} now")
    assert before.id == again.id
    [changed] = findings_in(f"use {KEY}x1")
    [elsewhere] = scan(json.dumps({"about": {"purpose": KEY}}).encode(), PRIVATE, ())
    [as_key] = scan(json.dumps({"about": {"description": {KEY: 1}}}).encode(), PRIVATE, ())
    assert len({before.id, changed.id, elsewhere.id, as_key.id}) == 4


def test_redacting_takes_out_every_time_a_value_stands() -> None:
    text = f"first {KEY}, then {KEY} again"
    [found] = findings_in(text)
    redacted = redact(text, found)
    assert redacted == "first [redacted: OpenAI API key], then [redacted: OpenAI API key] again"
    assert findings_in(redacted) == []


def test_redacting_several_findings_leaves_nothing_of_those_that_overlap() -> None:
    text = f"close as duplicate {KEY} and mail jane@acme.io from /home/jdoe/x: {OTHER}"
    found = findings_in(text)
    redacted = redact_all(text, found)
    assert redacted.count("[redacted: ") == len(found) == 5
    assert findings_in(redacted) == []


def test_replacements_of_every_kind_are_no_findings() -> None:
    text = (
        f"{KEY} postgres://u:Sw0rdfish!@db.acme.io password=Sw0rdfish!9 jane@acme.io /home/jdoe/x"
        f" api_key={OTHER} close as duplicate"
    )
    for found in findings_in(text):
        assert findings_in(f"x {replacement(found)} y") == []


def test_an_encoded_value_is_redacted_as_a_whole() -> None:
    text = f"see {base64.b64encode(KEY.encode()).decode()} there"
    [found] = findings_in(text)
    assert found.encodings == ("base64",)
    assert redact(text, found) == "see [redacted: OpenAI API key] there"
