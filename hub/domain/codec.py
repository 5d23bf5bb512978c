"""Frozen dataclasses to canonical JSON bytes and back, strictly, by their type hints.

Hints may be str, bool, int, float, Any, Literal, another dataclass, `X | None`, tuple[X, ...], a tuple of
fixed length and Mapping[str, X].
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from benchmarks.domain.fields import MAX_INTEGER, FieldProblem
from benchmarks.domain.identity import canonical_plain
from benchmarks.domain.types import DomainError

T = TypeVar("T")
MAX_DEPTH = 20
"""Levels of free JSON, such as a Task's applicability."""
MAX_PROBLEMS = 100
SHOWN_CHARACTERS = 40
_KINDS: Mapping[type, str] = {dict: "an object", list: "a list", str: "text", bool: "a boolean"}


class FormError(DomainError):
    """Bytes that don't hold what they should. Each problem names its place, e.g. `tasks.0.weight`."""

    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        super().__init__("\n".join(f"{p.field}: {p.message}" if p.field else p.message for p in problems))
        self.problems = tuple(problems)


class _Object(dict[str, Any]):
    """A JSON object that remembers keys that stood in it more than once."""

    twice: tuple[str, ...] = ()


def encode(value: Any) -> bytes:
    """Canonical JSON of a dataclass: sorted keys, compact, unescaped, Python number text, UTF-8.

    Every field is written, float fields as floats whatever they hold. Raises DomainError for what is not
    JSON (NaN, infinities, lone surrogates).
    """
    return canonical_plain(plain(value))


def plain(value: Any) -> dict[str, Any]:
    """A dataclass as a JSON object, with every field."""
    cls: Any = type(value)
    return {name: _plain(hint, getattr(value, name)) for name, hint in hints(cls).items()}


def check(value: Any) -> list[FieldProblem]:
    """What is wrong with a dataclass's values by its type hints; empty where `decode` would take it."""
    reader = _Reader()
    reader.read(type(value), plain(value), ())
    return reader.problems


def decode(cls: type[T], data: bytes) -> T:
    """The dataclass in `data`. Raises FormError with every problem, the first `MAX_PROBLEMS` of them.

    Missing and unknown keys, keys that stand twice, wrong types and numbers that are not finite are refused.
    Whether `data` is canonical is not looked at: `encode` gives the canonical bytes to compare with.
    """
    reader = _Reader()
    found: T = reader.read(cls, _parsed(data), ())
    if reader.problems:
        raise FormError(reader.problems[:MAX_PROBLEMS])
    return found


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 text (byte {error.start})"
    except RecursionError:
        message = "is nested too deeply"
    except json.JSONDecodeError as error:
        message = f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
    except ValueError:
        message = "holds a number with too many digits"
    raise FormError([FieldProblem("", message)])


@cache
def hints(cls: Any) -> Mapping[str, Any]:
    """Fields of a dataclass with their types."""
    of_fields = get_type_hints(cls)
    return {field.name: of_fields[field.name] for field in fields(cls)}


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        found.twice = tuple(key for key in found if keys.count(key) > 1)
    return found


