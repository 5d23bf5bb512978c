"""Which entries that follow each other in rank can't be told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.domain.comparison import FEWEST_DIFFERING, TaskScores, _rounding, _terms
from benchmarks.domain.significance import ALPHA, holm, sign_flip_bound
from benchmarks.domain.types import Scoring

_MOST_COUNTED = 5_000
"""Task scores (pairs times Tasks) up to which every p is exact."""


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
    rounding = _rounding(scoring, entries)
    weights = {name: float(scoring.task_weights.get(name, 1.0)) for entry in entries for name in entry}
    pairs = [_terms(a, b, weights, rounding) for a, b in pairwise(entries)]
    count = len(pairs) * len(weights) <= _MOST_COUNTED
    ps = [sign_flip_bound(terms, count=count) if math.fsum(terms) else 1.0 for terms in pairs]
    return tuple(
        Neighbours(p, adjusted, len(terms)) for p, adjusted, terms in zip(ps, holm(ps), pairs, strict=True)
    )
