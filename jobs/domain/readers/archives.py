"""Unpacking archives that nobody vouches for into an empty folder.

Every member is checked before it is written; only regular files and folders come out. What is counted
against the limits are the bytes really read, not what the archive says.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers.folders import name_problem
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
    """Number of files and folders."""
    ratio: int = 200
    ratio_floor: int = 32 * 1024**2


def unpack(archive: str, label: str, target: str, limits: Limits) -> None:
    """Unpack a zip or a tar, gzipped or not, told apart by what is in it; `label` names it in errors.

    Raises `ImportProblemError`; what had been written by then is left for the caller to remove.
    """
    try:
        with open(archive, "rb") as file:  # noqa: PTH123
            start = file.read(4)
            file.seek(0)
            output = _Output(target, limits, os.fstat(file.fileno()).st_size, label)
            if start[:2] == b"PK":
                _unpack_zip(file, output)
            elif start[:2] == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=file) as unzipped:
                    _unpack_tar(io.BufferedReader(unzipped, _CHUNK), output)
            else:
                _unpack_tar(file, output)
    except TarError as error:
        raise ImportProblemError(label, "", str(error)) from None
    except EOFError:
        raise ImportProblemError(label, "", "is cut short") from None
    except (zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise ImportProblemError(label, "", f"is damaged: {shown(str(error))}") from None
    except OSError as error:
        message = f"can't be unpacked: {error.strerror or type(error).__name__}"
        raise ImportProblemError(label, "", message) from None


class _Output:
    """The folder that is written to, and the counts that the limits are about."""

    def __init__(self, target: str, limits: Limits, packed: int, label: str) -> None:
        self.limits, self.label = limits, label
        self._target = target
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
        """The member's path inside the folder."""
        self._members += 1
        if self._members > self.limits.members:
            raise ImportProblemError(self.label, "", f"has more than {self.limits.members} members")
        path = _safe_path(name)
        if size > self.limits.member:
            message = f"has {size} bytes; at most {self.limits.member} are allowed"
            raise ImportProblemError(shown(name), "", message)
        return path

    def make_folder(self, path: str) -> None:
        try:
            os.makedirs(f"{self._target}/{path}", 0o700, exist_ok=True)  # noqa: PTH103
        except (FileExistsError, NotADirectoryError):
            raise ImportProblemError(path, "", "is both a file and a folder in the archive") from None

    def write(self, path: str, read: Callable[[int], bytes], size: int) -> None:
        """Write the next `size` bytes."""
        fd = self._create(path)
        try:
            while size:
                data = read(min(size, _CHUNK))
                if not data:
                    raise EOFError
                size -= len(data)
                while data:
                    data = data[os.write(fd, data) :]
        finally:
            os.close(fd)

    def _create(self, path: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        full = f"{self._target}/{path}"
        try:
            return os.open(full, flags, 0o600)
        except FileNotFoundError:
            self.make_folder(path.rpartition("/")[0])
            return os.open(full, flags, 0o600)
        except FileExistsError:
            raise ImportProblemError(path, "", "is in the archive twice") from None
        except NotADirectoryError:
            raise ImportProblemError(path, "", "lies in what is a file elsewhere in the archive") from None


def _safe_path(name: str) -> str:
    """The name without `.` steps, '' for the top; anything that could lead elsewhere is refused."""
    parts = [part for part in name.rstrip("/").split("/") if part != "."]
    sizes = [len(part.encode(errors="surrogatepass")) for part in parts]
    drive = len(name) > 1 and name[1] == ":" and name[0].isalpha()
    problems = (
        (not name, "has an empty name"),
        (name_problem(name), name_problem(name)),
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
