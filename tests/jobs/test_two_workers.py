"""Several workers on one PostgreSQL: each import is taken by one of them, and once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from jobs.import_lock import claimed_from_queue
from jobs.models import ImportRun, Job, Trial, Worker
from plural_site.accounts.actions import create_project, personal_account
from plural_site.accounts.models import Project, User
from tests.builders import BenchmarkSpec, make_job, track
from tests.serving import wait_for
from tests.uploading import enqueue, packed

PROJECTS, EACH, WORKERS = 4, 3, 2
ENDED = ("done", "failed")


@pytest.fixture
def queued(transactional_db: None, ann: User, tmp_path: Path) -> list[ImportRun]:
    """Uploads of one Job each, in turn into each of the projects."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is for one worker.")
    account = personal_account(ann)
    projects = [create_project(actor=ann, account=account, slug=f"p{number}") for number in range(PROJECTS)]
    return [
        _upload(project, ann, tmp_path, f"{project.slug}-{number}")
        for number in range(EACH)
        for project in projects
    ]


def _upload(project: Project, ann: User, folder: Path, key: str) -> ImportRun:
    make_job(folder / key, benchmark=BenchmarkSpec(tracks=(track(),)), track_id="open", key=key)
    return enqueue(project, ann, packed(folder / key))


def test_workers_that_ask_at_once_get_different_imports_of_different_projects(
    queued: list[ImportRun],
) -> None:
    claimed: list[ImportRun] = []
    all_have = threading.Barrier(PROJECTS)

    def worker() -> None:
        try:
            give_up = time.monotonic() + 30
            while time.monotonic() < give_up:
                with claimed_from_queue() as run:
                    if run is not None:
                        claimed.append(run)
                        all_have.wait(30)
                        return
                time.sleep(0.01)  # another was faster with the same project
        finally:
            connection.close()

    workers = [threading.Thread(target=worker) for _ in range(PROJECTS)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    assert len({run.pk for run in claimed}) == PROJECTS
    assert {run.project.slug for run in claimed} == {f"p{number}" for number in range(PROJECTS)}
    assert ImportRun.objects.filter(status="running", tries=1).count() == PROJECTS


@pytest.fixture
def archived(queued: list[ImportRun]) -> None:
    Project.objects.update(archived_at=timezone.now())


@pytest.fixture
def workers() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes as `manage.py work` runs them, on the database of the tests."""
    database = connection.settings_dict
    address = f"{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT'] or 5432}"
    kept = ("PATH", "HOME", "LANG", "VIRTUAL_ENV", "PYTHONPATH")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"DATA_DIR": str(settings.DATA_DIR), "LOG_FORMAT": "json"}
    environment["DATABASE_URL"] = f"postgres://{address}/{database['NAME']}"
    started = [
        subprocess.Popen(
            [sys.executable, "manage.py", "work"],
            cwd=settings.BASE_DIR,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(WORKERS)
    ]
    yield started
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


def test_two_workers_share_the_queue_and_do_nothing_twice(
    queued: list[ImportRun], archived: None, workers: list[subprocess.Popen[str]]
) -> None:
    wait_for(lambda: Worker.objects.count() == WORKERS, "the workers did not come up")
    Project.objects.update(archived_at=None)  # nothing of an archived project is begun with
    wait_for(lambda: not ImportRun.objects.exclude(status__in=ENDED).exists(), patience=120)
    by_worker = []
    for process in workers:
        process.terminate()
        lines = [json.loads(line) for line in process.communicate()[1].splitlines() if line.startswith("{")]
        assert process.returncode == 0, lines
        assert [line for line in lines if line["level"] == "error"] == []
        by_worker.append([line["import"] for line in lines if "into p" in line["message"]])
    assert sorted(sum(by_worker, [])) == sorted(run.pk for run in queued)
    assert all(by_worker), by_worker
    states = set(ImportRun.objects.values_list("status", "tries"))
    assert states == {("done", 1)}
    assert (Job.objects.count(), Trial.objects.count()) == (PROJECTS * EACH, 2 * PROJECTS * EACH)
