"""What the runner wrote of its own Job beside what the rules make of the same Trials, and why they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

REASONS = {
    "count": "The runner counts every Trial that it wrote; here Trials at other Tasks count nowhere.",
    "successes": (
        "The runner counts every Trial that ended without an error; here a success is a valid attempt at or "
        "above the pass mark."
    ),
    "mean_score": (
        "The runner averages every attempt with a score alike, those that the rules leave out too; here each "
        "Task counts once, by its weight, with the mean of its valid attempts."
    ),
    "coverage": "The runner counts every Task with a score; here a Task needs a valid attempt.",
    "total_cost": (
        "The runner adds up every Trial that reported a cost; the rules measure cost over scored attempts "
        "and agent failures alone."
    ),
    "mean_latency_seconds": (
        "The runner averages the time of every Trial; the rules measure time over scored attempts and agent "
        "failures alone."
    ),
}
FIGURES = tuple(REASONS)
SMALLEST = 1e-12


@dataclass(frozen=True, slots=True)
class Disagreement:
    """`recomputed` is the runner's figure by its own rule from the Trials at hand, None where unknown."""

    figure: str
    runner: float | None
    ours: float | None
    recomputed: float | None

    @property
    def follows(self) -> bool:
        """Whether the runner's figure comes from the Trials that are here."""
        return alike(self.runner, self.recomputed)

    @property
    def reason(self) -> str:
        if self.follows:
            return REASONS[self.figure]
        return (
            "The runner's figure does not follow from the Trials that are here: it was written from others, "
            "or changed afterwards."
        )


def disagreements(
    reported: Mapping[str, Any], ours: Mapping[str, float | None], recomputed: Mapping[str, float | None]
) -> list[Disagreement]:
    """Figures of the runner's record of one Agent that say something else than ours."""
    found = []
    for figure in FIGURES:
        runner = _number(reported.get(figure))
        if figure in reported and not alike(runner, ours.get(figure)):
            found.append(Disagreement(figure, runner, ours.get(figure), recomputed.get(figure)))
    return found


def record_of(
    aggregates: list[Mapping[str, Any]], position: int, name: str, model: str
) -> Mapping[str, Any] | None:
    """The runner's record of an Agent: at its position if the name agrees, else the only one of its name."""
    if position < len(aggregates) and aggregates[position].get("agent_name") == name:
        return aggregates[position]
    same = [row for row in aggregates if (row.get("agent_name"), row.get("model_id")) == (name, model)]
    return same[0] if len(same) == 1 else None


def alike(one: float | None, other: float | None) -> bool:
    """Equal but for what adding in another order changes."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=SMALLEST)


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e308 else None
