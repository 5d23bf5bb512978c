"""Putting a backup into an empty database and its files into the store.

The file is checked to its end before anything is written. Files come first, rows then in one transaction;
what fails leaves an empty database and takes the files out again. A backup of an older version is put into
tables as that version had them, which are then brought up to date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.apps import apps
from django.apps.registry import Apps
from django.core.exceptions import SuspiciousOperation
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import call_command
from django.db import DatabaseError, connection, models, transaction
from django.db.migrations.executor import MigrationExecutor

from jobs import search_tables
from jobs.backup_contents import (
    BLOBS,
    LEFT_OUT,
    PART,
    ROWS,
    UPLOADS,
    Contents,
    Header,
    Say,
    Table,
    check,
    digest_of,
    read_header,
    read_rows,
)
from jobs.file_holds import holding
from jobs.import_lock import let_go, remove_leftovers
from jobs.models import FileHold, ImportRun
from plural_site.db import blobs
from plural_site.db.backup_file import BackupError, Member, Reader
from plural_site.db.frozen import install
from plural_site.db.portable import converted, decoders, tables, targets_of

INSERTED = 500
CHECKED_EVERY = 100_000
"""Rows after which PostgreSQL checks references, so that it doesn't remember too many of them."""


@dataclass(frozen=True, slots=True)
class _State:
    """The tables as the backup's version has them; `is_older` where this version has others."""

    apps: Apps
    is_older: bool


def restore(path: Path, say: Say) -> Contents:
    """Puts back all that the file holds. Raises BackupError and OSError; nothing has changed then."""
    with path.open("rb") as stream:
        contents = check(stream, say)
        state = _ready(contents.header)
        with _held(say) as said, _files(stream, contents, said), transaction.atomic():
            _refuse_rows(state)
            _Rows(stream, contents, state, said).put()
        if state.is_older:
            call_command("migrate", verbosity=0)
    _settle()
    return contents


@contextmanager
def _held(say: Say) -> Iterator[Say]:
    """Keeps files in the store until rows name them; tables of an older version know no holds."""
    if FileHold._meta.db_table not in connection.introspection.table_names():
        yield say
        return
    with holding("restore") as held:

        def said(text: str) -> None:
            held.beat()
            say(text)

        yield said


def _settle() -> None:
    """What was under way when the backup was made will not go on: uploads wait again, half Jobs go."""
    install(connection)
    for run in ImportRun.objects.filter(status=ImportRun.Status.RUNNING):
        let_go(run, counts=False)
    remove_leftovers()


# The database -----------------------------------------------------------------------------------------


def _ready(header: Header) -> _State:
    """Makes tables where there are none, as the backup has them. Raises BackupError where that can't be."""
    executor = MigrationExecutor(connection)
    known = executor.loader.disk_migrations.keys()
    if newer := sorted(header.migrations - known):
        raise BackupError(
            f"The backup was made by a newer version of the site, which knows {'.'.join(newer[0])}. "
            "Install that version first."
        )
    is_older = header.migrations != known
    if not executor.loader.applied_migrations:
        if is_older:
            executor.migrate(_leaves(executor, header))
        else:
            call_command("migrate", verbosity=0)
    elif executor.loader.applied_migrations.keys() & known != header.migrations:
        raise BackupError(
            "The tables of this database are not of the version that the backup was made by. Restore it into "
            "a database without tables, where migrate has not been run."
        )
    state = _State(_apps_of(header) if is_older else apps, is_older)
    _check_tables(header, state)
    _refuse_rows(state)
    return state


def _leaves(executor: MigrationExecutor, header: Header) -> list[tuple[str, str]]:
    """Of each app the last of the backup's migrations."""
    graph = executor.loader.graph
    return sorted(
        node
        for node in header.migrations
        if not any(
            child.key[0] == node[0] and child.key in header.migrations
            for child in graph.node_map[node].children
        )
    )


def _apps_of(header: Header) -> Apps:
    executor = MigrationExecutor(connection)
    return executor.loader.project_state(_leaves(executor, header)).apps


def _check_tables(header: Header, state: _State) -> None:
    described = {table.label: set(table.columns) for table in header.tables}
    there = {
        model._meta.label_lower: {str(column.column) for column in model._meta.concrete_fields}
        for model in tables(state.apps, LEFT_OUT)
    }
    if described != there:
        odd = sorted(label for label in described | there if described.get(label) != there.get(label))
        raise BackupError(f"The backup's tables are not those of its version: {', '.join(odd)}.")


def _refuse_rows(state: _State) -> None:
    held = [model for model in tables(state.apps, LEFT_OUT) if model._base_manager.exists()]
    if held:
        found = ", ".join(
            f"{model._base_manager.count():,} {model._meta.verbose_name_plural}" for model in held[:5]
        )
        raise BackupError(f"The database is not empty: it holds {found}.")


