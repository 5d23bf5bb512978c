"""Files that a Job or an execution left, read out of the pack that holds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple

from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers import strict_json
from plural_site.db import blobs
from plural_site.formats import date_text

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
    removed: str = ""
    """When the project's retention rule removed its bytes, in ISO 8601; `offset` is then -1."""

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


def removed_words(file: StoredFile) -> str:
    """By what and when a file was removed; '' of one that is there."""
    if not file.removed:
        return ""
    return f"removed by the project’s retention rule on {date_text(datetime.fromisoformat(file.removed))}"


class StoredFiles:
    """The files of one pack, by path. Nothing is read before it is asked for.

    On disk the pack is opened for each reading. In an object store it stays open, since that costs a request
    and what was read for one file may hold the next.
    """

    def __init__(self, pack: str, files: Iterable[Sequence[Any]]) -> None:
        self.pack = pack
        self._remote: BinaryIO | None = None
        self.files = tuple(StoredFile(*file) for file in files)
        self._by_path = {file.path: file for file in self.files}

    def get(self, path: str) -> StoredFile | None:
        return self._by_path.get(path)

    def is_kept(self) -> bool:
        """Whether the store still holds the bytes."""
        try:
            with self._opened():
                return True
        except FileNotFoundError:
            return False

    def read(self, file: StoredFile, *, start: int = 0, most: int) -> bytes:
        """Up to `most` bytes from `start` on; b'' where they were removed or the store has lost the pack."""
        return b"".join(self.chunks(file, start=start, most=most))

    def tail(self, file: StoredFile, most: int) -> bytes:
        return self.read(file, start=max(file.size - most, 0), most=most)

    def chunks(self, file: StoredFile, *, start: int = 0, most: int | None = None) -> Iterator[bytes]:
        left = max(file.size - start, 0) if most is None else min(max(file.size - start, 0), most)
        if file.removed:
            return
        at = file.offset + start
        with suppress(FileNotFoundError), self._opened() as stream:
            while left:
                stream.seek(at)  # each time: somebody else may read from the same stream meanwhile
                chunk = stream.read(min(left, CHUNK))
                if not chunk:
                    return
                at, left = at + len(chunk), left - len(chunk)
                yield chunk

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        """Raises FileNotFoundError where the store has lost the pack."""
        if not blobs.is_remote():
            with blobs.open_blob(self.pack) as stream:
                yield stream
            return
        if self._remote is None:
            self._remote = blobs.open_blob(self.pack)
        yield self._remote

    def read_json(self, path: str, most: int) -> ReadJson:
        """The object that a file holds, held to the rules of `strict_json`."""
        file = self.get(path)
        if file is None:
            return ReadJson(None, "")
        if file.removed:
            return ReadJson(None, f"it was {removed_words(file)}")
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
