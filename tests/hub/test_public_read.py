"""What is kept in memory of parsed manifests stays within its bounds."""

from __future__ import annotations

from dataclasses import replace

from hub.domain.stored import digest_of, manifest_bytes
from hub.public_read import Published, _Cache, read_published
from tests.hub.conftest import release


def read(version: str) -> Published:
    body = manifest_bytes(release(version))
    return read_published(body, digest_of(body))


def test_the_least_used_goes_first() -> None:
    one, two, three = (read(version) for version in ("1.0.0", "1.0.1", "1.0.2"))
    cache = _Cache(one.size + two.size + 10)
    cache.put(one)
    cache.put(two)
    cache.put(two)
    assert cache.get(one.digest) is one
    cache.put(three)
    assert cache.get(two.digest) is None
    assert cache.get(one.digest) is one and cache.get(three.digest) is three
    assert cache.size == one.size + three.size
    cache.clear()
    assert (cache.get(one.digest), cache.size) == (None, 0)


def test_what_is_larger_than_the_room_is_not_kept() -> None:
    one = read("1.0.0")
    cache = _Cache(one.size)
    cache.put(replace(one, size=one.size + 1))
    assert cache.get(one.digest) is None and cache.size == 0
