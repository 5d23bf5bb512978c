"""The tags that print figures in the hot tables."""

from __future__ import annotations

import re

from django.template import Context, Template

from benchmarks.board.parts import BoardRow, CategoryCell, IntervalBar
from benchmarks.pages import Figure
from benchmarks.templatetags import figures

NASTY = "<b>\"&'"
ESCAPED = "&lt;b&gt;&quot;&amp;&#x27;"


def board_row(cost: Figure, other: Figure) -> BoardRow:
    return BoardRow(
        key="k",
        rank="1",
        agent="a",
        also_named=(),
        model="m",
        harness="h",
        href="/",
        score=other,
        interval=IntervalBar(1.0, None, None, "1", "no interval"),
        rank_range=other,
        success=other,
        spread=other,
        pass_hat=other,
        coverage=other,
        cost=cost,
        total_cost=other,
        latency=other,
        jobs=other,
        attempts=other,
        outcomes=(),
        categories=(),
        reasons=(),
        provenance=other,
    )


def test_a_cell_holds_link_note_and_reason() -> None:
    assert figures.figure_cells(
        Figure("98.1", href="/t?a=1&b=2"), Figure("–", title="No cost", note="0 of 4")
    ) == (
        '<td class="num"><a href="/t?a=1&amp;b=2">98.1</a></td>'
        '<td class="num" title="No cost">–<span class="sub">0\u00a0of\u00a04</span></td>'
    )


def test_a_rows_details_say_in_text_why_a_figure_is_unknown() -> None:
    row = board_row(Figure("–", title="No cost", note="0 of 4"), Figure("1"))
    cells, pairs = figures.overview_cells(row), figures.overview_pairs(row)
    assert cells.count("<td") == pairs.count("<dt>") == len(figures.OVERVIEW)
    assert cells.count('title="No cost"') == pairs.count("<small>No cost</small>") == 1
    assert (
        "<div><dt>Cost per attempt</dt><dd>–<small>0 of 4</small><small>No cost</small></dd></div>" in pairs
    )


def test_every_text_is_escaped() -> None:
    figure = Figure(NASTY, NASTY, NASTY, NASTY)
    cell = CategoryCell(NASTY, figure, 50.0, NASTY, NASTY)
    bar = IntervalBar(1.0, None, None, NASTY, NASTY, NASTY)
    source = (
        "{% load figures %}{% figure_cells figure %}{% overview_cells row %}{% overview_pairs row %}"
        "{% outcome_links outcomes %}{% category_cells cells %}"
        "{% category_pairs cells %}{% interval_cell bar %}"
    )
    values = {
        "figure": figure,
        "row": board_row(figure, figure),
        "outcomes": [figure],
        "cells": [cell],
        "bar": bar,
    }
    html = Template(source).render(Context(values))
    assert NASTY not in html and "<b>" not in html
    assert html.count(ESCAPED) == 97


def test_an_interval_is_drawn_by_attributes() -> None:
    html = figures.interval_cell(IntervalBar(79.0, 49.6, 60.8, "50.0, interval 31.0 to 69.0", "31.0 – 69.0"))
    assert 'x="49.6" y="5" width="60.8"' in html and 'd="M79.0 2v12"' in html
    assert 'role="img" aria-label="50.0, interval 31.0 to 69.0"' in html
    assert "style" not in html


def test_a_score_without_interval_has_a_hollow_point_and_no_score_none() -> None:
    hollow = figures.interval_cell(IntervalBar(79.0, None, None, "50.0, no interval", "no interval"))
    assert "iv-hollow" in hollow and "iv-span" not in hollow and "iv-point" not in hollow
    empty = figures.interval_cell(IntervalBar(None, None, None, "no score", "no score"))
    assert not re.search("iv-(hollow|span|point)", empty)


def test_a_zero_width_interval_is_still_an_interval() -> None:
    html = figures.interval_cell(IntervalBar(0.0, 0.0, 0.0, "0.0, interval 0.0 to 0.0", "0.0 – 0.0"))
    assert "iv-span" in html and 'd="M0.0 2v12"' in html
