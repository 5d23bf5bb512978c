"""The page of a Job with 100 Trials and of one with 100,000: time and queries of each way to look at it.

    python tests/perf/job_page.py [--store PATH] [--requests N]

Makes the small Job in a scratch database (SQLite, or the one that DATABASE_URL names) and the large one
beside it: imported from PATH (a folder as `import_jobs` takes it, with one Job) or, without, Trials added to
a small Job straight in the database. The number of queries must not change and the time hardly grow.
"""

# ruff: noqa: T201, PLC0415
# What is measured is printed; Django is set up before its modules are imported.

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[2]))

if TYPE_CHECKING:
    from django.test import Client

    from jobs.models import Job
    from plural_site.accounts.models import Project, User

SMALL, LARGE = 100, 100_000
ATTEMPTS, MANY = 20, 100
"""At each Task of the small Job and of the large one."""
WAYS = (
    "",
    "?sort=-score",
    "?sort=-cost",
    "?sort=time",
    "?sort=-tokens",
    "?sort=turns",
    "?sort=attempt",
    "?outcome=failed",
    "?error=timeout&sort=-cost",
    "?stop=max_turns",
    "?task=task&score_max=50",
    "?cost_min=0.01&time_max=100&sort=-time",
    "?tasks=2",
    "/live",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--store", type=Path, help="a recorded Job with as many Trials as wanted")
    parser.add_argument("--requests", type=int, default=9, help="requests a figure; the quickest counts")
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
    from django.test import Client

    from plural_site.accounts.actions import create_project, create_user, personal_account

    user = create_user(email=f"scale-{os.getpid()}@example.test")
    project = create_project(actor=user, account=personal_account(user), slug=f"scale-{os.getpid()}")
    small = recorded(project, user, data / "small", tasks=SMALL // ATTEMPTS, attempts=ATTEMPTS)
    if store:
        large = imported(project, user, store)
    else:
        large = recorded(project, user, data / "large", tasks=LARGE // MANY, attempts=1)
        grow(large, MANY)
    client = Client()
    client.force_login(user)
    print(f"{'':42} {small.recorded:>9} {large.recorded:>9} Trials  ratio  queries")
    for way in WAYS:
        sizes = [
            timed(client, f"/projects/{project.slug}/jobs/{job.client_job_id}{way}", requests)
            for job in (small, large)
        ]
        (few, few_queries), (many, many_queries) = sizes
        same = f"{few_queries}" if few_queries == many_queries else f"{few_queries} and {many_queries}"
        print(f"{way or 'the page':42} {few:6.1f} ms {many:6.1f} ms {many / few:12.2f}  {same}")
    few, queries = timed(client, f"/projects/{project.slug}/jobs", requests)
    print(f"{'the list of Jobs':42} {few:6.1f} ms {'':22}  {queries}")


def recorded(project: Project, user: User, folder: Path, *, tasks: int, attempts: int) -> Job:
    from tests.builders import BenchmarkSpec, make_job, track

    names = tuple(f"task-{number}" for number in range(tasks))
    spec = BenchmarkSpec(tasks=names, slug=folder.name, name=folder.name, tracks=(track(),))
    path = make_job(folder, benchmark=spec, attempts=attempts, track_id="open", key=folder.name)
    return imported(project, user, path)


def imported(project: Project, user: User, path: Path) -> Job:
    from jobs.imports import import_path
    from jobs.models import Job

    report = import_path(project=project, actor=user, path=path)
    if not report.landed:
        raise SystemExit(report.problems)
    return Job.objects.get(project=project, client_job_id=report.jobs[0].job_id)


def grow(job: Job, attempts: int) -> None:
    """Adds attempts at each Task of a Job that has one at each, and its figures."""
    from jobs.job_figures import record_figures
    from jobs.models import Trial
    from plural_site.db import bulk

    columns = [field.attname for field in Trial._meta.concrete_fields if not field.primary_key]
    models = list(Trial.objects.filter(job=job).values(*columns))
    for attempt in range(2, attempts + 1):
        rows = []
        for number, model in enumerate(models):
            score = (number * 7 + attempt) % 11 / 10
            changes = {
                "attempt": attempt,
                "client_trial_id": f"{model['client_trial_id']}-{attempt}",
                "score": score,
                "cost_usd": score / 7,
                "latency_seconds": (number + attempt) % 97 + 0.5,
            }
            rows.append(model | changes)
        bulk.insert(Trial, rows)
    agent = job.agents.get()
    agent.planned = len(models) * attempts
    agent.save()
    job.attempts = attempts
    job.save()
    record_figures(job, [agent])


def timed(client: Client, url: str, requests: int) -> tuple[float, int]:
    """Time in ms and number of queries of a warm request."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    times = []
    for _ in range(requests + 1):
        started = time.perf_counter()
        response = client.get(url)
        times.append((time.perf_counter() - started) * 1000)
        if response.status_code != 200:
            raise SystemExit(f"{url}: {response.status_code}")
    with CaptureQueriesContext(connection) as captured:
        client.get(url)
    return min(times), len(captured)


if __name__ == "__main__":
    main()
