"""Files of a resource's folder that somebody else wrote: read without following links, and digested."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchmarks.domain.types import DomainError

MAX_TEXT_BYTES = 16 << 20
MAX_PACKAGE_BYTES = 100 << 20
MAX_PACKAGE_FILES = 10_000
IGNORE_FILE = ".pluralignore"
LEFT_OUT = frozenset({".git", ".plural", "__pycache__"})
MANIFESTS = frozenset(
    {"agent.yaml", "benchmark.yaml", "environment.yaml", "harness.yaml", "task.yaml", "verifier.yaml"}
)
"""At the root of a folder these are hashed through what they declare, not as files."""


class FileError(DomainError):
    """A file that can't be taken. `missing`: nothing stands there."""

    def __init__(self, message: str, *, missing: bool = False) -> None:
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class PackageFile:
    """`path` is relative to the folder, with forward slashes; `size` in bytes."""

    path: str
    size: int


def locate(root: Path, relative: str) -> Path:
    """The place that `relative` names below `root`, with no link on the way. Raises FileError."""
    path = PurePosixPath(relative)
    if not relative or "\\" in relative or "\0" in relative or path.is_absolute() or ".." in path.parts:
        raise FileError(f"must be a path inside {root.name}/, with forward slashes and without '..'")
    place = root
    for part in path.parts:
        place = place / part
        try:
            mode = place.lstat().st_mode
        except (OSError, ValueError) as error:
            raise FileError("doesn't exist", missing=True) from error
        if stat.S_ISLNK(mode):
            raise FileError("is a link or lies behind one: put the file itself there")
    return place


def read_file(root: Path, relative: str, limit: int = MAX_TEXT_BYTES) -> bytes:
    """Bytes of a regular file below `root`, at most `limit`. Raises FileError."""
    place = locate(root, relative)
    try:
        # Neither a link nor a pipe put there since `locate` is followed or waited for.
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise FileError("isn't a regular file")
            data = file.read(limit + 1)
    except OSError as error:
        raise FileError(f"can't be read ({error.strerror})") from error
    if len(data) > limit:
        raise FileError(f"is larger than {limit:,} bytes")
    return data


def read_text(root: Path, relative: str) -> str:
    """UTF-8 text of a regular file below `root`, line ends as \\n. Raises FileError."""
    try:
        text = read_file(root, relative).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError("isn't UTF-8 text: save it as UTF-8") from error
    if "\0" in text:
        raise FileError("holds a NUL, which can't be stored: remove it")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def list_files(
    root: Path,
    below: str = ".",
    left_out: frozenset[str] = LEFT_OUT,
    ignored: frozenset[str] = frozenset(),
) -> list[PackageFile]:
    """Regular files of `root`, or of its folder `below`, ordered by the parts of their paths.

    Passed over: names in `left_out` at any depth, and the paths `ignored`. Paths are relative to `root`.
    Raises FileError for links, names that aren't UTF-8, and too many files.
    """
    prefix = PurePosixPath(below).parts
    found = sorted(_walk(locate(root, below), prefix, left_out, ignored))
    return [PackageFile("/".join(parts), size) for parts, size in found]


def source_digest(root: Path) -> str:
    """SHA-256 over `path NUL bytes NUL` of the folder's files in path order, without its manifest.

    Left out, as by the client: LEFT_OUT at any depth, and the paths listed in .pluralignore. Raises
    FileError.
    """
    ignored = _ignored(root)
    digest = hashlib.sha256()
    left = MAX_PACKAGE_BYTES
    for file in list_files(root, ignored=ignored | MANIFESTS):
        try:
            data = read_file(root, file.path, left)
        except FileError as error:
            raise FileError(f"holds {file.path}, which {error}") from error
        left -= len(data)
        digest.update(b"%b\0%b\0" % (file.path.encode(), data))
    return f"sha256:{digest.hexdigest()}"


def _ignored(root: Path) -> frozenset[str]:
    try:
        text = read_text(root, IGNORE_FILE)
    except FileError as error:
        if error.missing:
            return frozenset()
        raise FileError(f"{IGNORE_FILE} {error}") from error
    lines = (line.strip() for line in text.splitlines())
    return frozenset(line.removeprefix("./") for line in lines if line and not line.startswith("#"))


def _walk(
    start: Path, prefix: tuple[str, ...], left_out: frozenset[str], ignored: frozenset[str]
) -> Iterator[tuple[tuple[str, ...], int]]:
    pending = [(start, prefix)]
    count = 0
    while pending:
        folder, above = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as error:
            raise FileError(f"can't be read ({error.strerror})") from error
        for entry in entries:
            parts = (*above, entry.name)
            path = "/".join(parts)
            if entry.name in left_out or (path in ignored and not entry.is_dir(follow_symlinks=False)):
                continue
            count += 1
            if count > MAX_PACKAGE_FILES:
                raise FileError(f"holds more than {MAX_PACKAGE_FILES:,} files and folders")
            if not path.isprintable():
                raise FileError(f"holds a file whose name can't be shown, {path!r}: rename it")
            if entry.is_symlink():
                raise FileError(f"holds the link {path}: put the file itself there")
            if entry.is_dir():
                pending.append((Path(entry.path), parts))
            elif entry.is_file():
                yield parts, entry.stat().st_size
