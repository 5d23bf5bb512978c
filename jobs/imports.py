"""Import of recorded Jobs: read whole, then written whole.

A Job is first read to its end: its files are packed into a staging folder and its rows into a spool, so
that bad input is refused before anything is stored. Only then are packs moved into the blob store and
rows written: small Jobs in one transaction, large ones in short transactions behind `state=importing`,
which nothing shows, and a last one that makes the Job visible together with its tallies.
"""

from __future__ import annotations

import gc
import shutil
import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.db import DatabaseError
from django.utils import timezone

from benchmarks.domain.types import DomainError
from benchmarks.folders import record_folder
from jobs import record
from jobs.domain.evidence import Known
from jobs.domain.parsed import ImportProblemError, JobHeader, Note
from jobs.domain.readers.folders import JobFolder
from jobs.domain.readers.plural import read_header
from jobs.domain.readers.sources import Limits, Source, open_source
from jobs.import_lock import claimed_run, end_run, scratch_folder
from jobs.models import ImportRun
from jobs.read_ahead import Readings, can_read_aside
from jobs.staging import StagedJob
from plural_site.accounts.models import Project, User


@dataclass(frozen=True, slots=True)
class Problem:
    file: str
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class JobReport:
    """What became of one Job: `result` is added, updated, unchanged or refused."""

    folder: str
    job_id: str
    result: str
    trials_added: int = 0
    trials_replaced: int = 0
    notes: tuple[Note, ...] = ()
    problem: Problem | None = None


@dataclass(slots=True)
class ImportReport:
    jobs: list[JobReport] = field(default_factory=list)
    revisions: list[str] = field(default_factory=list)
    """Benchmark revisions that came from folders, not from Jobs."""
    notes: list[Note] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def landed(self) -> bool:
        """Whether everything that was found is in."""
        return not self.problems

    def count(self, result: str) -> int:
        return sum(job.result == result for job in self.jobs)

    def as_dict(self) -> dict[str, Any]:
        return {
            "landed": self.landed,
            "added": self.count("added"),
            "updated": self.count("updated"),
            "unchanged": self.count("unchanged"),
            "refused": self.count("refused"),
            "trials_added": sum(job.trials_added for job in self.jobs),
            "trials_replaced": sum(job.trials_replaced for job in self.jobs),
            "jobs": [asdict(job) for job in self.jobs],
            "revisions": self.revisions,
            "notes": [asdict(note) for note in self.notes],
            "problems": [asdict(problem) for problem in self.problems],
        }


Progress = Callable[[int, int, JobReport], None]
Opener = Callable[[Path], AbstractContextManager[Source]]
"""Opens what is to be imported, given a folder for what is unpacked."""
NOTE_SECONDS = 1.0


@dataclass(slots=True)
class _Import:
    project: Project
    run: ImportRun
    scratch: Path
    report: ImportReport
    progress: Progress | None
    noted_at: float = 0.0

    def done(self, job: JobReport, total: int) -> None:
        self.report.jobs.append(job)
        if job.problem:
            self.report.problems.append(job.problem)
        if time.monotonic() - self.noted_at > NOTE_SECONDS:
            self.note(total)
        if self.progress:
            self.progress(len(self.report.jobs), total, job)

    def note(self, total: int) -> None:
        """How far it is, for those who look at the run."""
        self.noted_at = time.monotonic()
        self.run.jobs_found, self.run.jobs_done = total, len(self.report.jobs)
        self.run.trials_done = sum(job.trials_added for job in self.report.jobs)
        self.run.beat_at = timezone.now()
        self.run.save(update_fields=["jobs_found", "jobs_done", "trials_done", "beat_at"])


def import_path(
    *,
    project: Project,
    actor: User | None,
    path: Path,
    limits: Limits | None = None,
    progress: Progress | None = None,
    waiting: Callable[[], None] = lambda: None,
    patience: float | None = None,
) -> ImportReport:
    """Imports every Job below `path` (a folder or an archive), in the order in which they started.

    Each Job lands whole or not at all; the others land all the same. Returns when the boards are up to
    date. Problems stand in the report; nothing is raised for bad input. While another import into the
    project runs it waits, at most `patience` seconds (None: as long as it takes).
    """
    report = ImportReport()
    source = path.name[:500]
    try:
        with claimed_run(
            project=project, actor=actor, source=source, patience=patience, waiting=waiting
        ) as run:
            try:
                _run(run, lambda scratch: open_source(path, scratch, limits), report, progress)
            except BaseException:
                end_run(run, {**report.as_dict(), "landed": False})
                raise
    except (ImportProblemError, OSError) as error:
        report.problems.append(_problem(error, source))
    return report


def import_claimed(run: ImportRun, opener: Opener) -> ImportReport:
    """Imports for a run that this process has claimed, and ends it. What is not bad input is raised."""
    report = ImportReport()
    _run(run, opener, report, None)
    return report


