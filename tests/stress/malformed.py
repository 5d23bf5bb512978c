"""500 archives that can't be taken, through the upload's door: each fails clearly and leaves nothing.

    python tests/stress/malformed.py [--count 500] [--seed 1] [--kind KIND]

Generated from a sound Job: cut, changed, mislabelled, with paths that lead out, links, devices, bombs, deep
folders, huge names, bad UTF-8 and sparse headers, as tar, tar.gz and zip. One worker takes them all. Exits
1 with what is wrong. On SQLite, or the empty database that DATABASE_URL names.
"""

# ruff: noqa: T201, S311
# What is found is printed; chance need not be secret.

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.ports import free_port
from tests.serving import Person, Serving, wait_for
from tests.stress.archives import KINDS, Bad, bad_archives
from tests.stress.kill import is_drained, looked_at

ROOM = 600 * 1024
"""kB that the worker may take at its peak."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, default="")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="plural-malformed-") as folder:
        sys.exit(run(Path(folder), options.count, chance, options.kind))


def run(folder: Path, count: int, chance: random.Random, only: str) -> int:
    database = os.environ.get("DATABASE_URL", "")
    cases = bad_archives(folder / "jobs", count, chance, only)
    print(f"{len(cases)} archives of {len({case.kind for case in cases})} kinds")
    with Serving(folder / "data", free_port(), **({"DATABASE_URL": database} if database else {})) as site:
        site.manage("migrate", "--verbosity", "0")
        site.add_person("ann@example.org", "triage")
        site.manage("create_project", "odd", "--owner", "ann@example.org")
        site.web(workers=2)
        worker = site.worker()
        started = time.monotonic()
        sent = send_all(site, cases)
        wait_for(lambda: is_drained(site), "the queue did not drain", patience=1800)
        print(f"all done after {time.monotonic() - started:.0f} s")
        peak = peak_of(worker.pid)
        is_alive = worker.poll() is None
        wrong = judged(site, sent)
    print(f"worker: {'alive' if is_alive else 'dead'}, peak {peak / 1024:.0f} MB")
    if not is_alive or peak > ROOM:
        wrong.append("the worker died" if not is_alive else f"the worker took {peak} kB")
    print("\n".join(wrong) or "Each failed clearly, nothing is left.")
    return bool(wrong)


def send_all(site: Serving, cases: list[Bad]) -> dict[str, Bad]:
    """By the address of the import, or by what the door said. One session for all."""
    person = Person(site.url, "ann@example.org")
    person.token_of("/projects/triage/imports/new")
    return {person.upload("odd" if case.may_land else "triage", case.name, case.data): case for case in cases}


def peak_of(process: int) -> int:
    """kB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def judged(site: Serving, sent: dict[str, Bad]) -> list[str]:
    found = looked_at(site)
    counts, wrong = found["counts"], []
    reports = {str(key): (status, problems) for key, status, problems in found["reports"]}
    kinds: Counter[str] = Counter()
    for href, case in sent.items():
        status, problems = reports[href.rpartition("/")[2]]
        if case.may_land:
            if "fault of the site" in json.dumps(problems):
                wrong.append(f"{case.kind} ({case.name}): {json.dumps(problems)[:300]}")
            continue
        kinds[f"{case.kind}: {problems[0]['message'][:70] if problems else ''}"] += 1
        words = json.dumps(problems)
        if status != "failed" or not problems or "Traceback" in words or "fault of the site" in words:
            wrong.append(f"{case.kind} ({case.name}): {status}, {words[:300]}")
    for kind, count in sorted(kinds.items()):
        print(f"{count:5d}  {kind}")
    landed = [job for project, job in found["jobs"] if project == "triage"]
    left = [name for name in found["files"]["scratch"] if not name.endswith(".lock")]
    for name, value in (
        ("Jobs that landed", landed),
        ("half a Job", counts["half"]),
        ("left in scratch", left),
        ("files without rows", found["files_without_rows"]),
        ("rows without files", found["rows_without_files"]),
    ):
        if value:
            wrong.append(f"{name}: {value}")
    for name in ("web", "worker"):
        log = site.log(name)
        if "Traceback" in log or " ERROR " in log:
            wrong.append(f"errors in the log of {name}: {log[log.index('ERROR') :][:2000]}")
    return wrong


if __name__ == "__main__":
    main()
