"""Markup of differences and of the cells of the grid, which prints a thousand of them. See `figures`."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from django import template
from django.utils.safestring import SafeString, mark_safe

from benchmarks.templatetags.figures import interval_drawing

if TYPE_CHECKING:
    from benchmarks.board.parts import IntervalBar
    from jobs.compare_pages import GridCell

register = template.Library()


@register.simple_tag
def difference_bar(bar: IntervalBar) -> SafeString:
    """A difference with its interval on a line of 160 by 16 units, zero marked in the middle."""
    drawing = interval_drawing(bar, '<path class="iv-zero" d="M80 0v16"/>')
    return _html(f'{drawing}<span class="sub" aria-hidden="true">{escape(bar.text)}</span>')


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