class _Rows:
    """Inserts what the file holds, in one transaction of the caller's."""

    def __init__(self, stream: BinaryIO, contents: Contents, state: _State, say: Say) -> None:
        self.reader, self.contents, self.say = Reader(stream, checks=False), contents, say
        self.models = {model._meta.label_lower: model for model in tables(state.apps, LEFT_OUT)}
        self.label, self.done, self.since_check = "", 0, 0
        self.whole: set[type[models.Model]] = set()
        """Tables whose rows are all there."""

    def put(self) -> None:
        search_tables.uninstall(connection)  # filled at once below, which is faster
        header: Header | None = None
        for member in self.reader.members():
            if header is None:
                header = read_header(member)
            elif member.name.startswith(ROWS):
                table, found = read_rows(member, header)
                self._enter(table.label)
                self._insert(table, found)
        self._count()
        _continue_keys(self.models.values(), self.contents.sequences)
        self._check_references()
        search_tables.install(connection)

    def _enter(self, label: str) -> None:
        if label != self.label:
            if self.label:
                self.whole.add(self.models[self.label])
            self.label, self.done = label, 0
        if connection.vendor == "postgresql" and self.since_check >= CHECKED_EVERY:
            entered = {*self.whole, self.models[label]}
            if all(targets_of(model) <= self.whole for model in entered):
                self._check_references()
                self.since_check = 0

    def _insert(self, table: Table, found: Iterator[list[Any]]) -> None:
        model = self.models[table.label]
        by_column = {str(column.column): column for column in model._meta.concrete_fields}
        change = decoders([by_column[name] for name in table.columns], connection)
        quote = connection.ops.quote_name
        names, marks = ", ".join(map(quote, table.columns)), ", ".join(["%s"] * len(table.columns))
        statement = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({marks})"  # noqa: S608
        for batch in _batches(found):
            try:
                values = [converted(row, change) for row in batch]
                with connection.cursor() as cursor:
                    cursor.executemany(statement, values)
            except (DatabaseError, ValueError, TypeError, AttributeError) as error:
                raise BackupError(f"A row of {table.label} can't be put in: {error}") from error
            self.done += len(batch)
            self.since_check += len(batch)
            self.say(f"{table.label}: {self.done:,} of {self.contents.rows[table.label]:,} rows")

    def _count(self) -> None:
        for label, count in self.contents.rows.items():
            if (found := self.models[label]._base_manager.count()) != count:
                raise BackupError(f"{found} rows of {label} came in, and not {count}.")

    def _check_references(self) -> None:
        try:
            connection.check_constraints()
        except DatabaseError as error:
            raise BackupError(f"A row refers to one that is not there: {error}") from error


def _batches(found: Iterator[list[Any]]) -> Iterator[list[list[Any]]]:
    batch: list[list[Any]] = []
    for row in found:
        batch.append(row)
        if len(batch) == INSERTED:
            yield batch
            batch = []
    if batch:
        yield batch


def _continue_keys(found: Iterable[type[models.Model]], sequences: Mapping[str, int]) -> None:
    """New rows get keys that no row has or had."""
    with connection.cursor() as cursor:
        for model in found:
            key = model._meta.pk
            if not isinstance(key, models.AutoField | models.BigAutoField):
                continue
            table, column = model._meta.db_table, str(key.column)
            highest = model._base_manager.aggregate(last=models.Max("pk"))["last"] or 0
            last = max(highest, sequences.get(model._meta.label_lower, 0))
            if not last:
                continue
            if connection.vendor == "postgresql":
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, %s), %s)", [table, column, last])
                continue
            cursor.execute("UPDATE sqlite_sequence SET seq = %s WHERE name = %s", [last, table])
            if not cursor.rowcount:
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, last])


# Files ------------------------------------------------------------------------------------------------


@contextmanager
def _files(stream: BinaryIO, contents: Contents, say: Say) -> Iterator[None]:
    """Puts the files in, and takes those that were not there before out again where the rest fails."""
    files = _Files(contents, say)
    try:
        files.put(stream)
        yield
    except BaseException:
        files.take_back()
        raise


class _Files:
    def __init__(self, contents: Contents, say: Say) -> None:
        self.contents, self.say = contents, say
        self.new_blobs: list[str] = []
        self.new_parts: list[str] = []
        self.done = 0

    def put(self, stream: BinaryIO) -> None:
        header: Header | None = None
        names: dict[str, str] = {}
        for member in Reader(stream, checks=False).members():
            if header is None:
                header = read_header(member)
            elif member.name.startswith(f"{ROWS}{PART}/"):
                table, found = read_rows(member, header)
                names.update(
                    {f"{UPLOADS}{row[table.place('id')]}": row[table.place("name")] for row in found}
                )
            elif member.name in self.contents.lost:
                continue
            elif member.name.startswith(BLOBS):
                self._blob(member)
            elif member.name.startswith(UPLOADS):
                self._part(member, names[member.name])

    def _blob(self, member: Member) -> None:
        digest = digest_of(member)
        is_new = not blobs.exists(digest)
        if blobs.put(member) != digest:
            raise BackupError(f"{member.name} changed while it was read.")
        if is_new:
            self.new_blobs.append(digest)
        self._said()

    def _part(self, member: Member, name: str) -> None:
        storage = storages["uploads"]
        try:
            storage.delete(name)  # of an earlier life of this folder: no row names it
            kept = storage.save(name, ContentFile(member.data()))
        except SuspiciousOperation as error:
            raise BackupError(f"A part of an upload has a name that can't be: {error}") from error
        self.new_parts.append(kept)
        if kept != name:
            raise BackupError(f"A part of an upload can't be stored as {name}.")
        self._said()

    def _said(self) -> None:
        self.done += 1
        self.say(f"{self.done:,} of {self.contents.files:,} files")

    def take_back(self) -> None:
        for digest in self.new_blobs:
            blobs.delete(digest)
        for name in self.new_parts:
            storages["uploads"].delete(name)
