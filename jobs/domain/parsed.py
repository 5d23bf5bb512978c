"""What a reader hands over: the contents of one Job folder as plain values.

A reader touches no database. Times are aware UTC, money is USD, durations are seconds. What every Trial
brings is a tuple, since frozen dataclasses are slow to make and to hand to another process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from benchmarks.domain.types import Definition, JsonObject


class ImportProblemError(Exception):
    """Input that can't be taken. `file` is relative to what was imported, `field` a dotted path or ''."""

    def __init__(self, file: str, field: str, message: str) -> None:
        super().__init__(f"{file}{': ' + field if field else ''}: {message}")
        self.file, self.field, self.message = file, field, message

    def __reduce__(self) -> tuple[type[ImportProblemError], tuple[str, str, str]]:
        return type(self), (self.file, self.field, self.message)


@dataclass(frozen=True, slots=True)
class Note:
    """Something a person should know that did not stop the import."""

    file: str
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class ParsedAgent:
    """One entry of config.agents, by position. `digest` is lock.agent_digests[position]."""

    position: int
    name: str
    version: str
    digest: str
    definition: Definition
    model: str
    harness: str | None
    harness_version: str | None


@dataclass(frozen=True, slots=True)
class ParsedTask:
    """One planned Task, by position. `name` is the display name that scoring joins on."""

    position: int
    name: str
    version: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class JobHeader:
    """Everything of a Job but its Trials, read before any Trial so that Jobs can be ordered by start."""

    job_id: str
    folder: str
    benchmark: Definition | None
    benchmark_slug: str
    """Slug from run.json's source ('benchmark/<slug>'), '' where unknown."""
    definitions: tuple[Definition, ...]
    """Every Environment, Verifier, Task, Harness and Agent, dependencies first, each hash once."""
    tasks: tuple[ParsedTask, ...]
    agents: tuple[ParsedAgent, ...]
    attempts: int
    track_id: str
    """Track id from run.json, '' for none."""
    status: str
    """Job status from result.json; '' where there is none (killed or still running)."""
    spec_hash: str
    rerun_of_job_id: str
    rerun_of_trial_id: str
    started_at: datetime
    finished_at: datetime | None
    aggregates: tuple[JsonObject, ...]
    """The runner's own aggregates from result.json, as they stand there."""
    notes: tuple[Note, ...]

    @property
    def planned(self) -> int:
        return len(self.agents) * len(self.tasks) * self.attempts


class ParsedVerifierResult(NamedTuple):
    verifier: str
    digest: str
    kind: str
    status: str
    score: float | None
    scores: Mapping[str, float]
    feedback: str
    evidence: Sequence[Any]


class StoredFile(NamedTuple):
    """One file of an execution (or of the Job itself) as it lies in the pack."""

    path: str
    sha256: str
    """sha256:<hex> of the file's bytes, computed while reading."""
    size: int
    offset: int
    media_type: str
    role: str
    recorded: str
    """How the run's own record of the digest compares: "agrees", "differs", or '' where it holds none."""


class Pack(NamedTuple):
    """The bytes of a folder's files, one after another in the order of `files`.

    `spool` is an open binary file positioned anywhere, holding exactly those bytes. The consumer stores it
    and closes it.
    """

    spool: Any
    size: int
    files: tuple[StoredFile, ...]


class ParsedExecution(NamedTuple):
    number: int
    status: str
    error_code: str
    error_message: str
    stop_reason: str
    started_at: datetime | None
    completed_at: datetime | None
    receipt_hash: str
    """Recomputed over the receipt; '' without one."""
    is_final: bool
    verifier_results: tuple[ParsedVerifierResult, ...]
    pack: Pack


class ParsedTrial(NamedTuple):
    """One Trial: its figures are those of its final execution."""

    trial_id: str
    agent_position: int
    task_position: int | None
    """Position in the header's tasks; None where the receipt's pin is in no planned Task."""
    task_name: str
    task_digest: str
    attempt: int
    status: str
    score: float | None
    error_code: str
    error_message: str
    stop_reason: str
    turns: int | None
    seed: int | None
    cost_usd: float | None
    cost_partial: bool
    latency_seconds: float | None
    input_tokens: int | None
    output_tokens: int | None
    models_used: tuple[str, ...]
    """Model names that the trajectory's model calls report, sorted; empty where unknown."""
    started_at: datetime | None
    completed_at: datetime | None
    executions: tuple[ParsedExecution, ...]
    notes: tuple[Note, ...]
