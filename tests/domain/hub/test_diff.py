"""Differences in words: complete, grouped by what a reader knows, each with its reason."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from hub.domain import codec
from hub.domain.assemble import assemble, revise
from hub.domain.codec import FormError
from hub.domain.diff import Change, Part, diff
from hub.domain.facts import StatusChange
from hub.domain.manifest import Disclosure, Manifest, ModelUse
from hub.domain.stored import manifest_bytes, parse_manifest
from tests.domain.hub.made import LATER, MADE, agent, attempts, digest, facts, task
from tests.domain.hub.recorded import inputs
from tests.domain.hub.test_stored import free

FIRST = assemble(
    **{**MADE, "results": [facts(attempts=[*attempts((1.0, 0.25)), *attempts((0.0,), prefix="x")])]}
)
RECORDED = assemble(**inputs())


def changed(manifest: Manifest, path: tuple[Any, ...], value: Any) -> Manifest:
    """With another value at a path of keys and positions; REMOVED takes it out."""
    plain = deepcopy(codec.plain(manifest))
    place: Any = plain
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return parse_manifest(json.dumps(plain).encode())


def one(changes: list[Change]) -> Change:
    (change,) = changes
    return change


def table(changes: list[Change]) -> list[tuple[str, str, str]]:
    return [(change.sign, change.what, change.reason) for change in changes]


def lines(change: Change) -> list[tuple[str, str | None, str | None]]:
    return [(name, part.old, part.new) for name, part in change.lines]


def test_nothing_differs_from_itself() -> None:
    assert diff(FIRST, FIRST) == []
    assert diff(RECORDED, parse_manifest(manifest_bytes(RECORDED))) == []


def test_the_first_manifest_adds_everything_in_groups() -> None:
    changes = diff(None, FIRST)
    assert table(changes) == [
        ("added", what, reason)
        for what, reason in (
            *(
                (what, "published for the first time")
                for what in (
                    "Status",
                    "Publication",
                    "Publisher",
                    "Release",
                    "Text",
                    "Disclosure",
                    "Scoring rules",
                    "Default view",
                    "Track open@1.0.0",
                    "Track models@1.0.0",
                    "Category `First`",
                    "Task `a`",
                    "Task `b`",
                    "Agent configuration `bot`",
                )
            ),
            ("Result `bot` on open@1.0.0", "new result"),
            ("Boundary", "published for the first time"),
            ("Schema", "published for the first time"),
        )
    ]
    assert lines(changes[0]) == [("Status", None, "published")]
    result = next(each for each in changes if each.section == "results")
    found = {part.label: part.new for part in result.parts}
    assert found["score"] == "0.3125"
    assert found["cost value"] == "0.25"
    assert found["Task `a`"] == (
        "score 0.5, valid 2, attempts 2, successes 1, success rate 0.5, "
        "agent failures 0, infrastructure errors 0"
    )
    assert found["category `first`"] == "score 0.5, coverage 1, Tasks covered 1, Tasks total 1"
    assert found["example of a failure at Task `a`"] == "attempt 1, outcome scored, score 0"
    assert "status reason" not in found
    assert len(result.parts) < 45


def test_a_result_is_withdrawn_and_accepted_again() -> None:
    gone = revise(FIRST, published_at=LATER, changes=[StatusChange("res_1", True, "Leaked.")])
    time, result = diff(FIRST, gone)
    assert table([time]) == [("changed", "Release", "time of the new manifest")]
    assert table([result]) == [("changed", "Result `bot` on open@1.0.0", "result withdrawn: Leaked.")]
    assert lines(result) == [
        ("Result `bot` on open@1.0.0: status", "accepted", "withdrawn"),
        ("Result `bot` on open@1.0.0: status reason", "none", "Leaked."),
    ]
    assert diff(gone, FIRST)[1].reason == "result accepted again"
    reworded = changed(gone, ("results", 0, "status_reason"), "It leaked.")
    assert one(diff(gone, reworded)).reason == "text edited"


def test_a_correction_says_whom_it_corrects_and_why() -> None:
    new = facts("res_2", (1.0, 1.0), supersedes="res_1", reason="A wrong key.")
    later = assemble(**{**MADE, "previous": FIRST, "results": [new], "published_at": LATER})
    assert table(diff(FIRST, later))[1:] == [
        ("changed", "Result `bot` on open@1.0.0 (res_1)", "result corrected: A wrong key."),
        ("added", "Result `bot` on open@1.0.0 (res_2)",
         "corrects Result `bot` on open@1.0.0 (res_1): A wrong key."),
    ]  # fmt: skip
    assert table(diff(later, FIRST))[1:] == [
        ("changed", "Result `bot` on open@1.0.0", "result accepted again"),
        ("removed", "Result `bot` on open@1.0.0 (res_2)",
         "not in this manifest: it is a result of another release"),
    ]  # fmt: skip


def test_the_publication_is_withdrawn_and_restored() -> None:
    gone = revise(FIRST, published_at=LATER, status="withdrawn")
    assert table(diff(FIRST, gone))[0] == ("changed", "Status", "publication withdrawn")
    assert table(diff(gone, FIRST))[0] == ("changed", "Status", "publication restored")


def test_disclosing_more() -> None:
    shown_facts = {
        **MADE,
        "release": replace(MADE["release"], tasks=[task("a", instructions="Work it."), task("b")]),
        "results": [replace(facts(attempts=[*attempts((1.0, 0.25)), *attempts((0.0,), prefix="x")]),
                            findings={"x_a": ["No answer."]})],
        "disclosure": Disclosure(task_instructions=True, verifier_findings=True),
    }  # fmt: skip
    changes = diff(FIRST, assemble(**shown_facts))
    assert table(changes) == [
        ("changed", "Disclosure", "disclosure chosen anew"),
        ("changed", "Task `a`", "disclosure chosen anew"),
        ("changed", "Result `bot` on open@1.0.0", "disclosure chosen anew"),
    ]
    assert lines(changes[1]) == [("Task `a`: instructions", "none", "Work it.")]
    assert lines(changes[2]) == [
        (
            "Result `bot` on open@1.0.0: example of a failure at Task `a`",
            "findings none",
            "findings No answer.",
        )
    ]


@pytest.mark.parametrize(
    ("path", "value", "what", "reason", "old", "new"),
    [
        (("about", "purpose"), "More.", "Text: purpose", "text edited", "Tells who can work a desk.",
         "More."),
        (("about", "limitations"), ["Small.", "Made up."], "Text: limitations", "text edited", "none",
         "Small.; Made up."),
        (("publication", "title"), "Desks", "Publication: title", "text edited", "Desk", "Desks"),
        (("publisher", "name"), "Bea", "Publisher: name", "text edited", "Ada", "Bea"),
        (("release", "forked_from"), "x", "Release: forked from", "the release is described differently",
         "none", "x"),
        (("scoring", "coverage_required"), 0.5, "Scoring rules: coverage required", "scored with other rules",
         "1", "0.5"),
        (("scoring", "task_weights"), {"b": 3, "a": 2.0}, "Scoring rules: Task weights a",
         "scored with other rules", None, "2"),
        (("scoring", "task_weights"), {}, "Scoring rules: Task weights b", "scored with other rules", "3",
         None),
        (("tracks", 0, "max_seconds"), 60, "Track open@1.0.0: max seconds", "scored with other rules", "none",
         "60"),
        (("default_view",), "models", "Default view", "scored with other rules", "agents", "models"),
        (("categories", 0, "tasks"), [digest("task b")], "Category `First`: Tasks", "scored with other rules",
         "a", "b"),
        (("tasks", 0, "description"), "Look.", "Task `a`: description", "text edited", "", "Look."),
        (("tasks", 0, "applicability"), {"a": 1}, "Task `a`: applicability a", "text edited", None, "1"),
        (("tasks", 0, "requirements", "tools"), ["look"], "Task `a`: requirements tools",
         "scored with other rules", "look, answer", "look"),
        (("tasks", 0, "verifiers", 0, "weight"), 2, "Task `a`: Verifier `check`", "scored with other rules",
         "weight 1", "weight 2"),
        (("tasks", 0, "verifiers"), [], "Task `a`: Verifier `check`", "scored with other rules",
         "kind deterministic, weight 1", None),
        (("configurations", 0, "label"), "Bot", "Agent configuration `Bot`: label",
         "described by its latest results", "bot", "Bot"),
        (("results", 0, "score"), 0.5, "Result `bot` on open@1.0.0: score", "scored with other rules",
         "0.3125", "0.5"),
        (("results", 0, "eligible"), False, "Result `bot` on open@1.0.0: eligible", "scored with other rules",
         "yes", "no"),
        (("boundary", "private_evaluation_material"), [], "Boundary: private evaluation material",
         "the site describes the boundary differently", None, "none"),
    ],
)  # fmt: skip
def test_each_kind_of_change_in_words(
    path: tuple[Any, ...], value: Any, what: str, reason: str, old: str | None, new: str | None
) -> None:
    change = one(diff(FIRST, changed(FIRST, path, value)))
    ((name, before, after),) = lines(change)
    assert (name, change.reason, after) == (what, reason, new)
    if path[0] != "boundary":
        assert before == old


def test_values_that_read_alike_are_told_apart() -> None:
    old = changed(FIRST, ("tasks", 0, "applicability"), {"a": 1, "b": "none", "c": [True], "d": {}})
    new = changed(FIRST, ("tasks", 0, "applicability"), {"a": 1.0, "b": None, "c": ["yes"], "d": {"e": {}}})
    assert lines(one(diff(old, new))) == [
        ("Task `a`: applicability a", "1", "1.0"),
        ("Task `a`: applicability b", '"none"', "null"),
        ("Task `a`: applicability c", "[true]", '["yes"]'),
    ] + [("Task `a`: applicability d e", None, "{}")]


def test_order_alone_is_a_change() -> None:
    turned = replace(RECORDED, results=RECORDED.results[::-1], tracks=RECORDED.tracks[::-1])
    assert table(diff(RECORDED, turned)) == [
        ("changed", "Order of the tracks", "scored with other rules"),
        ("changed", "Order of the results", "put in another order"),
    ]
    other = replace(RECORDED, configurations=RECORDED.configurations[::-1])
    assert one(diff(RECORDED, other)).reason == "put in another order"
    first = RECORDED.results[0]
    inner = replace(RECORDED, results=(replace(first, tasks=first.tasks[::-1]), *RECORDED.results[1:]))
    ((name, old, new),) = lines(one(diff(RECORDED, inner)))
    assert name == "Result `quick` on controlled@1.0.0: order of Tasks"
    assert old and new and old.split(", ") == new.split(", ")[::-1]


def test_sets_have_no_order() -> None:
    old = changed(FIRST, ("tasks", 0, "applicability"), {"targets": ["a", "b"]})
    assert diff(old, changed(FIRST, ("tasks", 0, "applicability"), {"targets": ["b", "a"]})) == []


def test_another_release() -> None:
    release = replace(
        MADE["release"], id="rev_2", version="1.1.0", content_hash=digest("1.1"),
        tasks=[task("a"), task("c")],
        scoring=replace(MADE["release"].scoring, task_weights={}),
    )  # fmt: skip
    new = assemble(
        **{**MADE, "release": release, "results": [facts("res_9", (1.0,), agent=agent("other"),
                                                         models_used=[ModelUse("maker/other-1")])]}
    )  # fmt: skip
    words = "release 1.1.0 after 1.0.0"
    assert table(diff(FIRST, new)) == [
        ("changed", "Release", words),
        ("changed", "Scoring rules", words),
        ("added", "Task `c`", words),
        ("removed", "Task `b`", words),
        ("added", "Agent configuration `other`", "of a new result"),
        ("removed", "Agent configuration `bot`", "of results that are not there any more"),
        ("added", "Result `other` on open@1.0.0", "new result"),
        ("removed", "Result `bot` on open@1.0.0", "not in this manifest: it is a result of another release"),
    ]


leaves = [
    *((key,) for key in ("publication", "about", "scoring", "release", "disclosure", "boundary")),
    ("tasks", 0), ("tasks", 1, "requirements"), ("tracks", 0), ("categories", 0), ("configurations", 0),
    ("results", 0), ("results", 0, "cost"), ("results", 0, "uncertainty"), ("results", 0, "tasks", 1),
    ("results", 0, "categories", 0), ("results", 0, "examples", 0), ("results", 0, "reproducibility"),
    ("results", 0, "submitted_by"), ("tasks", 0, "verifiers", 0),
]  # fmt: skip


@settings(max_examples=150)
@given(st.data())
def test_changes_are_there_exactly_where_the_bytes_differ(data: st.DataObject) -> None:
    plain = deepcopy(codec.plain(FIRST))
    for path in data.draw(st.lists(st.sampled_from(leaves), max_size=3)):
        place: Any = plain
        for step in path:
            place = place[step]
        name = data.draw(st.sampled_from(sorted(place)))
        place[name] = data.draw(another(place[name]))
    try:
        new = parse_manifest(json.dumps(plain).encode())
    except FormError:  # a text where the empty list is one of objects
        reject()
    changes = diff(FIRST, new)
    assert (changes == []) == (manifest_bytes(new) == manifest_bytes(FIRST))
    assert bool(diff(new, FIRST)) == bool(changes)
    assert all(change.parts and change.reason and change.what for change in changes)
    assert all(part.old != part.new for change in changes for part in change.parts)


def another(value: Any) -> st.SearchStrategy[Any]:
    """Some value of the same kind."""
    if value == {}:
        return st.dictionaries(st.sampled_from(["a", "id", "targets"]), st.just({}) | free, max_size=2)
    if isinstance(value, list):
        other = st.just(value[::-1])
        of_texts = not value or isinstance(value[0], str)
        return st.lists(st.sampled_from(["x", "y"]), max_size=2) if of_texts else other
    of_kind = {bool: st.booleans(), int: st.integers(0, 3), float: st.sampled_from([0.0, -0.0, 0.5, 1.0])}
    return of_kind.get(type(value), st.just(value))


def test_a_part_has_a_path_that_machines_can_follow() -> None:
    new = changed(FIRST, ("results", 0, "cost", "value"), 0.5)
    assert one(diff(FIRST, new)).parts == (Part("cost value", "cost.value", "0.25", "0.5"),)
