"""Backup, restore and check of a small and a large site: time, and the most memory that each command took.

    python tests/perf/backup_scale.py [--trials N] [--megabytes N]

Sites of their own in a scratch folder, on SQLite. The large one holds copies of one recorded Job until there
are so many Trials, and blobs of random bytes. Memory must hardly grow. Also what the storage page takes.
"""

# ruff: noqa: T201, PLC0415
# What is measured is printed; Django is set up before its modules are imported.

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
if TYPE_CHECKING:
    from django.db import models

    from jobs.models import Job

COPIES = 50
"""Jobs that are copied at once."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--fill", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--page", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill or options.page:
        os.environ["DATA_DIR"] = str(options.fill or options.page)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plural_site.settings")
        os.environ.setdefault("ALLOWED_HOSTS", "testserver")
        import django

        django.setup()
        fill(options.trials, options.megabytes) if options.fill else page()
        return
    with tempfile.TemporaryDirectory() as folder:
        for trials, megabytes in ((270, 10), (options.trials, options.megabytes)):
            measure(Path(folder), trials, megabytes)


def measure(folder: Path, trials: int, megabytes: int) -> None:
    here, there, file = (folder / f"{name}-{trials}" for name in ("here", "there", "site.tar"))
    here.mkdir()
    script = [sys.executable, __file__, "--trials", str(trials), "--megabytes", str(megabytes)]
    subprocess.run([*script, "--fill", str(here)], check=True)
    print(f"{trials:,} Trials, {megabytes:,} MB of blobs")
    timed("backup", here, "backup", str(file))
    print(f"  the file {file.stat().st_size / 1e6:,.0f} MB")
    timed("restore without the check", there, "restore", str(file), "--quick")
    timed("check_integrity", here, "check_integrity")
    timed("check_integrity --quick", here, "check_integrity", "--quick")
    subprocess.run([*script, "--page", str(here)], check=True)


def timed(words: str, data: Path, *arguments: str) -> None:
    """Of a command in a process of its own; Linux tells its peak in kB."""
    started = time.monotonic()
    environment = {**os.environ, "DATA_DIR": str(data)}
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - started
    print(
        f"  {words}: {took:.1f} s, {usage.ru_maxrss / 1e3:,.0f} MB, exit {os.waitstatus_to_exitcode(status)}"
    )


def fill(trials: int, megabytes: int) -> None:
    """The demo's Jobs, copies of one of them, and blobs that nothing reads."""
    import secrets

    from django.core.management import call_command

    from jobs.models import Blob, Job, Trial
    from plural_site.db import blobs

    call_command("demo", "--no-serve", stdout=open(os.devnull, "w"))  # noqa: PTH123, SIM115 - said to nobody
    model = Job.objects.filter(recorded__gt=10).earliest("pk")
    while (there := Trial.objects.count()) < trials:
        copy(model, min(COPIES, -(-(trials - there) // model.recorded)))
    for _ in range(megabytes // 10):
        import io

        digest = blobs.put(io.BytesIO(secrets.token_bytes(10**7)))
        Blob.objects.create(digest=digest, size=10**7)
    call_command("rebuild", "--tallies", stdout=open(os.devnull, "w"))  # noqa: PTH123, SIM115


def copy(model: Job, times: int) -> None:
    import secrets

    from django.db import transaction

    from jobs.models import Execution, Job, JobAgent, Trial

    def again(row: models.Model, **changes: object) -> dict[str, object]:
        values = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
        del values["id"]
        return values | changes

    agents, rows = list(model.agents.all()), list(model.trials.prefetch_related("executions"))
    with transaction.atomic():
        for _ in range(times):
            key = secrets.token_hex(12)
            job = Job.objects.create(**again(model, client_job_id=f"job_{key}"))
            own = {agent.pk: JobAgent.objects.create(**again(agent, job_id=job.pk)) for agent in agents}
            trials = [
                Trial(
                    **again(
                        row,
                        job_id=job.pk,
                        job_agent_id=own[row.job_agent_id].pk,
                        client_trial_id=f"{row.client_trial_id}{key}",
                    )
                )
                for row in rows
            ]
            Trial.objects.bulk_create(trials)
            Execution.objects.bulk_create(
                Execution(**again(execution, trial_id=trial.pk))
                for row, trial in zip(rows, trials, strict=True)
                for execution in row.executions.all()
            )


def page() -> None:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from plural_site.accounts.models import User

    browser = Client()
    browser.force_login(User.objects.earliest("pk"))
    for path in ("/projects/demo/storage", "/projects/demo/storage?newest=5&kind=logs"):
        best = float("inf")
        for _ in range(5):
            with CaptureQueriesContext(connection) as captured:
                started = time.monotonic()
                response = browser.get(path)
                best = min(best, time.monotonic() - started)
            assert response.status_code == 200
        print(f"  {path}: {best * 1000:.0f} ms, {len(captured)} queries")


if __name__ == "__main__":
    main()
