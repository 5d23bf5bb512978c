"""Texts from outside that must fit their columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from django.db import models

from jobs.domain.parsed import ImportProblemError


def fit(rows: Sequence[models.Model], file: str) -> None:
    """Refuses text that is longer than its column, on both databases alike."""
    for row in rows:
        for name, limit in _limits(type(row)):
            value = getattr(row, name)
            if len(value) > limit:
                raise ImportProblemError(file, name, f"is longer than {limit} characters: {value[:60]}…")


@cache
def _limits(model: type[models.Model]) -> list[tuple[str, int]]:
    return [
        (column.attname, column.max_length)
        for column in model._meta.concrete_fields
        if isinstance(column, models.CharField) and column.max_length and not column.is_relation
    ]
