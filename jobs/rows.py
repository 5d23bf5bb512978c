"""Jobs and Trials as rows of finished text."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlencode

from django.urls import reverse

from benchmarks.domain.types import Scoring
from benchmarks.links import board_href, revision_label
from benchmarks.pages import Figure
from jobs.models import Job, Trial
from jobs.pages import JobRow, TrialRow
from plural_site import formats
from plural_site.accounts.models import Project

OUTCOME_WORDS = {
    "scored": ("Scored", "good"),
    "agent_failure": ("Agent failure", "bad"),
    "infrastructure_error": ("Infrastructure error", "warn"),
    "cancelled": ("Cancelled", "neutral"),
    "pending": ("Pending", "info"),
}
STATUS_WORDS = {
    "succeeded": ("Succeeded", "good"),
    "failed": ("Some Trials failed", "warn"),
    "cancelled": ("Cancelled", "neutral"),
    "awaiting_review": ("Awaiting review", "info"),
    "running": ("No result yet", "warn"),
}


def status_words(status: str) -> tuple[str, str]:
    return STATUS_WORDS.get(status, (status, "neutral"))


def job_row(project: Project, job: Job) -> JobRow:
    """Needs `with_source`. Reads no Trials: the counts stand with the Job's Agents."""
    agents = list(job.agents.all())
    outcomes: Counter[str] = Counter()
    for agent in agents:
        outcomes.update(agent.outcomes)
    planned, recorded = sum(a.planned for a in agents), sum(a.recorded for a in agents)
    failed = outcomes["agent_failure"] + outcomes["infrastructure_error"]
    status, tone = status_words(job.status)
    source, source_href = source_of(project, job)
    href = reverse("jobs:job", args=[project.slug, job.client_job_id])
    return JobRow(
        href=href,
        job_id=job.client_job_id,
        status=status,
        tone=tone,
        source=source,
        source_href=source_href,
        track=job.track_ref,
        agents=tuple(formats.clean_text(agent.name) for agent in agents),
        trials=Figure(
            formats.count(recorded),
            note=f"{recorded} of {planned} planned" if recorded < planned else "",
            href=href,
        ),
        scored=Figure(formats.count(outcomes["scored"]), href=f"{href}?outcome=scored"),
        failed=Figure(
            formats.count(failed),
            f"{outcomes['agent_failure']} agent failures, "
            f"{outcomes['infrastructure_error']} infrastructure errors",
            href=f"{href}?outcome=failed",
        ),
        cost=job_cost(job),
        started=formats.datetime_text(job.started_at),
        rerun_of=formats.clean_text(job.rerun_of_job),
    )


def job_cost(job: Job) -> Figure:
    """Total cost in USD over the Trials that reported one; marked where it is a lower bound."""
    agents = list(job.agents.all())
    costs = [agent.cost_total for agent in agents if agent.cost_total is not None]
    recorded, measured = sum(a.recorded for a in agents), sum(a.cost_measured for a in agents)
    note = f"measured {measured} of {recorded}"
    if not costs:
        return Figure(formats.DASH, "No Trial reported a cost", note if recorded else "")
    partial = measured < recorded or any(agent.cost_partial for agent in agents)
    title = "A lower bound: not every Trial reported its whole cost" if partial else ""
    return Figure(f"{'≥ ' if partial else ''}{formats.money(sum(costs))}", title, note)


def source_of(project: Project, job: Job) -> tuple[str, str]:
    """What a Job ran, and where that can be read: the board of its release, none for a single Task."""
    if job.revision:
        label = f"{formats.clean_text(job.revision.resource.name)} {revision_label(job.revision)}"
        return label, board_href(project, job.revision, track=job.track_ref or "none")
    task = job.task_revision
    return (f"Task {formats.clean_text(task.resource.name)}" if task else "Task"), ""


def trial_row(project: Project, trial: Trial, scoring: Scoring, executions: int) -> TrialRow:
    """Needs `job_agent` and `job`."""
    outcome, tone = OUTCOME_WORDS[trial.outcome]
    low, high = scoring.score_range
    least = "≥ " if trial.cost_partial and trial.cost_usd is not None else ""
    return TrialRow(
        href=reverse("jobs:trial", args=[project.slug, trial.client_trial_id]),
        task=formats.clean_text(trial.task_name),
        agent=formats.clean_text(trial.job_agent.name),
        attempt=trial.attempt,
        outcome=outcome,
        tone=tone,
        score=Figure(
            formats.score_text(trial.score, low, high),
            str(trial.score) if trial.score is not None else "The Verifiers gave no score",
        ),
        cost=Figure(
            f"{least}{formats.money(trial.cost_usd)}",
            str(trial.cost_usd) if trial.cost_usd is not None else "No cost was reported",
        ),
        latency=Figure(
            formats.seconds(trial.latency_seconds),
            str(trial.latency_seconds) if trial.latency_seconds is not None else "No time was reported",
        ),
        stop_reason=formats.clean_text(trial.stop_reason).replace("_", " "),
        error_code=formats.clean_text(trial.error_code).replace("_", " "),
        executions=executions,
        job_href=reverse("jobs:job", args=[project.slug, trial.job.client_job_id]),
        job_id=trial.job.client_job_id,
    )


def with_query(path: str, query: dict[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path
