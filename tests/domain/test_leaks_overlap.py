"""What counts as private text repeated in public."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from hub.domain.leaks import Finding, PrivateMaterial, scan

PROMPT = (
    "You are a careful support agent. Read the policy first and answer in the customer's language. "
    "Never mention that a goodwill voucher of 20 euros exists, unless the parcel was late twice."
)
NAMES = (
    "support-refund-duplicate-charge",
    "Duplicate charges",
    "refunds",
    "read_policy",
    "openai/gpt-5.6-luna",
)
TEXTS = ("Share of tickets that were resolved by the policy.",)


def found(
    text: str,
    *,
    answers: tuple[str, ...] = (),
    prompts: tuple[str, ...] = (),
    names: tuple[str, ...] = NAMES,
    texts: tuple[str, ...] = TEXTS,
) -> list[Finding]:
    private = PrivateMaterial({"expected answers": answers, "Agent prompts": prompts})
    return scan(json.dumps({"about": {"description": text}}).encode(), private, names, texts)


@pytest.mark.parametrize(
    "text",
    [
        "In such a case we refund the customer at once.",
        "REFUND   THE\nCustomer",
        "the result is refund-the-customer",
        "refund_the_customer",
        "RefundTheCustomer",
        "refundthecustomer",
        "so xrefundthecustomery",
        "re\u00adfund the cus\u200btomer",
        "ｒｅｆｕｎｄ ｔｈｅ ｃｕｓｔｏｍｅｒ",
        json.dumps({"a": json.dumps({"b": "refund the customer"})}),
        base64.b64encode(b"say: refund the customer.").decode(),
        quote("refund the customer"),
        "refund%20the%20customer",
        "refund the cus\n    tomer",
        b"refund the customer".hex(),
    ],
)
def test_an_expected_answer_is_found_however_it_is_written(text: str) -> None:
    [finding] = found(text, answers=("refund the customer",))
    assert (finding.kind, finding.source, finding.blocks) == ("private_text", "expected answers", True)
    assert "customer" not in finding.context.lower()


@pytest.mark.parametrize(
    "answer",
    ["MAPLE7731LANTERN", "ORD-2024-1188-X", "offer store credit", "Überweisung morgen!", "123456789012"],
)
def test_values_count_from_12_characters_or_3_words_on(answer: str) -> None:
    assert [finding.kind for finding in found(f"so: {answer}, then", answers=(answer,))] == ["private_text"]


@pytest.mark.parametrize("answer", ["approve", "B-1188", "yes or no", "the other one", "42", ""])
def test_less_than_that_is_none(answer: str) -> None:
    assert found(f"so: {answer}, then", answers=(answer,)) == []


def test_an_answer_counts_though_it_stands_in_a_public_text() -> None:
    text = "Refund the customer who was charged twice."
    [finding] = found(text, answers=("refund the customer",), texts=(text,))
    assert finding.spans == ((0, 19),)
    [finding] = found("Refund the customer", answers=("refund the customer",), texts=("Refund the customer",))
    assert finding.kind == "private_text"


def test_a_long_answer_is_found_as_a_whole_in_a_public_text() -> None:
    answer = "offer a store credit of 20 euros and close the ticket with a note"
    [finding] = found(f"Should {answer}.", answers=(answer,), texts=(f"Should {answer}.",))
    assert finding.spans == ((7, 7 + len(answer)),)


def test_a_part_of_a_short_answer_counts() -> None:
    [finding] = found("It may offer store credit, too.", answers=("Offer store credit and close the ticket",))
    assert finding.spans == ((7, 25),)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Hint: a goodwill voucher of 20 euros exists.", ((6, 43),)),
        ("Agents that never mention that a goodwill voucher is there", ((12, 49),)),
        ("whether the parcel was late twice", ((8, 33),)),
    ],
)
def test_parts_of_a_prompt_are_found_as_long_as_they_are(
    text: str, spans: tuple[tuple[int, int], ...]
) -> None:
    [finding] = found(text, prompts=(PROMPT,))
    assert finding.spans == spans
    assert finding.source == "Agent prompts"


@pytest.mark.parametrize(
    "text",
    [
        "Refunds are paid in the customer's currency.",
        "It reads the policy first and then decides.",
        "You are free to use any model that you like.",
        "Answers are in English; unless noted, a Task has four attempts.",
        "the customer's order",
    ],
)
def test_common_phrases_are_no_finding(text: str) -> None:
    assert (
        found(
            text,
            prompts=(
                PROMPT,
                "Ask for the customer's order before you do anything else, and then say what it is.",
            ),
        )
        == []
    )


def test_private_text_that_names_public_things_does_not_make_them_private() -> None:
    prompts = (
        "Task support-refund-duplicate-charge: call read_policy with openai/gpt-5.6-luna.",
        "name: support-refund-duplicate-charge",
        "Scoring is the share of tickets that were resolved by the policy, as said.",
    )
    text = "support-refund-duplicate-charge uses read_policy on openai/gpt-5.6-luna"
    assert found(text, prompts=prompts) == []
    assert found(TEXTS[0], prompts=prompts) == []


def test_public_names_that_are_private_values_are_listed_once_and_block_nothing() -> None:
    body = {
        "categories": [{"name": "refunds"}, {"name": "Duplicate charges"}],
        "tasks": [{"categories": ["refunds"]}],
    }
    private = PrivateMaterial(
        {"expected answers": ("refunds", "Refunds", "duplicate charges", "yes"), "States": ("refunds",)}
    )
    findings = scan(json.dumps(body).encode(), private, NAMES)
    assert [(found.kind, found.context, found.blocks) for found in findings] == [
        ("public_name", "refunds", False),
        ("public_name", "Duplicate charges", False),
    ]
    assert findings[0].source == "expected answers, States"


def test_private_material_is_read_as_json_where_it_is() -> None:
    state = json.dumps({"orders": [{"note": "leave it at the neighbour's", "id": 4_000_123_456_789}], "n": 3})
    private = PrivateMaterial({"hidden State": (state,)})
    body = {"about": {"purpose": "Leave it at the neighbour's door", "success": "number 4000123456789"}}
    assert [finding.where for finding in scan(json.dumps(body).encode(), private, ())] == [
        "about, purpose",
        "about, success",
    ]


def test_values_of_a_yaml_file_count_as_values() -> None:
    verifier = "kind: exact_match\nexpected: 'close as duplicate'\nweight: 1.0\n"
    private = PrivateMaterial({"Verifier definitions": (verifier,)})
    [finding] = scan(b'{"about": {"purpose": "When to close as duplicate"}}', private, ())
    assert finding.spans == ((8, 26),)


def test_fields_of_the_schema_and_identities_are_not_compared() -> None:
    digest = f"sha256:{'ab' * 32}"
    body = {
        "release": {"published_at": "2026-01-01T00:00:00Z", "content_hash": digest},
        "scoring": {"aggregation": "weighted_mean", "infrastructure_error": "exclude"},
        "results": [{"provenance": "independently_reproduced", "infrastructure_errors": 0}],
    }
    private = (
        digest,
        "2026-01-01T00:00:00Z",
        "weighted_mean",
        "independently_reproduced",
        "infrastructure_error",
    )
    assert scan(json.dumps(body).encode(), PrivateMaterial({"States": private}), ()) == []
    [finding] = scan(
        json.dumps({"about": {"description": digest}}).encode(), PrivateMaterial({"s": private}), ()
    )
    assert finding.kind == "private_text"


def test_each_overlap_names_every_list_that_it_stands_in() -> None:
    private = PrivateMaterial(
        {"answers": ("close as duplicate",), "prompts": (f"{PROMPT} Close as duplicate.",)}
    )
    [finding] = scan(b'{"a": "close as duplicate"}', private, ())
    assert finding.source == "answers, prompts"
