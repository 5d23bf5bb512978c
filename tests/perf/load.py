"""Clients that read and upload for minutes: requests, errors, times, and the memory of every process.

    DATABASE_URL=postgres://… python tests/perf/load.py [--minutes 10] [--clients 8] [--port N]

Sets up the demo's data in an empty database (SQLite without DATABASE_URL), serves it with gunicorn (three
processes) and a worker, and has the clients open boards, Jobs, Trials, trajectories, searches and
comparisons by chance, each as a signed-in person, and now and then upload a Job that is then imported.
The clients run on the same machine and take their share of it. Exits 1 on any error.
"""

# ruff: noqa: T201, S311
# What is measured is printed; chance need not be secret.

from __future__ import annotations

import argparse
import io
import os
import random
import re
import statistics
import sys
import tarfile
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import requests

from tests.builders import BenchmarkSpec, make_job, track
from tests.ports import free_port
from tests.serving import Person, Serving

BOARD = "/projects/demo/benchmarks/support-triage@1.0.0"
EMAIL = "load@example.org"
WEIGHTS = {"board": 20, "job": 15, "trial": 20, "trajectory": 20, "search": 10, "compare": 10, "upload": 5}
SAMPLE_SECONDS = 5.0
WARM_SHARE = 1 / 3
"""Of the time, after which memory ought to grow no more."""


@dataclass(slots=True)
class Measured:
    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    memory: defaultdict[str, list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))
    """Minutes since the start and kB, by process."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, kind: str, seconds: float, error: str = "") -> None:
        with self.lock:
            self.seconds[kind].append(seconds)
            if error:
                self.errors.append(f"{kind}: {error}")


@dataclass(frozen=True, slots=True)
class Pages:
    jobs: list[str]
    trials: list[str]
    compares: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plural-load-") as folder:
        sys.exit(run(Path(folder), options.minutes, options.clients, options.port or free_port()))


def run(folder: Path, minutes: float, clients: int, port: int) -> int:
    database = os.environ.get("DATABASE_URL", "")
    with Serving(folder / "data", port, **({"DATABASE_URL": database} if database else {})) as site:
        site.manage("demo", "--no-serve")
        site.add_person(EMAIL, "load")
        site.manage("shell", "--verbosity=0", "--command", JOIN.format(email=EMAIL))
        processes = {"gunicorn": site.web().pid, "worker": site.worker().pid}
        people = [Person(site.url, EMAIL) for _ in range(clients)]
        pages = found_pages(people[0])
        people[0].token_of("/projects/load/imports/new")
        measured, uploads = Measured(), Uploads(folder / "jobs")
        end = time.monotonic() + minutes * 60
        threads = [
            threading.Thread(target=client, args=(person, number, pages, uploads, measured, end))
            for number, person in enumerate(people)
        ]
        watcher = threading.Thread(target=watch, args=(processes, measured, end))
        for thread in (*threads, watcher):
            thread.start()
        for thread in (*threads, watcher):
            thread.join()
        show(measured, minutes)
        logs = site.log("web") + site.log("worker")
    faults = [line for line in logs.splitlines() if " ERROR " in line or "Traceback" in line]
    print("\n".join(["errors in the logs:", *faults[:20]]) if faults else "no errors in the logs")
    return bool(measured.errors or faults)


JOIN = """
from plural_site.accounts.actions import set_project_member
from plural_site.accounts.models import Project, User
demo = Project.objects.get(slug="demo")
owner = User.objects.get(email="demo@example.test")
reader = User.objects.get(email="{email}")
set_project_member(actor=owner, project=demo, user=reader, role="viewer", may_publish=False)
"""


def found_pages(person: Person) -> Pages:
    def links(page: str, pattern: str) -> list[str]:
        return sorted(set(re.findall(rf'href="({pattern})"', person.get(page).text.replace("&amp;", "&"))))

    jobs = links("/projects/demo/jobs", r"/projects/demo/jobs/job_\w+")
    trials = [link for job in jobs for link in links(job, r"/projects/demo/trials/trl_\w+")]
    compares = links(BOARD, rf"{BOARD}/compare\?[^\"]+")
    assert jobs and trials and compares
    return Pages(jobs, sorted(set(trials)), compares)


class Uploads:
    """A new Job each time."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock, self._made = folder, threading.Lock(), 0

    def next(self) -> tuple[str, bytes]:
        with self._lock:
            self._made += 1
            key = str(self._made)
            job = make_job(
                self._folder / key,
                benchmark=BenchmarkSpec(tracks=(track(),)),
                track_id="open",
                key=key,
                attempts=5,
            )
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as archive:
            archive.add(job, arcname=job.name)
        return f"{key}.tgz", out.getvalue()


