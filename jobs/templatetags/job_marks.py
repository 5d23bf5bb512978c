"""Markup of the cells of a Job's grid, which prints hundreds of marks. See `figures`."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from django import template
from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from jobs.job_pages import Mark, MarksCell

register = template.Library()


@register.simple_tag
def marks_cells(cells: Iterable[MarksCell]) -> SafeString:
    """A table cell for each Agent: the Task's score where it is a mean, and a mark for each attempt."""
    return mark_safe("".join(map(_cell, cells)))  # noqa: S308  every text in it is escaped below


def _cell(cell: MarksCell) -> str:
    score = f'<b title="{escape(cell.title)}">{escape(cell.score)}</b>' if cell.score else ""
    marks = " ".join(map(_mark, cell.marks))
    more = f' <a href="{escape(cell.more.href)}">{escape(cell.more.text)}</a>' if cell.more else ""
    return f'<td>{score}<span class="attempts">{marks}{more}</span></td>'


def _mark(mark: Mark) -> str:
    words = escape(mark.words)
    inner = (
        f'<span aria-hidden="true"><i class="{mark.tone}">{escape(mark.shape)}</i>{escape(mark.text)}</span>'
        f'<span class="visually-hidden">{words}</span>'
    )
    if mark.href:
        return f'<a class="attempt" title="{words}" href="{escape(mark.href)}">{inner}</a>'
    return f'<span class="attempt" title="{words}">{inner}</span>'
