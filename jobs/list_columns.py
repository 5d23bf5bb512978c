"""Heads of lists that the database sorts: each leads to its order, and then to the other way round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.board.parts import Column


@dataclass(frozen=True, slots=True)
class Head:
    """`order` are columns of the model as `paginate` takes them; empty where nothing sorts by it."""

    key: str
    label: str
    order: tuple[str, ...] = ()
    numeric: bool = False
    unit: str = ""
    title: str = ""
    falls_first: bool = False
    """Whether the first click sorts downwards."""


@dataclass(frozen=True, slots=True)
class ListSort:
    head: Head
    descending: bool

    @classmethod
    def parse(cls, text: str, heads: Sequence[Head], default: str) -> ListSort:
        """`-` in front means descending; what sorts nothing gives the default."""
        by_key: Mapping[str, Head] = {head.key: head for head in heads if head.order}
        text = text if text.removeprefix("-") in by_key else default
        return cls(by_key[text.removeprefix("-")], text.startswith("-"))

    @property
    def order(self) -> list[str]:
        return [_turned(name) if self.descending else name for name in self.head.order]

    @property
    def text(self) -> str:
        return f"{'-' if self.descending else ''}{self.head.key}"

    def columns(self, heads: Sequence[Head], href: Callable[[str], str]) -> tuple[Column, ...]:
        """`href` makes the address of a sort."""
        return tuple(self._column(head, href) for head in heads)

    def _column(self, head: Head, href: Callable[[str], str]) -> Column:
        current = head.key == self.head.key
        falls = not self.descending if current else head.falls_first
        return Column(
            key=head.key,
            label=head.label,
            unit=head.unit,
            title=head.title,
            numeric=head.numeric,
            href=href(f"{'-' if falls else ''}{head.key}") if head.order else "",
            sort=("descending" if self.descending else "ascending") if current else "",
        )


def _turned(name: str) -> str:
    return name.removeprefix("-") if name.startswith("-") else f"-{name}"
