"""Files in a bucket of an S3-compatible object store, for Django's storages "blobs" and "uploads".

django-storages does the work; what differs is what this site relies on. A file is read in ranges, never
downloaded whole to get at a part of it. One whose SHA-256 is known is sent with it, so that the store itself
refuses damaged bytes. Whatever goes wrong is an OSError, as with a disk. Nothing starts a thread, since an
import forks. An object appears when it is complete or not at all, and the same name may be written twice.
"""

from __future__ import annotations

import base64
import errno
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import IO, Any

from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files.base import File
from storages.backends.s3 import S3Storage
from storages.utils import clean_name

MB = 1 << 20
ONE_PIECE = 64 * MB
"""Bytes up to which a file is sent with one request."""
FIRST_READ, LARGEST_READ = 128 << 10, 4 * MB
"""Bytes of a range: the first after a seek, and what they double up to while reading goes on."""
MOST_KEPT = 2 * LARGEST_READ
READS = 3
"""How often a range is asked for whose answer breaks off."""
DELETED_AT_ONCE = 1000
ABSENT = ("404", "NoSuchKey", "NotFound")


class ObjectStoreError(OSError):
    """The object store can't be reached, refuses, or answers with other bytes than announced."""

    def __init__(self, what: str) -> None:
        super().__init__(errno.EIO, f"the object store failed: {what}")


class ObjectStorage(S3Storage):  # type: ignore[misc]  # the package has no types
    """`timeout` in seconds for an answer to begin, and between two parts of it."""

    def __init__(self, *, addressing: str = "auto", timeout: float = 30, **options: Any) -> None:
        config = Config(
            s3={"addressing_style": addressing},
            signature_version="s3v4",
            connect_timeout=5,
            read_timeout=timeout,
            retries={"mode": "standard", "max_attempts": 4},
        )
        transfer = TransferConfig(
            multipart_threshold=ONE_PIECE, multipart_chunksize=ONE_PIECE // 4, use_threads=False
        )
        super().__init__(client_config=config, transfer_config=transfer, **options)

    @cached_property
    def connection(self) -> Any:
        """One for all threads, since one more costs 15 MB. Its client may be shared; requests go there."""
        return self._create_session().resource(
            "s3", region_name=self.region_name, endpoint_url=self.endpoint_url, config=self.client_config
        )

    @property
    def _client(self) -> Any:
        return self.connection.meta.client

    def _of(self, name: str) -> dict[str, str]:
        return {"Bucket": self.bucket_name, "Key": self._key(name)}

    def put(self, name: str, file: IO[bytes], size: int, sha256: str) -> None:
        """Stores a file of `size` bytes from its start; `sha256` in hex. Raises ObjectStoreError."""
        kind = {"ContentType": self.default_content_type}
        with _translated(name):
            if size <= ONE_PIECE:
                checksum = base64.b64encode(bytes.fromhex(sha256)).decode()
                self._client.put_object(**self._of(name), Body=file, ChecksumSHA256=checksum, **kind)
                return
            # The store can't check one SHA-256 over several parts; each part has a checksum of its own.
            self._client.upload_fileobj(
                file, *self._of(name).values(), ExtraArgs=kind, Config=self.transfer_config
            )
        if (there := self.size(name)) != size:
            raise ObjectStoreError(f"{name} has {there} bytes instead of {size}")

    def names(self, folder: str) -> Iterator[str]:
        """Every name below a folder, however deep."""
        prefix = self._key(folder) + "/"
        pages = self._client.get_paginator("list_objects_v2")
        with _translated(folder):
            for page in pages.paginate(Bucket=self.bucket_name, Prefix=prefix):
                for found in page.get("Contents", ()):
                    yield f"{folder}/{found['Key'].removeprefix(prefix)}"

    def delete_all(self, names: Sequence[str]) -> None:
        """Those that are not there are passed over."""
        for start in range(0, len(names), DELETED_AT_ONCE):
            keys = [{"Key": self._key(name)} for name in names[start : start + DELETED_AT_ONCE]]
            with _translated(names[start]):
                answer = self._client.delete_objects(
                    Bucket=self.bucket_name, Delete={"Objects": keys, "Quiet": True}
                )
            if failed := answer.get("Errors"):
                raise ObjectStoreError(f"{failed[0].get('Code')} when deleting {failed[0].get('Key')}")

    def check(self) -> None:
        """Raises ObjectStoreError where the bucket can't be read."""
        with _translated(self.bucket_name):
            self._client.list_objects_v2(Bucket=self.bucket_name, Prefix=self.location, MaxKeys=1)

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        if mode != "rb":
            raise ValueError(f"stored files are only read, not opened with {mode!r}")
        size = self.size(name)
        ask = partial(self._client.get_object, **self._of(name))

        def get(start: int, end: int) -> bytes:
            return _whole(name, lambda: ask(Range=f"bytes={start}-{end - 1}"), end - start)

        return File(io.BufferedReader(RangedFile(get, size), FIRST_READ), name)

    def _save(self, name: str, content: File[bytes]) -> str:
        with _translated(name):
            saved: str = super()._save(name, content)
        return saved

    def delete(self, name: str) -> None:
        with _translated(name):
            self._client.delete_object(**self._of(name))

    def exists(self, name: str) -> bool:
        try:
            self.size(name)
        except FileNotFoundError:
            return False
        return True

    def size(self, name: str) -> int:
        with _translated(name):
            size: int = self._client.head_object(**self._of(name))["ContentLength"]
        return size

    def listdir(self, name: str) -> tuple[list[str], list[str]]:
        with _translated(name):
            found: tuple[list[str], list[str]] = super().listdir(name)
        return found

    def _key(self, name: str) -> str:
        key: str = self._normalize_name(clean_name(name))
        return key


