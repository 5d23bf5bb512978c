"""What must hold inside one result of a manifest whose references are sound."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.domain.fields import FieldProblem as Problem
from benchmarks.domain.identity import rules_hash
from benchmarks.domain.scoring import OUTCOMES
from hub.domain.manifest import (
    COST_LOWER_BOUND,
    COST_UNIT,
    LATENCY_UNIT,
    Manifest,
    ManifestExample,
    ManifestResult,
    ManifestTaskResult,
    MeasuredMean,
)
from hub.domain.recompute import Figures, alike, recompute, scored_attempts, track_of
from hub.domain.times import parse_time


def result_problems(manifest: Manifest, result: ManifestResult, path: str) -> Iterator[Problem]:
    """Everything that doesn't hold in `result`, which stands at `path`."""
    counts = [
        problem
        for position, task in enumerate(result.tasks)
        for problem in _task_problems(manifest, task, f"{path}.tasks.{position}")
    ]
    yield from _origin(manifest, result, path)
    yield from counts
    yield from _outcomes(manifest, result, path)
    yield from _measured(result.cost, result, f"{path}.cost", (COST_UNIT, COST_LOWER_BOUND))
    yield from _measured(result.latency, result, f"{path}.latency", (LATENCY_UNIT,))
    if not counts:
        figures = recompute(manifest, result)
        yield from figure_problems(result, figures, path)
        yield from _eligibility(result, figures, path)
        yield from _examples(manifest, result, path)


def figure_problems(result: ManifestResult, figures: Figures, path: str) -> Iterator[Problem]:
    """Figures that differ from those that the per-Task figures give."""
    for name, found, expected in compared(result, figures):
        if not alike(found, expected):
            yield Problem(f"{path}.{name}", f"is {found!r}; the per-Task figures give {expected!r}")
    uncertainty = result.uncertainty
    explained = uncertainty.unavailable_reason if uncertainty.low is None else uncertainty.method
    if not (explained or "").strip():
        what = "why there is no interval" if uncertainty.low is None else "how the interval was computed"
        yield Problem(f"{path}.uncertainty", f"must say {what}")


def compared(result: ManifestResult, figures: Figures) -> Iterator[tuple[str, float | None, float | None]]:
    """Every figure that can be recomputed: its path in the result, as it stands there, and recomputed."""
    for name in ("score", "coverage", "complete_coverage", "success_rate", "completion_rate"):
        yield name, getattr(result, name), getattr(figures, name)
    for name in ("low", "high", "standard_error", "sample_size"):
        yield f"uncertainty.{name}", getattr(result.uncertainty, name), getattr(figures.uncertainty, name)
    for position, (found, expected) in enumerate(zip(result.categories, figures.categories, strict=True)):
        for name in ("score", "coverage", "tasks_covered", "tasks_total"):
            yield f"categories.{position}.{name}", getattr(found, name), getattr(expected, name)


def _task_problems(manifest: Manifest, task: ManifestTaskResult, path: str) -> Iterator[Problem]:
    scoring = manifest.scoring
    counts = (task.valid, task.attempts, task.successes, task.agent_failures, task.infrastructure_errors)
    scored = scored_attempts(manifest, task)
    if min(counts) < 0 or scored < 0:
        yield Problem(path, "counts fewer than 0 attempts")
        return
    if scored + task.agent_failures + task.infrastructure_errors > task.attempts:
        yield Problem(f"{path}.attempts", f"is {task.attempts}, fewer than are told apart")
    if task.successes > (0 if scoring.success_threshold is None else task.valid):
        yield Problem(f"{path}.successes", f"is {task.successes}, more than there can be")
    rate = task.successes / task.valid if task.valid and scoring.success_threshold is not None else None
    if not alike(task.success_rate, rate):
        yield Problem(f"{path}.success_rate", f"is {task.success_rate!r}; the counts give {rate!r}")
    if (task.score is None) != (task.valid == 0):
        yield Problem(f"{path}.score", "must be there where attempts are valid, and only there")
    elif task.score is not None and task.successes <= task.valid:
        low, high = _bounds(manifest, task)
        if not (low <= task.score <= high or alike(low, task.score) or alike(task.score, high)):
            yield Problem(f"{path}.score", f"is {task.score!r}; by its counts it is from {low:g} to {high:g}")


def _bounds(manifest: Manifest, task: ManifestTaskResult) -> tuple[float, float]:
    """What the mean of the valid attempts can be, with this many successes among them."""
    low, high = manifest.scoring.score_range
    threshold = manifest.scoring.success_threshold
    if threshold is None:
        return low, high
    share = task.successes / task.valid
    return share * threshold + (1 - share) * low, share * high + (1 - share) * threshold


