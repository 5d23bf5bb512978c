"""Blobs in an object store: few bytes for a part of a file, damage refused, faults like those of a disk."""

from __future__ import annotations

import base64
import hashlib
import io
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import IncompleteReadError
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from hypothesis import given
from hypothesis import strategies as st

from plural_site.db import blobs, object_store
from plural_site.db.object_store import LARGEST_READ, ObjectStorage, ObjectStoreError, RangedFile
from tests.buckets import Bucket, watch
from tests.ports import free_port

BODY = random.Random(3).randbytes(300_000)  # noqa: S311 - no secret
SHA256 = hashlib.sha256(BODY).hexdigest()
DIGEST = f"sha256:{SHA256}"


def _storage(**options: Any) -> ObjectStorage:
    keys = {"access_key": "nobody", "secret_key": "nothing", "region_name": "us-east-1"}
    return ObjectStorage(**{"addressing": "path", "timeout": 1, **keys, **options})


@given(
    size=st.integers(0, 3000),
    moves=st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.integers(-3100, 3100), st.integers(0, 3100))),
)
def test_ranged_file_reads_as_any_other(size: int, moves: list[tuple[int, int, int]]) -> None:
    data = BODY[:size]
    plain = io.BytesIO(data)
    ranged = io.BufferedReader(RangedFile(lambda start, end: data[start:end], size), 100)
    for whence, offset, length in moves:
        at = {0: 0, 1: plain.tell(), 2: size}[whence] + offset
        if at >= 0:
            assert ranged.seek(offset, whence) == plain.seek(at)
            assert ranged.read(length) == plain.read(length)
            assert ranged.tell() == plain.tell()
    with pytest.raises((ValueError, OSError), match=r"negative|Invalid"):
        ranged.seek(-1)


def test_reading_on_asks_for_ever_larger_ranges_and_a_jump_for_a_small_one() -> None:
    asked: list[int] = []

    def get(start: int, end: int) -> bytes:
        asked.append(end - start)
        return bytes(end - start)

    file = RangedFile(get, 1 << 30)
    for _ in range(100):
        file.read(1 << 18)
    assert asked == sorted(asked)
    assert asked[-1] == LARGEST_READ
    assert len(asked) < 14
    file.seek(1 << 29)
    assert len(file.read(10)) == 10
    assert asked[-1] == object_store.FIRST_READ


def test_a_part_of_a_large_blob_costs_two_requests(bucket: Bucket) -> None:
    body = BODY * 20
    digest = blobs.put(io.BytesIO(body))
    bucket.asked.clear()
    with blobs.open_blob(digest) as file:
        file.seek(5_000_000)
        assert file.read(1000) == body[5_000_000:5_001_000]
    assert bucket.asked == ["HEAD", "GET"]


def test_a_blob_goes_with_the_digest_that_the_store_checks(bucket: Bucket) -> None:
    """Looked at on its way: the store of these tests does not compare it."""
    sent: list[str] = []
    events = storages["blobs"].connection.meta.client.meta.events  # type: ignore[attr-defined]
    events.register(
        "before-send.s3.PutObject", lambda request, **_: sent.append(request.headers["x-amz-checksum-sha256"])
    )
    blobs.put(io.BytesIO(BODY))
    assert [base64.b64decode(value).hex() for value in sent] == [SHA256]


def test_a_large_file_goes_in_parts_and_its_size_is_looked_at(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "ONE_PIECE", 20 << 20)
    body = BODY * 80
    storage = _storage(**bucket.options("large"))
    asked: list[str] = []
    watch(storage, asked)
    storage.put("x", io.BytesIO(body), len(body), "")
    assert asked == ["POST", *["PUT"] * 5, "POST", "HEAD"]  # parts of 5 MB
    with storage.open("x") as file:
        assert hashlib.sha256(file.read()).digest() == hashlib.sha256(body).digest()
    with pytest.raises(ObjectStoreError, match="instead of"):
        storage.put("x", io.BytesIO(body), len(body) + 1, "")


def test_the_same_blob_put_by_many_at_once_is_there_once(bucket: Bucket) -> None:
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(lambda _: blobs.put(io.BytesIO(BODY)), range(8)))
    assert digests == {DIGEST}
    assert bucket.all_keys() == [f"site/blobs/sha256/{SHA256[:2]}/{SHA256[2:4]}/{SHA256}"]
    assert list(blobs.stored()) == [DIGEST]


def test_stored_lists_blobs_of_every_folder_and_nothing_else(bucket: Bucket) -> None:
    digests = {blobs.put(io.BytesIO(b"%d" % number)) for number in range(30)}
    storages["blobs"].save("sha256/aa/notes.txt", ContentFile(b"x"))
    storages["uploads"].save("7/part", ContentFile(b"x"))
    assert set(blobs.stored()) == digests
    bucket.asked.clear()
    blobs.delete_all(digests)
    assert bucket.asked == ["POST"]
    assert list(blobs.stored()) == []
    assert storages["uploads"].exists("7/part")


@pytest.mark.parametrize(
    "use",
    [
        lambda storage: storage.open("x"),
        lambda storage: storage.exists("x"),
        lambda storage: storage.size("x"),
        lambda storage: storage.save("x", ContentFile(b"x")),
        lambda storage: storage.put("x", io.BytesIO(b"x"), 1, SHA256),
        lambda storage: storage.delete("x"),
        lambda storage: storage.delete_all(["x"]),
        lambda storage: storage.listdir("x"),
        lambda storage: list(storage.names("x")),
        lambda storage: storage.check(),
    ],
)
def test_store_that_is_away_is_an_error_like_that_of_a_disk(use: Callable[[ObjectStorage], object]) -> None:
    storage = _storage(bucket_name="away", endpoint_url=f"http://127.0.0.1:{free_port()}")
    storage.client_config.retries = {"max_attempts": 1}
    with pytest.raises(OSError, match="the object store failed: EndpointConnectionError") as caught:
        use(storage)
    assert not isinstance(caught.value, FileNotFoundError)


def test_check_tells_a_bucket_that_is_there_from_one_that_is_not(bucket: Bucket) -> None:
    blobs.check()
    options = bucket.options("site")
    with pytest.raises(ObjectStoreError, match="NoSuchBucket"):
        _storage(**options | {"bucket_name": "none-of-that-name"}).check()


def test_an_answer_that_breaks_off_is_asked_for_again() -> None:
    class Body:
        def __init__(self, data: bytes, *, breaks: bool) -> None:
            self.data, self.breaks = data, breaks

        def read(self) -> bytes:
            if self.breaks:
                raise IncompleteReadError(actual_bytes=1, expected_bytes=4)
            return self.data

    answers = iter([Body(b"", breaks=True), Body(b"ab", breaks=False), Body(b"abcd", breaks=False)])
    assert object_store._whole("x", lambda: {"Body": next(answers)}, 4) == b"abcd"
    with pytest.raises(ObjectStoreError, match="x broke off 3 times"):
        object_store._whole("x", lambda: {"Body": Body(b"", breaks=True)}, 4)


def test_files_are_only_opened_to_be_read(bucket: Bucket) -> None:
    with pytest.raises(ValueError, match="only read"):
        storages["blobs"].open("x", "wb")
