"""The second half of an import, `record_evidence`: a staged Job into the database and the blob store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from django.db import models, transaction

from benchmarks.actions import (
    follow_jobs,
    lock_project,
    record_benchmark,
    record_configurations,
    record_revisions,
)
from benchmarks.domain.scoring import classify
from benchmarks.domain.types import Definition, Scoring
from benchmarks.models import Revision
from jobs import tallies
from jobs.column_limits import fit
from jobs.domain.evidence import Change, Known, result_digest
from jobs.domain.parsed import ImportProblemError, JobHeader, Note, ParsedExecution, ParsedTrial
from jobs.job_figures import record_figures
from jobs.models import (
    Blob,
    Execution,
    ImportRun,
    Job,
    JobAgent,
    SupersededTrial,
    Trial,
)
from jobs.sizes import SizeCount, Sizes, record_sizes
from jobs.staging import StagedJob, StagedPack, StagedTrial, as_attempt
from plural_site.accounts.models import Project
from plural_site.db import blobs, bulk

BATCH = 1000
BATCH_BYTES = 16 << 20
VERIFIER_FIELDS = ("verifier", "digest", "kind", "status", "score", "scores", "feedback", "evidence")
OTHER_JOB = (
    "differs from the Job with the same id that was imported before. "
    "What a Job runs never changes; run it again as a new Job."
)
NO_RESULT = "running"
"""Status of a Job without result.json: it runs still, or was killed."""


@dataclass(frozen=True, slots=True)
class Written:
    """What an import changed of a Job; `changed` also where only the Job's own status moved."""

    changed: bool
    added: int = 0
    replaced: int = 0
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """Where a Job goes. `slugs` tells a Benchmark's folder name by content hash, where some Job knew it."""

    project: Project
    run: ImportRun
    slugs: Mapping[str, str]
    revisions: dict[str, Revision]
    """By content hash: those of the Jobs that landed before it."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a Trial row needs to know of its Job."""

    job: Job
    agents: Mapping[int, JobAgent]
    pins: Sequence[int]
    """Keys of the Task pins in order."""
    scoring: Scoring | None
    is_new: bool
    count: SizeCount = field(default_factory=SizeCount)
    """Of the files that came in."""


def known_trials(job: Job | None) -> dict[str, Known]:
    if job is None:
        return {}
    rows = Trial.objects.filter(job=job).annotate(tries=models.Count("executions"))
    return {
        trial: Known(digest, status, tries)
        for trial, digest, status, tries in rows.values_list(
            "client_trial_id", "result_digest", "status", "tries"
        )
    }


def existing_job(project: Project, header: JobHeader) -> Job | None:
    """The stored Job with this id. Raises ImportProblemError where it is another Job, or not yet whole."""
    job = Job.objects.filter(project=project, client_job_id=header.job_id).first()
    if job and job.spec_hash != header.spec_hash:
        raise ImportProblemError(f"{header.folder}/config.json", "", OTHER_JOB)
    return job


def record_evidence(target: Target, staged: StagedJob, job: Job | None) -> Written:
    """Writes a staged Job, new or grown, and brings the boards that it stands on up to date.

    Raises DomainError where its definitions break a rule and ImportProblemError where it can't be taken;
    nothing is then written.
    """
    if job:
        _check_same_job(job, staged)
        if not (staged.added or staged.replaced or _has_ended(job, staged.header)):
            return Written(changed=False)
    notes: list[Note] = []
    for segment in staged.segments:
        blobs.send(segment.path, segment.digest)  # nobody waits for an object store inside a transaction
    if job or not _takes_parts(staged):
        with transaction.atomic():
            place, revisions = _begin(target, staged, job, notes)
            for batch in _batches(staged.spool):
                _write_trials(place, batch, staged)
            _finish(place, staged, revisions)
            _move_blobs(staged)  # last, so that a refusal leaves no file behind
    else:
        revisions = _write_in_parts(target, staged, notes)
    target.revisions.update(revisions)
    return Written(True, staged.added, staged.replaced, tuple(notes))


def _takes_parts(staged: StagedJob) -> bool:
    """Whether a new Job is too large for one transaction."""
    return staged.added > BATCH


