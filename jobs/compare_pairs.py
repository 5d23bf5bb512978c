"""One pair of a comparison as finished text: verdict, figures, and the Tasks behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.board.parts import Fact
from benchmarks.board.words import p_text
from benchmarks.domain.comparison import TaskDifference
from benchmarks.pages import Figure
from jobs.board import Board
from jobs.board_rows import RowBuilder
from jobs.compare_links import entry_key, trials_href
from jobs.compare_pages import ComparedTask, MeasuredRow, MissingTasks, Pair
from jobs.difference_texts import DifferenceTexts
from jobs.entries import Entry
from plural_site import formats

MOST_MISSING = 50


@dataclass(frozen=True, kw_only=True)
class PairBuilder(DifferenceTexts):
    board: Board
    a: Entry
    b: Entry
    mark: Figure | None
    """The board's, where they are neighbours that it doesn't tell apart."""

    def pair(self, *, shown: slice, alone_href: str) -> Pair:
        found, difference = self.comparison, self.comparison.weighted
        differing = [task for task in found.tasks if task.difference]
        differing.sort(key=lambda task: -abs(task.difference))
        apart = difference is not None and self.is_apart(difference)
        return Pair(
            key=entry_key(self.b),
            a=self.names[0],
            b=self.names[1],
            verdict=self.verdict(),
            apart=apart,
            finding=self.finding(),
            difference=self.figure(),
            bar=self.bar(),
            p=self.p(),
            facts=tuple(self._facts()),
            measures=self._measures(),
            tasks=tuple(self._task(task) for task in differing[shown]),
            differing=len(differing),
            equal=len(found.tasks) - len(differing),
            missing=tuple(self._missing()),
            alone_href=alone_href,
        )

    # Figures

    def _facts(self) -> Iterator[Fact]:
        difference, plain = self.comparison.weighted, self.comparison.plain
        if difference is None or plain is None:
            return
        test, (a, b) = difference.test, self.names
        interval = self.interval(difference)
        note = f"95 % interval {interval}: paired t over {len(self.comparison.tasks)} common Tasks"
        yield _fact(
            "Difference of scores",
            f"{self.signed(difference.value)}{self.points}",
            note if interval else f"No interval. {difference.unavailable_reason}",
        )
        yield _fact(
            "Scores on common Tasks", f"{self.text(difference.score_a)} and {self.text(difference.score_b)}"
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
        if self.mark is not None and self.is_apart(difference):
            yield _fact("On the board", self.mark.text, f"{self.mark.title}, with all its neighbours.")
        if plain is not difference:
            note = f"{self.interval(plain) or 'no interval'}, p = {p_text(plain.test.p)}"
            yield _fact("Difference without weights", f"{self.signed(plain.value)}{self.points}", note)

    def _detectable(self) -> Fact:
        found = self.comparison.detectable
        label = "Smallest difference these Tasks can show"
        if found.difference is None:
            return _fact(label, formats.DASH, found.assumes)
        note, least = found.assumes, found.with_more_attempts
        if least is not None and self.text(least) != self.text(found.difference):
            note += f" More attempts at these Tasks bring it to {self.amount(least)} at best."
        if found.tasks_for_observed is not None:
            needed = formats.count(found.tasks_for_observed)
            note += f" A true difference as large as the one seen would show with about {needed} such Tasks."
        return _fact(label, self.amount(found.difference), note)

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
            difference=Figure(self.signed(task.difference), str(task.difference)),
            better=self.names[0] if task.difference > 0 else self.names[1],
        )

    def _side(self, entry: Entry, task: str, score: float, valid: int) -> Figure:
        note = f"{valid} attempt{'s' if valid > 1 else ''}"
        return Figure(self.text(score), str(score), note, trials_href(self.board, entry, task))

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
