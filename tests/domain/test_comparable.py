"""Which scores of two releases compare, and what they are on those Tasks alone."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.domain.comparable import (
    Comparable,
    Excluded,
    Release,
    by_new_name,
    find_comparable,
    score_on,
)
from benchmarks.domain.comparison import TaskScore
from benchmarks.domain.revision_diff import PinnedTask
from benchmarks.domain.scoring import aggregate
from benchmarks.domain.tracks import parse_scoring, parse_track
from benchmarks.domain.types import Attempt, Scoring
from tests import builders


def scoring(**changes: Any) -> Scoring:
    return parse_scoring(builders.scoring(**changes))


def release(label: str, tasks: dict[str, str], *tracks: Any, **rules: Any) -> Release:
    """Tasks by name with their content."""
    pinned = [PinnedTask(name, name, content) for name, content in tasks.items()]
    found = tracks or (builders.track(),)
    return Release(label, pinned, scoring(**rules), [parse_track(track) for track in found])


OLD = release("1.0.0", {"a": "1", "b": "2", "c": "3"})


def names(found: Comparable) -> list[str]:
    return [pair.new.name for pair in found.tasks]


def test_only_tasks_of_one_content_compare_and_the_rest_says_why() -> None:
    found = find_comparable(OLD, release("1.1.0", {"b": "2", "a": "new", "x": "3", "y": "9"}))
    assert names(found) == ["b", "x"]
    assert found.excluded == (
        Excluded("Their content, or what they pin, is another one", ("a",)),
        Excluded("They are in 1.1.0 only", ("y",)),
    )
    assert [track.reference for track in found.tracks] == ["open@1.0.0"]
    assert found.reasons == ()


def test_a_task_that_weighs_differently_does_not_compare() -> None:
    new = release("1.1.0", {"a": "1", "b": "2"}, task_weights={"a": 2.0, "b": 1.0})
    found = find_comparable(OLD, new)
    assert names(found) == ["b"]
    assert found.excluded == (
        Excluded("They weigh differently", ("a",)),
        Excluded("They are in 1.0.0 only", ("c",)),
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"score_range": [0.0, 2.0], "success_threshold": 1.0},
            "The score range: 0 to 1 in 1.0.0, 0 to 2 in 1.1.0.",
        ),
        ({"success_threshold": 0.5}, "threshold: 1 in 1.0.0, 0.5 in 1.1.0."),
        ({"success_threshold": None}, "threshold: 1 in 1.0.0, none in 1.1.0."),
        ({"agent_failure": "exclude"}, "counts as: zero in 1.0.0, exclude in 1.1.0."),
        ({"harness_timeout": "agent_failure"}, "infrastructure error in 1.0.0, agent failure in 1.1.0."),
    ],
)
def test_other_rules_that_make_a_score_leave_nothing_to_compare(changes: dict[str, Any], words: str) -> None:
    (reason,) = find_comparable(OLD, release("1.1.0", {"a": "1"}, **changes)).reasons
    assert words in reason


def test_rules_that_only_decide_who_ranks_and_labels_may_differ() -> None:
    new = release(
        "1.1.0",
        {"a": "1"},
        coverage_required=0.5,
        metric="Other",
        description="Other.",
        min_tasks_for_interval=7,
    )
    found = find_comparable(OLD, new)
    assert found.reasons == ()
    assert found.scoring.min_tasks_for_interval == 7
    assert find_comparable(new, OLD).scoring.min_tasks_for_interval == 7


def test_tracks_have_to_have_the_same_rules() -> None:
    named = builders.track(name="Another name", description="Other words.")
    newer = builders.track(version="1.1.0", max_turns=9)
    assert find_comparable(OLD, release("1.1.0", {"a": "1"}, named)).tracks[0].name == "Another name"
    found = find_comparable(OLD, release("1.1.0", {"a": "1"}, newer))
    assert found.tracks == ()
    assert found.reasons == (
        "No track has the same rules in both: 1.0.0 has open@1.0.0, 1.1.0 has open@1.1.0.",
    )


def test_nothing_in_common_gives_every_reason() -> None:
    bare = Release("2.0.0", [PinnedTask("z", "z", "9")], scoring(agent_failure="exclude"), [])
    reasons = find_comparable(OLD, bare).reasons
    assert len(reasons) == 3
    assert "2.0.0 has none" in reasons[1]
    assert reasons[2] == "No Task has the same content and weight in both."


def test_a_score_on_some_tasks_is_that_of_a_release_of_these_tasks_alone() -> None:
    rules = scoring(task_weights={"a": 3.0, "c": 0.5}, min_tasks_for_interval=2)
    scores = {"a": 1.0, "b": 0.25, "c": 0.0}
    attempts = [Attempt(task, 1, "succeeded", score) for task, score in scores.items()]
    whole = aggregate(list(scores), attempts, scoring=rules)
    found = score_on({task: TaskScore(score) for task, score in scores.items()}, rules)
    assert (found.score, found.uncertainty, found.covered) == (whole.score, whole.uncertainty, 3)
    none = score_on({}, rules)
    assert (none.score, none.covered) == (None, 0)
    assert "An interval needs at least 2 Tasks" in (none.uncertainty.unavailable_reason or "")


def test_scores_are_taken_under_the_newer_names() -> None:
    found = find_comparable(OLD, release("1.1.0", {"a": "1", "x": "3", "b": "other"}))
    scores = {"a": TaskScore(1.0), "b": TaskScore(0.5), "c": TaskScore(0.0)}
    assert by_new_name(found.tasks, scores, old=True) == {"a": TaskScore(1.0), "x": TaskScore(0.0)}
    assert by_new_name(found.tasks, scores, old=False) == {"a": TaskScore(1.0)}
