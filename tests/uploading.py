"""Uploads as they lie in the queue, and archives that can't be taken."""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from jobs import uploads
from jobs.models import ImportRun
from plural_site.accounts.models import Project, User
from tests.builders import BenchmarkSpec, change, make_job, remove, track


def enqueue(project: Project, actor: User, data: bytes, name: str = "jobs.tgz") -> ImportRun:
    return uploads.add_file(project=project, actor=actor, file=SimpleUploadedFile(name, data))


def packed(folder: Path) -> bytes:
    """A folder as a .tar.gz, with its name."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as archive:
        archive.add(folder, arcname=folder.name)
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class Malformed:
    """`file` is the end of what the problem has to name, `field` all of it."""

    what: str
    name: str
    data: bytes
    file: str
    field: str = ""


def malformed(folder: Path) -> Iterator[Malformed]:
    yield from _broken_archives(folder)
    yield from _bad_members()
    yield from _bad_fields(folder)
    yield from _bad_json(folder)


def _job(folder: Path) -> Path:
    return make_job(folder, benchmark=BenchmarkSpec(tasks=("only",), tracks=(track(),)), track_id="open")


def _broken_archives(folder: Path) -> Iterator[Malformed]:
    whole = packed(_job(folder / "whole"))
    plain = gzip.decompress(whole)
    for what, name, data in (
        ("text", "a.tgz", b"hello"),
        ("zeroes", "a.tar", bytes(20)),
        ("no zip", "a.zip", b"PK"),
        ("no gzip", "a.tgz", b"\x1f\x8b"),
        ("x", "a.tar", b"x" * 2000),
        ("cut gzip", "a.tgz", whole[: len(whole) // 2]),
        ("no checksum", "a.tgz", whole[:-8]),
        ("wrong checksum", "a.tgz", whole[:-8] + bytes(8)),
        ("cut tar", "a.tar", plain[:5000]),
        ("cut between", "a.tar", plain[:1024]),
        ("damaged header", "a.tar", plain[:100] + b"9" * 24 + plain[124:]),
        ("no job", "a.tgz", packed_bytes("readme.txt", b"hello")),
        ("nothing", "a.tar", bytes(10240)),
    ):
        yield Malformed(what, name, data, name)


def packed_bytes(name: str, data: bytes, **fields: Any) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        for key, value in fields.items():
            setattr(info, key, value)
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _bad_members() -> Iterator[Malformed]:
    for name in ("/etc/passwd", "../x", "a/../../x", "a\\..\\x", "a//b", "C:/x"):
        yield Malformed(f"tar {name}", "a.tar", packed_bytes(name, b"x"), name)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            info = zipfile.ZipInfo("x")
            info.filename = name
            archive.writestr(info, b"x")
        yield Malformed(f"zip {name}", "a.zip", out.getvalue(), name)
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
        data = packed_bytes("job_a/lock.json", b"", type=kind, linkname="/etc/passwd")
        yield Malformed(f"kind {kind!r}", "a.tar", data, "job_a/lock.json")


FIELDS: tuple[tuple[str, str, Any], ...] = (
    ("lock.json", "job_id", 5),
    ("lock.json", "job_id", "../job_x"),
    ("lock.json", "spec_hash", None),
    ("lock.json", "task_pins[0]", "x"),
    ("lock.json", "agent_digests", "x"),
    ("run.json", "created_at", "yesterday"),
    ("run.json", "evaluation_track", 5),
    ("config.json", "attempts", 1.5),
    ("config.json", "attempts", 0),
    ("config.json", "agents", {}),
    ("config.json", "source.kind", "suite"),
    ("config.json", "source.benchmark.tasks", []),
    ("result.json", "status", "splendid"),
    ("trials/*/result.json", "status", 5),
)


def _bad_fields(folder: Path) -> Iterator[Malformed]:
    for number, (file, field, value) in enumerate(FIELDS):
        job = _job(folder / f"field-{number}")
        path = next(job.glob(file))
        change(path, field, value)
        named = path.relative_to(job).as_posix()
        yield Malformed(f"{file} {field} {value!r}", "a.tgz", packed(job), named, field)
    for file in ("lock.json", "config.json"):
        job = _job(folder / f"gone-{file}")
        (job / file).unlink()
        yield Malformed(f"no {file}", "a.tgz", packed(job), file)
    job = _job(folder / "no-field")
    remove(job / "lock.json", "job_id")
    yield Malformed("no job_id", "a.tgz", packed(job), "lock.json", "job_id")
    job = _job(folder / "renamed")
    other = job.with_name("job_" + "0" * 24)
    shutil.move(job, other)
    yield Malformed("renamed", "a.tgz", packed(other), "lock.json", "job_id")


def _bad_json(folder: Path) -> Iterator[Malformed]:
    for number, (data, field) in enumerate(
        (
            (b"", ""),
            (b"{", ""),
            (b"[]", ""),
            (b"null", ""),
            (b"\xff\xfe{}", ""),
            (b'{"a": 1} {}', ""),
            (b'{"extra": [0, NaN]}', "extra[1]"),
            (b'{"extra": [0, 1e999]}', "extra[1]"),
        )
    ):
        for file in ("lock.json", "trials/*/result.json"):
            job = _job(folder / f"json-{number}-{file.count('/')}")
            path = next(job.glob(file))
            path.write_bytes(data)
            yield Malformed(f"{file} {data!r}", "a.tgz", packed(job), path.relative_to(job).as_posix(), field)
