"""Checking that everything stored is whole and agrees with itself. Only derived rows are ever mended.

Each check is a generator of findings. Other apps add their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong and where, or, as a note, what is odd and does no harm."""

    where: str
    message: str
    is_note: bool = False
    is_mended: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """`is_quick`: without reading contents of files and texts. `mends`: derived rows are made anew."""

    is_quick: bool
    mends: bool
    say: Say


@dataclass(slots=True)
class Looked:
    """Counts what a check has looked at, for its last line."""

    words: str
    number: int = 0

    def __str__(self) -> str:
        return f"{self.number:,} {self.words}"


Check = Callable[[Scope, Looked], Iterator[Finding]]
_checks: dict[str, tuple[str, Check]] = {}


def add_check(name: str, words: str, check: Check) -> None:
    """`words` are what the check counts, e.g. "stored files". Checks run in the order in which they came."""
    _checks[name] = (words, check)


def checks() -> Iterator[tuple[str, Looked, Check]]:
    for name, (words, check) in _checks.items():
        yield name, Looked(words), check
