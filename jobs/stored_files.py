"""Files that a Job or an execution left, read out of the pack that holds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers import strict_json
from plural_site.db import blobs

CHUNK = 1 << 18


class StoredFile(NamedTuple):
    """Columns of `Execution.files` and `Job.files`."""

    path: str
    digest: str
    offset: int
    size: int
    media_type: str
    role: str
    recorded: str
    """How the run's own record of the digest compares: "agrees", "differs", or '' where it holds none."""

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


class StoredFiles:
    """The files of one pack, by path. Nothing is read before it is asked for."""

    def __init__(self, pack: str, files: Iterable[Sequence[Any]]) -> None:
        self.pack = pack
        self.files = tuple(StoredFile(*file) for file in files)
        self._by_path = {file.path: file for file in self.files}

    def get(self, path: str) -> StoredFile | None:
        return self._by_path.get(path)

    def is_kept(self) -> bool:
        """Whether the store still holds the bytes."""
        return blobs.exists(self.pack)

    def read(self, file: StoredFile, *, start: int = 0, most: int) -> bytes:
        """Up to `most` bytes from `start` on; b'' where the store has lost the pack."""
        return b"".join(self.chunks(file, start=start, most=most))

    def tail(self, file: StoredFile, most: int) -> bytes:
        return self.read(file, start=max(file.size - most, 0), most=most)

    def chunks(self, file: StoredFile, *, start: int = 0, most: int | None = None) -> Iterator[bytes]:
        left = max(file.size - start, 0) if most is None else min(max(file.size - start, 0), most)
        with suppress(FileNotFoundError), blobs.open_blob(self.pack) as stream:
            stream.seek(file.offset + start)
            while left and (chunk := stream.read(min(left, CHUNK))):
                left -= len(chunk)
                yield chunk

    def read_json(self, path: str, most: int) -> ReadJson:
        """The object that a file holds, held to the rules of `strict_json`."""
        file = self.get(path)
        if file is None:
            return ReadJson(None, "")
        if file.size > most:
            return ReadJson(None, "too large")
        data = self.read(file, most=most)
        if len(data) != file.size:
            return ReadJson(None, "no longer in the store")
        try:
            return ReadJson(strict_json.loads(data, path), "")
        except ImportProblemError as error:
            return ReadJson(None, str(error))


class ReadJson(NamedTuple):
    """`value` is None where there is no such file ('' says so) or `problem` says why it can't be shown."""

    value: dict[str, Any] | None
    problem: str
