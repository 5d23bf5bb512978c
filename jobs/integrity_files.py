"""Checks of stored files: that they are there and are what rows say of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.files.storage import storages

from benchmarks.domain.types import DomainError
from jobs.domain.readers.execution import receipt_hash
from jobs.integrity import Finding, Looked, Scope
from jobs.integrity_rows import MOST_NAMED, name_of
from jobs.models import Blob, Execution, ImportRun, Job, SupersededTrial, Trial, UploadPart
from jobs.removal import unreferenced
from jobs.stored_files import StoredFile
from plural_site.db import blobs

_FETCHED = 500
CHUNK = 1 << 20
MOST_RECEIPT = 16 << 20


@dataclass(slots=True)
class _Slice:
    """A file in a blob, hashed while the blob is read. `kept` collects a receipt."""

    where: str
    file: StoredFile
    receipt: str | None = None
    """What the receipt in it has to hash to."""
    sha: Any = field(default_factory=hashlib.sha256)
    kept: bytearray = field(default_factory=bytearray)

    def take(self, at: int, data: bytes) -> None:
        """Of bytes that stand at `at` in the blob, those that are its own."""
        first, last = max(self.file.offset - at, 0), self.file.offset + self.file.size - at
        own = memoryview(data)[first:last] if last > 0 else memoryview(b"")
        self.sha.update(own)
        if self.receipt is not None:
            self.kept += own

    def findings(self) -> Iterator[Finding]:
        if f"sha256:{self.sha.hexdigest()}" != self.file.digest:
            yield Finding(self.where, f"its file {self.file.path} is not what its list says")
        elif self.receipt is not None and _receipt_hash(self.kept) != self.receipt:
            yield Finding(self.where, "its receipt does not hash to what was recorded")


def _receipt_hash(data: bytes | bytearray) -> str:
    try:
        receipt = json.loads(bytes(data))
        return receipt_hash(receipt) if isinstance(receipt, dict) else ""
    except (ValueError, DomainError):
        return ""


# Blobs ------------------------------------------------------------------------------------------------


def stored_files(scope: Scope, looked: Looked) -> Iterator[Finding]:
    """Every blob and, in it, every file of a Job or an execution."""
    read = 0
    for digest, size in _all_blobs():
        looked.number += 1
        slices, problems = _slices(digest, size)
        yield from problems
        try:
            found = blobs.size_of(digest)
        except OSError as error:
            yield Finding(digest, f"can't be looked at: {error}")
            continue
        if found is None:
            if Blob.objects.filter(digest=digest).exists():  # and not just removed
                yield Finding(digest, "is not in the store")
        elif found != size:
            yield Finding(digest, f"has {found:,} bytes in the store, not {size:,}")
        elif not scope.is_quick:
            yield from _read(digest, slices)
            read += size
        scope.say(f"{looked.number:,} stored files, {read / 1e6:,.0f} MB read")


def _all_blobs() -> Iterator[tuple[str, int]]:
    last = ""
    rows = Blob.objects.order_by("digest").values_list("digest", "size")
    while batch := list(rows.filter(digest__gt=last)[:_FETCHED]):
        yield from batch
        last = batch[-1][0]


def _slices(digest: str, size: int) -> tuple[list[_Slice], list[Finding]]:
    """The files that rows place in a blob, in order, and those whose places can't be."""
    slices: list[_Slice] = []
    problems: list[Finding] = []
    for key, files in Job.objects.filter(pack=digest).values_list("pk", "files"):
        slices += [_Slice(name_of(Job, key), StoredFile(*file)) for file in files]
    rows = Execution.objects.filter(pack=digest).values_list("pk", "files", "receipt_hash")
    for key, files, hashed in rows.iterator(chunk_size=_FETCHED):
        for file in (StoredFile(*entry) for entry in files):
            is_receipt = file.path == "receipt.json" and bool(hashed) and file.size <= MOST_RECEIPT
            slices.append(_Slice(name_of(Execution, key), file, hashed if is_receipt else None))
    placed = []
    for one in slices:
        if one.file.removed:
            continue
        if one.file.offset < 0 or one.file.offset + one.file.size > size:
            problems.append(Finding(one.where, f"its file {one.file.path} lies outside of {digest}"))
        else:
            placed.append(one)
    return sorted(placed, key=lambda one: one.file.offset), problems


