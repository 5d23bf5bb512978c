"""The chart of a board as a Plotly figure. Nothing but the chart's own address imports this: Plotly is large.

Colours are names of the site's custom properties ("var(--text)"), which the browser resolves for the theme.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from benchmarks.board.plot import REST, UNRANKED, Plot, load_plot
from benchmarks.board.types import Board
from benchmarks.domain.choice import Candidate
from plural_site import formats

HEIGHT = 384
LONGEST_LABEL = 24
SYMBOLS = {
    "1": "circle",
    "2": "square",
    "3": "diamond",
    "4": "triangle-up",
    "5": "cross",
    "6": "star",
    REST: "circle-open",
    UNRANKED: "x-thin-open",
}
MOST_TICKS = 9
Ticks = tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """`ends` are exponents of ten on a log axis. `zero` is where a log axis puts what is zero."""

    is_log: bool
    ends: tuple[float, float]
    ticks: Ticks
    zero: float | None = None

    def place(self, value: float) -> float:
        return self.zero if self.zero is not None and value <= 0 else value

    def coordinate(self, value: float) -> float:
        """As annotations want it."""
        return math.log10(self.place(value)) if self.is_log else value


def figure_json(board: Board) -> str:
    """The figure that the state of the board asks for, as plotly.js takes it."""
    text: str = _Drawing(board, load_plot(board)).figure().to_json()
    return text


class _Drawing:
    def __init__(self, board: Board, plot: Plot) -> None:
        self.plot = plot
        self.low, self.high = board.scoring.score_range
        self.unit = formats.score_unit(self.low, self.high)
        self.metric = " ".join(formats.clean_text(board.scoring.metric).split()) or "Score"
        self.entries = {entry.key: entry for entry in board.shown}
        write = dollars if plot.by == "cost" else _plain
        self.axis = make_axis([plot.amount(point) for point in plot.drawn], is_log=plot.is_log, write=write)

    def figure(self) -> go.Figure:
        traces = [self._frontier(), *(self._trace(mark) for mark in (UNRANKED, REST, *"654321"))]
        return go.Figure(data=[trace for trace in traces if trace], layout=self._layout())

    def _shown(self, score: float) -> float:
        return score * 100 if self.unit else score

    def _score_ends(self) -> tuple[float, float]:
        low, high = self._shown(self.low), self._shown(self.high)
        room = (high - low) * 0.05
        return (low - room, high + room) if math.isfinite(room) else (low, high)

    def _frontier(self) -> go.Scatter | None:
        points = self.plot.frontier
        if not points:
            return None
        right = 10 ** self.axis.ends[1] if self.axis.is_log else self.axis.ends[1]
        xs = [self.axis.place(self.plot.amount(point)) for point in points]
        ys = [self._score(point) for point in points]
        return go.Scatter(
            name="Frontier",
            x=[xs[0], *xs, right],
            y=[self._score_ends()[0], *ys, ys[-1]],
            mode="lines",
            line={"shape": "hv", "dash": "dot", "width": 1.5, "color": "var(--accent)"},
            hoverinfo="skip",
        )

    def _trace(self, mark: str) -> go.Scatter | None:
        points = [point for point in self.plot.drawn if self.plot.marks[point.key] == mark]
        if not points:
            return None
        colour = f"var(--series-{REST if mark == UNRANKED else mark})"
        return go.Scatter(
            name=mark,
            x=[self.axis.place(self.plot.amount(point)) for point in points],
            y=[self._score(point) for point in points],
            mode="markers",
            marker={
                "symbol": SYMBOLS[mark],
                "size": 12 if mark == "6" else 10,
                "color": colour,
                "line": {"width": 2 if mark in (REST, UNRANKED) else 0, "color": colour},
            },
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [self._bar(point, point.uncertainty.high) for point in points],
                "arrayminus": [self._bar(point, point.uncertainty.low) for point in points],
                "color": colour,
                "thickness": 1.5,
                "width": 4,
            },
            hovertext=[self._hover(point) for point in points],
            hoverinfo="text",
            cliponaxis=False,
        )

    def _score(self, point: Candidate) -> float:
        return self._shown(point.score or 0.0)

    def _bar(self, point: Candidate, end: float | None) -> float | None:
        return None if end is None else abs(self._shown(end) - self._score(point))

    def _text(self, score: float | None) -> str:
        return formats.score_text(score, self.low, self.high)

    def _hover(self, point: Candidate) -> str:
        entry, spread, measure = self.entries[point.key], point.uncertainty, self.plot.measure(point)
        interval = (
            "no interval"
            if spread.low is None or spread.high is None
            else f"95 % interval {self._text(spread.low)} – {self._text(spread.high)}"
        )
        lines = [
            f"<b>{escape(short(point.name, 60), quote=False)}</b>",
            "not ranked" if entry.rank is None else f"rank {entry.place}",
            f"{self._text(point.score)}{' ' + self.unit if self.unit else ''}, {interval}",
            f"{self.plot.amount_text(point)} per attempt, measured {measure.measured} of {measure.attempts}",
        ]
        return "<br>".join(lines)

    def _layout(self) -> go.Layout:
        line = {"gridcolor": "var(--line)", "linecolor": "var(--control-line)", "zeroline": False}
        what = "US dollars per attempt" if self.plot.by == "cost" else "Seconds per attempt"
        return go.Layout(
            template=go.layout.Template(),
            height=HEIGHT,
            margin={"l": 56, "r": 16, "t": 12, "b": 52},
            paper_bgcolor="rgba(0,0,0,0)",
            plot_bgcolor="rgba(0,0,0,0)",
            font={"size": 13, "color": "var(--text)"},
            hoverlabel={
                "bgcolor": "var(--page)",
                "bordercolor": "var(--control-line)",
                "font": {"color": "var(--text)", "size": 13},
                "align": "left",
            },
            hovermode="closest",
            dragmode=False,
            showlegend=False,
            xaxis={
                **line,
                "type": "log" if self.axis.is_log else "linear",
                "range": self.axis.ends,
                "fixedrange": True,
                "tickmode": "array",
                "tickvals": [value for value, _ in self.axis.ticks],
                "ticktext": [text for _, text in self.axis.ticks],
                "showgrid": False,
                "showline": True,
                "ticks": "outside",
                "tickcolor": "var(--control-line)",
                "tickangle": 0,
                "title": _title(f"{what}{', log scale' if self.axis.is_log else ''}"),
            },
            yaxis={**line, **self._score_axis()},
            shapes=self._floor_line(),
            annotations=[*self._floor_label(), *self._labels()],
        )

    def _score_axis(self) -> dict[str, Any]:
        quarters = [self.low * (1 - share / 4) + self.high * share / 4 for share in range(5)]
        values = [self._shown(quarter) for quarter in quarters]
        title = escape(short(self.metric, 40), quote=False)
        return {
            "range": self._score_ends(),
            "fixedrange": True,
            "tickmode": "array",
            "tickvals": values,
            "ticktext": [_plain(value) for value in values],
            "title": _title(f"{title}, {self.unit}" if self.unit else title),
        }

    def _floor_in_range(self) -> float | None:
        floor = self.plot.floor
        return self._shown(floor) if floor is not None and self.low <= floor <= self.high else None

    def _floor_line(self) -> list[dict[str, Any]]:
        floor = self._floor_in_range()
        if floor is None:
            return []
        line = {"color": "var(--warn)", "width": 1.5}
        return [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": floor, "y1": floor, "line": line}]

    def _floor_label(self) -> list[dict[str, Any]]:
        floor = self._floor_in_range()
        if floor is None:
            return []
        words = f"floor {self._text(self.plot.floor)}"
        return [
            {
                **_annotation("floor", words, "var(--warn)"),
                **{"xref": "paper", "x": 0, "y": floor, "xanchor": "left", "yanchor": "bottom"},
            }
        ]

    def _labels(self) -> list[dict[str, Any]]:
        """Below right of the points, those first that matter most; the browser moves what collides."""
        return [
            {
                **_annotation("label", escape(short(point.name, LONGEST_LABEL), quote=False), "var(--text)"),
                "x": self.axis.coordinate(self.plot.amount(point)),
                "y": self._score(point),
                "xanchor": "left",
                "yanchor": "top",
                "xshift": 6,
                "yshift": -4,
            }
            for point in self.plot.named
        ]


def make_axis(values: Sequence[float], *, is_log: bool, write: Callable[[float, float], str]) -> Axis:
    """An axis on which all of these have a place. `write` gets a tick's value and its distance to others.

    A log axis needs at least one above zero; what is zero stands at its left end under a tick of its own.
    """
    if not is_log:
        top = max(values, default=0) * 1.12 or 1.0
        return Axis(False, (0.0, top), _even_ticks(0.0, top, write))
    positive = [value for value in values if value > 0]
    low, high = math.log10(min(positive)), math.log10(max(positive))
    left, right = low - max(0.08 * (high - low), 0.25), high + max(0.14 * (high - low), 0.25)
    ticks = _log_ticks(left, right, write)
    if len(positive) == len(values):
        return Axis(True, (left, right), ticks)
    zero = left - 0.06 * (right - left)
    return Axis(True, (zero - 0.06 * (right - left), right), ((10**zero, write(0.0, 1.0)), *ticks), 10**zero)


def dollars(value: float, step: float) -> str:
    """A tick of money: no more decimals than the distance to the next one needs."""
    if value == 0:
        return "$0"
    if not 1e-9 < value < 1e9:
        return f"${value:.3g}"
    decimals = 0 if step >= 1 else max(2, -math.floor(math.log10(step) + 1e-9))
    return f"${value:,.{decimals}f}".replace(",", formats.THIN_SPACE)


def short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _plain(value: float, _step: float = 1.0) -> str:
    return f"{value:.4g}".replace("-", formats.MINUS)


def _title(text: str) -> dict[str, Any]:
    return {"text": text, "standoff": 6, "font": {"size": 13, "color": "var(--muted)"}}


def _annotation(name: str, text: str, colour: str) -> dict[str, Any]:
    return {"name": name, "text": text, "showarrow": False, "font": {"color": colour, "size": 13}}


def _even_ticks(low: float, high: float, write: Callable[[float, float], str]) -> Ticks:
    rough = (high - low) / 5
    power: float = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    values = [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]
    return tuple((value, write(value, step)) for value in values)


def _log_ticks(left: float, right: float, write: Callable[[float, float], str]) -> Ticks:
    """1, 2 and 5 of each decade, fewer where there are many decades, even steps where there is but one."""
    decades = range(math.floor(left), math.ceil(right) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        values = [factor * 10.0**decade for decade in decades for factor in factors]
        inside = [value for value in values if left <= math.log10(value) <= right]
        if len(inside) <= MOST_TICKS:
            break
    inside = inside[:: math.ceil(len(inside) / MOST_TICKS)]
    if len(inside) < 3:
        return _even_ticks(10**left, 10**right, write)
    return tuple((value, write(value, 10.0 ** math.floor(math.log10(value) + 1e-9))) for value in inside)
