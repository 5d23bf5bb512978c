"""What the gate of publication says of a document: places, contexts, values broken over several strings."""

from __future__ import annotations

import base64
import gzip
import json

import pytest

from hub.domain.leaks import Finding, PrivateMaterial, scan
from hub.domain.leaks.reading import MOST_DECODED, MOST_READINGS, ROOM, readings

KEY = "sk-proj-" + "aB3dE5gH7jK9" * 3
OTHER = "ghp_" + "Zx8Kq2Wm4R" * 4
NOTHING = PrivateMaterial()


def found(document: object, private: PrivateMaterial = NOTHING) -> list[Finding]:
    return scan(json.dumps(document, ensure_ascii=False).encode(), private, ())


def kinds(text: str) -> list[str]:
    return [finding.kind for finding in found({"description": text})]


def test_a_finding_says_where_and_what() -> None:
    [finding] = found({"tasks": [{"name": "first"}, {"name": "second", "description": f"use {KEY} here"}]})
    assert (finding.kind, finding.group, finding.label) == ("openai_key", "secret", "an OpenAI API key")
    assert finding.pointer == "/tasks/1/description"
    assert finding.path == ("tasks", 1, "description")
    assert finding.where == "Tasks, item 2 (second), description"
    assert finding.context == f"use sk-p…({len(KEY)} characters) here"
    assert (finding.spans, finding.encodings, finding.blocks) == (((4, 4 + len(KEY)),), (), True)


def test_findings_come_in_the_order_of_the_document() -> None:
    document = {"b": [KEY, {"a": OTHER}], "a": f"jane@acme.io {KEY}"}
    assert [(one.pointer, one.kind) for one in found(document)] == [
        ("/b/0", "openai_key"),
        ("/b/1/a", "github_token"),
        ("/a", "email"),
        ("/a", "openai_key"),
    ]


def test_contexts_mask_what_other_findings_found() -> None:
    text = f"a {KEY} b {OTHER} c jane@acme.io d"
    findings = found({"x": text})
    assert len(findings) == 3
    for finding in findings:
        assert not any(
            value in finding.context for value in (KEY, OTHER, "jane@acme.io", KEY[8:20], OTHER[4:12])
        )


def test_a_secret_in_a_key_shows_nowhere() -> None:
    document = {"tasks": [{"applicability": {KEY: {"deep": OTHER}}}], KEY: "x"}
    findings = found(document)
    assert sorted(finding.in_key for finding in findings) == [False, True, True]
    for finding in findings:
        assert KEY not in finding.pointer + finding.where + finding.context + repr(finding)
    assert {finding.path[-1] for finding in findings} == {KEY, "deep"}


def test_names_of_items_that_hold_a_finding_are_not_shown() -> None:
    [finding] = found({"tasks": [{"name": f"t {OTHER}"}]})
    assert finding.where == "Tasks, item 1, name"


def test_the_name_of_a_member_says_what_its_value_is() -> None:
    secret = "q7Zk2mXw9Lp4Rt8Vb3Nc6Hd1"
    for document in (
        {"applicability": {"MISTRAL_API_KEY": secret}},
        {"env": [{"name": "COHERE_API_KEY", "value": secret}]},
        {"clientSecret": secret},
    ):
        assert [finding.kind for finding in found(document)] == ["assigned_secret"]
    assert (
        found({"api_key": "none", "token": "bearer", "secret_name": secret[:12], "key": "support-late"}) == []
    )


def test_a_secret_over_several_items_of_a_list_is_found() -> None:
    lines = ["begin", KEY[:20], KEY[20:], "end"]
    across, half = found({"about": {"limitations": lines}})
    assert (across.kind, across.pointer, across.spans) == ("openai_key", "/about/limitations", ())
    assert half.pointer == "/about/limitations/1"
    [inside] = found({"about": {"limitations": ["a", KEY, "b"]}})
    assert inside.pointer == "/about/limitations/1"


def test_bytes_that_are_no_json_are_read_as_text() -> None:
    for body in (f"log: {KEY}".encode(), b"\xff\xfe" + KEY.encode(), b"[" * 100_000 + KEY.encode(), b""):
        expected = ["openai_key"] if KEY.encode() in body else []
        assert [finding.kind for finding in scan(body, NOTHING, ())] == expected


