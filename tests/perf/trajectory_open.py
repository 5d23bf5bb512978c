"""Opening a page of a trajectory at 10, 1,000 and 100,000 steps and with a step of 50 MB, and the index rate.

    python tests/perf/trajectory_open.py [--rounds N] [--steps N ...]

Makes a Job in a scratch database (SQLite, or the one that DATABASE_URL names) and gives its execution
trajectories of about 1 kB a step. The time of a page of 10 steps must not grow with the file; that of the
usual page of 50 stands beside it. The peak of memory is that of the whole process.
"""

# ruff: noqa: T201, PLC0415
# What is measured is printed; Django is set up before its modules are imported.

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[2]))

if TYPE_CHECKING:
    from jobs.models import Execution


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="openings a figure; the median counts")
    parser.add_argument("--steps", type=int, nargs="+", default=[10, 1_000, 100_000])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        os.environ["DATA_DIR"] = data
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plural_site.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure(Path(data), options.steps, options.rounds)


def measure(data: Path, sizes: Sequence[int], rounds: int) -> None:
    from jobs import trajectories
    from jobs.trajectories import find_text
    from tests.trajectories import ATIF, leave, write_atif

    execution = prepare(data)
    print(
        f"{'trajectory':>16} {'MB':>6} {'index s':>8} {'MB/s':>6} {'peak MB':>8}"
        f" {'10 ms':>8} {'ratio':>6} {'50 ms':>8} {'overview ms':>11} {'search s':>8}"
    )
    shapes: list[tuple[str, int, dict[int, Any]]] = [(f"{n} steps", n, {}) for n in sizes]
    shapes.append(("one of 50 MB", 10, {5: {"message": "a line of text\n" * 3_500_000}}))
    shapes.append(("50 of 2 MB", 50, {n: {"message": "a line of text\n" * 140_000} for n in range(1, 51)}))
    first = 0.0
    for name, count, odd in shapes:
        special = {**odd, count: {**odd.get(count, {}), "reasoning_content": "the only needle"}}
        path = write_atif(data / "t.json", count, special=special)
        size = path.stat().st_size / 1e6
        leave(execution, {ATIF: path})
        started = time.perf_counter()
        trajectories.ensure_index(execution, ATIF)
        taken = time.perf_counter() - started

        def page(per_page: int) -> None:
            index = trajectories.ensure_index(execution, ATIF)
            trajectories.open_page(index, trajectories.page_of(index.steps, per_page), per_page)

        opening, whole = timed(partial(page, 10), rounds), timed(partial(page, 50), rounds)
        first = first or opening
        index = trajectories.ensure_index(execution, ATIF)
        strip = timed(lambda: trajectories.overview(index), rounds)  # noqa: B023
        started = time.perf_counter()
        found = find_text(index, "only needle", seconds=60)
        searched = time.perf_counter() - started
        assert [hit.number for hit in found] == [count]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name:>16} {size:6.1f} {taken:8.2f} {size / taken:6.1f} {peak:8.0f} {opening:8.2f}"
            f" {opening / first:6.2f} {whole:8.2f} {strip:11.2f} {searched:8.2f}"
        )


def timed(work: Callable[[], object], rounds: int) -> float:
    """Milliseconds."""
    work()
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return 1000 * statistics.median(taken)


def prepare(data: Path) -> Execution:
    from jobs.imports import import_path
    from jobs.models import Execution
    from plural_site.accounts.actions import create_project, create_user, personal_account
    from tests.builders import make_job

    user = create_user(email="perf@example.org", name="Perf", password="correct horse battery")
    project = create_project(actor=user, account=personal_account(user), slug="perf", name="Perf")
    make_job(data / "store")
    assert import_path(project=project, actor=user, path=data / "store").landed
    execution = Execution.objects.order_by("pk").first()
    assert execution
    return execution


if __name__ == "__main__":
    main()
