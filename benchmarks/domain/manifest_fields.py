"""Fields that the manifests of several kinds of resource share."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from benchmarks.domain.fields import FieldProblem, FieldReader, RulesError

T = TypeVar("T")
Parsed = tuple[T, tuple[FieldProblem, ...]]
"""What was read, and every problem in it. With problems it still has the right types."""

DEFAULT_VERSION = "0.1.0"
MAX_VERSION = 64
VERSION = re.compile(
    r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}"
    r"(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
)
CODE_REFERENCE = re.compile(r"[^ ]+\.py:[^:]+")


def problems_of(fields: FieldReader) -> tuple[FieldProblem, ...]:
    try:
        fields.finish()
    except RulesError as error:
        return error.problems
    return ()


def as_is(value: object, _at: str) -> Any:
    return value


def read_title(fields: FieldReader) -> str | None:
    title = fields.optional_text("title")
    if title == "":
        fields.problem("title", "must not be empty: write a display name, or remove the line")
    return title


def read_version(fields: FieldReader) -> str:
    version = fields.text("version", DEFAULT_VERSION)
    if fields.wrong("version"):
        return DEFAULT_VERSION
    if not VERSION.fullmatch(version) or len(version) > MAX_VERSION:
        fields.problem(
            "version",
            f"must be MAJOR.MINOR.PATCH of at most {MAX_VERSION} characters, such as 1.0.0, not {version!r}",
        )
    return version


def read_unique(fields: FieldReader, key: str, *, some: bool) -> tuple[str, ...]:
    names = fields.texts(key, some=some)
    for name in sorted({name for name in names if names.count(name) > 1}):
        fields.problem(key, f"lists {name!r} more than once: each may be listed once")
    return tuple(dict.fromkeys(names))


def read_positive(fields: FieldReader, key: str, default: float) -> float:
    number = fields.number(key, default)
    if number <= 0 and not fields.wrong(key):
        fields.problem(key, f"must be greater than 0, not {number:g}")
    return number


def read_code(fields: FieldReader, key: str) -> str | None:
    reference = fields.optional_text(key)
    if reference and not CODE_REFERENCE.fullmatch(reference):
        fields.problem(key, f"must look like file.py:Name, not {reference!r}")
        return None
    return reference or None


def finished(fields: FieldReader, made: T) -> T:
    fields.finish()
    return made
