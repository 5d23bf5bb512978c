"""Members of a tar stream, for archives that nobody vouches for.

Reads ustar, PAX and GNU long names. Of PAX records only `path` and `size` mean anything here. Unlike the
standard library's reader it holds no list of members, bounds what a header may take, and insists on the
archive's end, so that a truncated one is noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

BLOCK = 512
_MAX_EXTENSION = 64 * 1024
_SUM = slice(148, 156)
_EXTENSIONS = (b"x", b"g", b"L", b"K")
_FILES = (b"0", b"\0", b"7")
_KINDS = {b"1": "a hard link", b"2": "a symbolic link", b"3": "a device", b"4": "a device", b"6": "a pipe"}


class TarError(Exception):
    """The archive is damaged or holds what is not taken; `name` is the member's, as far as known."""

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True, slots=True)
class TarMember:
    """`refused` says what it is, where that is neither a file nor a folder."""

    name: bytes
    size: int
    is_folder: bool
    refused: str = ""


def members(read: Callable[[int], bytes]) -> Iterator[TarMember]:
    """Each member in turn; the caller reads its `size` bytes and `padding(size)` before the next one.

    `read(n)` gives exactly n bytes, or fewer at the end of the stream.
    """
    name, size = b"", -1
    is_first = True
    while True:
        header = _read(read, BLOCK, "is not a tar.gz, tar or zip archive" if is_first else "is cut short")
        if not any(header):
            return
        if is_first and not _is_header(header):
            raise TarError("is not a tar.gz, tar or zip archive")
        is_first = False
        _check_sum(header)
        kind = header[156:157]
        stated = _number(header[124:136])
        if kind in _EXTENSIONS:
            data = _extension(read, stated)
            if kind == b"L":
                name = data.rstrip(b"\0")
            elif kind == b"x":
                name, size = _pax(data, name, size)
            continue
        name = name or _name(header)
        size = stated if size < 0 else size
        is_folder = kind == b"5" or (kind in _FILES and name.endswith(b"/"))
        refused = "" if is_folder or kind in _FILES else _KINDS.get(kind, "of an unknown kind")
        yield TarMember(name, 0 if kind == b"5" else size, is_folder, refused)
        name, size = b"", -1


def padding(size: int) -> int:
    return -size % BLOCK


def _read(read: Callable[[int], bytes], size: int, otherwise: str = "is cut short") -> bytes:
    data = read(size)
    if len(data) < size:
        raise TarError(otherwise)
    return data


def _is_header(block: bytes) -> bool:
    """Whether a tar may start so: by its mark or, as the oldest have none, by its checksum."""
    try:
        _check_sum(block)
    except TarError:
        return block[257:262] == b"ustar"
    return True


def _extension(read: Callable[[int], bytes], size: int) -> bytes:
    if size > _MAX_EXTENSION:
        raise TarError("has a header that is too large")
    return _read(read, size + padding(size))[:size]


def _check_sum(header: bytes) -> None:
    if _number(header[_SUM]) != sum(header) - sum(header[_SUM]) + 8 * ord(" "):
        raise TarError("is damaged: a header has a wrong checksum")


def _number(field: bytes) -> int:
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.split(b"\0")[0].strip()
    if digits.strip(b"01234567"):
        raise TarError("is damaged: a header holds no octal number")
    return int(digits or b"0", 8)


def _name(header: bytes) -> bytes:
    name = header[:100].split(b"\0")[0]
    prefix = header[345:500].split(b"\0")[0] if header[257:263] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _pax(data: bytes, name: bytes, size: int) -> tuple[bytes, int]:
    while data:
        length, space, _ = data.partition(b" ")
        end = int(length) if space and length.isdigit() and len(length) < 7 else 0
        record = data[len(length) + 1 : end]
        key, equals, value = record.partition(b"=")
        if not equals or not value.endswith(b"\n") or end > len(data):
            raise TarError("is damaged: a PAX header has no such record")
        if key == b"path":
            name = value[:-1]
        elif key == b"size":
            if not value[:-1].isdigit() or len(value) > 20:
                raise TarError("is damaged: a PAX header holds no size")
            size = int(value)
        elif key.startswith(b"GNU.sparse"):
            raise TarError("holds a sparse file, which is not taken")
        data = data[end:]
    return name, size
