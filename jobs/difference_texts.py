"""A difference of two scores as finished text: what is said of it, its figures, and how it is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.board.parts import IntervalBar
from benchmarks.board.words import p_text
from benchmarks.domain.comparison import Comparison, Difference
from benchmarks.domain.significance import ALPHA
from benchmarks.domain.types import Scoring
from benchmarks.pages import Figure
from plural_site import formats

NOTHING_COMMON = "No Task is common"


def scale_of(compared: Sequence[Comparison], span: float) -> float:
    """Half the width of one scale for all these differences: 1, 2 or 5 times a power of ten, at most `span`.

    0 where there is nothing to draw.
    """
    found = [abs(value) for one in compared if one.weighted for value in _extent(one.weighted)]
    largest = min(max(found, default=0.0), span)
    if not found or not math.isfinite(span):
        return 0.0
    if largest == 0:
        return span
    unit = 10.0 ** math.floor(math.log10(largest))
    return min(next((step * unit for step in (1, 2, 5) if step * unit >= largest), 10 * unit), span)


def _extent(difference: Difference) -> Iterator[float]:
    yield difference.value
    if difference.low is not None and difference.high is not None:
        yield from (difference.low, difference.high)


@dataclass(frozen=True, kw_only=True)
class DifferenceTexts:
    """Of `comparison`, whose two sides are called `names`, in the units of `scoring`."""

    scoring: Scoring
    names: tuple[str, str]
    comparison: Comparison
    adjusted: float | None
    """p adjusted for several comparisons; None for one."""
    scale: float

    def text(self, value: float | None) -> str:
        return formats.score_text(value, *self.scoring.score_range)

    def signed(self, value: float) -> str:
        text = self.text(abs(value))
        if not value or not text.strip("0."):
            return text
        return f"{'+' if value > 0 else formats.MINUS}{text}"

    def amount(self, value: float) -> str:
        """With "points" where scores are per cent."""
        return f"{self.text(abs(value))}{self.points}"

    @property
    def points(self) -> str:
        return " points" if formats.score_unit(*self.scoring.score_range) else ""

    def figure(self) -> Figure:
        difference = self.comparison.weighted
        if difference is None:
            return Figure(formats.DASH, NOTHING_COMMON)
        return Figure(self.signed(difference.value), str(difference.value))

    def p(self) -> Figure:
        difference = self.comparison.weighted
        p = self.adjusted if self.adjusted is not None else difference.test.p if difference else None
        return Figure(formats.DASH, NOTHING_COMMON) if p is None else Figure(p_text(p), str(p))

    def interval(self, difference: Difference) -> str:
        if difference.low is None or difference.high is None:
            return ""
        return f"{self.signed(difference.low)} to {self.signed(difference.high)}"

    def is_apart(self, difference: Difference) -> bool:
        p = difference.test.p if self.adjusted is None else self.adjusted
        return p <= ALPHA and not difference.test.too_few

    def verdict(self) -> str:
        difference, (a, b) = self.comparison.weighted, self.names
        if difference is None:
            return f"{a} and {b} have no Task in common, so nothing can be compared."
        if not self.is_apart(difference):
            return f"{a} and {b} can't be told apart on these Tasks."
        better, worse, sign = (a, b, 1) if difference.value > 0 else (b, a, -1)
        ends = [sign * end for end in (difference.low, difference.high) if end is not None]
        within = f"95 % interval {' to '.join(map(self.signed, sorted(ends)))}" if ends else "no interval"
        return f"{better} is better than {worse} by {self.amount(difference.value)} ({within})."

    def finding(self) -> str:
        difference = self.comparison.weighted
        if difference is None:
            return ""
        if self.is_apart(difference) or difference.test.too_few:
            return difference.test.finding(self.adjusted)
        p = difference.test.p if self.adjusted is None else self.adjusted
        return (
            f"Chance alone gives a difference this large often enough (p = {p_text(p)}). "
            "That doesn't say that they are equal."
        )

    def bar(self) -> IntervalBar:
        difference = self.comparison.weighted
        if difference is None:
            return IntervalBar(None, None, None, "no difference known", "none", f"{NOTHING_COMMON}.")
        scale, value = self.scale, difference.value
        if not scale:
            return IntervalBar(None, None, None, self.signed(value), "not drawn", "The scale has no end.")
        drawn = formats.interval_bar(value, difference.low, difference.high, -scale, scale)
        interval = self.interval(difference)
        label = f"{self.signed(value)}, {f'interval {interval}' if interval else 'no interval'}"
        reason = difference.unavailable_reason or ""
        return IntervalBar(drawn.point_x, drawn.low_x, drawn.width, label, interval or "no interval", reason)
