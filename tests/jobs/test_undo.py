"""Taking an import back: what goes, what stays, and the figures afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from benchmarks.domain.types import DomainError
from benchmarks.models import Revision
from jobs import holds
from jobs import undo as undoing
from jobs.models import Blob, ImportRun, Job, Trial
from plural_site.accounts.actions import create_project, personal_account
from plural_site.accounts.models import AuditEvent, Project, User
from tests.builders import START, AgentSpec, BenchmarkSpec, make_job, track
from tests.importing import bring, figures, files_below

SPEC = BenchmarkSpec(tracks=(track(),))
OnCommit = Callable[..., AbstractContextManager[Any]]


@pytest.fixture(autouse=True)
def _no_files() -> None:
    """Rows of other tests are rolled back, files are not."""
    shutil.rmtree(Path(settings.DATA_DIR) / "blobs", ignore_errors=True)


def job(folder: Path, key: str, **more: Any) -> Path:
    """Of an Agent of its own and of one that all share."""
    agents = more.pop("agents", (AgentSpec(name=f"only-{key}"), AgentSpec(name="shared", model="sim/shared")))
    started = START + timedelta(hours=len(key))
    return make_job(folder, benchmark=SPEC, track_id="open", key=key, agents=agents, started=started, **more)


def only_run() -> ImportRun:
    return ImportRun.objects.latest("pk")


def undo(project: Project, actor: User, run: ImportRun) -> None:
    undoing.undo(actor=actor, project=project, run_id=run.pk)


def test_undone_import_is_as_if_it_had_never_been(
    project: Project, ben: User, tmp_path: Path, django_capture_on_commit_callbacks: OnCommit
) -> None:
    bring(project, job(tmp_path / "a", "a"))
    before = figures(), set(Blob.objects.values_list("pk", flat=True)), files_below("blobs")
    stayed = set(Job.objects.values_list("pk", flat=True))
    bring(project, job(tmp_path / "b", "bb"))
    run, revisions = only_run(), Revision.objects.count()
    assert figures() != before[0]
    assert undoing.going(run).jobs == 1
    with django_capture_on_commit_callbacks(execute=True):
        undo(project, ben, run)
    assert (figures(), set(Blob.objects.values_list("pk", flat=True)), files_below("blobs")) == before
    assert set(Job.objects.values_list("pk", flat=True)) == stayed
    assert set(Trial.objects.values_list("job", flat=True)) == stayed
    assert Revision.objects.count() == revisions
    run.refresh_from_db()
    assert (run.status, run.undone_by) == ("undone", ben)
    event = AuditEvent.objects.get(verb="import.undo")
    assert (event.actor, event.detail["jobs"], event.detail["trials"]) == (ben, 1, 4)
    with pytest.raises(DomainError, match="only an import that has ended|undone"):
        undo(project, ben, run)
    assert bring(project, tmp_path / "b").count("added") == 1


def test_last_import_undone_leaves_an_empty_board(project: Project, ben: User, tmp_path: Path) -> None:
    bring(project, job(tmp_path / "a", "a"))
    undo(project, ben, only_run())
    assert (Job.objects.count(), Trial.objects.count(), Blob.objects.count(), figures()) == (0, 0, 0, [])
    assert Revision.objects.exists()


def test_jobs_brought_up_to_date_stay(project: Project, ben: User, tmp_path: Path) -> None:
    def half(agent: str, task: str, attempt: int) -> float | None:
        return 1.0 if task == "first" else None

    bring(project, job(tmp_path / "a", "a", agents=(AgentSpec(),), outcomes=half, result_json=False))
    first = only_run()
    job(tmp_path / "a2", "a", agents=(AgentSpec(),))
    bring(project, job(tmp_path / "a2", "bb").parent)
    second = only_run()
    assert (undoing.updated_jobs(second).count(), undoing.going_jobs(second).count()) == (1, 1)
    assert undoing.grown_jobs(first).count() == 1
    with pytest.raises(DomainError, match="No Job that it added"):
        undo(project, ben, first)
    undo(project, ben, second)
    assert (Job.objects.count(), Trial.objects.count()) == (1, 2)


def test_hold_and_running_import_hinder(
    project: Project, ben: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(project, job(tmp_path / "a", "a"))
    run = only_run()
    monkeypatch.setattr(holds, "_holds", [])
    holds.add_hold(lambda keys: dict.fromkeys(keys, "A publication rests on it."))
    with pytest.raises(DomainError, match="A publication rests on"):
        undo(project, ben, run)
    monkeypatch.setattr(holds, "_holds", [])
    other = ImportRun.objects.create(
        project=project, source="x", status="running", host="elsewhere", beat_at=run.beat_at
    )
    with pytest.raises(DomainError, match="is running"):
        undo(project, ben, run)
    assert Job.objects.count() == 1
    other.delete()
    undo(project, ben, run)


def test_files_that_another_project_holds_too_stay(
    project: Project, ann: User, tmp_path: Path, django_capture_on_commit_callbacks: OnCommit
) -> None:
    other = create_project(actor=ann, account=personal_account(ann), slug="other")
    folder = job(tmp_path / "a", "a")
    bring(project, folder)
    run = only_run()
    bring(other, folder)
    held = files_below("blobs")
    with django_capture_on_commit_callbacks(execute=True):
        undo(project, ann, run)
    assert files_below("blobs") == held
    assert Job.objects.get().project == other
