"""Many rows of one table at once, where `bulk_create` is the bottleneck."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.db import connections, models, router
from django.db.backends.base.base import BaseDatabaseWrapper


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
    columns = [(field.attname, _conversion(field, connection)) for field in fields]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {connection.ops.quote_name(meta.db_table)} ({names}) VALUES ({marks})"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(
            statement,
            [[convert(row[name]) if convert else row[name] for name, convert in columns] for row in rows],
        )


def _conversion(
    field: models.Field[Any, Any], connection: BaseDatabaseWrapper
) -> Callable[[Any], Any] | None:
    if isinstance(field, models.DateTimeField):
        return _times(connection)
    if isinstance(field, models.JSONField):
        return _json(partial(connection.ops.adapt_json_value, encoder=field.encoder))
    return None


def _times(connection: BaseDatabaseWrapper) -> Callable[[Any], Any]:
    """As the backend converts times, without its way through zones for those that are UTC already."""
    adapt = connection.ops.adapt_datetimefield_value
    if connection.features.supports_timezones or connection.timezone != UTC:
        return adapt

    def convert(value: datetime | None) -> Any:
        return adapt(value.replace(tzinfo=None) if value is not None and value.tzinfo is UTC else value)

    return convert


def _json(adapt: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """As the backend converts JSON; what is empty, as much is, only once."""
    empty = {kind: adapt(kind()) for kind in (list, dict)}

    def convert(value: Any) -> Any:
        return empty[type(value)] if not value and type(value) in empty else adapt(value)

    return convert
