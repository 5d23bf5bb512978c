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


def measure(path: Path, rounds: int) -> None:
    from django.core.management import call_command

    from jobs.domain.readers.sources import open_source
    from tests.perf.read_rate import floor, rate

    call_command("migrate", verbosity=0)
    with tempfile.TemporaryDirectory() as scratch, open_source(path, Path(scratch)) as source:
        jobs = source.job_folders()
        trials = floor(jobs)  # warms the page cache
        found = [(rate(floor, jobs), *import_twice(path, trials, number)) for number in range(rounds)]
    bare, ours, again = (max(column) for column in zip(*found, strict=True))
    print(f"Trials:             {trials:8d}")
    print(f"read, hash, parse:  {bare:8.0f} Trials/s")
    print(f"import:             {ours:8.0f} Trials/s")
    print(f"import again:       {again:8.0f} Trials/s")
    print(f"ratio of import:    {ours / bare:8.2f}")


def import_twice(path: Path, trials: int, number: int) -> tuple[float, float]:
    from jobs.imports import import_path
    from plural_site.accounts.actions import create_project, create_user, personal_account

    name = f"rate-{os.getpid()}-{number}"
    user = create_user(email=f"{name}@example.test")
    project = create_project(actor=user, account=personal_account(user), slug=name)
    rates = []
    for expected in ("added", "unchanged"):
        start = time.perf_counter()
        report = import_path(project=project, actor=user, path=path)
        rates.append(trials / (time.perf_counter() - start))
        if not report.landed or report.count(expected) != len(report.jobs):
            raise SystemExit(f"not every Job was {expected}: {report.problems[:3]}")
    return rates[0], rates[1]


if __name__ == "__main__":
    main()