def _read(digest: str, slices: Sequence[_Slice]) -> Iterator[Finding]:
    sha, at, following = hashlib.sha256(), 0, 0
    open_slices: list[_Slice] = []
    try:
        with blobs.open_blob(digest) as stream:
            while data := stream.read(CHUNK):
                sha.update(data)
                while following < len(slices) and slices[following].file.offset < at + len(data):
                    open_slices.append(slices[following])
                    following += 1
                for one in open_slices:
                    one.take(at, data)
                at += len(data)
                ended = [one for one in open_slices if one.file.offset + one.file.size <= at]
                open_slices = [one for one in open_slices if one.file.offset + one.file.size > at]
                for one in ended:
                    yield from one.findings()
    except OSError as error:
        yield Finding(digest, f"can't be read: {error.strerror or error}")
        return
    if f"sha256:{sha.hexdigest()}" != digest:
        yield Finding(digest, "holds other bytes than its name says")
    for one in slices[following:]:  # empty, at the very end
        yield from one.findings()


def results(scope: Scope, looked: Looked) -> Iterator[Finding]:
    """What a Trial was compared by against the list of the execution that counts."""
    rows = Execution.objects.filter(is_final=True).order_by("pk")
    for key, digest, files in rows.values_list("trial", "trial__result_digest", "files").iterator(_FETCHED):
        looked.number += 1
        listed = next((file[1] for file in files if file[0] == "result.json"), "")
        if digest != listed:
            yield Finding(name_of(Trial, key), "its result is not that of the execution that counts")


# What is left over ------------------------------------------------------------------------------------


def left_over(scope: Scope, looked: Looked) -> Iterator[Finding]:
    """Files that no row names and rows that nothing refers to: imports that died leave some."""
    unknown = []
    for batch in _batches(blobs.stored()):
        looked.number += len(batch)
        scope.say(f"{looked.number:,} files in the store")
        known = set(Blob.objects.filter(digest__in=batch).values_list("digest", flat=True))
        unknown += [digest for digest in batch if digest not in known][: MOST_NAMED + 1]
    mend = "manage.py collect_files removes it"
    for digest in unknown[:MOST_NAMED]:
        yield Finding(digest, f"is in the store, and no row names it: {mend}", is_note=True)
    superseded = {
        digest
        for packs in SupersededTrial.objects.exclude(packs=[]).values_list("packs", flat=True).iterator()
        for digest in packs
    }
    for batch in _batches(digest for digest, _ in _all_blobs()):
        for digest in sorted(unreferenced(batch) - superseded)[:MOST_NAMED]:
            yield Finding(digest, f"nothing refers to it: {mend}", is_note=True)
    half = Job.objects.filter(state=Job.State.IMPORTING).exclude(import_run__status=ImportRun.Status.RUNNING)
    for job in half[:MOST_NAMED]:
        yield Finding(name_of(Job, job.pk), "is half written; the next import removes it", is_note=True)


def _batches(digests: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for digest in digests:
        batch.append(digest)
        if len(batch) == _FETCHED:
            yield batch
            batch = []
    if batch:
        yield batch


def uploads(scope: Scope, looked: Looked) -> Iterator[Finding]:
    """Parts of uploads that are still needed."""
    storage = storages["uploads"]
    for part in UploadPart.objects.order_by("pk").iterator(_FETCHED):
        looked.number += 1
        where = f"part {part.number} of {name_of(ImportRun, part.run_id)}"
        try:
            if scope.is_quick:
                is_whole = storage.size(part.name) == part.size
            else:
                with storage.open(part.name, "rb") as file:
                    is_whole = f"sha256:{hashlib.sha256(file.read()).hexdigest()}" == part.digest
        except OSError:
            is_whole = False
        if not is_whole and UploadPart.objects.filter(pk=part.pk).exists():
            yield Finding(where, "is missing or not what was uploaded: it has to be uploaded again")
