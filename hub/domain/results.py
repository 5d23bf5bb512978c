"""One result of a manifest, from the attempts of its Jobs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.domain.identity import rules_hash
from benchmarks.domain.scoring import aggregate, classify, counted_value
from benchmarks.domain.types import Attempt, ConfigurationResult, Measure, TaskResult, Track
from hub.domain.configurations import configuration, conformance, models_issue
from hub.domain.facts import ReleaseFacts, ResultFacts
from hub.domain.manifest import (
    COST_LOWER_BOUND,
    COST_UNIT,
    LATENCY_UNIT,
    ManifestCategoryResult,
    ManifestExample,
    ManifestReproducibility,
    ManifestResult,
    ManifestTaskResult,
    MeasuredMean,
)
from hub.domain.times import time_text

_STOP_REASON = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Terms:
    """What every result of a release is computed by. `ids` are Task ids by Task name."""

    release: ReleaseFacts
    tracks: Mapping[str, Track]
    ids: Mapping[str, str]
    show_findings: bool


def result_of(facts: ResultFacts, terms: Terms) -> ManifestResult:
    release, track = terms.release, terms.tracks[facts.track]
    found = aggregate(
        list(terms.ids),
        facts.attempts,
        scoring=release.scoring,
        categories=release.categories,
        required_attempts=track.attempts,
        blocking_issues=_issues(facts, track),
    )
    return ManifestResult(
        id=facts.id,
        track=facts.track,
        configuration=facts.agent.content_hash,
        provenance=facts.provenance,
        submitted_by=facts.submitted_by,
        supersedes=facts.supersedes,
        evaluated_from=time_text(facts.evaluated_from) if facts.evaluated_from else None,
        evaluated_to=time_text(facts.evaluated_to) if facts.evaluated_to else None,
        score=found.score,
        uncertainty=found.uncertainty,
        coverage=found.coverage,
        complete_coverage=found.complete_coverage,
        success_rate=found.success_rate,
        completion_rate=found.completion_rate,
        outcomes=found.outcomes,
        eligible=found.eligible,
        ineligible_reasons=found.ineligible_reasons,
        cost=_measured(found.cost, COST_LOWER_BOUND if found.cost.partial else COST_UNIT),
        latency=_measured(found.latency, LATENCY_UNIT),
        tasks=tuple(_task_result(task, terms.ids[task.task]) for task in found.tasks),
        categories=tuple(
            ManifestCategoryResult(
                id=category.id,
                score=category.score,
                coverage=category.coverage,
                tasks_covered=category.tasks_covered,
                tasks_total=category.tasks_total,
            )
            for category in found.categories
        ),
        examples=_examples(facts, found, terms),
        reproducibility=ManifestReproducibility(
            evaluation_ids=tuple(sorted(set(facts.jobs))),
            release_content_hash=release.content_hash,
            track_rules_hash=rules_hash(track),
            configuration_hash=facts.agent.content_hash,
            task_hashes=tuple(terms.ids.values()),
        ),
    )


def _issues(facts: ResultFacts, track: Track) -> list[str]:
    configured = configuration(facts.agent, facts.models_used)
    return list(
        dict.fromkeys(
            (
                *conformance(track, configured),
                *models_issue(track, configured.model, facts.models_used),
                *facts.blocking_issues,
            )
        )
    )


def _measured(measure: Measure, unit: str) -> MeasuredMean:
    return MeasuredMean(unit=unit, value=measure.value, measured=measure.measured, attempts=measure.attempts)


def _task_result(task: TaskResult, task_id: str) -> ManifestTaskResult:
    return ManifestTaskResult(
        task_id=task_id,
        score=task.score,
        valid=task.valid,
        attempts=task.attempts,
        successes=task.successes,
        success_rate=task.success_rate,
        agent_failures=task.agent_failures,
        infrastructure_errors=task.infrastructure_errors,
    )


def _examples(facts: ResultFacts, found: ConfigurationResult, terms: Terms) -> tuple[ManifestExample, ...]:
    """Of each Task that has both, one success and one failure."""
    mixed = {task.task for task in found.tasks if 0 < task.successes < task.valid}
    first: dict[tuple[str, bool], ManifestExample] = {}
    for attempt in sorted(facts.attempts, key=lambda each: (each.trial_id or "", each.attempt)):
        if attempt.task not in mixed:
            continue
        shown = _example(attempt, terms, facts.findings)
        if shown:
            success, example = shown
            first.setdefault((attempt.task, success), example)
    return tuple(first[name, success] for name in terms.ids if name in mixed for success in (True, False))


def _example(
    attempt: Attempt, terms: Terms, findings: Mapping[str, Sequence[str]]
) -> tuple[bool, ManifestExample] | None:
    """Whether the attempt succeeded and what is shown of it; None where it doesn't count."""
    scoring = terms.release.scoring
    outcome = classify(attempt, scoring)
    value = counted_value(attempt, outcome, scoring)
    if value is None or scoring.success_threshold is None:
        return None
    stop = attempt.stop_reason or ""
    found = findings.get(attempt.trial_id or "", ()) if terms.show_findings else ()
    return value >= scoring.success_threshold, ManifestExample(
        task_id=terms.ids[attempt.task],
        attempt=attempt.attempt,
        outcome=outcome,
        score=value if outcome == "scored" else None,
        # A word of the runner's. Anything longer could be text of the Agent's or the Task's.
        stop_reason=stop if _STOP_REASON.fullmatch(stop) else None,
        findings=tuple(found),
    )
