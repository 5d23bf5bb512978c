"""What the chart of a board shows, before it is drawn: which entries, the frontier, what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from benchmarks.board.candidates import candidates
from benchmarks.board.state import number
from benchmarks.board.types import Board
from benchmarks.board.words import from_shown
from benchmarks.domain.choice import Candidate, frontier
from benchmarks.domain.types import Category, Measure
from plural_site import formats

SLOTS = 6
"""Entries with a colour and a symbol of their own; the rest are grey."""
MOST_NAMES = 40
SMALLEST, LARGEST = 1e-12, 1e12
"""What an axis has room for, in USD or seconds, besides zero."""
REST, UNRANKED = "rest", "unranked"


@dataclass(frozen=True, slots=True)
class Plot:
    """Entries by cost (USD) or time (s) per attempt and by score. `floor` is in the units of the score."""

    by: Literal["cost", "latency"]
    is_log: bool
    category: Category | None
    floor: float | None
    drawn: tuple[Candidate, ...]
    """In the order of the board."""
    missing: Mapping[str, tuple[Candidate, ...]]
    """Why some are not drawn, e.g. "without a score", and which."""
    frontier: tuple[Candidate, ...]
    """From cheap to dear; ranked ones of fully known cost only."""
    marks: Mapping[str, str]
    """From key to "1" … "6", "rest" or "unranked". The same whatever the chart shows of a board."""

    @property
    def named(self) -> tuple[Candidate, ...]:
        """Those whose names stand beside their marks, the frontier first: all, unless they are many."""
        on_frontier = {point.key for point in self.frontier}
        order = sorted(self.drawn, key=lambda point: (point.key not in on_frontier, not point.ranked))
        if len(order) <= MOST_NAMES:
            return tuple(order)
        return tuple(
            point
            for point in order
            if point.key in on_frontier or self.marks[point.key] not in (REST, UNRANKED)
        )

    def measure(self, candidate: Candidate) -> Measure:
        return candidate.cost if self.by == "cost" else candidate.latency

    def amount(self, candidate: Candidate) -> float:
        """Of one that is drawn."""
        value = self.measure(candidate).value
        if value is None:
            raise ValueError(f"{candidate.name} is not drawn")
        return value

    def amount_text(self, candidate: Candidate) -> str:
        """As the board writes it."""
        measure = self.measure(candidate)
        text = formats.money(measure.value) if self.by == "cost" else formats.seconds(measure.value)
        return f"≥ {text}" if measure.partial else text


def load_plot(board: Board) -> Plot:
    """The chart that the state of a board asks for. A category that the release hasn't means all Tasks."""
    state = board.state
    by: Literal["cost", "latency"] = "latency" if state.x else "cost"
    category = next((found for found in board.categories if found.id == state.category), None)
    points = candidates(board, category)
    drawn: list[Candidate] = []
    missing: dict[str, list[Candidate]] = {}
    for point in points:
        reason = _why_missing(point, by)
        (missing.setdefault(reason, []) if reason else drawn).append(point)
    floor = number(state.floor)
    amounts = [(point.cost if by == "cost" else point.latency).value for point in drawn]
    return Plot(
        by=by,
        is_log=not state.scale and any(amount for amount in amounts),
        category=category,
        floor=None if floor is None else from_shown(floor, board.scoring),
        drawn=tuple(drawn),
        missing={reason: tuple(found) for reason, found in missing.items()},
        frontier=frontier(drawn, by=by),
        marks=_marks(points),
    )


def _why_missing(point: Candidate, by: Literal["cost", "latency"]) -> str:
    measure, name = (point.cost, "cost") if by == "cost" else (point.latency, "time")
    if point.score is None:
        return "without a score"
    if measure.value is None:
        return f"of unknown {name}"
    if measure.measured < measure.attempts:
        return f"whose {name} is not known for every attempt"
    if measure.partial:
        return f"whose {name} is only a lower bound"
    if measure.value and not SMALLEST <= measure.value <= LARGEST:
        return f"whose {name} is beyond any scale"
    return ""


def _marks(points: list[Candidate]) -> dict[str, str]:
    ranked = [point.key for point in points if point.ranked]
    return {point.key: UNRANKED for point in points} | {
        key: str(place) if place <= SLOTS else REST for place, key in enumerate(ranked, start=1)
    }
