"""The phases of a receipt as a timeline. Names repeat, phases may overlap, and any field may be odd. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

WIDTH = 300
"""Units of a lane, from the first start to the last end."""
MAX_LANES = 20
MAX_LISTED = 100
MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class Span:
    """Part of a lane, in units of `WIDTH`; neighbours that touch are one."""

    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Phase:
    """Offsets in seconds from the first start."""

    name: str
    start: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Lane:
    """All phases of one name. `seconds` is their sum, so phases that overlap count twice."""

    name: str
    count: int
    start: float
    seconds: float
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    lanes: tuple[Lane, ...]
    """By first start; at most `MAX_LANES`."""
    lanes_total: int
    phases: tuple[Phase, ...]
    """By start; at most `MAX_LISTED`."""
    phases_total: int
    seconds: float
    """From the first start to the last end."""
    unreadable: int
    """Entries without a name or without times."""
    overlaps: bool


def timeline(entries: Any) -> Timeline | None:
    """`entries` is `phases` of a receipt as it was parsed. None where it holds no phase."""
    if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
        return None
    known = [found for entry in entries if (found := _phase(entry)) is not None]
    if not known:
        return None
    origin = min(start for _, start, _ in known)
    phases = sorted(
        (Phase(name, start - origin, max(end - start, 0.0)) for name, start, end in known),
        key=lambda phase: (phase.start, phase.name),
    )
    whole = max(phase.start + phase.seconds for phase in phases)
    by_name: dict[str, list[Phase]] = {}
    for phase in phases:
        by_name.setdefault(phase.name, []).append(phase)
    lanes = [
        Lane(name, len(own), own[0].start, math.fsum(phase.seconds for phase in own), _spans(own, whole))
        for name, own in list(by_name.items())[:MAX_LANES]
    ]
    return Timeline(
        lanes=tuple(lanes),
        lanes_total=len(by_name),
        phases=tuple(phases[:MAX_LISTED]),
        phases_total=len(phases),
        seconds=whole,
        unreadable=len(entries) - len(known),
        overlaps=_overlap(phases),
    )


def _phase(entry: Any) -> tuple[str, float, float] | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return None
    start, end = _moment(entry.get("started_at")), _moment(entry.get("completed_at"))
    if start is None or end is None:
        return None
    return entry["name"][:MAX_NAME], start, end


def _moment(text: Any) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def _spans(phases: Sequence[Phase], whole: float) -> tuple[Span, ...]:
    """Drawn to the unit, so there are at most half as many as a lane has units."""
    found: list[list[float]] = []
    scale = WIDTH / whole if whole > 0 else 0.0
    for phase in phases:
        left = min(round(phase.start * scale), WIDTH - 1)
        right = max(min(round((phase.start + phase.seconds) * scale), WIDTH), left + 1)
        if found and left <= found[-1][1]:
            found[-1][1] = max(found[-1][1], right)
        else:
            found.append([left, right])
    return tuple(Span(left, right - left) for left, right in found)


def _overlap(phases: Sequence[Phase]) -> bool:
    end = -math.inf
    for phase in phases:
        if phase.seconds > 0 and phase.start < end - 1e-6:
            return True
        end = max(end, phase.start + phase.seconds)
    return False
