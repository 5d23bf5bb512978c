"""Strict reading of a store's JSON files, with errors that name the file and the field.

Everything raises `ImportProblemError`. Stricter than the standard library: UTF-8 without a byte order mark,
finite numbers only, no lone surrogates, at most `MAX_DEPTH` levels.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NoReturn

from jobs.domain.parsed import ImportProblemError

MAX_DEPTH = 100
LABEL_LENGTH = 500
FREE_TEXT_LENGTH = 100_000
SHOWN_LENGTH = 300
MAX_INTEGER = 2**63 - 1

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]')
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
}


class NotStrictError(ValueError):
    """The text is JSON for Python but not strict JSON; the message completes 'the file …'."""


def kind_of(value: object) -> str:
    return "null" if value is None else _KINDS[type(value)]


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise NotStrictError(f"holds the number {text[:40]}, which is too large")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise NotStrictError(f"holds {name}, which is not a JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise NotStrictError(f"holds the key {twice[:80]!r} twice in one object")
    return found


DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse_constant)
_FINITE_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_MAYBE_INFINITE = re.compile(rb"[0-9][eE]\+?[0-9]{3}|[0-9]{200}")
"""What every number beyond the range of a float holds."""
_UNIQUE_DECODER = json.JSONDecoder(
    parse_float=_finite, parse_constant=_refuse_constant, object_pairs_hook=_unique
)
_LENIENT_DECODER = json.JSONDecoder()


def loads(data: bytes, file: str, *, unique_keys: bool = False, allow_nul: bool = True) -> dict[str, Any]:
    """The object in `data`. `allow_nul=False` refuses U+0000 in any string or key."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ImportProblemError(file, "", f"is not UTF-8 text (byte {error.start})") from None
    try:
        value = _decoder(data, unique_keys).decode(text)
    except RecursionError:
        raise _too_deep(text, file) from None
    except NotStrictError as error:
        raise ImportProblemError(file, _path_of_number(text), str(error)) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ImportProblemError(file, "", f"is not valid JSON: {error.msg} at {where}") from None
    except ValueError:
        raise ImportProblemError(file, "", "holds a number with too many digits") from None
    if type(value) is not dict:
        raise ImportProblemError(file, "", f"must hold an object, not {kind_of(value)}")
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH and is_too_deep(value):
        raise _too_deep(text, file)
    if _SURROGATE_ESCAPE.search(data):
        _refuse_text(value, file, _has_surrogate, "holds a lone surrogate, which is not text")
    if not allow_nul and b"\\u0000" in data:
        _refuse_text(value, file, _has_nul, "holds a NUL character")
    return value


def _decoder(data: bytes, unique_keys: bool) -> json.JSONDecoder:
    if unique_keys:
        return _UNIQUE_DECODER
    return DECODER if _MAYBE_INFINITE.search(data) else _FINITE_DECODER


def checked(value: dict[str, Any], file: str) -> dict[str, Any]:
    """Decoded members of a file, held to the same rules as `loads` holds a whole one."""
    try:
        text = json.dumps(value)
    except RecursionError:
        raise ImportProblemError(file, "", f"is nested more than {MAX_DEPTH} levels deep") from None
    return loads(text.encode(), file)


def is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            for child in (item.values() if type(item) is dict else item)
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def _too_deep(text: str, file: str) -> ImportProblemError:
    depth = 0
    key = ""
    for token in _TOKEN.finditer(text):  # pragma: no branch - it is as deep as that
        symbol = token.group()
        if symbol in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                break
        elif symbol in "]}":
            depth -= 1
        elif depth == 1 and text[token.end() : token.end() + 2].lstrip().startswith(":"):
            key = symbol[1:-1]
    return ImportProblemError(file, key[:80], f"is nested more than {MAX_DEPTH} levels deep")


def _path_of_number(text: str) -> str:
    """Where the first number stands that is not finite; '' if it can't be told."""
    try:
        value = _LENIENT_DECODER.decode(text)
    except (ValueError, RecursionError):
        return ""
    if type(value) not in (dict, list) or is_too_deep(value):
        return ""
    return next(_paths(value, lambda item: type(item) is float and not math.isfinite(item)), "")


def _has_surrogate(value: object) -> bool:
    return type(value) is str and any("\ud800" <= character <= "\udfff" for character in value)


def _has_nul(value: object) -> bool:
    return type(value) is str and "\0" in value


def _refuse_text(value: Any, file: str, is_bad: Callable[[object], bool], message: str) -> None:
    path = next(_paths(value, is_bad), None)
    if path is not None:
        raise ImportProblemError(file, shown(path), message)


def _paths(value: Any, is_wanted: Callable[[object], bool], path: str = "") -> Iterator[str]:
    """Dotted paths of the scalars and keys that are wanted, in document order."""
    if type(value) is dict:
        for key, item in value.items():
            below = f"{path}.{key}" if path else key
            if is_wanted(key):
                yield below
            yield from _paths(item, is_wanted, below)
    elif type(value) is list:
        for index, item in enumerate(value):
            yield from _paths(item, is_wanted, f"{path}[{index}]")
    elif is_wanted(value):
        yield path


def shown(text: str) -> str:
    """Text from outside as it may stand in a message: only what prints, and not endless."""
    clean = "".join(character if character.isprintable() else "\ufffd" for character in text[:1000])
    return clean if len(clean) <= SHOWN_LENGTH else clean[:SHOWN_LENGTH] + "…"


