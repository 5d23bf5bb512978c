from __future__ import annotations

import hashlib
import io
import stat
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from plural_site.db import blobs

BODY = b"some bytes" * 1000


def digest_of(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


DIGEST, OTHER = digest_of(BODY), digest_of(b"other")


def _use(settings: Settings, backend: str, **options: Any) -> None:
    chosen = {"BACKEND": f"django.core.files.storage.{backend}", "OPTIONS": options}
    settings.STORAGES = settings.STORAGES | {"blobs": chosen}


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    """Blobs as files in this folder."""
    _use(settings, "FileSystemStorage", location=tmp_path / "blobs")
    return tmp_path / "blobs"


@pytest.fixture(params=["FileSystemStorage", "InMemoryStorage", "ObjectStorage"])
def _every(request: pytest.FixtureRequest, settings: Settings, tmp_path: Path) -> None:
    if request.param == "ObjectStorage":
        request.getfixturevalue("bucket")
    else:
        _use(settings, request.param, location=tmp_path / "blobs")


def _read(digest: str) -> bytes:
    with blobs.open_blob(digest) as file:
        return file.read()


@pytest.mark.usefixtures("_every")
@pytest.mark.parametrize("body", [b"", BODY, b"x" * (5 * 1024 * 1024 + 1)], ids=["empty", "small", "large"])
def test_put_returns_the_digest_and_open_reads_it_back(body: bytes) -> None:
    digest = digest_of(body)
    assert not blobs.exists(digest)
    assert blobs.put(io.BytesIO(body)) == digest
    assert blobs.put(io.BytesIO(body), size=len(body)) == digest
    assert blobs.exists(digest)
    assert _read(digest) == body


@pytest.mark.usefixtures("_every")
def test_open_blob_is_seekable() -> None:
    blobs.put(io.BytesIO(BODY))
    with blobs.open_blob(DIGEST) as file:
        file.seek(5)
        assert file.read(5) == b"bytes"
        assert file.seek(-4, io.SEEK_END) == len(BODY) - 4
        assert file.read() == b"ytes"


@pytest.mark.usefixtures("_every")
def test_put_believes_a_digest_and_does_not_read_what_is_there() -> None:
    assert blobs.put(io.BytesIO(BODY), digest=DIGEST, size=len(BODY)) == DIGEST
    again = io.BytesIO(BODY)
    assert blobs.put(again, digest=DIGEST, size=len(BODY)) == DIGEST
    assert again.tell() == 0
    assert _read(DIGEST) == BODY


@pytest.mark.usefixtures("_every")
def test_put_refuses_fewer_or_more_bytes_than_announced_and_keeps_nothing() -> None:
    for size in (3, len(BODY) + 1):
        with pytest.raises(blobs.BlobError, match=f"expected {size} bytes, got 10000"):
            blobs.put(io.BytesIO(BODY), digest=OTHER, size=size)
    assert not blobs.exists(OTHER)


@pytest.mark.usefixtures("_every")
def test_delete_removes_a_blob_once_and_open_then_fails() -> None:
    blobs.put(io.BytesIO(BODY))
    blobs.delete(DIGEST)
    blobs.delete(DIGEST)
    assert not blobs.exists(DIGEST)
    with pytest.raises(FileNotFoundError):
        blobs.open_blob(DIGEST)


MALFORMED = ["", "sha256:", "sha256:../../../etc/passwd", DIGEST.upper(), f"{DIGEST}\n", DIGEST[7:]]


@pytest.mark.usefixtures("_every")
@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_digest_never_becomes_a_path(name: str) -> None:
    for use in (blobs.exists, blobs.open_blob, blobs.delete):
        with pytest.raises(ValueError, match="not a digest"):
            use(name)
    with pytest.raises(ValueError, match="not a digest"):
        blobs.put(io.BytesIO(), digest=name)


def test_files_are_private_at_the_path_of_their_digest_and_drafts_are_gone(folder: Path) -> None:
    blobs.put(io.BytesIO(BODY))
    with pytest.raises(blobs.BlobError):
        blobs.put(io.BytesIO(BODY), size=3)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files == [folder / "sha256" / DIGEST[7:9] / DIGEST[9:11] / DIGEST[7:]]
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600


def test_put_mends_a_file_that_was_cut_short(folder: Path) -> None:
    blobs.put(io.BytesIO(BODY))
    path = next(path for path in folder.rglob("*") if path.is_file())
    path.write_bytes(BODY[:10])
    blobs.put(io.BytesIO(BODY), digest=DIGEST, size=len(BODY))
    assert _read(DIGEST) == BODY


@pytest.mark.usefixtures("_every")
def test_move_in_takes_over_a_file(tmp_path: Path) -> None:
    for _ in range(2):
        source = tmp_path / "source"
        source.write_bytes(BODY)
        blobs.move_in(source, DIGEST)
        assert not source.exists()
        assert _read(DIGEST) == BODY
    with pytest.raises(ValueError, match="not a digest"):
        blobs.move_in(Path(__file__), "sha256:..")
