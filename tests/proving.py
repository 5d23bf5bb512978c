"""Proof pages as people read them: every printed formula must give the number that is printed behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import unescape
from typing import Any

from django.test import Client

from benchmarks.board.parts import BoardRow
from benchmarks.domain.explanation import OUTCOME_NAMES
from jobs.pages import BoardPage
from tests.formulas import work_out

HOME = "/projects/triage"
STEP = re.compile(
    r'<li><p><span class="symbol">(.*?)</span> = <code>(.*?)</code> = <b class="result">(.*?)</b></p>'
    r"(?:<details.*?<ol class=\"terms\">(.*?)</ol></details>)?</li>"
)
EXACT = re.compile(r'([\w^ ]+) = <code class="exact">(.*?)</code>')
DIGITS = re.compile(r"[−-]?[\d\u202f]+(?:\.\d+)?")


@dataclass(frozen=True)
class Proof:
    page: Any
    text: str
    exact: dict[str, str]
    """The unrounded numbers, by name, as they are printed."""


def proof_of(visitor: Client, href: str) -> Proof:
    """Every printed formula must give what is printed behind it, and the last ones the unrounded numbers."""
    response = visitor.get(href)
    assert response.status_code == 200, href
    text = unescape(response.content.decode())
    exact = {name.strip(): number for name, number in EXACT.findall(text)}
    results: dict[str, str] = {}
    for symbol, formula, result, terms in STEP.findall(text):
        summands = re.findall("<code>(.*?)</code>", terms) if terms else [formula]
        total = sum((work_out(summand) for summand in summands), Fraction(0))
        assert near(total, Fraction(result)), (href, symbol)
        if "…" not in formula:
            assert near(work_out(formula), Fraction(result)), (href, symbol)
        results[symbol] = result
    assert {name: results.get(name) for name in exact} == exact, href
    page = response.context["page"]
    assert page.warnings == () and "do not agree" not in text, href
    assert bool(exact) != bool(page.missing), href
    return Proof(page, text, exact)


def near(one: Fraction, other: Fraction) -> bool:
    return abs(one - other) <= max(abs(one), abs(other)) / 10**12 + Fraction(1, 10**14)


def is_rounded(shown: str, value: Fraction) -> bool:
    """Whether a number as the board shows it is this one, to the last digit shown."""
    if shown.startswith((">", "<")) and "%" in shown:
        return 0 < value < Fraction("0.0005") or Fraction("0.9995") <= value < 1
    (digits,) = DIGITS.findall(shown)
    plain = digits.replace("\u202f", "").replace("−", "-")
    if shown.startswith("<"):
        return 0 < value < Fraction(plain)
    unit = Fraction(1, 10 ** len(plain.partition(".")[2]))
    return abs(value - Fraction(plain)) <= unit / 2 + Fraction(1, 10**9)


def check_shown(figure: str, shown: str, proof: Proof, low: float, high: float) -> None:
    """The board's own text of a number against the unrounded one of its proof."""
    assert proof.page.shown.text == shown
    numbers = [Fraction(text) for text in proof.exact.values()]
    if not numbers:
        assert shown in ("–", "no interval", "no score"), (figure, shown)
        return
    parts = shown.split(" – ") if figure == "interval" else [shown]
    share = "%" in shown or (figure in ("score", "interval", "spread") and (low, high) == (0, 1))
    for part, number in zip(parts, numbers, strict=True):
        in_per_cent = share and not part.startswith((">", "<"))
        assert is_rounded(part, number * 100 if in_per_cent else number), (figure, shown, number)


def figures_of(row: BoardRow) -> Iterator[tuple[str, str, str]]:
    """Name, text and address of each number of a row's overview."""
    yield "rank", row.rank, row.rank_href
    yield "interval", row.interval.text, row.interval.href
    for name, figure in (
        ("score", row.score),
        ("success", row.success),
        ("spread", row.spread),
        ("pass", row.pass_hat),
        ("coverage", row.coverage),
        ("cost", row.cost),
        ("total", row.total_cost),
        ("latency", row.latency),
        ("attempts", row.attempts),
        ("jobs", row.jobs),
    ):
        yield name, figure.text, figure.href
    names = {words: key for key, words in OUTCOME_NAMES.items()}
    for figure in row.outcomes:
        yield names[figure.title], figure.text, figure.href


def rows_of(page: BoardPage) -> tuple[BoardRow, ...]:
    return (*page.table.rows, *page.table.unranked)


def check_funnel(visitor: Client, href: str, known: dict[str, int] | None = None) -> None:
    """Each count of Trials leads to as many. `known`: lists that other numbers led to, with their length."""
    totals = {} if known is None else known

    def total(href: str) -> int:
        if href not in totals:
            totals[href] = visitor.get(href).context["page"].total
        return totals[href]

    page = visitor.get(href).context["page"]
    assert [stage.name for stage in page.stages] == [
        "planned",
        "attempted",
        "finished",
        "scored",
        "counted",
    ]
    for stage in page.stages:
        if stage.figure.text == "–":
            assert "for the whole only" in stage.how
        elif stage.name == "planned":
            assert visitor.get(stage.figure.href).context["page"].rows
        else:
            assert total(stage.figure.href) == int(stage.figure.text), (href, stage.name)
    assert total(page.trials_href) == int(page.stages[1].figure.text)
    assert sum(int(task.attempts.text) for task in page.tasks) == int(page.stages[1].figure.text)
