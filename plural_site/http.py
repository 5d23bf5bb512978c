"""What views share: typed requests, pages that are also fragments, paging by cursor."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Field, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails

Row = TypeVar("Row", bound=models.Model)

MAX_CURSOR_LENGTH = 1000
LARGEST_INTEGER = 2**63 - 1


class HtmxRequest(HttpRequest):
    htmx: HtmxDetails


def render_page(
    request: HttpRequest,
    page_template: str,
    fragment_template: str,
    context: Mapping[str, Any],
    status: int = 200,
) -> HttpResponse:
    """The page, or only the fragment that it includes when htmx asks for a part of the page.

    htmx asks for whole pages too: to restore one from history, and for boosted links.
    """
    htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]  # set by HtmxMiddleware
    is_part = bool(htmx) and not htmx.history_restore_request and not htmx.boosted
    template = fragment_template if is_part else page_template
    response = render(request, template, dict(context), status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


@dataclass(frozen=True, slots=True)
class CursorPage(Generic[Row]):
    """`next_cursor` is None on the last page."""

    items: list[Row]
    next_cursor: str | None


def paginate(
    rows: QuerySet[Row], *, order: Sequence[str], cursor: str | None, size: int = 50
) -> CursorPage[Row]:
    """The `size` rows after `cursor`, ordered by the named columns or annotations, then by primary key.

    `-` before a name means descending; nulls come last either way. The cursor holds the values of the
    last row seen, so rows that arrive meanwhile neither repeat nor hide others. A cursor that makes no
    sense gives the first page.
    """
    keys = [_Key.parse(rows, name) for name in [*order, "pk"]]
    after = _decode(cursor, keys) if cursor else None
    if after is not None:
        rows = rows.filter(_after(keys, after))
    found = list(rows.order_by(*(key.ordering() for key in keys))[: size + 1])
    following = _encode(keys, found[size - 1]) if len(found) > size else None
    return CursorPage(found[:size], following)


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    """As the row's attribute and in conditions."""
    field: Field[Any, Any]
    descending: bool

    @classmethod
    def parse(cls, rows: QuerySet[Any], name: str) -> _Key:
        plain = name.removeprefix("-")
        if plain in rows.query.annotations:
            return cls(plain, rows.query.annotations[plain].output_field, name.startswith("-"))
        meta = rows.model._meta
        field = meta.pk if plain == "pk" else meta.get_field(plain)
        if not isinstance(field, Field):
            raise TypeError(f"{name} is not a column of {rows.model.__name__}")
        return cls(field.attname, field, name.startswith("-"))

    def ordering(self) -> Any:
        expression = F(self.name)
        nulls = {"nulls_last": True} if self.field.null else {}
        return expression.desc(**nulls) if self.descending else expression.asc(**nulls)

    def equal(self, value: Any) -> Q:
        return Q(**{f"{self.name}__isnull": True} if value is None else {self.name: value})

    def beyond(self, value: Any) -> Q | None:
        """Rows that come after `value` by this column alone; None when there can't be any."""
        if value is None:
            return None
        condition = Q(**{f"{self.name}__{'lt' if self.descending else 'gt'}": value})
        return condition | Q(**{f"{self.name}__isnull": True}) if self.field.null else condition


def _after(keys: Sequence[_Key], values: Sequence[Any]) -> Q:
    """(a beyond) or (a equal and b beyond) or ..."""
    condition, same = Q(pk__in=[]), Q()
    for key, value in zip(keys, values, strict=True):
        beyond = key.beyond(value)
        if beyond is not None:
            condition |= same & beyond
        same &= key.equal(value)
    return condition


def _encode(keys: Sequence[_Key], row: models.Model) -> str:
    values = []
    for key in keys:
        value = getattr(row, key.name)
        values.append(value if value is None or isinstance(value, int | float | str) else str(value))
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def _decode(cursor: str, keys: Sequence[_Key]) -> list[Any] | None:
    if len(cursor) > MAX_CURSOR_LENGTH:
        return None
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(values, list) or len(values) != len(keys):
            return None
        return [_clean(key.field, value) for key, value in zip(keys, values, strict=True)]
    except (ValueError, TypeError, ArithmeticError, ValidationError, RecursionError, binascii.Error):
        return None


def _clean(field: Field[Any, Any], value: Any) -> Any:
    """A value as the column holds it. Raises one of many errors for a value that it can't hold."""
    if value is None and field.null:
        return None
    value = field.to_python(value)
    if isinstance(value, str) and "\0" not in value:
        value.encode()  # refuses lone surrogates
        return value
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    if isinstance(value, int) and abs(value) <= LARGEST_INTEGER:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"{field.name} can't hold {value!r}")
