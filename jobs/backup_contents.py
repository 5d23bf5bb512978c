"""What a backup holds and in which order, and the check of a whole file.

`backup.json` (when, by what, the columns of each table), `rows/TABLE/N.jsonl.gz` (a row a line, as
`plural_site.db.portable` writes them), `blobs/HEX` and `uploads/KEY` (bytes as they are stored), `seal.json`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from plural_site.db.backup_file import BackupError, Member, Reader
from plural_site.db.portable import PortableError, rows

FORMAT = "plural-site.backup/1"
HEADER, ROWS, BLOBS, UPLOADS = "backup.json", "rows/", "blobs/", "uploads/"
ROWS_BYTES = 4 << 20
"""Of a member with rows, before it is compressed; one row more may stand in it."""
LEFT_OUT = {
    "accounts.browsersession": "people sign in again",
    "accounts.requestcount": "counts of the last minutes",
    "accounts.throttle": "counts of the last minutes",
    "auth.group": "not used",
    "auth.group_permissions": "not used",
    "auth.permission": "made by migrate",
    "contenttypes.contenttype": "made by migrate",
    "jobs.filehold": "what holds files while a backup is made",
    "jobs.worker": "processes of the moment",
    "sessions.session": "not used",
}
BLOB, PART = "jobs.blob", "jobs.uploadpart"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Table:
    label: str
    columns: tuple[str, ...]

    def place(self, column: str) -> int:
        return self.columns.index(column)


@dataclass(frozen=True, slots=True)
class Header:
    made_at: str
    vendor: str
    migrations: frozenset[tuple[str, str]]
    """Those that its database had seen."""
    tables: tuple[Table, ...]

    def table(self, label: str) -> Table:
        found = next((table for table in self.tables if table.label == label), None)
        if found is None:
            raise BackupError(f"The file is damaged: it has rows of {label}, which it does not describe.")
        return found

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "made_at": self.made_at,
            "vendor": self.vendor,
            "migrations": sorted(map(list, self.migrations)),
            "tables": [{"table": table.label, "columns": list(table.columns)} for table in self.tables],
            "left_out": LEFT_OUT,
        }


@dataclass(frozen=True, slots=True)
class Contents:
    """Of a file that was checked. `lost` names blobs and parts that the site had lost when it was made."""

    header: Header
    rows: dict[str, int]
    files: int
    size: int
    lost: frozenset[str]
    sequences: dict[str, int]


def read_header(member: Member) -> Header:
    if member.name != HEADER:
        raise BackupError("The file is no backup of this site: it does not begin with backup.json.")
    try:
        told = json.loads(member.data())
        if told["format"] != FORMAT:
            raise BackupError(f"The file is of a format that is not known here: {told['format']}.")
        tables = tuple(Table(table["table"], tuple(table["columns"])) for table in told["tables"])
        migrations = frozenset((app, name) for app, name in told["migrations"])
        return Header(str(told["made_at"]), str(told["vendor"]), migrations, tables)
    except (KeyError, TypeError, ValueError):
        raise BackupError("The file is damaged: backup.json can't be read.") from None


def read_rows(member: Member, header: Header) -> tuple[Table, Iterator[list[Any]]]:
    table = header.table(member.name.removeprefix(ROWS).partition("/")[0])
    return table, _rows(member, table)


def _rows(member: Member, table: Table) -> Iterator[list[Any]]:
    try:
        yield from rows(gzip.decompress(member.data()), len(table.columns))
    except (OSError, EOFError, zlib.error, PortableError) as error:
        raise BackupError(f"The file is damaged: {member.name}: {error}.") from None


def digest_of(member: Member) -> str:
    return f"sha256:{member.name.removeprefix(BLOBS)}"


def check(stream: BinaryIO, say: Say = lambda text: None) -> Contents:
    """Reads all of a file and compares every digest and count. Raises BackupError."""
    return _Check(stream, say).run()


class _Check:
    def __init__(self, stream: BinaryIO, say: Say) -> None:
        self.reader = Reader(stream, checks=True, beat=self._beat)
        self.say, self.header, self.counts = say, None, Counter[str]()
        self.expected: dict[str, str] = {}
        """Digest that each member with bytes has to have."""
        self.found: set[str] = set()
        self.wrong: set[str] = set()
        self.size = 0

    def _beat(self) -> None:
        self.say(f"checked {self.reader.at / 1e6:,.0f} MB")

    def run(self) -> Contents:
        header: Header | None = None
        for member in self.reader.members():
            if header is None:
                header = read_header(member)
            elif member.name.startswith(ROWS):
                self._rows(member, header)
            elif member.name.startswith((BLOBS, UPLOADS)):
                self._bytes(member)
            else:
                raise BackupError(f"The file is damaged: {member.name} is nothing that a backup holds.")
        seal = self.reader.seal or {}
        if header is None:
            raise BackupError("The file is no backup of this site: it does not begin with backup.json.")
        lost = frozenset(seal.get("lost", ()))
        if seal.get("rows") != {table.label: self.counts[table.label] for table in header.tables}:
            raise BackupError("The file is damaged: it holds not as many rows as were sealed.")
        if odd := sorted((self.wrong | (self.expected.keys() - self.found)) ^ lost):
            raise BackupError(f"The file is damaged: {odd[0]} is missing or not what it was.")
        counts = {table.label: self.counts[table.label] for table in header.tables}
        return Contents(header, counts, len(self.found), self.size, lost, seal.get("sequences", {}))

    def _rows(self, member: Member, header: Header) -> None:
        table, found = read_rows(member, header)
        for row in found:
            self.counts[table.label] += 1
            if table.label == BLOB:
                digest = row[table.place("digest")]
                self.expected[digest.replace("sha256:", BLOBS)] = digest
            elif table.label == PART:
                self.expected[f"{UPLOADS}{row[table.place('id')]}"] = row[table.place("digest")]

    def _bytes(self, member: Member) -> None:
        if member.name in self.found or member.name not in self.expected:
            raise BackupError(f"The file is damaged: no row names {member.name}, or it is there twice.")
        sha = hashlib.sha256()
        for chunk in member.chunks():
            sha.update(chunk)
        self.size += member.size
        self.found.add(member.name)
        if f"sha256:{sha.hexdigest()}" != self.expected[member.name]:
            self.wrong.add(member.name)
