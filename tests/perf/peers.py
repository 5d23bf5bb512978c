"""An entry of this site for a script that measures viewers of evaluation results side by side.

    python tests/perf/peers.py STORE FOLDER ENTRY

Imports STORE (what `import_jobs` takes) into a site of its own in FOLDER, signs a person in, and writes
ENTRY: JSON with the command that starts the server and the addresses of its jobs list, one job's trials, one
trial with its trajectory and the leaderboard. Every page is asked for with that person's session, so that
access is checked as for everybody. Needs gunicorn, which serves with two workers.
"""

# ruff: noqa: T201, PLC0415
# What was made is printed; Django is set up before its modules are imported.

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[2]
SESSION = "PERF_SESSION"
SLUG = "perf"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("entry", type=Path)
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    os.environ["DATA_DIR"] = str(options.folder.resolve())
    os.environ["DJANGO_SETTINGS_MODULE"] = "plural_site.settings"
    import django

    django.setup()
    options.entry.write_text(
        json.dumps({"plural-site": entry(options.store, options.folder.resolve())}, indent=1)
    )
    print(f"wrote {options.entry}")


def entry(store: Path, folder: Path) -> dict[str, Any]:
    from django.core.management import call_command

    from benchmarks.models import Revision
    from jobs.imports import import_path
    from jobs.models import Job
    from plural_site.accounts.actions import create_project, create_user, personal_account
    from plural_site.accounts.models import Project

    folder.mkdir(parents=True, exist_ok=True)
    call_command("migrate", verbosity=0)
    if not Project.objects.filter(slug=SLUG).exists():
        user = create_user(email="perf@example.test")
        project = create_project(actor=user, account=personal_account(user), slug=SLUG)
        report = import_path(project=project, actor=user, path=store)
        if not report.landed:
            raise SystemExit(f"not every Job landed: {report.problems[:3]}")
    project = Project.objects.get(slug=SLUG)
    job = Job.objects.filter(project=project, revision__isnull=False).exclude(track_ref="").latest("pk")
    trial = job.trials.filter(outcome="scored").earliest("pk")
    revision = Revision.objects.with_release().select_related("resource").get(jobs=job)
    home = f"/projects/{SLUG}"
    selector = revision.version or revision.number
    board = f"{home}/benchmarks/{revision.resource.slug}@{selector}?track={job.track_ref}"
    steps = f"{home}/trials/{trial.client_trial_id}/trajectory"
    return {
        "start": [
            *(sys.executable, "-m", "gunicorn", "-w", "2", "-b", "127.0.0.1:{port}"),
            "tests.perf.peers:application",
        ],
        "cwd": str(HERE),
        "env": {
            "DATA_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "plural_site.settings",
            "PYTHONPATH": str(HERE),
            "IP_RATE_LIMIT": "0",
            SESSION: session_of(user_of(project)),
        },
        "api": {
            "jobs": f"{home}/jobs",
            "leaderboard": board,
            "trials": f"{home}/jobs/{job.client_job_id}",
            "all_trials": f"{home}/trials",
            "trial": steps,
        },
        "load": ["jobs", "leaderboard", "trials", "trial"],
        "browser": {
            "jobs": [f"{home}/jobs", job.client_job_id],
            "trials": [f"{home}/jobs/{job.client_job_id}", trial.task_name],
            "trial": [steps, trial.task_name],
        },
    }


def user_of(project: Any) -> Any:
    return project.account.memberships.get().user


def session_of(user: Any) -> str:
    """Key of a session in which the person is signed in."""
    from django.contrib.auth import login
    from django.http import HttpRequest
    from django.utils.module_loading import import_string

    from plural_site import settings

    request = HttpRequest()
    request.session = import_string(f"{settings.SESSION_ENGINE}.SessionStore")()
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session.save()
    return str(request.session.session_key)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """The site, asked by the signed-in person."""
    environ["HTTP_COOKIE"] = f"sessionid={os.environ[SESSION]}"
    from plural_site.wsgi import application as site

    answer: Iterable[bytes] = site(environ, start_response)
    return answer


if __name__ == "__main__":
    main()
