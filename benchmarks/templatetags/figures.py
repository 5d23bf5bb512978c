"""Markup of figures and bars in the hot tables.

Written here and not in templates because a board prints some twenty of them for every entry, which
costs the template engine ten times as long. Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from html import escape
from operator import attrgetter
from typing import TYPE_CHECKING

from django import template
from django.utils.safestring import SafeString, mark_safe

from plural_site.formats import DASH, NO_BREAK_SPACE

if TYPE_CHECKING:
    from benchmarks.board.parts import BoardRow, CategoryCell, IntervalBar
    from benchmarks.pages import Figure

register = template.Library()

OVERVIEW: tuple[tuple[str, str, Callable[[BoardRow], Figure]], ...] = (
    ("range", "Rank range", attrgetter("rank_range")),
    ("success", "Success rate", attrgetter("success")),
    ("spread", "Spread over attempts", attrgetter("spread")),
    ("pass", "All attempts succeed", attrgetter("pass_hat")),
    ("coverage", "Coverage", attrgetter("coverage")),
    ("cost", "Cost per attempt", attrgetter("cost")),
    ("total", "Total cost", attrgetter("total_cost")),
    ("latency", "Latency per attempt", attrgetter("latency")),
    ("attempts", "Attempts", attrgetter("attempts")),
    ("jobs", "Jobs", attrgetter("jobs")),
    ("provenance", "Provenance", attrgetter("provenance")),
)
"""Key of the column, name in a row's details, figure."""


@register.simple_tag
def figure_cells(*figures: Figure) -> SafeString:
    """A right-aligned table cell for each figure, in the order given."""
    return _html([_cell(figure) for figure in figures])


@register.simple_tag
def overview_cells(row: BoardRow, hidden: Collection[str] = ()) -> SafeString:
    """The cells of a board row's overview, in the order of `OVERVIEW`, without the columns left out."""
    cells = [(key, figure(row)) for key, _, figure in OVERVIEW if key not in hidden]
    return _html([_label_cell(figure) if key == "provenance" else _cell(figure) for key, figure in cells])


@register.simple_tag
def overview_pairs(row: BoardRow) -> SafeString:
    """All figures of the overview that the row has, as terms of a description list.

    Why a figure is unknown, or a lower bound, stands here as text: a cell says it on hover only.
    """
    return _html([_pair(label, figure(row)) for _, label, figure in OVERVIEW if figure(row).text])


@register.simple_tag
def outcome_links(outcomes: Iterable[Figure]) -> SafeString:
    """E.g. "34 scored, 6 agent failures", each leading to those Trials; '' where nothing was recorded."""
    return _html([_number(outcome, f" {outcome.title}") for outcome in outcomes], ", ")


@register.simple_tag
def category_cells(cells: Iterable[CategoryCell], hidden: Collection[str] = ()) -> SafeString:
    """A table cell for each category whose column isn't left out: score, bar, interval, coverage."""
    return _html([_category_cell(cell) for cell in cells if cell.column not in hidden])


@register.simple_tag
def category_pairs(cells: Iterable[CategoryCell]) -> SafeString:
    """All categories as terms of a description list."""
    return _html([_pair(cell.name, cell.score, cell.interval, cell.coverage) for cell in cells])


@register.simple_tag
def interval_cell(bar: IntervalBar) -> SafeString:
    """A table cell with a score and its interval on a line of 160 by 16 units."""
    title = f' title="{escape(bar.reason)}"' if bar.reason else ""
    text = f'<span class="sub">{_linked(bar.text, bar.href)}</span>'
    return _html([f'<td class="interval"{title}>{interval_drawing(bar)}{text}</td>'])


def interval_drawing(bar: IntervalBar, more: str = "") -> str:
    """Markup of the line, the interval and the point, which is hollow without an interval."""
    marks = f'<rect class="iv-track" y="7.5" width="160" height="1"/>{more}'
    if bar.width is not None:
        marks += f'<rect class="iv-span" x="{bar.low_x}" y="5" width="{bar.width}" height="6" rx="1"/>'
    if bar.point_x is not None and bar.width is None:
        marks += f'<circle class="iv-hollow" cx="{bar.point_x}" cy="8" r="3.5"/>'
    elif bar.point_x is not None:
        marks += f'<path class="iv-point" d="M{bar.point_x} 2v12"/>'
    return f'<svg class="iv" viewBox="0 0 160 16" role="img" aria-label="{escape(bar.label)}">{marks}</svg>'


def _html(parts: list[str], separator: str = "") -> SafeString:
    return mark_safe(separator.join(parts))  # noqa: S308  the functions below escape every text


def _cell(figure: Figure) -> str:
    title = f' title="{escape(figure.title)}"' if figure.title else ""
    note = f'<span class="sub">{_note(figure.note)}</span>' if figure.note else ""
    return f'<td class="num"{title}>{_number(figure)}{note}</td>'


def _label_cell(figure: Figure) -> str:
    label = _linked(figure.text, figure.href)
    return f'<td title="{escape(figure.title)}"><span class="badge nowrap">{label}</span></td>'


def _note(text: str) -> str:
    """A remark that never breaks inside "18 of 20"."""
    return escape(text).replace(" of ", f"{NO_BREAK_SPACE}of{NO_BREAK_SPACE}")


def _category_cell(cell: CategoryCell) -> str:
    title = f' title="{escape(cell.score.title)}"' if cell.score.title else ""
    return (
        f'<td class="num category"{title}>{_number(cell.score)}'
        '<svg class="mini" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="mini-track" width="100" height="4"/>'
        f'<rect class="mini-fill" width="{cell.fill}" height="4"/></svg>'
        f'<span class="sub">{_linked(cell.interval, cell.interval_href)}</span>'
        f'<span class="sub">{escape(cell.coverage)}</span></td>'
    )


def _pair(label: str, figure: Figure, *more: str) -> str:
    reason = figure.title if figure.text.startswith((DASH, "≥")) else ""
    texts = (*more, figure.note, reason)
    remarks = "".join([f"<small>{escape(text)}</small>" for text in texts if text])
    return f"<div><dt>{escape(label)}</dt><dd>{_number(figure)}{remarks}</dd></div>"


def _number(figure: Figure, suffix: str = "") -> str:
    return _linked(figure.text + suffix, figure.href)


def _linked(text: str, href: str) -> str:
    return f'<a href="{escape(href)}">{escape(text)}</a>' if text and href else escape(text)