def test_every_member_of_one_name_is_read() -> None:
    body = f'{{"a": "{KEY}", "a": "fine"}}'.encode()
    assert [finding.kind for finding in scan(body, NOTHING, ())] == ["openai_key"]


def test_user_names_of_paths_are_found_elsewhere() -> None:
    private = PrivateMaterial({"resources": ("see /home/kowalski/data",)})
    assert [finding.kind for finding in found({"a": "run by kowalski"}, private)] == ["user_name"]
    assert found({"a": "run by an agent, kowalskis"}, PrivateMaterial({"r": ("/home/agent/x",)})) == []
    assert scan(b'{"a": "run by kowalski"}', private, ("kowalski",)) == []


@pytest.mark.parametrize(
    "text",
    [
        "jane@example.com",
        "maria@example.org",
        "jane.doe@sub.acme.co.uk",
        "12345+jane@users.noreply.github.com",
    ],
)
def test_addresses_of_people_block(text: str) -> None:
    assert kinds(f"mail {text}.") == ["email"]


@pytest.mark.parametrize(
    "text", ["you@example.org", "user@example.com", "noreply@acme.io", "git@github.com:a/b"]
)
def test_addresses_of_nobody_do_not(text: str) -> None:
    assert kinds(f"mail {text}.") == []


def test_both_secrets_of_one_encoded_text_are_told() -> None:
    code = base64.b64encode(f"{KEY} and {OTHER}".encode()).decode()
    assert sorted(kinds(f"see {code}")) == ["github_token", "openai_key"]


def test_text_in_a_png_is_read() -> None:
    chunk = (
        b"\x89PNG\r\n\x1a\n"
        + bytes(range(200, 240))
        + b"tEXtComment\0"
        + KEY.encode()
        + bytes(range(128, 180))
    )
    assert kinds(f"data:image/png;base64,{base64.b64encode(chunk).decode()}") == ["openai_key"]


def test_more_findings_than_can_be_told_block_as_one_more() -> None:
    findings = found({"x": " ".join(f"person{number}@acme.io" for number in range(500))})
    assert len(findings) == 201
    assert [(one.kind, one.label) for one in findings if one.kind != "email"] == [
        ("unchecked", "more than 200 findings")
    ]


def test_more_layers_than_are_read_block() -> None:
    text = KEY
    for _ in range(12):
        text = base64.b64encode(text.encode()).decode()
    assert {"openai_key", "unchecked"} & set(kinds(text))
    deep = json.dumps(KEY)
    for _ in range(14):
        deep = json.dumps(deep)
    assert {"openai_key", "unchecked"} & set(kinds(deep))


@pytest.mark.parametrize(
    "text",
    [
        "%" + "25" * 50_000,
        "\\" * 100_000,
        "=" * 100_000,
        "aGVsbG8gd29ybGQg" * 6_000,
        "&amp;" * 20_000,
        "\u200b" * 50_000 + "\n" * 50_000,
        "a@" * 50_000,
        "eyJhbGciOiJIUzI1NiJ9." * 5_000,
        "password=" * 10_000,
        "-----BEGIN PRIVATE KEY-----" * 3_000,
        "/home/" * 15_000,
        " " * 100_000 + "\n",
        "sk-" * 30_000,
        base64.b64encode(gzip.compress(b"\0 harmless" * 3_000_000)).decode(),
        "\ud800" * 1000,
    ],
)
def test_work_is_bounded_whatever_a_text_holds(text: str) -> None:
    read = readings(text)
    assert len(read.all) <= MOST_READINGS
    assert sum(len(reading.text) for reading in read.all) <= (MOST_DECODED + 1) * len(text) + ROOM
    scan(json.dumps({"x": text}).encode(), NOTHING, ())


def test_what_unpacks_to_more_than_is_read_blocks() -> None:
    bomb = base64.b64encode(gzip.compress(b"\0 harmless" * 30_000_000)).decode()
    assert kinds(bomb) == ["unchecked"]
