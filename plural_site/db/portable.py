"""Rows as JSON that either database takes back: which tables there are, in which order, value by value."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.apps.registry import Apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

Convert = Callable[[Any], Any]
PLAIN = frozenset(
    {
        "AutoField",
        "BigAutoField",
        "BigIntegerField",
        "BooleanField",
        "CharField",
        "FloatField",
        "IntegerField",
        "JSONField",
        "PositiveBigIntegerField",
        "PositiveIntegerField",
        "PositiveSmallIntegerField",
        "SlugField",
        "SmallAutoField",
        "SmallIntegerField",
        "TextField",
    }
)
"""Kinds of columns whose values JSON holds as they are."""


class PortableError(Exception):
    """A column of a kind that has no portable form, or a value that its column does not hold."""


def kind_of(field: models.Field[Any, Any]) -> str:
    """Of what a column holds; of a foreign key that is the key of the row it points to."""
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    return field.get_internal_type()


def columns_of(model: type[models.Model]) -> list[models.Field[Any, Any]]:
    return list(model._meta.concrete_fields)


def tables(apps: Apps, left_out: Collection[str]) -> list[type[models.Model]]:
    """Every table but those left out (`app.model`), each after those that it refers to where that can be."""
    found = {
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model._meta.label_lower not in left_out
    }
    ordered: list[type[models.Model]] = []
    entered: set[type[models.Model]] = set()

    def enter(model: type[models.Model]) -> None:
        if model in entered:
            return
        entered.add(model)
        for target in sorted(targets_of(model), key=_label):
            if target in found:
                enter(target)
        ordered.append(model)

    for model in sorted(found, key=_label):
        enter(model)
    return ordered


def targets_of(model: type[models.Model]) -> set[type[models.Model]]:
    """Models to which its rows refer."""
    fields = model._meta.concrete_fields
    return {field.related_model for field in fields if isinstance(field, models.ForeignKey)}


def _label(model: type[models.Model]) -> str:
    return model._meta.label_lower


# Values -----------------------------------------------------------------------------------------------


def encoders(fields: Sequence[models.Field[Any, Any]]) -> list[Convert | None]:
    """From what a query gives to what JSON holds; None where that is the same. Raises PortableError."""
    return [_encoder(field) for field in fields]


def _encoder(field: models.Field[Any, Any]) -> Convert | None:
    kind = kind_of(field)
    if kind in PLAIN:
        return None
    convert: dict[str, Convert] = {
        "BinaryField": lambda value: base64.b64encode(bytes(value)).decode("ascii"),
        "DateField": date.isoformat,
        "DateTimeField": lambda value: value.astimezone(UTC).isoformat(),
        "DecimalField": str,
        "UUIDField": str,
    }
    if kind not in convert:
        raise PortableError(f"{field} is of a kind that can't be written: {kind}")
    return _unless_null(convert[kind])


def decoders(
    fields: Sequence[models.Field[Any, Any]], connection: BaseDatabaseWrapper
) -> list[Convert | None]:
    """From what JSON holds to what this database takes as a parameter; None where that is the same."""
    return [_decoder(field, connection) for field in fields]


def _decoder(field: models.Field[Any, Any], connection: BaseDatabaseWrapper) -> Convert | None:
    kind, ops = kind_of(field), connection.ops
    if kind == "JSONField":
        # Only a column without nulls tells JSON's null from none.
        return lambda value: None if value is None and field.null else ops.adapt_json_value(value, None)
    if kind in PLAIN:
        return None
    parse: dict[str, Convert] = {
        "BinaryField": lambda value: connection.Database.Binary(base64.b64decode(value, validate=True)),  # type: ignore[attr-defined]
        "DateField": date.fromisoformat,
        "DateTimeField": lambda value: ops.adapt_datetimefield_value(datetime.fromisoformat(value)),
        "DecimalField": Decimal,
        "UUIDField": lambda value: field.get_db_prep_value(UUID(value), connection, prepared=False),
    }
    if kind not in parse:
        raise PortableError(f"{field} is of a kind that can't be read: {kind}")
    return _unless_null(parse[kind])


def _unless_null(change: Convert) -> Convert:
    return lambda value: None if value is None else change(value)


def converted(row: Sequence[Any], by: Sequence[Convert | None]) -> list[Any]:
    return [value if change is None else change(value) for value, change in zip(row, by, strict=True)]


def line(row: Sequence[Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"


def rows(data: bytes, columns: int) -> Iterable[list[Any]]:
    """Of lines as `line` makes them. Raises PortableError for anything else."""
    for text in data.splitlines():
        try:
            row = json.loads(text)
        except ValueError:
            raise PortableError("a row is no JSON") from None
        if not isinstance(row, list) or len(row) != columns:
            raise PortableError("a row has not as many values as its table has columns")
        yield row
