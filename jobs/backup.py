"""Making a backup: database and stored files in one file, as they were at one moment, while the site runs.

The moment is that of one transaction: SQLite's snapshot of a reader in WAL mode, PostgreSQL's REPEATABLE
READ. Stored files never change, and none is removed while they are held, so those that the snapshot names
can be copied after it.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from django.apps import apps
from django.core.files.storage import storages
from django.db import connection, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from jobs.backup_contents import (
    BLOBS,
    HEADER,
    LEFT_OUT,
    ROWS,
    ROWS_BYTES,
    UPLOADS,
    Contents,
    Header,
    Say,
    Table,
    check,
)
from jobs.file_holds import Holding, holding
from jobs.models import Blob, UploadPart
from jobs.removal import remove_files
from plural_site.db import blobs
from plural_site.db.backup_file import BackupError, Writer, canonical
from plural_site.db.portable import columns_of, converted, encoders, line, tables

ALIAS = "backup"
_FETCHED = 500


@dataclass(slots=True)
class Made:
    """`size` in bytes. `lost` are blobs and parts of uploads that the store has lost, or that are damaged."""

    size: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    files: int = 0
    lost: list[str] = field(default_factory=list)


def back_up(path: Path, say: Say, *, verifies: bool = True) -> Made:
    """Writes a backup to `path`, which must not exist, and with `verifies` reads it again to the end.

    Until all is done the file is called `path`.part. Raises BackupError and OSError; nothing is left then.
    """
    if path.exists():
        raise BackupError(f"There is a file {path} already. Choose another name, or remove it.")
    _check_migrated()
    part = path.with_name(f"{path.name}.part")
    with _private_file(part) as stream, holding("backup") as held:
        made = _write(stream, held, say)
        stream.flush()
        os.fsync(stream.fileno())
        if verifies:
            _check_same(check(stream, lambda text: _said(held, say, text)), made)
        part.replace(path)
    _sync_folder(path.parent)
    if held.has_leftovers:
        remove_files(list(blobs.stored()))
    return made


def _check_migrated() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise BackupError("The database is not up to date: run manage.py migrate first.")


@contextmanager
def _private_file(path: Path) -> Iterator[BinaryIO]:
    """Readable by its owner alone, held by a lock, and gone unless it was renamed."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=1 << 20) as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(f"Another process writes to {path}.") from None
        try:
            os.fchmod(stream.fileno(), 0o600)
            stream.truncate()
            yield stream
        finally:
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(path.stat(), os.fstat(stream.fileno())):
                    path.unlink()


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _said(held: Holding, say: Say, text: str) -> None:
    held.beat()
    say(text)


def _check_same(found: Contents, made: Made) -> None:
    if (found.rows, found.files, sorted(found.lost)) != (made.rows, made.files, sorted(made.lost)):
        raise BackupError("What stands in the file is not what was written.")


# Writing ----------------------------------------------------------------------------------------------


def _write(stream: BinaryIO, held: Holding, say: Say) -> Made:
    made, writer = Made(), Writer(stream)
    with _snapshot() as using:
        found = tables(apps, LEFT_OUT)
        writer.add(HEADER, canonical(_header(connections[using], found).as_json()))
        for model in found:
            label = model._meta.label_lower
            made.rows[label] = 0
            for number, (data, count) in enumerate(_packed(model, using), 1):
                writer.add(f"{ROWS}{label}/{number:06d}.jsonl.gz", data)
                made.rows[label] += count
                _said(held, say, f"{label}: {made.rows[label]:,} rows")
        files = _Files(writer, made, held, say)
        for digest, size in (
            Blob.objects.using(using).order_by("digest").values_list("digest", "size").iterator()
        ):
            files.add_blob(digest, size)
        for part in UploadPart.objects.using(using).order_by("pk").iterator():
            files.add_part(part)
        sequences = _sequences(connections[using], found)
    writer.seal({"rows": made.rows, "lost": sorted(made.lost), "sequences": sequences})
    made.size = writer.size
    return made


