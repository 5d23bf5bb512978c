"""Derived figures: evidence rows -> `benchmarks.domain.scoring` -> Tally rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from benchmarks.domain.scoring import aggregate
from benchmarks.domain.tracks import check_conformance
from benchmarks.domain.types import (
    Attempt,
    CategoryResult,
    ConfigurationFacts,
    ConfigurationResult,
    TaskResult,
    Track,
    Uncertainty,
)
from benchmarks.models import Configuration, Revision
from jobs.models import JobAgent, Tally, Trial
from jobs.querysets import counting
from plural_site.accounts.models import Project
from plural_site.db import bulk

RULES_VERSION = 1
UNTRACKED = (
    "Ran on no track, so it is evidence only and is never ranked. "
    "Run it again with --evaluation-track and the id of a track of this release."
)


@dataclass(frozen=True, slots=True)
class Group:
    """All that the attempts of one configuration on one release and track came with."""

    attempts: list[Attempt]
    models_used: set[str]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One configuration's attempts on one release and track, and what they add up to."""

    configuration: Configuration
    attempts: list[Attempt]
    result: ConfigurationResult
    planned: int
    recorded: int
    """Trials at planned Tasks that left a result, with every copy of one that several Jobs hold, and those
    that closed Jobs left undone."""


def boards(project: Project | None = None) -> list[tuple[int, str]]:
    """(revision, track) of every board that has figures or should have, in one project or all."""
    agents = JobAgent.objects.filter(job__state="ready", job__revision__isnull=False)
    rows = Tally.objects.all()
    if project:
        agents = agents.filter(job__project=project)
        rows = rows.filter(revision__resource__project=project)
    found = set(rows.order_by().values_list("revision_id", "track_ref").distinct())
    found.update(agents.order_by().values_list("job__revision_id", "job__track_ref").distinct())
    return sorted(found)


def configurations_on(revision: Revision, track_ref: str) -> set[int]:
    """Those that have figures on a board or should have."""
    agents = JobAgent.objects.filter(job__revision=revision, job__track_ref=track_ref, job__state="ready")
    found = set(agents.values_list("configuration_id", flat=True))
    found.update(Tally.objects.board(revision, track_ref).values_list("configuration_id", flat=True))
    return found


def rebuild(revision: Revision, track_ref: str, configurations: Iterable[int]) -> None:
    """Recomputes the tallies of these configurations on one release and track."""
    wanted = sorted(set(configurations))
    rows = [
        row
        for found in evaluate(revision, track_ref, configurations=wanted)
        for row in _rows(revision, track_ref, found)
    ]
    Tally.objects.board(revision, track_ref).filter(configuration__in=wanted).delete()
    bulk.insert(Tally, rows)


def compute(revision: Revision, track_ref: str, *, jobs: Sequence[str] | None = None) -> list[Tally]:
    """Tallies, not stored, over all landed Jobs or only those named."""
    return [
        Tally(**row)
        for found in evaluate(revision, track_ref, jobs=jobs)
        for row in _rows(revision, track_ref, found)
    ]


def evaluate(
    revision: Revision,
    track_ref: str,
    *,
    configurations: Sequence[int] | None = None,
    jobs: Sequence[str] | None = None,
) -> Iterator[Evaluation]:
    """From Trials to figures, in four queries: as `compute` chooses them."""
    rules = revision.rules
    names = list(revision.pin_keys)
    track = next((t for t in rules.tracks if t.reference == track_ref), None)
    agents = _agents(revision, track_ref, configurations, jobs)
    groups = _attempts(revision, track_ref, sorted(agents), jobs)
    abandoned = _abandoned(agents, names)
    for configuration in Configuration.objects.filter(pk__in=agents):
        group = groups.get(configuration.pk) or Group([], set())
        own = agents[configuration.pk]
        cancelled = abandoned[configuration.pk]
        attempts = [*group.attempts, *cancelled]
        result = aggregate(
            names,
            attempts,
            scoring=rules.scoring,
            categories=rules.categories,
            required_attempts=track.attempts if track else 1,
            compared_attempts=track.attempts if track else None,
            blocking_issues=blocking_issues(track, configuration, own, group.models_used),
        )
        planned = sum(agent.planned for agent in own)
        recorded = sum(agent.recorded - agent.unplanned for agent in own) + len(cancelled)
        yield Evaluation(configuration, attempts, result, planned, recorded)