def _plain(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    hint = _without_none(hint)
    if is_dataclass(value) and not isinstance(value, type):
        return plain(value)
    if hint is float:
        return _as_float(value)
    if isinstance(value, tuple):
        inner = get_args(hint)
        return [_plain(inner[0] if inner else Any, item) for item in value]
    if isinstance(value, Mapping):
        inner = get_args(hint)
        return {key: _plain(inner[1] if inner else Any, item) for key, item in value.items()}
    return value


def _as_float(value: Any) -> Any:
    """A whole number as a float; what is no number stays, for the reader to refuse."""
    if type(value) is not int:
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (option for option in get_args(hint) if option is not type(None))
    return hint


class _Reader:
    def __init__(self) -> None:
        self.problems: list[FieldProblem] = []

    def problem(self, path: tuple[object, ...], message: str) -> None:
        self.problems.append(FieldProblem(".".join(map(_key_text, path)), message))

    def read(self, hint: Any, value: Any, path: tuple[object, ...]) -> Any:
        """The value, or None with the problem noted."""
        bare = _without_none(hint)
        if value is None:
            if bare is hint and hint is not Any:
                self.problem(path, f"must be {_wanted(hint)}, not null")
            return None
        if isinstance(value, _Object):
            for key in value.twice:
                self.problem((*path, key), "stands twice in one object")
        return self._of_kind(bare, value, path)

    def _of_kind(self, hint: Any, value: Any, path: tuple[object, ...]) -> Any:
        origin, inner = get_origin(hint), get_args(hint)
        if hint is Any:
            return self._free(value, path, MAX_DEPTH)
        if is_dataclass(hint):
            return self._dataclass(hint, value, path)
        if origin is tuple and isinstance(value, list):
            return self._tuple(inner, value, path)
        if origin is not Literal and origin is not tuple and origin and isinstance(value, dict):
            return {
                key: self.read(inner[1], item, (*path, key))
                for key, item in value.items()
                if self._is_text(key, (*path, key))
            }
        return self._scalar(hint, value, path)

    def _scalar(self, hint: Any, value: Any, path: tuple[object, ...]) -> Any:
        if hint in (int, float) and type(value) in (int, float):
            return self._number(hint, value, path)
        options = get_args(hint) if get_origin(hint) is Literal else ()
        if (hint is bool and isinstance(value, bool)) or (isinstance(value, str) and value in options):
            return value
        if hint is str and isinstance(value, str):
            return value if self._is_text(value, path) else None
        self.problem(path, f"must be {_wanted(hint)}, not {_shown(value)}")
        return None

    def _dataclass(self, cls: Any, value: Any, path: tuple[object, ...]) -> Any:
        if not isinstance(value, dict):
            self.problem(path, f"must be an object, not {_shown(value)}")
            return None
        before = len(self.problems)
        of_fields = hints(cls)
        for key in value:
            if key not in of_fields:
                self.problem((*path, key), "is not a field here")
        found = {}
        for name, hint in of_fields.items():
            if name not in value:
                self.problem((*path, name), "is missing")
            else:
                found[name] = self.read(hint, value[name], (*path, name))
        return cls(**found) if len(self.problems) == before else None

    def _tuple(self, inner: tuple[Any, ...], value: list[Any], path: tuple[object, ...]) -> Any:
        if inner[-1] is Ellipsis:
            inner = inner[:1] * len(value)
        elif len(value) != len(inner):
            self.problem(path, f"must have {len(inner)} items, not {len(value)}")
            return None
        return tuple(
            self.read(hint, item, (*path, position))
            for position, (hint, item) in enumerate(zip(inner, value, strict=True))
        )

    def _number(self, hint: Any, value: float, path: tuple[object, ...]) -> Any:
        if hint is int and isinstance(value, float):
            self.problem(path, f"must be a whole number, not {value!r}")
        elif isinstance(value, float) and not math.isfinite(value):
            self.problem(path, f"must be a finite number, not {value!r}")
        elif isinstance(value, int) and abs(value) > MAX_INTEGER:
            self.problem(path, "must be a number within 2**53")
        else:
            return hint(value)
        return None

    def _is_text(self, value: str, path: tuple[object, ...]) -> bool:
        if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in value):
            self.problem(path, "holds a character that can't be stored (NUL or a lone surrogate)")
            return False
        return True

    def _free(self, value: Any, path: tuple[object, ...], depth: int) -> Any:
        """Any JSON value, its numbers and texts held to the same rules."""
        if isinstance(value, _Object) and len(path) > 0:
            for key in value.twice:
                self.problem((*path, key), "stands twice in one object")
        if isinstance(value, dict | list) and not depth:
            self.problem(path, f"is nested more than {MAX_DEPTH} levels deep")
        elif isinstance(value, dict):
            return {
                key: self._free(item, (*path, key), depth - 1)
                for key, item in value.items()
                if self._is_text(key, (*path, key))
            }
        elif isinstance(value, list):
            return [self._free(item, (*path, at), depth - 1) for at, item in enumerate(value)]
        elif isinstance(value, str):
            return value if self._is_text(value, path) else None
        elif isinstance(value, bool) or value is None:
            return value
        elif type(value) in (int, float):
            return self._number(type(value), value, path)
        else:
            self.problem(path, f"is no JSON value, but {type(value).__name__}")
        return None


def _key_text(key: object) -> str:
    text = "".join(c if c.isprintable() else "\ufffd" for c in str(key)[: SHOWN_CHARACTERS * 2])
    return text if text == str(key) else f"{text}…"


def _wanted(hint: Any) -> str:
    origin = get_origin(hint)
    if origin is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if origin is tuple:
        return "a list"
    if is_dataclass(hint) or origin is not None:
        return "an object"
    return {str: "text", bool: "true or false", int: "a whole number", float: "a number"}[hint]


def _shown(value: Any) -> str:
    for kind in (dict, list):
        if isinstance(value, kind):
            return _KINDS[kind]
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
