"""How much of a page outside text may fill: a budget in bytes of HTML and in nodes."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cut:
    """Cleaned text, of which `left_out` characters at the end are not shown."""

    text: str
    left_out: int = 0


class Room:
    """What is left to a part of a page. `clean` makes outside text harmless; escaping is counted too."""

    def __init__(self, size: int, nodes: int, clean: Callable[[str], str]) -> None:
        self.size, self.nodes, self._clean = size, nodes, clean

    def text(self, raw: str, most: int = 2000) -> Cut:
        """The beginning of `raw`: at most so many characters, and no more than there is room for."""
        shown = raw[:most]
        cleaned = self._clean(shown)
        while shown and (cost := _cost(cleaned)) > self.size:
            shown = shown[: min(int(len(shown) * self.size / cost), len(shown) - 1)]
            cleaned = self._clean(shown)
        self.size -= _cost(cleaned)
        return Cut(cleaned, len(raw) - len(shown))

    def spend(self, size: int) -> bool:
        """Takes bytes for markup; False, and nothing taken, where there are too few."""
        if size > self.size:
            return False
        self.size -= size
        return True

    def node(self) -> bool:
        if self.nodes <= 0 or self.size <= 0:
            return False
        self.nodes -= 1
        return True


def _cost(text: str) -> int:
    return len(html.escape(text).encode("utf-8", "surrogatepass"))