def undone(names: Sequence[str], attempts: int, held: Container[tuple[int, int]]) -> list[Attempt]:
    """What a closed Job planned and never did, as cancelled attempts. `held`: (Task's position, attempt)."""
    return [
        Attempt(task=name, attempt=number, status="cancelled")
        for position, name in enumerate(names)
        for number in range(1, attempts + 1)
        if (position, number) not in held
    ]


def _abandoned(agents: Mapping[int, Sequence[JobAgent]], names: Sequence[str]) -> dict[int, list[Attempt]]:
    """Attempts that closed Jobs planned and that left nothing, by configuration: they count as cancelled."""
    found: dict[int, list[Attempt]] = defaultdict(list)
    closed = [agent for own in agents.values() for agent in own if agent.job.closed_at]
    if not closed:
        return found
    held: dict[int, set[tuple[int, int]]] = defaultdict(set)
    trials = Trial.objects.filter(job_agent__in=closed)
    for owner, position, number in trials.values_list("job_agent_id", "task_position", "attempt"):
        held[owner].add((position, number))
    for agent in closed:
        found[agent.configuration_id] += undone(names, agent.job.attempts, held[agent.pk])
    return found


def _attempts(
    revision: Revision, track_ref: str, configurations: Sequence[int], jobs: Sequence[str] | None
) -> dict[int, Group]:
    groups: dict[int, Group] = defaultdict(lambda: Group([], set()))
    found = Trial.objects.counted(revision, track_ref, configurations, jobs)
    rows = found.order_by(
        "job__started_at", "job__client_job_id", "client_trial_id"
    ).values_list(  # whichever came in first
        "job_agent__configuration_id",
        "pin__name",
        "attempt",
        "status",
        "score",
        "error_code",
        "stop_reason",
        "cost_usd",
        "latency_seconds",
        "client_trial_id",
        "cost_partial",
        "models_used",
    )
    for (
        owner,
        task,
        number,
        status,
        score,
        error,
        stop,
        cost,
        latency,
        trial,
        partial,
        models,
    ) in rows.iterator(chunk_size=5000):
        group = groups[owner]
        group.models_used.update(models)
        group.attempts.append(
            Attempt(task, number, status, score, error or None, stop or None, cost, latency, trial, partial)
        )
    return groups


def _agents(
    revision: Revision, track_ref: str, configurations: Sequence[int] | None, jobs: Sequence[str] | None
) -> dict[int, list[JobAgent]]:
    agents = JobAgent.objects.filter(counting("job__"), job__revision=revision, job__track_ref=track_ref)
    if configurations is not None:
        agents = agents.filter(configuration__in=configurations)
    if jobs is not None:
        agents = agents.filter(job__client_job_id__in=jobs)
    found: dict[int, list[JobAgent]] = defaultdict(list)
    used = ("job__closed_at", "job__attempts", "configuration", "harness", "planned", "recorded", "unplanned")
    for agent in agents.select_related("job").only(*used).order_by("pk"):
        found[agent.configuration_id].append(agent)
    return found


def facts_of(configuration: Configuration, harness: str) -> ConfigurationFacts:
    """What a track looks at. The harness's name is no part of the content, so a Job has to tell it."""
    content = configuration.content
    routing = content["routing"]
    return ConfigurationFacts(
        model=content["model"],
        fallback_models=tuple(routing["fallback_models"]),
        harness=harness or None,
        instructions=content["instructions"],
        temperature=routing["temperature"],
        max_tokens=routing["max_tokens"],
    )


def blocking_issues(
    track: Track | None, configuration: Configuration, agents: Sequence[JobAgent], models_used: set[str]
) -> list[str]:
    if track is None:
        return [UNTRACKED]
    issues: dict[str, None] = {}
    for harness in dict.fromkeys(agent.harness for agent in agents):
        issues |= dict.fromkeys(check_conformance(track, facts_of(configuration, harness)))
    others = sorted(used for used in models_used if not same_model(configuration.model, used))
    if track.kind == "models" and others:
        issues[
            f"Track {track.reference} compares models; attempts of this configuration "
            f"({configuration.model}) report calling {', '.join(others)}."
        ] = None
    return list(issues)