def _write_in_parts(target: Target, staged: StagedJob, notes: list[Note]) -> dict[str, Revision]:
    """A new Job too large for one transaction: nothing shows it before its last part."""
    with transaction.atomic():
        place, revisions = _begin(target, staged, None, notes)
        _move_blobs(staged)
    try:
        for batch in _batches(staged.spool):
            with transaction.atomic():
                _write_trials(place, batch, staged)
        with transaction.atomic():
            _finish(place, staged, revisions)
    except BaseException:
        Job.objects.filter(pk=place.job.pk, state=Job.State.IMPORTING).delete()
        raise
    return revisions


def _begin(
    target: Target, staged: StagedJob, job: Job | None, notes: list[Note]
) -> tuple[Place, dict[str, Revision]]:
    lock_project(target.project)
    if job:
        job.refresh_from_db()  # a person may have set it aside meanwhile
    revisions = _record_definitions(target, staged.header, notes)
    Blob.objects.bulk_create(
        [Blob(digest=segment.digest, size=segment.size) for segment in staged.segments], ignore_conflicts=True
    )
    return _place(target, staged, job, revisions, notes), revisions


def _check_same_job(job: Job, staged: StagedJob) -> None:
    """Refuses what a Job never changes, whatever its lock.json says."""
    header = staged.header
    if _config_digest(job.files) not in ("", _config_digest(_files(staged.pack))):
        raise ImportProblemError(f"{header.folder}/config.json", "", OTHER_JOB)
    track_ref = _track_ref(header, job.revision, [])
    if track_ref != job.track_ref:
        raise ImportProblemError(
            f"{header.folder}/run.json",
            "evaluation_track",
            f"names track {track_ref or 'none'}, but this Job came in on {job.track_ref or 'no track'}.",
        )


def _config_digest(files: Iterable[Sequence[Any]]) -> str:
    return next((str(file[1]) for file in files if file[0] == "config.json"), "")


def _has_ended(job: Job, header: JobHeader) -> bool:
    """Whether only the Job's own result is new. One that it has moves with its Trials, never alone."""
    return bool(header.status) and job.status == NO_RESULT


# Definitions -----------------------------------------------------------------------------------------


def _record_definitions(target: Target, header: JobHeader, notes: list[Note]) -> dict[str, Revision]:
    held = target.revisions
    found, made = record_revisions(project=target.project, definitions=header.definitions, held=held)
    if header.benchmark:
        digest = header.benchmark.content_hash
        found[digest], is_new = record_benchmark(
            project=target.project,
            definition=replace(header.benchmark, slug=header.benchmark_slug or target.slugs.get(digest, "")),
            tasks=[(task.name, task.version, task.content_hash) for task in header.tasks],
            held=held | found,
        )
        made |= {digest} if is_new else set()
    for definition in (*header.definitions, *([header.benchmark] if header.benchmark else [])):
        if definition.content_hash in made:
            _note_version(header, definition, found[definition.content_hash], notes)
    return found


def _note_version(header: JobHeader, definition: Definition, revision: Revision, notes: list[Note]) -> None:
    claimed = revision.claimed_version
    if not claimed or revision.version == claimed:
        return
    holder = revision.resource.releases.select_related("revision").get(version=claimed)
    notes.append(
        Note(
            f"{header.folder}/config.json",
            f"{definition.kind} {definition.name}",
            f"claims version {claimed}, which is revision {holder.revision.number}. "
            f"It came in as revision {revision.number} without a version.",
        )
    )


# The Job and its Agents ------------------------------------------------------------------------------


