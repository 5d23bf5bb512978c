"""Values of any JSON shape, as text, numbers and times. Nothing here raises."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

MAX_INTEGER = 2**53
LABEL_LENGTH = 200
_PRETTY_FROM, _PRETTY_TO = 100, 4_000
"""JSON of this many characters is worth breaking into lines; more of it would take long."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_LOOKS_LIKE_JSON = re.compile(r"\s*(?:\{.*\}|\[.*\])\s*", re.DOTALL)
_LONGEST_PROBE = 100_000


def as_json(value: Any) -> str:
    """JSON for reading, also of what is no JSON (NaN)."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        if _PRETTY_FROM < len(text) <= _PRETTY_TO and type(value) in (dict, list):
            text = json.dumps(value, ensure_ascii=False, indent=2)
    except RecursionError:
        return "(nested too deeply to be shown; see the file)"
    except ValueError:  # a number of too many digits
        return "(a number too long to be shown; see the file)"
    return readable(text)


def readable(text: str) -> str:
    """Text that can be encoded: lone surrogates become U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def storable(text: str) -> str:
    """Text for a database row: without NUL as well."""
    return _UNSTORABLE.sub("\ufffd", text)


def label(value: Any) -> str:
    """A short name: text as it is, other scalars written out, '' for null and containers."""
    if type(value) is str:
        return storable(value[:LABEL_LENGTH])
    if type(value) in (bool, float):
        return str(value)
    if type(value) is int:
        return str(value) if abs(value) <= MAX_INTEGER else "a large number"
    return ""


def float_of(value: Any) -> float | None:
    """A finite number, else None; True is none."""
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return None
    return value if type(value) is float and math.isfinite(value) else None


def amount(value: Any) -> float | None:
    """A finite number of at least 0."""
    found = float_of(value)
    return found if found is not None and 0 <= found <= 1e300 else None


def count(value: Any) -> int | None:
    """A whole number of at least 0, also where written as 3.0."""
    found = float_of(value)
    return int(found) if found is not None and 0 <= found <= MAX_INTEGER and found == int(found) else None


def time(value: Any) -> datetime | None:
    """ISO 8601 (without a zone: UTC) or Unix time in seconds or milliseconds."""
    try:
        if type(value) is str:
            found = datetime.fromisoformat(value.strip()[:40])
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        number = float_of(value)
        if number is not None and 1e8 <= number < 1e14:
            return datetime.fromtimestamp(number / 1000 if number >= 1e11 else number, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def has_zone(value: Any) -> bool:
    """Whether a written time says its zone; Unix times do."""
    return type(value) is not str or bool(re.search(r"(?:Z|[+-]\d\d:?\d\d)\s*$", value))


def mapping(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def sequence(value: Any) -> list[Any]:
    """A list as it is, nothing for null, anything else as the only item."""
    if type(value) is list:
        return value
    return [] if value is None else [value]


def without(value: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """What is left of an object: no null, nothing empty."""
    known = frozenset(keys)
    return {key: item for key, item in value.items() if key not in known and item not in (None, "", [], {})}


def is_json_text(text: str) -> bool:
    """Whether text is an object or a list of JSON, as many tools answer."""
    if len(text) > _LONGEST_PROBE or text[:1] not in ("{", "[") or not _LOOKS_LIKE_JSON.fullmatch(text):
        return False
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def first_line(text: str, length: int) -> str:
    """The first line that holds something, at most `length` characters, fit for a row."""
    head = text[: 20 * length]
    line = next((found for found in head.splitlines() if found.strip()), "")
    line = storable(" ".join(line.split()))
    return line if len(line) <= length else f"{line[: length - 1]}…"
