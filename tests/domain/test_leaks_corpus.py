"""How many planted secrets the gate of publication finds, in each encoding, and how many look-alikes it takes
for one. Run with `-s` to see the rates."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from hub.domain.leaks import Finding, PrivateMaterial, scan
from tests.leaking import CORPUS, ENCODINGS, LINE_SPLITS, SHORT_OF_BYTES, Sample, chance, look_alikes, planted

SEEDS = (1, 2)
NOT_ACROSS_LINES = frozenset({"email", "machine_path", "user_name"})
"""Not claimed where a line break was put inside: a word that ends one line and one that begins the next would
be taken for an address."""
NOTHING = PrivateMaterial()


def found_by_item(texts: list[tuple[str, str]]) -> list[list[Finding]]:
    """Findings of each text, which stands under its name in an item of its own."""
    items = [{name or "description": text} for name, text in texts]
    body = json.dumps({"tasks": items}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    by_item: list[list[Finding]] = [[] for _ in items]
    for finding in scan(body, NOTHING, ()):
        by_item[int(finding.path[1])].append(finding)
    return by_item


def made(samples: list[Sample], seed: int) -> list[str]:
    return [sample.make(chance(f"{seed}:{index}")) for index, sample in enumerate(samples)]


def is_claimed(sample: Sample, text: str, encoding: str) -> bool:
    if encoding in LINE_SPLITS and sample.kind in NOT_ACROSS_LINES:
        return False
    if encoding in SHORT_OF_BYTES and len(text.encode()) < SHORT_OF_BYTES[encoding]:
        return False
    return encoding == "plain" or not sample.name


def test_the_corpus_is_large_and_holds_no_whole_secret() -> None:
    samples = planted()
    assert len(samples) * len(ENCODINGS) > 5000
    assert len(look_alikes()) >= 150
    whole = ["".join(sample.form) for sample in samples if not any("{" in part for part in sample.form)]
    corpus = (CORPUS / "planted.jsonl").read_text("utf-8")
    assert all(secret not in corpus for secret in whole if len(secret) > 8)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_planted_secrets_are_found(encoding: str) -> None:
    samples = planted()
    missed, wanted, otherwise = [], 0, Counter[str]()
    for seed in SEEDS:
        texts = made(samples, seed)
        encoded = [
            (sample.name, ENCODINGS[encoding](text)) for sample, text in zip(samples, texts, strict=True)
        ]
        for sample, text, findings in zip(samples, texts, found_by_item(encoded), strict=True):
            if not is_claimed(sample, text, encoding):
                continue
            wanted += 1
            kinds = {finding.kind for finding in findings if finding.blocks}
            if not kinds:
                missed.append((sample.kind, text))
            elif sample.kind not in kinds:
                otherwise[sample.kind] += 1
            assert all(text not in finding.context for finding in findings)
    rate = (
        f"{encoding}: {wanted - len(missed)} of {wanted} found, {otherwise.total()} of them as another kind"
    )
    print(rate)  # noqa: T201  # the measured rate
    assert (missed, otherwise) == ([], {}), rate


def test_planted_secrets_are_found_in_keys() -> None:
    for index, sample in enumerate(planted()):
        if sample.name:
            continue
        secret = sample.make(chance(f"key:{index}"))
        found = scan(json.dumps({"applicability": {secret: "yes"}}).encode(), NOTHING, ())
        assert sample.kind in {finding.kind for finding in found if finding.in_key}
        assert all(secret not in finding.pointer + finding.where + finding.context for finding in found)


def test_look_alikes_are_left_alone() -> None:
    samples = look_alikes()
    mistaken = []
    for seed in SEEDS:
        texts = made(samples, seed)
        named = [(sample.name, text) for sample, text in zip(samples, texts, strict=True)]
        for sample, text, findings in zip(samples, texts, found_by_item(named), strict=True):
            if findings:
                mistaken.append((sample.kind, text, [finding.kind for finding in findings]))
    rate = f"{len(mistaken)} of {len(samples) * len(SEEDS)} look-alikes taken for secrets"
    print(rate)  # noqa: T201  # the measured rate
    assert mistaken == [], rate


@pytest.mark.parametrize("kind", sorted({sample.kind for sample in planted()}))
def test_every_kind_is_found_again_and_again(kind: str) -> None:
    samples = [sample for sample in planted() if sample.kind == kind] * 10
    texts = made(samples, 9)
    found = found_by_item([(sample.name, text) for sample, text in zip(samples, texts, strict=True)])
    missed = [
        text for text, findings in zip(texts, found, strict=True) if kind not in {f.kind for f in findings}
    ]
    assert missed == []
