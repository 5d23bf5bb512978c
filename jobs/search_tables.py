"""The database's own index over the texts of steps: an FTS5 table on SQLite, a trigram index on PostgreSQL.

Both know every run of three characters. They are installed after every `migrate`, like the triggers of
`plural_site.db.frozen`, and where they can't be, a search still works: it then reads the texts themselves.
"""

from __future__ import annotations

import logging
from typing import Any

from django.db import DatabaseError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

TABLE, INDEX = "jobs_steptext", "jobs_steptext_fts"
TRIGRAM_INDEX = "steptext_trigram"
_CREATE = (
    f"CREATE VIRTUAL TABLE {INDEX} USING fts5(folded, content='{TABLE}', content_rowid='id', columnsize=0, "
    "detail=none, tokenize='trigram case_sensitive 1')"
)
"""Without positions, which make it three times as large: what they would tell is looked up in the text."""
_ADD = f"INSERT INTO {INDEX}(rowid, folded) VALUES (new.id, new.folded);"  # noqa: S608
_DROP = f"INSERT INTO {INDEX}({INDEX}, rowid, folded) VALUES ('delete', old.id, old.folded);"  # noqa: S608
_TRIGGERS = {
    f"{INDEX}_{verb}": f"CREATE TRIGGER {INDEX}_{verb} AFTER {verb.upper()} ON {TABLE} BEGIN {body} END"
    for verb, body in {"insert": _ADD, "delete": _DROP, "update": f"{_DROP} {_ADD}"}.items()
}
_LIVE = f"SELECT name, sql FROM sqlite_master WHERE tbl_name IN ('{TABLE}', '{INDEX}')"  # noqa: S608
_COLUMN = (
    "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'folded' AND NOT attisdropped"
)

log = logging.getLogger(__name__)


def install_after_migrate(*, using: str, **_kwargs: Any) -> None:
    install(connections[using])


def install(connection: BaseDatabaseWrapper) -> None:
    """Puts there what is missing. Says so in the log, and leaves it, where the database can't or won't."""
    try:
        with transaction.atomic(using=connection.alias):
            if connection.vendor == "postgresql":
                _install_postgresql(connection)
            else:
                _install_sqlite(connection)
    except DatabaseError as error:
        log.warning("No index for searching texts, which will take longer: %s", str(error).strip())


def uninstall(connection: BaseDatabaseWrapper) -> None:
    """On SQLite alone: PostgreSQL drops the index with its column."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for name in _TRIGGERS:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            cursor.execute(f"DROP TABLE IF EXISTS {INDEX}")


def has_index(connection: BaseDatabaseWrapper) -> bool:
    """Whether SQLite's index is there. PostgreSQL finds its own, or does without."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM sqlite_master WHERE name = %s", [INDEX])
        return cursor.fetchone() is not None


def _install_sqlite(connection: BaseDatabaseWrapper) -> None:
    """Without a trigger the index may have missed something, so that it is then made anew."""
    with connection.cursor() as cursor:
        cursor.execute(_LIVE)
        live = dict(cursor.fetchall())
        if '"folded"' not in live.get(TABLE, ""):
            return
        wanted = {INDEX: _CREATE, **_TRIGGERS}
        if all(live.get(name) == statement for name, statement in wanted.items()):
            return
        uninstall(connection)
        for statement in wanted.values():
            cursor.execute(statement)
        cursor.execute(f"INSERT INTO {INDEX}({INDEX}) VALUES ('rebuild')")  # noqa: S608


def _install_postgresql(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [TRIGRAM_INDEX])
        if cursor.fetchone() == (True,):
            return
        cursor.execute(_COLUMN, [TABLE])
        if cursor.fetchone() is None:
            return
        connection.check_constraints()  # no DDL on a table with constraint checks still to run
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        cursor.execute(f"CREATE INDEX {TRIGRAM_INDEX} ON {TABLE} USING gin (folded gin_trgm_ops)")
