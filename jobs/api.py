"""The leaderboard over HTTP: the figures of the page, unrounded."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from benchmarks.models import Revision
from benchmarks.selectors import find_benchmark, find_revision
from jobs.entries import Entry, load_entries
from jobs.models import Tally
from jobs.tracks import select_track
from plural_site.accounts.access import Need
from plural_site.api_auth import project_of

router = Router(tags=["leaderboard"])


class BenchmarkOut(Schema):
    name: str
    slug: str


class RevisionOut(Schema):
    number: int
    version: str | None
    content_hash: str


class UncertaintyOut(Schema):
    low: float | None
    high: float | None
    standard_error: float | None
    sample_size: int
    unavailable_reason: str | None


class CostOut(Schema):
    """USD per attempt; `total` in USD over the measured attempts."""

    value: float | None
    measured: int
    attempts: int
    total: float | None
    partial: bool


class LatencyOut(Schema):
    """Seconds per attempt."""

    value: float | None
    measured: int
    attempts: int


class CategoryOut(Schema):
    id: str
    name: str
    taxonomy: str | None
    score: float | None
    uncertainty: UncertaintyOut
    coverage: float
    tasks_covered: int
    tasks_total: int
    success_rate: float | None
    cost: CostOut
    latency: LatencyOut


class TaskOut(Schema):
    task: str
    weight: float
    categories: list[str]
    attempts: int
    scored: int
    agent_failures: int
    infrastructure_errors: int
    cancelled: int
    pending: int
    valid: int
    successes: int
    score: float | None
    success_rate: float | None
    score_min: float | None
    score_max: float | None
    spread: float | None
    complete: bool
    trial_ids: list[str]


class EntryOut(Schema):
    rank: int | None
    agent: str
    configuration: str
    model: str
    harness: str | None
    score: float | None
    uncertainty: UncertaintyOut
    coverage: float
    complete_coverage: float
    tasks_covered: int
    tasks_total: int
    success_rate: float | None
    completion_rate: float | None
    cost: CostOut
    latency: LatencyOut
    outcomes: dict[str, int]
    planned: int
    missing: int
    categories: list[CategoryOut]
    tasks: list[TaskOut]
    eligible: bool
    ineligible_reasons: list[str]
    jobs: list[str]


class LeaderboardOut(Schema):
    benchmark: BenchmarkOut
    revision: RevisionOut
    track: str | None
    entries: list[EntryOut]


@router.get("/benchmarks/{slug}/revisions/{selector}/leaderboard", response=LeaderboardOut)
def leaderboard(
    request: HttpRequest, slug: str, selector: str, track: str = "", tasks: bool = False
) -> dict[str, Any]:
    """Entries of a release on one track, ranked ones first. `track`: id, `id@version`, or `none`."""
    project = project_of(request, Need.READ)
    revision = find_revision(find_benchmark(project, slug), selector)
    selection = select_track(revision, track)
    entries = load_entries(revision, selection.reference, with_tasks=tasks)
    return {
        "benchmark": {"name": revision.resource.name, "slug": slug},
        "revision": _revision(revision),
        "track": selection.reference or None,
        "entries": [_entry(entry) for entry in entries],
    }


def _revision(revision: Revision) -> dict[str, Any]:
    return {
        "number": revision.number,
        "version": revision.version or None,
        "content_hash": revision.content_hash,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    row = entry.overall
    return {
        "rank": entry.rank,
        "agent": entry.names[0],
        "configuration": entry.configuration.content_hash,
        "model": entry.configuration.model,
        "harness": entry.agents[0].harness or None,
        "score": row.score,
        "uncertainty": _uncertainty(row),
        "coverage": row.coverage,
        "complete_coverage": row.complete_coverage,
        "tasks_covered": row.detail["tasks_covered"],
        "tasks_total": row.detail["tasks_total"],
        "success_rate": row.success_rate,
        "completion_rate": row.completion_rate,
        "cost": _cost(row),
        "latency": _latency(row),
        "outcomes": row.outcomes,
        "planned": row.planned,
        "missing": entry.missing,
        "categories": [_category(category) for category in entry.categories],
        "tasks": [_task(task) for task in entry.tasks],
        "eligible": row.eligible,
        "ineligible_reasons": row.reasons,
        "jobs": list(dict.fromkeys(agent.job.client_job_id for agent in reversed(entry.agents))),
    }


def _uncertainty(row: Tally) -> dict[str, Any]:
    return {
        "low": row.low,
        "high": row.high,
        "standard_error": row.standard_error,
        "sample_size": row.sample_size,
        "unavailable_reason": row.detail.get("unavailable_reason"),
    }


def _cost(row: Tally) -> dict[str, Any]:
    return {
        "value": row.cost,
        "measured": row.cost_measured,
        "attempts": row.cost_attempts,
        "total": row.cost_total,
        "partial": row.cost_partial,
    }


def _latency(row: Tally) -> dict[str, Any]:
    return {"value": row.latency, "measured": row.latency_measured, "attempts": row.latency_attempts}


def _category(row: Tally) -> dict[str, Any]:
    return {
        "id": row.key,
        "name": row.detail["name"],
        "taxonomy": row.detail["taxonomy"],
        "score": row.score,
        "uncertainty": _uncertainty(row),
        "coverage": row.coverage,
        "tasks_covered": row.detail["tasks_covered"],
        "tasks_total": row.detail["tasks_total"],
        "success_rate": row.success_rate,
        "cost": _cost(row),
        "latency": _latency(row),
    }


def _task(row: Tally) -> dict[str, Any]:
    return {
        "task": row.key,
        "attempts": row.attempts,
        "valid": row.valid,
        "successes": row.successes,
        "score": row.score,
        "success_rate": row.success_rate,
        **row.detail,
    }
