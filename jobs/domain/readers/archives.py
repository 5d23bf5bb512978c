"""Unpacking archives that nobody vouches for, read once, into one file.

Every member is checked before it is taken; only regular files and folders come out. What is counted against
the limits are the bytes really read, not what the archive says.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO

from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers.folders import name_problem
from jobs.domain.readers.packed import Index, PackedFiles
from jobs.domain.readers.strict_json import shown
from jobs.domain.readers.tar import TarError, members, padding

_CHUNK = 1024 * 1024
_MAX_NAME_BYTES = 255
_MAX_PATH_BYTES = 2000
_MAX_PARTS = 60
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ZIP_ENCRYPTED = 0x1
_ZIP_UTF8 = 0x800


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for one archive, in bytes where not said otherwise.

    `ratio`: how many times its packed size an archive may grow, once it is past `ratio_floor`.
    """

    total: int = 64 * 1024**3
    member: int = 8 * 1024**3
    members: int = 2_000_000
    """Number of files and folders, also of those folders that are only named in paths."""
    ratio: int = 200
    ratio_floor: int = 32 * 1024**2


def unpack(archive: str, label: str, scratch: str, limits: Limits) -> PackedFiles:
    """As `unpack_file`, from the path of the archive."""
    try:
        with open(archive, "rb") as file:  # noqa: PTH123
            return unpack_file(file, os.fstat(file.fileno()).st_size, label, scratch, limits)
    except OSError as error:
        raise ImportProblemError(label, "", _not_unpacked(error)) from None


