"""The page of one Job: what ran, what came of it by the rules, every Task and every Trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from django.db.models import Q
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from benchmarks.board.parts import Fact
from benchmarks.domain.types import Scoring
from benchmarks.models import Revision, TaskPin
from benchmarks.pages import Crumb, Figure
from jobs.command_pages import CommandPart
from jobs.command_part import command_part
from jobs.job_agents import agent_figures
from jobs.job_figures import Figures, compute, figures_of
from jobs.job_grid import Window, job_grid
from jobs.job_pages import Decision, JobPage, JobPins, MissingTrials, Pin
from jobs.job_trials import JobTrialFilter, job_trials
from jobs.links import task_href
from jobs.models import Job, JobAgent, Trial
from jobs.rows import SLUG, brought_by, job_cost, job_href, job_status, source_of, with_query
from jobs.selectors import note_words
from plural_site import formats
from plural_site.accounts.models import Project

PINS_SHOWN = 30
RERUNS_SHOWN = 20
MISSING_SHOWN = 50
RUNNING = "running"


def find_job(project: Project, job_id: str) -> Job:
    """Raises Http404 where the project has no such Job."""
    job = Job.objects.visible(project).with_source().filter(client_job_id=job_id).first()
    if job is None:
        raise Http404("No such Job in this project.")
    return job


def job_page(
    project: Project, job: Job, query: Mapping[str, str], *, can_write: bool, is_whole: bool = True
) -> JobPage:
    """`job` as `find_job` gives it. A fixed number of queries, whatever the number of Trials.

    Not `is_whole`: only what changes while the Job runs.
    """
    kept = _kept(job)
    scoring = kept[0].scoring if kept else Scoring()
    tasks = kept[0].overall.detail["tasks_total"] if kept else 0
    window = Window.of(job, len(kept), tasks, query)
    pins = _pins(job, {*range(PINS_SHOWN), *window.tasks, *(at for one in kept for at, _ in one.missing)})
    may_run = job.status == RUNNING and job.closed_at is None
    status, tone = job_status(job)
    low, high = scoring.score_range
    path = job_href(project, job.client_job_id)
    filters = JobTrialFilter.parse(job, scoring, query).query
    return JobPage(
        crumbs=crumbs(project, Crumb(job.client_job_id)),
        job_id=job.client_job_id,
        status=status,
        tone=tone,
        live_href=_live_href(project, job, query, filters) if may_run else "",
        reload_href=path,
        as_of=f"{timezone.now():%H:%M:%S} UTC",
        arrived=formats.datetime_text(job.updated_at),
        decisions=tuple(_decisions(project, job, can_write=can_write)),
        aside_href=f"{path}/set-aside" if can_write and job.set_aside_at is None else "",
        close_href=f"{path}/close" if can_write and may_run else "",
        facts=tuple(_facts(project, job)),
        related=tuple(_related(project, job)),
        agents=tuple(
            agent_figures(project, job, agent, figures)
            for agent, figures in zip(job.agents.all(), kept, strict=True)
        ),
        score_unit=formats.score_unit(low, high),
        range_low=formats.score_text(low, low, high),
        range_high=formats.score_text(high, low, high),
        missing=_missing(job, kept, pins),
        notes=tuple(note_words(note) for note in job.notes),
        grid=job_grid(project, job, window, scoring=scoring, pins=pins, kept=filters),
        trials=job_trials(project, job, query, kept, scoring),
        command=_command(project, job) if is_whole else None,
        pins=_what_ran(project, job, pins, tasks),
    )


def _live_href(project: Project, job: Job, query: Mapping[str, str], filters: Mapping[str, str]) -> str:
    """The news of just this page: its filters, order and pages."""
    places = {name: query[name] for name in ("sort", "cursor", "tasks", "agents") if query.get(name)}
    return with_query(reverse("jobs:job-live", args=[project.slug, job.client_job_id]), {**filters, **places})


def crumbs(project: Project, *more: Crumb) -> tuple[Crumb, ...]:
    return (
        Crumb(project.name, reverse("jobs:project", args=[project.slug])),
        Crumb("Jobs", reverse("jobs:jobs", args=[project.slug])),
        *more,
    )


def _kept(job: Job) -> list[Figures]:
    """Of each Agent in order; computed from the Trials where what is kept is out of date."""
    agents = list(job.agents.all())
    kept = [figures_of(job, agent) for agent in agents]
    if None in kept:
        compute(job, agents)
        kept = [figures_of(job, agent) for agent in agents]
    return [figures for figures in kept if figures]


def _pins(job: Job, positions: set[int]) -> dict[int, TaskPin]:
    if job.revision is None:
        return {}
    found = job.revision.pins.filter(position__in=positions)
    return {pin.position: pin for pin in found.order_by("position")}


# What a person decided --------------------------------------------------------------------------------


def _decisions(project: Project, job: Job, *, can_write: bool) -> Iterator[Decision]:
    path = job_href(project, job.client_job_id)
    if job.set_aside_at:
        yield Decision(
            what="Set aside",
            by=formats.clean_text(str(job.set_aside_by)) if job.set_aside_by else "",
            at=formats.datetime_text(job.set_aside_at),
            reason=formats.clean_text(job.set_aside_reason),
            follows="It counts in no figure of any leaderboard. Its own figures below stay as they are.",
            href=f"{path}/set-aside" if can_write else "",
            undo="Let it count again",
        )
    if job.closed_at:
        yield Decision(
            what="Closed",
            by=formats.clean_text(str(job.closed_by)) if job.closed_by else "",
            at=formats.datetime_text(job.closed_at),
            reason=formats.clean_text(job.closed_reason),
            follows="Planned Trials that left nothing count as cancelled.",
            href=f"{path}/close" if can_write else "",
            undo="Open it again",
        )


# Facts ------------------------------------------------------------------------------------------------


def _facts(project: Project, job: Job) -> Iterator[Fact]:
    agents = list(job.agents.all())
    outcomes: Counter[str] = Counter()
    for agent in agents:
        outcomes.update(agent.outcomes)
    planned, missing = sum(agent.planned for agent in agents), missing_count(agents)
    source, source_href = source_of(project, job)
    path = job_href(project, job.client_job_id)

    def trials(label: str, number: int, outcome: str, note: str = "") -> Fact:
        return Fact(label, Figure(formats.count(number), note=note, href=f"{path}?outcome={outcome}#trials"))

    yield Fact("Ran", Figure(source, href=source_href))
    yield Fact(
        "Track", Figure(job.track_ref or "none", note="" if job.track_ref else "evidence only, never ranked")
    )
    yield Fact("Attempts at each Task", Figure(formats.count(job.attempts)))
    note = f"{formats.count(job.recorded)} of {formats.count(planned)} planned" if missing else ""
    yield Fact("Trials", Figure(formats.count(job.recorded), note=note, href=f"{path}#trials"))
    yield trials("Scored", outcomes["scored"], "scored")
    failures, errors = outcomes["agent_failure"], outcomes["infrastructure_error"]
    kinds = ((failures, "agent failure"), (errors, "infrastructure error"))
    words = ", ".join(f"{formats.count(n)} {what}{'' if n == 1 else 's'}" for n, what in kinds if n)
    yield trials("Failed", failures + errors, "failed", words)
    if outcomes["cancelled"]:
        yield trials("Cancelled", outcomes["cancelled"], "cancelled")
    if outcomes["pending"]:
        yield trials("Pending", outcomes["pending"], "pending")
    if missing:
        yield Fact("Left nothing", Figure(formats.count(missing), note=_missing_words(job)))
    if unplanned := sum(agent.unplanned for agent in agents):
        yield Fact("At unknown Tasks", Figure(formats.count(unplanned), note="kept, but in no score"))
    yield Fact("Cost", job_cost(job))
    yield Fact("Started", Figure(formats.datetime_text(job.started_at)))
    yield Fact("Finished", _finished(job))
    run = job.import_run
    by = brought_by(job)
    source_name = f"from {formats.clean_text(run.source)}" if run and run.source else ""
    yield Fact(
        job.get_origin_display(),
        Figure(
            formats.datetime_text(job.created_at), note=f"{f'by {by} ' if by else ''}{source_name}".strip()
        ),
    )


def _finished(job: Job) -> Figure:
    if job.finished_at:
        return Figure(formats.datetime_text(job.finished_at))
    return Figure(formats.DASH, "It wrote no result" if job.status == RUNNING else "It did not say when")


def _missing_words(job: Job) -> str:
    if job.closed_at:
        return "counted as cancelled"
    return "yet" if job.status == RUNNING else "no attempt, and not pending"


def _related(project: Project, job: Job) -> Iterator[Fact]:
    """What it is a rerun of and what reruns it, in two queries."""
    wanted = Q(rerun_of_job=job.client_job_id)
    if job.rerun_of_job:
        wanted |= Q(client_job_id=job.rerun_of_job)
    found = Job.objects.visible(project).filter(wanted).exclude(pk=job.pk).order_by("-started_at", "-pk")
    rows = list(found.values_list("client_job_id", "started_at", "rerun_of_trial")[: RERUNS_SHOWN + 2])
    if job.rerun_of_job:
        held = any(job_id == job.rerun_of_job for job_id, _, _ in rows)
        href = job_href(project, job.rerun_of_job) if held and SLUG.fullmatch(job.rerun_of_job) else ""
        title = "" if href else "That Job is not in this project"
        yield Fact("Rerun of the Job", Figure(formats.clean_text(job.rerun_of_job), title, href=href))
    if job.rerun_of_trial:
        trials = Trial.objects.visible(project).filter(client_trial_id=job.rerun_of_trial)
        held = bool(SLUG.fullmatch(job.rerun_of_trial)) and trials.exists()
        href = reverse("jobs:trial", args=[project.slug, job.rerun_of_trial]) if held else ""
        title = "" if href else "That Trial is not in this project"
        yield Fact("Rerun of the Trial", Figure(formats.clean_text(job.rerun_of_trial), title, href=href))
    reruns = [row for row in rows if row[0] != job.rerun_of_job]
    for job_id, started_at, of_trial in reruns[:RERUNS_SHOWN]:
        what = "One of its Trials run again" if of_trial else "Run again as"
        yield Fact(
            what, Figure(job_id, note=formats.datetime_text(started_at), href=job_href(project, job_id))
        )
    if len(reruns) > RERUNS_SHOWN:
        yield Fact("Further reruns", Figure("not listed here"))


# Trials that left nothing -----------------------------------------------------------------------------


def missing_count(agents: Sequence[JobAgent]) -> int:
    return sum(max(agent.planned - (agent.recorded - agent.unplanned), 0) for agent in agents)


def _missing(job: Job, kept: Sequence[Figures], pins: Mapping[int, TaskPin]) -> MissingTrials | None:
    agents = list(job.agents.all())
    total = missing_count(agents)
    if not total:
        return None
    single = job.task_revision.resource.name if job.task_revision else ""
    rows = [
        (
            formats.clean_text(agent.name),
            formats.clean_text(pins[position].name if position in pins else single),
            attempt,
        )
        for agent, figures in zip(agents, kept, strict=True)
        for position, attempt in figures.missing
    ]
    if job.closed_at:
        words = "The Job was closed, so they count as cancelled."
    elif job.status == RUNNING:
        words = "The Job has no result: it may still run, or it was killed."
    else:
        words = "The Job ended without them. They are no attempts, and nothing waits for them."
    return MissingTrials(total, words, tuple(rows[:MISSING_SHOWN]))


# What ran ---------------------------------------------------------------------------------------------


def _what_ran(project: Project, job: Job, pins: Mapping[int, TaskPin], tasks: int) -> JobPins:
    source, source_href = source_of(project, job)
    revision = job.revision or job.task_revision
    shown = [pins[position] for position in range(min(tasks, PINS_SHOWN)) if position in pins]
    owners = [pin.task_revision_id for pin in shown] if job.revision else [job.task_revision_id]
    found = Revision.objects.filter(
        dependants__revision__in=owners, resource__kind__in=("environment", "verifier")
    )
    parts = found.order_by("resource__kind", "resource__name", "number").values_list(
        "resource__kind", "resource__name", "claimed_version", "content_hash", "number"
    )
    rows = list(parts.distinct()[: PINS_SHOWN + 1])
    return JobPins(
        source=Figure(source, href=source_href),
        content_hash=revision.content_hash if revision else "",
        tasks=tuple(_task_pin(project, job.revision, pin) for pin in shown if job.revision),
        more_tasks=max(tasks - len(shown), 0) if job.revision else 0,
        parts=tuple(
            Pin(kind.title(), formats.clean_text(name), formats.clean_text(version), content_hash, "")
            for kind, name, version, content_hash, _ in rows[:PINS_SHOWN]
        ),
        more_parts=len(rows) > PINS_SHOWN,
        spec_hash=job.spec_hash,
    )


def _command(project: Project, job: Job) -> CommandPart | None:
    words = "A new Job with the same source, Agents, attempts and track as this one."
    return command_part(project, job, list(job.agents.all()), words=words)


def _task_pin(project: Project, revision: Revision, pin: TaskPin) -> Pin:
    href = task_href(project, revision, pin.position + 1)
    return Pin("Task", formats.clean_text(pin.name), formats.clean_text(pin.version), pin.task_digest, href)
