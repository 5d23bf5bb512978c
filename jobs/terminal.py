"""Jobs and Trials in a terminal: finding them, aligned tables for people, plain values for scripts.

Text is what the pages say; values are unrounded, and null where unknown.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import CommandError
from django.http import Http404

from benchmarks.board.parts import Fact
from benchmarks.pages import Figure
from jobs.job_figures import compute, figures_of
from jobs.job_page import find_job
from jobs.management.board import find_project
from jobs.models import Execution, Job, JobAgent, Trial
from jobs.trial_entry import chosen, copies_of
from jobs.trial_page import why
from plural_site import formats
from plural_site.accounts.models import Project

GAP = "  "
WIDEST = 48
"""Characters of a cell; what is longer is cut."""
MARK = "…"


def project_of_job(job_id: str, slug: str | None) -> tuple[Project, Job]:
    """The Job and its project, which need not be named while one project alone has it."""
    held = Job.objects.filter(client_job_id=_plain(job_id), state=Job.State.READY)
    project = _only_project(list(held.values_list("project__slug", flat=True)), f"Job {job_id}", slug)
    try:
        return project, find_job(project, job_id)
    except Http404 as error:
        raise CommandError(f"There is no Job {formats.clean_text(job_id)} in {project.slug}.") from error


def project_of_trial(trial_id: str, slug: str | None, job: str = "") -> tuple[Project, Trial]:
    """The Trial as its page shows it: the copy that counts, or that of a Job."""
    held = Trial.objects.filter(client_trial_id=_plain(trial_id), job__state=Job.State.READY)
    slugs = list(held.order_by().values_list("job__project__slug", flat=True).distinct())
    project = _only_project(slugs, f"Trial {trial_id}", slug)
    try:
        return project, chosen(copies_of(project, trial_id), job)
    except Http404 as error:
        what = f"Job {job} holds no Trial {trial_id}" if job else f"There is no Trial {trial_id}"
        raise CommandError(formats.clean_text(f"{what} in {project.slug}.")) from error


def _plain(ident: str) -> str:
    """As the database can be asked for it: NUL and lone surrogates stand in no id."""
    return ident.replace("\0", "").encode(errors="replace").decode()


def _only_project(slugs: Sequence[str], what: str, slug: str | None) -> Project:
    if slug:
        project = find_project(slug)
        if slug not in slugs:
            raise CommandError(formats.clean_text(f"There is no {what} in the project {slug}."))
        return project
    if not slugs:
        raise CommandError(formats.clean_text(f"There is no {what} in any project."))
    if len(slugs) > 1:
        named = ", ".join(sorted(slugs))
        raise CommandError(
            formats.clean_text(f"{what} is in several projects ({named}): name one with --project SLUG.")
        )
    return find_project(slugs[0])


# Text -------------------------------------------------------------------------------------------------


def cell(figure: Figure) -> str:
    return f"{figure.text} ({figure.note})" if figure.note else figure.text


def facts(rows: Sequence[Fact]) -> Iterator[str]:
    """A line for each, with what they say one below the other."""
    widest = max((width(fact.label) for fact in rows), default=0)
    for fact in rows:
        figure = fact.figure
        why_none = f" ({figure.title})" if figure.text == formats.DASH and figure.title else ""
        yield f"{padded(fact.label, widest)}{GAP}{one_line(cell(figure))}{why_none}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> Iterator[str]:
    """Aligned columns; those in `numbers` to the right."""
    shown = [[_cut(one_line(text)) for text in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(heads, *shown, strict=True)]
    for row in (heads, *shown):
        cells = [padded(text, widths[at], to_right=at in numbers) for at, text in enumerate(row)]
        yield GAP.join(cells).rstrip()


def width(text: str) -> int:
    """Columns that a terminal takes for it: two for wide characters, none for marks that combine."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def padded(text: str, size: int, *, to_right: bool = False) -> str:
    space = " " * (size - width(text))
    return space + text if to_right else text + space


def one_line(text: str) -> str:
    """Outside text can neither command the terminal nor begin a line."""
    return formats.clean_text(text).replace("\n", " ").replace("\t", " ")


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + MARK


# Values -----------------------------------------------------------------------------------------------


def as_json(value: Any) -> str:
    return formats.json_text(_finite(value))


