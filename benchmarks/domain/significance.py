"""Is a difference more than chance? Tests and quantiles that need no table and no outside library.

Every test here is two-sided and symmetric: turning all signs round, or reordering the input, never
changes a digit.
"""

from __future__ import annotations

import math
import random
import sys
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from itertools import accumulate, groupby, repeat
from operator import add
from statistics import NormalDist

ALPHA = 0.05
POWER = 0.8
EXACT_PATTERNS = 2**20
"""So many sign patterns are counted one by one; terms on a common grid are counted whatever their number."""
DRAWS = 10_000

_SMALLEST_P = sys.float_info.min
_STEPS = 2**40
"""Terms off any grid are rounded to this part of the largest one, so that sums are exact."""
_SLACK = _STEPS // 10**9
"""Sums this close are the same sum, told apart by the rounding of their terms only."""
_GRID = 1000
_MINUS_SIGNS = bytes(byte.bit_count() for byte in range(256))
"""Of the eight signs that a byte stands for, how many are negative; by symmetry also how many positive."""
_GRID_WORK = 2**31
"""Bits touched in counting on a grid: below a tenth of a second, as random draws take."""
_RADEMACHER = 1 / (2 * math.erfc(1.0))


@dataclass(frozen=True, slots=True)
class SignFlip:
    """`p` in (0, 1]; `exact` where every sign pattern was counted, else from `DRAWS` random ones."""

    p: float
    exact: bool


def student_t_within(t: float, degrees: int) -> float:
    """P(|T| <= t) for t >= 0, by the finite series of Abramowitz & Stegun 26.7.3 and 26.7.4."""
    odd = degrees % 2
    angle = math.atan2(t, math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    term = cosine if odd else 1.0
    terms = [term] if degrees > 1 else []
    for k in range(2 + odd, degrees - 1, 2):
        term *= (k - 1) / k * cosine * cosine
        terms.append(term)
    series = sine * math.fsum(terms)
    return 2 / math.pi * (angle + series) if odd else series


@cache
def student_t_quantile(probability: float, degrees: int) -> float:
    """t with P(T <= t) = `probability`, for 0.5 <= probability < 1 and a whole number of degrees >= 1."""
    within = 2 * probability - 1
    root = math.sqrt(degrees)
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        if student_t_within(root * math.tan(middle), degrees) < within:
            low = middle
        else:
            high = middle
    return root * math.tan(low)


def mcnemar(for_a: int, for_b: int) -> float:
    """Exact p of McNemar's test from the two numbers of discordant pairs: twice the binomial tail."""
    n = for_a + for_b
    tail = sum(accumulate(range(min(for_a, for_b)), lambda c, k: c * (n - k) // (k + 1), initial=1))
    return _probability(2 * tail, n)


def sign_flip(terms: Sequence[float]) -> SignFlip:
    """Sign-flip permutation test of a sum of differences: how often random signs reach its size.

    Zeros don't matter. Exact up to `EXACT_PATTERNS` and, where the terms are multiples of one unit,
    beyond; else p = (1 + hits) / (1 + draws) over random patterns whose seed is a digest of the terms.
    """
    flip = _Flip.of(terms)
    exact = flip.counted()
    return SignFlip(flip.drawn(), False) if exact is None else SignFlip(exact, True)


def sign_flip_bound(terms: Sequence[float], *, count: bool = True) -> float:
    """As `sign_flip` where that is exact, else an upper bound of the exact p that takes no draws.

    For many tests at once: random draws cannot show a p below 1 / (1 + draws), this can. With `count`
    False only terms of one size are counted, which takes no time. P(|S| >= z) <= P(|Z| >= z) / (4 P(Z >=
    sqrt 2)) for a sum S of flipped terms with variance 1 and a normal Z (Bentkus and Dzindzalieta,
    Bernoulli 21(2), 2015).
    """
    flip = _Flip.of(terms)
    exact = flip.counted() if count or flip.one_size else None
    return flip.bound() if exact is None else exact


def holm(ps: Sequence[float]) -> list[float]:
    """p values adjusted so that the chance of any false finding among them stays below alpha."""
    adjusted = [0.0] * len(ps)
    largest = 0.0
    for done, i in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - done) * ps[i]))
        adjusted[i] = largest
    return adjusted


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """p values adjusted so that the expected share of false findings stays below alpha: for exploring."""
    adjusted = [0.0] * len(ps)
    smallest = 1.0
    order = sorted(range(len(ps)), key=ps.__getitem__)
    for rank in range(len(ps), 0, -1):
        smallest = min(smallest, ps[order[rank - 1]] * len(ps) / rank)
        adjusted[order[rank - 1]] = smallest
    return adjusted


