"""Jobs that are imported again: grown, older, altered, doubled, broken."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.models import Resource, Revision
from jobs import record
from jobs.import_lock import remove_leftovers
from jobs.imports import import_path
from jobs.models import Blob, Execution, ImportRun, Job, SupersededTrial, Tally, Trial
from plural_site.accounts.actions import create_project
from plural_site.accounts.models import Project, User
from tests.builders import (
    AWAITING_REVIEW,
    START,
    AgentSpec,
    BenchmarkSpec,
    Outcome,
    change,
    failed,
    make_job,
    scoring,
    track,
)
from tests.importing import bring, figures, files_below, overall, refused, stored

EASY, HARD = ("easy", "hard")
ON_TRACK = BenchmarkSpec(tasks=(EASY, HARD), tracks=(track("open"), track("closed")))
Outcomes = Callable[[str, str, int], Outcome | float | None]


def grow(
    project: Project, tmp_path: Path, before: dict[str, Any], after: dict[str, Any], **both: Any
) -> tuple[Path, Path]:
    """Two copies of one Job in folders of their own; the first is imported."""
    first = make_job(tmp_path / "first", **both, **before)
    second = make_job(tmp_path / "second", **both, **after)
    assert first.name == second.name
    bring(project, first)
    return first, second


def some_missing(agent: str, task: str, attempt: int) -> float | None:
    return 1.0 if task == EASY else None


def all_there(agent: str, task: str, attempt: int) -> float:
    return 1.0 if task == EASY else 0.5


@pytest.fixture
def killed_then_finished(project: Project, tmp_path: Path) -> tuple[Path, Path]:
    return grow(
        project,
        tmp_path,
        {"outcomes": some_missing, "result_json": False},
        {"outcomes": all_there},
        benchmark=ON_TRACK,
        track_id="open",
    )


def test_killed_job_is_completed(project: Project, killed_then_finished: tuple[Path, Path]) -> None:
    job = Job.objects.get()
    assert (job.status, job.finished_at) == ("running", None)
    assert (overall("open@1.0.0").outcomes, overall("open@1.0.0").planned) == ({"scored": 1}, 2)
    kept = Trial.objects.get().pk
    report = bring(project, killed_then_finished[1])
    assert (report.count("updated"), report.jobs[0].trials_added, report.jobs[0].trials_replaced) == (1, 1, 0)
    job.refresh_from_db()
    assert (job.status, job.finished_at is not None, job.state) == ("succeeded", True, "ready")
    assert Trial.objects.filter(pk=kept).exists()
    assert not SupersededTrial.objects.exists()
    row = overall("open@1.0.0")
    assert (row.outcomes, row.score, row.eligible) == ({"scored": 2}, 0.75, True)
    agent = job.agents.get()
    assert (agent.recorded, agent.planned, agent.outcomes) == (2, 2, {"scored": 2})


def test_older_copy_changes_nothing(project: Project, killed_then_finished: tuple[Path, Path]) -> None:
    older, newer = killed_then_finished
    bring(project, newer)
    before = stored()
    for copy in (older, newer):
        assert bring(project, copy).count("unchanged") == 1
        assert stored() == before


RETRIED = Outcome(score=1.0, before=(failed("provider_unavailable"),))
GROWTHS: dict[str, tuple[Outcome, Outcome, str, str]] = {
    "failed, then retried with success": (
        failed("provider_unavailable"),
        RETRIED,
        "infrastructure_error",
        "failed",
    ),
    "awaiting review, then reviewed": (AWAITING_REVIEW, Outcome(score=0.5), "pending", "awaiting_review"),
}


@pytest.mark.parametrize("case", GROWTHS.values(), ids=GROWTHS.keys())
def test_grown_trial_replaces_the_old_which_stays_as_superseded(
    case: tuple[Outcome, Outcome, str, str], project: Project, tmp_path: Path
) -> None:
    old, new, outcome, status = case
    older, newer = grow(
        project,
        tmp_path,
        {"outcomes": lambda a, t, n: old if t == HARD else 1.0},
        {"outcomes": lambda a, t, n: new if t == HARD else 1.0},
        benchmark=ON_TRACK,
        track_id="open",
    )
    trial = Trial.objects.get(task_name=HARD)
    assert (trial.outcome, trial.job.status) == (outcome, status)
    packs = list(trial.executions.values_list("pack_id", flat=True))
    report = bring(project, newer)
    assert (report.jobs[0].trials_added, report.jobs[0].trials_replaced) == (0, 1)
    kept = SupersededTrial.objects.get()
    assert kept.trial == trial
    assert (kept.figures["outcome"], kept.figures["score"], kept.result_digest) == (
        outcome,
        None,
        trial.result_digest,
    )
    assert kept.packs == packs
    trial.refresh_from_db()
    assert (trial.outcome, trial.score, trial.job.status) == ("scored", new.score, "succeeded")
    assert trial.executions.count() == 1 + len(new.before)
    assert [execution.is_final for execution in trial.executions.all()][-1]
    assert Execution.objects.count() == 2 + len(new.before)
    row = overall("open@1.0.0")
    assert (row.outcomes, row.attempts) == ({"scored": 2}, 2)
    before = stored()
    assert bring(project, older).count("unchanged") == 1
    assert stored() == before


def test_finished_success_that_changed_is_refused(project: Project, tmp_path: Path) -> None:
    _, altered = grow(
        project, tmp_path, {"outcomes": lambda a, t, n: 0.25}, {"outcomes": lambda a, t, n: 1.0}
    )
    before = stored()
    report = refused(project, altered)
    assert report.count("refused") == 1
    assert report.problems[0].file.endswith("result.json")
    assert "altered" in report.problems[0].message
    assert stored() == before


def test_another_configuration_under_the_same_id_is_refused(project: Project, tmp_path: Path) -> None:
    copy = make_job(tmp_path)
    bring(project, copy)
    before = stored()
    other = make_job(tmp_path / "other", attempts=2)
    shutil.copytree(copy, tmp_path / "altered" / copy.name)
    for name in ("config.json", "lock.json"):
        shutil.copy(other / name, tmp_path / "altered" / copy.name / name)
    change(tmp_path / "altered" / copy.name / "lock.json", "job_id", copy.name)
    report = refused(project, tmp_path / "altered" / copy.name)
    assert report.problems[0].file.endswith("config.json")
    assert "same id" in report.problems[0].message
    assert stored() == before


def test_changed_config_is_refused_though_the_lock_says_the_same(project: Project, tmp_path: Path) -> None:
    copy = make_job(tmp_path)
    bring(project, copy)
    before = stored()
    change(copy / "config.json", "attempts", 2)
    assert refused(project, copy).problems[0].file.endswith("config.json")
    assert stored() == before


@pytest.mark.parametrize("later", ["closed", None])
def test_job_that_names_another_track_later_is_refused(
    later: str | None, project: Project, tmp_path: Path
) -> None:
    copy = make_job(tmp_path, benchmark=ON_TRACK, track_id="open")
    bring(project, copy)
    before = stored()
    change(copy / "run.json", "evaluation_track", later)
    (problem,) = refused(project, copy).problems
    assert (problem.file.endswith("run.json"), problem.field) == (True, "evaluation_track")
    assert stored() == before


def test_unknown_track_comes_in_untracked_with_a_note(project: Project, tmp_path: Path) -> None:
    copy = make_job(tmp_path, benchmark=ON_TRACK, track_id="no-such")
    report = bring(project, copy)
    (note,) = report.jobs[0].notes
    assert (note.field, "no-such" in note.message) == ("evaluation_track", True)
    job = Job.objects.get()
    assert job.track_ref == ""
    assert any("no-such" in kept["message"] for kept in job.notes)
    assert not overall("").eligible
    assert bring(project, copy).count("unchanged") == 1


def test_jobs_of_one_configuration_add_up_and_a_rerun_counts_as_more_attempts(
    project: Project, tmp_path: Path
) -> None:
    first = make_job(tmp_path, outcomes=lambda a, t, n: 1.0, key="1")
    make_job(
        tmp_path,
        outcomes=lambda a, t, n: 0.0,
        key="2",
        rerun_of=first.name,
        started=START + timedelta(hours=1),
    )
    bring(project, tmp_path)
    row = overall()
    assert (row.attempts, row.planned, row.score) == (4, 4, 0.5)
    assert Job.objects.get(rerun_of_job=first.name).client_job_id != first.name


def test_one_content_under_two_names_is_one_entry(project: Project, tmp_path: Path) -> None:
    make_job(tmp_path, agents=[AgentSpec(name="red"), AgentSpec(name="blue")], outcomes=lambda a, t, n: 1.0)
    bring(project, tmp_path)
    row = overall()
    assert (row.attempts, row.planned) == (4, 4)
    agents = list(Job.objects.get().agents.values_list("name", "recorded"))
    assert agents == [("red", 2), ("blue", 2)]


def test_version_claimed_by_two_contents_stays_with_the_first(project: Project, tmp_path: Path) -> None:
    make_job(tmp_path, benchmark=BenchmarkSpec(purpose="One thing."))
    later = START + timedelta(days=1)
    second = make_job(tmp_path, benchmark=BenchmarkSpec(purpose="Another."), started=later)
    report = bring(project, tmp_path)
    notes = {job.job_id: job.notes for job in report.jobs}
    (note,) = notes[second.name]
    assert "claims version 1.0.0, which is revision 1" in note.message
    revisions = Resource.objects.get(kind="benchmark").revisions.order_by("number")
    assert [(revision.number, revision.version) for revision in revisions] == [(1, "1.0.0"), (2, "")]


def test_changed_track_rules_under_one_reference_are_refused_and_leave_nothing(
    project: Project, tmp_path: Path
) -> None:
    bring(project, make_job(tmp_path / "1", benchmark=ON_TRACK, track_id="open"))
    before, blobs = stored(), files_below("blobs")
    changed = BenchmarkSpec(
        tasks=(EASY, HARD, "third"), version="1.1.0", tracks=(track("open", attempts=3), track("closed"))
    )
    copy = make_job(
        tmp_path / "2",
        benchmark=changed,
        attempts=3,
        track_id="open",
        agents=[AgentSpec(name="new", model="x/y")],
    )
    (problem,) = refused(project, copy).problems
    assert "open@1.0.0" in problem.message
    assert stored() == before
    assert files_below("blobs") == blobs


def break_score(folder: Path) -> tuple[str, str]:
    trial = sorted((folder / "trials").iterdir())[-1]
    file = trial / "result.json"
    change(file, "score", "high")
    return f"{folder.name}/trials/{trial.name}/result.json", "score"


def break_lock(folder: Path) -> tuple[str, str]:
    change(folder / "lock.json", "agent_digests", 7)
    return f"{folder.name}/lock.json", "agent_digests"


def break_length(folder: Path) -> tuple[str, str]:
    for trial in (folder / "trials").iterdir():
        for file in (trial / "result.json", trial / "executions" / "0" / "result.json"):
            change(file, "stop_reason", "x" * 1000)
    return f"{folder.name}/trials", "stop_reason"


@pytest.mark.parametrize("damage", [break_score, break_lock, break_length])
def test_bad_job_among_good_ones_leaves_nothing_and_the_others_land(
    damage: Callable[[Path], tuple[str, str]], project: Project, tmp_path: Path
) -> None:
    good = [make_job(tmp_path, key=str(n), started=START + timedelta(hours=n)) for n in (0, 2)]
    blobs_before = files_below("blobs")
    spec = BenchmarkSpec(name="Bad Bench", slug="bad-bench", tasks=("bad task",))
    bad = make_job(
        tmp_path,
        benchmark=spec,
        started=START + timedelta(hours=1),
        agents=[AgentSpec(name="b", model="b/b")],
    )
    file, field = damage(bad)
    with pytest.raises(CommandError) as stopped:
        call_command("import_jobs", str(tmp_path), "--project", project.slug, "--json")
    assert stopped.value.returncode == 1
    run = ImportRun.objects.get()
    assert run.status == "failed"
    (problem,) = run.report["problems"]
    assert problem["file"].startswith(file)
    assert problem["field"] == field
    assert {job.client_job_id for job in Job.objects.all()} == {folder.name for folder in good}
    assert {job["result"] for job in run.report["jobs"]} == {"added", "refused"}
    assert not Resource.objects.filter(slug__startswith="bad").exists()
    assert not Revision.objects.filter(definition__contains="bad task").exists()
    packs = set(Job.objects.values_list("pack_id", flat=True)) | set(
        Execution.objects.values_list("pack_id", flat=True)
    )
    new = {name.rpartition("/")[2] for name in files_below("blobs") - blobs_before}
    assert new <= {digest.removeprefix("sha256:") for digest in packs}
    assert files_below("scratch") == set()


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Job that is written in three parts."""
    monkeypatch.setattr(record, "BATCH", 2)
    return make_job(tmp_path, benchmark=BenchmarkSpec(tasks=("a", "b", "c", "d", "e")))


