"""Reading a Job in a process of its own gives what reading it here gives, also where it fails."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from jobs import imports
from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers.plural import read_header
from jobs.domain.readers.sources import open_source
from jobs.models import Execution
from jobs.read_ahead import Aside, Here, Reading
from plural_site.accounts.actions import create_project
from plural_site.accounts.models import Project, User
from tests.builders import AgentSpec, make_job


def no_beat() -> None:
    """Nobody waits."""


def start(kind: type[Here | Aside], path: Path, target: Path) -> Reading:
    target.mkdir()
    with open_source(path, target) as source:
        (folder,) = source.job_folders()
    return kind(folder, read_header(folder), {}, target)


def test_read_ahead_reads_what_here_reads(tmp_path: Path) -> None:
    job = make_job(tmp_path / "store")
    here = start(Here, job, tmp_path / "here").result(no_beat)
    aside = start(Aside, job, tmp_path / "aside").result(no_beat)
    assert [item.trial.trial_id for item in aside.spool] == [item.trial.trial_id for item in here.spool]
    assert [item.packs for item in aside.spool] == [item.packs for item in here.spool]
    assert [segment.digest for segment in aside.segments] == [segment.digest for segment in here.segments]
    assert (aside.header, aside.added, aside.replaced) == (here.header, here.added, here.replaced)


def test_read_ahead_passes_on_what_is_wrong(tmp_path: Path) -> None:
    job = make_job(tmp_path / "store")
    next(job.glob("trials/*/result.json")).write_text("{")
    with pytest.raises(ImportProblemError, match="is not valid JSON") as caught:
        start(Aside, job, tmp_path / "aside").result(no_beat)
    assert caught.value.file.endswith("result.json")


def test_read_ahead_says_when_the_disk_refuses(tmp_path: Path) -> None:
    job = make_job(tmp_path / "store")
    target = tmp_path / "aside"
    target.mkdir()
    (target / "segment-0").mkdir()
    with open_source(job, target) as source:
        (folder,) = source.job_folders()
    with pytest.raises(OSError, match="segment-0"):
        Aside(folder, read_header(folder), {}, target).result(no_beat)


def test_read_ahead_survives_the_end_of_its_process(tmp_path: Path) -> None:
    job = make_job(tmp_path / "store")
    target = tmp_path / "aside"
    target.mkdir()
    os.mkfifo(target / "segment-0")  # where it waits for a reader that never comes
    with open_source(job, target) as source:
        (folder,) = source.job_folders()
    reading = Aside(folder, read_header(folder), {}, target)
    assert reading._process.pid
    os.kill(reading._process.pid, signal.SIGKILL)
    with pytest.raises(ImportProblemError, match="was ended"):
        reading.result(no_beat)


def evidence(project: Project) -> list[tuple[object, ...]]:
    rows = Execution.objects.filter(trial__job__project=project).order_by("trial__client_trial_id", "number")
    return list(rows.values_list("trial__client_trial_id", "trial__score", "trial__outcome", "pack", "files"))


@pytest.mark.django_db
def test_import_with_reading_ahead_stores_the_same(
    project: Project, ann: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = tmp_path / "store"
    made = [make_job(jobs, agents=(AgentSpec(name=name),)) for name in ("one", "two", "three", "four")]
    next(made[1].glob("trials/*/result.json")).write_text("{")
    other = create_project(actor=ann, account=project.account, slug="other")
    for target, aside in ((project, True), (other, False)):
        monkeypatch.setattr(imports, "can_read_aside", lambda aside=aside: aside)
        report = imports.import_path(project=target, actor=None, path=jobs)
        assert (report.count("added"), report.count("refused")) == (3, 1)
        again = imports.import_path(project=target, actor=None, path=jobs)
        assert (again.count("unchanged"), again.count("refused")) == (3, 1)
    assert evidence(project) == evidence(other)
    assert len(evidence(project)) > 0
