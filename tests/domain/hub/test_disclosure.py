"""What becomes public and what stays private, in words and with counts."""

from __future__ import annotations

from dataclasses import replace

from hub.domain.assemble import assemble, revise
from hub.domain.disclosure import PrivateFacts, PublicItem, private_kinds, public_items
from hub.domain.facts import StatusChange
from hub.domain.manifest import Disclosure, ManifestAbout
from tests.domain.hub.made import LATER, MADE
from tests.domain.hub.recorded import ALL_DISCLOSED, inputs, release_facts


def by_kind(items: list[PublicItem]) -> dict[str, PublicItem]:
    found = {item.kind: item for item in items}
    assert len(found) == len(items)
    return found


def test_every_kind_that_becomes_public_with_its_count() -> None:
    found = by_kind(public_items(assemble(**inputs())))
    assert {kind: item.count for kind, item in found.items()} == {
        "Publication": 1,
        "Accounts": 1,
        "Release": 1,
        "Text": 6,
        "Scoring rules": 1,
        "Tracks": 2,
        "Categories": 3,
        "Tasks": 10,
        "Verifiers": 2,
        "Agent configurations": 7,
        "Digests of Agents’ instructions": 1,
        "Models that answered": 5,
        "Results": 7,
        "Figures per Task": 70,
        "Figures per category": 21,
        "Example attempts": 20,
        "Jobs": 8,
    }
    assert "Result `steady` on controlled@1.0.0" in found["Results"].items
    assert found["Example attempts"].items == ("Result `wobbly` on controlled@1.0.0: 20 attempts",)
    assert found["Accounts"].items == ("Desk team (acc_desk)",)
    assert found["Release"].items[0] == "rev_1.0.0"
    assert found["Tracks"].items == ("controlled@1.0.0", "open@1.0.0")


def test_what_is_disclosed_and_typed_is_listed() -> None:
    facts = {**inputs(), "release": release_facts("1.0.0", instructions=True, texts=True)}
    found = by_kind(public_items(assemble(**{**facts, "disclosure": ALL_DISCLOSED})))
    for kind in ("Task instructions", "Task descriptions", "Where Tasks apply"):
        assert found[kind].count == 10
    assert found["Verifier findings"].count == sum(
        len(example.findings)
        for result in assemble(**{**facts, "disclosure": ALL_DISCLOSED}).results
        for example in result.examples
    )


def test_a_manifest_without_results_or_text() -> None:
    found = by_kind(public_items(assemble(**{**MADE, "results": [], "about": ManifestAbout()})))
    assert not {"Text", "Results", "Figures per Task", "Example attempts", "Jobs"} & found.keys()


def test_results_that_do_not_count_any_more_are_named_so() -> None:
    gone = revise(assemble(**MADE), published_at=LATER, changes=[StatusChange("res_1", True, "Leaked.")])
    assert by_kind(public_items(gone))["Results"].items == ("Result `bot` on open@1.0.0, withdrawn",)


def test_what_stays_private_says_why() -> None:
    facts = PrivateFacts(tasks=10, expected_answers=10, verifiers=2, trials=180, findings=300)
    kinds = {each.kind: each for each in private_kinds(facts, Disclosure())}
    assert kinds["Expected answers"].count == 10
    assert kinds["Trajectories and recordings"].count == 180
    assert kinds["Files of the runs"].count is None
    assert kinds["Task instructions"].count == 10
    assert kinds["Verifier findings"].count == 300
    assert all(each.why.endswith(".") for each in kinds.values())
    shown = {each.kind for each in private_kinds(facts, ALL_DISCLOSED)}
    assert kinds.keys() - shown == {"Task instructions", "Verifier findings"}
    some = {each.kind for each in private_kinds(facts, replace(ALL_DISCLOSED, verifier_findings=False))}
    assert kinds.keys() - some == {"Task instructions"}
