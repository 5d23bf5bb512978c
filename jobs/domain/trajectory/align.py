"""Two trajectories beside each other: which step stands beside which. Pure.

Work is bounded: see `WINDOW` and `MOST_CELLS`.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jobs.domain.trajectory.types import Step

WINDOW = 2_000
"""Steps of each side that are aligned together; those after them start anew at the same position."""
MOST_CELLS = 160_000
"""Pairs of steps that are compared each with each; longer stretches without a landmark go by position."""

Kind = Literal["equal", "differs", "only a", "only b"]


@dataclass(frozen=True, slots=True)
class Signature:
    """`exact` is equal where two steps say and do the same, `rough` where they do the same kind of thing."""

    exact: str
    rough: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Positions from 0 in each side, None where it has no counterpart."""

    a: int | None
    b: int | None
    kind: Kind


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring pairs of one kind."""

    kind: Kind
    pairs: tuple[Pair, ...]


def signature(step: Step) -> Signature:
    """Of source, names of calls and all that is said. Ids, times, costs and rewards tell nothing apart."""
    calls = [block.label for block in step.blocks if block.kind == "call"]
    rough = "\0".join((step.source, *calls))
    hasher = hashlib.sha256(rough.encode("utf-8", "surrogatepass"))
    for block in step.blocks:
        if block.kind != "reward":
            said = f"\1{block.kind}\0{block.length}\0{block.text}"
            hasher.update(said.encode("utf-8", "surrogatepass"))
    return Signature(hasher.hexdigest(), rough)


def align(a: Sequence[Signature], b: Sequence[Signature]) -> list[Pair]:
    """Every step of both, in order. Equal ones are matched first, then, between those, ones of a kind."""
    pairs: list[Pair] = []
    at_a = at_b = 0
    exact_a, exact_b = [one.exact for one in a], [one.exact for one in b]
    for i, j in [*matches(exact_a, exact_b), (len(a), len(b))]:
        pairs += _between(a, b, (at_a, i), (at_b, j))
        if i < len(a):
            pairs.append(Pair(i, j, "equal"))
        at_a, at_b = i + 1, j + 1
    return pairs


def _between(
    a: Sequence[Signature], b: Sequence[Signature], span_a: tuple[int, int], span_b: tuple[int, int]
) -> list[Pair]:
    """Steps between two equal pairs."""
    rough_a = [one.rough for one in a[slice(*span_a)]]
    rough_b = [one.rough for one in b[slice(*span_b)]]
    found: list[Pair] = []
    at_a = at_b = 0
    for i, j in [*matches(rough_a, rough_b), (len(rough_a), len(rough_b))]:
        found += [Pair(span_a[0] + n, None, "only a") for n in range(at_a, i)]
        found += [Pair(None, span_b[0] + n, "only b") for n in range(at_b, j)]
        if i < len(rough_a):
            left, right = span_a[0] + i, span_b[0] + j
            found.append(Pair(left, right, "equal" if a[left].exact == b[right].exact else "differs"))
        at_a, at_b = i + 1, j + 1
    return found


def runs(pairs: Sequence[Pair]) -> list[Run]:
    """Equal pairs that follow one another are one run; every other pair is one of its own."""
    found: list[Run] = []
    batch: list[Pair] = []
    for pair in pairs:
        if pair.kind == "equal":
            batch.append(pair)
            continue
        if batch:
            found.append(Run("equal", tuple(batch)))
            batch = []
        found.append(Run(pair.kind, (pair,)))
    if batch:
        found.append(Run("equal", tuple(batch)))
    return found


def matches(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of equal items, rising on both sides: what begins and ends alike, then items that occur
    once on each side, then a longest common subsequence of what lies between."""
    return _matches(a, b, (0, len(a)), (0, len(b)))


def _matches(
    a: Sequence[str],
    b: Sequence[str],
    span_a: tuple[int, int],
    span_b: tuple[int, int],
    *,
    by_anchors: bool = True,
) -> list[tuple[int, int]]:
    (low_a, high_a), (low_b, high_b) = span_a, span_b
    head: list[tuple[int, int]] = []
    while low_a < high_a and low_b < high_b and a[low_a] == b[low_b]:
        head.append((low_a, low_b))
        low_a, low_b = low_a + 1, low_b + 1
    tail: list[tuple[int, int]] = []
    while low_a < high_a and low_b < high_b and a[high_a - 1] == b[high_b - 1]:
        high_a, high_b = high_a - 1, high_b - 1
        tail.append((high_a, high_b))
    tail.reverse()
    if low_a == high_a or low_b == high_b:
        return head + tail
    anchors = _anchors(a, b, (low_a, high_a), (low_b, high_b)) if by_anchors else []
    if not anchors:
        return head + _subsequence(a, b, (low_a, high_a), (low_b, high_b)) + tail
    middle: list[tuple[int, int]] = []
    for i, j in [*anchors, (high_a, high_b)]:
        middle += _matches(a, b, (low_a, i), (low_b, j), by_anchors=False)
        if i < high_a:
            middle.append((i, j))
        low_a, low_b = i + 1, j + 1
    return head + middle + tail


def _anchors(
    a: Sequence[str], b: Sequence[str], span_a: tuple[int, int], span_b: tuple[int, int]
) -> list[tuple[int, int]]:
    """A longest rising chain of items that occur once on each side."""
    count_a, count_b = Counter(a[slice(*span_a)]), Counter(b[slice(*span_b)])
    place = {b[j]: j for j in range(*span_b) if count_b[b[j]] == 1}
    unique = [(i, place[a[i]]) for i in range(*span_a) if count_a[a[i]] == 1 and a[i] in place]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, (_, j) in enumerate(unique):
        length = bisect_left(tails, j)
        before.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(j)
            ends.append(at)
        else:
            tails[length], ends[length] = j, at
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(unique[at])
        at = before[at]
    return chain[::-1]


def _subsequence(
    a: Sequence[str], b: Sequence[str], span_a: tuple[int, int], span_b: tuple[int, int]
) -> list[tuple[int, int]]:
    """A longest common subsequence; by position alone where that would take too long."""
    (low_a, high_a), (low_b, high_b) = span_a, span_b
    rows, columns = high_a - low_a, high_b - low_b
    if rows * columns > MOST_CELLS:
        both = range(min(rows, columns))
        return [(low_a + n, low_b + n) for n in both if a[low_a + n] == b[low_b + n]]
    table = [[0] * (columns + 1)]
    for i in range(rows - 1, -1, -1):
        below, row, item = table[-1], [0] * (columns + 1), a[low_a + i]
        for j in range(columns - 1, -1, -1):
            row[j] = below[j + 1] + 1 if item == b[low_b + j] else max(below[j], row[j + 1])
        table.append(row)
    table.reverse()
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < rows and j < columns:
        if a[low_a + i] == b[low_b + j]:
            found.append((low_a + i, low_b + j))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return found
