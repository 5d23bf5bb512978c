"""Median and percentiles of many values by their ranks, so that a database can sort and find them.

The median is the middle value, the mean of the two middle ones where their number is even. Percentiles are
by nearest rank: the smallest value such that at least that share of the values is at or below it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PERCENT = 90
DEFINITION = (
    "Median: the middle value, between the two middle ones where their number is even. "
    "p90 by nearest rank: the smallest value such that at least 90 % of the measured attempts "
    "are at or below it."
)


@dataclass(frozen=True, slots=True)
class Quantiles:
    median: float
    p90: float


def nearest_rank(count: int, percent: int) -> int:
    """The rank from 1, of `count` (at least 1) values sorted upwards; `percent` from 1 to 100."""
    return -(-percent * count // 100)


def wanted_ranks(count: int) -> tuple[int, ...]:
    """The ranks whose values `quantiles` needs, each once, upwards; () for no values."""
    if count < 1:
        return ()
    return tuple(sorted({*_middle(count), nearest_rank(count, PERCENT)}))


def quantiles(count: int, values: Mapping[int, float]) -> Quantiles | None:
    """From the values at the wanted ranks. None where there are none."""
    if count < 1:
        return None
    low, high = (values[rank] for rank in _middle(count))
    median = low if low == high else low / 2 + high / 2  # their sum may be too large
    return Quantiles(median, values[nearest_rank(count, PERCENT)])


def _middle(count: int) -> tuple[int, int]:
    return (count + 1) // 2, count // 2 + 1
