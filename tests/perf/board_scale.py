"""The leaderboard at 10, 1,000 and 100,000 Trials: queries and time of a warm page, and of its JSON.
Then boards of 10, 50 and 200 entries, and comparisons of 11 entries at 30, 300 and 3,000 Tasks.

    python tests/perf/board_scale.py [--requests N]

Makes a small release in a scratch database (SQLite, or the one that DATABASE_URL names), then adds Trials
to its Jobs straight in the database. The number of queries must not change. The time must not grow with
Trials; with entries and Tasks it may grow as they do, and no faster.
"""

# ruff: noqa: T201, PLC0415
# What is measured is printed; Django is set up before its modules are imported.

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[2]))

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.test import Client

    from benchmarks.models import Revision
    from plural_site.accounts.models import Project

SCALES = (10, 1_000, 100_000)
ENTRIES = (10, 50, 200)
RELEASES = (30, 300, 3_000)
TASKS = tuple(f"task-{number}" for number in range(5))
AGENTS = ("one", "two")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--requests", type=int, default=9, help="requests a figure; the median counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        os.environ["DATA_DIR"] = data
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plural_site.settings")
        os.environ.setdefault("ALLOWED_HOSTS", "testserver")
        import django
        from django.core.management import call_command
        from django.test.utils import setup_test_environment

        django.setup()
        setup_test_environment()
        call_command("migrate", verbosity=0)
        measure_trials(Path(data) / "trials", options.requests)
        measure_entries(Path(data) / "entries", options.requests)
        measure_tasks(Path(data) / "tasks", options.requests)


def measure_trials(data: Path, requests: int) -> None:
    project, revision, client = prepare(data, AGENTS, every_task=True)
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


def measure_entries(data: Path, requests: int) -> None:
    head("entries", "board", "grid", "chart")
    first: list[float] = []
    for entries in ENTRIES:
        names = tuple(f"agent-{number:03}" for number in range(entries))
        project, revision, client = prepare(data / str(entries), names)
        fill(revision, 20)
        page = f"/projects/{project.slug}/benchmarks/demo-bench@1.0.0"
        figures = [
            figure for part in ("", "/grid", "/chart.json") for figure in timed(client, page + part, requests)
        ]
        print(f"{entries:8d}" + "".join(f" {ms:11.1f} {queries:8.0f}" for ms, queries in pairs(figures)))
        first = first or figures
    times = ENTRIES[-1] // ENTRIES[0]
    print(f"growth of the board for {times} times the entries: {figures[0] / first[0]:.1f}")


def measure_tasks(data: Path, requests: int) -> None:
    head("Tasks", "board", "10 pairs", "1 pair")
    names = tuple(f"agent-{number:02}" for number in range(11))
    first: list[float] = []
    for tasks in RELEASES:
        project, revision, client = prepare(data / str(tasks), names)
        fill(revision, tasks)
        page = f"/projects/{project.slug}/benchmarks/demo-bench@1.0.0"
        a, *others = [row.key for row in client.get(page).context["page"].rows]
        compare = [f"{page}/compare?a={a}&b={'&b='.join(keys)}" for keys in (others, others[:1])]
        figures = [figure for url in (page, *compare) for figure in timed(client, url, requests)]
        print(f"{tasks:8d}" + "".join(f" {ms:11.1f} {queries:8.0f}" for ms, queries in pairs(figures)))
        first = first or figures
    print(
        f"growth for {RELEASES[-1] / RELEASES[0]:.0f} times the Tasks: board {figures[0] / first[0]:.1f}, "
        f"10 pairs {figures[2] / first[2]:.1f}"
    )


def head(what: str, *pages: str) -> None:
    print(f"\n{what:>8}" + "".join(f" {page + ' ms':>11} {'queries':>8}" for page in pages))


def pairs(figures: Sequence[float]) -> Iterable[tuple[float, float]]:
    return zip(figures[::2], figures[1::2], strict=True)


def fill(revision: Revision, tasks: int) -> None:
    """More Tasks, up to so many, and some score of every Agent at each that has none."""
    from tests import importing

    chance = random.Random(1)  # noqa: S311 - any scores will do
    importing.add_tasks(revision, [f"task-{number}" for number in range(len(TASKS), tasks)])
    importing.fill(revision, lambda agent, task: chance.randint(0, 4) / 4)


def prepare(
    data: Path, names: Sequence[str], *, every_task: bool = False
) -> tuple[Project, Revision, Client]:
    """A release on which each of these Agents ran every Task or the first one."""
    from django.test import Client

    from benchmarks.models import Revision
    from jobs.imports import import_path
    from plural_site.accounts.actions import create_project, create_user, personal_account
    from tests.builders import BenchmarkSpec, agents_named, make_job, track

    store = data / "project" / ".plural" / "jobs"
    benchmark = BenchmarkSpec(tasks=TASKS, tracks=(track("open"),))
    make_job(
        store,
        benchmark=benchmark,
        agents=agents_named(names),
        track_id="open",
        outcomes=lambda agent, task, attempt: 0.5 if every_task or task == TASKS[0] else None,
        result_json=every_task,
    )
    slug = f"scale-{os.getpid()}-{data.parent.name}-{data.name}"
    user = create_user(email=f"{slug}@example.test")
    project = create_project(actor=user, account=personal_account(user), slug=slug)
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
