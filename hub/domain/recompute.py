"""A result's figures once more, from the per-Task figures in the manifest and by the release's rules.

A Task's score is the mean of its attempts, so one attempt with that score gives `aggregate` the same
figures: nothing is scored here by other code than on a leaderboard.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from benchmarks.domain.scoring import COVERAGE_TOLERANCE, aggregate, competition_ranks
from benchmarks.domain.types import Attempt, Category, ConfigurationResult, Track, Uncertainty
from hub.domain.configurations import conformance
from hub.domain.manifest import Manifest, ManifestResult, ManifestTaskResult
from hub.domain.words import counted

RELATIVE, ABSOLUTE = 1e-9, 1e-12
"""How far two figures may be apart that were computed by the same rules."""


@dataclass(frozen=True, slots=True)
class CategoryFigures:
    id: str
    score: float | None
    uncertainty: Uncertainty
    """Not in the manifest: shown beside the score."""
    coverage: float
    tasks_covered: int
    tasks_total: int
    success_rate: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    score: float | None
    uncertainty: Uncertainty
    coverage: float
    complete_coverage: float
    success_rate: float | None
    completion_rate: float | None
    categories: tuple[CategoryFigures, ...]
    issues: tuple[str, ...]
    """Reasons against ranking that the manifest shows by itself."""


def recompute(manifest: Manifest, result: ManifestResult) -> Figures:
    """Needs consistent references: known Tasks, each once, a known track and configuration."""
    track = track_of(manifest, result.track)
    of_task = {task.task_id: task for task in result.tasks}
    complete = [task for task in result.tasks if task.valid >= track.attempts]
    whole, completed = _aggregate(manifest, result.tasks), _aggregate(manifest, complete)
    return Figures(
        score=whole.score,
        uncertainty=whole.uncertainty,
        coverage=whole.coverage,
        complete_coverage=completed.coverage,
        success_rate=success_rate(manifest, result.tasks),
        completion_rate=completion_rate(result.outcomes),
        categories=tuple(
            CategoryFigures(
                id=category.id,
                score=figures.score,
                uncertainty=figures.uncertainty,
                coverage=figures.coverage,
                tasks_covered=figures.tasks_covered,
                tasks_total=figures.tasks_total,
                success_rate=success_rate(manifest, [of_task[task] for task in category.tasks]),
            )
            for category, figures in zip(manifest.categories, whole.categories, strict=True)
        ),
        issues=tuple(_issues(manifest, result, track, completed.coverage)),
    )


def success_rate(manifest: Manifest, tasks: Sequence[ManifestTaskResult]) -> float | None:
    """Over all valid attempts, not a mean of the Tasks' rates; None without a threshold or an attempt."""
    valid = sum(task.valid for task in tasks)
    if not valid or manifest.scoring.success_threshold is None:
        return None
    return sum(task.successes for task in tasks) / valid


def completion_rate(outcomes: Mapping[str, int]) -> float | None:
    scored = outcomes.get("scored", 0)
    ended = scored + outcomes.get("agent_failure", 0) + outcomes.get("infrastructure_error", 0)
    return scored / ended if ended else None


def scored_attempts(manifest: Manifest, task: ManifestTaskResult) -> int:
    """Attempts with a score: the valid ones without the failures that count as the bottom of the range."""
    return task.valid - (task.agent_failures if manifest.scoring.agent_failure == "zero" else 0)


def ranking(manifest: Manifest, track: str) -> dict[str, int | None]:
    """Ranks by result id of the accepted results on a track, 1 2 2 4; None where a result doesn't rank."""
    results = [each for each in manifest.results if each.track == track and each.status == "accepted"]
    ranked = [each.eligible for each in results]
    ranks = iter(competition_ranks([each.score for each in compress(results, ranked)]))
    return {each.id: next(ranks) if each.eligible else None for each in results}


def track_of(manifest: Manifest, reference: str) -> Track:
    return next(track for track in manifest.tracks if track.reference == reference)


def alike(one: float | None, other: float | None) -> bool:
    """Whether two figures are equal but for rounding; nothing equals nothing only."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _aggregate(manifest: Manifest, tasks: Sequence[ManifestTaskResult]) -> ConfigurationResult:
    names = {task.id: task.name for task in manifest.tasks}
    return aggregate(
        list(names.values()),
        [
            Attempt(names[task.task_id], 1, "succeeded", score=task.score)
            for task in tasks
            if task.score is not None
        ],
        scoring=manifest.scoring,
        categories=[
            Category(
                id=category.id,
                name=category.name,
                taxonomy=category.taxonomy,
                tasks=tuple(names[task] for task in category.tasks),
            )
            for category in manifest.categories
        ],
    )


def _issues(manifest: Manifest, result: ManifestResult, track: Track, complete: float) -> list[str]:
    configured = next(each for each in manifest.configurations if each.id == result.configuration)
    issues = conformance(track, configured)
    required = manifest.scoring.coverage_required
    if complete + COVERAGE_TOLERANCE < required:
        issues.append(f"The coverage is {complete:.10g} and the release requires {required:.10g}.")
    if pending := result.outcomes.get("pending", 0):
        issues.append(f"{counted(pending, 'attempt')} pending.")
    return issues
