"""Rate at which Jobs are read, beside the rate at which the same files are merely read, hashed and parsed.

    python tests/perf/read_rate.py PATH [--rounds N]

PATH is what `import_jobs` takes, as a folder. The database is not part of either figure.
"""

# ruff: noqa: PTH118, PTH119, PTH120, PTH123, T201
# The floor is to be as fast as it can be, and what is measured is printed.

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jobs.domain.readers import plural
from jobs.domain.readers.sources import JobFolder, open_source


def floor(jobs: list[JobFolder]) -> int:
    """Read and hash every file, parse every .json and every line of every .jsonl; counts Trials."""
    trials = 0
    for job in jobs:
        for folder, _, names in os.walk(job.path):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    data = file.read()
                hashlib.sha256(data).hexdigest()
                if name.endswith(".json"):
                    json.loads(data)
                elif name.endswith(".jsonl"):
                    parse_lines(data)
            trials += os.path.basename(os.path.dirname(folder)) == "trials" and "result.json" in names
    return trials


def parse_lines(data: bytes) -> None:
    for line in data.splitlines():
        try:
            json.loads(line)
        except ValueError:
            continue  # the torn last line of a killed Job


def reader(jobs: list[JobFolder]) -> int:
    """Everything an import takes from the files; the packs are thrown away."""
    trials = 0
    for job in jobs:
        header = plural.read_header(job)
        for trial in plural.iter_trials(job, header):
            trials += 1
            for execution in trial.executions:
                execution.pack.spool.close()
        plural.pack_job_files(job).spool.close()
    return trials


def rate(work: Callable[[list[JobFolder]], int], jobs: list[JobFolder]) -> float:
    start = time.perf_counter()
    trials = work(jobs)
    return trials / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument(
        "--rounds", type=int, default=5, help="take turns this often; the best of each counts"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, open_source(options.path, Path(scratch)) as source:
        jobs = source.job_folders()
        floor(jobs)  # warms the page cache
        rounds = [(rate(floor, jobs), rate(reader, jobs)) for _ in range(options.rounds)]
    bare, ours = (max(column) for column in zip(*rounds, strict=True))
    print(f"read, hash, parse: {bare:8.0f} Trials/s")
    print(f"reader:            {ours:8.0f} Trials/s")
    print(f"ratio:             {ours / bare:8.2f}")


if __name__ == "__main__":
    main()
