"""What a retention rule takes from Jobs, and all that it never touches."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from jobs import holds, trimming, undo
from jobs.actions import close_job
from jobs.domain.file_kinds import FileKind, kind_of
from jobs.domain.retention import Rule
from jobs.import_lock import scratch_root
from jobs.imports import ImportReport
from jobs.models import (
    Blob,
    Execution,
    ImportRun,
    Job,
    RetentionRule,
    StepIndex,
    StepText,
    SupersededTrial,
    TextMark,
    Trial,
)
from jobs.queue import QueueWorker
from jobs.retention import Plan, end_rule, kept_jobs, plan, set_rule
from jobs.search_texts import index_texts
from jobs.sizes import measured, sizes_from
from jobs.stored_files import StoredFile, StoredFiles
from jobs.trimming import apply_rule, due
from plural_site.accounts.actions import create_project, personal_account
from plural_site.accounts.actions_projects import archive_project
from plural_site.accounts.models import AuditEvent, Machine, Project, User
from tests.builders import AWAITING_REVIEW, START, BenchmarkSpec, Outcome, make_job, track
from tests.importing import bring, figures, files_below, stored

ALL = ("trajectories", "artifacts", "logs")
SPEC = BenchmarkSpec(tracks=(track(),))
OnCommit = Callable[..., AbstractContextManager[Any]]


@pytest.fixture(autouse=True)
def _no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of other tests are rolled back, files are not; and no app holds anything."""
    shutil.rmtree(Path(settings.DATA_DIR) / "blobs", ignore_errors=True)
    monkeypatch.setattr(holds, "_holds", [])


def outcome(agent: str, task: str, attempt: int) -> Outcome:
    """Every kind of file, of which the picture is no text."""
    return Outcome(artifacts={"shot.png": b"\x89PNG\r\n\x1a\n" + task.encode() * 99, "notes/a.txt": b"seen"})


def job(folder: Path, key: str, *, hours: int = 0, **more: Any) -> Path:
    told: dict[str, Any] = {"outcomes": outcome, "benchmark": SPEC, "track_id": "open"} | more
    return make_job(folder, key=key, started=START + timedelta(hours=hours), **told)


def rule(project: Project, actor: User, *, days: int | None = None, newest: int | None = 1) -> Rule:
    made = Rule(days, newest, ALL)
    set_rule(actor=actor, project=project, rule=made)
    return made


def plan_of(project: Project) -> Plan:
    """What the rule, which there has to be, takes now."""
    found = due(project)
    assert found is not None
    return found


def apply(project: Project) -> list[trimming.Trimmed]:
    return list(apply_rule(project, Machine.WORKER))


def contents() -> Iterator[tuple[int, str, StoredFile, bytes]]:
    """Each file of each execution, as a page would read it; b'' for what was removed."""
    for execution in Execution.objects.order_by("pk"):
        files = StoredFiles(execution.pack_id, execution.files)
        for file in files.files:
            yield execution.pk, file.path, file, b"".join(files.chunks(file))


def counted() -> dict[str, Any]:
    """Every row, without where files lie."""
    rows = stored()
    left_out = {"pack_id", "files", "size", "sizes", "packs"}
    return {
        name: [{key: value for key, value in row.items() if key not in left_out} for row in found]
        for name, found in rows.items()
        if name != "Blob"
    }


@pytest.fixture
def three(project: Project, tmp_path: Path) -> Project:
    """Jobs a, b and c of one Benchmark, of which c is the newest."""
    for hours, key in enumerate("abc"):
        job(tmp_path, key, hours=hours)
    bring(project, tmp_path)
    return project


def by_key() -> list[Job]:
    return list(Job.objects.order_by("started_at"))


