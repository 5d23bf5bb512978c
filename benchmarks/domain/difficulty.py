"""How hard a Task was for the entries of a board, in words. Scores are in the units of the score range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

WORDS = ((0.9, "very easy"), (0.7, "easy"), (0.4, "medium"), (0.1, "hard"))
"""Least share of the score range, and what it is called; below the last it is very hard."""
SCALE = (
    "Very easy from 90 % of the score range on, easy from 70, medium from 40, hard from 10, else very hard."
)
_SAME = 1e-9
"""Means that differ by less than this share of the range differ by rounding only."""


def mean_score(scores: Sequence[float]) -> float | None:
    """None over nothing. Never overflows."""
    return math.fsum(score / len(scores) for score in scores) if scores else None


def difficulty(mean: float, low: float, high: float) -> str:
    """One of "very easy", "easy", "medium", "hard", "very hard"."""
    place = share(mean, low, high) + _SAME
    return next((word for least, word in WORDS if place >= least), "very hard")


def place_words(mean: float, all_means: Iterable[float], low: float, high: float) -> str:
    """The place of a Task among those of its release, itself included: "the 3rd hardest of 10 Tasks".

    '' where there is no other Task.
    """
    here = share(mean, low, high)
    places = [share(other, low, high) for other in all_means]
    total = len(places)
    if total < 2:
        return ""
    harder = sum(place < here - _SAME for place in places)
    easier = sum(place > here + _SAME for place in places)
    alike = total - harder - easier - 1
    if alike == total - 1:
        return f"as hard as every other of the {total} Tasks"
    shared = f", with {alike} other{'s' if alike > 1 else ''} alike" if alike else ""
    if not easier:
        return f"the easiest of {total} Tasks{shared}"
    nth = f"{ordinal(harder + 1)} " if harder else ""
    return f"the {nth}hardest of {total} Tasks{shared}"


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st."""
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def share(value: float, low: float, high: float) -> float:
    """Where a score lies on the score range, from 0 to 1."""
    scale = 0.5 if math.isinf(high - low) else 1.0
    return (value * scale - low * scale) / (high * scale - low * scale)
