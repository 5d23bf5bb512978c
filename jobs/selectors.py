"""The data of each page of this app, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Count
from django.http import Http404
from django.urls import reverse

from benchmarks.domain.definitions import rules_from_content
from benchmarks.domain.types import Scoring
from benchmarks.links import board_href, revision_label
from benchmarks.models import Resource, Revision
from benchmarks.pages import Crumb
from jobs.filters import TrialFilter
from jobs.models import Job, Tally, Trial
from jobs.pages import BenchmarkCard, JobRow, ProjectPage, TrialRow, TrialsPage
from jobs.querysets import TrialQuerySet
from jobs.rows import job_row, total_words, trial_row, with_query
from plural_site import formats
from plural_site.accounts.models import Project
from plural_site.http import paginate

IMPORT_COMMAND = "python manage.py import_jobs PATH --project {slug}"
LATEST_JOBS = 10
UNLISTED = (
    *("notes", "models_used"),
    *("job__aggregates", "job__notes", "job__files"),
    *("job_agent__figures", "job_agent__outcomes"),
)
"""Columns of a Trial, its Job and its Agent that a list doesn't show and that may be large."""


def project_page(project: Project, *, can_write: bool) -> ProjectPage:
    return ProjectPage(
        name=project.name,
        benchmarks=tuple(_cards(project)),
        jobs=tuple(_latest(project)),
        jobs_href=reverse("jobs:jobs", args=[project.slug]),
        import_command=IMPORT_COMMAND.format(slug=project.slug),
        can_write=can_write,
    )


def _latest(project: Project) -> list[JobRow]:
    jobs = Job.objects.visible(project).with_source().order_by("-started_at", "-pk")[:LATEST_JOBS]
    return [job_row(project, job) for job in jobs]


def _cards(project: Project) -> list[BenchmarkCard]:
    """One card a Benchmark, in a fixed number of queries."""
    benchmarks = Resource.objects.for_project(project).benchmarks().select_related("current__release")
    revisions = [resource.current_id for resource in benchmarks]
    jobs = Job.objects.visible(project).filter(revision__in=revisions).values_list("revision")
    job_counts = dict(jobs.annotate(n=Count("pk")).order_by())
    entries = Tally.objects.filter(revision__in=revisions, scope=Tally.Scope.OVERALL).exclude(track_ref="")
    entry_counts = dict(entries.values_list("revision").annotate(n=Count("pk")).order_by())
    return [
        _card(project, resource, job_counts, entry_counts)
        for resource in sorted(benchmarks, key=lambda found: found.name.casefold())
    ]


def _card(
    project: Project, resource: Resource, jobs: Mapping[int, int], entries: Mapping[int, int]
) -> BenchmarkCard:
    revision = resource.current
    if revision is None:  # `benchmarks()` leaves such resources out
        raise Http404
    revision.resource = resource
    content = revision.content
    rules = rules_from_content(content)
    return BenchmarkCard(
        name=formats.clean_text(resource.name),
        slug=resource.slug,
        href=reverse("benchmarks:benchmark", args=[project.slug, resource.slug]),
        board_href=board_href(project, revision),
        version=revision_label(revision),
        description=formats.clean_text(rules.description),
        tasks=len(content["tasks"]),
        tracks=tuple(track.reference for track in rules.tracks),
        entries=entries.get(revision.pk, 0),
        jobs=jobs.get(revision.pk, 0),
    )


def trials_page(project: Project, query: Mapping[str, str]) -> TrialsPage:
    chosen = TrialFilter.parse(project, query)
    jobs = chosen.jobs(project)
    found = chosen.apply(jobs)
    rows, cursor = _trial_rows(project, found, query.get("cursor"))
    total = jobs.recorded() if chosen.takes_whole_jobs else found.count_to_limit()
    path = reverse("jobs:trials", args=[project.slug])
    crumbs = [Crumb(project.name, reverse("jobs:project", args=[project.slug]))]
    if chosen.revision:
        label = f"{formats.clean_text(chosen.revision.resource.name)} {revision_label(chosen.revision)}"
        crumbs.append(Crumb(label, board_href(project, chosen.revision, track=chosen.track)))
    return TrialsPage(
        crumbs=(*crumbs, Crumb("Trials")),
        title=chosen.title,
        filters=chosen.words,
        clear_href=path if chosen.words else "",
        total=total,
        total_words=total_words(total, exact=chosen.takes_whole_jobs),
        rows=rows,
        next_href=_next(path, chosen.query, cursor),
    )


def note_words(note: Mapping[str, Any]) -> str:
    where = " ".join(filter(None, (note.get("file"), note.get("field"))))
    return formats.clean_text(f"{where}: {note.get('message')}" if where else str(note.get("message")))


def _trial_rows(
    project: Project, found: TrialQuerySet, cursor: str | None
) -> tuple[tuple[TrialRow, ...], str | None]:
    order = ("job", "task_position", "attempt")
    page = paginate(found.only("pk", *order), order=order, cursor=cursor)
    shown = Trial.objects.filter(pk__in=[trial.pk for trial in page.items])
    tries = dict(shown.values_list("pk").annotate(n=Count("executions")))
    trials = list(shown.select_related("job", "job_agent").defer(*UNLISTED).order_by(*order, "pk"))
    held = Revision.objects.in_bulk({trial.job.revision_id for trial in trials} - {None})
    scorings = {None: Scoring(), **{pk: scoring_of(revision) for pk, revision in held.items()}}
    rows = [trial_row(project, trial, scorings[trial.job.revision_id], tries[trial.pk]) for trial in trials]
    return tuple(rows), page.next_cursor


def scoring_of(revision: Revision | None) -> Scoring:
    """The release's scoring, the default for a Job on a single Task."""
    return revision.rules.scoring if revision else Scoring()


def _next(path: str, query: dict[str, str], cursor: str | None) -> str:
    return with_query(path, {**query, "cursor": cursor}) if cursor else ""
