"""Declared rules: reading them strictly, and the checks of a release, a configuration and its limits."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.domain.fields import RulesError
from benchmarks.domain.identity import rules_hash
from benchmarks.domain.tracks import (
    BUILT_IN_LOOP,
    check_conformance,
    check_limits,
    check_release_rules,
    describe_scoring,
    describe_track,
    parse_category,
    parse_scoring,
    parse_track,
)
from benchmarks.domain.types import Category, ConfigurationFacts, Scoring, Track

DATA = Path(__file__).parents[1] / "data"
CASES = [json.loads(line) for line in (DATA / "track-cases.jsonl").read_text("utf-8").splitlines()]
NAMES = [
    BUILT_IN_LOOP, "walker", "playbook-loop", "claude-code", "native", "m/two", "m/three", "temperature",
    "max_tokens", "turns", "seconds", "$", "tech-login-loop", 'Größe \\"q\\"', "it's", "instructions",
]  # fmt: skip
AGENTS = {"id": "open", "name": "Open", "kind": "agents"}
MODELS = {"id": "held", "name": "Held", "kind": "models", "instructions": "none"}


def cases(function: str) -> pytest.MarkDecorator:
    chosen = [case for case in CASES if case["function"] == function]
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["id"])


def facts_in(message: str, reference: str) -> tuple[list[str], list[float]]:
    """Names and numbers that a message holds."""
    assert reference in message
    rest = message.replace(reference, "")
    figures = re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?:e[+-]?\d+)?", rest)
    return [name for name in NAMES if name in rest], [float(figure) for figure in figures]


def assert_same_facts(ours: list[str], expected: list[str], reference: str) -> None:
    assert [facts_in(text, reference) for text in ours] == [facts_in(text, reference) for text in expected]


def problems(error: pytest.ExceptionInfo[RulesError]) -> list[str]:
    return [problem.field for problem in error.value.problems]


@cases("check_track_conformance")
def test_recorded_conformance(case: dict[str, Any]) -> None:
    track = parse_track(case["input"]["track"])
    facts = dict(case["input"]["facts"])
    facts["fallback_models"] = tuple(facts.get("fallback_models", ()))
    assert_same_facts(
        check_conformance(track, ConfigurationFacts(**facts)), case["expected"], case["track"]["reference"]
    )


@cases("check_track_limits")
def test_recorded_limits(case: dict[str, Any]) -> None:
    options = dict(case["input"])
    track = parse_track(options.pop("track"))
    assert_same_facts(check_limits(track, **options), case["expected"], case["track"]["reference"])


@pytest.mark.parametrize("case", [case for case in CASES if "track" in case], ids=lambda case: case["id"])
def test_recorded_track(case: dict[str, Any]) -> None:
    expected = case["track"]
    track = parse_track(case["input"]["track"])
    assert track.reference == expected["reference"]
    assert rules_hash(track) == expected["rules_hash"]
    resolved = {**expected["resolved"], "harnesses": tuple(expected["resolved"]["harnesses"])}
    assert track == Track(**resolved)


@cases("validate_release_rules")
def test_recorded_release_rules(case: dict[str, Any]) -> None:
    given = case["input"]
    found = check_release_rules(
        given["task_names"],
        [parse_category(category) for category in given["categories"]],
        parse_scoring(given["scoring"]),
        [parse_track(track) for track in given["tracks"]],
        given["default_view"],
    )
    if case["expected_error"] is None:
        assert found == []
        return
    subject = re.compile(r"[Cc]ategory|task_weights|track id|default_view", re.IGNORECASE)
    assert subject.findall(found[0])[0].lower() == subject.findall(case["expected_error"])[0].lower()
    for name in re.findall(r"'(\w+)'", case["expected_error"]):
        assert f"'{name}'" in found[0]
    assert found[0].partition(": ")[2].startswith(case["expected_error"].partition(": ")[2])


@cases("model_validate")
def test_recorded_refusal(case: dict[str, Any]) -> None:
    parse = parse_track if case["model"] == "EvaluationTrack" else parse_scoring
    with pytest.raises(RulesError) as refused:
        parse(case["input"])
    assert len(refused.value.problems) == len(case["expected_errors"])
    for problem, expected in zip(refused.value.problems, case["expected_errors"], strict=True):
        if expected["loc"]:
            assert problem.field == ".".join(expected["loc"])
        else:  # the client blames the whole model: our field is the one that its words name
            assert problem.field.split(".")[0] in expected["msg"]
        for number in re.findall(r"\b\d+\b", expected["msg"]):
            if expected["type"] != "value_error":
                assert number in problem.message


def test_every_problem_is_reported_at_once_with_its_path() -> None:
    with pytest.raises(RulesError) as refused:
        parse_track(
            {
                "id": "Bad Id", "name": "", "kind": "both", "version": "1.0", "attempts": True,
                "max_retries": 11, "harnesses": ["ok", 3], "instructions": None, "temperature": "0",
                "max_tokens": 0, "max_turns": 1.0, "max_seconds": math.nan, "max_cost_usd": 0, "speed": 1,
            },
            "tracks.2",
        )  # fmt: skip
    wrong = {problem.removeprefix("tracks.2.") for problem in problems(refused)}
    assert wrong == {
        "id", "name", "kind", "version", "attempts", "max_retries", "harnesses.1", "instructions",
        "temperature", "max_tokens", "max_turns", "max_seconds", "max_cost_usd", "speed",
    }  # fmt: skip
    assert len(refused.value.problems) == len(wrong)
    assert "tracks.2.attempts: must be a whole number, not true" in str(refused.value)


@pytest.mark.parametrize("value", [None, 5, "text", [AGENTS]])
def test_what_is_no_mapping_has_one_problem(value: object) -> None:
    for parse in (parse_track, parse_scoring, parse_category):
        with pytest.raises(RulesError) as refused:
            parse(value, "here")
        assert problems(refused) == ["here"]


def test_missing_fields_are_named() -> None:
    with pytest.raises(RulesError) as refused:
        parse_track({})
    assert problems(refused) == ["id", "name", "kind"]
    with pytest.raises(RulesError) as refused:
        parse_category({})
    assert problems(refused) == ["id", "name", "tasks"]


@pytest.mark.parametrize("version", ["", "1.0", "v1.0.0", "01.0.0", "1.0.0\n", "1.0.0-", "1.0.0 ", "١.0.0"])
def test_version_must_be_semantic(version: str) -> None:
    with pytest.raises(RulesError) as refused:
        parse_track({**AGENTS, "version": version})
    assert problems(refused) == ["version"]


@pytest.mark.parametrize("version", ["0.0.0", "1.2.3-rc.1", "1.2.3+b2", "10.20.30-a-b.7+x.y"])
def test_semantic_versions_are_taken(version: str) -> None:
    assert parse_track({**AGENTS, "version": version}).version == version


@pytest.mark.parametrize("slug", ["", "A", "-a", ".a", "a b", "a/b", "é", "a\n", "a" * 65])
def test_ids_are_slugs(slug: str) -> None:
    with pytest.raises(RulesError) as refused:
        parse_track({**AGENTS, "id": slug})
    assert problems(refused) == ["id"]


@pytest.mark.parametrize("taxonomy", ["", "A", "a:", ":b", "a:B", "a:b c", "a:b:c", "a:" + "b" * 129])
def test_taxonomy_has_its_form(taxonomy: str) -> None:
    with pytest.raises(RulesError) as refused:
        parse_category({"id": "a", "name": "A", "tasks": ["t"], "taxonomy": taxonomy})
    assert problems(refused) == ["taxonomy"]
    fine = parse_category({"id": "a", "name": "A", "tasks": ["t"], "taxonomy": "plural:support/technical"})
    assert fine.taxonomy == "plural:support/technical"


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_cannot_be_stored_is_refused(text: str) -> None:
    with pytest.raises(RulesError) as refused:
        parse_category({"id": "a", "name": text, "description": text, "tasks": [text], "taxonomy": None})
    assert problems(refused) == ["name", "description", "tasks.0"]


def test_a_models_track_holds_harness_and_instructions() -> None:
    with pytest.raises(RulesError) as refused:
        parse_track({**MODELS, "instructions": "any", "harnesses": ["a", "b"]})
    assert problems(refused) == ["harnesses", "instructions"]
    assert parse_track({**MODELS, "harnesses": ["a"]}).harnesses == ("a",)


@pytest.mark.parametrize("number", [2**53, 10**400, -1])
def test_numbers_out_of_reach_are_refused_not_crashed_on(number: int) -> None:
    with pytest.raises(RulesError) as refused:
        parse_track({**AGENTS, "max_turns": number, "attempts": number})
    assert problems(refused) == ["attempts", "max_turns"]
    with pytest.raises(RulesError):
        parse_scoring({"score_range": [0, 10**400]})


def test_threshold_left_out_and_null() -> None:
    assert parse_scoring({}).success_threshold == 1.0
    assert parse_scoring({"score_range": [0, 10]}).success_threshold == 10.0
    assert parse_scoring({"score_range": [0, 10]}, absent_threshold="none").success_threshold is None
    for absent in ("top", "none"):
        assert parse_scoring({"success_threshold": None}, absent_threshold=absent).success_threshold is None
        assert parse_scoring({"success_threshold": 0}, absent_threshold=absent).success_threshold == 0.0


@pytest.mark.parametrize(
    ("scoring", "fields"),
    [
        ({"score_range": [1, 1], "success_threshold": 7}, ["score_range"]),
        ({"score_range": [0, 1, 2]}, ["score_range"]),
        ({"score_range": ["a", 1]}, ["score_range.0"]),
        ({"score_range": [-1.7e308, 1.7e308]}, ["score_range"]),
        ({"score_range": 5}, ["score_range"]),
        ({"success_threshold": True}, ["success_threshold"]),
        ({"task_weights": {"a": 0, "b": "1", "c": math.inf}}, [f"task_weights.{name}" for name in "bca"]),
        ({"task_weights": [1]}, ["task_weights"]),
        ({"coverage_required": 0}, ["coverage_required"]),
        ({"coverage_required": 1.01}, ["coverage_required"]),
        ({"coverage_required": "1"}, ["coverage_required"]),
        ({"aggregation": "median"}, ["aggregation"]),
        ({"infrastructure_error": "zero"}, ["infrastructure_error"]),
        ({"agent_failure": 0, "harness_timeout": "zero"}, ["agent_failure", "harness_timeout"]),
        ({"min_tasks_for_interval": 1}, ["min_tasks_for_interval"]),
        ({"metric": None}, ["metric"]),
        ({"weights": {}}, ["weights"]),
    ],
)
def test_scoring_problem(scoring: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(RulesError) as refused:
        parse_scoring(scoring)
    assert problems(refused) == fields


def test_every_release_problem_comes_in_order() -> None:
    categories = [Category("a", "A", tasks=("t", "z", "y")), Category("a", "A", tasks=("q",))]
    tracks = [parse_track(AGENTS), parse_track({**AGENTS, "version": "2.0.0"})]
    found = check_release_rules(["t"], categories, Scoring(task_weights={"y": 1, "x": 1}), tracks, "models")
    assert [text.rstrip(".").rsplit(": ", 1)[-1] for text in found[:4]] == [
        "z, y", "give each category its own", "q", "x, y",
    ]  # fmt: skip
    assert "'open'" in found[4]
    assert found[5].startswith("default_view is 'models'")
    assert len(found) == 6
    assert check_release_rules(["t"], [], Scoring(), [], "models") == []


def test_instructions_of_white_space_are_none() -> None:
    track = parse_track(MODELS)
    assert check_conformance(track, ConfigurationFacts("m", instructions=" \n\t")) == []
    (reason,) = check_conformance(track, ConfigurationFacts("m", instructions="x"))
    assert "instructions" in reason


def test_a_cost_cap_needs_a_cost_limit() -> None:
    track = replace(parse_track(AGENTS), max_cost_usd=0.5)
    assert check_limits(track, "t", max_turns=1, max_seconds=1.0, max_cost_usd=0.5) == []
    (reason,) = check_limits(track, "t", max_turns=1, max_seconds=1.0, max_cost_usd=None)
    assert "$0.5" in reason


def test_limits_come_in_the_order_turns_seconds_cost() -> None:
    track = replace(parse_track(AGENTS), max_turns=1, max_seconds=2.0, max_cost_usd=3.0)
    found = check_limits(track, "t", max_turns=10, max_seconds=1e6, max_cost_usd=30.25)
    assert ["10 turns" in found[0], "1000000 seconds" in found[1], "$30.25" in found[2]] == [True] * 3


def test_descriptions_hold_every_rule() -> None:
    track = parse_track(
        {
            **MODELS, "attempts": 3, "max_retries": 1, "harnesses": ["walker"], "temperature": 0,
            "max_tokens": 512, "tools": "Shell.", "max_turns": 20, "max_seconds": 90.5, "max_cost_usd": 2,
        }
    )  # fmt: skip
    told = "\n".join(describe_track(track))
    for fact in ("models", "3 attempts", "1 retry", "walker", "no instructions", "Temperature is 0.", "512"):
        assert fact in told
    for fact in ("Shell.", "20 turns", "90.5 seconds", "$2."):
        assert fact in told
    assert BUILT_IN_LOOP in "\n".join(describe_track(parse_track(MODELS)))
    told = "\n".join(describe_track(parse_track(AGENTS)))
    for fact in ("1 attempt ", "No retries", "Any Harness", "may have instructions"):
        assert fact in told
    assert not any(text.startswith("Tools") for text in describe_track(parse_track({**AGENTS, "tools": ""})))
    assert "Harnesses: a, b." in describe_track(parse_track({**AGENTS, "harnesses": ["a", "b"]}))


def test_scoring_descriptions_hold_every_rule() -> None:
    told = "\n".join(
        describe_scoring(
            parse_scoring(
                {
                    "metric": "Points", "description": "Points per ticket.", "score_range": [-1, 10],
                    "success_threshold": 7.5, "task_weights": {"b": 2, "a": 0.5}, "coverage_required": 0.9,
                    "agent_failure": "exclude", "harness_timeout": "agent_failure",
                    "min_tasks_for_interval": 3,
                }
            )
        )
    )  # fmt: skip
    for fact in ("Points per ticket.", "Points: from -1 to 10", "a 0.5, b 2", "from 7.5 on", "90%"):
        assert fact in told
    for fact in ("left out of the score", "the Agent's failure", "from 3 scored Tasks"):
        assert fact in told
    plain = "\n".join(describe_scoring(Scoring(success_threshold=None)))
    for fact in ("every Task alike", "no success threshold", "counts as 0.", "every required attempt"):
        assert fact in plain
