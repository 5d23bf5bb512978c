"""The leaderboard over HTTP: the figures of the page, unrounded."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from benchmarks.board.state import BoardState
from benchmarks.selectors import find_benchmark, find_revision
from jobs.board import load_board
from jobs.exports import leaderboard_values
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


LEADERBOARD = "/benchmarks/{slug}/revisions/{selector}/leaderboard"


@router.get(LEADERBOARD, response=LeaderboardOut)
def leaderboard(
    request: HttpRequest, slug: str, selector: str, track: str = "", tasks: bool = False
) -> dict[str, Any]:
    """Entries of a release on one track, ranked ones first. `track`: id, `id@version`, or `none`."""
    project = project_of(request, Need.READ)
    revision = find_revision(find_benchmark(project, slug), selector)
    return leaderboard_values(load_board(project, revision, BoardState(track=track), with_tasks=tasks))


# The server sends the headers of the answer alone.
router.add_api_operation(LEADERBOARD, ["HEAD"], leaderboard, response=LeaderboardOut, include_in_schema=False)
