"""Everything that it takes to verify a publication without this site, in one archive.

`manifest.json` holds the exact bytes, `records.jsonl` the exact bytes of each record of the release, a line
each, from its first.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.domain.identity import sha256_digest
from benchmarks.domain.types import DomainError
from hub.domain.records import StoredRecord

MANIFEST, RECORDS, README = "manifest.json", "records.jsonl", "README.txt"
LARGEST = 64 * 1024 * 1024
"""Bytes of a file in an archive that is read."""
STAMP = (1980, 1, 1, 0, 0, 0)
"""Of every file, so that the same content gives the same archive."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """`records` is None where the file had none beside the manifest."""

    manifest: bytes
    records: tuple[StoredRecord, ...] | None


def bundle_bytes(manifest: bytes, records: Sequence[StoredRecord], reference: str, address: str) -> bytes:
    lines = b"".join(record.body + b"\n" for record in records)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in (
            (README, _readme(manifest, reference, address).encode()),
            (MANIFEST, manifest),
            (RECORDS, lines),
        ):
            archive.writestr(zipfile.ZipInfo(name, STAMP), body, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def read_bundle(data: bytes) -> Bundle:
    """An archive as above, or a manifest alone. Raises DomainError, which says what is wrong with it."""
    if not data.startswith(b"PK"):
        return Bundle(data, None)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            manifest, records = (_member(archive, name) for name in (MANIFEST, RECORDS))
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise DomainError(f"The archive can't be read: {error}") from None
    lines = [line for line in records.split(b"\n") if line]
    return Bundle(manifest, tuple(StoredRecord(sha256_digest(line), line) for line in lines))


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        found = archive.getinfo(name)
    except KeyError:
        raise DomainError(f"The archive holds no {name}.") from None
    if found.file_size > LARGEST:
        raise DomainError(f"{name} is larger than {LARGEST} bytes.")
    with archive.open(found) as member:
        body = member.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise DomainError(f"{name} is larger than {LARGEST} bytes.")
    return body


def _readme(manifest: bytes, reference: str, address: str) -> str:
    return f"""{reference}
{address}

{MANIFEST} holds the exact bytes that were published. Their SHA-256 is the digest in the
reference above:

    sha256sum {MANIFEST}
    {sha256_digest(manifest).removeprefix("sha256:")}

{RECORDS} holds a line for each record of this release, from its first: what was done to it,
when, by whom and why. The SHA-256 of a line, without the end of line, is the digest that the
next line names as "previous", and "manifest" is the digest of the manifest of that moment.

Everything at once, with every score, interval, coverage and rank computed anew from the
per-Task figures, by a copy of Plural Site, which needs no database for it:

    python manage.py verify_publication {json.dumps("bundle.zip")[1:-1]}

The published client of Plural reads the manifest too and computes the same digest:

    python -c "import sys; from plural.benchmarks.publication import PublicationManifest as M; \\
    print(M.model_validate_json(open('{MANIFEST}', 'rb').read()).digest)"
"""