def same_model(configured: str, reported: str) -> bool:
    """A trajectory may name a model without the provider in front."""
    return reported == configured or configured.endswith(f"/{reported}")


def _rows(revision: Revision, track_ref: str, found: Evaluation) -> list[dict[str, Any]]:
    """Columns of each row."""
    result = found.result
    board = {"revision_id": revision.pk, "track_ref": track_ref, "configuration_id": found.configuration.pk}

    def row(scope: Tally.Scope, key: str, position: int, figures: dict[str, Any]) -> dict[str, Any]:
        place = {"scope": scope.value, "key": key, "position": position}
        return _BLANK | board | place | figures

    return [
        row(Tally.Scope.OVERALL, "", 0, overall_figures(result, found.planned, found.recorded)),
        *(
            row(Tally.Scope.CATEGORY, category.id, position, _category(category))
            for position, category in enumerate(result.categories)
        ),
        *(
            row(Tally.Scope.TASK, task.task, position, _task(task))
            for position, task in enumerate(result.tasks)
        ),
    ]


def overall_figures(result: ConfigurationResult, planned: int, recorded: int) -> dict[str, Any]:
    """Columns of the row for the whole release. `recorded` as in `Evaluation`."""
    return {
        **_measures(result),
        **_interval(result.uncertainty),
        "score": result.score,
        "coverage": result.coverage,
        "complete_coverage": result.complete_coverage,
        "success_rate": result.success_rate,
        "completion_rate": result.completion_rate,
        "attempts": sum(result.outcomes.values()),
        "planned": planned,
        "valid": result.valid,
        "successes": result.successes,
        "outcomes": dict(result.outcomes),
        "detail": {
            **_why(result.uncertainty),
            "tasks_total": result.tasks_total,
            "tasks_covered": result.tasks_covered,
            "consistency": asdict(result.consistency),
            "recorded": recorded,
        },
        "eligible": result.eligible,
        "reasons": list(result.ineligible_reasons),
    }


_BLANK = {
    field.attname: field.get_default() for field in Tally._meta.concrete_fields if not field.primary_key
} | {"rules_version": RULES_VERSION}
"""Columns of a row without figures."""


def _measures(result: ConfigurationResult | CategoryResult) -> dict[str, Any]:
    cost, latency = result.cost, result.latency
    return {
        "cost": cost.value,
        "cost_measured": cost.measured,
        "cost_attempts": cost.attempts,
        "cost_total": cost.total,
        "cost_partial": cost.partial,
        "latency": latency.value,
        "latency_measured": latency.measured,
        "latency_attempts": latency.attempts,
    }


def _interval(uncertainty: Uncertainty) -> dict[str, Any]:
    return {
        "low": uncertainty.low,
        "high": uncertainty.high,
        "standard_error": uncertainty.standard_error,
        "sample_size": uncertainty.sample_size,
    }


def _why(uncertainty: Uncertainty) -> dict[str, Any]:
    return {"method": uncertainty.method, "unavailable_reason": uncertainty.unavailable_reason}


def _category(category: CategoryResult) -> dict[str, Any]:
    return {
        **_measures(category),
        **_interval(category.uncertainty),
        "score": category.score,
        "coverage": category.coverage,
        "success_rate": category.success_rate,
        "detail": {
            **_why(category.uncertainty),
            "name": category.name,
            "taxonomy": category.taxonomy,
            "tasks_total": category.tasks_total,
            "tasks_covered": category.tasks_covered,
        },
    }


_TASK_COLUMNS = ("score", "success_rate", "attempts", "valid", "successes")
_TASK_DETAIL = [field.name for field in fields(TaskResult) if field.name not in ("task", *_TASK_COLUMNS)]


def _task(task: TaskResult) -> dict[str, Any]:
    return {
        **{name: getattr(task, name) for name in _TASK_COLUMNS},
        "coverage": 1.0 if task.valid else 0.0,
        "detail": {name: getattr(task, name) for name in _TASK_DETAIL},
    }
