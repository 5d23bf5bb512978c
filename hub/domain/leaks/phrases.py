"""Sets of word sequences, looked up at a position of a longer one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

Token = TypeVar("Token", str, int)


class Phrases(Generic[Token]):
    __slots__ = ("_by_first",)

    def __init__(self) -> None:
        self._by_first: dict[Token, dict[int, dict[tuple[Token, ...], int]]] = defaultdict(dict)

    def __contains__(self, first: Token) -> bool:
        """Whether any phrase begins with `first`."""
        return first in self._by_first

    def add(self, phrase: tuple[Token, ...], sources: int = 0) -> None:
        """`sources` is a set of bits, united for a phrase that is added again."""
        if phrase:
            of_length = self._by_first[phrase[0]].setdefault(len(phrase), {})
            of_length[phrase] = of_length.get(phrase, 0) | sources

    def at(self, words: Sequence[Token], index: int) -> Iterator[tuple[int, int]]:
        """Lengths of the phrases that begin at `index` of `words`, with their sources."""
        for length, phrases in self._by_first.get(words[index], {}).items():
            if index + length <= len(words):
                sources = phrases.get(tuple(words[index : index + length]))
                if sources is not None:
                    yield length, sources