class RangedFile(io.RawIOBase):
    """A file of `size` bytes of which `get(start, end)` reads a range. Some of what was read last is kept.

    Reading on takes ranges that double; a jump takes the aligned block that it leads to, so that many small
    files that lie beside each other cost one range, in whichever order they are read.
    """

    def __init__(self, get: Callable[[int, int], bytes], size: int) -> None:
        self._get, self._size = get, size
        self._at = 0
        self._kept: list[tuple[int, bytes]] = []
        """Start and bytes of each range, the latest last."""
        self._next = FIRST_READ

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError(f"negative position {start + offset}")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._size - self._at)
        if wanted <= 0:
            return 0
        start, kept = self._range(wanted)
        data = memoryview(kept)[self._at - start :][:wanted]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _range(self, wanted: int) -> tuple[int, bytes]:
        """One that holds the byte to be read next."""
        for start, data in self._kept:
            if start <= self._at < start + len(data):
                return start, data
        latest, data = self._kept[-1] if self._kept else (0, b"")
        if self._kept and self._at == latest + len(data):
            self._next = min(2 * self._next, LARGEST_READ)
            start = self._at
        else:
            self._next = FIRST_READ
            start = self._at - self._at % FIRST_READ
        end = min(max(self._at + min(wanted, LARGEST_READ), start + self._next), self._size)
        while self._kept and sum(len(data) for _, data in self._kept) + end - start > MOST_KEPT:
            del self._kept[0]
        self._kept.append((start, self._get(start, end)))
        return self._kept[-1]


def _whole(name: str, ask: Callable[[], dict[str, Any]], size: int) -> bytes:
    """Retries of the client end where an answer begins, so one that breaks off is asked for again here."""
    for _ in range(READS):
        with _translated(name):
            body = ask()["Body"]
            try:
                data: bytes = body.read()
            except (BotoCoreError, OSError):
                continue
        if len(data) == size:
            return data
    raise ObjectStoreError(f"{name} broke off {READS} times")


@contextmanager
def _translated(name: str) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code in ABSENT:
            raise FileNotFoundError(errno.ENOENT, "not in the object store", name) from error
        raise ObjectStoreError(f"{code} for {name}") from error
    except BotoCoreError as error:
        raise ObjectStoreError(f"{type(error).__name__} for {name}") from error
