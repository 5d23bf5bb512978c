"""Searching a Job of 10,000 Trials with 10 steps each: index rate, size of the index, time of questions.

    python tests/perf/search_rate.py [--store PATH] [--requests N]

Imports PATH (a folder or archive as `import_jobs` takes it, with one Job) or, without, a Job made for it into
a scratch database: SQLite, or the one that DATABASE_URL names. Sizes are of tables with their indexes.
"""

# ruff: noqa: T201, PLC0415, S608
# What is measured is printed; Django is set up before its modules are imported; names of tables are ours.

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[2]))

if TYPE_CHECKING:
    from jobs.models import Job
    from plural_site.accounts.models import Project, User

AGENTS, TASKS, ATTEMPTS, STEPS = 10, 100, 10, 10
RARE = "the only needle in all of it"
QUESTIONS = {
    "hits one step": RARE.upper(),
    "hits nothing": "no such words anywhere",
    "hits everywhere": "step",
    "a phrase, everywhere": "nothing to see here",
    "signs alone": ':"',
    "signs alone, three": '":{',
    "two characters": "lo",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--store", type=Path, help="a recorded Job with as many Trials as wanted")
    parser.add_argument("--requests", type=int, default=5, help="requests a figure; the quickest counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        os.environ["DATA_DIR"] = data
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plural_site.settings")
        os.environ.setdefault("ALLOWED_HOSTS", "testserver")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure(Path(data), options.store, options.requests)


def measure(data: Path, store: Path | None, requests: int) -> None:
    from jobs.models import StepText, Trial
    from jobs.search import find
    from jobs.search_texts import fold, index_texts
    from plural_site.accounts.actions import create_project, create_user, personal_account

    user = create_user(email=f"scale-{os.getpid()}@example.test")
    project = create_project(actor=user, account=personal_account(user), slug=f"scale-{os.getpid()}")
    job = imported(project, user, store or made(data / "store"))
    started = time.perf_counter()
    done = index_texts([job.pk])
    taken = time.perf_counter() - started
    one = StepText.objects.order_by("-pk").first()
    assert one
    one.text, one.folded = f"{one.text} {RARE}", f"{one.folded} {fold(RARE)}"
    one.save()
    characters = sum(len(text) for text in StepText.objects.values_list("text", flat=True).iterator())
    print(f"{done} Trials, {StepText.objects.count()} texts, {characters / 1e6:.0f} MB of text")
    print(f"indexed in {taken:.1f} s: {done / taken:.0f} Trials/s, {characters / 1e6 / taken:.1f} MB/s")
    for name, size in sizes().items():
        print(f"{name:28} {size / 1e6:8.0f} MB {size / characters:6.2f} x the text")
    trials = list(Trial.objects.filter(job=job).values_list("pk", flat=True))
    for name, question in QUESTIONS.items():
        found = find(question, trials)
        ms = quickest(lambda: find(question, trials), requests)  # noqa: B023
        stop = " (bounded)" if found.stopped_at else ""
        print(f"{name:24} {len(found.steps):6} Trials {sum(found.steps.values()):7} steps {ms:7.1f} ms{stop}")
    pages(project, user, job, requests)


def pages(project: Project, user: User, job: Job, requests: int) -> None:
    from django.test import Client

    client = Client()
    client.force_login(user)
    for name, question in QUESTIONS.items():
        path = f"/projects/{project.slug}/jobs/{job.client_job_id}/search"
        response = client.get(path, {"q": question})
        if response.status_code != 200:
            raise SystemExit(f"{path}: {response.status_code}")
        ms = quickest(lambda: client.get(path, {"q": question}), requests)  # noqa: B023
        print(f"page: {name:24} {ms:7.1f} ms, {len(response.content) / 1e3:.0f} kB")


def quickest(work: Callable[[], object], times: int) -> float:
    """Milliseconds."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return 1000 * min(taken)


def sizes() -> dict[str, int]:
    from django.db import connection

    from jobs.search_tables import INDEX, TABLE, TRIGRAM_INDEX

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT pg_table_size(%s), pg_indexes_size(%s), pg_relation_size(%s)",
                [TABLE, TABLE, TRIGRAM_INDEX],
            )
            table, indexes, own = cursor.fetchone()
            return {"texts and their indexes": table + indexes - own, "trigram index": own}
        cursor.execute(f"SELECT sum(length(block)) FROM {INDEX}_data")
        (own,) = cursor.fetchone()
        cursor.execute(f"SELECT sum(length(CAST(text AS BLOB)) + length(CAST(folded AS BLOB))) FROM {TABLE}")
        (texts,) = cursor.fetchone()
        return {"texts": texts, "trigram index": own}


def made(folder: Path) -> Path:
    from tests.builders import BenchmarkSpec, agents_named, make_job

    names = tuple(f"task-{number}" for number in range(TASKS))
    agents = agents_named(f"agent-{number}" for number in range(AGENTS))
    return make_job(folder, benchmark=BenchmarkSpec(tasks=names), agents=agents, attempts=ATTEMPTS)


def imported(project: Project, user: User, path: Path) -> Job:
    from jobs.imports import import_path
    from jobs.models import Job

    report = import_path(project=project, actor=user, path=path)
    if not report.landed:
        raise SystemExit(report.problems)
    return Job.objects.get(project=project, client_job_id=report.jobs[0].job_id)


if __name__ == "__main__":
    main()
