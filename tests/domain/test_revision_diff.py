"""What changed between two revisions: Tasks added, removed, updated, renamed, moved; parts; configuration."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.definitions import benchmark_definition
from benchmarks.domain.revision_diff import (
    Move,
    Part,
    PinnedTask,
    TaskChanges,
    are_verifiers_reordered,
    configuration_changes,
    match_tasks,
    part_changes,
    scores_may_differ,
    task_content_changes,
)
from tests.builders import category, scoring, track

DESK = Part("environment", "desk", "desk", "sha256:d1", 1)
DESK_2 = Part("environment", "desk", "desk", "sha256:d2", 2)
SHOP = Part("environment", "shop", "shop", "sha256:s1", 1)
CHECK = Part("verifier", "check", "check", "sha256:c1", 1)
CHECK_2 = Part("verifier", "check", "check", "sha256:c2", 2)
TONE = Part("verifier", "tone", "tone", "sha256:t1", 1)


def task(name: str, content: str = "", slug: str = "", *parts: Part) -> PinnedTask:
    return PinnedTask(name, slug or name, content or f"sha256:{name}", 1, parts)


def names(tasks: tuple[PinnedTask, ...]) -> list[str]:
    return [each.name for each in tasks]


def test_tasks_that_went_came_and_became_others() -> None:
    old = [task("a"), task("b"), task("c"), task("d")]
    new = [task("a"), task("b", "new"), task("e"), task("d")]
    found = match_tasks(old, new)
    assert (names(found.added), names(found.removed)) == (["e"], ["c"])
    assert [(pair.old.name, pair.new.content_hash) for pair in found.updated] == [("b", "new")]
    assert (found.renamed, found.moved, found.is_empty) == ((), (), False)
    assert match_tasks(old, old).is_empty


def test_a_renamed_task_is_known_by_its_content_and_then_by_what_it_is_a_revision_of() -> None:
    old = [task("a", "1", "one"), task("b", "2", "two"), task("c", "3", "three")]
    new = [task("x", "1", "one"), task("y", "new", "two"), task("c", "3", "three")]
    found = match_tasks(old, new)
    assert [(pair.old.name, pair.new.name) for pair in found.renamed] == [("a", "x"), ("b", "y")]
    assert [pair.new.name for pair in found.updated] == ["y"]
    assert not found.added
    assert not found.removed


def test_names_come_before_contents() -> None:
    found = match_tasks([task("a", "1"), task("b", "2")], [task("a", "2"), task("b", "1")])
    assert [pair.new.name for pair in found.updated] == ["a", "b"]
    assert not found.renamed


def test_twins_are_matched_one_with_one() -> None:
    found = match_tasks([task("a", "1"), task("b", "1")], [task("b", "1"), task("c", "1"), task("d", "1")])
    assert [(pair.old.name, pair.new.name) for pair in found.pairs] == [("b", "b"), ("a", "c")]
    assert names(found.added) == ["d"]


def test_the_fewest_moves_are_told_with_places_among_all_tasks() -> None:
    old = [task(name) for name in "abcde"]
    new = [task(name) for name in "xbcdea"]
    found = match_tasks(old, new)
    assert found.moved == (Move("a", 1, 6),)
    assert names(found.added) == ["x"]
    inserted = match_tasks(old, [task("x"), *old])
    assert inserted.moved == ()


@given(st.permutations(range(8)), st.sets(st.integers(0, 7)), st.sets(st.integers(8, 12)))
def test_moves_are_enough_to_get_the_new_order(order: list[int], gone: set[int], come: set[int]) -> None:
    old = [task(str(number)) for number in range(8)]
    new = [task(str(number)) for number in order if number not in gone] + [task(str(n)) for n in come]
    found = match_tasks(old, new)
    moved = {move.name for move in found.moved}
    kept = [each.name for each in new if each.name not in moved and each not in found.added]
    assert kept == sorted(kept, key=int)
    assert {each.name for each in found.removed} == {str(number) for number in gone}
    for move in found.moved:
        assert (old[move.old - 1].name, new[move.new - 1].name) == (move.name, move.name)


def test_an_environment_that_many_tasks_share_is_told_once() -> None:
    old = [task("a", "1", "", DESK, CHECK), task("b", "2", "", DESK, CHECK), task("c", "3", "", DESK)]
    new = [
        task("a", "4", "", DESK_2, CHECK),
        task("b", "5", "", DESK_2, CHECK_2),
        task("c", "6", "", SHOP, TONE),
    ]
    changes = part_changes(match_tasks(old, new).updated)
    assert [(change.old, change.new, change.tasks) for change in changes] == [
        (DESK, DESK_2, ("a", "b")),
        (CHECK, CHECK_2, ("b",)),
        (DESK, SHOP, ("c",)),
        (None, TONE, ("c",)),
    ]
    assert [change.is_same_thing for change in changes] == [True, True, False, False]


def test_verifiers_in_another_order() -> None:
    old = [task("a", "1", "", DESK, CHECK, TONE)]
    (pair,) = match_tasks(old, [task("a", "2", "", DESK, TONE, CHECK)]).updated
    assert are_verifiers_reordered(pair)
    assert part_changes([pair]) == ()
    (pair,) = match_tasks(old, [task("a", "2", "", DESK, CHECK_2, TONE)]).updated
    assert not are_verifiers_reordered(pair)


def test_a_task_says_which_fields_changed_but_not_what_it_pins() -> None:
    old = {"instructions": "One.\nTwo.\n", "goals": ["x"], "environment": "e1", "verifiers": ["v"]}
    new = {"instructions": "One.\n2.\n", "goals": ["x", "y"], "environment": "e2", "verifiers": []}
    changes = task_content_changes(old, new).changes
    assert [(change.path, change.kind) for change in changes] == [
        ("instructions", "changed"),
        ("goals[1]", "added"),
    ]
    assert changes[0].lines is not None


def content(**changes: Any) -> dict[str, Any]:
    declared: dict[str, Any] = {
        "description": "",
        "metadata": {},
        "primary_metric": "score",
        "scoring": scoring(),
        "categories": [category("one", "a", "b"), category("two", "c")],
        "tracks": [track()],
        **changes,
    }
    return dict(benchmark_definition(declared, ["sha256:" + "0" * 64]).content)


def paths(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str]]:
    return [(change.path, change.kind) for change in configuration_changes(old, new).changes]


def test_configuration_is_compared_field_by_field() -> None:
    new = content(
        purpose="Why.",
        scoring=scoring(coverage_required=0.9, task_weights={"a": 2.0}),
        categories=[category("one", "a"), category("three", "c")],
        tracks=[track(max_turns=5, version="1.1.0"), track("held", "models")],
    )
    assert paths(content(), new) == [
        ("scoring.task_weights.a", "added"),
        ("scoring.coverage_required", "changed"),
        ("categories[id=one].tasks.b", "removed"),
        ("categories[id=two]", "removed"),
        ("categories[id=three]", "added"),
        ("tracks[id=open].version", "changed"),
        ("tracks[id=open].max_turns", "changed"),
        ("tracks[id=held]", "added"),
        ("purpose", "changed"),
    ]


def test_a_default_written_out_is_no_change() -> None:
    assert paths(content(), content(default_view="agents", purpose="", limitations=[])) == []
    assert (
        paths(content(scoring=scoring()), content(scoring=scoring(harness_timeout="infrastructure_error")))
        == []
    )


def test_tasks_of_a_category_in_another_order_are_one_change() -> None:
    other = content(categories=[category("one", "b", "a"), category("two", "c")])
    assert paths(content(), other) == [("categories[id=one].order of tasks", "changed")]


def test_what_scores_depend_on() -> None:
    nothing: TaskChanges = match_tasks([task("a")], [task("a")])
    assert not scores_may_differ(nothing, content(), content(purpose="Why.", license="MIT"))
    assert scores_may_differ(nothing, content(), content(scoring=scoring(coverage_required=0.5)))
    assert scores_may_differ(nothing, content(), content(tracks=[]))
    assert scores_may_differ(match_tasks([task("a", "1")], [task("a", "2")]), content(), content())
    assert scores_may_differ(match_tasks([], [task("a")]), content(), content())
