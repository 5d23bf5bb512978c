"""The worker: killed at any point it leaves nothing half and loses nothing; bad archives leave nothing."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from benchmarks.models import Resource
from jobs import import_lock, queue, uploads
from jobs.import_lock import MOST_TRIES, claimed_from_queue, is_alive, let_go, remove_leftovers
from jobs.imports import import_claimed
from jobs.models import Blob, ImportRun, Job, Tally, Trial
from plural_site.accounts.models import AuditEvent, Project, User
from tests.builders import BenchmarkSpec, make_job, track
from tests.importing import files_below
from tests.sites import SEED, Site
from tests.uploading import enqueue, malformed, packed

SPEC = BenchmarkSpec(tracks=(track(),))
UPLOADS, SECONDS = 20, 14


@pytest.fixture(autouse=True)
def _no_files() -> Iterator[None]:
    """Rows of a test are rolled back, files are not."""
    for name in ("blobs", "uploads", "scratch"):
        remove_files(name)
    yield
    for name in ("blobs", "uploads", "scratch"):
        remove_files(name)


def remove_files(name: str) -> None:
    for path in (Path(settings.DATA_DIR) / name).rglob("*"):
        if path.is_file():
            path.unlink()


def work() -> None:
    call_command("work", "--once")


def queued(project: Project, actor: User, folder: Path, key: str) -> ImportRun:
    make_job(folder, benchmark=SPEC, track_id="open", key=key)
    return enqueue(project, actor, packed(folder))


def nothing_is_left(project: Project) -> None:
    assert not Job.objects.filter(project=project).exists()
    assert not Trial.objects.exists()
    assert not Tally.objects.exists()
    assert not Blob.objects.exists()
    assert not Resource.objects.for_project(project).exists()
    assert files_below("blobs") == set()
    assert files_below("scratch") == set()


def test_worker_imports_in_order_one_project_at_a_time(project: Project, ann: User, tmp_path: Path) -> None:
    first, second = (queued(project, ann, tmp_path / key, key) for key in "ab")
    with claimed_from_queue() as run:
        assert run == first
        assert is_alive(run)
        with claimed_from_queue() as other:
            assert other is None  # the project is taken
        assert run is not None
        import_claimed(run, lambda scratch: uploads.opened(first, scratch))
    with claimed_from_queue() as run:
        assert run == second


def test_upload_waits_while_its_project_is_archived(project: Project, ann: User, tmp_path: Path) -> None:
    run = queued(project, ann, tmp_path, "a")
    Project.objects.filter(pk=project.pk).update(archived_at=run.beat_at)
    work()
    run.refresh_from_db()
    assert run.status == "queued"
    Project.objects.filter(pk=project.pk).update(archived_at=None)
    work()
    run.refresh_from_db()
    assert run.status == "done"


def test_upload_whose_worker_dies_each_time_fails_with_the_reason(
    project: Project, ann: User, tmp_path: Path
) -> None:
    run = queued(project, ann, tmp_path, "a")
    for tried in range(1, MOST_TRIES + 1):
        with claimed_from_queue() as held:
            assert held == run
        run.refresh_from_db()
        assert (run.status, run.tries) == ("running", tried)
        assert not is_alive(run)
        assert remove_leftovers() == 1
    run.refresh_from_db()
    assert (run.status, run.counts["problems"]) == ("failed", 1)
    assert "5 times in a row" in run.report["problems"][0]["message"]
    assert uploads.can_retry(run)
    assert AuditEvent.objects.filter(verb="import.done").count() == 1
    uploads.retry(run)
    work()
    run.refresh_from_db()
    assert (run.status, run.counts["added"]) == ("done", 1)


def test_import_that_went_on_tells_of_what_landed_before(
    project: Project, ann: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_job(tmp_path, benchmark=SPEC, track_id="open", key="a")
    run = queued(project, ann, tmp_path, "b")
    with claimed_from_queue() as held:
        assert held is not None
        import_claimed(held, lambda scratch: uploads.opened(run, scratch))
    Job.objects.order_by("pk")[1].delete()
    ImportRun.objects.update(status="running")  # as if it had died after the first Job
    remove_leftovers()
    work()
    run.refresh_from_db()
    assert (run.status, run.tries, run.counts["added"], run.counts["trials"]) == ("done", 2, 2, 4)
    assert run.added_jobs.count() == 2


def test_somebody_else_may_have_ended_a_dead_import(project: Project, ann: User, tmp_path: Path) -> None:
    queued(project, ann, tmp_path, "a")
    with claimed_from_queue() as held:
        pass
    assert held is not None
    assert let_go(held)
    with claimed_from_queue() as again:
        assert again is not None
        assert not let_go(held)  # it has another lock now
        again.refresh_from_db()
        assert again.status == "running"


def test_fault_of_the_site_is_tried_again_and_then_named(
    project: Project, ann: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = queued(project, ann, tmp_path, "a")

    def breaks(*args: Any) -> None:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(queue, "import_claimed", breaks)
    work()
    run.refresh_from_db()
    assert (run.status, run.tries) == ("failed", MOST_TRIES)
    assert "RuntimeError" in run.report["problems"][0]["message"]


def test_part_that_rots_on_the_server_is_noticed(project: Project, ann: User, tmp_path: Path) -> None:
    run = queued(project, ann, tmp_path, "a")
    (name,) = run.parts.values_list("name", flat=True)
    path = Path(settings.DATA_DIR) / "uploads" / name
    path.write_bytes(bytes(path.stat().st_size))
    work()
    run.refresh_from_db()
    assert run.status == "failed"
    assert "damaged on the server" in run.report["problems"][0]["message"]
    nothing_is_left(project)


def test_fifty_malformed_archives_fail_with_file_and_field_and_leave_nothing(
    project: Project, ann: User, tmp_path: Path
) -> None:
    cases = list(malformed(tmp_path))
    assert len(cases) >= 50
    runs = [enqueue(project, ann, case.data, case.name) for case in cases]
    work()
    wrong = []
    for case, run in zip(cases, runs, strict=True):
        run.refresh_from_db()
        (problem,) = run.report["problems"] or [{"file": "", "field": "", "message": ""}]
        named = problem["file"].endswith(case.file) and problem["field"] == case.field
        if run.status != "failed" or not named or not problem["message"]:
            wrong.append(f"{case.what}: {run.status}, {problem}")
    assert wrong == []
    nothing_is_left(project)


def test_lock_file_of_nobody_goes_and_one_that_is_held_stays(
    project: Project, ann: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued(project, ann, tmp_path, "a")
    monkeypatch.setattr(import_lock, "LOCK_SECONDS", -1)
    with claimed_from_queue() as held:
        assert held is not None
        (Path(settings.DATA_DIR) / "scratch" / "stray.lock").touch()
        import_lock.remove_locks()
        assert files_below("scratch") == {f"{held.lock}.lock"}


# Killing --------------------------------------------------------------------------------------------------


def test_worker_killed_at_random_points_leaves_nothing_half_and_loses_nothing(tmp_path: Path) -> None:
    for number in range(UPLOADS):
        folder = tmp_path / "jobs" / str(number)
        make_job(folder, benchmark=SPEC, track_id="open", key=str(number))
        (tmp_path / f"{number:02d}.tgz").write_bytes(packed(folder))
    site = Site(tmp_path / "data")
    site.run("-c", SEED, str(tmp_path))
    ended = "SELECT count(*) FROM jobs_importrun WHERE status IN ('done', 'failed')"
    give_up, kills, chance = time.monotonic() + SECONDS, 0, random.Random(7)  # noqa: S311
    while time.monotonic() < give_up and site.rows(ended)[0][0] < UPLOADS - 2:
        worker = site.worker()
        began = site.rows(ended)[0][0]
        started = time.monotonic()
        # It is up once it has ended one import or begun it; then it lives a moment only.
        while time.monotonic() < started + 8 and not site.rows(
            "SELECT 1 FROM jobs_importrun WHERE status = 'running'"
        ):
            if site.rows(ended)[0][0] > began:
                break
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.4))
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        kills += 1
        half = "SELECT count(*) FROM jobs_job WHERE state != 'ready' AND recorded > 0"
        assert site.rows(half)[0][0] == 0
    assert kills >= 2
    site.run("manage.py", "work", "--once")
    assert site.rows("SELECT DISTINCT status FROM jobs_importrun") == [("done",)]
    counted = "SELECT count(*), count(DISTINCT client_job_id) FROM jobs_job WHERE state = 'ready'"
    assert site.rows(counted) == [(UPLOADS, UPLOADS)]
    assert site.rows("SELECT count(*) FROM jobs_trial") == [(2 * UPLOADS,)]
    assert site.rows("SELECT count(*) FROM jobs_execution") == [(2 * UPLOADS,)]
    assert site.rows("SELECT min(attempts), max(attempts) FROM jobs_tally WHERE scope = 'overall'") == [
        (2 * UPLOADS, 2 * UPLOADS)
    ]
    added = sum(row[0] for row in site.rows("SELECT json_extract(counts, '$.added') FROM jobs_importrun"))
    assert added == UPLOADS
    stored = {f"sha256:{path.name}" for path in (site.data / "blobs").rglob("*") if path.is_file()}
    assert stored == {digest for (digest,) in site.rows("SELECT digest FROM jobs_blob")}
    left = [
        path for name in ("uploads", "scratch") for path in (site.data / name).rglob("*") if path.is_file()
    ]
    assert [path for path in left if path.suffix != ".lock"] == []  # those go later, when surely nobody's


def test_worker_ends_cleanly_on_sigterm_and_with_its_parent(tmp_path: Path) -> None:
    site = Site(tmp_path / "data")
    site.run("manage.py", "migrate", "--verbosity", "0")
    worker = site.worker()
    seen = "SELECT count(*) FROM jobs_worker"
    deadline = time.monotonic() + 30
    while not site.rows(seen)[0][0] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert site.rows(seen) == [(1,)]
    worker.terminate()
    assert worker.wait(timeout=20) == 0
    assert site.rows(seen) == [(0,)]
    orphan = site.run("manage.py", "work", "--parent", "1")
    assert orphan.returncode == 0


def test_sigterm_in_the_middle_puts_the_import_back(tmp_path: Path) -> None:
    for number in range(6):
        make_job(tmp_path / "jobs", benchmark=SPEC, track_id="open", key=str(number), attempts=150)
    (tmp_path / "large.tgz").write_bytes(packed(tmp_path / "jobs"))
    site = Site(tmp_path / "data")
    site.run("-c", SEED, str(tmp_path))
    worker = site.worker()
    deadline = time.monotonic() + 30
    while not site.rows("SELECT 1 FROM jobs_job WHERE state = 'ready'") and time.monotonic() < deadline:
        time.sleep(0.01)
    worker.terminate()
    assert worker.wait(timeout=20) == 0
    assert site.rows("SELECT status, tries FROM jobs_importrun") == [("queued", 0)]
    landed = site.rows("SELECT count(*) FROM jobs_job WHERE state = 'ready'")[0][0]
    assert 0 < landed < 6
    assert site.rows("SELECT count(*) FROM jobs_job") == [(landed,)]
    site.run("manage.py", "work", "--once")
    assert site.rows("SELECT status, jobs_done, trials_done FROM jobs_importrun")[0][0] == "done"
    assert site.rows("SELECT count(*) FROM jobs_trial") == [(6 * 300,)]