@contextmanager
def _snapshot() -> Iterator[str]:
    """The alias of a connection of its own, on which everything is as it was when this began."""
    own = connections["default"].copy(ALIAS)
    options = own.settings_dict.setdefault("OPTIONS", {})
    if own.vendor == "sqlite":
        options["transaction_mode"] = "DEFERRED"  # a reader, beside whom others write
    else:
        from psycopg import IsolationLevel  # noqa: PLC0415 - only there with PostgreSQL

        options["isolation_level"] = IsolationLevel.REPEATABLE_READ
    connections[ALIAS] = own
    try:
        with transaction.atomic(using=ALIAS), own.cursor() as cursor:
            if own.vendor == "postgresql":
                cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute("SELECT count(*) FROM django_migrations")  # the first question takes the snapshot
            yield ALIAS
    finally:
        own.close()
        del connections[ALIAS]


def _header(own: BaseDatabaseWrapper, found: Iterable[type[models.Model]]) -> Header:
    return Header(
        made_at=timezone.now().isoformat(),
        vendor=own.vendor,
        migrations=frozenset(MigrationRecorder(own).applied_migrations()),
        tables=tuple(
            Table(model._meta.label_lower, tuple(str(column.column) for column in columns_of(model)))
            for model in found
        ),
    )


def _packed(model: type[models.Model], using: str) -> Iterator[tuple[bytes, int]]:
    """Rows by their key, compressed, some at a time, and how many they are."""
    columns = columns_of(model)
    change = encoders(columns)
    query = model._base_manager.using(using).order_by("pk")
    lines: list[bytes] = []
    size = 0
    for row in query.values_list(*(column.attname for column in columns)).iterator(chunk_size=_FETCHED):
        lines.append(line(converted(row, change)))
        size += len(lines[-1])
        if size >= ROWS_BYTES:
            yield gzip.compress(b"".join(lines), 5, mtime=0), len(lines)
            lines, size = [], 0
    if lines:
        yield gzip.compress(b"".join(lines), 5, mtime=0), len(lines)


class _Files:
    """What is lost or damaged is noted and left out, so that there is a backup of the rest."""

    def __init__(self, writer: Writer, made: Made, held: Holding, say: Say) -> None:
        self.writer, self.made, self.held, self.say = writer, made, held, say

    def add_blob(self, digest: str, size: int) -> None:
        name = digest.replace("sha256:", BLOBS)
        try:
            stream = blobs.open_blob(digest)
        except FileNotFoundError:
            self.made.lost.append(name)
            return
        with stream:
            self._add(name, digest, size, stream)

    def add_part(self, part: UploadPart) -> None:
        name = f"{UPLOADS}{part.pk}"
        try:
            stream = storages["uploads"].open(part.name, "rb")
        except FileNotFoundError:
            self.made.lost.append(name)
            return
        with stream:
            self._add(name, part.digest, part.size, stream)

    def _add(self, name: str, digest: str, size: int, stream: Any) -> None:
        if stream.seek(0, os.SEEK_END) != size:
            self.made.lost.append(name)
            return
        stream.seek(0)
        if self.writer.add_stream(name, size, stream.read, self._beat) != digest:
            self.made.lost.append(name)
        self.made.files += 1

    def _beat(self) -> None:
        _said(self.held, self.say, f"{self.made.files:,} files, {self.writer.size / 1e6:,.0f} MB")


def _sequences(own: BaseDatabaseWrapper, found: Iterable[type[models.Model]]) -> dict[str, int]:
    """The last key that each table gave, so that no key is given twice, even one whose row is gone."""
    given: dict[str, int] = {}
    with own.cursor() as cursor:
        if own.vendor == "sqlite":
            cursor.execute("SELECT name, seq FROM sqlite_sequence")
            last = dict(cursor.fetchall())
            return {m._meta.label_lower: last[m._meta.db_table] for m in found if m._meta.db_table in last}
        for model in found:
            key = model._meta.pk
            if isinstance(key, models.AutoField | models.BigAutoField):
                cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [model._meta.db_table, key.column])
                cursor.execute(f"SELECT last_value FROM {cursor.fetchone()[0]} WHERE is_called")  # noqa: S608
                if row := cursor.fetchone():
                    given[model._meta.label_lower] = row[0]
    return given