def _place(
    target: Target,
    staged: StagedJob,
    job: Job | None,
    revisions: Mapping[str, Revision],
    notes: list[Note],
) -> Place:
    header = staged.header
    revision = revisions[header.benchmark.content_hash] if header.benchmark else None
    scoring = revision.rules.scoring if revision else None
    pins = list(revision.pin_keys.values()) if revision else []
    track_ref = _track_ref(header, revision, notes)
    if job is None:
        job = Job(
            project=target.project,
            client_job_id=header.job_id,
            revision=revision,
            task_revision=None if revision else revisions[header.tasks[0].content_hash],
            track_ref=track_ref,
            origin=Job.Origin.IMPORTED,
            state=Job.State.IMPORTING if _takes_parts(staged) else Job.State.READY,
            spec_hash=header.spec_hash,
            attempts=header.attempts,
            rerun_of_job=header.rerun_of_job_id,
            rerun_of_trial=header.rerun_of_trial_id,
            added_by=target.run,
        )
    job.import_run = target.run
    job.closed_at, job.closed_by, job.closed_reason = None, None, ""  # more of it came after all
    job.status = header.status or job.status or NO_RESULT
    job.started_at = header.started_at
    job.finished_at = header.finished_at or job.finished_at
    job.aggregates = [dict(row) for row in header.aggregates] or job.aggregates
    fresh = [asdict(note) for note in (*header.notes, *notes)]
    job.notes = fresh + [note for note in job.notes if note not in fresh]
    job.pack_id = staged.segments[staged.pack.segment].digest
    job.files = _files(staged.pack)
    fit([job], header.folder)
    is_new = job.pk is None
    job.save()
    agents = [] if is_new else list(job.agents.select_related("configuration"))
    agents = agents or _record_agents(job, header)
    return Place(job, {agent.position: agent for agent in agents}, pins, scoring, is_new)


def _track_ref(header: JobHeader, revision: Revision | None, notes: list[Note]) -> str:
    if not header.track_id:
        return ""
    tracks = {track.id: track for track in revision.rules.tracks} if revision else {}
    if header.track_id in tracks:
        return tracks[header.track_id].reference
    declared = ", ".join(tracks) or "none"
    notes.append(
        Note(
            f"{header.folder}/run.json",
            "evaluation_track",
            f"names track {header.track_id!r}, which its release does not declare ({declared}). "
            "The Job is kept as untracked evidence.",
        )
    )
    return ""


def _record_agents(job: Job, header: JobHeader) -> list[JobAgent]:
    configurations = record_configurations(
        project=job.project,
        agents={agent.definition.content_hash: agent.definition for agent in header.agents},
    )
    agents = [
        JobAgent(
            job=job,
            position=agent.position,
            name=agent.name,
            version=agent.version,
            configuration=configurations[agent.definition.content_hash],
            harness=agent.harness or "",
            harness_version=agent.harness_version or "",
            planned=len(header.tasks) * header.attempts,
        )
        for agent in header.agents
    ]
    fit(agents, f"{header.folder}/config.json")
    return JobAgent.objects.bulk_create(agents)


# Trials ----------------------------------------------------------------------------------------------


def _write_trials(place: Place, batch: Sequence[StagedTrial], staged: StagedJob) -> None:
    grown = _grown(place.job, [item.trial.trial_id for item in batch if item.change is Change.GROWN])
    new = []
    for item in batch:
        columns = _trial(place, item.trial)
        stored = grown.get(item.trial.trial_id)
        if stored is None:
            new.append(columns)
            continue
        for name, value in columns.items():
            setattr(stored, name, value)
        stored.save()
    bulk.insert(Trial, new)
    found = Trial.objects.filter(job=place.job, client_trial_id__in=[item.trial.trial_id for item in batch])
    keys = dict(found.values_list("client_trial_id", "pk"))
    executions = [
        _execution(keys[item.trial.trial_id], parsed, pack, staged.segments[pack.segment].digest)
        for item in batch
        for parsed, pack in zip(item.trial.executions, item.packs, strict=True)
    ]
    bulk.insert(Execution, executions)
    for file in (file for item in batch for pack in item.packs for file in pack.files):
        place.count.add(file.path, file.role, file.size)


def _grown(job: Job, trials: Sequence[str]) -> dict[str, Trial]:
    """Rows of these Trials by id, their former figures kept as superseded."""
    if not trials:
        return {}
    rows = list(Trial.objects.filter(job=job, client_trial_id__in=trials))
    _supersede(rows)
    return {row.client_trial_id: row for row in rows}


def _supersede(rows: Sequence[Trial]) -> None:
    SupersededTrial.objects.bulk_create(
        SupersededTrial(
            trial=row,
            result_digest=row.result_digest,
            figures={
                "status": row.status,
                "outcome": row.outcome,
                "score": row.score,
                "cost_usd": row.cost_usd,
                "latency_seconds": row.latency_seconds,
                "error_code": row.error_code,
                "stop_reason": row.stop_reason,
            },
            packs=list(row.executions.values_list("pack_id", flat=True)),
        )
        for row in rows
    )
    Execution.objects.filter(trial__in=rows).delete()


