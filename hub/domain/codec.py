"""Frozen dataclasses to canonical JSON bytes and back, strictly, by their type hints.

Hints may be str, bool, int, float, Any, Literal, another dataclass, `X | None`, tuple[X, ...], a tuple of
fixed length and Mapping[str, X].
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from benchmarks.domain.fields import MAX_INTEGER, FieldProblem
from benchmarks.domain.identity import canonical_plain
from benchmarks.domain.types import DomainError
from hub.domain.shapes import Shape, fields_of, shape_of

T = TypeVar("T")
Path = tuple[object, ...]
MAX_DEPTH = 20
"""Levels of free JSON, such as a Task's applicability."""
MAX_PROBLEMS = 100
SHOWN_CHARACTERS = 40
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


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
    return {name: _plain(shape, getattr(value, name)) for name, shape in fields_of(cls).items()}


def check(value: Any) -> list[FieldProblem]:
    """What is wrong with a dataclass's values by its type hints; empty where `decode` would take it."""
    cls: Any = type(value)
    reader = _Reader()
    reader.read(shape_of(cls), plain(value), ())
    return reader.problems


def decode(cls: type[T], data: bytes) -> T:
    """The dataclass in `data`. Raises FormError with every problem, the first `MAX_PROBLEMS` of them.

    Missing and unknown keys, keys that stand twice, wrong types and numbers that are not finite are refused.
    Whether `data` is canonical is not looked at: `encode` gives the canonical bytes to compare with.
    """
    hint: Any = cls
    reader = _Reader()
    found: T = reader.read(shape_of(hint), _parsed(data), ())
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


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    if len(found) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        found.twice = tuple(key for key, count in counts.items() if count > 1)
    return found


def _plain(shape: Shape, value: Any) -> Any:
    """What has no such shape stays as it is, for the reader to refuse."""
    kind = shape.kind
    if kind == "number" and type(value) is int:
        return _as_float(value)
    if kind == "object" and isinstance(value, shape.cls):
        return plain(value)
    if kind in ("list", "row") and isinstance(value, tuple):
        return [_plain(shape.inner[0], item) for item in value]
    if kind == "map" and isinstance(value, Mapping):
        return {key: _plain(shape.inner[0], item) for key, item in value.items()}
    return value


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


class _Reader:
    """`read` gives the value, or None with the problem noted."""

    def __init__(self) -> None:
        self.problems: list[FieldProblem] = []

    def problem(self, path: Path, message: str) -> None:
        self.problems.append(FieldProblem(".".join(map(_key_text, path)), message))

    def read(self, shape: Shape, value: Any, path: Path) -> Any:
        if value is None and shape.optional:
            return None
        if type(value) is _Object and value.twice:
            for key in value.twice:
                self.problem((*path, key), "stands twice in one object")
        kind = shape.kind
        if kind == "free":
            return self._free(value, path, MAX_DEPTH)
        if kind in ("whole", "number") and type(value) in (int, float):
            return self._number(kind, value, path)
        if isinstance(value, str) and (kind == "text" or (kind == "choice" and value in shape.choices)):
            return value if self._is_text(value, path) else None
        if kind == "truth" and isinstance(value, bool):
            return value
        return self._holder(shape, value, path)

    def _holder(self, shape: Shape, value: Any, path: Path) -> Any:
        kind, inner = shape.kind, shape.inner
        if kind == "object" and isinstance(value, dict):
            return self._fields(shape.cls, value, path)
        if kind == "list" and isinstance(value, list):
            return tuple(self.read(inner[0], item, (*path, at)) for at, item in enumerate(value))
        if kind == "row" and isinstance(value, list) and len(value) == len(inner):
            return tuple(self.read(inner[at], item, (*path, at)) for at, item in enumerate(value))
        if kind == "map" and isinstance(value, dict):
            return {
                key: self.read(inner[0], item, (*path, key))
                for key, item in value.items()
                if self._is_text(key, (*path, key))
            }
        if kind == "row" and isinstance(value, list):
            self.problem(path, f"must have {len(inner)} items, not {len(value)}")
        else:
            self.problem(path, f"must be {shape.wanted}, not {_shown(value)}")
        return None

    def _fields(self, cls: Any, value: dict[str, Any], path: Path) -> Any:
        before = len(self.problems)
        shapes = fields_of(cls)
        for key in value:
            if key not in shapes:
                self.problem((*path, key), "is not a field here")
        found = {}
        for name, shape in shapes.items():
            if name not in value:
                self.problem((*path, name), "is missing")
            else:
                found[name] = self.read(shape, value[name], (*path, name))
        return cls(**found) if len(self.problems) == before else None

    def _number(self, kind: str, value: float, path: Path) -> Any:
        if kind == "whole" and isinstance(value, float):
            self.problem(path, f"must be a whole number, not {value!r}")
        elif isinstance(value, float) and not math.isfinite(value):
            self.problem(path, f"must be a finite number, not {value!r}")
        elif isinstance(value, int) and abs(value) > MAX_INTEGER:
            self.problem(path, "must be a number within 2**53")
        else:
            return float(value) if kind == "number" else value
        return None

    def _is_text(self, value: str, path: Path) -> bool:
        if _UNSTORABLE.search(value):
            self.problem(path, "holds a character that can't be stored (NUL or a lone surrogate)")
            return False
        return True

    def _free(self, value: Any, path: Path, depth: int) -> Any:
        """Any JSON value, its numbers and texts held to the same rules."""
        if isinstance(value, dict | list) and not depth:
            self.problem(path, f"is nested more than {MAX_DEPTH} levels deep")
        elif isinstance(value, dict):
            return {
                key: self._below(item, (*path, key), depth - 1)
                for key, item in value.items()
                if self._is_text(key, (*path, key))
            }
        elif isinstance(value, list):
            return [self._below(item, (*path, at), depth - 1) for at, item in enumerate(value)]
        elif isinstance(value, str):
            return value if self._is_text(value, path) else None
        elif isinstance(value, bool) or value is None:
            return value
        elif type(value) in (int, float):
            return self._number("free", value, path)
        else:
            self.problem(path, f"is no JSON value, but {type(value).__name__}")
        return None

    def _below(self, value: Any, path: Path, depth: int) -> Any:
        for key in value.twice if type(value) is _Object else ():
            self.problem((*path, key), "stands twice in one object")
        return self._free(value, path, depth)


def _key_text(key: object) -> str:
    text = "".join(c if c.isprintable() else "\ufffd" for c in str(key)[: SHOWN_CHARACTERS * 2])
    return text if text == str(key) else f"{text}…"


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
