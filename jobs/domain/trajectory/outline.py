"""One pass over a trajectory: a row for every step, and what the whole amounts to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from jobs.domain.trajectory import cutting, values
from jobs.domain.trajectory.about import About
from jobs.domain.trajectory.scan import Piece
from jobs.domain.trajectory.types import Block, OutlineRow, Read, Step

TITLE_LENGTH = 120
LARGE_STEP = 64 * 1024
"""Bytes. A larger step is kept cut in its row, so that a page never parses it."""
BUCKETS = 400
"""At most so many runs of equal length are kept for the overview, at least half as many."""
MAX_REFERENCES = 500
"""Distinct subagents that are remembered for the whole."""
_CALLS, _CALL_LENGTH = 10, 80
_BUCKET_SOURCES = 6
_ERROR, _SUBAGENT, _COPIED = 1, 2, 4
_TELLING: dict[str, tuple[str, ...]] = {
    "agent": ("message", "call", "error", "result", "reasoning"),
    "": ("call", "error", "message", "result"),
}
UNKNOWN_COST = "Every step says that it cost 0 and no total is given, so the cost is unknown."

Row = list[Any]
"""offset, size, source, title, since start, duration, tokens, cost, cumulative cost, flags, calls, key and
preview of a step."""


class Outline:
    """Takes steps one after another and gives a row for each, one step late."""

    def __init__(self, about: About) -> None:
        self.about = about
        self.steps = 0
        self._pending: tuple[Row, datetime | None] | None = None
        self._started: datetime | None = None
        self._latest: datetime | None = None
        self._disordered: list[int] = []
        self._sums = dict.fromkeys(("input_tokens", "output_tokens", "cached_tokens"), 0)
        self._known: set[str] = set()
        self._cost = 0.0
        self._priced = self._paid = self._calls = self._unpriced = self._copied = self._subagents = 0
        self._references: dict[tuple[str, str], None] = {}
        self._uncached = False
        self._buckets = _Buckets()

    def add(self, read: Read, piece: Piece, key: str = "") -> Row | None:
        """The row of the step before, whose duration is known only now."""
        step = read.step
        self.steps += 1
        since = self._clock(step)
        self._count(step)
        blocks = step.blocks
        is_error = any(block.kind == "error" for block in blocks)
        references = [block.subagent for block in blocks if block.subagent]
        has_subagent = bool(references)
        for found in references[: MAX_REFERENCES - len(self._references)]:
            self._references[found.trajectory_id, values.storable(found.path)] = None
        self._subagents += has_subagent
        cost = None if step.is_copied else step.cost_usd
        self._buckets.add(step.source, is_error, has_subagent, cost)
        calls = [values.storable(block.label[:_CALL_LENGTH]) for block in blocks if block.kind == "call"]
        row = [
            piece.offset,
            piece.size,
            step.source,
            title(step),
            since,
            None if read.seconds is None else round(read.seconds, 6),
            _tokens(step),
            step.cost_usd,
            self._cost if self._priced else None,
            _ERROR * is_error + _SUBAGENT * has_subagent + _COPIED * step.is_copied,
            calls[:_CALLS],
            values.storable(key[: values.LABEL_LENGTH]),
            cutting.preview(step) if piece.size > LARGE_STEP else None,
        ]
        before = self._finished(step.time)
        self._pending = (row, step.time)
        return before

    def last(self) -> Row | None:
        row = self._finished(None)
        self._pending = None
        return row

    def _finished(self, next_time: datetime | None) -> Row | None:
        if self._pending is None:
            return None
        row, time = self._pending
        if row[5] is None and time and next_time and next_time >= time:
            row[5] = round((next_time - time).total_seconds(), 6)
        return row

    def _clock(self, step: Step) -> float | None:
        """Seconds since the first time in the file."""
        if step.time is None:
            return None
        if self._started is None or self._latest is None:
            self._started = self._latest = step.time
        elif step.time < self._latest:
            self._disordered.append(step.number) if len(self._disordered) < 5 else None
            return round(since, 6) if (since := (step.time - self._started).total_seconds()) >= 0 else None
        self._latest = step.time
        return round((step.time - self._started).total_seconds(), 6)

    def _count(self, step: Step) -> None:
        if step.is_copied:
            self._copied += 1
            return
        for name in self._sums:
            if (amount := getattr(step, name)) is not None:
                self._sums[name] += amount
                self._known.add(name)
        if (step.cached_tokens or 0) > (step.input_tokens or 0):
            self._uncached = True
        calls = step.llm_calls
        if calls is None:
            has_usage = step.cost_usd is not None or _tokens(step) is not None
            calls = int(step.source == "agent" and (has_usage or bool(step.model)))
        self._calls += calls
        if step.cost_usd is None:
            self._unpriced += calls
        else:
            self._priced += 1
            self._paid += step.cost_usd > 0
            self._cost += step.cost_usd

    def facts(self) -> dict[str, Any]:
        """JSON of constant size: see `TrajectoryFacts`."""
        about = self.about
        declared = about.totals
        cost_unknown = bool(self._priced) and not self._paid and declared.get("cost_usd") is None
        self._notes(cost_unknown)
        totals = {name: self._sums[name] if name in self._known else None for name in self._sums}
        totals |= {name: value for name in totals if (value := declared.get(name)) is not None}
        summed = self._cost if self._priced and not cost_unknown else None
        stated = declared.get("cost_usd")
        missing = declared.get("calls_without_cost")
        if missing is None:
            missing = self._calls if cost_unknown else self._unpriced
        return {
            "agent": about.agent,
            "model": about.model,
            "session": about.session,
            "totals": [*totals.values(), summed if stated is None else stated, missing],
            "cost_unknown": cost_unknown,
            "started": self._started.isoformat() if self._started else None,
            "ended": self._latest.isoformat() if self._latest else None,
            "notes": about.notes,
            "problems": about.problems,
            "continued": about.continued,
            "embedded": [list(found) for found in about.embedded],
            "references": [list(found) for found in self._references],
            "buckets": self._buckets.kept(),
        }

    def _notes(self, cost_unknown: bool) -> None:
        about, stated = self.about, self.about.totals.get("cost_usd")
        if cost_unknown:
            about.note(UNKNOWN_COST)
        if self._disordered:
            where = ", ".join(map(str, self._disordered))
            about.note(f"Times run backwards, first at step {where}; durations there are unknown.")
        if self._copied:
            about.note(f"{self._copied} steps are copied context, left out of the totals.")
        if self._uncached:
            about.note("Cached tokens are not part of the input tokens here.")
        comparable = self._priced and not self._unpriced and not self._subagents and not about.embedded
        if stated is not None and comparable and abs(stated - self._cost) > max(1e-6, 0.01 * stated):
            about.note(f"It says that it cost ${stated:.6g}; its steps add up to ${self._cost:.6g}.")
        said = about.totals.get("steps")
        if said is not None and said != self.steps:
            about.note(f"It says that it has {said} steps; there are {self.steps}.")


class _Buckets:
    """Runs of steps of equal length, doubled whenever there are too many."""

    def __init__(self) -> None:
        self._width = 1
        self._steps = 0
        self._runs: list[Run] = []

    def add(self, source: str, is_error: bool, has_subagent: bool, cost: float | None) -> None:
        if self._steps == BUCKETS * self._width:
            pairs = zip(self._runs[::2], self._runs[1::2], strict=True)
            self._runs = [merged(first, second) for first, second in pairs]
            self._width *= 2
        if self._steps % self._width == 0:
            self._runs.append([0, 0, None, Counter()])
        self._steps += 1
        run = self._runs[-1]
        run[0] += is_error
        run[1] += has_subagent
        run[3][source[:40]] += 1
        if cost is not None:
            run[2] = (run[2] or 0.0) + cost

    def kept(self) -> dict[str, Any]:
        return {
            "width": self._width,
            "runs": [
                [errors, subagents, cost, dict(sources.most_common(_BUCKET_SOURCES))]
                for errors, subagents, cost, sources in self._runs
            ],
        }


Run = list[Any]
"""Errors, subagents, cost (None: unknown) and a counter of sources."""


def run_of(kept: list[Any]) -> Run:
    errors, subagents, cost, sources = kept
    return [errors, subagents, cost, Counter(sources)]


def merged(*runs: Run) -> Run:
    """At least one."""
    errors, subagents, costs, sources = zip(*runs, strict=True)
    known = [cost for cost in costs if cost is not None]
    total: Counter[str] = Counter()
    for counted in sources:
        total.update(counted)
    return [sum(errors), sum(subagents), sum(known) if known else None, total]


def outline_row(number: int, row: Row, *, cost_unknown: bool) -> OutlineRow:
    """A row as it was kept. `cost_unknown`: what it says of cost is nothing."""
    _, size, source, heading, since, duration, tokens, cost, cumulative, flags, calls, _, _ = row
    return OutlineRow(
        number=number,
        source=source,
        title=heading,
        since_start=since,
        duration=duration,
        tokens=tokens,
        cost_usd=None if cost_unknown else cost,
        cumulative_cost=None if cost_unknown else cumulative,
        size=size,
        is_error=bool(flags & _ERROR),
        has_subagent=bool(flags & _SUBAGENT),
        is_copied=bool(flags & _COPIED),
        calls=tuple(calls),
    )


def title(step: Step) -> str:
    """The first line of the most telling content, at most `TITLE_LENGTH` characters."""
    order = _TELLING.get(step.source) or _TELLING[""]
    ranked = {kind: at for at, kind in enumerate(order)}
    best: Block | None = None
    for block in step.blocks:
        rank = ranked.get(block.kind, len(order))
        if best is None or rank < ranked.get(best.kind, len(order)):
            best = block if block.text.strip() or block.kind == "call" or block.image else best
    if best is None:
        return ""
    if best.kind == "call":
        arguments = "" if best.text == "{}" else " ".join(best.text[: 4 * TITLE_LENGTH].split())
        return values.first_line(f"{best.label}({arguments})", TITLE_LENGTH)
    if best.image:
        return values.first_line(best.label, TITLE_LENGTH)
    return values.first_line(best.text, TITLE_LENGTH)


def _tokens(step: Step) -> int | None:
    known = [amount for amount in (step.input_tokens, step.output_tokens) if amount is not None]
    return sum(known) if known else None


def chunks(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
