"""Many rows of one table at once, where `bulk_create` is the bottleneck."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connections, models, router


def insert(rows: Sequence[models.Model]) -> None:
    """Inserts new rows of one model, whose keys the database gives; the instances don't learn them.

    `bulk_create` resolves every value as an expression, which takes most of an import's time. Here only
    times and JSON are converted; every other value must be what its column holds. No defaults of the
    database, no `auto_now`. Constraints are the database's, as ever.
    """
    if not rows:
        return
    meta = type(rows[0])._meta
    connection = connections[router.db_for_write(type(rows[0]))]
    fields = [field for field in meta.concrete_fields if not field.primary_key]
    plain = [not isinstance(field, models.DateTimeField | models.JSONField) for field in fields]
    columns = list(zip(fields, (field.attname for field in fields), plain, strict=True))
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {connection.ops.quote_name(meta.db_table)} ({names}) VALUES ({marks})"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(
            statement,
            [
                [
                    getattr(row, name) if is_plain else field.get_db_prep_save(getattr(row, name), connection)
                    for field, name, is_plain in columns
                ]
                for row in rows
            ],
        )