def unpack_file(file: IO[bytes], size: int, label: str, scratch: str, limits: Limits) -> PackedFiles:
    """Unpack a zip or a tar, gzipped or not, told apart by what is in it; `label` names it in errors.

    The caller closes what it gets. Raises `ImportProblemError`, and leaves nothing in `scratch` then.
    """
    try:
        with ExitStack() as undo:
            files = PackedFiles(scratch)
            undo.callback(files.close)
            _unpack(file, _Output(files, limits, size, label))
            files.flush()
            undo.pop_all()
            return files
    except TarError as error:
        raise ImportProblemError(label, "", str(error)) from None
    except EOFError:
        raise ImportProblemError(label, "", "is cut short") from None
    except (zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise ImportProblemError(label, "", f"is damaged: {shown(str(error))}") from None
    except OSError as error:
        raise ImportProblemError(label, "", _not_unpacked(error)) from None


def _not_unpacked(error: OSError) -> str:
    return f"can't be unpacked: {error.strerror or type(error).__name__}"


def _unpack(file: IO[bytes], output: _Output) -> None:
    start = file.read(4)
    file.seek(0)
    if start[:2] == b"PK":
        _unpack_zip(file, output)
    elif start[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=file) as unzipped:
            _unpack_tar(io.BufferedReader(unzipped, _CHUNK), output)
    else:
        _unpack_tar(file, output)


class _Output:
    """Puts members in their places, and counts what the limits are about."""

    def __init__(self, files: PackedFiles, limits: Limits, packed: int, label: str) -> None:
        self.limits, self.label = limits, label
        self._files = files
        self._most = min(limits.total, max(limits.ratio_floor, limits.ratio * packed))
        self._bytes = 0
        self._members = 0

    def count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > self._most:
            what = (
                "its limit"
                if self._most == self.limits.total
                else f"{self.limits.ratio} times its packed size"
            )
            raise ImportProblemError(self.label, "", f"unpacks to more than {self._most} bytes, {what}")

    def check(self, name: str, size: int) -> str:
        """The member's path inside the archive."""
        self._count_member()
        path = _safe_path(name)
        if size > self.limits.member:
            message = f"has {size} bytes; at most {self.limits.member} are allowed"
            raise ImportProblemError(shown(name), "", message)
        return path

    def _count_member(self) -> None:
        self._members += 1
        if self._members > self.limits.members:
            raise ImportProblemError(self.label, "", f"has more than {self.limits.members} members")

    def make_folder(self, path: str) -> None:
        folder, name = self._place(path)
        if name and isinstance(folder.setdefault(name, {}), int):
            raise ImportProblemError(path, "", "is both a file and a folder in the archive")

    def write(self, path: str, read: Callable[[int], bytes], size: int) -> None:
        """Take the next `size` bytes as a file."""
        folder, name = self._place(path)
        if not name or name in folder:
            raise ImportProblemError(path or ".", "", "is in the archive twice")
        while size:
            data = read(min(size, _CHUNK))
            if not data:
                raise EOFError
            size -= len(data)
            self._files.write(data)
        folder[name] = self._files.end_file()

    def _place(self, path: str) -> tuple[Index, str]:
        """The folder that a path ends in, made where it is not there yet, and the path's last step."""
        *above, last = path.split("/")
        folder = self._files.top
        for name in above:
            if name not in folder:
                self._count_member()
                folder[sys.intern(name)] = {}
            inside = folder[name]
            if isinstance(inside, int):
                raise ImportProblemError(path, "", "lies in what is a file elsewhere in the archive")
            folder = inside
        return folder, sys.intern(last)


def _safe_path(name: str) -> str:
    """The name without `.` steps, '' for the top; anything that could lead elsewhere is refused."""
    parts = [part for part in name.rstrip("/").split("/") if part != "."]
    sizes = [len(part.encode(errors="surrogatepass")) for part in parts]
    drive = len(name) > 1 and name[1] == ":" and name[0].isalpha()
    problems = (
        (not name, "has an empty name"),
        (odd := name_problem(name), odd),
        ("\\" in name, "has a backslash in its name"),
        (name.startswith("/") or drive, "has an absolute path"),
        (".." in parts, "has a path that leads out of the archive"),
        ("" in parts, "has an empty step in its path"),
        (sum(sizes) > _MAX_PATH_BYTES or len(parts) > _MAX_PARTS, "has a path that is too long"),
        (max(sizes, default=0) > _MAX_NAME_BYTES, "has a name that is too long"),
    )
    for is_bad, problem in problems:
        if is_bad:
            raise ImportProblemError(shown(name) or "(no name)", "", problem)
    return "/".join(parts)


def _unpack_tar(stream: IO[bytes] | io.BufferedReader, output: _Output) -> None:
    def read(size: int) -> bytes:
        data = stream.read(size)
        output.count(len(data))
        return data

    for member in members(read):
        name = member.name.decode("utf-8", "surrogateescape")
        if member.refused:
            raise ImportProblemError(
                shown(name), "", f"is {member.refused}; that is not allowed in an archive"
            )
        path = output.check(name, member.size)
        if member.is_folder:
            output.make_folder(path)
        else:
            output.write(path, read, member.size)
            read(padding(member.size))
    while read(_CHUNK):
        pass  # to the end, so that the gzip checksum is checked


def _unpack_zip(file: IO[bytes], output: _Output) -> None:
    try:
        archive = zipfile.ZipFile(file)
        checked = [(info, output.check(_zip_name(info), info.file_size)) for info in archive.infolist()]
        for info, path in checked:
            if info.is_dir():
                output.make_folder(path)
                continue
            with archive.open(info) as member:

                def read(size: int, member: IO[bytes] = member) -> bytes:
                    data = member.read(size)
                    output.count(len(data))
                    return data

                output.write(path, read, info.file_size)
    except (NotImplementedError, UnicodeDecodeError, struct.error, RuntimeError, ValueError) as error:
        raise ImportProblemError(output.label, "", f"is damaged: {shown(str(error))}") from None


def _zip_name(info: zipfile.ZipInfo) -> str:
    name = info.orig_filename
    if not info.flag_bits & _ZIP_UTF8 and not name.isascii():
        name = name.encode("cp437").decode("utf-8", "surrogateescape")
    kind = stat.S_IFMT(info.external_attr >> 16)
    problem = ""
    if info.flag_bits & _ZIP_ENCRYPTED:
        problem = "is encrypted"
    elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        problem = "is a link; that is" if kind == stat.S_IFLNK else "is neither a file nor a folder; that is"
        problem += " not allowed in an archive"
    elif info.compress_type not in _ZIP_METHODS:
        problem = "is packed in a way that is not supported (only stored and deflated are)"
    if problem:
        raise ImportProblemError(shown(name) or "(no name)", "", problem)
    return name
