"""Newer revisions of what a Benchmark pins, and the revision that it becomes with those that are taken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.domain.definitions import benchmark_definition, task_definition
from benchmarks.domain.identity import revision_hash
from benchmarks.domain.revision_diff import Part, PinnedTask
from benchmarks.domain.task_checks import environment_problems, verifier_problems
from benchmarks.domain.tracks import parse_track
from benchmarks.domain.types import Scoring
from benchmarks.domain.updates import Benchmark, Pin, Plan, Thing, find_offers, needed_contents, plan_update
from tests.builders import category, scoring, track

LIMITS = {"max_turns": 8, "max_seconds": 45.0, "max_cost_usd": None}
CHECKS = {"kind": "deterministic", "check": {"python": "verify.py:check"}}


def digest(text: str) -> str:
    return f"sha256:{text:0>64}"


DESK = [Part("environment", "desk", "desk", digest(f"de{n}"), n) for n in (1, 2)]
CHECK = [Part("verifier", "check", "check", digest(f"c{n}"), n) for n in (1, 2)]
NEWEST: dict[Thing, Part] = {(part.kind, part.slug): part for part in (DESK[1], CHECK[1])}
PARTS: dict[str, Any] = {
    DESK[0].content_hash: {"limits": LIMITS, "apps": []},
    DESK[1].content_hash: {"limits": {**LIMITS, "max_turns": 12}, "apps": []},
    CHECK[0].content_hash: CHECKS,
    CHECK[1].content_hash: CHECKS,
}


def content_of(text: str, environment: str, *verifiers: str) -> dict[str, Any]:
    task = {"instructions": text, "goals": [], "info": {}, "metadata": {}, "resources": [], "state": {}}
    return dict(task_definition(task, environment, verifiers).content)


class World:
    """Tasks of a Benchmark, each with its content."""

    def __init__(self, **benchmark: Any) -> None:
        self.contents: dict[str, Any] = dict(PARTS)
        self.pins: list[Pin] = []
        self.declared = benchmark

    def task(self, name: str, text: str, *parts: Part, number: int = 1, slug: str = "") -> PinnedTask:
        content = content_of(text, *(part.content_hash for part in parts))
        found = PinnedTask(name, slug or name, revision_hash("task", content), number, parts)
        self.contents[found.content_hash] = content
        return found

    def pin(self, task: PinnedTask, newest: PinnedTask | None = None) -> None:
        self.pins.append(Pin(task, "1.0.0", newest, "2.0.0" if newest else ""))

    @property
    def benchmark(self) -> Benchmark:
        declared = {"description": "d", "metadata": {}, "primary_metric": "score", **self.declared}
        made = benchmark_definition(declared, [pin.task.content_hash for pin in self.pins])
        return Benchmark("bench", "Bench", made.content, made.content_hash, "plural:benchmark/x")

    def plan(self, *taken: str) -> Plan:
        needed = needed_contents(self.pins, NEWEST, taken)
        contents = {key: value for key, value in self.contents.items() if key in needed}
        return plan_update(self.benchmark, self.pins, NEWEST, taken, contents)


@pytest.fixture
def world() -> World:
    """ "a" has a newer revision; "b" and "c" pin an old Environment, "c" an old Verifier, too."""
    found = World(
        categories=[category("one", "a", "b"), category("two", "c")],
        scoring=scoring(task_weights={"a": 2.0, "c": 3.0}),
        tracks=[track(max_turns=12)],
    )
    found.pin(
        found.task("a", "Old.", DESK[1], CHECK[1]), found.task("a", "New.", DESK[1], CHECK[1], number=2)
    )
    found.pin(found.task("b", "B.", DESK[0], CHECK[1]))
    found.pin(found.task("c", "C.", DESK[0], CHECK[0]))
    return found


def keys(world: World) -> list[str]:
    return [offer.key for offer in find_offers(world.pins, NEWEST)]


def test_offers_name_what_is_newer_and_where_it_is_pinned(world: World) -> None:
    assert keys(world) == ["task/a@2", "environment/desk@2", "verifier/check@2"]
    task, environment, verifier = find_offers(world.pins, NEWEST)
    assert (task.old, task.new, task.tasks) == ((1,), 2, ("a",))
    assert (environment.old, environment.new, environment.tasks) == ((1,), 2, ("b", "c"))
    assert (verifier.old, verifier.tasks) == ((1,), ("c",))


def test_a_part_is_offered_for_a_tasks_newest_revision() -> None:
    world = World()
    world.pin(world.task("a", "Old.", DESK[1]), world.task("a", "New.", DESK[0], number=2))
    assert keys(world) == ["task/a@2", "environment/desk@2"]
    (planned,) = world.plan("task/a@2", "environment/desk@2").tasks
    assert planned.task.parts == (DESK[1],)
    assert planned.definition is not None
    assert planned.definition.content["instructions"] == "New."
    assert world.plan("environment/desk@2").benchmark.content == world.benchmark.content


def test_a_task_whose_newer_revision_is_left_keeps_its_parts(world: World) -> None:
    pin = world.pins[1]
    world.pins[1] = replace(pin, newest=world.task("b", "New.", DESK[0], number=2))
    plan = world.plan("environment/desk@2")
    assert [planned.task.name for planned in plan.made] == ["c"]
    assert plan.tasks[1].task == pin.task
    assert [planned.task.name for planned in world.plan("environment/desk@2", "task/b@2").made] == ["b", "c"]


def test_a_part_whose_newest_revision_is_not_known_stays(world: World) -> None:
    assert find_offers(world.pins[1:], {}) == ()


def test_nothing_taken_is_the_same_benchmark(world: World) -> None:
    plan = world.plan()
    assert plan.benchmark.content_hash == world.benchmark.content_hash
    assert (plan.made, plan.problems, plan.warnings) == ((), (), ())
    assert [planned.version for planned in plan.tasks] == ["1.0.0"] * 3


def test_a_newer_task_is_taken_as_it_is(world: World) -> None:
    plan = world.plan("task/a@2")
    first, *rest = plan.tasks
    newest = world.pins[0].newest
    assert newest is not None
    assert (first.task, first.version, first.definition) == (newest, "2.0.0", None)
    assert [planned.task for planned in rest] == [pin.task for pin in world.pins[1:]]
    assert plan.benchmark.content == {
        **world.benchmark.content,
        "tasks": [newest.content_hash, *(pin.task.content_hash for pin in world.pins[1:])],
    }
    assert plan.benchmark.dependencies == tuple(plan.benchmark.content["tasks"])
    assert (plan.benchmark.slug, plan.benchmark.name, plan.benchmark.version) == ("bench", "Bench", "")
    assert plan.benchmark.forked_from == "plural:benchmark/x"


def test_a_newer_part_makes_new_revisions_of_tasks(world: World) -> None:
    plan = world.plan("environment/desk@2", "verifier/check@2")
    assert [planned.task.name for planned in plan.made] == ["b", "c"]
    second = plan.tasks[2]
    assert second.definition is not None
    assert second.definition.content == content_of("C.", DESK[1].content_hash, CHECK[1].content_hash)
    assert second.definition.content_hash == second.task.content_hash
    assert second.definition.dependencies == (DESK[1].content_hash, CHECK[1].content_hash)
    assert (second.definition.slug, second.task.number, second.version) == ("c", None, "")
    assert second.made_from == world.pins[2].task
    only = world.plan("verifier/check@2").tasks
    assert [planned.task.parts for planned in only[1:]] == [(DESK[0], CHECK[1]), (DESK[0], CHECK[1])]


def test_a_verifier_that_is_pinned_twice_is_replaced_twice() -> None:
    world = World()
    content = content_of("A.", DESK[1].content_hash, CHECK[0].content_hash, CHECK[0].content_hash)
    task = PinnedTask("a", "a", revision_hash("task", content), 1, (DESK[1], CHECK[0]))
    world.contents[task.content_hash] = content
    world.pin(task)
    (planned,) = world.plan("verifier/check@2").made
    assert planned.definition is not None
    assert planned.definition.content["verifiers"] == [CHECK[1].content_hash] * 2


def test_a_task_that_is_called_otherwise_now_is_renamed_everywhere(world: World) -> None:
    pin = world.pins[0]
    assert pin.newest is not None
    world.pins[0] = replace(pin, newest=replace(pin.newest, name="Anew"))
    plan = world.plan("task/a@2")
    assert plan.tasks[0].task.name == "Anew"
    assert plan.benchmark.content["categories"][0]["tasks"] == ["Anew", "b"]
    assert plan.benchmark.content["scoring"]["task_weights"] == {"Anew": 2.0, "c": 3.0}
    assert plan.problems == ()
    assert world.plan("environment/desk@2").tasks[0].task.name == "a"


def test_a_name_that_another_task_has_is_not_taken(world: World) -> None:
    pin = world.pins[0]
    assert pin.newest is not None
    world.pins[0] = replace(pin, newest=replace(pin.newest, name="b"))
    assert [planned.task.name for planned in world.plan("task/a@2").tasks] == ["a", "b", "c"]


def test_twins_keep_their_names_and_are_warned_of() -> None:
    world = World()
    newest = world.task("Now", "New.", DESK[1], CHECK[1], number=2, slug="t")
    for name in ("a", "b"):
        world.pin(world.task(name, "Old.", DESK[1], CHECK[1], slug="t"), newest)
    (offer,) = find_offers(world.pins, NEWEST)
    assert offer.tasks == ("a", "b")
    plan = world.plan(offer.key)
    assert [planned.task.name for planned in plan.tasks] == ["a", "b"]
    assert plan.problems == ()
    assert plan.warnings == ("The Tasks a, b have one content, so such a release can't be published.",)


def test_what_can_not_be_in_a_benchmark_is_a_problem(world: World) -> None:
    world.contents[DESK[1].content_hash] = {"limits": {**LIMITS, "max_turns": 13}, "apps": []}
    plan = world.plan("environment/desk@2")
    assert plan.problems == (
        "Task 'b' allows 13 turns; track open@1.0.0 allows 12.",
        "Task 'c' allows 13 turns; track open@1.0.0 allows 12.",
    )


@pytest.mark.parametrize(
    ("content", "environment", "words"),
    [
        ({}, {"limits": {"max_turns": 9, "max_seconds": 1, "max_cost_usd": None}}, "allows 9 turns"),
        ({}, {"limits": {"max_turns": "many"}}, ""),
        ({}, {"limits": None, "party": {"min": 2}}, "several Agents at once"),
        ({}, {"party": None}, ""),
        ({}, {"apps": [{"name": "x", "control": "live", "actions": [{"name": "go"}]}]}, "live App 'x'"),
        (
            {},
            {"apps": [{"name": "x", "control": "live", "actions": [{"name": "a", "mutates_state": False}]}]},
            "",
        ),
        ({"initial_state": {"n": 1}}, {"apps": [{"name": "x"}]}, ""),
        ({"initial_state": {"x": {"n": 1}}}, {"apps": [{"name": "x"}, {"name": "y"}]}, ""),
        ({"initial_state": {"z": {}}}, {"apps": [{"name": "x"}, {"name": "y"}]}, "no App of its Environment"),
        ({"initial_state": {"z": {}}}, {"apps": []}, "(Apps: none)"),
        (
            {"initial_state": {"m": 1}},
            {"apps": [{"name": "x", "state_schema": {"properties": {"n": {}}}}]},
            "sets m in its initial State",
        ),
        (
            {"initial_state": {"x": {"n": 1}}},
            {"apps": [{"name": "x", "state_schema": {"properties": {"n": {}}}}]},
            "",
        ),
        ({"initial_state": "odd"}, {"apps": "odd"}, ""),
    ],
)
def test_a_task_fits_its_environment(
    content: dict[str, Any], environment: dict[str, Any], words: str
) -> None:
    problems = list(environment_problems("t", content, environment, [parse_track(track(max_turns=8))]))
    assert len(problems) == (1 if words else 0)
    assert all(words in problem for problem in problems)


def judged(**criterion: Any) -> dict[str, Any]:
    return {"kind": "human", "criteria": [{"name": "tone", **criterion}]}


@pytest.mark.parametrize(
    ("verifiers", "words"),
    [
        ([CHECKS], ""),
        ([], "no Verifier that scores"),
        ([{"kind": "deterministic", "check": None}], "no Verifier that scores"),
        ([judged()], ""),
        ([judged(max_score=2)], "scores 0 to 2, but the Benchmark's score_range is 0 to 1"),
        ([judged(max_score="odd")], ""),
        ([{**CHECKS, "criteria": [{"max_score": 9}]}], ""),
    ],
)
def test_a_task_fits_its_verifiers(verifiers: list[dict[str, Any]], words: str) -> None:
    problems = list(verifier_problems("t", [("v", verifier) for verifier in verifiers], Scoring()))
    assert len(problems) == (1 if words else 0)
    assert all(words in problem for problem in problems)
