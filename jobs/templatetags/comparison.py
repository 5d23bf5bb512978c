"""Markup of differences and of the cells of the grid, which prints a thousand of them. See `figures`."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from django import template
from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from jobs.compare_pages import DifferenceBar, GridCell

register = template.Library()


@register.simple_tag
def difference_bar(bar: DifferenceBar) -> SafeString:
    """A difference with its interval on a line of 160 by 16 units, zero marked in the middle."""
    marks = '<rect class="iv-track" y="7.5" width="160" height="1"/><path class="iv-zero" d="M80 0v16"/>'
    if bar.width is not None:
        marks += f'<rect class="iv-span" x="{bar.low_x}" y="5" width="{bar.width}" height="6" rx="1"/>'
    if bar.point_x is not None and bar.width is None:
        marks += f'<circle class="iv-hollow" cx="{bar.point_x}" cy="8" r="3.5"/>'
    elif bar.point_x is not None:
        marks += f'<path class="iv-point" d="M{bar.point_x} 2v12"/>'
    return _html(
        f'<svg class="iv" viewBox="0 0 160 16" role="img" aria-label="{escape(bar.label)}">{marks}</svg>'
        f'<span class="sub" aria-hidden="true">{escape(bar.text)}</span>'
    )


@register.simple_tag
def grid_cells(cells: Iterable[GridCell]) -> SafeString:
    """A table cell for each entry: score, bar, spread, and what became of the attempts."""
    return _html("".join(map(_cell, cells)))


def _cell(cell: GridCell) -> str:
    text = escape(cell.score.text)
    if cell.score.href:
        text = f'<a href="{escape(cell.score.href)}">{text}</a>'
    if cell.fill is None:
        bar = f'<span class="visually-hidden">{escape(cell.score.title)}</span>'
    else:
        bar = (
            '<svg class="mini" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
            '<rect class="mini-track" width="100" height="4"/>'
            f'<rect class="mini-fill" width="{cell.fill}" height="4"/></svg>'
        )
    spread = f'<span class="sub">{escape(cell.spread)}</span>' if cell.spread else ""
    marks = "".join(
        f'<span class="mark" aria-hidden="true" title="{escape(words)}">{escape(shape)}</span>'
        f'<span class="visually-hidden">{escape(words)}</span> '
        for shape, words in cell.marks
    )
    marks = f'<span class="sub">{marks}</span>' if marks else ""
    return f'<td class="num" title="{escape(cell.score.title)}">{text}{bar}{spread}{marks}</td>'


def _html(text: str) -> SafeString:
    return mark_safe(text)  # noqa: S308  every text in it is escaped above
