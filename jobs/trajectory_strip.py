"""The overview of a whole trajectory, and the way to the next error in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jobs.domain.trajectory import outline as outlines
from jobs.domain.trajectory.types import Bucket
from jobs.models import StepIndex
from jobs.step_indexes import rows_after
from jobs.trajectories import overview, page_of
from jobs.trajectory_links import TrajectoryLinks, TrajectoryQuery
from jobs.trajectory_pages import RunMark, StripPart
from jobs.trajectory_steps import SOURCES
from plural_site import formats

MOST_RUNS, LEAST_RUNS = 200, 20
RUNS_ROOM = 60_000
"""Bytes of HTML."""
RUN_MARKUP = 330
WIDTH, HEIGHT = 1000, 56
MARKS_HEIGHT, BAR_HEIGHT, FLAT_HEIGHT = 16, 30, 14
MARK = 5
"""Half the width of a mark."""
RANGES_NAMED = 8


def strip_part(index: StepIndex, links: TrajectoryLinks, first: int, last: int) -> StripPart:
    """`first` to `last` are the steps of the page that it stands on; 0: none."""
    each = RUN_MARKUP + len(links.page(page=10**5, anchor="step-100000"))
    runs = overview(index, max(min(MOST_RUNS, RUNS_ROOM // each), LEAST_RUNS))
    scale = WIDTH / max(index.steps, 1)
    highest = max((run.cost or 0.0 for run in runs), default=0.0)
    return StripPart(
        runs=tuple(_mark(run, links, scale, highest) for run in runs),
        width=WIDTH,
        height=HEIGHT,
        here_x=round((first - 1) * scale, 1) if first else 0,
        here_width=max(round((last - first + 1) * scale, 1), 3) if first else 0,
        words=tuple(_words(runs)),
        legend=tuple(_legend(runs, highest)),
    )


def _mark(run: Bucket, links: TrajectoryLinks, scale: float, highest: float) -> RunMark:
    steps = run.last - run.first + 1
    x, width = (run.first - 1) * scale, steps * scale
    height = FLAT_HEIGHT if not highest else 3 + (BAR_HEIGHT - 3) * (run.cost or 0.0) / highest
    source = run.sources[0][0] if run.sources else ""
    middle = min(max(x + width / 2, MARK), WIDTH - MARK)
    return RunMark(
        href=links.page(page=page_of(run.first), anchor=f"step-{run.first}"),
        label=run_words(run),
        x=round(x, 1),
        width=round(max(width - min(1, width * 0.2), 0.5), 1),
        y=round(MARKS_HEIGHT + BAR_HEIGHT - height, 1),
        height=round(height, 1),
        error=f"M{middle - MARK:.1f} 9h{2 * MARK}l-{MARK}-8z" if run.errors else "",
        subagent=f"M{middle:.1f} 10l3.5 3-3.5 3-3.5-3z" if run.subagents else "",
        tone=source if source in SOURCES else "other",
    )


def run_words(run: Bucket) -> str:
    """E.g. "Steps 1–500: 3 errors, 1 with subagents, $0.0123"."""
    where = f"Steps {run.first}–{run.last}" if run.last > run.first else f"Step {run.first}"
    found = []
    if run.errors:
        found.append(f"{run.errors} error{'' if run.errors == 1 else 's'}")
    if run.subagents:
        found.append(f"{run.subagents} with subagents")
    if run.cost is not None:
        found.append(formats.money(run.cost))
    return f"{where}: {', '.join(found)}" if found else where


def _words(runs: Sequence[Bucket]) -> Iterable[str]:
    errors = sum(run.errors for run in runs)
    if errors:
        where = _ranges(run for run in runs if run.errors)
        yield f"{formats.count(errors)} step{'' if errors == 1 else 's'} with an error ({where})."
    else:
        yield "No step with an error."
    subagents = sum(run.subagents for run in runs)
    if subagents:
        where = _ranges(run for run in runs if run.subagents)
        verb = "step calls subagents" if subagents == 1 else "steps call subagents"
        yield f"{formats.count(subagents)} {verb} ({where})."


def _ranges(runs: Iterable[Bucket]) -> str:
    """E.g. "at 3, in 12–15"; neighbouring runs are one."""
    ranges: list[tuple[int, int]] = []
    for run in runs:
        if ranges and ranges[-1][1] + 1 == run.first:
            ranges[-1] = (ranges[-1][0], run.last)
        else:
            ranges.append((run.first, run.last))
    named = [f"in {first}–{last}" if last > first else f"at {first}" for first, last in ranges[:RANGES_NAMED]]
    if len(ranges) > RANGES_NAMED:
        named.append(f"and in {len(ranges) - RANGES_NAMED} more places")
    return ", ".join(named)


def _legend(runs: Sequence[Bucket], highest: float) -> Iterable[str]:
    if any(run.errors for run in runs):
        yield "error"
    if any(run.subagents for run in runs):
        yield "subagent"
    if highest:
        yield "cost"


def error_href(index: StepIndex, links: TrajectoryLinks, query: TrajectoryQuery) -> str:
    """Where an address that asks for the next or the previous error leads, '' for any other.

    Beyond the last one it begins anew.
    """
    if query.go not in ("next-error", "previous-error"):
        return ""
    forwards = query.go == "next-error"
    found = find_error(index, query.step, forwards=forwards)
    found = found or find_error(index, 0 if forwards else index.steps + 1, forwards=forwards)
    return links.page(step=found, anchor=f"step-{found}") if found else links.page(step=query.step)


def find_error(index: StepIndex, step: int, *, forwards: bool) -> int:
    """The next step with an error after `step`, or the last one before it; 0 for none. At most two reads."""
    runs = [run for run in overview(index, outlines.BUCKETS) if run.errors]
    if forwards:
        ahead = [run for run in runs if run.last > step]
        return next(
            (found for run in ahead for found in _errors(index, max(run.first, step + 1), run.last)), 0
        )
    behind = [run for run in reversed(runs) if run.first < step]
    for run in behind:
        if found := list(_errors(index, run.first, min(run.last, step - 1))):
            return found[-1]
    return 0


def _errors(index: StepIndex, first: int, last: int) -> Iterable[int]:
    for rows in rows_after(index, first - 1):
        for number, row in rows:
            if number > last:
                return
            if outlines.outline_row(number, row, cost_unknown=False).is_error:
                yield number


def has_errors(index: StepIndex) -> bool:
    return any(run.errors for run in overview(index))
