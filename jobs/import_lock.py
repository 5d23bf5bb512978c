"""One import at a time into a project, and what is left of those that died.

A run counts as alive while its process holds a lock on a file of its own, which the system lets go however
the process ends; on another host, while it was heard of within the hour.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from jobs.domain.parsed import ImportProblemError
from jobs.models import FileHold, ImportRun, Job
from plural_site.accounts.actions import record
from plural_site.accounts.models import Machine, Project, User
from plural_site.db.turns import wait_in_turn

SILENT_FOR = timedelta(hours=1)
LOOK_EVERY = 0.5
"""Seconds."""
LOCK_SECONDS = 60
"""How old a lock file is at least that nobody waits to hold."""
BEGINNING = 7_301_640_412
"""What imports that begin share and the removal of files has alone. Any number that nobody else takes."""
PACK_SECONDS = 24 * 60 * 60
"""How old the folder of a new pack is that nobody writes any more."""
MOST_TRIES = 5
"""How often an upload is begun with whose process ends in the middle."""
DIED = "The process that imported it was ended before it was done, {tries} in a row."
DIED_ONCE = "The process that imported it was ended before it was done."


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
    with held_lock(lock_file(lock)):
        while True:
            remove_leftovers()
            try:
                with transaction.atomic():
                    wait_in_turn(BEGINNING, shared=True)
                    run = ImportRun.objects.create(
                        project=project,
                        actor=actor,
                        source=source,
                        **_held_by_this_process(lock),
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
        note_event(run, "import.start")
        yield run


@contextmanager
def claimed_from_queue() -> Iterator[ImportRun | None]:
    """The import that waits longest, of a project into which no other one runs; None where there is none."""
    if not ImportRun.objects.filter(status=ImportRun.Status.QUEUED).exists():
        yield None
        return
    lock = uuid.uuid4().hex
    with held_lock(lock_file(lock)):
        try:
            with transaction.atomic():
                wait_in_turn(BEGINNING, shared=True)
                run = _first_in_queue()
                if run:
                    for name, value in _held_by_this_process(lock, run.tries + 1).items():
                        setattr(run, name, value)
                    run.report, run.counts = {}, {}
                    run.jobs_found = run.jobs_done = run.trials_done = 0
                    run.save()
        except IntegrityError:  # a command began to import into the same project
            run = None
        yield run


@contextmanager
def no_import_begins() -> Iterator[None]:
    """A transaction in which no import begins, neither here nor on another machine."""
    with transaction.atomic():
        wait_in_turn(BEGINNING)
        yield


def _first_in_queue() -> ImportRun | None:
    runs = ImportRun.objects.select_for_update(skip_locked=True, of=("self",))
    running = ImportRun.objects.filter(status=ImportRun.Status.RUNNING).values("project")
    waiting = runs.filter(status=ImportRun.Status.QUEUED, project__archived_at__isnull=True)
    return waiting.exclude(project__in=running).order_by("pk").first()


def _held_by_this_process(lock: str, tries: int = 1) -> dict[str, Any]:
    now = timezone.now()
    return {
        "status": ImportRun.Status.RUNNING,
        "host": socket.gethostname(),
        "lock": lock,
        "beat_at": now,
        "started_at": now,
        "tries": tries,
    }


def remove_leftovers() -> int:
    """Removes what imports left that died: half-written Jobs, which nothing shows, and scratch folders.

    An upload goes back to the queue. Says of how many imports.
    """
    running = ImportRun.objects.filter(status=ImportRun.Status.RUNNING)
    dead = sum(let_go(run) for run in running if not is_alive(run))
    half_written = Job.objects.filter(state=Job.State.IMPORTING)
    half_written.exclude(import_run__status=ImportRun.Status.RUNNING).delete()
    return dead


def remove_locks() -> None:
    """Removes what processes left in the scratch folder that were ended: lock files, and new packs."""
    for folder in scratch_root().glob("trim-*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime > PACK_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
    for path in scratch_root().glob("*.lock"):
        try:
            if time.time() - path.stat().st_mtime < LOCK_SECONDS:
                continue
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
        except (FileNotFoundError, BlockingIOError):
            continue


def let_go(run: ImportRun, *, counts: bool = True, why: str = "") -> bool:
    """Ends an import that will not go on: an upload waits again, unless that was its last try.

    `counts`: as a try. Returns whether it was still to be ended; somebody else may have done it.
    """
    with transaction.atomic():
        runs = ImportRun.objects.select_for_update(of=("self",)).select_related("project", "actor")
        held = runs.filter(pk=run.pk, status=ImportRun.Status.RUNNING, lock=run.lock).first()
        if held is None:
            return False
        shutil.rmtree(scratch_folder(held), ignore_errors=True)
        lock_file(held.lock).unlink(missing_ok=True)
        Job.objects.filter(import_run=held, state=Job.State.IMPORTING).delete()
        if held.size and (held.tries < MOST_TRIES or not counts):
            held.status = ImportRun.Status.QUEUED
            held.tries -= not counts
            held.save()
            return True
        times = f"{held.tries} times" if held.tries > 1 else "once"
        message = why or (DIED.format(tries=times) if held.size else DIED_ONCE)
        added = list(held.added_jobs.order_by("pk").values_list("client_job_id", "recorded"))
        problem = {"file": held.source, "field": "", "message": message}
        jobs = [
            {"folder": job, "job_id": job, "result": "added", "trials_added": trials, "notes": []}
            for job, trials in added
        ]
        report = {"landed": False, "added": len(added), "jobs": jobs, "problems": [problem]}
        report["trials_added"] = sum(trials for _, trials in added)
        end_run(held, report)
        return True


def end_run(run: ImportRun, report: dict[str, Any]) -> None:
    """Writes down how an import ended, as `ImportReport.as_dict` tells it."""
    counts = {name: report.get(name, 0) for name in ("added", "updated", "unchanged", "refused")}
    run.status = ImportRun.Status.DONE if report["landed"] else ImportRun.Status.FAILED
    run.report, run.finished_at = report, timezone.now()
    run.counts = {**counts, "trials": report.get("trials_added", 0), "problems": len(report["problems"])}
    with transaction.atomic():
        run.save()
        note_event(run, "import.done", **run.counts)


def note_event(run: ImportRun, verb: str, **detail: Any) -> None:
    """An audit event of whoever imports; a run without a person is that of a command on the server."""
    actor = run.actor or Machine.COMMAND
    record(actor, verb, run, project=run.project, source=run.source, **detail)


def scratch_folder(run: ImportRun) -> Path:
    return scratch_root() / f"import-{run.pk}"


def scratch_root() -> Path:
    """Where files lie that are still to become blobs."""
    folder = Path(settings.DATA_DIR) / "scratch"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def lock_file(lock: str) -> Path:
    """What a process holds for as long as it lives."""
    return scratch_root() / f"{lock}.lock"


@contextmanager
def held_lock(path: Path) -> Iterator[None]:
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def is_alive(run: ImportRun | FileHold) -> bool:
    """Whether the process lives that imports, or holds files."""
    if run.host != socket.gethostname():
        return timezone.now() - run.beat_at < SILENT_FOR
    try:
        with lock_file(run.lock).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
