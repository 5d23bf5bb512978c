"""What the Trials of each Agent of a Job add up to, kept with the Job: its pages read no Trial for them.

The figures are those of the leaderboard's own code, over this Job alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.domain.definitions import BenchmarkRules
from benchmarks.domain.scoring import aggregate, total
from benchmarks.domain.types import Attempt, Scoring, Track
from jobs import tallies
from jobs.models import Job, JobAgent, Tally, Trial

VERSION = 1
"""Of what is kept: figures of another version, or by other rules, are computed anew."""
MISSING_KEPT = 50
WORDS_KEPT = 50
"""Missing Trials, and different error codes and stop reasons, of each Agent."""


class _Row(NamedTuple):
    task_position: int
    attempt: int
    status: str
    outcome: str
    score: float | None
    error_code: str
    stop_reason: str
    cost_usd: float | None
    cost_partial: bool
    latency_seconds: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one Agent in one Job. `overall` is not stored; it says what the Job's Trials make by the rules."""

    overall: Tally
    scoring: Scoring
    """Only what shows figures: range, pass mark, and what an agent failure counts as."""
    runner: Mapping[str, float | None]
    """The figures of the runner's own record, by its rules, from the Trials at hand."""
    missing: Sequence[tuple[int, int]]
    """The first planned Trials that left nothing: position of the Task, attempt."""
    errors: Mapping[str, int]
    stops: Mapping[str, int]


def figures_of(job: Job, agent: JobAgent) -> Figures | None:
    """What is kept of an Agent, None where that has to be computed first."""
    kept = agent.figures
    if kept.get("version") != VERSION or kept.get("rules") != tallies.RULES_VERSION:
        return None
    low, high = kept["score_range"]
    return Figures(
        overall=Tally(**kept["overall"]),
        scoring=Scoring(
            score_range=(low, high),
            success_threshold=kept["success_threshold"],
            agent_failure=kept["agent_failure"],
        ),
        runner=kept["runner"],
        missing=[(position, attempt) for position, attempt in kept["missing"]],
        errors=kept["errors"],
        stops=kept["stops"],
    )


def record_figures(job: Job, agents: Sequence[JobAgent]) -> None:
    """Counts and figures of each Agent of a Job (all of them), from its Trials."""
    for agent in compute(job, agents):
        agent.save(update_fields=DERIVED)
    costs = [agent.cost_total for agent in agents if agent.cost_total is not None]
    job.recorded = sum(agent.recorded for agent in agents)
    job.cost_total = total(costs)
    job.save(update_fields=["recorded", "cost_total"])


DERIVED = (
    "outcomes",
    "recorded",
    "unplanned",
    "cost_measured",
    "cost_partial",
    "cost_total",
    "figures",
)
"""Columns of an Agent that come from its Trials."""


def compute(job: Job, agents: Sequence[JobAgent]) -> Sequence[JobAgent]:
    """Sets, and doesn't save, the derived columns of the Job's Agents. In four queries."""
    source = _Source.of(job)
    rows: dict[int, list[_Row]] = defaultdict(list)
    columns = ("job_agent_id", *_Row._fields)
    for owner, *values in Trial.objects.filter(job=job).values_list(*columns).iterator(chunk_size=5000):
        rows[owner].append(_Row(*values))
    models: dict[int, set[str]] = defaultdict(set)
    for owner, used in Trial.objects.filter(job=job).values_list("job_agent_id", "models_used").distinct():
        models[owner].update(used)
    for agent in agents:
        own = rows[agent.pk]
        _count(agent, own)
        agent.figures = _figures(source, agent, own, models[agent.pk])
    return agents


def _count(agent: JobAgent, rows: Sequence[_Row]) -> None:
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    agent.outcomes = dict(sorted(Counter(row.outcome for row in rows).items()))
    agent.recorded = len(rows)
    agent.unplanned = sum(row.task_position == Trial.UNPLANNED for row in rows)
    agent.cost_measured = len(costs)
    agent.cost_partial = any(row.cost_partial for row in rows)
    agent.cost_total = total(costs)


@dataclass(frozen=True, slots=True)
class _Source:
    """What the Job ran, and by which rules: None for a Job on a single Task."""

    names: Sequence[str]
    rules: BenchmarkRules | None
    track: Track | None
    attempts: int
    is_closed: bool

    @classmethod
    def of(cls, job: Job) -> _Source:
        if job.revision is None:
            return cls([""], None, None, job.attempts, job.closed_at is not None)
        rules = job.revision.rules
        track = next((track for track in rules.tracks if track.reference == job.track_ref), None)
        names = list(job.revision.pin_keys)
        return cls(names, rules, track, job.attempts, job.closed_at is not None)


def _figures(source: _Source, agent: JobAgent, rows: Sequence[_Row], models: set[str]) -> dict[str, Any]:
    names, rules, track = source.names, source.rules, source.track
    scoring = rules.scoring if rules else Scoring()
    required = track.attempts if track else 1
    held = {(row.task_position, row.attempt) for row in rows}
    cancelled = tallies.undone(names, source.attempts, held) if source.is_closed else []
    result = aggregate(
        names,
        [*_attempts(rows, names), *cancelled],
        scoring=scoring,
        required_attempts=required,
        compared_attempts=track.attempts if track else None,
        blocking_issues=tallies.blocking_issues(track, agent.configuration, [agent], models),
        declared=rules is not None,
    )
    return {
        "version": VERSION,
        "rules": tallies.RULES_VERSION,
        "score_range": list(scoring.score_range),
        "success_threshold": scoring.success_threshold,
        "agent_failure": scoring.agent_failure,
        "overall": tallies.overall_figures(
            result, agent.planned, agent.recorded - agent.unplanned + len(cancelled)
        ),
        "runner": _runner(rows, result.score, result.coverage),
        "missing": _missing(agent, rows, len(names), source.attempts),
        "errors": _most_common(row.error_code for row in rows),
        "stops": _most_common(row.stop_reason for row in rows),
    }


def _attempts(rows: Sequence[_Row], names: Sequence[str]) -> Iterator[Attempt]:
    for row in rows:
        if 0 <= row.task_position < len(names):
            yield Attempt(
                names[row.task_position],
                row.attempt,
                row.status,
                row.score,
                row.error_code or None,
                row.stop_reason or None,
                row.cost_usd,
                row.latency_seconds,
                None,
                row.cost_partial,
            )


def _runner(rows: Sequence[_Row], score: float | None, coverage: float) -> dict[str, float | None]:
    """As the client (0.23) writes its aggregates: score and coverage by the same rules, the rest over all."""
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    times = [row.latency_seconds for row in rows if row.latency_seconds is not None]
    time = total(times)
    return {
        "count": len(rows),
        "successes": sum(row.status == "succeeded" for row in rows),
        "mean_score": score,
        "coverage": coverage,
        "total_cost": total(costs),
        "mean_latency_seconds": None if time is None else time / len(times),
    }


def _missing(agent: JobAgent, rows: Sequence[_Row], tasks: int, attempts: int) -> list[list[int]]:
    if agent.planned <= agent.recorded - agent.unplanned:
        return []
    held = {(row.task_position, row.attempt) for row in rows}
    planned = ((position, attempt) for position in range(tasks) for attempt in range(1, attempts + 1))
    absent = (place for place in planned if place not in held)
    return [list(place) for place, _ in zip(absent, range(MISSING_KEPT), strict=False)]


def _most_common(words: Iterator[str]) -> dict[str, int]:
    return dict(Counter(word for word in words if word).most_common(WORDS_KEPT))