def test_real_jobs_lose_what_the_rule_says_and_nothing_that_counts(
    imported: ImportReport, project: Project, ann: User, django_capture_on_commit_callbacks: OnCommit
) -> None:
    before, board, rows = list(contents()), figures(), counted()
    disk = sum(size for size in Blob.objects.values_list("size", flat=True))
    rule(project, ann, newest=3)
    found = plan_of(project)
    planned = {going.job_id: (going.files, going.size) for going in found.going}
    assert len(planned) > 5
    with django_capture_on_commit_callbacks(execute=True):
        done = apply(project)
    assert {one.job_id: (one.files, one.size) for one in done} == planned
    assert (figures(), counted()) == (board, rows)
    kept_whole = set(Job.objects.exclude(client_job_id__in=planned).values_list("pk", flat=True))
    whole = set(Execution.objects.filter(trial__job__in=kept_whole).values_list("pk", flat=True))
    gone = 0
    for (key, path, was, data), (key_now, path_now, file, data_now) in zip(before, contents(), strict=True):
        assert (key, path, was.digest, was.size) == (key_now, path_now, file.digest, file.size)
        if key in whole or kind_of(path, was.role) is FileKind.RECORDS:
            assert data_now == data
            assert f"sha256:{hashlib.sha256(data).hexdigest()}" == file.digest
            assert not file.removed
        else:
            assert (data_now, bool(file.removed)) == (b"", True)
            gone += 1
    assert gone == found.files
    assert disk - sum(Blob.objects.values_list("size", flat=True)) == found.freed
    assert {f"sha256:{path[-64:]}" for path in files_below("blobs")} == set(
        Blob.objects.values_list("digest", flat=True)
    )
    for row in Job.objects.all():
        assert sizes_from(row.sizes) == measured(row)
        assert row.size == sum(sizes_from(row.sizes).packs.values())
    assert apply(project) == []


def test_receipts_of_trimmed_trials_still_prove(
    imported: ImportReport, project: Project, ann: User, client_as: Any
) -> None:
    rule(project, ann)
    apply(project)
    oldest = by_key()[0]
    trial = Trial.objects.filter(job=oldest).earliest("pk").client_trial_id
    page = client_as(ann).get(f"/projects/triage/trials/{trial}/receipt?job={oldest.client_job_id}")
    text = page.content.decode()
    assert "recomputed digests match" in text
    assert "digests differ" not in text
    assert "removed by the project’s retention rule on" in text


def test_rule_by_age_and_by_number_keep_while_either_covers(three: Project, ann: User) -> None:
    rule(three, ann, days=10, newest=1)
    assert due(three) == plan(Rule(10, 1, ALL), kept_jobs(three), timezone.now())
    assert plan_of(three).going == ()
    with time_machine.travel(timezone.now() + timedelta(days=11), tick=False):
        assert {going.key for going in plan_of(three).going} == {one.pk for one in by_key()[:2]}


def test_newest_are_those_of_each_benchmark(three: Project, ann: User, tmp_path: Path) -> None:
    other = BenchmarkSpec(slug="other", name="Other", tracks=(track(),))
    bring(three, job(tmp_path / "other", "d", benchmark=other, hours=-5))
    bring(three, job(tmp_path / "task", "e", benchmark=None, single_task="alone", track_id=None, hours=-9))
    rule(three, ann, newest=1)
    assert {going.job_id for going in plan_of(three).going} == {
        one.client_job_id for one in Job.objects.filter(revision__resource__slug="demo-bench")[:2]
    }


def test_jobs_that_something_rests_on_stay_whole(three: Project, ann: User) -> None:
    first, second, _ = by_key()
    holds.add_hold(lambda keys: {first.pk: "The draft of Ann selects it."} if first.pk in keys else {})
    rule(three, ann)
    found = plan_of(three)
    assert (found.held, [going.key for going in found.going]) == (
        {first.client_job_id: "The draft of Ann selects it."},
        [second.pk],
    )
    assert [one.job_id for one in apply(three)] == [second.client_job_id]
    run = ImportRun.objects.get()
    assert "The draft of Ann selects it." in undo.blockers(run)


