"""The worker's part: imports from the queue, one after another, and what is to be done besides.

It may be killed at any point. What it leaves is removed when one looks next; an upload whose worker died goes
back to the queue, and since an import adds nothing twice, it then does what was left.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import DatabaseError
from django.utils import timezone

from jobs import uploads
from jobs.file_holds import end_dead
from jobs.import_lock import claimed_from_queue, is_alive, let_go, remove_leftovers, remove_locks
from jobs.imports import import_claimed
from jobs.models import ImportRun, Job, Worker
from jobs.removal import remove_files
from jobs.search_texts import index_texts, progress
from jobs.trimming import Trimmed, apply_rule, ruled_projects
from plural_site.accounts.models import Machine, Project
from plural_site.db import blobs
from plural_site.logging import noted

log = logging.getLogger(__name__)

SEEN_FOR = timedelta(seconds=30)
BEAT_SECONDS, CLEAN_SECONDS, INDEX_SECONDS, RETAIN_SECONDS = 5.0, 600.0, 2.0, 600.0
FORGOTTEN_AFTER = timedelta(days=1)
BROKE = "The import stopped at a fault of the site ({error}); the worker's log tells more."


def worker_is_there() -> bool:
    """Whether a worker was heard of within half a minute, or is busy with an import."""
    if Worker.objects.filter(beat_at__gte=timezone.now() - SEEN_FOR).exists():
        return True
    running = ImportRun.objects.filter(status=ImportRun.Status.RUNNING, size__gt=0)
    return any(is_alive(run) for run in running)


class QueueWorker:
    """One process that works. Not for several threads."""

    def __init__(self) -> None:
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._beat_at = self._cleaned_at = float("-inf")
        self._indexed_to: datetime | None = None
        self._to_index: list[int] = []
        self._has_orphans = False
        self._retained_at = float("-inf")
        self._trimming: Iterator[tuple[Project, Trimmed]] | None = None

    def step(self) -> bool:
        """Does one piece of work. Says whether there was an import to do."""
        self._beat()
        self._clean()
        if self._import():
            return True
        self._collect()
        self._retain()
        self._index()
        return False

    def end(self) -> None:
        Worker.objects.filter(name=self._name).delete()

    def _beat(self) -> None:
        if time.monotonic() - self._beat_at < BEAT_SECONDS:
            return
        Worker.objects.update_or_create(name=self._name, defaults={"beat_at": timezone.now()})
        self._beat_at = time.monotonic()

    def _clean(self) -> None:
        if remove_leftovers() or end_dead():
            self._has_orphans = True
        if time.monotonic() - self._cleaned_at >= CLEAN_SECONDS:
            uploads.remove_old()
            remove_locks()
            Worker.objects.filter(beat_at__lt=timezone.now() - FORGOTTEN_AFTER).delete()
            self._cleaned_at = time.monotonic()

    def _import(self) -> bool:
        with claimed_from_queue() as run:
            if run is None:
                return False
            with noted(**{"import": run.pk, "project": run.project.slug}):
                self._import_run(run)
        return True

    def _import_run(self, run: ImportRun) -> None:
        log.info("Import %s of %s into %s: try %s", run.pk, run.source, run.project.slug, run.tries)
        try:
            import_claimed(run, lambda scratch: uploads.opened(run, scratch))
        except Exception as error:
            log.exception("Import %s could not be done", run.pk)
            let_go(run, why=BROKE.format(error=type(error).__name__))
            self._has_orphans = True
            if isinstance(error, DatabaseError):
                raise
            return
        except BaseException:
            let_go(run, counts=False)
            raise
        log.info("Import %s: %s %s", run.pk, run.status, run.counts)
        self._has_orphans |= blobs.is_remote() and run.status == ImportRun.Status.FAILED
        if run.status == ImportRun.Status.DONE:
            uploads.drop_parts(run)

    def _collect(self) -> None:
        """An import that died, or was refused by the database, may have left files that no row names."""
        if self._has_orphans:
            remove_files(list(blobs.stored()))
            self._has_orphans = False

    def _retain(self) -> None:
        """What retention rules say, a Job at a time: an import may come any moment."""
        if self._trimming is None and time.monotonic() - self._retained_at >= RETAIN_SECONDS:
            self._retained_at = time.monotonic()
            self._trimming = _by_rules()
        if self._trimming is None:
            return
        try:
            project, job = next(self._trimming)
        except StopIteration:
            self._trimming = None
            return
        if job.problem:
            log.warning("Retention of %s: %s keeps its files: %s", project.slug, job.job_id, job.problem)
        else:
            log.info("Retention of %s: %s files gone from %s", project.slug, job.files, job.job_id)

    def _index(self) -> None:
        """Texts for the search over Trials, a little at a time: an import may come any moment."""
        if not self._to_index:
            landed = Job.objects.filter(state=Job.State.READY)
            if self._indexed_to:
                landed = landed.filter(updated_at__gt=self._indexed_to)
            rows = list(landed.order_by("-updated_at").values_list("pk", "updated_at"))
            self._to_index = [key for key, _ in reversed(rows)]
            self._indexed_to = rows[0][1] if rows else self._indexed_to
        give_up = time.monotonic() + INDEX_SECONDS
        while self._to_index and (left := give_up - time.monotonic()) > 0:
            job = self._to_index[-1]
            index_texts([job], left)
            if progress([job]).is_done:
                self._to_index.pop()


def _by_rules() -> Iterator[tuple[Project, Trimmed]]:
    for project in ruled_projects():
        for trimmed in apply_rule(project, Machine.WORKER):
            yield project, trimmed
