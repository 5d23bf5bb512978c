"""From imports to their pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from benchmarks.board.parts import Fact
from benchmarks.pages import Crumb, Figure
from jobs.import_pages import (
    ImportNewPage,
    ImportPage,
    ImportRow,
    ImportsPage,
    LandedJob,
    ProblemGroup,
    Progress,
    UndoPage,
    Unfinished,
)
from jobs.models import ImportRun, Job
from jobs.queue import worker_is_there
from jobs.rows import job_href, with_query
from jobs.selectors import IMPORT_COMMAND
from jobs.undo import blockers, going, going_jobs, grown_jobs, updated_jobs
from jobs.uploads import can_retry
from plural_site.accounts.models import Project, User
from plural_site.formats import DASH, bytes_text, clean_text, count, datetime_text, seconds
from plural_site.http import paginate

Status = ImportRun.Status
TONES = {Status.DONE: "good", Status.FAILED: "bad", Status.RUNNING: "info", Status.QUEUED: "info"}
RESULTS = {"added": "good", "updated": "good", "unchanged": "", "refused": "bad"}
ACTIVE = (Status.UPLOADING, Status.QUEUED, Status.RUNNING)
WORK_COMMAND = "python manage.py work"
MOST_JOBS, MOST_PLACES, MOST_GROUPS, MOST_NOTES = 100, 20, 50, 100
ADVICE = (
    ("differs from the job with the same id", "Keep what is here, or run it again as a new Job."),
    ("cut short", "The archive is not whole. Pack it again and upload that."),
    ("is damaged", "Pack the archive again and upload that."),
    ("holds no job", "Choose a project folder, its .plural/jobs, or the folder of one Job."),
    ("link", "Put the file itself in its place, then pack and upload again."),
    ("on the server", "Upload it again."),
    ("could not be", "See to the server’s disk and database, then try it again."),
    (
        "process that",
        "Try it again. If it ends so again, the server may lack memory: see the worker’s log.",
    ),
    ("fault of the site", "Try it again when that is mended."),
)
OTHERWISE = "Mend the file where it was recorded and upload again: what has landed is not added twice."


def find_import(project: Project, number: int) -> ImportRun:
    """Raises Http404."""
    runs = ImportRun.objects.select_related("actor", "undone_by", "project")
    run = runs.filter(project=project, pk=number).first() if number < 1 << 63 else None
    if run is None:
        raise Http404("No such import.")
    return run


# The list -------------------------------------------------------------------------------------------


def imports_page(project: Project, query: Mapping[str, str], *, can_write: bool) -> ImportsPage:
    runs: QuerySet[ImportRun] = ImportRun.objects.filter(project=project)
    cursor = query.get("cursor")
    runs = runs.select_related("actor").defer("report")
    page = paginate(runs, order=["-created_at"], cursor=cursor)
    path = _href("imports", project)
    return ImportsPage(
        crumbs=_crumbs(project, Crumb("Imports")),
        rows=tuple(_row(project, run) for run in page.items),
        first_href=path if cursor else "",
        next_href=with_query(path, {"cursor": page.next_cursor}) if page.next_cursor else "",
        new_href=_href("import-new", project) if can_write else "",
    )


def _row(project: Project, run: ImportRun) -> ImportRow:
    return ImportRow(
        source=clean_text(run.source) or DASH,
        href=_href("import", project, run.pk),
        status=run.status,
        tone=TONES.get(Status(run.status), ""),
        landed=_landed(run),
        by=_person(run.actor),
        at=datetime_text(run.created_at),
        took=_took(run),
    )


def _landed(run: ImportRun) -> str:
    words = {"updated": "brought up to date", "refused": "left out"}
    parts = [f"{count(run.counts[name])} {words.get(name, name)}" for name in RESULTS if run.counts.get(name)]
    return ", ".join(parts) or ("nothing" if run.finished_at else DASH)


def _person(person: User | None) -> str:
    return clean_text(person.name or person.email) if person else "a command on the server"


def _took(run: ImportRun) -> str:
    if run.started_at and run.finished_at:
        return seconds((run.finished_at - run.started_at).total_seconds())
    return DASH


# A new one ------------------------------------------------------------------------------------------


def new_page(project: Project, reader: User, *, error: str = "") -> ImportNewPage:
    mine = ImportRun.objects.filter(project=project, actor=reader, status=Status.UPLOADING)
    return ImportNewPage(
        crumbs=_crumbs(project, Crumb("Imports", _href("imports", project)), Crumb("Upload Jobs")),
        action=_href("import-new", project),
        begin_href=_href("upload", project),
        imports_href=_href("imports", project),
        limit=settings.UPLOAD_LIMIT,
        limit_text=bytes_text(settings.UPLOAD_LIMIT),
        error=error,
        unfinished=tuple(_unfinished(project, run) for run in mine.order_by("-beat_at")),
        needs_worker=not worker_is_there(),
        work_command=WORK_COMMAND,
        import_command=IMPORT_COMMAND.format(slug=project.slug),
    )


def _unfinished(project: Project, run: ImportRun) -> Unfinished:
    return Unfinished(
        source=clean_text(run.source),
        received=bytes_text(run.received),
        size=bytes_text(run.size),
        share=100 * run.received // run.size,
        at=datetime_text(run.beat_at),
        cancel_href=_href("import-cancel", project, run.pk),
    )


# One import -----------------------------------------------------------------------------------------


def import_page(project: Project, run: ImportRun, query: Mapping[str, str], *, can_write: bool) -> ImportPage:
    """Six queries at most."""
    path = _href("import", project, run.pk)
    is_active = run.status in ACTIVE
    jobs, total = _jobs(project, run, start := _start(query))
    groups = _problems(run.report.get("problems", []))
    ahead = start + MOST_JOBS < total
    is_upload = run.size > 0
    needs_worker = is_upload and is_active and run.status != Status.UPLOADING and not worker_is_there()
    return ImportPage(
        crumbs=_crumbs(project, Crumb("Imports", _href("imports", project)), Crumb(f"Import {run.pk}")),
        source=clean_text(run.source) or DASH,
        status=run.status,
        tone=TONES.get(Status(run.status), ""),
        summary=_summary(run),
        live_href=with_query(_href("import-live", project, run.pk), _from(start)) if is_active else "",
        reload_href=with_query(path, _from(start)),
        as_of=f"{timezone.now():%H:%M:%S} UTC",
        waits_for=_waits_for(project, run, needs_worker),
        progress=_progress(run) if is_active else None,
        facts=tuple(_facts(run)),
        problems=groups,
        jobs=jobs,
        jobs_heading=f"Jobs {start + 1} to {min(start + MOST_JOBS, total)} of {count(total)}"
        if total > MOST_JOBS
        else "Jobs",
        first_href=path if start else "",
        next_href=with_query(path, _from(start + MOST_JOBS)) if ahead else "",
        revisions=tuple(clean_text(text) for text in run.report.get("revisions", [])[:MOST_NOTES]),
        notes=tuple(_note(note) for note in run.report.get("notes", [])[:MOST_NOTES]),
        work_command=WORK_COMMAND if needs_worker else "",
        cancel_href=_href("import-cancel", project, run.pk)
        if can_write and run.status in (Status.UPLOADING, Status.QUEUED)
        else "",
        retry_href=_href("import-retry", project, run.pk) if can_write and can_retry(run) else "",
        undo_href=_href("import-undo", project, run.pk)
        if can_write and run.status in (Status.DONE, Status.FAILED) and run.counts.get("added")
        else "",
        new_href=_href("import-new", project) if can_write else "",
    )


def _start(query: Mapping[str, str]) -> int:
    text = query.get("from", "")
    return int(text) if text.isdecimal() and len(text) < 8 else 0


def _from(start: int) -> dict[str, str]:
    return {"from": str(start)} if start else {}


SUMMARIES = {
    Status.UPLOADING: "The upload has not ended. Choose the same file or folder again to go on with it.",
    Status.QUEUED: "Uploaded. It waits for its turn.",
    Status.RUNNING: "It is being imported. Each Job lands whole or not at all.",
    Status.CANCELLED: "The upload was cancelled. Nothing was imported.",
    Status.UNDONE: "It was undone: the Jobs that it added are gone.",
    Status.DONE: "All that was found is in.",
    Status.FAILED: "Nothing landed: see why below. It left nothing behind.",
}
PARTLY = "Not all that was found is in: see what was left out and why. The other Jobs landed whole."


def _summary(run: ImportRun) -> str:
    landed = any(run.counts.get(name) for name in ("added", "updated", "unchanged"))
    return PARTLY if run.status == Status.FAILED and landed else SUMMARIES[Status(run.status)]


def _waits_for(project: Project, run: ImportRun, needs_worker: bool) -> str:
    if run.status == Status.QUEUED and project.archived_at:
        return "This project is archived: it is imported when the project is brought back."
    if needs_worker:
        return "No worker was seen for half a minute, so nothing goes on. On the server, start one:"
    return ""


def _progress(run: ImportRun) -> Progress:
    if run.status == Status.UPLOADING:
        share = 100 * run.received // max(run.size, 1)
        return Progress("Uploaded", share, "100", f"{bytes_text(run.received)} of {bytes_text(run.size)}")
    if run.status == Status.QUEUED:
        return Progress("Waiting", 0, "", bytes_text(run.size))
    if not run.jobs_found:
        return Progress("Unpacking", 0, "", bytes_text(run.size) if run.size else "")
    text = f"{count(run.jobs_done)} of {count(run.jobs_found)} Jobs, {count(run.trials_done)} Trials added"
    return Progress("Imported", run.jobs_done, str(run.jobs_found), text)


def _facts(run: ImportRun) -> Iterable[Fact]:
    found = run.jobs_found or len(run.report.get("jobs", []))
    yield Fact("Jobs found", Figure(count(found) if run.started_at else DASH, "It has not begun yet."))
    for name in RESULTS:
        label = {"updated": "Brought up to date", "refused": "Left out"}.get(name, name.capitalize())
        known = run.counts.get(name)
        yield Fact(label, Figure(count(known), "" if known is not None else "It has not ended yet."))
    trials = run.counts.get("trials", run.trials_done)
    yield Fact("Trials added", Figure(count(trials)))
    if run.size:
        yield Fact("Uploaded", Figure(bytes_text(run.received), note=f"of {bytes_text(run.size)}"))
    yield Fact("By", Figure(_person(run.actor), note=datetime_text(run.created_at)))
    yield Fact("Took", Figure(_took(run), "" if run.finished_at else "It has not ended yet."))
    if run.tries > 1:
        yield Fact("Tries", Figure(count(run.tries), note="its process ended in between"))
    if run.undone_at:
        yield Fact("Undone", Figure(datetime_text(run.undone_at), note=f"by {_person(run.undone_by)}"))


def _jobs(project: Project, run: ImportRun, start: int) -> tuple[tuple[LandedJob, ...], int]:
    """What stands in the report, or, while it runs, what has landed so far."""
    reported = run.report.get("jobs")
    if reported is None:
        landed = run.jobs.filter(state=Job.State.READY).order_by("-updated_at", "-pk")
        shown = list(landed[start : start + MOST_JOBS])
        rows = [
            LandedJob(
                clean_text(job.client_job_id),
                job_href(project, job.client_job_id),
                "added" if job.added_by_id == run.pk else "updated",
                "good",
                count(job.recorded),
                (),
            )
            for job in shown
        ]
        return tuple(rows), start + len(rows)
    part = reported[start : start + MOST_JOBS]
    ids = [job["job_id"] for job in part if job["result"] != "refused"]
    there = set(
        Job.objects.visible(project).filter(client_job_id__in=ids).values_list("client_job_id", flat=True)
    )
    return tuple(_reported(project, job, there) for job in part), len(reported)


def _reported(project: Project, job: Mapping[str, Any], there: set[str]) -> LandedJob:
    ident, result = str(job["job_id"]), str(job["result"])
    trials = [f"{count(job['trials_added'])} added"] if job.get("trials_added") else []
    trials += [f"{count(job['trials_replaced'])} brought up to date"] if job.get("trials_replaced") else []
    notes = job.get("notes") or []
    return LandedJob(
        job_id=clean_text(ident),
        href=job_href(project, ident) if ident in there else "",
        result="left out" if result == "refused" else result,
        tone=RESULTS.get(result, ""),
        trials=", ".join(trials) or DASH,
        notes=tuple(_note(note) for note in notes[:MOST_PLACES]),
    )


def _note(note: Mapping[str, Any]) -> str:
    where = ": ".join(filter(None, (str(note.get("file", "")), str(note.get("field", "")))))
    return clean_text(f"{where}: {note.get('message', '')}" if where else str(note.get("message", "")))


def _problems(problems: Iterable[Mapping[str, Any]]) -> tuple[ProblemGroup, ...]:
    groups: dict[str, list[tuple[str, str]]] = {}
    for problem in problems:
        place = clean_text(str(problem["file"])), clean_text(str(problem["field"]))
        groups.setdefault(clean_text(str(problem["message"])), []).append(place)
    shown = list(groups.items())[:MOST_GROUPS]
    return tuple(
        ProblemGroup(message, advice(message), tuple(places[:MOST_PLACES]), max(0, len(places) - MOST_PLACES))
        for message, places in shown
    )


def advice(message: str) -> str:
    """What to do about a problem, by its message."""
    return next((words for part, words in ADVICE if part in message.lower()), OTHERWISE)


# Undoing --------------------------------------------------------------------------------------------


def undo_page(project: Project, run: ImportRun, *, hindrance: str = "") -> UndoPage:
    href = _href("import", project, run.pk)
    ids = list(going_jobs(run).order_by("pk").values_list("client_job_id", flat=True)[: MOST_JOBS + 1])
    gone = going(run)
    return UndoPage(
        crumbs=_crumbs(
            project,
            Crumb("Imports", _href("imports", project)),
            Crumb(f"Import {run.pk}", href),
            Crumb("Undo"),
        ),
        source=clean_text(run.source),
        action=_href("import-undo", project, run.pk),
        back_href=href,
        facts=(
            Fact("Jobs", Figure(count(gone.jobs))),
            Fact("Trials", Figure(count(gone.trials))),
            Fact("Files", Figure(bytes_text(gone.size))),
        ),
        going=tuple((clean_text(ident), job_href(project, ident)) for ident in ids[:MOST_JOBS]),
        more=max(0, gone.jobs - MOST_JOBS),
        staying=tuple(_staying(run)),
        hindrances=(hindrance,) if hindrance else tuple(blockers(run)),
    )


def _staying(run: ImportRun) -> Iterable[str]:
    for jobs, words in (
        (updated_jobs(run), "that it only brought up to date stay as they are now"),
        (grown_jobs(run), "that it added stay, since a later import has brought more of them"),
    ):
        if number := jobs.count():
            yield f"{count(number)} Job{'s' if number > 1 else ''} {words}."
    yield "Benchmarks, Tasks and Agents keep the revisions that came with it."


def _href(name: str, project: Project, *more: object) -> str:
    return reverse(f"jobs:{name}", args=[project.slug, *more])


def _crumbs(project: Project, *more: Crumb) -> tuple[Crumb, ...]:
    return (
        Crumb(project.name, reverse("jobs:project", args=[project.slug])),
        Crumb("Jobs", reverse("jobs:jobs", args=[project.slug])),
        *more,
    )
