"""Which scores of two releases compare: those at Tasks of one content, under the same rules.

Pure. What a Task's score is made by has to be the same (range, threshold, what a failure counts as), and the
Task has to weigh the same. What only decides who ranks, and labels, may differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.domain.comparison import TaskScores
from benchmarks.domain.identity import rules_hash
from benchmarks.domain.revision_diff import PinnedTask, TaskPair, match_tasks
from benchmarks.domain.scoring import uncertainty_of, weighted_mean
from benchmarks.domain.types import Scoring, Track, Uncertainty

MUST_AGREE = {
    "score_range": "The score range",
    "success_threshold": "The success threshold",
    "aggregation": "How Task scores are put together",
    "agent_failure": "What an attempt that the Agent failed counts as",
    "infrastructure_error": "What an attempt lost to infrastructure counts as",
    "harness_timeout": "What a Harness that ran past its time counts as",
}
"""Rules that make a Task's score, in words."""


@dataclass(frozen=True, slots=True)
class Release:
    """A revision with its rules; `label` is what readers call it."""

    label: str
    tasks: Sequence[PinnedTask]
    scoring: Scoring
    tracks: Sequence[Track]


@dataclass(frozen=True, slots=True)
class Excluded:
    """Tasks that don't compare, all for one reason."""

    reason: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparable:
    """`tasks` compare on `tracks`; `scoring` is that of both. `reasons` say why nothing does, if so."""

    tasks: tuple[TaskPair, ...]
    excluded: tuple[Excluded, ...]
    tracks: tuple[Track, ...]
    """In the order of the newer release."""
    scoring: Scoring
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubsetScore:
    """A score over some Tasks; None where none has one. `covered` counts those that have."""

    score: float | None
    uncertainty: Uncertainty
    covered: int


def find_comparable(old: Release, new: Release) -> Comparable:
    """What of two releases compares."""
    changes = match_tasks(old.tasks, new.tasks)
    same = [pair for pair in changes.pairs if not pair.is_updated]
    weights = [(_weight(old, pair.old), _weight(new, pair.new)) for pair in same]
    tasks = tuple(pair for pair, (before, after) in zip(same, weights, strict=True) if before == after)
    excluded = (
        Excluded("Their content, or what they pin, is another one", _names(changes.updated)),
        Excluded(
            "They weigh differently",
            tuple(
                pair.new.name for pair, (before, after) in zip(same, weights, strict=True) if before != after
            ),
        ),
        Excluded(f"They are in {old.label} only", tuple(task.name for task in changes.removed)),
        Excluded(f"They are in {new.label} only", tuple(task.name for task in changes.added)),
    )
    hashes = {track.reference: rules_hash(track) for track in old.tracks}
    tracks = tuple(track for track in new.tracks if hashes.get(track.reference) == rules_hash(track))
    return Comparable(
        tasks=tasks,
        excluded=tuple(each for each in excluded if each.tasks),
        tracks=tracks,
        scoring=replace(
            new.scoring,
            min_tasks_for_interval=max(
                old.scoring.min_tasks_for_interval, new.scoring.min_tasks_for_interval
            ),
        ),
        reasons=tuple(_reasons(old, new, tasks, tracks)),
    )


def by_new_name(tasks: Sequence[TaskPair], scores: TaskScores, *, old: bool) -> TaskScores:
    """Of the scores of one release, those at these Tasks, under their names in the newer one."""
    return {
        pair.new.name: scores[name]
        for pair in tasks
        if (name := pair.old.name if old else pair.new.name) in scores
    }


def score_on(scores: TaskScores, scoring: Scoring) -> SubsetScore:
    """The score over these Tasks alone, by the rules that make it over all."""
    values = [score.score for score in scores.values()]
    weights = [float(scoring.task_weights.get(name, 1.0)) for name in scores]
    return SubsetScore(weighted_mean(values, weights), uncertainty_of(values, weights, scoring), len(values))


def _reasons(old: Release, new: Release, tasks: Sequence[TaskPair], tracks: Sequence[Track]) -> Iterator[str]:
    for name, words in MUST_AGREE.items():
        before, after = (getattr(each.scoring, name) for each in (old, new))
        if before != after:
            yield f"{words}: {_plain(before)} in {old.label}, {_plain(after)} in {new.label}."
    if not tracks:
        yield (
            f"No track has the same rules in both: {old.label} has {_references(old)}, "
            f"{new.label} has {_references(new)}."
        )
    if not tasks:
        yield "No Task has the same content and weight in both."


def _weight(release: Release, task: PinnedTask) -> float:
    return float(release.scoring.task_weights.get(task.name, 1.0))


def _names(pairs: Sequence[TaskPair]) -> tuple[str, ...]:
    return tuple(pair.new.name for pair in pairs)


def _references(release: Release) -> str:
    return ", ".join(track.reference for track in release.tracks) or "none"


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{value[0]:g} to {value[1]:g}"
    if isinstance(value, str):
        return value.replace("_", " ")
    return "none" if value is None else f"{value:g}"
