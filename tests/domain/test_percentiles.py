"""Median and p90 by ranks, against definitions that look at all values."""

from __future__ import annotations

import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.percentiles import Quantiles, nearest_rank, quantiles, wanted_ranks

AMOUNTS = st.lists(st.floats(0, 1e308), min_size=1, max_size=60)


def of(values: list[float]) -> Quantiles:
    ordered = sorted(values)
    found = quantiles(len(values), {rank: ordered[rank - 1] for rank in wanted_ranks(len(values))})
    assert found is not None
    return found


@given(AMOUNTS)
def test_p90_is_the_smallest_value_with_nine_tenths_at_or_below(values: list[float]) -> None:
    enough = [x for x in values if Fraction(sum(y <= x for y in values), len(values)) >= Fraction(9, 10)]
    assert of(values).p90 == min(enough)


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=60))
def test_median_is_the_middle(values: list[float]) -> None:
    assert of(values).median == pytest.approx(statistics.median(values))


def test_few_values_and_extreme_ones() -> None:
    assert (wanted_ranks(0), quantiles(0, {})) == ((), None)
    assert of([7.0]) == Quantiles(7.0, 7.0)
    assert of([1.0, 2.0]) == Quantiles(1.5, 2.0)
    assert of([float(n) for n in range(1, 11)]) == Quantiles(5.5, 9.0)
    assert of([float(n) for n in range(1, 12)]) == Quantiles(6.0, 10.0)
    assert of([1e308, 1.5e308]).median == 1.25e308


@pytest.mark.parametrize(
    ("count", "percent", "rank"), [(1, 90, 1), (10, 90, 9), (100_000, 90, 90_000), (7, 100, 7)]
)
def test_nearest_rank(count: int, percent: int, rank: int) -> None:
    assert nearest_rank(count, percent) == rank
