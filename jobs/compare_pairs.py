"""One pair of a comparison as finished text: verdict, figures, and the Tasks behind them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.board.parts import Fact, IntervalBar
from benchmarks.board.words import p_text
from benchmarks.domain.comparison import Comparison, Difference, TaskDifference
from benchmarks.domain.significance import ALPHA
from benchmarks.pages import Figure
from jobs.board import Board
from jobs.board_rows import RowBuilder
from jobs.compare_links import entry_key, trials_href
from jobs.compare_pages import ComparedTask, MeasuredRow, MissingTasks, Pair
from jobs.entries import Entry
from plural_site import formats

MOST_MISSING = 50


def scale_of(compared: Sequence[Comparison], span: float) -> float:
    """Half the width of one scale for all these differences: 1, 2 or 5 times a power of ten, at most `span`.

    0 where there is nothing to draw.
    """
    found = [abs(value) for one in compared if one.weighted for value in _extent(one.weighted)]
    largest = min(max(found, default=0.0), span)
    if not found or not math.isfinite(span):
        return 0.0
    if largest == 0:
        return span
    unit = 10.0 ** math.floor(math.log10(largest))
    return min(next((step * unit for step in (1, 2, 5) if step * unit >= largest), 10 * unit), span)


def _extent(difference: Difference) -> Iterator[float]:
    yield difference.value
    if difference.low is not None and difference.high is not None:
        yield from (difference.low, difference.high)


@dataclass(frozen=True, kw_only=True)
class PairBuilder:
    board: Board
    a: Entry
    b: Entry
    names: tuple[str, str]
    comparison: Comparison
    adjusted: float | None
    """p adjusted for several comparisons; None for one."""
    scale: float
    mark: Figure | None
    """The board's, where they are neighbours that it doesn't tell apart."""

    def pair(self, *, shown: slice, alone_href: str) -> Pair:
        found, difference = self.comparison, self.comparison.weighted
        differing = [task for task in found.tasks if task.difference]
        differing.sort(key=lambda task: -abs(task.difference))
        apart = difference is not None and self._apart(difference)
        p = self.adjusted if self.adjusted is not None else difference.test.p if difference else None
        return Pair(
            key=entry_key(self.b),
            a=self.names[0],
            b=self.names[1],
            verdict=self._verdict(),
            apart=apart,
            finding=self._finding(),
            difference=self._difference(difference.value if difference else None),
            bar=self._bar(difference),
            p=Figure(formats.DASH, "No Task is common") if p is None else Figure(p_text(p), str(p)),
            facts=tuple(self._facts()),
            measures=self._measures(),
            tasks=tuple(self._task(task) for task in differing[shown]),
            differing=len(differing),
            equal=len(found.tasks) - len(differing),
            missing=tuple(self._missing()),
            alone_href=alone_href,
        )

    # Texts

    def _text(self, value: float | None) -> str:
        return formats.score_text(value, *self.board.scoring.score_range)

    def _signed(self, value: float) -> str:
        text = self._text(abs(value))
        if not value or not text.strip("0."):
            return text
        return f"{'+' if value > 0 else formats.MINUS}{text}"

    def _amount(self, value: float) -> str:
        """With "points" where scores are per cent."""
        return f"{self._text(abs(value))}{self._points}"

    @property
    def _points(self) -> str:
        return " points" if formats.score_unit(*self.board.scoring.score_range) else ""

    def _difference(self, value: float | None) -> Figure:
        if value is None:
            return Figure(formats.DASH, "No Task is common")
        return Figure(self._signed(value), str(value))

    def _interval(self, difference: Difference) -> str:
        if difference.low is None or difference.high is None:
            return ""
        return f"{self._signed(difference.low)} to {self._signed(difference.high)}"

    # Verdict

    def _apart(self, difference: Difference) -> bool:
        p = difference.test.p if self.adjusted is None else self.adjusted
        return p <= ALPHA and not difference.test.too_few

    def _verdict(self) -> str:
        difference, (a, b) = self.comparison.weighted, self.names
        if difference is None:
            return f"{a} and {b} have no Task in common, so nothing can be compared."
        if not self._apart(difference):
            return f"{a} and {b} can't be told apart on these Tasks."
        better, worse, sign = (a, b, 1) if difference.value > 0 else (b, a, -1)
        ends = [sign * end for end in (difference.low, difference.high) if end is not None]
        within = f"95 % interval {' to '.join(map(self._signed, sorted(ends)))}" if ends else "no interval"
        return f"{better} is better than {worse} by {self._amount(difference.value)} ({within})."

    def _finding(self) -> str:
        difference = self.comparison.weighted
        if difference is None:
            return ""
        if self._apart(difference) or difference.test.too_few:
            return difference.test.finding(self.adjusted)
        p = difference.test.p if self.adjusted is None else self.adjusted
        return (
            f"Chance alone gives a difference this large often enough (p = {p_text(p)}). "
            "That doesn't say that they are equal."
        )

    def _bar(self, difference: Difference | None) -> IntervalBar:
        if difference is None:
            return IntervalBar(None, None, None, "no difference known", "none", "No Task is common.")
        scale, value = self.scale, difference.value
        if not scale:
            return IntervalBar(None, None, None, self._signed(value), "not drawn", "The scale has no end.")
        drawn = formats.interval_bar(value, difference.low, difference.high, -scale, scale)
        interval = self._interval(difference)
        label = f"{self._signed(value)}, {f'interval {interval}' if interval else 'no interval'}"
        reason = difference.unavailable_reason or ""
        return IntervalBar(drawn.point_x, drawn.low_x, drawn.width, label, interval or "no interval", reason)

    # Figures

    def _facts(self) -> Iterator[Fact]:
        difference, plain = self.comparison.weighted, self.comparison.plain
        if difference is None or plain is None:
            return
        test, (a, b) = difference.test, self.names
        interval = self._interval(difference)
        note = f"95 % interval {interval}: paired t over {len(self.comparison.tasks)} common Tasks"
        yield _fact(
            "Difference of scores",
            f"{self._signed(difference.value)}{self._points}",
            note if interval else f"No interval. {difference.unavailable_reason}",
        )
        yield _fact(
            "Scores on common Tasks", f"{self._text(difference.score_a)} and {self._text(difference.score_b)}"
        )
        yield _fact("p", p_text(test.p), test.why)
        if self.adjusted is not None:
            yield _fact("p, adjusted", p_text(self.adjusted), "Holm's method over all comparisons here")
        equal = len(self.comparison.tasks) - test.differing
        yield _fact(
            "Common Tasks",
            formats.count(len(self.comparison.tasks)),
            f"{a} better at {test.for_a}, {b} better at {test.for_b}, equal at {equal}",
        )
        yield self._detectable()
        if self.mark is not None and self._apart(difference):
            yield _fact("On the board", self.mark.text, f"{self.mark.title}, with all its neighbours.")
        if plain is not difference:
            note = f"{self._interval(plain) or 'no interval'}, p = {p_text(plain.test.p)}"
            yield _fact("Difference without weights", f"{self._signed(plain.value)}{self._points}", note)

    def _detectable(self) -> Fact:
        found = self.comparison.detectable
        label = "Smallest difference these Tasks can show"
        if found.difference is None:
            return _fact(label, formats.DASH, found.assumes)
        note, least = found.assumes, found.with_more_attempts
        if least is not None and self._text(least) != self._text(found.difference):
            note += f" More attempts at these Tasks bring it to {self._amount(least)} at best."
        if found.tasks_for_observed is not None:
            needed = formats.count(found.tasks_for_observed)
            note += f" A true difference as large as the one seen would show with about {needed} such Tasks."
        return _fact(label, self._amount(found.difference), note)

    def _measures(self) -> tuple[MeasuredRow, ...]:
        rows = RowBuilder(self.board)
        a, b = rows.row(self.a), rows.row(self.b)
        first, second = self.a.overall, self.b.overall
        return (
            MeasuredRow(
                "Cost per attempt",
                a.cost,
                b.cost,
                _gap(first.cost, second.cost, formats.money, first.cost_partial, second.cost_partial),
            ),
            MeasuredRow(
                "Time per attempt", a.latency, b.latency, _gap(first.latency, second.latency, formats.seconds)
            ),
        )

    # Tasks

    def _task(self, task: TaskDifference) -> ComparedTask:
        return ComparedTask(
            task=formats.clean_text(task.task),
            href=trials_href(self.board, None, task.task),
            a=self._side(self.a, task.task, task.a.score, task.a.valid),
            b=self._side(self.b, task.task, task.b.score, task.b.valid),
            difference=Figure(self._signed(task.difference), str(task.difference)),
            better=self.names[0] if task.difference > 0 else self.names[1],
        )

    def _side(self, entry: Entry, task: str, score: float, valid: int) -> Figure:
        note = f"{valid} attempt{'s' if valid > 1 else ''}"
        return Figure(self._text(score), str(score), note, trials_href(self.board, entry, task))

    def _missing(self) -> Iterator[MissingTasks]:
        found, (a, b) = self.comparison, self.names
        known = {task.task for task in found.tasks} | set(found.only_a) | set(found.only_b)
        neither = [name for name in self.board.selection.task_names if name not in known]
        for reason, lacking, tasks in (
            (f"{b} has no valid attempt", self.b, found.only_a),
            (f"{a} has no valid attempt", self.a, found.only_b),
            ("Neither has a valid attempt", None, neither),
        ):
            if tasks:
                names = tasks[:MOST_MISSING]
                figures = tuple(
                    Figure(formats.clean_text(name), href=trials_href(self.board, lacking, name))
                    for name in names
                )
                yield MissingTasks(
                    f"{reason} at {formats.count(len(tasks))}", figures, len(tasks) - len(names)
                )


def _fact(label: str, text: str, note: str = "") -> Fact:
    return Fact(label, Figure(text, note=note))


def _gap(
    a: float | None,
    b: float | None,
    write: Callable[[float | None], str],
    a_partial: bool = False,
    b_partial: bool = False,
) -> Figure:
    """a - b, a bound of it where one of the two is a lower bound."""
    if a is None or b is None:
        return Figure(formats.DASH, "Unknown on one side", "unknown on one side")
    if a_partial and b_partial:
        return Figure(formats.DASH, "Both are lower bounds", "both are lower bounds")
    text = write(abs(a - b))
    sign = "" if a == b else "+" if a > b else formats.MINUS
    bound = "≥ " if a_partial else "≤ " if b_partial else ""
    title = "A bound: the cost of one side leaves some calls out" if bound else str(a - b)
    return Figure(f"{bound}{sign}{text}", title)
