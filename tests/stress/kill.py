"""Uploads through HTTP while processes are killed at random: nothing half, nothing lost.

    python tests/stress/kill.py [--uploads 50] [--kills 40] [--seed 1]

Clients send archives in parts, as the upload page does, and go on where they stopped when the connection
breaks. Meanwhile gunicorn, single processes of it, and workers get SIGKILL and are started again. On
PostgreSQL (DATABASE_URL names an empty database) two workers run side by side. In the end everything that
is stored is compared with what was sent. Exits 1 with what is wrong.
"""

# ruff: noqa: T201, S311, PLC0415
# What is found is printed; chance need not be secret; Django is set up by the process that looks.

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import queue
import random
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).parents[2]))

import requests

from tests.ports import free_port
from tests.serving import ROOT, Person, Process, Serving, kill, wait_for

T = TypeVar("T")
PROJECTS = ("red", "green", "blue")
CLIENTS = 4
LARGE = 9_000_000
"""Bytes of an artifact that no packing makes smaller, so that an archive takes two parts and more."""


@dataclass(slots=True)
class Sent:
    project: str
    name: str
    data: bytes
    href: str = ""
    tries: int = 0


@dataclass(slots=True)
class Site:
    serving: Serving
    workers: int
    chance: random.Random
    web: Process | None = None
    working: list[Process] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    is_over: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        self.web = self.serving.web()
        self.working = [self.serving.worker() for _ in range(self.workers)]

    def kill_something(self) -> None:
        assert self.web is not None
        what = self.chance.choice(["web", "a web process", "worker", "worker", "worker"])
        if what == "web":
            kill(self.web)
            self.web = self.serving.web()
        elif what == "a web process":
            children = Path(f"/proc/{self.web.pid}/task/{self.web.pid}/children").read_text().split()
            if children:
                os.kill(int(self.chance.choice(children)), signal.SIGKILL)
        else:
            number = self.chance.randrange(self.workers)
            kill(self.working[number])
            self.working[number] = self.serving.worker()
        self.kills[what] += 1

    def killing(self, most: int) -> None:
        while not self.is_over.wait(self.chance.uniform(0.2, 3.0)) and self.kills.total() < most:
            self.kill_something()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--uploads", type=int, default=50)
    parser.add_argument("--kills", type=int, default=40, help="at most so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--look", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.look:
        print(json.dumps(look()))
        return
    with tempfile.TemporaryDirectory(prefix="plural-kill-") as folder:
        sys.exit(run(Path(folder), options.uploads, options.kills, options.seed))


def run(folder: Path, count: int, kills: int, seed: int) -> int:
    database = os.environ.get("DATABASE_URL", "")
    environment = {"DATABASE_URL": database} if database else {}
    archives = list(made(folder / "jobs", count))
    with Serving(folder / "data", free_port(), **environment) as serving:
        serving.manage("migrate", "--verbosity", "0")
        serving.add_person("ann@example.org")
        for project in PROJECTS:
            serving.manage("create_project", project, "--owner", "ann@example.org")
        site = Site(serving, workers=2 if database else 1, chance=random.Random(seed))
        site.start()
        people = [signed_in(serving) for _ in range(CLIENTS)]
        started = time.monotonic()
        killer = threading.Thread(target=site.killing, args=(kills,))
        killer.start()
        try:
            send_all(people, archives)
            sent_after = time.monotonic() - started
            wait_for(lambda: site.kills.total() >= kills or is_drained(serving), patience=600)
        finally:
            site.is_over.set()
            killer.join()
        print(f"{count} uploads accepted after {sent_after:.0f} s, {sum(s.tries for s in archives)} tries")
        print(f"killed: {dict(site.kills)}")
        retried = finish(serving, archives)
        print(f"failed after five tries, and tried again: {retried}")
        found = looked_at(serving)
        logs = serving.log("web") + serving.log("worker")
    wrong = judged(found, archives)
    faults = {line for line in logs.splitlines() if "OperationalError" in line or "IntegrityError" in line}
    print(json.dumps(found["counts"]))
    print("\n".join(sorted(faults)[:20]) or "no database errors in the logs")
    print("\n".join(wrong) or "Nothing half, nothing lost.")
    return bool(wrong)


def made(folder: Path, count: int) -> Iterator[Sent]:
    from tests.builders import BenchmarkSpec, Outcome, make_job, track

    chance = random.Random(5)
    for number in range(count):
        is_large = number % 5 == 0
        artifact = {"noise.bin": chance.randbytes(LARGE if is_large else 2_000)}
        job = make_job(
            folder / str(number),
            benchmark=BenchmarkSpec(tracks=(track(),)),
            track_id="open",
            key=str(number),
            attempts=1 if is_large else 30,
            outcomes=lambda *_, files=artifact: Outcome(artifacts=files),
        )
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as archive:
            archive.add(job, arcname=job.name)
        yield Sent(PROJECTS[number % len(PROJECTS)], f"job-{number}.tgz", out.getvalue())


def send_all(people: list[Person], archives: list[Sent]) -> None:
    waiting: queue.SimpleQueue[Sent] = queue.SimpleQueue()
    for sent in archives:
        waiting.put(sent)
    failed: list[BaseException] = []

    def client(person: Person) -> None:
        try:
            while True:
                persistently(partial(send, person, waiting.get_nowait()))
        except queue.Empty:
            return
        except BaseException as error:  # told to the main thread
            failed.append(error)

    clients = [threading.Thread(target=client, args=(person,)) for person in people]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    if failed:
        raise failed[0]


def signed_in(serving: Serving) -> Person:
    person = Person(serving.url, "ann@example.org")
    person.token_of("/projects/red/imports/new")
    return person


def send(person: Person, sent: Sent) -> None:
    """From where it stopped. Raises what requests raises where the connection breaks."""
    sent.tries += 1
    begun = person.begin(sent.project, sent.name, sent.data)
    sent.href = begun["href"]
    for number in range(begun["first"], -(-len(sent.data) // begun["part_size"])):
        answer = person.part(begun, number, sent.data)
        if answer.status_code == 422:
            raise RuntimeError(f"{sent.name}: {answer.text}")
        answer.raise_for_status()


def persistently(act: Callable[[], T], patience: float = 300) -> T:
    """Tries again, as the page's script does, as long as it is the connection or the server."""
    give_up = time.monotonic() + patience
    while True:
        try:
            return act()
        except requests.RequestException as error:
            refused = error.response is not None and error.response.status_code < 500
            if refused or time.monotonic() > give_up:
                raise
            time.sleep(0.3)


def is_drained(serving: Serving) -> bool:
    counts = looked_at(serving)["counts"]["imports"]
    return not set(counts) & {"uploading", "queued", "running"}


def finish(serving: Serving, archives: list[Sent]) -> int:
    """Waits for the queue; what failed as its worker died five times is tried again, as a person would."""
    wait_for(lambda: is_drained(serving), "the queue did not drain", patience=600)
    person = persistently(lambda: signed_in(serving))
    failed = looked_at(serving)["failed"]
    hrefs = {int(sent.href.rpartition("/")[2]): sent.href for sent in archives}
    for key in failed:
        person.form(f"{hrefs[key]}/retry").raise_for_status()
    if failed:
        wait_for(lambda: is_drained(serving), "the queue did not drain", patience=600)
    return len(failed)


def looked_at(serving: Serving) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--look"],
        cwd=ROOT,
        env=serving.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def look() -> dict[str, Any]:
    """What is stored, as the process that runs this has it in its environment."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plural_site.settings")
    django.setup()
    from django.db.models import Count

    from jobs.models import Blob, Execution, ImportRun, Job, Trial, UploadPart
    from plural_site.accounts.models import AuditEvent

    states = ImportRun.objects.order_by().values_list("status").annotate(Count("pk"))
    ended = AuditEvent.objects.filter(verb="import.done").order_by().values_list("object_id")
    rows, stored = Blob.objects.values_list("digest", flat=True), stored_files()
    counts = {
        "imports": dict(states),
        "jobs": Job.objects.filter(state="ready").count(),
        "half": Job.objects.exclude(state="ready").count(),
        "trials": Trial.objects.count(),
        "executions": Execution.objects.count(),
        "parts": UploadPart.objects.count(),
        "added": sum(counts.get("added", 0) for counts in ImportRun.objects.values_list("counts", flat=True)),
    }
    return {
        "counts": counts,
        "reports": [
            (key, status, report.get("problems", []))
            for key, status, report in ImportRun.objects.values_list("pk", "status", "report")
        ],
        "failed": list(ImportRun.objects.filter(status="failed").values_list("pk", flat=True)),
        "jobs": list(Job.objects.values_list("project__slug", "client_job_id").order_by("pk")),
        "by_source": list(ImportRun.objects.values_list("source", "status").order_by("pk")),
        "ended_twice": [key for (key,), n in Counter(ended).items() if n > 1],
        "rows_without_files": sorted(set(rows) - set(stored)),
        "files_without_rows": sorted(set(stored) - set(rows)),
        "files": files(),
        "damaged": [digest for digest, is_sound in stored.items() if not is_sound],
        "tallies": tallies(),
    }


def stored_files() -> dict[str, bool]:
    """Digest of each stored file, and whether its bytes are those."""
    from plural_site.db import blobs

    found = {}
    for digest in blobs.stored():
        with blobs.open_blob(digest) as file:
            found[digest] = f"sha256:{hashlib.sha256(file.read()).hexdigest()}" == digest
    return found


def files() -> dict[str, list[str]]:
    from django.conf import settings

    root = Path(settings.DATA_DIR)
    return {
        name: sorted(str(path.relative_to(root)) for path in (root / name).rglob("*") if path.is_file())
        for name in ("uploads", "scratch", "blobs")
    }


def tallies() -> list[str]:
    """Boards that are not what they would be if they were made anew."""
    from benchmarks.models import Revision
    from jobs import tallies as board
    from jobs.models import Job, Tally

    def figures() -> dict[tuple[Any, ...], Any]:
        kept = ("revision", "track_ref", "configuration", "scope", "key")
        return {
            tuple(row[name] for name in kept): (row["score"], row["low"], row["attempts"])
            for row in Tally.objects.values(*kept, "score", "low", "attempts")
        }

    before = figures()
    boards = Job.objects.filter(state="ready", revision__isnull=False).order_by()
    places: dict[tuple[int, str], set[int]] = {}
    for revision, track_ref, configuration in boards.values_list(
        "revision", "track_ref", "agents__configuration"
    ):
        places.setdefault((revision, track_ref), set()).add(configuration)
    for (revision, track_ref), configurations in places.items():
        board.rebuild(Revision.objects.get(pk=revision), track_ref, configurations)
    return [str(key) for key in before.keys() | figures().keys() if before.get(key) != figures().get(key)]


def judged(found: dict[str, Any], archives: list[Sent]) -> list[str]:
    """What is wrong, in words."""
    counts, wrong = found["counts"], list[str]()
    expected_trials = sum(2 if number % 5 == 0 else 60 for number in range(len(archives)))
    expected = {"jobs": len(archives), "added": len(archives), "half": 0, "parts": 0}
    for name, number in (expected | dict.fromkeys(("trials", "executions"), expected_trials)).items():
        if counts[name] != number:
            wrong.append(f"{name}: {counts[name]} instead of {number}")
    if counts["imports"] != {"done": len(archives)}:
        wrong.append(f"imports: {found['by_source']}")
    if len({tuple(job) for job in found["jobs"]}) != len(archives):
        wrong.append("a Job is there twice")
    left = [name for name in found["files"]["scratch"] if not name.endswith(".lock")]
    for name, value in (
        ("left in scratch", left),
        ("left in uploads", found["files"]["uploads"]),
        ("rows without files", found["rows_without_files"]),
        ("files without rows", found["files_without_rows"]),
        ("damaged files", found["damaged"]),
        ("ended twice", found["ended_twice"]),
        ("boards that differ", found["tallies"]),
    ):
        if value:
            wrong.append(f"{name}: {value}")
    return wrong


if __name__ == "__main__":
    main()
