"""What the comparison of entries and the grid of Tasks and Agents show. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import BoardRow, Choice, Column, Fact, IntervalBar, Option
from benchmarks.pages import Crumb, Figure


@dataclass(frozen=True, slots=True)
class ComparedTask:
    task: str
    href: str
    """Trials of every entry at this Task."""
    a: Figure
    b: Figure
    difference: Figure
    better: str
    """Name of the entry that scores higher here."""


@dataclass(frozen=True, slots=True)
class MissingTasks:
    """Tasks that can't be compared, all for the same reason. `more` are left out of `tasks`."""

    reason: str
    tasks: tuple[Figure, ...]
    more: int


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """Cost or latency of both sides and what is between them."""

    label: str
    a: Figure
    b: Figure
    difference: Figure


@dataclass(frozen=True, slots=True)
class Pair:
    """The baseline `a` against one entry `b`."""

    key: str
    a: str
    b: str
    verdict: str
    apart: bool
    finding: str
    difference: Figure
    bar: IntervalBar
    p: Figure
    facts: tuple[Fact, ...]
    measures: tuple[MeasuredRow, ...]
    tasks: tuple[ComparedTask, ...]
    """Where they differ, the largest difference first; a page of them."""
    differing: int
    equal: int
    missing: tuple[MissingTasks, ...]
    alone_href: str
    """This pair alone, with every Task; '' where it is alone."""


@dataclass(frozen=True, slots=True)
class ComparePage:
    crumbs: tuple[Crumb, ...]
    title: str
    board_href: str
    grid_href: str
    claim: str
    """What is the same for all entries here."""
    action: str
    carried: tuple[tuple[str, str], ...]
    baselines: tuple[Option, ...]
    others: tuple[Option, ...]
    problems: tuple[str, ...]
    """What the address asks for and can't get."""
    warnings: tuple[tuple[str, tuple[str, ...]], ...]
    """Entries that are not ranked, each with its reasons."""
    rows: tuple[BoardRow, ...]
    """The entries as the board shows them, the baseline first."""
    range_low: str
    range_high: str
    unit: str
    scale: str
    """Half the width of the scale around zero, '' where nothing is drawn."""
    pairs: tuple[Pair, ...]
    adjusted: str
    """How p was adjusted for several comparisons, '' for one."""
    previous_href: str
    next_href: str


@dataclass(frozen=True, slots=True)
class GridColumn:
    """An entry of the grid; `sort` is '', "ascending" or "descending"."""

    agent: str
    rank: str
    detail: str
    """Model and harness."""
    href: str
    sort: str
    score: Figure
    """As on the board, on the Category that is chosen or the whole."""
    rank_href: str
    """How the rank came about."""
    agent_href: str
    """The Agent's page."""


@dataclass(frozen=True, slots=True)
class GridCell:
    score: Figure
    spread: str
    """Standard deviation over the attempts, '' below two."""
    marks: tuple[tuple[str, str], ...]
    """(shape with count, the same in words), e.g. ("✓ 2/2", "2 of 2 passed")."""
    fill: float | None
    """Length of the bar, 0 to 100; None without a score."""


@dataclass(frozen=True, slots=True)
class GridRow:
    task: str
    number: int
    """Position in the release, from 1."""
    weight: str
    """'' where it is 1."""
    href: str
    """Its Trials."""
    task_href: str
    """The Task's page."""
    mean: Figure
    disagreement: Figure
    cells: tuple[GridCell, ...]


@dataclass(frozen=True, slots=True)
class GridPage:
    crumbs: tuple[Crumb, ...]
    name: str
    label: str
    board_href: str
    compare_href: str
    claim: str
    categories: tuple[Choice, ...]
    orders: tuple[Choice, ...]
    task_head: Column
    heads: tuple[Column, ...]
    """Mean and disagreement, after the columns of the entries."""
    columns: tuple[GridColumn, ...]
    rows: tuple[GridRow, ...]
    score_label: str
    """What the summary row holds, e.g. "Score" or "Score on Billing"."""
    unit: str
    legend: tuple[tuple[str, str], ...]
    caption: str
    agents_words: str
    """E.g. "Agents 1 to 10 of 23", '' where all are shown."""
    agents_previous: str
    agents_next: str
    tasks_words: str
    tasks_previous: str
    tasks_next: str
