"""Reading folders that nobody vouches for, on disk or in an archive. Every error names the file.

On disk no links are followed: folders are held open and everything in them is opened relative to them, so
that nothing can be swapped for a link in between.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers.strict_json import shown

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = _FLAGS | os.O_NONBLOCK
_FOLDER = _FLAGS | os.O_DIRECTORY
MAX_ENTRIES = 1_000_000
MISSING = "is missing"
NO_FILE = "is not a regular file"
NO_FOLDER = "is a link or a file where a folder is expected"


def name_problem(name: str) -> str:
    """What keeps a file from being called so, '' for nothing."""
    if name.isprintable():  # nearly all are, and the rest is slow
        return ""
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "has a name that is not UTF-8"
    if any(unicodedata.category(character) == "Cc" for character in name):
        return "has a control character in its name"
    return ""


def join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


class File:
    """An open file of `size` bytes: a descriptor's bytes from `start` on."""

    __slots__ = ("_at", "_end", "_fd", "_is_shared", "label", "size")

    def __init__(self, fd: int, start: int, size: int, label: str, *, is_shared: bool = False) -> None:
        """A shared descriptor holds other files too and stays open."""
        self._fd, self._at, self._end, self._is_shared = fd, start, start + size, is_shared
        self.size, self.label = size, label

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_shared:
            os.close(self._fd)

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer at the end. One that became shorter while it was open is refused."""
        size = min(size, self._end - self._at)
        if not size:
            return b""
        data = self._read_some(size)
        while len(data) < size:
            more = self._read_some(size - len(data))
            if not more:
                raise ImportProblemError(self.label, "", "became shorter while it was read")
            data += more
        return data

    def _read_some(self, size: int) -> bytes:
        try:
            data = os.pread(self._fd, size, self._at)
        except OSError as error:
            raise _problem(self.label, error) from None
        self._at += len(data)
        return data

    def skip_to_last(self, size: int) -> None:
        """Go on with the last `size` bytes."""
        self._at = max(self._at, self._end - size)


@dataclass(slots=True)
class Names:
    """All names in a folder by what they are; other kinds of things are not listed."""

    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)


class Folder(ABC):
    """An open folder; `label` is its path relative to what is imported ('' for that itself)."""

    __slots__ = ("label",)
    label: str

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def folder(self, name: str) -> Folder: ...

    @abstractmethod
    def open_file(self, name: str) -> File:
        """Only regular files are opened."""

    @abstractmethod
    def entries(self) -> tuple[list[str], list[str]]:
        """Names of the files and of the folders, each sorted. Dot names are skipped: they are temporary.

        Refused: anything that is neither, names that can't be shown, more than `MAX_ENTRIES`.
        """

    @abstractmethod
    def names(self) -> Names:
        """For looking around: everything is there, nothing is refused."""

    def read(self, name: str, limit: int) -> bytes:
        """The whole file; refused when it holds more than `limit` bytes."""
        with self.open_file(name) as file:
            if file.size > limit:
                message = f"has {file.size} bytes; at most {limit} are allowed"
                raise ImportProblemError(file.label, "", message)
            return file.read(file.size)

    def _in_order(self, files: list[str], folders: list[str]) -> tuple[list[str], list[str]]:
        if len(files) + len(folders) > MAX_ENTRIES:
            raise ImportProblemError(self.label or ".", "", f"holds more than {MAX_ENTRIES} entries")
        files.sort()
        folders.sort()
        return files, folders


class DiskFolder(Folder):
    __slots__ = ("fd",)

    def __init__(self, fd: int, label: str) -> None:
        self.fd, self.label = fd, label

    @classmethod
    def open(cls, path: str, label: str) -> Self:
        """`path` is trusted but for its last step."""
        try:
            return cls(os.open(path, _FOLDER), label)
        except OSError as error:
            raise _problem(label or ".", error) from None

    def close(self) -> None:
        os.close(self.fd)

    def folder(self, name: str) -> DiskFolder:
        try:
            return DiskFolder(os.open(name, _FOLDER, dir_fd=self.fd), join(self.label, name))
        except OSError as error:
            raise _problem(join(self.label, name), error) from None

    def open_file(self, name: str) -> File:
        label = join(self.label, name)
        try:
            fd = os.open(name, _FILE, dir_fd=self.fd)
        except OSError as error:
            raise _problem(label, error) from None
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            os.close(fd)
            raise ImportProblemError(label, "", NO_FILE)
        return File(fd, 0, status.st_size, label)

    def entries(self) -> tuple[list[str], list[str]]:
        files: list[str] = []
        folders: list[str] = []
        try:
            with os.scandir(self.fd) as found:
                for entry in found:
                    name = entry.name
                    if name[0] == ".":
                        continue
                    if not name.isprintable() and (problem := name_problem(name)):
                        raise ImportProblemError(shown(join(self.label, name)), "", problem)
                    if entry.is_file(follow_symlinks=False):
                        files.append(name)
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(name)
                    else:
                        raise self._special(entry)
        except OSError as error:
            raise _problem(self.label or ".", error) from None
        return self._in_order(files, folders)

    def names(self) -> Names:
        names = Names()
        try:
            with os.scandir(self.fd) as found:
                for entry in found:
                    if entry.is_symlink():
                        names.links.add(entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        names.folders.add(entry.name)
                    elif entry.is_file(follow_symlinks=False):
                        names.files.add(entry.name)
        except OSError as error:
            raise _problem(self.label or ".", error) from None
        return names

    def _special(self, entry: os.DirEntry[str]) -> ImportProblemError:
        what = "a link" if entry.is_symlink() else "neither a file nor a folder"
        return ImportProblemError(join(self.label, entry.name), "", f"is {what}; that is not allowed here")


@dataclass(frozen=True, slots=True)
class JobFolder:
    """Where a Job lies. `label` is its path relative to what is imported, '' if it is that itself.

    `path` is where it is on disk; `packed` is the folder itself where it lies in an archive. `name` is the
    folder's name, which is the Job's id; '' where it has none of its own, as at the top of an archive.
    """

    path: str
    label: str
    name: str
    packed: Folder | None = None

    def open(self) -> Folder:
        return self.packed or DiskFolder.open(self.path, self.label)


def _problem(label: str, error: OSError) -> ImportProblemError:
    if isinstance(error, FileNotFoundError):
        return ImportProblemError(label, "", MISSING)
    if isinstance(error, NotADirectoryError):
        return ImportProblemError(label, "", NO_FOLDER)
    if error.errno == errno.ELOOP:
        return ImportProblemError(label, "", "is a link; that is not allowed here")
    return ImportProblemError(label, "", f"can't be read: {error.strerror or type(error).__name__}")
