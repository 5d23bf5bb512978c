"""Packs: the files of a folder as one run of bytes, read once and hashed one by one."""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeVar

from jobs.domain.parsed import ImportProblemError, Pack, StoredFile
from jobs.domain.readers.folders import File, Folder, join
from jobs.domain.readers.strict_json import shown

IN_MEMORY = 8 * 1024 * 1024
"""A pack up to this size stays in memory; a file up to half of it is read in one piece."""
_CHUNK = 1024 * 1024
MAX_PATH = 1000
MAX_FOLDERS_DEEP = 30

T = TypeVar("T")

_MEDIA_TYPES = {
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "log": "text/plain",
    "txt": "text/plain",
}


def media_type_of(path: str) -> str:
    return _MEDIA_TYPES.get(path.rpartition(".")[2], "application/octet-stream")


class PackBuilder:
    """Collects files; `finish` gives the pack, `close` throws an unfinished one away.

    What memory isn't to hold goes into a nameless file in `scratch`, by default the system's folder.
    """

    def __init__(self, scratch: Path | None = None) -> None:
        self._scratch = scratch
        self._chunks: list[bytes] = []
        self._spool: IO[bytes] | None = None
        self._size = 0
        self.files: list[StoredFile] = []
        self.labels: dict[str, tuple[str, str, str]] = {}
        """Media type ('' to guess), role and recorded digest by path, for the files still to come."""

    def add(self, path: str, data: bytes) -> None:
        start = self._size
        self._write(data)
        self._list(path, hashlib.sha256(data).hexdigest(), start)

    def add_file(self, folder: Folder, name: str, path: str) -> None:
        self.add_parsed(folder, name, path, _ignore, _ignore)

    def add_parsed(
        self,
        folder: Folder,
        name: str,
        path: str,
        whole: Callable[[bytes], T],
        streamed: Callable[[Callable[[int], bytes]], T],
    ) -> T:
        """Add a file and parse it from the same bytes: with `whole` if it is small, else with `streamed`."""
        with folder.open_file(name) as file:
            if file.size <= IN_MEMORY // 2:
                data = file.read(file.size)
                self.add(path, data)
                return whole(data)
            start = self._size
            source = _Tee(file, self._write)
            result = streamed(source.read)
            source.drain()
            self._list(path, source.sha.hexdigest(), start)
            return result

    def _list(self, path: str, digest: str, start: int) -> None:
        media_type, role, recorded = self.labels.get(path, ("", "", ""))
        sha256 = "sha256:" + digest
        compared = ("agrees" if recorded == sha256 else "differs") if recorded else ""
        size = self._size - start
        media_type = media_type or media_type_of(path)
        self.files.append(StoredFile(path, sha256, size, start, media_type, role, compared))

    def _write(self, data: bytes) -> None:
        self._size += len(data)
        if self._spool is not None:
            self._spool.write(data)
            return
        self._chunks.append(data)
        if self._size > IN_MEMORY:
            self._spool = tempfile.TemporaryFile(dir=self._scratch)  # noqa: SIM115 - the pack's consumer closes it
            self._spool.writelines(self._chunks)
            self._chunks.clear()

    def finish(self) -> Pack:
        spool = self._spool or io.BytesIO(b"".join(self._chunks))
        spool.seek(0)
        return Pack(spool, self._size, tuple(self.files))

    def close(self) -> None:
        if self._spool is not None:
            self._spool.close()


class _Tee:
    """Reads a file, passing on and hashing every byte."""

    def __init__(self, file: File, write: Callable[[bytes], None]) -> None:
        self._file, self._write = file, write
        self.sha = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.sha.update(data)
        self._write(data)
        return data

    def drain(self) -> None:
        while self.read(_CHUNK):
            pass


def add_tree(pack: PackBuilder, folder: Folder, path: str) -> None:
    """Add every file under `folder`, files before folders, by name."""
    if path.count("/") > MAX_FOLDERS_DEEP:
        raise ImportProblemError(
            folder.label, "", f"has more than {MAX_FOLDERS_DEEP} folders inside each other"
        )
    files, folders = folder.entries()
    add_entries(pack, folder, path, files, folders)


def add_entries(pack: PackBuilder, folder: Folder, path: str, files: list[str], folders: list[str]) -> None:
    for name in files:
        place = join(path, name)
        if len(place) > MAX_PATH:
            label = shown(join(folder.label, name))
            raise ImportProblemError(label, "", f"has a path of more than {MAX_PATH} characters")
        pack.add_file(folder, name, place)
    for name in folders:
        with folder.folder(name) as inner:
            add_tree(pack, inner, join(path, name))


def _ignore(_: object) -> None:
    """Parses nothing."""
