"""Which Agent to take: the frontier of cost against score, and the choice by a floor, cost and latency.

The rule: drop what scores below the floor; of the rest take the cheapest; where others cost about the
same, the fastest of them. Two cost about the same when neither exceeds the cheapest of what remains by
more than the tolerance, so there are no chains of small steps from cheap to dear. Equal latency: the
cheaper, then the higher score, then name and key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from benchmarks.domain.scoring import _reported
from benchmarks.domain.types import DomainError, Measure, Uncertainty

NOT_PRICED = "Where its model is not free, the run did not know the price."
"""What a cost of exactly 0 may mean."""
_ROUNDING = 1e-9
"""Relative: figures this close are equal, so that a floor typed as it is printed keeps its entry."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry, with its figures on the whole release or on one category. `key` is unique."""

    key: str
    name: str
    score: float | None
    uncertainty: Uncertainty
    cost: Measure
    latency: Measure
    ranked: bool = True


@dataclass(frozen=True, slots=True)
class Figures:
    """How figures are written in sentences: a score, US dollars and seconds per attempt, a share."""

    score: Callable[[float], str] = "{:g}".format
    cost: Callable[[float], str] = "${:g}".format
    latency: Callable[[float], str] = "{:g} s".format
    share: Callable[[float], str] = "{:.4g} %".format


@dataclass(frozen=True, slots=True)
class Dropped:
    candidate: Candidate
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """`chosen` is None where no candidate can be; `reasons` then says why, else why this one.

    `runners_up` are in the order in which the rule would choose them if those before were not there.
    `doubts` are the reasons why the choice is uncertain. Reasons and doubts are sentences.
    """

    floor: float
    tolerance: float
    chosen: Candidate | None
    runners_up: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...]
    reasons: tuple[str, ...]
    doubts: tuple[str, ...]

    @property
    def uncertain(self) -> bool:
        return bool(self.doubts)


def frontier(
    candidates: Iterable[Candidate], *, by: Literal["cost", "latency"] = "cost"
) -> tuple[Candidate, ...]:
    """Those that no other is at least as correct and at most as dear as, one of it strictly; cheapest first.

    Ties stay. What isn't ranked, has no score or whose cost isn't fully known is left out, and pushes
    nobody off. With `by` "latency", time stands for cost.
    """
    points = [
        (amount, _score(candidate), candidate)
        for candidate in candidates
        if candidate.ranked
        and _reported(candidate.score)
        and (amount := _known(candidate.cost if by == "cost" else candidate.latency)) is not None
    ]
    points.sort(key=lambda point: (point[0], point[2].name, point[2].key))
    best = -math.inf
    found: list[Candidate] = []
    for _, group in groupby(points, key=lambda point: point[0]):
        equals = list(group)
        top = max(score for _, score, _ in equals)
        if top > best:
            found += [candidate for _, score, candidate in equals if score == top]
            best = top
    return tuple(found)


def fully_known(measure: Measure) -> bool:
    """Whether every attempt that ran reported it, and none of them as a lower bound."""
    return _reported(measure.value) and not measure.partial and measure.measured >= measure.attempts


def choose(
    candidates: Sequence[Candidate],
    *,
    floor: float,
    tolerance: float = 0.05,
    figures: Figures = Figures(),
) -> Choice:
    """The candidate to take by the rule above. The order of `candidates` doesn't matter.

    `floor` is in the units of the score, `tolerance` a share of the cheapest cost. Raises DomainError
    unless both are finite and the tolerance isn't negative.
    """
    if not math.isfinite(floor):
        raise DomainError("floor: a number is needed.")
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise DomainError("tolerance: a share of 0 or more is needed, such as 0.05.")
    return _Chooser(candidates, floor, tolerance, figures).choice()