def _trial(place: Place, parsed: ParsedTrial) -> dict[str, Any]:
    """Columns of a Trial's row."""
    position = parsed.task_position
    return {
        "job_id": place.job.pk,
        "client_trial_id": parsed.trial_id,
        "job_agent_id": place.agents[parsed.agent_position].pk,
        "task_position": Trial.UNPLANNED if position is None else position,
        "pin_id": place.pins[position] if position is not None and place.pins else None,
        "task_name": parsed.task_name,
        "task_digest": parsed.task_digest,
        "attempt": parsed.attempt,
        "status": parsed.status,
        "outcome": classify(as_attempt(parsed), place.scoring),
        "score": parsed.score,
        "cost_usd": parsed.cost_usd,
        "cost_partial": parsed.cost_partial,
        "latency_seconds": parsed.latency_seconds,
        "input_tokens": parsed.input_tokens,
        "output_tokens": parsed.output_tokens,
        "tokens": _sum(parsed.input_tokens, parsed.output_tokens),
        "turns": parsed.turns,
        "seed": parsed.seed,
        "error_code": parsed.error_code,
        "stop_reason": parsed.stop_reason,
        "models_used": list(parsed.models_used),
        "notes": [asdict(note) for note in parsed.notes],
        "started_at": parsed.started_at,
        "completed_at": parsed.completed_at,
        "result_digest": result_digest(parsed),
    }


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _execution(trial: int, parsed: ParsedExecution, pack: StagedPack, blob: str) -> dict[str, Any]:
    """Columns of an execution's row."""
    return {
        "trial_id": trial,
        "number": parsed.number,
        "status": parsed.status,
        "error_code": parsed.error_code,
        "error_message": parsed.error_message,
        "stop_reason": parsed.stop_reason,
        "started_at": parsed.started_at,
        "completed_at": parsed.completed_at,
        "receipt_hash": parsed.receipt_hash,
        "is_final": parsed.is_final,
        "verifier_results": [
            {name: getattr(result, name) for name in VERIFIER_FIELDS} for result in parsed.verifier_results
        ],
        "pack_id": blob,
        "files": _files(pack),
    }


# Ends ------------------------------------------------------------------------------------------------


def _finish(place: Place, staged: StagedJob, revisions: Mapping[str, Revision]) -> None:
    """Makes the Job visible together with the figures that it changes."""
    header, job = staged.header, place.job
    if job.state != Job.State.READY:
        job.state = Job.State.READY
        job.save(update_fields=["state"])
    agents = list(place.agents.values())
    record_figures(job, agents)
    record_sizes(job, _sizes(place, staged) if place.is_new else None)
    names = {definition.content_hash: definition.name for definition in header.definitions}
    if header.benchmark:
        names[header.benchmark.content_hash] = header.benchmark.name
    follow_jobs({revisions[digest]: name for digest, name in names.items()}, started_at=header.started_at)
    if job.revision:
        tallies.rebuild(job.revision, job.track_ref, [agent.configuration_id for agent in agents])


def _sizes(place: Place, staged: StagedJob) -> Sizes:
    for file in staged.pack.files:
        place.count.add(file.path, file.role, file.size, is_of_job=True)
    return place.count.sizes({segment.digest: segment.size for segment in staged.segments})


def _move_blobs(staged: StagedJob) -> None:
    for segment in staged.segments:
        blobs.move_in(segment.path, segment.digest)


def _files(pack: StagedPack) -> list[list[Any]]:
    """[path, sha256, offset in the blob, size, media type, role, how its record compares] of each file."""
    return [
        [
            file.path,
            file.sha256,
            pack.start + file.offset,
            file.size,
            file.media_type,
            file.role,
            file.recorded,
        ]
        for file in pack.files
    ]


def _batches(items: Iterable[StagedTrial]) -> Iterator[list[StagedTrial]]:
    """Runs of at most BATCH Trials, fewer where they are large."""
    batch: list[StagedTrial] = []
    weight = 0
    for item in items:
        batch.append(item)
        weight += item.weight
        if len(batch) == BATCH or weight >= BATCH_BYTES:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch
