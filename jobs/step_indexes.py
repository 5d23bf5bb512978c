"""Step indexes: which files of an execution are trajectories, and where the steps of one lie.

A trajectory is named by its file's path, one inside that file by `PATH#HANDLE`. An index is made at first
opening and kept; it is derived, so it may be deleted at any time.
"""

from __future__ import annotations

import json
import posixpath
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, BinaryIO

from django.db import IntegrityError, transaction
from django.http import Http404

from jobs.domain.file_kinds import TRAJECTORY_FILES, FileKind, is_like_a_trajectory, kind_of
from jobs.domain.trajectory import atif, episode, messages, raw
from jobs.domain.trajectory.outline import Row, chunks
from jobs.domain.trajectory.reading import Reading
from jobs.domain.trajectory.scan import Reader
from jobs.models import Execution, StepChunk, StepIndex
from jobs.stored_files import StoredFile, removed_words
from plural_site.db import blobs, bulk
from plural_site.errors import GoneError

VERSION = 1
"""Of what an index holds. An index of another version is made anew."""
CHUNK = 50
"""Steps of a `StepChunk`."""
_INSERTED = 100
"""Chunks written with one statement."""
_FETCHED = 40
"""Chunks read with one query."""
_LONGEST_PATH = 1000
_FIRST = dict(zip(TRAJECTORY_FILES, (atif, messages, episode), strict=True))
_UNFIT = re.compile("[\0\ud800-\udfff]")
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class TrajectoryFile:
    """`format` as the name promises it: atif, messages, episode or raw. The index knows better."""

    path: str
    label: str
    format: str


@dataclass(frozen=True, slots=True)
class Section:
    """Where a trajectory lies: bytes of a file of an execution."""

    file: str
    digest: str
    file_offset: int
    """Of the file in its blob."""
    start: int
    """Of the trajectory in the file."""
    size: int
    siblings: list[list[str]]
    """[trajectory id, path] of those inside the files and trajectories around it."""


def trajectory_files(execution: Execution) -> list[TrajectoryFile]:
    """Candidates, the one to open first at the top. Empty: no trajectory was left, which is normal."""
    there = [file for file in map(_stored, execution.files) if not file.removed]
    paths = [file.path for file in there if len(file.path) <= _LONGEST_PATH]
    found = [
        TrajectoryFile(path, module.LABEL, module.FORMAT) for path, module in _FIRST.items() if path in paths
    ]
    for path in sorted(paths, key=_natural):
        name = posixpath.basename(path)
        if path not in _FIRST and is_like_a_trajectory(path) and not _UNFIT.search(path):
            module = atif if name.lower() == "atif-trajectory.json" else raw
            found.append(TrajectoryFile(path, path.removeprefix("artifacts/"), module.FORMAT))
    return found


def removed_trajectory(execution: Execution) -> StoredFile | None:
    """The first of those that were removed, where no other is left."""
    if trajectory_files(execution):
        return None
    gone = (file for file in map(_stored, execution.files) if file.removed)
    return next((file for file in gone if kind_of(file.path, file.role) is FileKind.TRAJECTORIES), None)


def _stored(file: Sequence[Any]) -> StoredFile:
    return StoredFile(*file)


def ensure_index(execution: Execution, path: str) -> StepIndex:
    """The index of a trajectory, made if it is missing or not of this code or these bytes.

    Raises Http404 where the execution has no such trajectory, or its bytes are no longer in the store:
    GoneError where they were removed.
    """
    file = _file(execution, _file_of(execution, path))
    index = StepIndex.objects.filter(execution=execution, path=path).first()
    if index is None or not _is_fit(index, file[1]):
        return build_index(execution, path)
    index.execution = execution
    return index


def _is_fit(index: StepIndex, digest: str) -> bool:
    return index.version == VERSION and index.facts.get("digest") == digest


def first_index(execution: Execution) -> StepIndex | None:
    """Of the first trajectory that has steps, else of the first there is; None without one."""
    first = None
    for file in trajectory_files(execution):
        index = ensure_index(execution, file.path)
        if index.steps:
            return index
        first = first or index
    return first


def rebuild_indexes(execution: Execution) -> StepIndex | None:
    """Drops what there is of an execution and makes the index that is opened first."""
    StepIndex.objects.filter(execution=execution).delete()
    return first_index(execution)


def drop_indexes(removed: Mapping[int, Collection[str]]) -> None:
    """Forgets the trajectories in files that were removed: their paths, by the key of the execution."""
    concerned = [key for key, paths in removed.items() if paths]
    for start in range(0, len(concerned), _FETCHED):
        kept = StepIndex.objects.filter(execution__in=concerned[start : start + _FETCHED])
        gone = [
            pk
            for pk, key, path in kept.values_list("pk", "execution_id", "path")
            if any(path == name or path.startswith(f"{name}#") for name in removed[key])
        ]
        StepIndex.objects.filter(pk__in=gone).delete()


def build_index(execution: Execution, path: str) -> StepIndex:
    """Reads the file and writes its index, unless a fit one has come up. Raises Http404 as `ensure_index`."""
    section = find_section(execution, path)
    with open_pack(execution) as stream, tempfile.TemporaryFile() as spool:

        def open_file() -> Reader:
            return _reader(stream, section.file_offset + section.start, section.size)

        reading = Reading(open_file, posixpath.basename(section.file), section.start)
        for rows in chunks(reading.rows(), CHUNK):
            spool.write(json.dumps(rows).encode() + b"\n")
        facts = reading.outline.facts() | {"digest": section.digest, "siblings": section.siblings}
        index = StepIndex(
            execution=execution,
            path=path,
            format=reading.format.FORMAT,
            version=VERSION,
            steps=reading.outline.steps,
            facts=facts,
        )
        spool.seek(0)
        return _write(index, spool)


def _write(index: StepIndex, spool: IO[bytes]) -> StepIndex:
    """In one transaction. Where another request was faster, its rows stand: somebody may be reading them."""
    same = StepIndex.objects.filter(execution=index.execution, path=index.path)
    try:
        with transaction.atomic():
            found = same.first()
            if found and _is_fit(found, index.facts["digest"]):
                found.execution = index.execution
                return found
            same.delete()
            index.save()
            batch: list[dict[str, Any]] = []
            for number, line in enumerate(spool, 1):
                batch.append({"index_id": index.pk, "number": number, "rows": json.loads(line)})
                if len(batch) == _INSERTED:
                    bulk.insert(StepChunk, batch)
                    batch.clear()
            bulk.insert(StepChunk, batch)
    except IntegrityError:
        found = same.first()
        if found is None:
            raise Http404("This execution was just replaced.") from None
        found.execution = index.execution
        return found
    return index


def find_section(execution: Execution, path: str) -> Section:
    """Raises Http404 where there is no such trajectory."""
    name = _file_of(execution, path)
    _, digest, offset, size, *_ = _file(execution, name)
    if path == name:
        return Section(name, digest, offset, 0, size, [])
    parent_path, _, handle = path.rpartition("#")
    parent = ensure_index(execution, parent_path)
    for known, _ident, start, length in parent.facts["embedded"]:
        if known == handle:
            return Section(name, digest, offset, start, length, known_trajectories(parent))
    raise Http404("This trajectory holds no such trajectory.")


def known_trajectories(index: StepIndex) -> list[list[str]]:
    """[trajectory id, path] of those embedded in it, then of those around it."""
    around: list[list[str]] = index.facts["siblings"]
    return [[ident, f"{index.path}#{handle}"] for handle, ident, _, _ in index.facts["embedded"]] + around


def rows_after(index: StepIndex, after: int) -> Iterator[list[tuple[int, Row]]]:
    """(number, row) of every step after one, chunk by chunk, some of them a query."""
    for first in range(after // CHUNK + 1, -(-index.steps // CHUNK) + 1, _FETCHED):
        kept = StepChunk.objects.filter(index=index, number__range=(first, first + _FETCHED - 1))
        for number, rows in kept.order_by("number").values_list("number", "rows"):
            yield [(at, row) for at, row in enumerate(rows, (number - 1) * CHUNK + 1) if at > after]


@contextmanager
def open_pack(execution: Execution) -> Iterator[BinaryIO]:
    """The blob of all its files. Raises Http404 where it is no longer in the store."""
    try:
        stream = blobs.open_blob(execution.pack_id)
    except FileNotFoundError:
        raise Http404("This file is no longer in the store.") from None
    with stream:
        yield stream


def _reader(stream: BinaryIO, start: int, size: int) -> Reader:
    """Reads a range from its start, whoever else reads from the same stream."""
    at = 0

    def read(wanted: int) -> bytes:
        nonlocal at
        stream.seek(start + at)
        data = stream.read(max(0, min(wanted, size - at)))
        at += len(data)
        return data

    return read


def file_of(index: StepIndex) -> tuple[str, int]:
    """(path, offset in the blob) of the file that an index is of."""
    name = _file_of(index.execution, index.path)
    return name, _file(index.execution, name)[2]


def _file_of(execution: Execution, path: str) -> str:
    """The file that a trajectory is, or lies in."""
    if len(path) > _LONGEST_PATH or _UNFIT.search(path):
        raise Http404("This execution left no such trajectory.")
    names = {file[0] for file in execution.files}
    name = path
    while name not in names and "#" in name:
        name = name.rpartition("#")[0]
    return name


def _file(execution: Execution, name: str) -> list[Any]:
    found: list[Any] | None = next((file for file in execution.files if file[0] == name), None)
    if found is None:
        raise Http404("This execution left no such trajectory.")
    if gone := removed_words(StoredFile(*found)):
        raise GoneError(f"This trajectory was {gone}.")
    return found


def _natural(text: str) -> list[tuple[int, str]]:
    """Sorts part-2 before part-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(text)]