def without_nul(value: Any) -> Any:
    """Free JSON with U+0000 replaced by U+FFFD, because PostgreSQL can't store it."""
    if type(value) is str:
        return value.replace("\0", "\ufffd")
    if type(value) is list:
        return [without_nul(item) for item in value]
    if type(value) is dict:
        return {without_nul(key): without_nul(item) for key, item in value.items()}
    return value


class Fields:
    """An object of a store file, read field by field. Unknown fields are ignored."""

    __slots__ = ("data", "file", "path")

    def __init__(self, data: dict[str, Any], file: str, path: str = "") -> None:
        self.data, self.file, self.path = data, file, path

    def problem(self, key: str, message: str) -> ImportProblemError:
        return ImportProblemError(self.file, shown(self._at(key)), message)

    def _at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path and key else self.path or key

    def _wrong(self, key: str, wanted: str) -> ImportProblemError:
        if key not in self.data:
            return self.problem(key, "is missing")
        return self.problem(key, f"must be {wanted}, not {kind_of(self.data[key])}")

    def text(self, key: str) -> str:
        """A label: not empty, no NUL, at most `LABEL_LENGTH` characters."""
        value = self.optional_text(key)
        if not value:
            raise self.problem(key, "is empty") if self.data.get(key) == "" else self._wrong(key, "a string")
        return value

    def optional_text(self, key: str) -> str:
        """A label, '' where it is null, missing or empty."""
        value = self.data.get(key)
        if value is None:
            return ""
        if type(value) is not str:
            raise self._wrong(key, "a string or null")
        if "\0" in value:
            raise self.problem(key, "holds a NUL character")
        if len(value) > LABEL_LENGTH:
            raise self.problem(key, f"has {len(value)} characters; at most {LABEL_LENGTH} are allowed")
        return value

    def free_text(self, key: str) -> str:
        """Prose, '' where null or missing; NUL becomes U+FFFD."""
        value = self.data.get(key)
        if value is None:
            return ""
        if type(value) is not str:
            raise self._wrong(key, "a string or null")
        if len(value) > FREE_TEXT_LENGTH:
            raise self.problem(key, f"has {len(value)} characters; at most {FREE_TEXT_LENGTH} are allowed")
        return value.replace("\0", "\ufffd")

    def number(self, key: str, *, minimum: float | None = None) -> float | None:
        value = self.data.get(key)
        if value is None:
            return None
        if type(value) is int:
            try:
                value = float(value)
            except OverflowError:
                raise self.problem(key, "is too large a number") from None
        if type(value) is not float:
            raise self._wrong(key, "a finite number or null")
        if minimum is not None and value < minimum:
            raise self.problem(key, f"must be at least {minimum:g}, not {value:g}")
        return value

    def integer(self, key: str, minimum: int, maximum: int = MAX_INTEGER) -> int:
        value = self.optional_integer(key, minimum, maximum)
        if value is None:
            raise self._wrong(key, "an integer")
        return value

    def optional_integer(self, key: str, minimum: int, maximum: int = MAX_INTEGER) -> int | None:
        value = self.data.get(key)
        if value is None:
            return None
        if type(value) is not int:
            raise (
                self.problem(key, "must be an integer, not a fraction")
                if type(value) is float
                else self._wrong(key, "an integer")
            )
        if value < minimum:
            raise self.problem(key, f"must be at least {minimum}")
        if value > maximum:
            raise self.problem(key, f"must be at most {maximum}")
        return value

    def time(self, key: str) -> datetime | None:
        """An aware time in UTC, None where null or missing."""
        value = self.data.get(key)
        if value is None:
            return None
        if type(value) is not str:
            raise self._wrong(key, "a time or null")
        try:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                raise self.problem(key, "is a time without a time zone")
            return moment.astimezone(UTC)
        except (ValueError, OverflowError):
            raise self.problem(key, f"is not a time: {shown(value)[:60]!r}") from None

    def object(self, key: str) -> Fields:
        value = self.data.get(key)
        if type(value) is not dict:
            raise self._wrong(key, "an object")
        return Fields(value, self.file, self._at(key))

    def optional_object(self, key: str) -> Fields | None:
        return None if self.data.get(key) is None else self.object(key)

    def array(self, key: str) -> list[Any]:
        value = self.data.get(key)
        if type(value) is not list:
            raise self._wrong(key, "a list")
        return value

    def objects(self, key: str) -> list[Fields]:
        found = []
        for index, item in enumerate(self.array(key)):
            if type(item) is not dict:
                raise self.problem(f"{key}[{index}]", f"must be an object, not {kind_of(item)}")
            found.append(Fields(item, self.file, f"{self._at(key)}[{index}]"))
        return found

    def texts(self, key: str) -> list[str]:
        for index, item in enumerate(self.array(key)):
            if type(item) is not str:
                raise self.problem(f"{key}[{index}]", f"must be a string, not {kind_of(item)}")
        return self.array(key)

    def numbers(self, key: str) -> dict[str, float]:
        """A map of labels to finite numbers."""
        inside = self.object(key)
        found = {}
        for name in inside.data:
            value = inside.number(name)
            if value is None:
                raise inside.problem(name, "must be a finite number, not null")
            if "\0" in name:
                raise inside.problem(name, "holds a NUL character in its name")
            found[name] = value
        return found
