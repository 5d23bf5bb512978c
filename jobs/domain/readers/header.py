"""The header of a Job: everything but its Trials."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from benchmarks.domain.identity import plain_hash, sha256_digest
from benchmarks.domain.types import JsonObject
from jobs.domain.parsed import ImportProblemError, JobHeader, Note
from jobs.domain.readers import config_file, progress, strict_json
from jobs.domain.readers.folders import Folder, JobFolder, join
from jobs.domain.readers.inputs import Inputs, Slugs
from jobs.domain.readers.strict_json import Fields

STORE_FILE_LIMIT = 128 * 1024 * 1024
MAX_ATTEMPTS = 1000
_JOB_ID = re.compile(r"job_[0-9a-zA-Z_-]{1,120}", re.ASCII)
_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)


@dataclass(slots=True)
class _Files:
    lock: Fields
    config: Fields
    config_bytes: bytes
    repeated: config_file.Repeated | None
    run: Fields | None
    notes: list[Note] = field(default_factory=list)


def read_header(job: JobFolder) -> JobHeader:
    """Raises `ImportProblemError` where the Job contradicts itself or can't be understood."""
    with job.open() as folder:
        names, _ = folder.entries()
        files = _read_files(folder, names)
        job_id = _job_id(files, job)
        _check_spec_hash(files)
        inputs = Inputs(files.lock, _slugs(files.run))
        benchmark, tasks = inputs.source(files.config.object("source"), files.repeated)
        agents = inputs.agents(files.config)
        inputs.check_agent_digests(files.config, files.notes)
        status, aggregates = "", tuple[JsonObject, ...]()
        if "result.json" in names:
            status, aggregates = progress.read_result(folder, job_id)
        started_at, finished_at = _times(folder, files, "events.jsonl" in names)
    run = files.run
    return JobHeader(
        job_id=job_id,
        folder=job.label or job_id,
        benchmark=benchmark,
        benchmark_slug=_benchmark_slug(run),
        definitions=tuple(inputs.definitions.values()),
        tasks=tasks,
        agents=agents,
        attempts=files.config.integer("attempts", 1, MAX_ATTEMPTS),
        track_id=run.optional_text("evaluation_track") if run else "",
        status=status,
        spec_hash=files.lock.text("spec_hash"),
        rerun_of_job_id=run.optional_text("rerun_of_job_id") if run else "",
        rerun_of_trial_id=run.optional_text("rerun_of_trial_id") if run else "",
        started_at=started_at,
        finished_at=finished_at if status else None,
        aggregates=aggregates,
        notes=tuple(files.notes),
    )


def _read_files(folder: Folder, names: list[str]) -> _Files:
    lock = _store_file(folder, "lock.json")
    config_bytes = folder.read("config.json", STORE_FILE_LIMIT)
    config, repeated = config_file.read(config_bytes, join(folder.label, "config.json"))
    run = _store_file(folder, "run.json") if "run.json" in names else None
    return _Files(lock, config, config_bytes, repeated, run)


def _store_file(folder: Folder, name: str) -> Fields:
    file = join(folder.label, name)
    data = folder.read(name, STORE_FILE_LIMIT)
    return Fields(strict_json.loads(data, file, unique_keys=True, allow_nul=False), file)


def _job_id(files: _Files, job: JobFolder) -> str:
    job_id = files.lock.text("job_id")
    if not _JOB_ID.fullmatch(job_id):
        raise files.lock.problem("job_id", "is not a Job id (job_ and up to 120 letters, digits, _ or -)")
    if job.name and job_id != job.name:
        raise files.lock.problem(
            "job_id", f"is {job_id}, but the folder is called {strict_json.shown(job.name)}"
        )
    if files.run and files.run.text("job_id") != job_id:
        raise files.run.problem("job_id", f"must be {job_id}, as in lock.json")
    return job_id


def _check_spec_hash(files: _Files) -> None:
    claimed = files.lock.text("spec_hash")
    # The store writes the canonical text itself, so its bytes nearly always have the claimed hash already.
    if sha256_digest(files.config_bytes.rstrip(b"\n")) == claimed:
        return
    config = files.config.data
    found = plain_hash({key: value for key, value in config.items() if key != "run_id" or value is not None})
    if found != claimed:
        message = f"is {strict_json.shown(claimed)}, but config.json gives {found}"
        files.notes.append(Note(files.lock.file, "spec_hash", message))


def _slugs(run: Fields | None) -> Slugs:
    """Slugs by (kind, content hash), from run.json's inputs; of several the first by name."""
    slugs: Slugs = {}
    inputs = run.optional_object("inputs") if run else None
    if inputs is None:
        return slugs
    for key in sorted(inputs.data):
        kind, _, slug = key.partition("/")
        if _SLUG.fullmatch(slug):
            slugs.setdefault((kind, inputs.object(key).optional_text("content_hash")), slug)
    return slugs


def _benchmark_slug(run: Fields | None) -> str:
    kind, _, slug = (run.optional_text("source") if run else "").partition("/")
    return slug if kind == "benchmark" and _SLUG.fullmatch(slug) else ""


def _times(folder: Folder, files: _Files, has_events: bool) -> tuple[datetime, datetime | None]:
    started_at = files.run.time("created_at") if files.run else None
    file = join(folder.label, "events.jsonl")
    first, finished_at = None, None
    if has_events:
        try:
            first, finished_at = progress.read_times(folder)
        except ImportProblemError as error:
            if started_at is None:
                raise
            files.notes.append(Note(error.file, error.field, error.message))
    started_at = started_at or first
    if started_at is None:
        message = "is missing or empty, and there is no run.json either to tell when the Job started"
        raise ImportProblemError(file, "", message)
    return started_at, finished_at
