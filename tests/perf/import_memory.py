"""Peak memory of an import of Trials whose Verifier left a megabyte of evidence each.

    python tests/perf/import_memory.py [--trials N ...]

Makes a Job of 100 and one of 1,100 such Trials in a scratch folder (3 MB on disk a Trial), and imports each
in a process of its own, into SQLite or the database that DATABASE_URL names. The peak must not grow with
the number of Trials.
"""

# ruff: noqa: T201, PLC0415
# What is measured is printed; Django is set up before its modules are imported.

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

EVIDENCE = 1_000_000
"""Characters of evidence of each Trial."""
TASKS = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, nargs="+", default=[100, 1_100])
    parser.add_argument("--of", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.of == "make":
        make(options.folder, options.trials[0])
    elif options.of == "import":
        bring(options.folder)
    else:
        measure(options.trials)


def measure(sizes: list[int]) -> None:
    peaks = []
    for trials in sizes:
        with tempfile.TemporaryDirectory() as folder:
            itself("make", folder, trials)
            peaks.append(int(itself("import", folder, trials)))
        print(f"{trials:6d} Trials: peak {peaks[-1] / 1024:7.1f} MiB")
    print(f"growth: {peaks[-1] / peaks[0]:.2f}")


def itself(of: str, folder: str, trials: int) -> str:
    command = [sys.executable, __file__, "--of", of, "--folder", folder, "--trials", str(trials)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def make(folder: Path, trials: int) -> None:
    from tests.builders import BenchmarkSpec, Outcome, make_job

    outcome = Outcome(evidence=("x" * EVIDENCE,))
    tasks = tuple(f"task-{number}" for number in range(TASKS))
    make_job(
        folder / "jobs",
        benchmark=BenchmarkSpec(tasks=tasks),
        attempts=trials // TASKS,
        outcomes=lambda *_: outcome,
        result_json=False,
    )


def bring(folder: Path) -> None:
    """Prints the peak of this process in kB."""
    os.environ["DATA_DIR"] = str(folder / "data")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plural_site.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from jobs.imports import import_path
    from plural_site.accounts.actions import create_project, create_user, personal_account

    user = create_user(email=f"memory-{os.getpid()}@example.test")
    project = create_project(actor=user, account=personal_account(user), slug=f"memory-{os.getpid()}")
    report = import_path(project=project, actor=user, path=folder / "jobs")
    if not report.landed:
        raise SystemExit(report.problems)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    main()