def _run(run: ImportRun, opener: Opener, report: ImportReport, progress: Progress | None) -> None:
    with _scratch(run) as scratch, _settled_heap():
        try:
            with opener(scratch) as source:
                _import_source(_Import(run.project, run, scratch, report, progress), source)
        except (ImportProblemError, OSError) as error:
            report.problems.append(_problem(error, run.source))
    end_run(run, report.as_dict())


def _import_source(this: _Import, source: Source) -> None:
    folders = source.job_folders()
    this.note(len(folders))
    found: list[tuple[JobFolder, JobHeader]] = []
    for folder in folders:
        try:
            found.append((folder, read_header(folder)))
        except ImportProblemError as error:
            this.done(_refused(folder, error), len(folders))
    found.sort(key=lambda pair: (pair[1].started_at, pair[1].job_id))
    slugs = {
        header.benchmark.content_hash: header.benchmark_slug
        for _, header in found
        if header.benchmark and header.benchmark_slug
    }
    target = record.Target(this.project, this.run, slugs, revisions={})
    for folder, job in _import_jobs(this, found, target):
        this.done(_refused(folder, job) if isinstance(job, ImportProblemError) else job, len(folders))
    for path in source.benchmark_folders():
        _import_folder(this, path)
    this.note(len(folders))
    this.report.notes += source.notes


def _import_folder(this: _Import, path: Path) -> None:
    recorded = record_folder(project=this.project, path=path, actor=this.run.actor)
    this.report.problems += [
        Problem(problem.file, problem.field, problem.message) for problem in recorded.problems
    ]
    if recorded.reason:
        this.report.notes.append(Note(f"benchmarks/{path.name}/benchmark.yaml", "", recorded.reason))
    if recorded.made and recorded.revision:
        this.report.revisions.append(f"{path.name} revision {recorded.revision.number}")


def _import_jobs(
    this: _Import, found: Sequence[tuple[JobFolder, JobHeader]], target: record.Target
) -> Iterator[tuple[JobFolder, JobReport | ImportProblemError]]:
    """Each Job's report or what was wrong with it. The next Jobs are read while one is written."""

    def prepare(header: JobHeader) -> tuple[dict[str, Known], Path]:
        return _prepare(this, header)

    with closing(Readings(found, prepare, aside=len(found) > 1 and can_read_aside())) as readings:
        for folder, header in found:
            job: JobReport | ImportProblemError
            try:
                staged = readings.next(lambda: _beat(this.run))
                job = _import_job(target, staged, {done.job_id for done in this.report.jobs})
            except ImportProblemError as error:
                job = error
            except OSError as error:
                job = _not_stored(header, error)
            yield folder, job
            shutil.rmtree(_staging(this, header), ignore_errors=True)


def _prepare(this: _Import, header: JobHeader) -> tuple[dict[str, Known], Path]:
    """What is stored of the Job's Trials, and a folder to read it into."""
    try:
        known = record.known_trials(record.existing_job(this.project, header))
        staging = _staging(this, header)
        staging.mkdir()
    except (OSError, DatabaseError) as error:
        raise _not_stored(header, error) from error
    return known, staging


def _staging(this: _Import, header: JobHeader) -> Path:
    return this.scratch / f"staging-{header.job_id}"


def _import_job(target: record.Target, staged: StagedJob, reported: Container[str]) -> JobReport:
    header = staged.header
    try:
        job = record.existing_job(target.project, header)
        written = record.record_evidence(target, staged, job)
    except DomainError as error:
        raise ImportProblemError(f"{header.folder}/config.json", "source", str(error)) from error
    except (OSError, DatabaseError) as error:
        raise _not_stored(header, error) from error
    result = "added" if job is None else "updated" if written.changed else "unchanged"
    added = written.added
    if job and target.run.tries > 1 and header.job_id not in reported:
        if job.added_by_id == target.run.pk:  # before its process died
            result, added = "added", job.recorded + added
        elif job.import_run_id == target.run.pk:
            result = "updated"
    notes = (*header.notes, *written.notes)
    return JobReport(staged.label, header.job_id, result, added, written.replaced, notes)


def _not_stored(header: JobHeader, error: OSError | DatabaseError) -> ImportProblemError:
    return ImportProblemError(header.folder, "", f"could not be stored: {error}")


def _refused(folder: JobFolder, error: ImportProblemError) -> JobReport:
    return JobReport(folder.label, folder.name, "refused", problem=_problem(error, folder.label))


def _problem(error: ImportProblemError | OSError, source: str) -> Problem:
    if isinstance(error, ImportProblemError):
        return Problem(error.file, error.field, error.message)
    return Problem(source, "", f"could not be read or stored: {error.strerror}")


def _beat(run: ImportRun) -> None:
    ImportRun.objects.filter(pk=run.pk).update(beat_at=timezone.now())


@contextmanager
def _settled_heap() -> Iterator[None]:
    """Keeps the garbage collector from walking all that was loaded before, again and again."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _scratch(run: ImportRun) -> Iterator[Path]:
    folder = scratch_folder(run)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
