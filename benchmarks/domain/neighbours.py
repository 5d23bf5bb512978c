"""Which entries that follow each other in rank can't be told apart, and which ranks each may have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from benchmarks.domain.comparison import FEWEST_DIFFERING, TaskScores, rounding_of, weighted_terms
from benchmarks.domain.scoring import shares_of
from benchmarks.domain.significance import ALPHA, holm, sign_flip_bound
from benchmarks.domain.types import Scoring

_MOST_COUNTED = 5_000
"""Differences at single Tasks, over all pairs, up to which every p is exact."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """An entry and the next: two-sided sign-flip test of "no difference" in the weighted score.

    `p` is exact, or an upper bound of that where counting would take long. `adjusted_p` is by Holm's
    method over all pairs of neighbours.
    """

    p: float
    adjusted_p: float
    differing: int

    @property
    def too_few(self) -> bool:
        return self.differing < FEWEST_DIFFERING

    @property
    def apart(self) -> bool:
        return self.adjusted_p <= ALPHA


def neighbours(entries: Sequence[TaskScores], scoring: Scoring) -> tuple[Neighbours, ...]:
    """Tests of each entry, given in the order of ranks, against the next: one fewer than entries.

    Neighbours alone, so that a board of many entries takes as many tests as it has rows and the
    adjustment stays as mild as the question: is this step in the ranking real?
    """
    pairs = _terms(pairwise(entries), entries, scoring)
    ps = _ps(pairs)
    return tuple(
        Neighbours(p, adjusted, len(terms)) for p, adjusted, terms in zip(ps, holm(ps), pairs, strict=True)
    )


def rank_ranges(entries: Sequence[TaskScores], scoring: Scoring) -> list[tuple[int, int]]:
    """(best, worst) rank that each entry may have, given in the order of ranks, from tests of all pairs.

    Holm's method over all n(n-1)/2 pairs, level 5 %: the chance that any range leaves out the true rank
    of its entry is at most that. Upper bounds of p make ranges never too narrow, perhaps a little wide.
    """
    places = list(combinations(range(len(entries)), 2))
    pairs = _terms(((entries[i], entries[j]) for i, j in places), entries, scoring)
    told = [
        (i, j) if math.fsum(terms) > 0 else (j, i)
        for (i, j), terms, p in zip(places, pairs, holm(_ps(pairs)), strict=True)
        if p <= ALPHA
    ]
    return ranges_of(len(entries), told)


def ranges_of(count: int, better: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """(best, worst) rank of each of `count` entries from the pairs (better, worse) that are told apart."""
    best, worst = [1] * count, [count] * count
    for winner, loser in better:
        best[loser] += 1
        worst[winner] -= 1
    return list(zip(best, worst, strict=True))


def _terms(
    pairs: Iterable[tuple[TaskScores, TaskScores]], entries: Sequence[TaskScores], scoring: Scoring
) -> list[list[float]]:
    """Of each pair, what its Tasks add to the difference of scores."""
    rounding = rounding_of(scoring, entries)
    names = list(dict.fromkeys(name for entry in entries for name in entry))
    shares = shares_of([scoring.task_weights.get(name, 1.0) for name in names]) if names else []
    weights: Mapping[str, float] = dict(zip(names, shares, strict=True))
    return [weighted_terms(a, b, weights, rounding) for a, b in pairs]


def _ps(pairs: Sequence[Sequence[float]]) -> list[float]:
    """Exact, but for bounds where counting would take long."""
    count = sum(map(len, pairs)) <= _MOST_COUNTED
    return [sign_flip_bound(terms, count=count) if math.fsum(terms) else 1.0 for terms in pairs]
