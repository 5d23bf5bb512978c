"""Reading a Job in a process of its own gives what reading it here gives, also where it fails."""

from __future__ import annotations

import os
import select
import signal
from contextlib import closing, suppress
from pathlib import Path

import pytest

from jobs import imports
from jobs.domain.evidence import Known
from jobs.domain.parsed import ImportProblemError, JobHeader
from jobs.domain.readers.plural import read_header
from jobs.domain.readers.sources import open_source
from jobs.models import Execution
from jobs.read_ahead import Found, Readings
from plural_site.accounts.actions import create_project
from plural_site.accounts.models import Project, User
from tests.builders import AgentSpec, make_job


def no_beat() -> None:
    """Nobody waits."""


def found_in(path: Path, scratch: Path) -> list[Found]:
    with open_source(path, scratch) as source:
        return [(folder, read_header(folder)) for folder in source.job_folders()]


def readings(path: Path, scratch: Path, *, aside: bool) -> Readings:
    """Readings of all Jobs below a folder, each into a folder of its own."""

    def prepare(header: JobHeader) -> tuple[dict[str, Known], Path]:
        target = scratch / header.job_id
        target.mkdir(parents=True, exist_ok=True)
        return {}, target

    return Readings(found_in(path, scratch), prepare, aside=aside)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Four Jobs."""
    for name in ("one", "two", "three", "four"):
        make_job(tmp_path / "store", agents=(AgentSpec(name=name),))
    return tmp_path / "store"


def jobs_in_order(store: Path, scratch: Path) -> list[str]:
    return [header.job_id for _, header in found_in(store, scratch)]


def job_folder(store: Path, job_id: str) -> Path:
    return next(store.rglob(job_id))


def test_read_ahead_reads_what_here_reads(store: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with (
        closing(readings(store, scratch / "here", aside=False)) as here,
        closing(readings(store, scratch / "aside", aside=True)) as aside,
    ):
        for _ in range(4):
            one, other = here.next(no_beat), aside.next(no_beat)
            assert [item.trial.trial_id for item in other.spool] == [
                item.trial.trial_id for item in one.spool
            ]
            assert [item.packs for item in other.spool] == [item.packs for item in one.spool]
            assert [segment.digest for segment in other.segments] == [item.digest for item in one.segments]
            assert (other.header, other.label) == (one.header, one.label)
            assert (other.added, other.replaced) == (one.added, one.replaced)


def test_read_ahead_tells_what_is_wrong_with_a_job_in_its_turn(store: Path, tmp_path: Path) -> None:
    first, broken, *others = jobs_in_order(store, tmp_path)
    next(job_folder(store, broken).glob("trials/*/result.json")).write_text("{")
    with closing(readings(store, tmp_path / "scratch", aside=True)) as aside:
        assert aside.next(no_beat).header.job_id == first
        with pytest.raises(ImportProblemError, match="is not valid JSON") as caught:
            aside.next(no_beat)
        assert caught.value.file.endswith("result.json")
        assert [aside.next(no_beat).header.job_id for _ in others] == others


def test_read_ahead_says_when_the_disk_refuses(store: Path, tmp_path: Path) -> None:
    _, refused, *others = jobs_in_order(store, tmp_path)
    scratch = tmp_path / "scratch"
    (scratch / refused / "segment-0").mkdir(parents=True)
    with closing(readings(store, scratch, aside=True)) as aside:
        aside.next(no_beat)
        with pytest.raises(OSError, match="segment-0"):
            aside.next(no_beat)
        assert [aside.next(no_beat).header.job_id for _ in others] == others


def test_read_ahead_survives_the_end_of_its_process(store: Path, tmp_path: Path) -> None:
    _, killed, *others = jobs_in_order(store, tmp_path)
    scratch = tmp_path / "scratch"
    (scratch / killed).mkdir(parents=True)
    os.mkfifo(scratch / killed / "segment-0")  # where it waits for a reader that never comes
    with closing(readings(store, scratch, aside=True)) as aside:
        aside.next(no_beat)
        os.kill(process_of(aside), signal.SIGKILL)
        with pytest.raises(ImportProblemError, match="was ended") as caught:
            aside.next(no_beat)
        assert killed in caught.value.file
        assert [aside.next(no_beat).header.job_id for _ in others] == others  # by another process


def process_of(aside: Readings) -> int:
    assert aside._aside
    assert aside._aside._running
    pid = aside._aside._running[0].pid
    assert pid
    return pid


def test_reading_process_ends_with_the_import_that_is_killed(store: Path, tmp_path: Path) -> None:
    """Also where what is killed can't tell it; nothing that it holds, such as a lock, outlives that."""
    told, tell = os.pipe()
    importing = os.fork()
    if importing == 0:
        aside = readings(store, tmp_path / "scratch", aside=True)
        aside.next(no_beat)
        os.write(tell, b"%d" % process_of(aside))
        signal.pause()
    os.close(tell)
    reading = int(os.read(told, 20))
    os.kill(importing, signal.SIGKILL)
    os.waitpid(importing, 0)
    try:
        assert select.select([told], [], [], 60)[0], "the process goes on"
        assert os.read(told, 1) == b""  # nobody holds the other end any more
    finally:
        os.close(told)
        with suppress(ProcessLookupError):
            os.kill(reading, signal.SIGKILL)


def test_copy_of_a_job_is_not_read_before_the_first_is_written(store: Path, tmp_path: Path) -> None:
    first, second, *_ = found_in(store, tmp_path)
    prepared = []

    def prepare(header: JobHeader) -> tuple[dict[str, Known], Path]:
        prepared.append(header.job_id)
        target = tmp_path / f"target-{len(prepared)}"
        target.mkdir()
        return {}, target

    with closing(Readings([first, second, first, second], prepare, aside=True)) as aside:
        for already in (2, 3, 4, 4):
            aside.next(no_beat)
            assert len(prepared) == already


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
