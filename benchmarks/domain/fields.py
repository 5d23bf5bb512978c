"""Strict reading of mappings that come from YAML or JSON: every problem is reported, nothing is guessed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

from benchmarks.domain.types import DomainError

T = TypeVar("T")
REQUIRED: Any = object()
"""Default of a field that must be written."""
MAX_INTEGER = 2**53 - 1
"""Largest whole number that every JSON reader takes exactly."""
SHOWN_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """`field` is a dotted path, with list positions from 0 (`tracks.0.version`); '' is the whole value."""

    field: str
    message: str


class RulesError(DomainError):
    """Declared rules that can't be taken, with every problem found in them."""

    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        super().__init__("\n".join(f"{p.field}: {p.message}" if p.field else p.message for p in problems))
        self.problems = tuple(problems)


class FieldReader:
    """Takes typed fields out of one mapping and collects what is wrong with them.

    A method whose field is wrong returns some value of the right type, so that reading goes on;
    `finish` raises RulesError if anything was wrong. `at` is the dotted path of the mapping itself.
    """

    def __init__(self, value: object, at: str = "") -> None:
        self.at = at
        self.problems: list[FieldProblem] = []
        self._known: set[str] = set()
        self._usable = True
        self._values: Mapping[Any, Any] = {}
        if isinstance(value, Mapping):
            self._values = value
        else:
            self.problem("", f"must be a mapping of fields to values, not {_shown(value)}")
            self._usable = False

    def path(self, *keys: object) -> str:
        return ".".join(str(part) for part in (self.at, *keys) if part != "")

    def problem(self, key: str, message: str) -> None:
        # What is no mapping at all has that one problem, not one more for each missing field.
        if self._usable:
            self.problems.append(FieldProblem(self.path(key), message))

    def has(self, key: str) -> bool:
        return key in self._values

    def wrong(self, key: str) -> bool:
        """Whether a problem was found with this very field."""
        return any(problem.field == self.path(key) for problem in self.problems)

    def text(self, key: str, default: str = REQUIRED, *, filled: bool = False) -> str:
        value = self._value(key, default)
        return value if self._is_text(value, key, filled=filled) else ""

    def optional_text(self, key: str) -> str | None:
        value = self._value(key, None)
        return value if value is not None and self._is_text(value, key) else None

    def choice(self, key: str, options: Sequence[T], default: T = REQUIRED) -> T:
        value = self._value(key, default)
        for option in options:
            if value == option:
                return option
        allowed = " or ".join(map(str, options))
        self.problem(key, "is missing" if value is REQUIRED else f"must be {allowed}, not {_shown(value)}")
        return options[0]

    def integer(self, key: str, default: int = REQUIRED, *, low: int, high: int = MAX_INTEGER) -> int:
        value = self._value(key, default)
        return value if self._is_integer(value, key, low, high) else low

    def optional_integer(self, key: str, *, low: int) -> int | None:
        value = self._value(key, None)
        return value if value is not None and self._is_integer(value, key, low, MAX_INTEGER) else None

    def number(self, key: str, default: float = REQUIRED) -> float:
        number = self.as_number(self._value(key, default), key)
        return 0.0 if number is None else number

    def optional_number(self, key: str, *, above: float | None = None) -> float | None:
        value = self._value(key, None)
        number = None if value is None else self.as_number(value, key)
        if number is not None and above is not None and number <= above:
            self.problem(key, f"must be greater than {above:g}, not {number:g}")
        return number

    def items(self, key: str) -> Sequence[object]:
        value = self._value(key, ())
        if isinstance(value, (list, tuple)):
            return value
        self.problem(key, f"must be a list, not {_shown(value)}")
        return ()

    def texts(self, key: str, *, some: bool = False) -> tuple[str, ...]:
        """A list of texts; `some` asks for at least one."""
        values = self.items(key)
        if some and not values and not self.wrong(key):
            self.problem(key, "must name at least one")
        return tuple(item for n, item in enumerate(values) if self._is_text(item, f"{key}.{n}"))

    def numbers_by_name(self, key: str) -> dict[str, float]:
        value = self.mapping(key)
        return {
            name: number
            for name, item in value.items()
            if self._is_text(name, f"{key}.{name}")
            and (number := self.as_number(item, f"{key}.{name}")) is not None
        }

    def mapping(self, key: str) -> Mapping[Any, Any]:
        value = self._value(key, {})
        if isinstance(value, Mapping):
            return value
        self.problem(key, f"must be a mapping, not {_shown(value)}")
        return {}

    def each(self, key: str, parse: Callable[[object, str], T]) -> tuple[T, ...]:
        """Items of a list, each read by `parse(item, path)`, whose problems join this reader's."""
        found = []
        for position, item in enumerate(self.items(key)):
            try:
                found.append(parse(item, self.path(key, position)))
            except RulesError as error:
                self.problems.extend(error.problems)
        return tuple(found)

    def one(self, key: str, parse: Callable[[object, str], T], default: T) -> T:
        """A nested mapping read by `parse(value, path)`, or `default` where it is left out."""
        value = self._value(key, REQUIRED)
        if value is REQUIRED:
            return default
        try:
            return parse(value, self.path(key))
        except RulesError as error:
            self.problems.extend(error.problems)
            return default

    def finish(self) -> None:
        for key in self._values:
            if key not in self._known:
                self.problem(str(key), "is not a field here: remove it, or correct its spelling")
        if self.problems:
            raise RulesError(self.problems)

    def as_number(self, value: object, key: str) -> float | None:
        """A finite number as a float; None, with the problem noted, for anything else."""
        if value is REQUIRED:
            self.problem(key, "is missing")
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            self.problem(key, f"must be a number, not {_shown(value)}")
        elif not _fits_float(value):
            self.problem(key, "must be a finite number")
        else:
            return float(value)
        return None

    def _value(self, key: str, default: object) -> object:
        self._known.add(key)
        return self._values.get(key, default)

    def _is_text(self, value: object, key: str, *, filled: bool = False) -> TypeGuard[str]:
        if value is REQUIRED:
            self.problem(key, "is missing")
        elif not isinstance(value, str):
            self.problem(key, f"must be text, not {_shown(value)}")
        elif filled and not value:
            self.problem(key, "must not be empty")
        elif any(character == "\0" or "\ud800" <= character <= "\udfff" for character in value):
            self.problem(key, "holds a character that can't be stored (NUL or a lone surrogate)")
        else:
            return True
        return False

    def _is_integer(self, value: object, key: str, low: int, high: int) -> TypeGuard[int]:
        if value is REQUIRED:
            self.problem(key, "is missing")
        elif isinstance(value, bool) or not isinstance(value, int):
            self.problem(key, f"must be a whole number, not {_shown(value)}")
        elif not low <= value <= high:
            bound = f"at least {low}" if value < low else f"at most {high}"
            self.problem(key, f"must be {bound}, not {_shown(value)}")
        else:
            return True
        return False


def _fits_float(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the floats
        return False


def _shown(value: object) -> str:
    """What stands there instead, short enough for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        return "a number beyond 2**53"
    if isinstance(value, (str, int, float)):
        text = repr(value)
        return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
    return f"a {'mapping' if isinstance(value, Mapping) else type(value).__name__}"
