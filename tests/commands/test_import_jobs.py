from __future__ import annotations

import json
import tarfile
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from jobs.models import ImportRun, Job
from plural_site.accounts.actions import create_project
from plural_site.accounts.models import AuditEvent, Project, User
from tests.builders import AgentSpec, BenchmarkSpec, make_job

if TYPE_CHECKING:
    from tests.conftest import ClientAs


def run(*arguments: object, code: int = 0) -> tuple[str, str]:
    """What the command prints to stdout and stderr; its exit code has to be `code`."""
    out, err = StringIO(), StringIO()
    try:
        call_command("import_jobs", *map(str, arguments), stdout=out, stderr=err)
    except CommandError as error:
        assert error.returncode == code != 0, error
        return out.getvalue(), f"{err.getvalue()}{error}"
    assert code == 0
    return out.getvalue(), err.getvalue()


def test_says_what_became_of_each_job(project: Project, tmp_path: Path) -> None:
    folder = make_job(tmp_path, track_id="no-such")
    out, err = run(tmp_path)
    assert out.splitlines()[0] == f"[1/1] {folder.name}: added, 2 Trials"
    assert "note: " in out
    assert out.splitlines()[-1] == (
        "Jobs: 1 added, 0 updated, 0 unchanged, 0 refused. They are in project triage."
    )
    assert err == ""
    assert "1 unchanged" in run(tmp_path)[0]
    assert ImportRun.objects.filter(status="done").count() == 2


def test_import_stands_in_the_audit_log_as_of_the_command_line(
    project: Project, ann: User, client_as: ClientAs, tmp_path: Path
) -> None:
    make_job(tmp_path / "jobs")
    run(tmp_path / "jobs")
    begun, done = AuditEvent.objects.filter(verb__startswith="import.").order_by("pk")
    assert (begun.verb, done.verb, done.detail["added"]) == ("import.start", "import.done", 1)
    assert {(event.actor, event.actor_key, event.machine) for event in (begun, done)} == {
        (None, None, "command")
    }
    page = client_as(ann).get("/projects/triage/settings/audit?who=Command").content.decode()
    assert page.count("<bdi>command line</bdi></td>") == 2
    assert "began the import of jobs" in page
    assert "of its Jobs 1 were added" in page
    (tmp_path / "bad.zip").write_bytes(b"no archive")
    run(tmp_path / "bad.zip", code=1)
    last = AuditEvent.objects.latest("pk")
    assert (last.machine, last.detail["problems"], last.project) == ("command", 1, project)


@pytest.mark.parametrize("shape", ["store", "job", "project", "tar"])
def test_takes_folders_and_archives(shape: str, project: Project, tmp_path: Path) -> None:
    folder = make_job(tmp_path / "desk" / ".plural" / "jobs")
    path = {
        "store": folder.parent,
        "job": folder,
        "project": tmp_path / "desk",
        "tar": tmp_path / "x.tar.gz",
    }[shape]
    if shape == "tar":
        with tarfile.open(path, "w:gz") as archive:
            archive.add(tmp_path / "desk", "desk")
    run(path, "--project", "triage")
    assert Job.objects.get().client_job_id == folder.name


def test_json_is_the_whole_report_and_nothing_else(project: Project, tmp_path: Path) -> None:
    good = make_job(tmp_path)
    bad = make_job(tmp_path, key="bad")
    (bad / "lock.json").write_text("{")
    out, _ = run(tmp_path, "--json", code=1)
    report = json.loads(out)
    assert (report["landed"], report["added"], report["refused"], report["trials_added"]) == (False, 1, 1, 2)
    by_result = {job["result"]: job for job in report["jobs"]}
    assert by_result["added"]["job_id"] == good.name
    (problem,) = report["problems"]
    assert problem == by_result["refused"]["problem"]
    assert problem["file"].endswith(f"{bad.name}/lock.json")


def test_exit_code_is_one_and_the_problem_stands_on_stderr(project: Project, tmp_path: Path) -> None:
    folder = make_job(tmp_path)
    (folder / "config.json").unlink()
    out, err = run(folder, code=1)
    assert "config.json" in err
    assert "1 refused" in out
    assert not Job.objects.exists()


def test_what_a_job_says_can_not_steer_the_terminal(project: Project, tmp_path: Path) -> None:
    make_job(tmp_path, track_id="\x1b[2Jred\u202e", agents=[AgentSpec(name="\x1b]0;owned\x07")])
    make_job(tmp_path, benchmark=BenchmarkSpec(name="\x1b[31mBench"), key="2")
    bad = make_job(tmp_path, key="bad")
    bad.rename(bad.with_name("job_\u202ebad"))
    out, err = run(tmp_path, code=1)
    assert not {"\x1b", "\x07", "\u202e"} & set(out + err)
    assert "note: " in out


def test_refusals(project: Project, ann: User, tmp_path: Path) -> None:
    folder = make_job(tmp_path)
    assert "There is no /no/such" in run("/no/such", code=1)[1]
    assert "no project other" in run(folder, "--project", "other", code=1)[1]
    create_project(actor=ann, account=project.account, slug="other")
    assert "several projects" in run(folder, code=1)[1]
    Project.objects.filter(slug="other").update(archived_at=timezone.now())
    assert "archived" in run(folder, "--project", "other", code=1)[1]
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty", "--project", "triage", code=1)[1]
    (tmp_path / "text.tar.gz").write_text("no archive")
    assert "text.tar.gz" in run(tmp_path / "text.tar.gz", "--project", "triage", code=1)[1]
    assert not Job.objects.exists()


def test_without_any_project_it_says_how_to_make_one(db: None, tmp_path: Path) -> None:
    assert "manage.py create_project" in run(tmp_path, code=1)[1]
