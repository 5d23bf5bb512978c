"""The first half of an import: a Job's Trials read to the end, outside the database.

The bytes of all files go into a few segments, rows into a spool file, so memory stays bounded, few files
are made, and nothing has to be undone when the last Trial turns out to be broken.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from benchmarks.domain.types import Attempt
from benchmarks.models import DIGEST
from jobs.domain.evidence import Change, Known, compare
from jobs.domain.parsed import ImportProblemError, JobHeader, Pack, ParsedTrial, StoredFile
from jobs.domain.readers.folders import JobFolder
from jobs.domain.readers.plural import iter_trials, pack_job_files

BEAT_EVERY = 500
NAME, STATUS, WORD = 500, 32, 200
"""Characters. Error codes and stop reasons are words, which an index has to hold."""
COPY = 1 << 20
IN_MEMORY = 1000
IN_MEMORY_BYTES = 16 << 20
CHUNK = 500
SEGMENT = 32 << 20
"""Bytes from which on a segment is full."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of packs in one file, to become one blob."""

    path: Path
    digest: str
    size: int


class StagedPack(NamedTuple):
    """A pack's files: `segment` is an index into the Job's segments, `start` where the pack begins there."""

    segment: int
    start: int
    files: tuple[StoredFile, ...]


class StagedTrial(NamedTuple):
    change: Change
    trial: ParsedTrial
    packs: tuple[StagedPack, ...]
    """One for each of the Trial's executions."""

    @property
    def weight(self) -> int:
        """Bytes of the results that it was parsed from: what it takes in memory, roughly."""
        return sum(file.size for pack in self.packs for file in pack.files if file.path == "result.json")


@dataclass(frozen=True, slots=True)
class StagedJob:
    header: JobHeader
    label: str
    spool: Spool
    segments: tuple[Segment, ...]
    pack: StagedPack
    added: int
    replaced: int


class Spool:
    """Trials in the order they come: the first in memory unless it is not to be used, the rest in a file."""

    def __init__(self, path: Path, *, in_memory: bool) -> None:
        self._path = path
        self._use_memory = in_memory
        self._memory: list[StagedTrial] = []
        self._memory_weight = 0
        self._chunk: list[StagedTrial] = []
        self._chunk_weight = 0
        self._file: BinaryIO | None = None
        self._has_file = False

    def add(self, trial: StagedTrial) -> None:
        fits = len(self._memory) < IN_MEMORY and self._memory_weight < IN_MEMORY_BYTES
        if self._use_memory and fits and self._file is None:
            self._memory.append(trial)
            self._memory_weight += trial.weight
            return
        self._chunk.append(_without_bytes(trial))
        self._chunk_weight += trial.weight
        if len(self._chunk) == CHUNK or self._chunk_weight >= IN_MEMORY_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._file is None:
            self._file = self._path.open("wb")
        pickle.dump(self._chunk, self._file, pickle.HIGHEST_PROTOCOL)
        self._chunk, self._chunk_weight = [], 0

    def close(self) -> None:
        """Ends writing; after it the Trials can be read."""
        if self._chunk:
            self._flush()
        if self._file is not None:
            self._file.close()
            self._file = None
            self._has_file = True

    def __iter__(self) -> Iterator[StagedTrial]:
        yield from self._memory
        if not self._has_file:
            return
        with self._path.open("rb") as stream:
            while stream.peek(1):
                yield from pickle.load(stream)  # noqa: S301 - written above, in a private folder


def _without_bytes(staged: StagedTrial) -> StagedTrial:
    """The closed spools of its packs can't be written."""
    executions = tuple(
        execution._replace(pack=execution.pack._replace(spool=None)) for execution in staged.trial.executions
    )
    return staged._replace(trial=staged.trial._replace(executions=executions))


class Segments:
    """Writes packs one after another, a new file whenever the last is full."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stream: BinaryIO | None = None
        self._hash = hashlib.sha256()
        self.done: list[Segment] = []

    def add(self, pack: Pack) -> StagedPack:
        if self._stream is None:
            self._stream = (self._folder / f"segment-{len(self.done)}").open("wb", buffering=COPY)
            self._hash = hashlib.sha256()
        start = self._stream.tell()
        with pack.spool as spool:
            spool.seek(0)
            while chunk := spool.read(COPY):
                self._hash.update(chunk)
                self._stream.write(chunk)
        staged = StagedPack(len(self.done), start, pack.files)
        if self._stream.tell() >= SEGMENT:
            self.close()
        return staged

    def close(self) -> None:
        """Ends the segment at hand."""
        if self._stream is not None:
            size = self._stream.tell()
            self._stream.close()
            path = self._folder / f"segment-{len(self.done)}"
            self.done.append(Segment(path, f"sha256:{self._hash.hexdigest()}", size))
            self._stream = None


def stage(
    source: JobFolder,
    header: JobHeader,
    known: dict[str, Known],
    folder: Path,
    beat: Callable[[], None],
    *,
    in_memory: bool = True,
) -> StagedJob:
    """Reads every Trial and keeps those that are new or have grown.

    Raises ImportProblemError for input that can't be taken, also for evidence that changed in a way
    in which a Job never grows.
    """
    counts = {Change.NEW: 0, Change.GROWN: 0}
    with (
        closing(Spool(folder / "trials", in_memory=in_memory)) as spool,
        closing(Segments(folder)) as segments,
    ):
        for number, trial in enumerate(iter_trials(source, header, folder)):
            if number % BEAT_EVERY == 0:
                beat()
            _check(trial, f"{source.label}/trials/{trial.trial_id}/result.json")
            change = compare(known.get(trial.trial_id), trial)
            if change is Change.BROKEN:
                raise ImportProblemError(
                    f"{source.label}/trials/{trial.trial_id}/result.json",
                    "",
                    "differs from the finished Trial that was imported before. A finished Trial never "
                    "changes: this copy of the Job was altered, or another Job has the same id.",
                )
            if change in counts:
                counts[change] += 1
                packs = tuple(segments.add(execution.pack) for execution in trial.executions)
                spool.add(StagedTrial(change, trial, packs))
            else:
                for execution in trial.executions:
                    execution.pack.spool.close()
        pack = segments.add(pack_job_files(source, folder))
    return StagedJob(
        header, source.label, spool, tuple(segments.done), pack, counts[Change.NEW], counts[Change.GROWN]
    )


def _check(trial: ParsedTrial, file: str) -> None:
    """Refuses what no column holds, before anything is written."""
    if not re.match(DIGEST, trial.task_digest):
        raise ImportProblemError(file, "receipt.task_pin.content_hash", "must be sha256: and 64 hex digits")
    limits = [(trial.task_name, "receipt.task_pin.name", NAME), (trial.status, "status", STATUS)]
    limits += [(trial.error_code, "error_code", WORD), (trial.stop_reason, "stop_reason", WORD)]
    for execution in trial.executions:
        limits.append((execution.error_code, "error_code", WORD))
        limits.append((execution.stop_reason, "stop_reason", WORD))
        limits.append((execution.status, "status", STATUS))
    for value, field, limit in limits:
        if len(value) > limit:
            raise ImportProblemError(file, field, f"is longer than {limit} characters: {value[:60]}…")


def as_attempt(trial: ParsedTrial) -> Attempt:
    return Attempt(
        task=trial.task_name,
        attempt=trial.attempt,
        status=trial.status,
        score=trial.score,
        error_code=trial.error_code or None,
        stop_reason=trial.stop_reason or None,
        cost_usd=trial.cost_usd,
        latency_seconds=trial.latency_seconds,
        trial_id=trial.trial_id,
        cost_partial=trial.cost_partial,
    )
