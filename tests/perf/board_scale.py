"""The leaderboard at 10, 1,000 and 100,000 Trials: queries and time of a warm page, and of its JSON.

    python tests/perf/board_scale.py [--requests N]

Makes a small release in a scratch database (SQLite, or the one that DATABASE_URL names), then adds Trials
to its Jobs straight in the database. The number of queries must not change and the time must not grow.
"""

# ruff: noqa: T201, PLC0415
# What is measured is printed; Django is set up before its modules are imported.

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[2]))

if TYPE_CHECKING:
    from django.test import Client

    from benchmarks.models import Revision
    from plural_site.accounts.models import Project

SCALES = (10, 1_000, 100_000)
TASKS = tuple(f"task-{number}" for number in range(5))
AGENTS = ("one", "two")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--requests", type=int, default=30, help="requests a figure; the median counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        os.environ["DATA_DIR"] = data
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plural_site.settings")
        os.environ.setdefault("ALLOWED_HOSTS", "testserver")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure(Path(data), options.requests)


def measure(data: Path, requests: int) -> None:
    project, revision, client = prepare(data)
    page = f"/projects/{project.slug}/benchmarks/demo-bench@1.0.0"
    answer = f"/api/v1/benchmarks/demo-bench/revisions/1.0.0/leaderboard?project={project.slug}"
    print(f"{'Trials':>8} {'page ms':>9} {'queries':>8} {'JSON ms':>9} {'queries':>8}")
    first: list[float] = []
    for scale in SCALES:
        grow(revision, scale)
        figures = [figure for url in (page, answer) for figure in timed(client, url, requests)]
        print(f"{scale:8d} {figures[0]:9.1f} {figures[1]:8.0f} {figures[2]:9.1f} {figures[3]:8.0f}")
        first = first or figures
    print(f"growth of the page, {SCALES[0]} to {SCALES[-1]} Trials: {figures[0] / first[0]:.2f}")


def prepare(data: Path) -> tuple[Project, Revision, Client]:
    from django.test import Client

    from benchmarks.models import Revision
    from jobs.imports import import_path
    from plural_site.accounts.actions import create_project, create_user, personal_account
    from tests.builders import AgentSpec, BenchmarkSpec, make_job, track

    store = data / "project" / ".plural" / "jobs"
    benchmark = BenchmarkSpec(tasks=TASKS, tracks=(track("open"),))
    for name in AGENTS:
        make_job(
            store, benchmark=benchmark, agents=[AgentSpec(name=name, model=f"sim/{name}")], track_id="open"
        )
    user = create_user(email=f"scale-{os.getpid()}@example.test")
    project = create_project(actor=user, account=personal_account(user), slug=f"scale-{os.getpid()}")
    report = import_path(project=project, actor=user, path=store)
    if not report.landed:
        raise SystemExit(report.problems)
    client = Client()
    client.force_login(user)
    return project, Revision.objects.get(resource__project=project, resource__kind="benchmark"), client


def grow(revision: Revision, scale: int) -> None:
    """Adds attempts until the release has `scale` Trials, and brings the board up to date."""
    from jobs import tallies
    from jobs.models import JobAgent, Trial

    agents = list(JobAgent.objects.filter(job__revision=revision))
    each = scale // (len(agents) * len(TASKS))
    for agent in agents:
        models = list(Trial.objects.filter(job_agent=agent, attempt=1))
        top = Trial.objects.filter(job_agent=agent).order_by("-attempt").values_list("attempt", flat=True)[0]
        rows = []
        for model in models:
            for attempt in range(top + 1, each + 1):
                row = Trial(**{field.attname: getattr(model, field.attname) for field in Trial._meta.fields})
                row.pk, row.attempt = None, attempt
                row.client_trial_id = f"{model.client_trial_id}-{attempt}"
                row.score = (attempt % 7) / 7
                rows.append(row)
        Trial.objects.bulk_create(rows, batch_size=1000)
        agent.planned = each * len(TASKS)
        agent.save()
    started = time.perf_counter()
    tallies.rebuild(revision, "open@1.0.0", [agent.configuration_id for agent in agents])
    print(f"{'':8} tallies of {scale} Trials made in {time.perf_counter() - started:.2f} s")


def timed(client: Client, url: str, requests: int) -> tuple[float, float]:
    """Median time in ms and number of queries of a warm request."""
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
    return statistics.median(times[1:]), float(len(captured))


if __name__ == "__main__":
    main()
