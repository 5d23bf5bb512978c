"""Content-addressed store: bytes by their SHA-256, written once, behind Django's storage "blobs".

A digest is `sha256:` and 64 lower-case hex digits. On a file system the bytes go straight to a private
file that is renamed into place when complete. An object store gets whole objects, with their digest for it
to check (see `object_store`). Either way a blob is there in full or not at all, whoever else puts the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, BinaryIO, Protocol, cast, runtime_checkable

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, Storage, storages

CHUNK = 1024 * 1024  # bytes
DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


class BlobError(Exception):
    """The bytes are not those announced."""


class Readable(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


class Writable(Protocol):
    def write(self, data: bytes, /) -> int: ...


@runtime_checkable
class ObjectStore(Protocol):
    """A storage elsewhere, whose answers take their time: `ObjectStorage`, which needs an extra."""

    def put(self, name: str, file: IO[bytes], size: int, sha256: str) -> None: ...
    def names(self, folder: str) -> Iterator[str]: ...
    def delete_all(self, names: Sequence[str]) -> None: ...
    def check(self) -> None: ...


def put(stream: Readable, *, digest: str | None = None, size: int | None = None) -> str:
    """Stores what `stream` yields from its position on and returns its digest.

    A caller that has hashed the bytes already passes `digest`, which is believed; a blob that is there
    already (in full, as far as `size` in bytes tells) is then not read again. Raises BlobError where there
    are not `size` bytes, ValueError for a malformed digest.
    """
    storage = storages["blobs"]
    if digest is not None and _holds(storage, _name(digest), size):
        return digest
    if isinstance(storage, FileSystemStorage):
        return _put_file(Path(storage.location), stream, digest, size)
    with tempfile.SpooledTemporaryFile(max_size=4 * CHUNK) as spool:
        actual = _copy(stream, spool, digest, size)
        length = spool.tell()
        if not _holds(storage, _name(actual), length):
            spool.seek(0)
            _send(storage, actual, cast("IO[bytes]", spool), length)
    return actual


def send(path: Path, digest: str) -> None:
    """Ahead of `move_in`, what that would have to wait for: the way to an object store. Else nothing."""
    storage = storages["blobs"]
    if isinstance(storage, FileSystemStorage):
        return
    size = path.stat().st_size
    if not _holds(storage, _name(digest), size):
        with path.open("rb") as file:
            _send(storage, digest, file, size)


def _send(storage: Storage, digest: str, file: IO[bytes], size: int) -> None:
    if isinstance(storage, ObjectStore):
        storage.put(_name(digest), file, size, digest.removeprefix("sha256:"))
    else:
        storage.save(_name(digest), File(file))


def move_in(path: Path, digest: str) -> None:
    """Takes over a complete file whose digest the caller has computed; the file is gone from `path` after.

    On a file system that is one rename where both lie on the same disk.
    """
    storage = storages["blobs"]
    if isinstance(storage, FileSystemStorage):
        target = Path(storage.location) / _name(digest)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o600)
        _sync(path)
        with contextlib.suppress(OSError):  # another disk: copied below
            path.replace(target)
            _sync(target.parent)
            return
        with path.open("rb") as stream:
            put(stream, digest=digest, size=path.stat().st_size)
    else:
        send(path, digest)
    path.unlink()


def open_blob(digest: str) -> BinaryIO:
    """The blob from its start, seekable. Raises FileNotFoundError."""
    storage = storages["blobs"]
    if isinstance(storage, FileSystemStorage):
        return (Path(storage.location) / _name(digest)).open("rb")
    return cast("BinaryIO", storage.open(_name(digest), "rb"))


def exists(digest: str) -> bool:
    return _holds(storages["blobs"], _name(digest), None)


def size_of(digest: str) -> int | None:
    """Bytes of the blob as the store has it; None where it has none."""
    try:
        return storages["blobs"].size(_name(digest))
    except FileNotFoundError:
        return None


def delete(digest: str) -> None:
    """Removes the blob; does nothing when there is none."""
    delete_all([digest])


def delete_all(digests: Iterable[str]) -> None:
    """Removes blobs; those that are not there are passed over."""
    storage = storages["blobs"]
    names = [_name(digest) for digest in digests]
    if isinstance(storage, ObjectStore):
        storage.delete_all(names)
        return
    for name in names:
        storage.delete(name)


def is_remote() -> bool:
    """Whether blobs lie in an object store, not in a folder of this machine."""
    return isinstance(storages["blobs"], ObjectStore)


def check() -> None:
    """Raises OSError where the store can't be used."""
    storage = storages["blobs"]
    if isinstance(storage, ObjectStore):
        storage.check()
    elif isinstance(storage, FileSystemStorage):
        folder = Path(storage.location)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(f"can't write into {folder}")


def stored() -> Iterator[str]:
    """Digest of every blob in the store."""
    storage = storages["blobs"]
    if isinstance(storage, ObjectStore):
        found = (f"sha256:{name.rpartition('/')[2]}" for name in storage.names("sha256"))
        yield from (digest for digest in found if DIGEST.fullmatch(digest))
        return
    for first in _folders(storage, "sha256"):
        for second in _folders(storage, f"sha256/{first}"):
            for name in storage.listdir(f"sha256/{first}/{second}")[1]:
                if DIGEST.fullmatch(f"sha256:{name}"):
                    yield f"sha256:{name}"


def _folders(storage: Storage, path: str) -> list[str]:
    try:
        return storage.listdir(path)[0]
    except FileNotFoundError:
        return []


def _name(digest: str) -> str:
    match = DIGEST.fullmatch(digest)
    if not match:
        raise ValueError(f"not a digest: {digest!r}")
    return f"sha256/{match[1][:2]}/{match[1][2:4]}/{match[1]}"


def _holds(storage: Storage, name: str, size: int | None) -> bool:
    try:
        if isinstance(storage, FileSystemStorage):
            found = (Path(storage.location) / name).stat().st_size
        else:
            found = storage.size(name)
    except FileNotFoundError:
        return False
    return size is None or found == size


def _put_file(root: Path, stream: Readable, digest: str | None, size: int | None) -> str:
    """Complete or not at all: a crash leaves at most a file under drafts/."""
    draft = root / "drafts" / secrets.token_hex(16)
    draft.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            actual = _copy(stream, file, digest, size)
        _sync(draft)
        target = root / _name(actual)
        try:
            draft.replace(target)
        except FileNotFoundError:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync(target.parent)
    return actual


def _sync(path: Path) -> None:
    """To the disk itself: a row that names a blob must not outlive its bytes when the power fails."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy(stream: Readable, target: Writable, digest: str | None, size: int | None) -> str:
    """Copies to the end and returns the digest, computed where none is given."""
    hasher = hashlib.sha256() if digest is None else None
    length = 0
    while chunk := stream.read(CHUNK):
        if hasher:
            hasher.update(chunk)
        length += len(chunk)
        target.write(chunk)
    if size is not None and length != size:
        raise BlobError(f"expected {size} bytes, got {length}")
    return f"sha256:{hasher.hexdigest()}" if hasher else cast("str", digest)
