"""The list of a project's Jobs: filtered, searched, sorted, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping

from django.urls import reverse

from benchmarks.board.parts import Option
from benchmarks.models import Resource
from benchmarks.pages import Crumb
from jobs.filters import ASIDE, JOB_STATUSES, JobFilter
from jobs.job_pages import JobFilters, JobsPage
from jobs.list_columns import Head, ListSort
from jobs.models import Job
from jobs.rows import job_row, with_query
from jobs.selectors import IMPORT_COMMAND
from jobs.tracks import UNTRACKED
from plural_site import formats
from plural_site.accounts.models import Project
from plural_site.http import paginate

HEADS = (
    Head("job", "Job"),
    Head("status", "Status", ("status",), title="By the name of the status"),
    Head("source", "Ran on"),
    Head("agents", "Agents and their scores"),
    Head("planned", "Planned", numeric=True),
    Head(
        "trials", "Finished", ("recorded",), numeric=True, falls_first=True, title="Trials that left a result"
    ),
    Head("scored", "Scored", numeric=True),
    Head("failed", "Failed", numeric=True, title="Agent failures and infrastructure errors"),
    Head("cost", "Cost", ("cost_total",), numeric=True, falls_first=True, title="Of all Trials"),
    Head("started", "Started", ("started_at",), falls_first=True),
)
DEFAULT = "-started"
RUN_COMMAND = "plural run --benchmark BENCHMARK --agent AGENT"
MOST_TRACKS = 200


def jobs_page(project: Project, query: Mapping[str, str], *, can_write: bool) -> JobsPage:
    chosen = JobFilter.parse(project, query)
    sort = ListSort.parse(query.get("sort", ""), HEADS, DEFAULT)
    cursor = query.get("cursor")
    found = chosen.apply(Job.objects.visible(project)).with_source()
    page = paginate(found, order=sort.order, cursor=cursor)
    path = reverse("jobs:jobs", args=[project.slug])
    sorted_by = {"sort": sort.text} if sort.text != DEFAULT else {}
    return JobsPage(
        crumbs=(Crumb(project.name, reverse("jobs:project", args=[project.slug])), Crumb("Jobs")),
        rows=tuple(job_row(project, job) for job in page.items),
        columns=sort.columns(HEADS, lambda text: with_query(path, {**chosen.query, "sort": text})),
        form=_form(project, chosen, path, sorted_by),
        filters=chosen.words,
        clear_href=with_query(path, sorted_by) if chosen.words else "",
        first_href=with_query(path, {**chosen.query, **sorted_by}) if cursor else "",
        next_href=with_query(path, {**chosen.query, **sorted_by, "cursor": page.next_cursor})
        if page.next_cursor
        else "",
        import_command=IMPORT_COMMAND.format(slug=project.slug),
        run_command=RUN_COMMAND,
        can_write=can_write,
    )


def _form(project: Project, chosen: JobFilter, path: str, sorted_by: Mapping[str, str]) -> JobFilters:
    """The release and the Agent of a link from elsewhere are carried along."""
    source = chosen.source
    held = {name: value for name, value in source.query.items() if name != "track"}
    set_in_panel = (chosen.status, chosen.aside, chosen.name, chosen.benchmark, source.track)
    return JobFilters(
        action=path,
        carried=(*sorted_by.items(), *held.items()),
        text=formats.clean_text(chosen.q),
        name=formats.clean_text(chosen.name),
        statuses=tuple(_options(JOB_STATUSES, chosen.status)),
        benchmarks=tuple(_benchmarks(project, chosen.benchmark)),
        tracks=tuple(_tracks(project, source.track)),
        asides=tuple(_options(ASIDE, chosen.aside)),
        narrowing=sum(map(bool, set_in_panel)),
    )


def _options(words: Mapping[str, str], chosen: str) -> list[Option]:
    return [Option(value, label[0].upper() + label[1:], value == chosen) for value, label in words.items()]


def _benchmarks(project: Project, chosen: Resource | None) -> list[Option]:
    found = (
        Resource.objects.for_project(project).benchmarks().order_by("name").values_list("pk", "slug", "name")
    )
    return [
        Option(slug, formats.clean_text(name), chosen is not None and chosen.pk == key)
        for key, slug, name in found
    ]


def _tracks(project: Project, chosen: str) -> list[Option]:
    found = Job.objects.visible(project).order_by("track_ref").values_list("track_ref", flat=True).distinct()
    values = [track or UNTRACKED for track in found[:MOST_TRACKS]]
    if chosen and chosen not in values:
        values.append(formats.clean_text(chosen))
    return [
        Option(value, "no track" if value == UNTRACKED else formats.clean_text(value), value == chosen)
        for value in values
    ]
