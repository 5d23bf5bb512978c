"""Reading a folder that nobody vouches for: no links are followed, and every error names the file.

Folders are held open and everything in them is opened relative to them, so that nothing can be swapped for
a link in between.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers.strict_json import shown

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = _FLAGS | os.O_NONBLOCK
_FOLDER = _FLAGS | os.O_DIRECTORY
MAX_ENTRIES = 1_000_000


def name_problem(name: str) -> str:
    """What keeps a file from being called so, '' for nothing."""
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "has a name that is not UTF-8"
    if any(unicodedata.category(character) == "Cc" for character in name):
        return "has a control character in its name"
    return ""


def join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


@dataclass(frozen=True, slots=True)
class JobFolder:
    """Where a Job lies. `label` is its path relative to what is imported, '' if it is that itself.

    `name` is the folder's name, which is the Job's id; '' where the folder has none of its own, as at the
    top of an archive.
    """

    path: str
    label: str
    name: str


class Folder:
    """An open folder; `label` is its path relative to what is imported ('' for that itself)."""

    __slots__ = ("fd", "label")

    def __init__(self, fd: int, label: str) -> None:
        self.fd, self.label = fd, label

    @classmethod
    def open(cls, path: str, label: str) -> Self:
        """`path` is trusted but for its last step."""
        try:
            return cls(os.open(path, _FOLDER), label)
        except OSError as error:
            raise _problem(label or ".", error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.fd)

    def folder(self, name: str) -> Folder:
        try:
            return Folder(os.open(name, _FOLDER, dir_fd=self.fd), join(self.label, name))
        except OSError as error:
            raise _problem(join(self.label, name), error) from None

    def entries(self) -> tuple[list[str], list[str]]:
        """Names of the files and of the folders, each sorted. Dot names are skipped: they are temporary."""
        files: list[str] = []
        folders: list[str] = []
        try:
            with os.scandir(self.fd) as found:
                for entry in found:
                    name = entry.name
                    if name[0] == ".":
                        continue
                    if not name.isprintable():
                        self._check_name(name)
                    if entry.is_file(follow_symlinks=False):
                        files.append(name)
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(name)
                    else:
                        raise self._special(entry)
        except OSError as error:
            raise _problem(self.label or ".", error) from None
        if len(files) + len(folders) > MAX_ENTRIES:
            raise ImportProblemError(self.label or ".", "", f"holds more than {MAX_ENTRIES} entries")
        files.sort()
        folders.sort()
        return files, folders

    def _check_name(self, name: str) -> None:
        problem = name_problem(name)
        if problem:
            raise ImportProblemError(shown(join(self.label, name)), "", problem)

    def _special(self, entry: os.DirEntry[str]) -> ImportProblemError:
        what = "a link" if entry.is_symlink() else "neither a file nor a folder"
        return ImportProblemError(join(self.label, entry.name), "", f"is {what}; that is not allowed here")

    def open_file(self, name: str) -> tuple[int, int]:
        """Descriptor and size of a regular file."""
        try:
            fd = os.open(name, _FILE, dir_fd=self.fd)
        except OSError as error:
            raise _problem(join(self.label, name), error) from None
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            os.close(fd)
            raise ImportProblemError(join(self.label, name), "", "is not a regular file")
        return fd, status.st_size

    def read(self, name: str, limit: int) -> bytes:
        """The whole file; refused when it holds more than `limit` bytes."""
        fd, size = self.open_file(name)
        try:
            if size > limit:
                raise ImportProblemError(
                    join(self.label, name), "", f"has {size} bytes; at most {limit} are allowed"
                )
            return read_all(fd, size, join(self.label, name))
        finally:
            os.close(fd)


def read_some(fd: int, size: int, label: str) -> bytes:
    """Up to `size` bytes, b'' at the end."""
    try:
        return os.read(fd, size)
    except OSError as error:
        raise _problem(label, error) from None


def read_all(fd: int, size: int, label: str) -> bytes:
    data = read_some(fd, size, label) if size else b""
    while len(data) < size:
        more = read_some(fd, size - len(data), label)
        if not more:
            raise ImportProblemError(label, "", "became shorter while it was read")
        data += more
    return data


def _problem(label: str, error: OSError) -> ImportProblemError:
    if isinstance(error, FileNotFoundError):
        return ImportProblemError(label, "", "is missing")
    if isinstance(error, NotADirectoryError):
        return ImportProblemError(label, "", "is a link or a file where a folder is expected")
    if error.errno == errno.ELOOP:
        return ImportProblemError(label, "", "is a link; that is not allowed here")
    return ImportProblemError(label, "", f"can't be read: {error.strerror or type(error).__name__}")
