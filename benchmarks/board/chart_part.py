"""The chart on the board page: its switches, what it says in words, and the table that holds the same."""

from __future__ import annotations

from benchmarks.board.candidates import listed
from benchmarks.board.parts import ChartMark, ChartPart, ChartRow, Choice
from benchmarks.board.plot import REST, UNRANKED, Plot, load_plot
from benchmarks.board.types import Board
from benchmarks.domain.choice import NOT_PRICED, Candidate
from benchmarks.pages import Figure
from plural_site import formats


def chart_part(board: Board) -> ChartPart:
    return _Part(board, load_plot(board)).part()


class _Part:
    def __init__(self, board: Board, plot: Plot) -> None:
        self.board, self.plot = board, plot
        self.low, self.high = board.scoring.score_range
        self.unit = formats.score_unit(self.low, self.high)

    def part(self) -> ChartPart:
        by_cost = self.plot.by == "cost"
        return ChartPart(
            title="Cost against correctness" if by_cost else "Time against correctness",
            says=self._says(),
            notes=tuple(self._notes()),
            figure_href=self.board.part_href("chart.json") if self.plot.drawn else "",
            axes=(self._switch("Cost", x=""), self._switch("Time", x="latency")),
            scales=(self._switch("Log", scale=""), self._switch("Linear", scale="linear")),
            scope=formats.clean_text(self.plot.category.name) if self.plot.category else "All Tasks",
            scopes=self._scopes(),
            marks=tuple(self._marks()),
            amount_label="Cost per attempt" if by_cost else "Time per attempt",
            score_unit=self.unit,
            rows=tuple(self._row(point) for point in self._table_order()),
        )

    def _switch(self, label: str, **change: str) -> Choice:
        ((name, value),) = change.items()
        return Choice(label, self.board.href(**change), getattr(self.board.state, name) == value)

    def _scopes(self) -> tuple[Choice, ...]:
        categories = self.board.categories
        if not categories:
            return ()
        return (
            Choice("All Tasks", self.board.href(category=""), self.plot.category is None),
            *(
                Choice(
                    formats.clean_text(found.name),
                    self.board.href(category=found.id),
                    found == self.plot.category,
                )
                for found in categories
            ),
        )

    def _says(self) -> str:
        plot = self.plot
        where = f"On {formats.clean_text(plot.category.name)}: " if plot.category else ""
        none = f"{where}no" if where else "No"
        if not plot.drawn:
            return f"{none} entry shown has both a score and a known {self._amount_name()}."
        if not plot.frontier:
            return f"{none} entry that is drawn is ranked, so there is no frontier."
        names = listed([point.name for point in plot.frontier], most=4)
        more, less = ("costs more", "costs less") if plot.by == "cost" else ("takes longer", "is faster")
        # What isn't drawn may score higher, or cost less than is known.
        if len(plot.frontier) == 1:
            drawn = " and drawn" if plot.missing else ""
            return f"{where}{names} alone is on the frontier: nothing ranked{drawn} scores higher or {less}."
        drawn = " is drawn and" if plot.missing else ""
        return (
            f"{where}{names} are on the frontier: what{drawn} scores higher than one of them {more}, "
            f"and what {less} scores lower."
        )

    def _amount_name(self) -> str:
        return "cost" if self.plot.by == "cost" else "time"

    def _notes(self) -> list[str]:
        plot = self.plot
        notes = [
            f"Not drawn: {len(found)} {reason} ({listed([self._with_bound(point) for point in found])})."
            for reason, found in plot.missing.items()
        ]
        if plot.drawn and not plot.missing:
            notes.append(f"Nothing is left out for want of a {self._amount_name()}.")
        free = [point.name for point in plot.drawn if plot.amount(point) <= 0]
        if free and plot.by == "cost":
            notes.append(f"Reported as $0 by every attempt: {len(free)} ({listed(free)}). {NOT_PRICED}")
        if free and plot.is_log:
            notes.append(f"At the left end, as a log scale has no place for zero: {listed(free)}.")
        if free and not plot.is_log and not self.board.state.scale:
            notes.append("A log scale has no place for zero, so the scale is linear.")
        if plot.category and self.board.cost_scope:
            notes.append(self.board.cost_scope)
        if len(plot.named) < len(plot.drawn):
            notes.append("Only the frontier and the first entries are named; the table has them all.")
        if plot.floor is not None and not self.low <= plot.floor <= self.high:
            notes.append("The floor lies outside the range of scores, so it isn't drawn.")
        return notes

    def _with_bound(self, point: Candidate) -> str:
        measure = self.plot.measure(point)
        if point.score is None or measure.value is None:
            return point.name
        if measure.measured < measure.attempts:
            return f"{point.name}, known for {measure.measured} of {measure.attempts} attempts"
        partial = measure.partial
        return f"{point.name}, {self.plot.amount_text(point)}" if partial else point.name

    def _marks(self) -> list[ChartMark]:
        """The legend: one for each entry with its own mark, one for each kind of the others that occurs."""
        kinds = {self.plot.marks[point.key]: point.name for point in self.plot.drawn}
        others = {REST: "other ranked entries", UNRANKED: "not ranked"}
        own = sorted(kind for kind in kinds if kind not in others)
        found = [ChartMark(kind, kinds[kind]) for kind in own]
        found += [ChartMark(kind, words) for kind, words in others.items() if kind in kinds]
        if self.plot.frontier:
            found.append(ChartMark("frontier", "frontier"))
        return found

    def _table_order(self) -> list[Candidate]:
        drawn = sorted(self.plot.drawn, key=self.plot.amount)
        return drawn + [point for found in self.plot.missing.values() for point in found]

    def _row(self, point: Candidate) -> ChartRow:
        measure = self.plot.measure(point)
        reason = next((reason for reason, found in self.plot.missing.items() if point in found), "")
        remarks = [
            "" if point.ranked else "not ranked",
            f"not drawn: {reason}" if reason else "",
            "on the frontier" if point in self.plot.frontier else "",
        ]
        return ChartRow(
            href=f"#entry-{point.key}",
            agent=point.name,
            amount=Figure(
                self.plot.amount_text(point), note=f"measured {measure.measured} of {measure.attempts}"
            ),
            score=self._text(point.score),
            interval=self._interval(point),
            remark=", ".join(filter(None, remarks)),
        )

    def _interval(self, point: Candidate) -> str:
        low, high = point.uncertainty.low, point.uncertainty.high
        if low is None or high is None:
            return "no score" if point.score is None else "no interval"
        return f"{self._text(low)} – {self._text(high)}"

    def _text(self, score: float | None) -> str:
        return formats.score_text(score, self.low, self.high)