def client(
    person: Person, number: int, pages: Pages, uploads: Uploads, measured: Measured, end: float
) -> None:
    chance = random.Random(number)
    person.token_of("/projects/load/imports/new")
    while time.monotonic() < end:
        kind = chance.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
        act = upload(person, uploads) if kind == "upload" else read(person, kind, pages, chance)
        started = time.monotonic()
        error = ""
        try:
            act()
        except (requests.RequestException, AssertionError) as problem:
            error = str(problem)[:200]
        measured.note(kind, time.monotonic() - started, error)


def upload(person: Person, uploads: Uploads) -> Callable[[], object]:
    name, data = uploads.next()
    return partial(person.upload, "load", name, data)


def read(person: Person, kind: str, pages: Pages, chance: random.Random) -> Callable[[], object]:
    trial = chance.choice(pages.trials)
    searched, words = chance.choice([BOARD, *pages.jobs]), chance.choice(["refund", "error", "the", "zz"])
    address = {
        "board": chance.choice([BOARD, f"{BOARD}?track=controlled", f"{BOARD}?sort=cost", "/projects/demo"]),
        "job": chance.choice(pages.jobs),
        "trial": trial,
        "trajectory": f"{trial}/trajectory",
        "search": f"{searched}/search?q={words}",
        "compare": chance.choice(pages.compares),
    }[kind]

    def act() -> None:
        answer = person.get(address)
        assert answer.status_code == 200, f"{answer.status_code} for {address}"

    return act


def watch(processes: dict[str, int], measured: Measured, end: float) -> None:
    started = time.monotonic()
    while time.monotonic() < end:
        minute = (time.monotonic() - started) / 60
        for name, process in with_children(processes):
            measured.memory[name].append((minute, resident(process)))
        time.sleep(SAMPLE_SECONDS)


def with_children(processes: dict[str, int]) -> list[tuple[str, int]]:
    """Those of gunicorn live as long as it does; an import's forks come and go and are passed over."""
    web = processes["gunicorn"]
    children = Path(f"/proc/{web}/task/{web}/children").read_text().split()
    return [*processes.items(), *((f"web process {child}", int(child)) for child in children)]


def resident(process: int) -> int:
    """kB."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def show(measured: Measured, minutes: float) -> None:
    everything = sum(measured.seconds.values(), list[float]())
    print(f"{len(everything)} requests in {minutes:g} minutes, {len(everything) / minutes / 60:.1f} a second")
    print(f"{len(measured.errors)} errors")
    print("\n".join(measured.errors[:20]))
    print(f"{'':12}{'requests':>9}{'p50 ms':>9}{'p95 ms':>9}{'max ms':>9}")
    for kind, seconds in [*sorted(measured.seconds.items()), ("all", everything)]:
        ordered = sorted(seconds)
        p50, p95, most = (1000 * ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.95, 1))
        print(f"{kind:12}{len(seconds):9}{p50:9.0f}{p95:9.0f}{most:9.0f}")
    print(f"{'memory, MB':24}{'start':>8}{'middle':>8}{'end':>8}{'growth, MB a minute':>22}")
    for name, samples in measured.memory.items():
        start, middle, end = (samples[at][1] / 1024 for at in (0, len(samples) // 2, -1))
        print(f"{name:24}{start:8.0f}{middle:8.0f}{end:8.0f}{slope(samples):22.2f}")


def slope(samples: list[tuple[float, int]]) -> float:
    """MB a minute, by least squares over what comes after the warm-up."""
    late = samples[int(WARM_SHARE * len(samples)) :]
    if len(late) < 3:
        return 0.0
    return statistics.linear_regression([at for at, _ in late], [kb / 1024 for _, kb in late]).slope


if __name__ == "__main__":
    main()