class CrashError(BaseException):
    """As if the process died."""


def crash(project: Project, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = record._write_trials
    calls = []

    def dies_at_the_second(*args: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise CrashError
        written(*args)

    with monkeypatch.context() as patch, pytest.raises(CrashError):
        patch.setattr(record, "_write_trials", dies_at_the_second)
        import_path(project=project, actor=None, path=path)


def nothing_is_visible(project: Project) -> bool:
    return not (
        Job.objects.visible(project).exists()
        or Trial.objects.visible(project).exists()
        or Tally.objects.exists()
        or Resource.objects.for_project(project).benchmarks().exists()
    )


def test_crash_in_the_middle_shows_nothing_and_the_next_import_completes(
    large: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash(project, large, monkeypatch)
    assert nothing_is_visible(project)
    report = bring(project, large)
    assert (report.count("added"), report.jobs[0].trials_added) == (1, 5)
    assert (Job.objects.get().state, Trial.objects.count(), overall().attempts) == ("ready", 5, 5)
    assert files_below("scratch") == set()


def test_what_a_dead_process_left_is_removed(
    large: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed has no time to clear up: its Job and its run stay as they are."""
    bring(project, large)
    Tally.objects.all().delete()
    Job.objects.update(state=Job.State.IMPORTING)
    ImportRun.objects.update(status="running", finished_at=None)
    remove_leftovers()
    assert (Job.objects.count(), Trial.objects.count()) == (0, 0)
    assert ImportRun.objects.get().status == "failed"
    assert bring(project, large).count("added") == 1
    assert overall().attempts == 5


def test_job_that_another_import_is_writing_is_left_to_it(
    large: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(project, large)
    Job.objects.update(state=Job.State.IMPORTING)
    ImportRun.objects.update(status="running", host="elsewhere", finished_at=None)
    waits: list[str] = []
    report = import_path(
        project=project, actor=None, path=large, patience=0.6, waiting=lambda: waits.append("once")
    )
    (problem,) = report.problems
    assert "another import" in problem.message
    assert (waits, Trial.objects.count()) == (["once"], 5)


def test_job_that_can_not_be_stored_is_named_and_the_others_land(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = BenchmarkSpec()
    for number in range(2):
        make_job(tmp_path / "jobs", benchmark=spec, key=str(number), started=START + timedelta(hours=number))
    moved = record._move_blobs
    calls: list[int] = []

    def full_at_first(staged: Any) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise OSError(28, "No space left on device")
        moved(staged)

    monkeypatch.setattr(record, "_move_blobs", full_at_first)
    report = import_path(project=project, actor=None, path=tmp_path / "jobs")
    assert [job.result for job in report.jobs] == ["refused", "added"]
    assert "No space left" in report.problems[0].message
    assert Job.objects.count() == 1


def test_digest_that_is_none_is_refused_before_anything_is_written(
    large: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = sorted((large / "trials").iterdir())[-1]
    before = files_below("blobs")
    for name in ("executions/0/receipt.json", "executions/0/result.json", "result.json"):
        file = last / name
        at = "" if name.endswith("receipt.json") else "receipt."
        change(file, f"{at}task_pin.content_hash", "sha256:" + "0" * 400)
    (problem,) = refused(project, large).problems
    assert last.name in problem.file
    assert (Resource.objects.count(), Blob.objects.count(), files_below("blobs")) == (0, 0, before)


def uneven(number: int) -> Outcomes:
    return lambda agent, task, attempt: Outcome(
        score=0.1 * (number + attempt) * ord(task) / 120, cost_usd=0.1 + number / 7
    )


def test_order_of_imports_does_not_matter_for_figures(project: Project, ann: User, tmp_path: Path) -> None:
    spec = BenchmarkSpec(
        tasks=("a", "b", "c", "d", "e", "f"),
        tracks=(track(attempts=2),),
        scoring=scoring(success_threshold=0.5),
    )
    paths = [
        make_job(
            tmp_path / str(n),
            benchmark=spec,
            attempts=2,
            key=str(n),
            track_id="open",
            started=START + timedelta(hours=n % 2),
            agents=[AgentSpec(harness=["one", "two"][n % 2]), AgentSpec(name="other", model="sim/two")],
            outcomes=uneven(n),
        )
        for n in range(3)
    ]
    for path in paths:
        bring(project, path)
    first = figures()
    Tally.objects.all().delete()
    other = create_project(actor=ann, account=project.account, slug="other")
    for path in reversed(paths):
        bring(other, path)
    assert figures() == first


def numbers() -> list[tuple[int, str]]:
    revisions = Resource.objects.get(kind="benchmark").revisions.order_by("number")
    return [(revision.number, revision.version) for revision in revisions]


def release(version: str) -> BenchmarkSpec:
    return BenchmarkSpec(version=version, purpose=f"What {version} is for.")


def test_numbers_follow_start_times_and_the_latest_started_is_current(
    project: Project, tmp_path: Path
) -> None:
    make_job(tmp_path / "1", benchmark=release("3.0.0"), started=START + timedelta(days=2))
    make_job(tmp_path / "1", benchmark=release("1.0.0"), started=START)
    bring(project, tmp_path / "1")
    assert numbers() == [(1, "1.0.0"), (2, "3.0.0")]
    bring(project, make_job(tmp_path / "2", benchmark=release("2.0.0"), started=START + timedelta(days=1)))
    assert numbers() == [(1, "1.0.0"), (2, "3.0.0"), (3, "2.0.0")]
    current = Resource.objects.get(kind="benchmark").current
    assert current is not None
    assert current.version == "3.0.0"


def test_chosen_current_revision_is_not_moved(project: Project, tmp_path: Path) -> None:
    bring(project, make_job(tmp_path / "1", benchmark=release("1.0.0")))
    Resource.objects.filter(kind="benchmark").update(current_is_chosen=True)
    bring(project, make_job(tmp_path / "2", benchmark=release("2.0.0"), started=START + timedelta(days=1)))
    current = Resource.objects.get(kind="benchmark").current
    assert current is not None
    assert current.version == "1.0.0"


def test_copy_with_another_trial_at_a_taken_place_is_refused(project: Project, tmp_path: Path) -> None:
    """The client derives ids of Trials from their places; a copy where they differ is not from it."""
    copy = make_job(tmp_path)
    bring(project, copy)
    before = stored()
    trial = min((copy / "trials").iterdir())
    for file in trial.rglob("*.json"):
        file.write_text(file.read_text().replace(trial.name, "trl_other"))
    trial.rename(trial.with_name("trl_other"))
    assert refused(project, copy).count("refused") == 1
    assert stored() == before