def test_job_that_is_held_in_the_middle_is_left(
    three: Project, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the plan and the act somebody selects it."""
    rule(three, ann)
    before = list(contents())
    found = trimming.due

    def late(project: Project) -> Any:
        planned = found(project)
        holds.add_hold(lambda keys: dict.fromkeys(keys, "A draft selects it."))
        return planned

    monkeypatch.setattr(trimming, "due", late)
    assert {one.problem for one in apply(three)} == {"A draft selects it."}
    assert list(contents()) == before


def test_open_jobs_stay_whole_until_they_are_closed(project: Project, ann: User, tmp_path: Path) -> None:
    job(tmp_path, "a", result_json=False)
    job(tmp_path, "b", hours=1)
    bring(project, tmp_path)
    rule(project, ann)
    assert plan_of(project).going == ()
    first = by_key()[0]
    close_job(actor=ann, project=project, job_id=first.client_job_id, reason="It was killed.")
    assert [going.key for going in plan_of(project).going] == [first.pk]


def test_archived_project_loses_nothing(three: Project, ann: User) -> None:
    rule(three, ann)
    archive_project(actor=ann, project=three, archived=True)
    assert due(three) is None
    assert apply(three) == []
    with pytest.raises(CommandError, match="no retention rule"):
        call_command("apply_retention", "--project", "triage", stdout=StringIO())


def test_trimmed_job_imported_again_is_unchanged(three: Project, ann: User, tmp_path: Path) -> None:
    rule(three, ann)
    apply(three)
    after = list(contents())
    assert bring(three, tmp_path).count("unchanged") == 3
    assert list(contents()) == after


def test_job_that_grew_loses_what_its_earlier_states_left(
    project: Project, ann: User, tmp_path: Path, django_capture_on_commit_callbacks: OnCommit
) -> None:
    def open_still(agent: str, task: str, attempt: int) -> Outcome:
        return AWAITING_REVIEW if task == "first" else outcome(agent, task, attempt)

    bring(project, job(tmp_path / "half", "a", outcomes=open_still, result_json=False))
    bring(project, job(tmp_path / "whole", "a"))
    bring(project, job(tmp_path / "later", "b", hours=1))
    first = by_key()[0]
    assert SupersededTrial.objects.get().packs
    sizes = sizes_from(first.sizes)
    assert sizes.earlier > 0
    rule(project, ann)
    kept, going = figures(), plan_of(project).going[0]
    assert going.freed == going.size + sizes.earlier
    with django_capture_on_commit_callbacks(execute=True):
        apply(project)
    first.refresh_from_db()
    assert (sizes_from(first.sizes).earlier, SupersededTrial.objects.get().packs) == (0, [])
    assert SupersededTrial.objects.get().figures["status"] == "awaiting_review"
    assert figures() == kept
    assert len(files_below("blobs")) == Blob.objects.count() == 3


def test_damaged_files_stop_it_and_nothing_changes(three: Project, ann: User) -> None:
    """Damage is never carried into a pack with a digest of its own."""
    first, second, _ = by_key()
    digest = first.pack_id.removeprefix("sha256:")
    path = Path(settings.DATA_DIR) / "blobs" / "sha256" / digest[:2] / digest[2:4] / digest
    whole = path.read_bytes()
    execution = Execution.objects.filter(trial__job=first).earliest("pk")
    result = StoredFiles(execution.pack_id, execution.files).get("result.json")
    assert result is not None
    path.write_bytes(whole[: result.offset + 3] + b"#" + whole[result.offset + 4 :])
    rule(three, ann)
    rows = stored()
    done = {one.job_id: one for one in apply(three)}
    assert done[first.client_job_id].problem == "its stored file result.json is not what was recorded"
    assert done[second.client_job_id].files
    for name in ("Trial", "Tally"):
        assert stored()[name] == rows[name]
    first.refresh_from_db()
    assert first.pack_id == f"sha256:{digest}"
    path.unlink()
    assert next(iter(apply(three))).problem == f"the store has lost {first.pack_id}"
    out, err = StringIO(), StringIO()
    with pytest.raises(CommandError, match="1 Job could not be dealt with"):
        call_command("apply_retention", stdout=out, stderr=err)
    assert "the store has lost" in err.getvalue()


def test_stopped_in_the_middle_it_goes_on_from_there(
    project: Project, ann: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a Job in several packs one is rewritten, then its process dies."""
    monkeypatch.setattr("jobs.staging.SEGMENT", 6_000)
    bring(project, job(tmp_path / "a", "a", attempts=4))
    bring(project, job(tmp_path / "b", "b", hours=1))
    first = by_key()[0]
    assert len(sizes_from(first.sizes).packs) > 3
    rule(project, ann)
    planned = plan_of(project).going[0]
    rewrite, calls = trimming._Trim._rewrite, []

    def dying(self: Any, pack: str) -> None:
        calls.append(pack)
        if len(calls) > 2:
            raise KeyboardInterrupt
        rewrite(self, pack)

    monkeypatch.setattr(trimming._Trim, "_rewrite", dying)
    with pytest.raises(KeyboardInterrupt):
        apply(project)
    assert [data for *_, file, data in contents() if not file.removed and len(data) != file.size] == []
    monkeypatch.setattr(trimming._Trim, "_rewrite", rewrite)
    (done,) = apply(project)
    assert (done.files, done.size) == (planned.files, planned.size)
    first.refresh_from_db()
    assert sizes_from(first.sizes) == measured(first)
    assert not list(scratch_root().glob("trim-*"))


def test_files_that_another_project_holds_too_stay_there(
    three: Project, ann: User, tmp_path: Path, django_capture_on_commit_callbacks: OnCommit
) -> None:
    other = create_project(actor=ann, account=personal_account(ann), slug="other")
    bring(other, tmp_path)
    theirs = {
        key: data
        for key, _, file, data in contents()
        if Execution.objects.get(pk=key).trial.job.project_id == other.pk
    }
    rule(three, ann)
    with django_capture_on_commit_callbacks(execute=True):
        assert len(apply(three)) == 2
    assert due(other) is None
    after = {key: data for key, _, file, data in contents() if key in theirs}
    assert after == theirs


def test_trajectories_that_went_leave_the_indexes(three: Project, ann: User) -> None:
    jobs = [one.pk for one in by_key()]
    index_texts(jobs)
    texts = StepText.objects.filter(job=jobs[2]).count()
    assert StepIndex.objects.count() == TextMark.objects.count() == 6
    set_rule(actor=ann, project=three, rule=Rule(None, 1, ("trajectories",)))
    apply(three)
    assert set(StepIndex.objects.values_list("execution__trial__job", flat=True)) == {jobs[2]}
    assert StepText.objects.count() == texts
    index_texts(jobs)
    assert TextMark.objects.filter(is_whole=True, problem="").count() == 6
    assert StepText.objects.count() == texts


def test_worker_applies_the_rule_and_the_log_says_so(three: Project, ann: User) -> None:
    rule(three, ann)
    worker = QueueWorker()
    for _ in range(4):
        worker.step()
    events = AuditEvent.objects.filter(verb="retention.apply")
    assert {(event.machine, event.object_id) for event in events} == {
        ("worker", str(one.pk)) for one in by_key()[:2]
    }
    assert RetentionRule.objects.get().applied_at is not None
    assert plan_of(three).going == ()


def test_command_says_first_what_would_go(three: Project, ann: User) -> None:
    out = StringIO()
    call_command("apply_retention", stdout=out)
    assert out.getvalue() == "No project has a retention rule.\n"
    rule(three, ann)
    before = list(contents())
    call_command("apply_retention", "--dry-run", stdout=out)
    assert out.getvalue().count("files would go") == 2
    assert list(contents()) == before
    call_command("apply_retention", "--project", "triage", stdout=out)
    assert "of 2 Jobs gone" in out.getvalue()
    assert AuditEvent.objects.filter(verb="retention.apply", machine="command").count() == 2


def test_rule_is_changed_and_ended_with_events(project: Project, ann: User) -> None:
    rule(project, ann, days=30, newest=None)
    rule(project, ann, days=60, newest=5)
    end_rule(actor=ann, project=project)
    end_rule(actor=ann, project=project)
    events = AuditEvent.objects.filter(verb__startswith="retention.").order_by("pk")
    assert [(event.verb, event.detail["kept"]) for event in events] == [
        ("retention.set", "for 30 days"),
        ("retention.set", "for 60 days and while it is among the newest 5 of its Benchmark"),
        ("retention.end", "for 60 days and while it is among the newest 5 of its Benchmark"),
    ]
    assert not RetentionRule.objects.exists()


def test_rule_changed_meanwhile_stops_it(three: Project, ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    rule(three, ann)
    found = trimming.due

    def changed(project: Project) -> Any:
        planned = found(project)
        set_rule(actor=ann, project=three, rule=Rule(None, 2, ALL))
        return planned

    monkeypatch.setattr(trimming, "due", changed)
    assert {one.problem for one in apply(three)} == {"the rule has changed meanwhile"}
