"""What a reader can recompute, and that nothing can be changed unseen."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from hub.domain import codec
from hub.domain.assemble import assemble, revise
from hub.domain.facts import StatusChange
from hub.domain.manifest import Manifest
from hub.domain.records import StoredRecord, Subject, next_record, store
from hub.domain.stored import digest_of, manifest_bytes, reference_of
from hub.domain.verify import NOT_RECOMPUTABLE, Check, verify
from tests.domain.hub.broken import CONFIGURATIONS, IDENTITY, REFERENCES, RESULTS, RULES, Broken
from tests.domain.hub.made import AT, LATER, MADE, digest, facts
from tests.domain.hub.recorded import inputs


def records(*manifests: Manifest) -> list[StoredRecord]:
    found: list[StoredRecord] = []
    for manifest in manifests:
        record = next_record(
            found[-1] if found else None,
            manifest=digest_of(manifest_bytes(manifest)),
            kind="correct" if found else "publish",
            reason="Why.",
            by="Ada",
            at=AT,
            subject=Subject(manifest.publication.id, manifest.release.version),
        )
        found.append(store(record))
    return found


def failed(checks: list[Check]) -> list[str]:
    return [check.what for check in checks if not check.ok]


def test_everything_holds_of_what_was_published() -> None:
    first = assemble(**inputs())
    second = revise(first, published_at=LATER, changes=[StatusChange(first.results[0].id, True, "Leaked.")])
    for manifest in (first, second):
        data = manifest_bytes(manifest)
        found = digest_of(data)
        checks = verify(data, records(first, second), digest=found, reference=reference_of(manifest, found))
        assert failed(checks) == []
    names = [check.what for check in verify(manifest_bytes(first), records(first, second))]
    for what in (
        "Digest of the stored bytes",
        "Reference",
        "Digest that the published client computes",
        "Consistency",
        "Result `steady` on controlled@1.0.0: score",
        "Result `steady` on controlled@1.0.0: interval low",
        "Result `steady` on controlled@1.0.0: complete coverage",
        "Result `steady` on controlled@1.0.0: success rate",
        "Result `steady` on controlled@1.0.0: category `Billing`, score",
        "Result `steady` on controlled@1.0.0: success rate at Task `bill-proration`",
        "Result `steady` on controlled@1.0.0: may rank",
        "Result `steady` on controlled@1.0.0: rank",
        "Chain of records",
        "Record 1: what it is about",
    ):
        assert names.count(what) == 1, what
    assert all(NOT_RECOMPUTABLE.values())


def test_numbers_are_shown_with_every_digit() -> None:
    checks = {check.what: check for check in verify(manifest_bytes(assemble(**inputs())), [])}
    check = checks["Result `steady` on controlled@1.0.0: score"]
    assert (check.expected, check.found) == ("0.9807692307692308", "0.9807692307692308")
    assert checks["Result `steady` on controlled@1.0.0: rank"].found == "1"
    assert checks["Result `wobbly` on controlled@1.0.0: rank"].found == "none"
    reason = checks["Result `wobbly` on controlled@1.0.0: may rank"]
    assert reason.expected.startswith("no: ") and "temperature" in reason.found


@pytest.mark.parametrize(
    "broken", [*IDENTITY, *RULES, *CONFIGURATIONS, *REFERENCES, *RESULTS], ids=lambda broken: broken.name
)
def test_every_broken_rule_fails_a_check(broken: Broken) -> None:
    value: dict[str, Any] = deepcopy(codec.plain(SOUND))
    broken.change(value)
    data = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    found = failed(verify(data, records(SOUND)))
    assert "Digest of the stored bytes" in found and "Consistency" in found


SOUND = assemble(**inputs())


def test_a_changed_figure_fails_its_own_check() -> None:
    (result,) = assemble(**MADE).results
    for change, what in (
        ({"score": 0.5}, "score"),
        ({"coverage": 0.25}, "coverage"),
        ({"eligible": False}, "may rank"),
        ({"uncertainty": replace(result.uncertainty, sample_size=1)}, "interval sample size"),
        (
            {"tasks": (replace(result.tasks[0], success_rate=0.5), result.tasks[1])},
            "success rate at Task `a`",
        ),
    ):
        manifest = replace(assemble(**MADE), results=(replace(result, **change),))
        checks = verify(manifest_bytes(manifest), records(manifest))
        assert f"Result `bot` on open@1.0.0: {what}" in failed(checks)


def test_a_changed_score_fails_the_ranks() -> None:
    other = facts(
        "res_2", (0.5, 0.25), agent=replace(facts().agent, content_hash=digest("agent 2"), label="b2")
    )
    manifest = assemble(**{**MADE, "results": [facts(), other]})
    swapped = tuple(
        replace(each, score=1.0 if each.id == "res_2" else each.score) for each in manifest.results
    )
    found = failed(verify(manifest_bytes(replace(manifest, results=swapped)), []))
    assert {"Result `bot` on open@1.0.0: rank", "Result `b2` on open@1.0.0: rank"} < set(found)


def test_bytes_under_another_digest_reference_or_form() -> None:
    manifest = assemble(**MADE)
    data, chain = manifest_bytes(manifest), records(manifest)
    assert failed(verify(data, chain, digest=digest("other"))) == ["Digest of the stored bytes"]
    assert failed(verify(data, chain, reference="plural:benchmark/x")) == ["Reference"]
    spaced = json.dumps(json.loads(data)).encode()
    assert failed(verify(spaced, chain)) == [
        "Digest of the stored bytes",
        "Digest that the published client computes",
    ]
    assert failed(verify(b"{", chain)) == ["Digest of the stored bytes", "Form"]


def test_records_that_are_missing_broken_or_about_something_else() -> None:
    manifest = assemble(**MADE)
    data = manifest_bytes(manifest)
    nothing = verify(data, [])
    assert failed(nothing) == ["Digest of the stored bytes", "Chain of records"]
    assert nothing[0].expected == "a digest that a record names"
    other = replace(manifest, release=replace(manifest.release, version="2.0.0"))
    about = store(
        next_record(
            None,
            manifest=digest_of(data),
            kind="publish",
            reason="",
            by="Ada",
            at=AT,
            subject=Subject("pub_1", "2.0.0"),
        )
    )
    assert failed(verify(data, [about])) == ["Record 1: what it is about"]
    assert failed(verify(data, records(other))) == ["Digest of the stored bytes"]
    garbage = StoredRecord(digest("x"), b"{}")
    assert failed(verify(data, [*records(manifest), garbage])) == ["Chain of records"]
    gone = store(
        next_record(
            records(manifest)[0],
            manifest=None,
            kind="withdraw",
            reason="Leaked.",
            by="Ada",
            at=LATER,
            subject=Subject("pub_1", "1.0.0"),
        )
    )
    assert failed(verify(data, [*records(manifest), gone])) == []