def _origin(manifest: Manifest, result: ManifestResult, path: str) -> Iterator[Problem]:
    """Where the result comes from: who, when, and the hashes of what was run."""
    made = result.reproducibility
    for name, found, expected in (
        ("release_content_hash", made.release_content_hash, manifest.release.content_hash),
        ("track_rules_hash", made.track_rules_hash, rules_hash(track_of(manifest, result.track))),
        ("configuration_hash", made.configuration_hash, result.configuration),
        ("task_hashes", made.task_hashes, tuple(task.id for task in manifest.tasks)),
    ):
        if found != expected:
            yield Problem(f"{path}.reproducibility.{name}", f"is not that of the manifest, {expected}")
    if not made.evaluation_ids or len(set(made.evaluation_ids)) < len(made.evaluation_ids):
        yield Problem(f"{path}.reproducibility.evaluation_ids", "must name the Jobs, each once")
    if not (result.submitted_by.account_id.strip() and result.submitted_by.name.strip()):
        yield Problem(f"{path}.submitted_by", "must not be empty")
    times = []
    for name in ("evaluated_from", "evaluated_to"):
        text = getattr(result, name)
        if text is not None:
            times.append(parse_time(text))
            if times[-1] is None:
                yield Problem(f"{path}.{name}", "must be an ISO 8601 time with a zone")
    known = [moment for moment in times if moment is not None]
    if known != sorted(known):
        yield Problem(f"{path}.evaluated_to", "is before evaluated_from")


def _outcomes(manifest: Manifest, result: ManifestResult, path: str) -> Iterator[Problem]:
    path = f"{path}.outcomes"
    for name, count in result.outcomes.items():
        if name not in OUTCOMES:
            yield Problem(f"{path}.{name}", "is no outcome")
        elif count < 1:
            yield Problem(f"{path}.{name}", "must be left out where it is 0")
    for name, expected in (
        ("scored", sum(scored_attempts(manifest, task) for task in result.tasks)),
        ("agent_failure", sum(task.agent_failures for task in result.tasks)),
        ("infrastructure_error", sum(task.infrastructure_errors for task in result.tasks)),
    ):
        if result.outcomes.get(name, 0) != expected:
            yield Problem(f"{path}.{name}", f"is {result.outcomes.get(name, 0)}; the Tasks have {expected}")
    attempts = sum(task.attempts for task in result.tasks)
    if sum(result.outcomes.values()) != attempts:
        yield Problem(path, f"add up to {sum(result.outcomes.values())}; the Tasks have {attempts} attempts")


def _measured(
    measure: MeasuredMean, result: ManifestResult, path: str, units: tuple[str, ...]
) -> Iterator[Problem]:
    ran = result.outcomes.get("scored", 0) + result.outcomes.get("agent_failure", 0)
    if measure.attempts != ran:
        yield Problem(f"{path}.attempts", f"is {measure.attempts}; {ran} attempts ran")
    if not 0 <= measure.measured <= measure.attempts:
        yield Problem(f"{path}.measured", f"is {measure.measured} of {measure.attempts}")
    if (measure.value is None) != (measure.measured == 0):
        yield Problem(f"{path}.value", "must be there where something was measured, and only there")
    if measure.value is not None and measure.value < 0:
        yield Problem(f"{path}.value", f"is {measure.value!r}, less than nothing")
    if measure.unit not in units:
        yield Problem(f"{path}.unit", f"must be {' or '.join(map(repr, units))}")


def _eligibility(result: ManifestResult, figures: Figures, path: str) -> Iterator[Problem]:
    if result.eligible == bool(result.ineligible_reasons):
        yield Problem(f"{path}.eligible", "must be true where no reason speaks against it, and only there")
    elif len(result.ineligible_reasons) < len(figures.issues):
        yield Problem(f"{path}.ineligible_reasons", f"must tell all reasons: {' '.join(figures.issues)}")


def _examples(manifest: Manifest, result: ManifestResult, path: str) -> Iterator[Problem]:
    """Of each Task with both, one success and one failure, and of no other."""
    expected = [
        (task.task_id, success)
        for task in result.tasks
        if 0 < task.successes < task.valid
        for success in (True, False)
    ]
    shown = [(example.task_id, _succeeded(manifest, example)) for example in result.examples]
    if shown != expected:
        yield Problem(
            f"{path}.examples", "must be one success and one failure of each Task that has both, in its order"
        )
    for position, example in enumerate(result.examples):
        if example.findings and not manifest.disclosure.verifier_findings:
            yield Problem(f"{path}.examples.{position}.findings", "are there, though they are not disclosed")
        if example.attempt < 0:
            yield Problem(f"{path}.examples.{position}.attempt", "must not be below 0")


def _succeeded(manifest: Manifest, example: ManifestExample) -> bool | None:
    """None for what is no valid attempt."""
    scoring = manifest.scoring
    low, high = scoring.score_range
    value = example.score
    if example.outcome == "agent_failure" and scoring.agent_failure == "zero" and value is None:
        value = low
    elif example.outcome != "scored":
        return None
    if value is None or scoring.success_threshold is None or not low <= value <= high:
        return None
    return value >= scoring.success_threshold
