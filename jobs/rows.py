"""Jobs and Trials as rows of finished text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from benchmarks.domain.types import Scoring
from benchmarks.links import board_href, revision_label
from benchmarks.pages import Figure
from jobs import querysets
from jobs.job_figures import figures_of
from jobs.models import Job, JobAgent, Trial
from jobs.pages import JobAgentLine, JobRow, TrialRow
from plural_site import formats
from plural_site.accounts.models import Project, User

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
CLOSED_WORDS = ("Closed without a result", "neutral")
AGENTS_LISTED = 4
"""Agents that a row of the list names."""
SLUG = re.compile(r"[-a-zA-Z0-9_]+")
"""Ids that an address can hold."""


def status_words(status: str) -> tuple[str, str]:
    return STATUS_WORDS.get(status, (status, "neutral"))


def job_row(project: Project, job: Job) -> JobRow:
    """Needs `with_source`. Reads no Trials: counts and figures stand with the Job's Agents."""
    agents = list(job.agents.all())
    outcomes: Counter[str] = Counter()
    for agent in agents:
        outcomes.update(agent.outcomes)
    planned, pending = sum(a.planned for a in agents), outcomes["pending"]
    failed = outcomes["agent_failure"] + outcomes["infrastructure_error"]
    status, tone = job_status(job)
    source, source_href = source_of(project, job)
    href = job_href(project, job.client_job_id)
    return JobRow(
        href=href,
        job_id=job.client_job_id,
        status=status,
        tone=tone,
        marks=tuple(_marks(job)),
        source=source,
        source_href=source_href,
        track=job.track_ref,
        agents=tuple(_agent_line(job, agent) for agent in agents[:AGENTS_LISTED]),
        more_agents=max(len(agents) - AGENTS_LISTED, 0),
        planned=Figure(formats.count(planned)),
        trials=Figure(
            formats.count(outcomes.total() - pending),
            note=f"{formats.count(pending)} pending" if pending else "",
            href=f"{href}?outcome=finished#trials" if pending else f"{href}#trials",
        ),
        scored=Figure(formats.count(outcomes["scored"]), href=f"{href}?outcome=scored#trials"),
        failed=Figure(
            formats.count(failed),
            f"{outcomes['agent_failure']} agent failures, "
            f"{outcomes['infrastructure_error']} infrastructure errors",
            href=f"{href}?outcome=failed#trials",
        ),
        cost=job_cost(job),
        started=formats.datetime_text(job.started_at),
        by=brought_by(job),
        origin=job.get_origin_display().lower(),
        rerun_of=formats.clean_text(job.rerun_of_job),
        rerun_href=job_href(project, job.rerun_of_job) if SLUG.fullmatch(job.rerun_of_job) else "",
    )


def job_href(project: Project, job_id: str) -> str:
    return reverse("jobs:job", args=[project.slug, job_id])


def job_status(job: Job) -> tuple[str, str]:
    """In words, with the tone of its badge."""
    return CLOSED_WORDS if job.closed_at else status_words(job.status)


def brought_by(job: Job) -> str:
    """Who brought what came last of the Job; '' where that is not known."""
    run = job.import_run
    return formats.clean_text(str(run.actor)) if run and run.actor else ""


def decided(at: datetime | None, by: User | None, reason: str) -> str:
    """Who set a Job aside or closed it, when and why."""
    who = f"by {formats.clean_text(str(by))} " if by else ""
    return f"{who}on {formats.datetime_text(at)}: {formats.clean_text(reason)}"


def _marks(job: Job) -> Iterator[Figure]:
    if job.set_aside_at:
        title = decided(job.set_aside_at, job.set_aside_by, job.set_aside_reason)
        yield Figure("Set aside", f"Counts in no figure, {title}")
    if job.closed_at:
        yield Figure("Closed", decided(job.closed_at, job.closed_by, job.closed_reason))


def _agent_line(job: Job, agent: JobAgent) -> JobAgentLine:
    name, kept = formats.clean_text(agent.name), figures_of(job, agent)
    if kept is None:
        return JobAgentLine(name, Figure(formats.DASH, "Not computed yet: the Job's own page shows it"))
    overall = kept.overall
    if overall.score is None:
        return JobAgentLine(name, Figure(formats.DASH, "No Task has a valid attempt"))
    unit = formats.score_unit(*kept.scoring.score_range)
    covered, tasks = overall.detail["tasks_covered"], overall.detail["tasks_total"]
    return JobAgentLine(
        name,
        Figure(
            f"{formats.score_text(overall.score, *kept.scoring.score_range)}"
            f"{formats.NO_BREAK_SPACE + unit if unit else ''}",
            str(overall.score),
            f"{formats.count(covered)} of {formats.count(tasks)} Tasks" if covered < tasks else "",
        ),
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
        tokens=Figure(
            formats.count(trial.tokens),
            f"{formats.count(trial.input_tokens)} in, {formats.count(trial.output_tokens)} out"
            if trial.tokens is not None
            else "No tokens were reported",
        ),
        turns=Figure(formats.count(trial.turns), "No turns were reported" if trial.turns is None else ""),
        stop_reason=formats.clean_text(trial.stop_reason).replace("_", " "),
        error_code=formats.clean_text(trial.error_code).replace("_", " "),
        executions=executions,
        job_href=reverse("jobs:job", args=[project.slug, trial.job.client_job_id]),
        job_id=trial.job.client_job_id,
    )


def total_words(total: int, *, exact: bool) -> str:
    """A number of Trials that was counted, or else counted up to the limit."""
    most = querysets.COUNTED_TO
    return formats.count(total) if exact or total <= most else f"more than {formats.count(most)}"


def with_query(path: str, query: dict[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path
