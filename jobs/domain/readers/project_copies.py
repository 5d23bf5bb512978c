"""Copies of an archive's project folders, as far as checking their Benchmarks needs them on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.domain.package_files import LEFT_OUT
from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers.folders import File, Folder

MAX_COPIED = 10_000
"""Number of files and folders, over all projects of an archive."""
MAX_BYTES = 1 << 30
_CHUNK = 1024 * 1024
_MANIFEST = "project.yaml"
_COLLECTIONS = ("agents", "benchmarks", "environments", "harnesses", "tasks", "verifiers")


class ProjectCopies:
    """Writes projects into a folder, each whole or, where there is no room for it, not at all."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._count = 0
        self._bytes = 0

    def add(self, project: Folder) -> bool:
        """Whether there was room. Raises ImportProblemError where the disk takes no more."""
        count, size = self._count, self._bytes
        for folder, name in _contents(project):
            count += 1
            if name:
                with folder.open_file(name) as file:
                    size += file.size
            if count > MAX_COPIED or size > MAX_BYTES:
                return False
        self._count, self._bytes = count, size
        try:
            for folder, name in _contents(project):
                self._copy(folder, name)
        except OSError as error:
            message = f"can't be unpacked: {error.strerror or type(error).__name__}"
            raise ImportProblemError(project.label or ".", "", message) from None
        return True

    def _copy(self, folder: Folder, name: str) -> None:
        place = self._target / folder.label
        if not name:
            place.mkdir(parents=True, exist_ok=True)
            return
        with folder.open_file(name) as file, (place / name).open("wb") as out:
            out.writelines(_chunks(file))


def _chunks(file: File) -> Iterator[bytes]:
    while data := file.read(_CHUNK):
        yield data


def _contents(project: Folder) -> Iterator[tuple[Folder, str]]:
    """Each folder with '', before its files, each with its name."""
    names = project.names()
    yield project, ""
    if _MANIFEST in names.files:
        yield project, _MANIFEST
    for collection in _COLLECTIONS:
        if collection in names.folders:
            with project.folder(collection) as folder:
                yield from _tree(folder)


def _tree(folder: Folder) -> Iterator[tuple[Folder, str]]:
    names = folder.names()
    yield folder, ""
    for name in sorted(names.files - LEFT_OUT):
        yield folder, name
    for name in sorted(names.folders - LEFT_OUT):
        with folder.folder(name) as inner:
            yield from _tree(inner)
