"""Many rows of one table at once, where `bulk_create` is the bottleneck."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from django.db import connections, models, router
from django.db.backends.base.operations import BaseDatabaseOperations


def insert(model: type[models.Model], rows: Sequence[Mapping[str, Any]]) -> None:
    """Inserts rows, each with a value for every column but the key, which the database gives.

    `bulk_create` makes an instance of every row and resolves every value as an expression, which takes
    most of an import's time. Here only times and JSON are converted; every other value must be what its
    column holds. No defaults, no `auto_now`. Constraints are the database's, as ever.
    Raises KeyError for a row that lacks a column.
    """
    if not rows:
        return
    meta = model._meta
    connection = connections[router.db_for_write(model)]
    fields = [field for field in meta.concrete_fields if not field.primary_key]
    columns = [(field.attname, _conversion(field, connection.ops)) for field in fields]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {connection.ops.quote_name(meta.db_table)} ({names}) VALUES ({marks})"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(
            statement,
            [[convert(row[name]) if convert else row[name] for name, convert in columns] for row in rows],
        )


def _conversion(field: models.Field[Any, Any], ops: BaseDatabaseOperations) -> Callable[[Any], Any] | None:
    if isinstance(field, models.DateTimeField):
        return ops.adapt_datetimefield_value
    if isinstance(field, models.JSONField):
        return partial(ops.adapt_json_value, encoder=field.encoder)
    return None
