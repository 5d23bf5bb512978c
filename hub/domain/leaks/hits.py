"""One found value in one text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """`value` stands at [start, end) of the text that was read. `label` is '' where the kind's own fits."""

    kind: str
    start: int
    end: int
    value: str
    label: str = ""


def positions(text: str, mark: str) -> Iterable[int]:
    """Where `mark` begins in `text`, in order."""
    at = text.find(mark)
    while at >= 0:
        yield at
        at = text.find(mark, at + 1)
