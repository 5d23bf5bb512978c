"""The published client as an oracle for both canonical forms, scores and declared rules."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.fields import RulesError
from benchmarks.domain.identity import SET_KEYS, canonical_jcs, canonical_plain, revision_hash, rules_hash
from benchmarks.domain.scoring import aggregate, classify
from benchmarks.domain.tracks import (
    check_conformance,
    check_limits,
    check_release_rules,
    parse_category,
    parse_scoring,
    parse_track,
)
from benchmarks.domain.types import Attempt, Category, ConfigurationFacts, Scoring

pytest.importorskip("plural", reason="the published client is not installed")

import plural.common
import plural.identity
from plural.benchmarks import results, rules
from pydantic import ValidationError

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(names | st.sampled_from([*sorted(SET_KEYS), "name", "version"]), inner)
    ),
    max_leaves=15,
)
contents = st.dictionaries(names | st.sampled_from(["name", "title", "targets"]), json_values, max_size=5)
figures = st.none() | st.floats(-2, 2) | st.sampled_from([0.0, 0.5, 1.0, math.nan, math.inf, -math.inf])
attempts = st.lists(
    st.fixed_dictionaries(
        {
            "task": st.sampled_from(["a", "b", "c", "d", "zz"]),
            "attempt": st.integers(0, 3),
            "status": st.sampled_from(
                ["queued", "planned", "running", "awaiting_review", "succeeded", "failed", "cancelled"]
            ),
            "score": figures,
            "error_code": st.sampled_from(
                [
                    None,
                    "cancelled",
                    "timeout",
                    "harness_failed",
                    "protocol_failed",
                    "evidence_missing",
                    "other",
                ]
            ),
            "stop_reason": st.sampled_from([None, "max_turns", "max_cost", "harness_timeout", "error"]),
            "cost_usd": figures,
            "latency_seconds": figures,
            "trial_id": st.none() | st.sampled_from(["t1", "t2", "t3"]),
        }
    ),
    max_size=30,
)
scorings = st.fixed_dictionaries(
    {
        "score_range": st.sampled_from([[0, 1], [-1, 2]]),
        "success_threshold": st.sampled_from([None, 0, 0.5, 1]),
        "task_weights": st.dictionaries(st.sampled_from("abz"), st.floats(0.1, 10)),
        "coverage_required": st.sampled_from([0.5, 1.0]),
        "agent_failure": st.sampled_from(["zero", "exclude"]),
        "harness_timeout": st.sampled_from(["infrastructure_error", "agent_failure"]),
        "min_tasks_for_interval": st.integers(2, 5),
    }
)
CATEGORIES = [
    {"id": "x", "name": "X", "tasks": ["a", "b", "q"]},
    {"id": "y", "name": "Y", "tasks": ["d", "a"]},
]
OURS_IN_WORDS = {"unit", "method", "unavailable_reason", "ineligible_reasons"}


@given(json_values)
def test_canonical_forms_are_the_clients(value: Any) -> None:
    assert canonical_jcs(value).decode() == plural.identity.canonical_json(value)
    assert canonical_plain(value).decode() == plural.common.canonical_json(value)


@given(st.sampled_from(["environment", "verifier", "task", "harness", "agent", "benchmark"]), contents)
def test_revision_hash_is_the_clients(kind: Any, content: dict[str, Any]) -> None:
    assert revision_hash(kind, content) == plural.identity.revision_hash(kind, content)


def assert_same(expected: Any, actual: Any, path: str = "") -> None:
    if isinstance(expected, dict):
        for key in expected.keys() - OURS_IN_WORDS:
            assert_same(expected[key], actual[key], f"{path}.{key}")
    elif isinstance(expected, (list, tuple)):
        assert len(expected) == len(actual), path
        for position, item in enumerate(expected):
            assert_same(item, actual[position], f"{path}.{position}")
    elif isinstance(expected, float) and actual is not None:
        assert actual == pytest.approx(expected, rel=1e-9, abs=1e-12), path
    else:
        assert actual == expected, path


@given(attempts, scorings, st.booleans(), st.integers(1, 3))
def test_scores_are_the_clients(
    evidence: list[dict[str, Any]], scoring: dict[str, Any], declared: bool, required: int
) -> None:
    theirs, ours = rules.BenchmarkScoring.model_validate(scoring), parse_scoring(scoring)
    given_theirs = [results.AttemptEvidence.model_validate(item) for item in evidence]
    given_ours = [Attempt(**item) for item in evidence]
    expected = results.aggregate_configuration(
        list("abcd"),
        given_theirs,
        scoring=theirs,
        categories=[rules.BenchmarkCategory.model_validate(category) for category in CATEGORIES],
        required_attempts=required,
        declared=declared,
    )
    actual = aggregate(
        list("abcd"),
        given_ours,
        scoring=ours,
        categories=[parse_category(category) for category in CATEGORIES],
        required_attempts=required,
        declared=declared,
    )
    assert_same(expected.model_dump(), asdict(actual))
    assert len(actual.ineligible_reasons) == len(expected.ineligible_reasons)
    for one, other in zip(given_ours, given_theirs, strict=True):
        assert classify(one, ours) == results.classify_attempt(other, theirs)
        assert classify(one, None) == results.classify_attempt(other, None)


track_fields = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["open", "a.b_c-1", "Bad", "-x", ""]),
        "name": st.sampled_from(["N", ""]),
        "kind": st.sampled_from(["models", "agents"]),
    },
    optional={
        "version": st.sampled_from(["1.0.0", "1.0", "1.0.0-rc.1", "1.0.0+b", "01.0.0"]),
        "description": st.sampled_from(["", "d"]),
        "attempts": st.integers(0, 33),
        "max_retries": st.integers(-1, 11),
        "harnesses": st.lists(st.sampled_from(["walker", "loop"]), max_size=2),
        "instructions": st.sampled_from(["none", "any", "some"]),
        "temperature": st.sampled_from([None, 0, 0.0, 1, 0.5]),
        "max_tokens": st.sampled_from([None, 0, 1, 512]),
        "tools": st.sampled_from(["", "Shell."]),
        "max_turns": st.sampled_from([None, 0, 1, 8]),
        "max_seconds": st.sampled_from([None, 0, 1, 60.5]),
        "max_cost_usd": st.sampled_from([None, 0, 0.25, 5]),
        "extra": st.just(1),
    },
)
configurations = st.fixed_dictionaries(
    {
        "model": st.just("m"),
        "fallback_models": st.sampled_from([(), ("m2",)]),
        "harness": st.sampled_from([None, "walker", "native"]),
        "instructions": st.sampled_from(["", " ", "Be careful."]),
        "temperature": st.sampled_from([None, 0.0, 0.5]),
        "max_tokens": st.sampled_from([None, 512]),
    }
)


@given(track_fields, configurations)
def test_tracks_are_read_and_checked_as_by_the_client(fields: dict[str, Any], facts: dict[str, Any]) -> None:
    try:
        expected = rules.EvaluationTrack.model_validate(fields)
    except ValidationError:
        with pytest.raises(RulesError):
            parse_track(fields)
        return
    track = parse_track(fields)
    assert (rules_hash(track), track.reference) == (expected.rules_hash, expected.reference)
    assert_same(expected.model_dump(), asdict(track))
    ours = check_conformance(track, ConfigurationFacts(**facts))
    theirs = rules.check_track_conformance(expected, rules.TrackConformance(**facts))
    assert len(ours) == len(theirs)
    for cost in (None, 0.25, 6.0):
        limits: dict[str, Any] = {"max_turns": 8, "max_seconds": 60.5, "max_cost_usd": cost}
        assert len(check_limits(track, "t", **limits)) == len(
            rules.check_track_limits(expected, "t", **limits)
        )


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "score_range": st.sampled_from([[0, 1], [1, 0], [0, 10], [0, 0]]),
            "success_threshold": st.sampled_from([None, 0, 1, 1.5]),
            "task_weights": st.dictionaries(st.sampled_from("ab"), st.sampled_from([0, -1, 1, 2.5])),
            "coverage_required": st.sampled_from([0, 0.5, 1, 1.1]),
            "min_tasks_for_interval": st.integers(1, 3),
            "metric": st.sampled_from(["", "M"]),
            "agent_failure": st.sampled_from(["zero", "exclude", "one"]),
        },
    )
)
def test_scoring_is_read_as_by_the_client(fields: dict[str, Any]) -> None:
    try:
        expected = rules.BenchmarkScoring.model_validate(fields)
    except ValidationError:
        with pytest.raises(RulesError):
            parse_scoring(fields)
        return
    assert_same(expected.model_dump(), asdict(parse_scoring(fields)))


@given(
    st.lists(
        st.builds(Category, st.sampled_from("xy"), st.just("N"), tasks=st.sampled_from([("a",), ("b", "z")]))
    ),
    st.dictionaries(st.sampled_from("abz"), st.just(2.0)),
    st.lists(st.sampled_from([("t", "models"), ("t", "agents"), ("u", "agents")])),
    st.sampled_from(["models", "agents"]),
)
def test_release_rules_are_the_clients(
    categories: list[Category], weights: dict[str, float], tracks: list[tuple[str, str]], view: Any
) -> None:
    fields = [{"id": i, "name": "N", "kind": kind, "instructions": "none"} for i, kind in tracks]
    found = check_release_rules(
        ["a", "b"], categories, Scoring(task_weights=weights), [parse_track(f) for f in fields], view
    )
    try:
        rules.validate_release_rules(
            ["a", "b"],
            [rules.BenchmarkCategory.model_validate(asdict(category)) for category in categories],
            rules.BenchmarkScoring(task_weights=weights),
            [rules.EvaluationTrack.model_validate(f) for f in fields],
            view,
        )
    except ValueError as error:
        assert found
        assert found[0].partition(" ")[0] in {str(error).partition(" ")[0], "Track"}
    else:
        assert found == []