def detectable_difference(tasks: int, between: float, noise: float) -> float:
    """Smallest true difference found with 80 % power at the 5 % level (Miller, arXiv 2411.00640).

    `between` is the variance over Tasks of the true difference (omega squared), `noise` what the attempts
    add: sigma_A^2 / K_A + sigma_B^2 / K_B. Normal approximation.
    """
    return _normal_sum() * math.sqrt((between + noise) / tasks)


def tasks_needed(difference: float, between: float, noise: float) -> float:
    """Number of Tasks that makes a true `difference` detectable, by the same formula."""
    return _normal_sum() ** 2 * (between + noise) / difference / difference


def _normal_sum() -> float:
    normal = NormalDist()
    return normal.inv_cdf(1 - ALPHA / 2) + normal.inv_cdf(POWER)


@dataclass(frozen=True, slots=True)
class _Flip:
    """Sizes of the terms that aren't zero, sorted, as whole numbers, and the size of sum to be reached."""

    units: list[int]
    reached: int
    on_grid: bool

    @classmethod
    def of(cls, terms: Sequence[float]) -> _Flip:
        largest = max(map(abs, terms), default=0.0)
        ratios = [term / largest for term in terms if term]
        grid = _common_grid(ratios)
        signed = [round(ratio * (grid or _STEPS)) for ratio in ratios]
        slack = 0 if grid else _SLACK + len(signed)
        return cls(sorted(map(abs, signed)), max(abs(sum(signed)) - slack, 0), grid is not None)

    @property
    def one_size(self) -> bool:
        return self.on_grid and len(set(self.units)) <= 1

    def counted(self) -> float | None:
        """p over all sign patterns, None where they are too many."""
        n = len(self.units)
        if not self.reached:
            return 1.0
        if self.one_size:
            favour = (n + self.reached // self.units[0]) // 2
            return mcnemar(favour, n - favour)
        if self.on_grid and n * n * sum(self.units) <= _GRID_WORK:
            return _probability(2 * _count_on_grid(self.units, self.reached), n)
        if 2**n <= EXACT_PATTERNS:
            return _probability(2 * _count_by_halves(self.units, self.reached), n)
        return None

    def drawn(self) -> float:
        """p over random patterns, eight signs at a time."""
        seed = sha256(",".join(map(str, self.units)).encode()).digest()
        draw = random.Random(seed).randbytes  # noqa: S311  a repeatable draw, nothing secret
        sums = [0.0] * DRAWS
        units = self.units + [0] * (-len(self.units) % 8)
        eights = [tuple(units[start : start + 8]) for start in range(0, len(units), 8)]
        for unit, alike in groupby(eights, key=lambda eight: eight[0] if len(set(eight)) == 1 else None):
            if unit is None or not self.on_grid:
                sums = _add_sums(sums, [(_signed_sums(eight), draw(DRAWS)) for eight in alike])
            else:
                sums = _add_counts(sums, unit, [draw(DRAWS) for _ in alike])
        hits = sum(abs(total) >= self.reached for total in sums)
        return (1 + hits) / (1 + DRAWS)

    def bound(self) -> float:
        z = self.reached / math.sqrt(sum(unit * unit for unit in self.units))
        return max(min(_RADEMACHER * math.erfc(z / math.sqrt(2)), 1.0), _SMALLEST_P)


def _common_grid(ratios: Sequence[float]) -> int | None:
    """Smallest number that makes whole numbers of all ratios, None where there is no small one."""
    grid = 1
    for ratio in {abs(ratio) for ratio in ratios}:
        denominator = _denominator(ratio)
        grid = math.lcm(grid, denominator)
        if not denominator or grid > _GRID:
            return None
    return grid


@lru_cache(maxsize=4096)
def _denominator(ratio: float) -> int:
    """Of the simple fraction that the ratio is but for rounding, 0 where there is none."""
    # A fraction that is nearer than 1 / (2 _GRID^2) is among those that the continued fraction gives.
    top, bottom, last_top, last_bottom = 0, 1, 1, 0
    rest = ratio
    while rest > 1 / _GRID**2:
        whole = int(1 / rest)
        rest = 1 / rest - whole
        top, last_top = whole * top + last_top, top
        bottom, last_bottom = whole * bottom + last_bottom, bottom
        if bottom > _GRID:
            return 0
        if abs(top / bottom - ratio) * 10**9 < 1:
            return bottom
    return 0


def _count_on_grid(units: list[int], reached: int) -> int:
    """Number of sign patterns whose sum is at least `reached`.

    The counts of all sums are the coefficients of the product of (1 + x^unit), held in one integer with
    a fixed number of bits each; modulo 2^bits - 1 such an integer is the sum of its coefficients.
    """
    bits = len(units) + 1
    product = 1
    for unit in units:
        product += product << (bits * unit)
    positive = (sum(units) + reached) // 2
    return (product >> (bits * positive)) % ((1 << bits) - 1)


def _count_by_halves(units: list[int], reached: int) -> int:
    """As `_count_on_grid` for terms of any size: each sum of one half against the sorted other half."""
    right = sorted(_signed_sums(units[::2]))
    left = _signed_sums(units[1::2])
    below = sum(map(bisect_left, repeat(right), [reached - part for part in left]))
    return len(left) * len(right) - below


def _signed_sums(units: Sequence[float]) -> list[float]:
    sums = [0.0]
    for unit in units:
        sums = [part + unit for part in sums] + [part - unit for part in sums]
    return sums


def _add_sums(sums: list[float], drawn: Sequence[tuple[list[float], bytes]]) -> list[float]:
    """The sums with, for each table and its draws, the entry that each draw says."""
    for start in range(0, len(drawn) - 3, 4):
        (a, one), (b, two), (c, three), (d, four) = drawn[start : start + 4]
        every = zip(sums, one, two, three, four, strict=True)
        sums = [total + a[i] + b[j] + c[k] + d[m] for total, i, j, k, m in every]
    for table, draws in drawn[len(drawn) // 4 * 4 :]:
        sums = list(map(add, sums, map(table.__getitem__, draws)))
    return sums


def _add_counts(sums: list[float], unit: int, drawn: Sequence[bytes]) -> list[float]:
    """The sums with eight terms of one size for each draw: how many are positive says it all.

    The counts of all draws stand side by side in one integer, a byte each, which holds 31 eights.
    """
    for start in range(0, len(drawn), 31):
        several = drawn[start : start + 31]
        counts = sum(int.from_bytes(draws.translate(_MINUS_SIGNS), "big") for draws in several)
        most = 8 * len(several)
        table = [float(unit * (most - 2 * minus)) for minus in range(most + 1)]
        sums = list(map(add, sums, map(table.__getitem__, counts.to_bytes(len(sums), "big"))))
    return sums


def _probability(patterns: int, terms: int) -> float:
    """Share of 2^terms patterns, at most 1 and never 0 however small."""
    return max(min(patterns / (1 << terms), 1.0), _SMALLEST_P)
