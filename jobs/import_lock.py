"""One import at a time into a project, and what is left of those that died.

A run counts as alive while its process holds a lock on a file of its own, which the system lets go however
the process ends; on another host, while it was heard of within the hour.
"""

from __future__ import annotations

import fcntl
import shutil
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from jobs.domain.parsed import ImportProblemError
from jobs.models import ImportRun, Job
from plural_site.accounts.models import Project, User

SILENT_FOR = timedelta(hours=1)
LOOK_EVERY = 0.5
"""Seconds."""


@contextmanager
def claimed_run(
    *, project: Project, actor: User | None, source: str, patience: float | None, waiting: Callable[[], None]
) -> Iterator[ImportRun]:
    """A new run, as soon as no other one imports into the project; `waiting` is called if it has to wait.

    Raises ImportProblemError after `patience` seconds (None: never).
    """
    give_up = None if patience is None else time.monotonic() + patience
    waited = False
    lock = uuid.uuid4().hex
    with _held(_lock_file(lock)):
        while True:
            remove_leftovers()
            try:
                with transaction.atomic():
                    run = ImportRun.objects.create(
                        project=project,
                        actor=actor,
                        source=source,
                        host=socket.gethostname(),
                        lock=lock,
                        beat_at=timezone.now(),
                    )
                break
            except IntegrityError:
                if give_up is not None and time.monotonic() >= give_up:
                    raise ImportProblemError(
                        source, "", "another import into this project is running"
                    ) from None
            if not waited:
                waited = True
                waiting()
            time.sleep(LOOK_EVERY)
        yield run


def remove_leftovers() -> None:
    """Removes what imports left that died: half-written Jobs, which nothing shows, and scratch folders."""
    for run in ImportRun.objects.filter(status=ImportRun.Status.RUNNING):
        if not _is_alive(run):
            shutil.rmtree(scratch_folder(run), ignore_errors=True)
            _lock_file(run.lock).unlink(missing_ok=True)
            run.status, run.finished_at = ImportRun.Status.FAILED, timezone.now()
            run.save(update_fields=["status", "finished_at"])
    half_written = Job.objects.filter(state=Job.State.IMPORTING)
    half_written.exclude(import_run__status=ImportRun.Status.RUNNING).delete()


def scratch_folder(run: ImportRun) -> Path:
    return _scratch() / f"import-{run.pk}"


def _scratch() -> Path:
    folder = Path(settings.DATA_DIR) / "scratch"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _lock_file(lock: str) -> Path:
    return _scratch() / f"{lock}.lock"


@contextmanager
def _held(path: Path) -> Iterator[None]:
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _is_alive(run: ImportRun) -> bool:
    if run.host != socket.gethostname():
        return timezone.now() - run.beat_at < SILENT_FOR
    try:
        with _lock_file(run.lock).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
