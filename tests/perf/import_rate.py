"""Rate of the whole import, beside the rate at which the same files are merely read, hashed and parsed.

    python tests/perf/import_rate.py PATH [--rounds N]

PATH is a folder as `import_jobs` takes it. Each round imports into a new project of a scratch SQLite
database, or of the one that DATABASE_URL names, and then once more, which must add nothing.
"""

# ruff: noqa: T201, PLC0415
# What is measured is printed; Django is set up before its modules are imported.

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument(
        "--rounds", type=int, default=3, help="take turns this often; the best of each counts"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        os.environ["DATA_DIR"] = data
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plural_site.settings")
        import django

        django.setup()
        measure(options.path, options.rounds)


@dataclass(frozen=True)
class Cost:
    """Of one pass over all Trials, in seconds: wall clock, and processor time here and in child processes."""

    wall: float
    here: float
    aside: float


def cost(work: Callable[[], object]) -> Cost:
    before, start = os.times(), time.perf_counter()
    work()
    wall, after = time.perf_counter() - start, os.times()
    return Cost(
        wall,
        after.user + after.system - before.user - before.system,
        after.children_user + after.children_system - before.children_user - before.children_system,
    )


def measure(path: Path, rounds: int) -> None:
    from django.core.management import call_command

    from jobs.domain.readers.sources import open_source
    from tests.perf.read_rate import floor

    call_command("migrate", verbosity=0)
    with tempfile.TemporaryDirectory() as scratch, open_source(path, Path(scratch)) as source:
        jobs = source.job_folders()
        trials = floor(jobs)  # warms the page cache
        found = [(cost(lambda: floor(jobs)), *import_twice(path, number)) for number in range(rounds)]
    columns = list(zip(*found, strict=True))
    print(
        f"{len(jobs)} Jobs, {trials} Trials: the best of {rounds} rounds, and the median's processor seconds"
    )
    for what, column in zip(("read, hash, parse", "import", "import again"), columns, strict=True):
        middle = sorted(column, key=lambda one: one.here + one.aside)[rounds // 2]
        best = min(one.wall for one in column)
        print(
            f"{what:18s} {trials / best:8.0f} Trials/s   {middle.here:6.2f} s + {middle.aside:5.2f} s aside"
        )
    ratios = [bare.wall / ours.wall for bare, ours, _ in found]
    print(f"ratio of import:   {min(c.wall for c in columns[0]) / min(c.wall for c in columns[1]):8.2f}")
    print(f"in each round:     {', '.join(f'{ratio:.2f}' for ratio in ratios)}")


def import_twice(path: Path, number: int) -> tuple[Cost, Cost]:
    from jobs.imports import ImportReport, import_path
    from plural_site.accounts.actions import create_project, create_user, personal_account

    name = f"rate-{os.getpid()}-{number}"
    user = create_user(email=f"{name}@example.test")
    project = create_project(actor=user, account=personal_account(user), slug=name)
    reports: list[ImportReport] = []

    def work() -> None:
        reports.append(import_path(project=project, actor=user, path=path))

    costs = cost(work), cost(work)
    for expected, report in zip(("added", "unchanged"), reports, strict=True):
        if not report.landed or report.count(expected) != len(report.jobs):
            raise SystemExit(f"not every Job was {expected}: {report.problems[:3]}")
    return costs


if __name__ == "__main__":
    main()
