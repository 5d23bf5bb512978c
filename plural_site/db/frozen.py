"""Tables whose rows are only ever added: the database itself refuses to change or remove them.

`@frozen` registers a model. Its triggers are installed after every `migrate` (and flush), because SQLite
drops triggers silently whenever Django rebuilds a table. A refusal reaches the caller as IntegrityError.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.core import checks
from django.db import ProgrammingError, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

ModelClass = TypeVar("ModelClass", bound=type[models.Model])

POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION plural_site_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is frozen: rows can only be added', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
POSTGRESQL_LIVE = """
SELECT c.relname, t.tgname FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
WHERE p.proname = 'plural_site_refuse_change' AND t.tgenabled IN ('O', 'A') AND pg_table_is_visible(c.oid)
"""
POSTGRESQL_OWNERS = """
SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class
WHERE relname = ANY(%s) AND pg_table_is_visible(oid) AND NOT pg_has_role(current_user, relowner, 'USAGE')
"""
MAY_NOT_THAW = (
    "The site's database role may not remove frozen rows, so this can't be done here. Whoever runs the site "
    "can allow it: see “Roles” in docs/deployment.md."
)
SQLITE_LIVE = "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger'"

_tables: set[str] = set()


class ThawError(Exception):
    """The database doesn't let the site remove frozen rows."""


def frozen(model: ModelClass) -> ModelClass:
    """Class decorator for models whose rows never change."""
    _tables.add(model._meta.db_table)
    return model


def frozen_tables() -> frozenset[str]:
    return frozenset(_tables)


def missing_triggers(connection: BaseDatabaseWrapper) -> list[tuple[str, str]]:
    """(table, trigger) for every trigger that should be there and is not, or is disabled or differs."""
    with connection.cursor() as cursor:
        existing = _tables.intersection(connection.introspection.table_names(cursor))
        cursor.execute(POSTGRESQL_LIVE if connection.vendor == "postgresql" else SQLITE_LIVE)
        live = set(cursor.fetchall())
    missing = []
    for table in sorted(existing):
        for name, statement in _triggers(connection, table).items():
            found = (table, name) if connection.vendor == "postgresql" else (table, name, statement)
            if found not in live:
                missing.append((table, name))
    return missing


def install(connection: BaseDatabaseWrapper) -> None:
    """Puts every missing trigger on the frozen tables that exist."""
    missing = missing_triggers(connection)
    if not missing:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            connection.check_constraints()  # no DDL on a table with constraint checks still to run
            cursor.execute(POSTGRESQL_FUNCTION)
        for table, name in missing:
            cursor.execute(_drop(connection, table, name))
            cursor.execute(_triggers(connection, table)[name])


def thaw(connection: BaseDatabaseWrapper, tables: Collection[str] | None = None) -> None:
    """Removes the triggers of `tables`; of all frozen tables by default, for flushing a test database."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            connection.check_constraints()
        existing = _tables.intersection(connection.introspection.table_names(cursor))
        for table in existing if tables is None else existing.intersection(tables):
            for name in _triggers(connection, table):
                cursor.execute(_drop(connection, table, name))


@contextmanager
def thawed(*thawed_models: type[models.Model], using: str = "default") -> Iterator[None]:
    """One transaction in which rows of these models may be changed or deleted.

    Only for actions that lawfully remove rows (deleting a project, erasing a person's data), which leave
    an audit event. An exception rolls back everything, the thaw included. Meanwhile others can read these
    tables and not write to them: on PostgreSQL triggers are disabled and not dropped, which would wait
    for everybody who reads and let nobody else read. Raises ThawError where the role that the site connects
    as neither owns the tables nor may become the one that does.
    """
    connection = connections[using]
    tables = [model._meta.db_table for model in thawed_models]
    with transaction.atomic(using=using), _as_owner(connection, tables):
        if connection.vendor != "postgresql":
            thaw(connection, tables)
            yield
            install(connection)
            return
        install(connection)
        _switch(connection, tables, "DISABLE")
        yield
        _switch(connection, tables, "ENABLE")


def _switch(connection: BaseDatabaseWrapper, tables: Collection[str], verb: str) -> None:
    connection.check_constraints()  # no DDL on a table with constraint checks still to run
    with connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f"ALTER TABLE {connection.ops.quote_name(table)} {verb} TRIGGER frozen_rows")


@contextmanager
def _as_owner(connection: BaseDatabaseWrapper, tables: Sequence[str]) -> Iterator[None]:
    """On PostgreSQL the site may connect as a role that can't change frozen rows, triggers or not."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(POSTGRESQL_OWNERS, [list(tables)])
        others = [owner for (owner,) in cursor.fetchall()]
        if not others:
            yield
            return
        try:
            cursor.execute(f"SET LOCAL ROLE {connection.ops.quote_name(others[0])}")
        except ProgrammingError as error:
            raise ThawError(MAY_NOT_THAW) from error
    yield  # after an error the rollback takes the role back
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE NONE")


def install_after_migrate(*, using: str, **_kwargs: Any) -> None:
    install(connections[using])


def check_triggers(*, databases: Collection[str] | None = None, **_kwargs: Any) -> list[checks.CheckMessage]:
    """System check of `check --database`. A warning, since `migrate` runs it first and is what mends it."""
    return [
        checks.Warning(
            f"Table {table} of database '{alias}' is not frozen: trigger {name} is missing.",
            hint="Run `manage.py migrate`, which installs it.",
            id="plural_site.W001",
        )
        for alias in databases or ()
        for table, name in missing_triggers(connections[alias])
    ]


def _triggers(connection: BaseDatabaseWrapper, table: str) -> dict[str, str]:
    """Name to CREATE statement of the two triggers of a table."""
    quoted = connection.ops.quote_name(table)
    if connection.vendor == "postgresql":
        events = {"frozen_rows": "UPDATE OR DELETE", "frozen_table": "TRUNCATE"}
        return {
            name: (
                f"CREATE TRIGGER {name} BEFORE {event} ON {quoted} "
                f"FOR EACH {'STATEMENT' if event == 'TRUNCATE' else 'ROW'} "
                "EXECUTE FUNCTION plural_site_refuse_change()"
            )
            for name, event in events.items()
        }
    refuse = f"BEGIN SELECT RAISE(ABORT, '{table} is frozen: rows can only be added'); END"
    return {
        f"frozen_{table}_{verb.lower()}": (
            f'CREATE TRIGGER "frozen_{table}_{verb.lower()}" BEFORE {verb} ON {quoted} {refuse}'
        )
        for verb in ("UPDATE", "DELETE")
    }


def _drop(connection: BaseDatabaseWrapper, table: str, name: str) -> str:
    quoted = connection.ops.quote_name(name)
    if connection.vendor == "postgresql":
        return f"DROP TRIGGER IF EXISTS {quoted} ON {connection.ops.quote_name(table)}"
    return f"DROP TRIGGER IF EXISTS {quoted}"
