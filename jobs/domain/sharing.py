"""How a page's room is shared among parts of very different size. Pure."""

from __future__ import annotations

from collections.abc import Iterable


def fair_limit(sizes: Iterable[int], room: int) -> int:
    """The largest limit such that the sizes, each cut at it, take no more than `room`.

    What is smaller than an equal share leaves the rest of it to the others. Where everything fits, it is
    the largest size.
    """
    ordered = sorted(sizes)
    left = room
    for at, size in enumerate(ordered):
        share = left // (len(ordered) - at)
        if size > share:
            return max(share, 0)
        left -= size
    return ordered[-1] if ordered else room
