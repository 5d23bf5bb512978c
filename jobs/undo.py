"""Taking an import back: the Jobs that it added go, whatever else it did stays."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from benchmarks.actions import lock_project
from benchmarks.domain.types import DomainError
from benchmarks.models import Revision
from jobs import tallies
from jobs.holds import has_holds, held
from jobs.import_lock import remove_leftovers
from jobs.models import Blob, ImportRun, Job, Trial
from jobs.removal import packs_of, remove_files, remove_unused, size_of
from plural_site.accounts.actions import record
from plural_site.accounts.models import Project, User
from plural_site.db.frozen import ThawError, thawed

MOST_REASONS = 5
ENDED = (ImportRun.Status.DONE, ImportRun.Status.FAILED)


@dataclass(frozen=True, slots=True)
class Going:
    """What goes when an import is undone. `size` in bytes, also of files that others hold as well."""

    jobs: int
    trials: int
    size: int


def blockers(run: ImportRun) -> list[str]:
    """Why this import can't be undone, as sentences; none where it can."""
    if run.status not in ENDED:
        return [f"Only an import that has ended can be undone; this one is {run.status}."]
    found = _held(run)
    running = ImportRun.objects.filter(project=run.project_id, status=ImportRun.Status.RUNNING)
    if running.exists():
        found.append("Another import into this project is running. Wait until it has ended.")
    if not going_jobs(run).exists():
        found.append("No Job that it added is there to be removed.")
    return found


def _held(run: ImportRun) -> list[str]:
    """What rests on the Jobs that would go, as sentences."""
    if not has_holds():
        return []
    reasons = sorted(set(held(list(going_jobs(run).values_list("pk", flat=True))).values()))
    more = len(reasons) - MOST_REASONS
    return reasons[:MOST_REASONS] + ([f"And {more} more of its Jobs are needed."] if more > 0 else [])


def going_jobs(run: ImportRun) -> QuerySet[Job]:
    """Jobs that it added and that no later import has brought more of."""
    return Job.objects.filter(added_by=run, import_run=run, state=Job.State.READY)


def grown_jobs(run: ImportRun) -> QuerySet[Job]:
    """Jobs that it added and that a later import has brought more of: they stay."""
    return Job.objects.filter(added_by=run, state=Job.State.READY).exclude(import_run=run)


def updated_jobs(run: ImportRun) -> QuerySet[Job]:
    """Jobs that it only brought up to date: they stay, as they are now."""
    return Job.objects.filter(import_run=run, state=Job.State.READY).exclude(added_by=run)


def going(run: ImportRun) -> Going:
    jobs = going_jobs(run)
    return Going(jobs.count(), Trial.objects.filter(job__in=jobs).count(), size_of(jobs))


def undo(*, actor: User, project: Project, run_id: int) -> ImportRun:
    """Removes the Jobs that an import added; their boards are up to date when this returns.

    Whole or not at all. Benchmarks keep their revisions. The caller has checked Need.WRITE. Raises
    DomainError where something hinders it, and ImportRun.DoesNotExist.
    """
    remove_leftovers()
    with transaction.atomic():
        lock_project(project)
        run = ImportRun.objects.select_for_update(of=("self",)).get(pk=run_id, project=project)
        if hindrances := blockers(run):
            raise DomainError(" ".join(hindrances))
        jobs = going_jobs(run)
        gone, packs, boards = going(run), packs_of(jobs), _boards(jobs)
        for job in jobs.only("pk"):  # one by one, since Django reads what it deletes into memory
            job.delete()
        revisions = Revision.objects.in_bulk({revision for revision, _ in boards})
        for (revision, track_ref), configurations in boards.items():
            tallies.rebuild(revisions[revision], track_ref, configurations)
        run.status, run.undone_at, run.undone_by = ImportRun.Status.UNDONE, timezone.now(), actor
        run.save(update_fields=["status", "undone_at", "undone_by"])
        what: dict[str, Any] = {"jobs": gone.jobs, "trials": gone.trials, "bytes": gone.size}
        record(actor, "import.undo", run, project=project, source=run.source, **what)
        try:
            with thawed(Blob):
                unused = remove_unused(packs)
        except ThawError as error:
            raise DomainError(str(error)) from error
        transaction.on_commit(partial(remove_files, unused))
    return run


def _boards(jobs: QuerySet[Job]) -> dict[tuple[int, str], set[int]]:
    """Configurations by the revision and track on which these Jobs count."""
    found: defaultdict[tuple[int, str], set[int]] = defaultdict(set)
    rows = jobs.filter(revision__isnull=False).order_by()
    for revision, track_ref, configuration in rows.values_list(
        "revision", "track_ref", "agents__configuration"
    ):
        found[revision, track_ref].add(configuration)
    return dict(found)
