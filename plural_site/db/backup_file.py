"""The file of a backup: a plain tar, written in one go and read back strictly.

Every header is what this module would write for that name and size, byte for byte, and the last member, the
seal, holds the SHA-256 of all bytes before it. So a flipped, missing or added byte anywhere is noticed.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

BLOCK, CHUNK = 512, 1 << 20
END = bytes(2 * BLOCK)
SEAL = "seal.json"
MOST_JSON = 1 << 30
"""Bytes of a member that is read into memory."""


class BackupError(Exception):
    """The file is no whole backup, or can't be written; a sentence."""


def header(name: str, size: int) -> bytes:
    """Of a member; the same for the same name and size, so it can be compared."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    block = info.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")
    if len(block) != BLOCK:
        raise ValueError(f"the name of a member is too long: {name}")
    return block


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False).encode("utf-8") + b"\n"


class Writer:
    """Writes members one after another; memory holds one chunk of them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._sha = stream, hashlib.sha256()
        self.size = 0

    def add(self, name: str, data: bytes) -> None:
        self._write(header(name, len(data)))
        self._write(data)
        self._write(bytes(-len(data) % BLOCK))

    def add_stream(self, name: str, size: int, read: Callable[[int], bytes], beat: Callable[[], None]) -> str:
        """Copies `size` bytes and returns their digest. Raises BackupError where there are fewer."""
        self._write(header(name, size))
        sha, left = hashlib.sha256(), size
        while left:
            chunk = read(min(left, CHUNK))
            if not chunk:
                raise BackupError(f"{name} became shorter while it was read.")
            sha.update(chunk)
            self._write(chunk)
            left -= len(chunk)
            beat()
        self._write(bytes(-size % BLOCK))
        return f"sha256:{sha.hexdigest()}"

    def seal(self, facts: dict[str, Any]) -> None:
        data = canonical({**facts, "sha256": self._sha.hexdigest()})
        self.add(SEAL, data)
        self._write(END)

    def _write(self, data: bytes) -> None:
        self._stream.write(data)
        self._sha.update(data)
        self.size += len(data)


@dataclass(slots=True)
class Member:
    """`chunks` and `data` read it, at most once; what is left unread is skipped."""

    name: str
    size: int
    _reader: Reader

    def chunks(self) -> Iterator[bytes]:
        while chunk := self.read(CHUNK):
            yield chunk

    def read(self, size: int = CHUNK) -> bytes:
        """Up to `size` bytes of what is left of it; b'' at its end."""
        return self._reader.take(size)

    def data(self) -> bytes:
        if self.size > MOST_JSON:
            raise BackupError(f"{self.name} is too large.")
        return b"".join(self.chunks())


class Reader:
    """Goes through the members of a file from its start, as often as one likes.

    With `checks` every byte is read and held against the seal. Raises BackupError at the first thing that
    is not as it was written; messages name the member.
    """

    def __init__(self, stream: BinaryIO, *, checks: bool, beat: Callable[[], None] = lambda: None) -> None:
        self._stream, self._checks, self._beat = stream, checks, beat
        self._sha, self._left, self._name = hashlib.sha256(), 0, "the file"
        self.at = 0
        self.seal: dict[str, Any] | None = None

    def members(self) -> Iterator[Member]:
        """Every member but the seal, which is known after the last one."""
        self._stream.seek(0)
        while True:
            before = self._sha.hexdigest()
            name, size = self._head()
            self._name, self._left = name, size
            member = Member(name, size, self)
            if name == SEAL:
                self._take_seal(member.data(), before)
                self._pad(size)
                self._take_end()
                return
            yield member
            self._skip()
            self._pad(size)

    def take(self, size: int) -> bytes:
        data = self._read(min(size, self._left)) if self._left else b""
        self._left -= len(data)
        self._beat()
        return data

    def _head(self) -> tuple[str, int]:
        block = self._read(BLOCK)
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
            is_ours = info.size >= 0 and header(info.name, info.size) == block
        except (tarfile.HeaderError, ValueError):
            is_ours = False
        if not is_ours:
            where = f"after {self._name}" if self.at > BLOCK else "at its start"
            raise BackupError(f"The file is damaged, or no backup: {where} stands no member.")
        return info.name, info.size

    def _skip(self) -> None:
        if self._checks:
            while self.take(CHUNK):
                pass
            return
        self._stream.seek(self._left, 1)
        self.at, self._left = self.at + self._left, 0

    def _pad(self, size: int) -> None:
        if any(self._read(-size % BLOCK)):
            raise BackupError(f"The file is damaged: something stands after {self._name}.")

    def _read(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise BackupError(f"The file is cut short: it ends in {self._name}.")
        if self._checks:
            self._sha.update(data)
        self.at += size
        return data

    def _take_seal(self, data: bytes, before: str) -> None:
        try:
            seal = json.loads(data)
            is_whole = isinstance(seal, dict) and canonical(seal) == data
        except ValueError:
            is_whole = False
        if not is_whole:
            raise BackupError("The file is damaged: its seal can't be read.")
        if self._checks and seal.get("sha256") != before:
            raise BackupError("The file is damaged: its bytes are not those that were sealed.")
        self.seal = seal

    def _take_end(self) -> None:
        if self._read(len(END)) != END or self._stream.read(1):
            raise BackupError("The file is damaged: its end is not where it was.")
