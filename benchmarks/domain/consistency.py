"""How far repeated attempts at one Task agree. Unbiased estimates per Task, averaged over Tasks.

With K valid attempts of which c succeed: pass@k = 1 - C(K-c, k)/C(K, k) (Chen et al., arXiv
2107.03374), pass^k = C(c, k)/C(K, k) (tau-bench, arXiv 2406.12045), agreement of two attempts =
[C(c, 2) + C(K-c, 2)]/C(K, 2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.domain.types import Consistency


def pass_at(attempts: int, successes: int, k: int) -> float:
    """Chance that at least one of `k` of the attempts succeeds. Needs 1 <= k <= attempts."""
    return 1 - _all_chosen(attempts, attempts - successes, k)


def pass_hat(attempts: int, successes: int, k: int) -> float:
    """Chance that all `k` of the attempts succeed. Needs 1 <= k <= attempts."""
    return _all_chosen(attempts, successes, k)


def agreement(attempts: int, successes: int) -> float:
    """Chance that two different attempts end alike. Needs at least two attempts."""
    failures = attempts - successes
    alike = math.comb(successes, 2) + math.comb(failures, 2)
    return alike / math.comb(attempts, 2)


def spread(values: Sequence[float]) -> float | None:
    """Sample standard deviation (n - 1), in the units of the values; None below two of them."""
    n = len(values)
    if n <= 1:
        return None
    low, high = min(values), max(values)
    if low == high:
        return 0.0
    span = high - low
    if math.isinf(span):
        return 2 * (spread([value / 2 for value in values]) or 0.0)
    steps = [(value - low) / span for value in values]
    mean = math.fsum(steps) / n
    return span * math.sqrt(math.fsum((step - mean) ** 2 for step in steps) / (n - 1))


def summarize(
    counts: Sequence[tuple[int, int]], spreads: Sequence[float], most: int | None = None
) -> Consistency:
    """Averages over Tasks, with k the smallest number of valid attempts of a Task, at most `most`.

    `counts` holds (valid attempts, successes) of every covered Task, empty without a threshold.
    `spreads` holds the spread of every Task with two or more valid attempts. Agreement is over the
    Tasks with two or more, since one attempt has nothing to agree with.
    """
    k = min((valid for valid, _ in counts), default=0)
    k = k if most is None else min(k, most)
    return Consistency(
        spread=_mean(spreads),
        agreement=_mean([agreement(*count) for count in counts if count[0] > 1]),
        k=k,
        pass_hat=_mean([pass_hat(*count, k) for count in counts]),
        pass_at=_mean([pass_at(*count, k) for count in counts]),
    )


def _all_chosen(total: int, marked: int, k: int) -> float:
    """C(marked, k) / C(total, k), as a product so that its cost is k steps whatever the numbers."""
    if marked < k:
        return 0.0
    return math.prod((marked - i) / (total - i) for i in range(k))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(value / len(values) for value in values) if values else None
