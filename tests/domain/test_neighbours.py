"""Neighbours in rank: the same p as a comparison of the two, adjusted over the neighbours alone."""

from __future__ import annotations

import math
import random
import time
from itertools import pairwise

from benchmarks.domain.comparison import TaskScore, compare
from benchmarks.domain.neighbours import neighbours
from benchmarks.domain.significance import holm
from benchmarks.domain.types import Scoring

Scores = dict[str, TaskScore]


def entry(*scores: float) -> Scores:
    return {f"task-{at}": TaskScore(score) for at, score in enumerate(scores)}


def test_adjusts_the_p_of_each_comparison_over_the_neighbours() -> None:
    """12:0 gives 2/2^12 and 6:0 gives 2/2^6; Holm doubles the smaller only."""
    best, middle, last = entry(*[1] * 18), entry(*[0] * 12, *[1] * 6), entry(*[0] * 18)
    first, second = neighbours([best, middle, last], Scoring())
    assert (first.p, first.adjusted_p, first.differing) == (2 / 2**12, 4 / 2**12, 12)
    assert (second.p, second.adjusted_p, second.apart) == (2 / 2**6, 2 / 2**6, True)


def test_agrees_with_the_comparison_of_each_pair() -> None:
    draw = random.Random(5)  # noqa: S311 - any numbers will do
    scoring = Scoring(task_weights={"task-3": 2.0, "task-7": 0.5})
    entries = [entry(*(draw.choice([0.0, 0.25, 0.5, 1.0]) for _ in range(14))) for _ in range(6)]
    compared = [compare(a, b, scoring).weighted for a, b in pairwise(entries)]
    tests = [difference.test.p for difference in compared if difference]
    found = neighbours(entries, scoring)
    assert [one.p for one in found] == tests
    assert [one.adjusted_p for one in found] == holm(tests)


def test_few_or_no_differences_are_never_told_apart() -> None:
    assert neighbours([], Scoring()) == neighbours([entry(1)], Scoring()) == ()
    (same,) = neighbours([entry(1, 1), entry(1, 1)], Scoring())
    assert (same.p, same.differing, same.too_few, same.apart) == (1.0, 0, True, False)
    (five,) = neighbours([entry(*[1] * 5), entry(*[0] * 5)], Scoring())
    assert (five.p, five.too_few, five.apart) == (2 / 2**5, True, False)
    (apart,) = neighbours([entry(1, 1), {"other": TaskScore(0.0)}], Scoring())
    assert (apart.p, apart.differing) == (1.0, 0)


def test_large_boards_take_bounds_that_are_never_too_small() -> None:
    draw = random.Random(6)  # noqa: S311 - any numbers will do
    entries = [entry(*(draw.random() < 0.5 + 0.004 * at for _ in range(300))) for at in range(200)]
    started = time.perf_counter()
    found = neighbours(entries, Scoring())
    assert time.perf_counter() - started < 3
    for (a, b), one in zip(list(pairwise(entries))[:20], found, strict=False):
        exact = compare(a, b, Scoring()).weighted
        assert exact is not None and one.p >= exact.test.p * (1 - 1e-9)
    assert all(math.isfinite(one.adjusted_p) and 0 < one.adjusted_p <= 1 for one in found)
