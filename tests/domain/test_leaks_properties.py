"""Whatever surrounds a secret and however it is encoded, it is found, and no finding shows it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hub.domain.leaks import PrivateMaterial, redact_all, scan
from tests.leaking import ENCODINGS, LINE_SPLITS, chance, planted

NOTHING = PrivateMaterial()
WORDS = st.text(max_size=60)
PLAIN = st.text("abc xyz, .;()\n\u00e9\u4e2d", max_size=60)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
SECRETS = st.sampled_from(
    [sample for sample in planted() if not sample.name and len("".join(sample.form)) > 12]
)
ENCODED = st.sampled_from(sorted(ENCODINGS))


@given(SECRETS, st.integers(0, 10**6), ENCODED, PLAIN, PLAIN)
def test_a_planted_secret_is_found_in_any_text_and_encoding(
    sample: Any, seed: int, encoding: str, before: str, after: str
) -> None:
    secret = sample.make(chance(str(seed)))
    if sample.kind in ("email", "machine_path", "user_name") and (
        encoding in LINE_SPLITS or len(secret) < 12
    ):
        return
    text = f"{before} {ENCODINGS[encoding](secret)} {after}"
    findings = scan(
        json.dumps({"about": {"description": text}}).encode("utf-8", "surrogatepass"), NOTHING, ()
    )
    assert any(finding.blocks for finding in findings), (sample.kind, encoding, text)
    for finding in findings:
        assert secret not in finding.context + finding.pointer + finding.where


@given(
    JSON,
    st.dictionaries(WORDS, st.lists(WORDS, max_size=4).map(tuple), max_size=3),
    st.lists(WORDS, max_size=3),
)
def test_scanning_never_raises_and_says_the_same_twice(
    document: Any, private: dict[str, tuple[str, ...]], names: list[str]
) -> None:
    body = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
    findings = scan(body, PrivateMaterial(private), names)
    assert findings == scan(body, PrivateMaterial(private), names)
    assert len({finding.id for finding in findings}) == len(findings)
    for finding in findings:
        place = json.loads(body)
        for part in finding.path[: -1 if finding.in_key else None]:
            place = place[part]
        text = finding.path[-1] if finding.in_key else place
        for start, end in finding.spans:
            assert 0 <= start < end <= len(str(text))


@given(st.binary(max_size=300))
def test_any_bytes_can_be_scanned(body: bytes) -> None:
    scan(body, PrivateMaterial({"answers": (body.decode("latin-1"),)}), ())


@given(
    st.lists(
        st.sampled_from(("maple", "lantern", "refund", "the", "customer", "of", "order", "seven")),
        min_size=3,
        max_size=9,
    ),
    PLAIN,
)
def test_a_private_value_in_public_text_is_found_and_redacted(words: list[str], around: str) -> None:
    answer = " ".join(words)
    if not {"maple", "lantern", "refund", "customer", "order", "seven"} & set(words):
        return
    text = f"{around} {answer.upper()} {around}"
    private = PrivateMaterial({"expected answers": (answer,)})
    findings = scan(json.dumps({"x": text}).encode(), private, ())
    assert any(finding.kind == "private_text" for finding in findings)
    redacted = redact_all(text, findings)
    assert answer.upper() not in redacted