def _finite(value: Any) -> Any:
    """JSON knows no NaN and no infinity, whatever a run recorded."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def job_values(project: Project, job: Job) -> dict[str, Any]:
    """Needs `with_source`."""
    agents = list(job.agents.all())
    if any(figures_of(job, agent) is None for agent in agents):
        compute(job, agents)
    outcomes: dict[str, int] = {}
    for agent in agents:
        for outcome, times in agent.outcomes.items():
            outcomes[outcome] = outcomes.get(outcome, 0) + times
    revision = job.revision
    return {
        "id": job.client_job_id,
        "project": project.slug,
        "status": "closed" if job.closed_at else job.status,
        "origin": job.origin,
        "benchmark": revision.resource.slug if revision else None,
        "revision": revision.number if revision else None,
        "version": (revision.version or None) if revision else None,
        "task": job.task_revision.resource.name if job.task_revision else None,
        "track": job.track_ref or None,
        "attempts": job.attempts,
        "planned": sum(agent.planned for agent in agents),
        "recorded": job.recorded,
        "outcomes": outcomes,
        "cost_total": job.cost_total,
        "cost_measured": sum(agent.cost_measured for agent in agents),
        "cost_partial": any(agent.cost_partial for agent in agents),
        "started_at": _time(job.started_at),
        "finished_at": _time(job.finished_at),
        "closed_at": _time(job.closed_at),
        "closed_reason": job.closed_reason or None,
        "set_aside_at": _time(job.set_aside_at),
        "set_aside_reason": job.set_aside_reason or None,
        "rerun_of_job": job.rerun_of_job or None,
        "rerun_of_trial": job.rerun_of_trial or None,
        "agents": [_agent_values(job, agent) for agent in agents],
    }


def _agent_values(job: Job, agent: JobAgent) -> dict[str, Any]:
    figures = figures_of(job, agent)
    overall = figures.overall if figures else None
    names = ("score", "low", "high", "coverage", "success_rate", "successes", "valid", "attempts")
    costs = ("cost", "cost_measured", "cost_total", "cost_partial", "latency", "latency_measured")
    return {
        "name": agent.name,
        "version": agent.version or None,
        "model": agent.configuration.model,
        "harness": agent.harness or None,
        "harness_version": agent.harness_version or None,
        "configuration": agent.configuration.content_hash,
        "planned": agent.planned,
        "recorded": agent.recorded,
        "outcomes": agent.outcomes,
        **{name: getattr(overall, name) if overall else None for name in (*names, *costs)},
        "not_ranked_because": list(overall.reasons) if overall else None,
    }


TRIAL_COLUMNS = (
    *("status", "outcome", "score", "cost_usd", "cost_partial", "latency_seconds", "input_tokens"),
    *("output_tokens", "turns", "seed", "error_code", "stop_reason"),
)


def job_trials(job: Job) -> list[dict[str, Any]]:
    """Every Trial of a Job, in the release's order. One query."""
    names = {agent.pk: agent.name for agent in job.agents.all()}
    rows = Trial.objects.filter(job=job).order_by("task_position", "attempt", "job_agent", "pk")
    columns = ("client_trial_id", "task_name", "job_agent", "attempt", *TRIAL_COLUMNS)
    found = []
    for ident, task, agent, attempt, *rest in rows.values_list(*columns):
        own = dict(zip(TRIAL_COLUMNS, map(_known, rest), strict=True))
        found.append({"id": ident, "task": task, "agent": names[agent], "attempt": attempt, **own})
    return found


def trial_values(project: Project, trial: Trial) -> dict[str, Any]:
    """As `copies_of` gives it. One query."""
    rules = trial.job.revision.rules.scoring if trial.job.revision else None
    return {
        "id": trial.client_trial_id,
        "project": project.slug,
        "job": trial.job.client_job_id,
        "task": trial.task_name,
        "task_digest": trial.task_digest,
        "agent": trial.job_agent.name,
        "configuration": trial.job_agent.configuration.content_hash,
        "attempt": trial.attempt,
        **{name: _known(getattr(trial, name)) for name in TRIAL_COLUMNS},
        "why": why(trial, rules),
        "models_used": trial.models_used,
        "started_at": _time(trial.started_at),
        "completed_at": _time(trial.completed_at),
        "executions": [_execution_values(found) for found in trial.executions.defer("files")],
        "notes": trial.notes,
    }


def _execution_values(execution: Execution) -> dict[str, Any]:
    return {
        "number": execution.number,
        "counts": execution.is_final,
        "status": execution.status,
        "error_code": execution.error_code or None,
        "error_message": execution.error_message or None,
        "stop_reason": execution.stop_reason or None,
        "started_at": _time(execution.started_at),
        "completed_at": _time(execution.completed_at),
        "verifiers": execution.verifier_results,
    }


def _known(value: Any) -> Any:
    return None if value == "" else value


def _time(moment: Any) -> str | None:
    return moment.isoformat() if moment else None
