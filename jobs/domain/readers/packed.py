"""The folders of an archive whose files were written into one file, one after another.

So an archive of many small files costs one file, and no name in it ever becomes one on disk.
"""

from __future__ import annotations

import tempfile
from array import array
from typing import TypeAlias

from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers.folders import MISSING, NO_FILE, NO_FOLDER, File, Folder, Names, join

_BUFFER = 1024 * 1024

Index: TypeAlias = "dict[str, Index | int]"
"""A folder's names: a file's number, or a folder. Kept this lean because an archive may hold millions."""


class PackedFiles:
    """The bytes of all files, in a file of `scratch` that has no name, and `top`, which holds their places.

    Written first, with `write` and `end_file`; after `flush` it is read.
    """

    def __init__(self, scratch: str) -> None:
        self._spool = tempfile.TemporaryFile(dir=scratch, buffering=_BUFFER)  # noqa: SIM115 - see `close`
        self._size = 0
        self._starts = array("Q", [0])
        self.top: Index = {}

    def write(self, data: bytes) -> None:
        self._spool.write(data)
        self._size += len(data)

    def end_file(self) -> int:
        """Number of the file that was written since the last one."""
        self._starts.append(self._size)
        return len(self._starts) - 2

    def flush(self) -> None:
        self._spool.flush()

    def close(self) -> None:
        self._spool.close()

    def file(self, number: int, label: str) -> File:
        start, end = self._starts[number : number + 2]
        return File(self._spool.fileno(), start, end - start, label, is_shared=True)


class PackedFolder(Folder):
    __slots__ = ("_files", "_index")

    def __init__(self, files: PackedFiles, index: Index, label: str = "") -> None:
        self._files, self._index, self.label = files, index, label

    def close(self) -> None:
        """There is nothing to close, and it may be entered again."""

    def folder(self, name: str) -> PackedFolder:
        found = self._index.get(name)
        label = join(self.label, name)
        if isinstance(found, dict):
            return PackedFolder(self._files, found, label)
        raise ImportProblemError(label, "", MISSING if found is None else NO_FOLDER)

    def open_file(self, name: str) -> File:
        found = self._index.get(name)
        label = join(self.label, name)
        if isinstance(found, int):
            return self._files.file(found, label)
        raise ImportProblemError(label, "", MISSING if found is None else NO_FILE)

    def entries(self) -> tuple[list[str], list[str]]:
        names = [name for name in self._index if name[0] != "."]
        files = [name for name in names if isinstance(self._index[name], int)]
        folders = [name for name in names if isinstance(self._index[name], dict)]
        return self._in_order(files, folders)

    def names(self) -> Names:
        files = {name for name, found in self._index.items() if isinstance(found, int)}
        return Names(files, self._index.keys() - files)
