"""A manifest as its exact bytes: what is stored, served and digested, and the reference made from it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchmarks.domain.identity import sha256_digest
from benchmarks.domain.types import DomainError
from hub.domain import codec
from hub.domain.manifest import Manifest

_REFERENCE = re.compile(
    r"plural:benchmark/(?P<slug>[^/@#\s]+)@(?P<version>[A-Za-z0-9][A-Za-z0-9.+_-]{0,63})"
    r"#(?P<digest>sha256:[0-9a-f]{64})"
)


@dataclass(frozen=True, slots=True)
class Reference:
    slug: str
    version: str
    digest: str


def manifest_bytes(manifest: Manifest) -> bytes:
    """The canonical JSON that is stored and that the digest is over. Raises DomainError where none exists."""
    return codec.encode(manifest)


def digest_of(data: bytes) -> str:
    """sha256:<hex> over the stored bytes, never over a manifest that was read and written again."""
    return sha256_digest(data)


def reference(slug: str, version: str, digest: str) -> str:
    return f"plural:benchmark/{slug}@{version}#{digest}"


def reference_of(manifest: Manifest, digest: str) -> str:
    return reference(manifest.publication.slug, manifest.release.version, digest)


def parse_reference(text: str) -> Reference:
    """Raises DomainError where `text` is no reference of a manifest."""
    found = _REFERENCE.fullmatch(text)
    if not found:
        raise DomainError(
            f"{text[:120]!r} is no reference: it looks like plural:benchmark/SLUG@VERSION#sha256:HEX."
        )
    return Reference(**found.groupdict())


def parse_manifest(data: bytes) -> Manifest:
    """The manifest in `data`. Raises codec.FormError, which names the place of every problem."""
    return codec.decode(Manifest, data)
