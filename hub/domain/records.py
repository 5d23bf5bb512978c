"""The records beside a release's manifests, each naming the one before: one line without gaps or forks.

The manifest's schema has no place for its sequence, kind, reason or author, so they stand here. A record is
canonical JSON with a digest of its own, over the stored bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from benchmarks.domain.identity import sha256_digest
from benchmarks.domain.types import DomainError
from hub.domain import codec
from hub.domain.times import parse_time, time_text

RECORD_SCHEMA: Literal["plural-site.record/1"] = "plural-site.record/1"
RecordKind = Literal["publish", "correct", "withdraw", "restore"]
FaultKind = Literal["digest", "form", "subject", "gap", "fork", "previous", "state"]
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Subject:
    """`publication` is its id, `release` a version, `result` the id of a result if it is about one."""

    publication: str
    release: str
    result: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """`manifest` is None only where the whole publication is withdrawn without one; `at` is ISO 8601 in UTC.

    `previous` is the digest of the record before, None for the first.
    """

    sequence: int
    kind: RecordKind
    subject: Subject
    manifest: str | None
    previous: str | None
    reason: str
    by: str
    at: str
    schema_version: Literal["plural-site.record/1"] = RECORD_SCHEMA


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as its exact bytes, and the digest under which they are kept."""

    digest: str
    body: bytes


@dataclass(frozen=True, slots=True)
class ChainFault:
    """The first fault of a chain. `sequence` is where it shows, None where that can't be read."""

    kind: FaultKind
    sequence: int | None
    message: str


def record_bytes(record: Record) -> bytes:
    return codec.encode(record)


def store(record: Record) -> StoredRecord:
    body = record_bytes(record)
    return StoredRecord(sha256_digest(body), body)


def parse_record(data: bytes) -> Record:
    """Raises codec.FormError, which names the place of every problem."""
    return codec.decode(Record, data)


def next_record(
    previous: StoredRecord | None,
    *,
    manifest: str | None,
    kind: RecordKind,
    reason: str,
    by: str,
    at: datetime,
    subject: Subject,
) -> Record:
    """The record that follows `previous`, or the first. Raises DomainError where none like it may follow."""
    before = parse_record(previous.body) if previous else None
    record = Record(
        sequence=before.sequence + 1 if before else 1,
        kind=kind,
        subject=subject,
        manifest=manifest,
        previous=previous.digest if previous else None,
        reason=reason,
        by=by,
        at=time_text(at),
    )
    problems = [*record_problems(record), *_following(before, record)]
    if problems:
        raise DomainError(" ".join(problems))
    return record


def record_problems(record: Record) -> list[str]:
    """What is wrong with a record by itself, in sentences."""
    return list(_record_problems(record))


def check_chain(records: Sequence[StoredRecord]) -> ChainFault | None:
    """The first fault of one release's records, given in any order; None for a sound chain."""
    read: list[tuple[Record, StoredRecord]] = []
    for position, stored in enumerate(records, start=1):
        where = f"Record {position} of {len(records)}"
        found = sha256_digest(stored.body)
        if found != stored.digest:
            return ChainFault("digest", None, f"{where} is kept as {stored.digest}; its bytes give {found}.")
        try:
            record = parse_record(stored.body)
        except DomainError as error:
            return ChainFault("form", None, f"{where} can't be read: {error}")
        if problems := _form(record, stored.body):
            return ChainFault("form", record.sequence, f"{where}: {' '.join(problems)}")
        read.append((record, stored))
    return _first_fault(sorted(read, key=lambda pair: pair[0].sequence))


def _form(record: Record, body: bytes) -> list[str]:
    problems = record_problems(record)
    if record_bytes(record) != body:
        problems.append("Its bytes are not canonical JSON.")
    return problems


def _first_fault(records: Sequence[tuple[Record, StoredRecord]]) -> ChainFault | None:
    before: tuple[Record, StoredRecord] | None = None
    for record, stored in records:
        number = record.sequence
        expected = before[0].sequence + 1 if before else 1
        if before and number == before[0].sequence:
            return ChainFault("fork", number, f"Two records have the number {number}.")
        if number != expected:
            return ChainFault("gap", number, f"Record {number} is there, record {expected} is not.")
        if before and record.previous != before[1].digest:
            return ChainFault(
                "previous", number, f"Record {number} follows {record.previous}, not {before[1].digest}."
            )
        if before and _whole(record) != _whole(before[0]):
            return ChainFault("subject", number, f"Record {number} is about another release.")
        if problems := list(_following(before[0] if before else None, record)):
            return ChainFault("state", number, f"Record {number}: {' '.join(problems)}")
        before = record, stored
    return None


def _whole(record: Record) -> Subject:
    return Subject(record.subject.publication, record.subject.release)


def _record_problems(record: Record) -> Iterator[str]:
    withdraws_all = record.kind == "withdraw" and record.subject.result is None
    if (record.sequence == 1) != (record.previous is None) or record.sequence < 1:
        yield "The first record, number 1, and it alone follows none."
    for name, digest in (("manifest", record.manifest), ("record before", record.previous)):
        if digest is not None and not _DIGEST.fullmatch(digest):
            yield f"The {name} must be named by sha256: and 64 hex digits."
    if record.manifest is None and not withdraws_all:
        yield "Only the withdrawal of a whole publication can be without a manifest."
    if record.kind != "publish" and not record.reason.strip():
        yield "Say why: only a publication needs no reason."
    if not record.by.strip():
        yield "Say who did it."
    if parse_time(record.at) is None:
        yield "The time must be ISO 8601 with a zone."
    if not (record.subject.publication.strip() and record.subject.release.strip()):
        yield "The publication and the release must be named."
    if record.subject.result is not None and not record.subject.result.strip():
        yield "A result must be named by its id."


def _following(before: Record | None, record: Record) -> Iterator[str]:
    """Why `record` can't follow: only a restored publication goes on after it was withdrawn."""
    if before is None:
        if record.kind != "publish":
            yield "The first record of a release publishes it."
        return
    if _whole(record) != _whole(before):
        yield "It is about another release than the record before."
    withdrawn = before.kind == "withdraw" and before.subject.result is None
    restores = record.kind == "restore" and record.subject.result is None
    if withdrawn and not restores:
        yield "The publication is withdrawn: restore it first."
    if restores and not withdrawn:
        yield "The publication is not withdrawn, so it can't be restored."