class _Chooser:
    def __init__(
        self, candidates: Sequence[Candidate], floor: float, tolerance: float, figures: Figures
    ) -> None:
        self.floor, self.tolerance, self.write = floor, tolerance, figures
        self.kept: list[Candidate] = []
        self.dropped: list[Dropped] = []
        for candidate in sorted(candidates, key=lambda c: (not c.ranked, _by_score(c))):
            reason = self._why_dropped(candidate)
            if reason is None:
                self.kept.append(candidate)
            else:
                self.dropped.append(Dropped(candidate, reason))

    def choice(self) -> Choice:
        order = self._in_order(self.kept)
        chosen = order[0] if order else None
        return Choice(
            floor=self.floor,
            tolerance=self.tolerance,
            chosen=chosen,
            runners_up=tuple(order[1:]),
            dropped=tuple(self.dropped),
            reasons=tuple(self._reasons(chosen) if chosen else self._none()),
            doubts=tuple(self._doubts(chosen)) if chosen else (),
        )

    def _why_dropped(self, candidate: Candidate) -> str | None:
        if not candidate.ranked:
            return "Not ranked, so it isn't compared."
        if not _reported(candidate.score):
            return "It has no score."
        if not self._reaches_floor(candidate.score):
            return self._below_floor(candidate.score)
        return self._why_not_priced(candidate)

    def _why_not_priced(self, candidate: Candidate) -> str | None:
        if not _reported(candidate.cost.value):
            return "It reaches the floor, but its cost is unknown."
        if candidate.cost.measured < candidate.cost.attempts:
            return f"It reaches the floor, but its cost is {_known_for(candidate.cost)}."
        if candidate.cost.partial:
            return (
                f"It reaches the floor, but its cost is known only to be {self._cost(candidate)} or more: "
                "some calls reported none."
            )
        return None

    def _below_floor(self, value: float) -> str:
        score, floor = self.write.score(value), self.write.score(self.floor)
        if score == floor:
            return f"Its score is below the floor of {floor} before rounding."
        return f"Its score of {score} is below the floor of {floor}."

    def _reaches_floor(self, score: float) -> bool:
        return score >= self.floor or math.isclose(score, self.floor, rel_tol=_ROUNDING)

    def _pick(self, candidates: Sequence[Candidate]) -> Candidate:
        return min(self._about_cheapest(candidates), key=_by_latency)

    def _about_cheapest(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        limit = min(map(_cost, candidates)) * (1 + self.tolerance) * (1 + _ROUNDING)
        return [candidate for candidate in candidates if _cost(candidate) <= limit]

    def _in_order(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        remaining, order = list(candidates), []
        while remaining:
            order.append(self._pick(remaining))
            remaining.remove(order[-1])
        return order

    def _reasons(self, chosen: Candidate) -> Iterable[str]:
        floor = self.write.score(self.floor)
        score = self.write.score(_score(chosen))
        kept = _counted(len(self.kept), "Agent reaches", "Agents reach")
        yield f"{kept} the floor of {floor} at a known cost. {chosen.name} scores {score}."
        rivals = [other for other in self._about_cheapest(self.kept) if other is not chosen]
        if len(self.kept) == 1:
            return
        share = self.write.share(self.tolerance * 100)
        if not rivals:
            yield (
                f"Of these it costs the least, {self._cost(chosen)} per attempt, and none is within "
                f"{share} of that."
            )
            return
        cheapest = min(self._about_cheapest(self.kept), key=_cost)
        yield (
            f"It costs {self._cost(chosen)} per attempt. {_names(rivals)} "
            f"{'costs' if len(rivals) == 1 else 'cost'} about the same: all are within {share} of "
            f"the cheapest, {self._cost(cheapest)}."
        )
        yield self._tie_break(chosen, rivals)

    def _tie_break(self, chosen: Candidate, rivals: Sequence[Candidate]) -> str:
        second = self._pick(rivals)
        latency = _known(chosen.latency)
        if latency is None:
            some = any(_reported(other.latency.value) for other in (chosen, *rivals))
            even = "No latency is known for every attempt" if some else "No latency is known"
        elif latency < _by_latency(second)[0]:
            whole = all(fully_known(other.latency) for other in rivals)
            among = "Of these" if whole else "Of those whose latency is known for every attempt"
            return f"{among} it is the fastest, {self.write.latency(latency)} per attempt."
        else:
            even = f"{second.name} is as fast, {self.write.latency(latency)} per attempt"
        if _cost(chosen) < _cost(second):
            by = "the lower cost decides"
        elif _score(chosen) > _score(second):
            by = "the higher score decides"
        else:
            by = f"{second.name} has the same score and cost, so the order of names decides: take either"
        return f"{even}; {by}."

    def _none(self) -> Iterable[str]:
        if not self.dropped:
            yield "There is no Agent to choose from."
            return
        reaching = [drop.candidate for drop in self.dropped if self._reaches(drop.candidate)]
        if reaching:
            yield (
                f"{_counted(len(reaching), 'Agent reaches', 'Agents reach')} the floor of "
                f"{self.write.score(self.floor)}, but none at a known cost, so none can be preferred by cost."
            )
            return
        yield f"No ranked Agent reaches the floor of {self.write.score(self.floor)}."
        nearest = self.dropped[0].candidate
        if nearest.ranked and _reported(nearest.score):
            yield f"The nearest is {nearest.name} with {self.write.score(nearest.score)}."

    def _reaches(self, candidate: Candidate) -> bool:
        return candidate.ranked and self._reaches_floor(_score(candidate))

    def _doubts(self, chosen: Candidate) -> Iterable[str]:
        floor, low = self.write.score(self.floor), chosen.uncertainty.low
        if low is None:
            yield f"{chosen.name} has no interval, so it can't be said how certain its score is."
        elif not self._reaches_floor(low):
            yield (
                f"The 95 % interval of {chosen.name} reaches down to {self.write.score(low)}, so its true "
                f"score may be below the floor of {floor}."
            )
        if chosen.cost.value == 0:
            yield (f"Every attempt of {chosen.name} reported a cost of exactly 0. {NOT_PRICED}")
        better = [drop.candidate for drop in self.dropped if self._might_win(drop.candidate)]
        if better:
            yield (
                f"{_names(better)} would be preferred by cost or latency, and the 95 % interval "
                f"reaches the floor of {floor} though the score doesn't."
            )
        open_cost = [
            drop.candidate for drop in self.dropped if self._might_be_cheaper(drop.candidate, chosen)
        ]
        if open_cost:
            short = [other for other in open_cost if 0 < other.cost.measured < other.cost.attempts]
            counts = "".join(f"; {other.name}'s is {_known_for(other.cost)}" for other in short[:3])
            yield (
                f"{_names(open_cost)} {'reaches' if len(open_cost) == 1 else 'reach'} the floor and may cost "
                f"no more: the cost isn't fully known{counts}."
            )

    def _might_win(self, candidate: Candidate) -> bool:
        """Whether it falls short of the floor by no more than its interval and would be chosen otherwise."""
        high = candidate.uncertainty.high
        return (
            candidate.ranked
            and _reported(candidate.score)
            and not self._reaches(candidate)
            and high is not None
            and self._reaches_floor(high)
            and _known(candidate.cost) is not None
            and self._pick([*self.kept, candidate]) is candidate
        )

    def _might_be_cheaper(self, candidate: Candidate, chosen: Candidate) -> bool:
        """Whether it reaches the floor at an unknown cost, or at one whose lower bound isn't above.

        What the measured attempts cost, spread over all of them, is such a bound.
        """
        if not self._reaches(candidate):
            return False
        cost = candidate.cost
        if not _reported(cost.value):
            return True
        share = cost.measured / cost.attempts if cost.measured < cost.attempts else 1.0
        return cost.value * share <= _cost(chosen) * (1 + self.tolerance)

    def _cost(self, candidate: Candidate) -> str:
        return self.write.cost(_cost(candidate))


def _known(measure: Measure) -> float | None:
    return measure.value if fully_known(measure) else None


def _known_for(measure: Measure) -> str:
    return f"known for only {measure.measured} of its {measure.attempts} attempts"


def _cost(candidate: Candidate) -> float:
    return math.inf if candidate.cost.value is None else candidate.cost.value


def _by_latency(candidate: Candidate) -> tuple[float, float, float, str, str]:
    latency = _known(candidate.latency)
    return (math.inf if latency is None else latency, _cost(candidate), *_by_score(candidate))


def _by_score(candidate: Candidate) -> tuple[float, str, str]:
    return (-_score(candidate), candidate.name, candidate.key)


def _score(candidate: Candidate) -> float:
    """Below every floor where there is none."""
    return candidate.score if _reported(candidate.score) else -math.inf


def _names(candidates: Sequence[Candidate], most: int = 3) -> str:
    named = [candidate.name for candidate in candidates[:most]]
    more = len(candidates) - len(named)
    if more:
        named.append(f"{more} more")
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def _counted(number: int, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number} {many}"
