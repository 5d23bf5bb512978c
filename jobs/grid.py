"""Every Task of a board against every entry: who fails where, and at which Tasks entries disagree."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import Http404, QueryDict
from django.urls import reverse

from benchmarks.board.columns import Sort
from benchmarks.board.parts import Choice, Column
from benchmarks.domain.types import Category
from benchmarks.links import revision_label
from benchmarks.pages import Crumb, Figure
from jobs.board import Board
from jobs.board_rows import RowBuilder
from jobs.compare_links import (
    compare_href,
    entry_key,
    grid_href,
    task_page_href,
    trials_href,
    whole_number,
)
from jobs.compare_pages import GridCell, GridColumn, GridPage, GridRow
from jobs.entries import Entry
from jobs.links import agent_href
from jobs.task_scores import TaskFigures, task_figures, task_scores
from plural_site import formats

TASKS_A_PAGE = 100
AGENTS_A_PAGE = 8
RELEASE_ORDER = Sort("", descending=False)
MARKS = {
    "agent_failures": ("▲", "agent failure", "agent failures"),
    "infrastructure_errors": ("!", "infrastructure error", "infrastructure errors"),
    "cancelled": ("⊘", "cancelled", "cancelled"),
    "pending": ("…", "pending", "pending"),
}
LEGEND = (
    ("✓", "every valid attempt passed"),
    ("◐", "some passed"),
    ("✗", "none passed"),
    ("▲", "agent failures"),
    ("!", "infrastructure errors"),
    ("⊘", "cancelled"),
    ("…", "pending"),
    (formats.DASH, "no valid attempt"),
)


@dataclass(frozen=True, slots=True)
class GridQuery:
    """What a reader chooses on a grid, besides what is chosen on its board."""

    category: str = ""
    sort: str = ""
    page: int = 1
    agents: int = 1
    """Page of entries."""

    @classmethod
    def parse(cls, query: QueryDict) -> GridQuery:
        return cls(
            query.get("category", ""),
            query.get("sort", ""),
            whole_number(query.get("page", "")),
            whole_number(query.get("agents", "")),
        )


def grid_page(board: Board, query: GridQuery) -> GridPage:
    """Raises Http404 where the release has no such Category."""
    return _Grid(board, query).page()


@dataclass(frozen=True, slots=True)
class _Window:
    """A page of a list: `items` from `start` on (from 0) of `total`."""

    start: int
    size: int
    number: int
    total: int

    @classmethod
    def of(cls, total: int, size: int, number: int) -> _Window:
        number = min(number, max(-(-total // size), 1))
        return cls((number - 1) * size, size, number, total)

    @property
    def slice(self) -> slice:
        return slice(self.start, self.start + self.size)

    @property
    def has_next(self) -> bool:
        return self.start + self.size < self.total

    def words(self, things: str) -> str:
        last = min(self.start + self.size, self.total)
        whole = self.total <= self.size
        return "" if whole else f"{things} {self.start + 1} to {last} of {formats.count(self.total)}"


class _Grid:
    def __init__(self, board: Board, query: GridQuery) -> None:
        self.board, self.query = board, query
        self.low, self.high = board.scoring.score_range
        self.category = self._find_category(query.category)
        wanted = set(self.category.tasks) if self.category else None
        self.names = [name for name in board.selection.task_names if wanted is None or name in wanted]
        self.numbers = {name: at for at, name in enumerate(board.selection.task_names, start=1)}
        self.entries = board.shown
        self.columns = _Window.of(len(self.entries), AGENTS_A_PAGE, query.agents)
        self.visible = self.entries[self.columns.slice]
        self.by_key = {entry_key(entry): entry for entry in self.entries}
        sort = Sort.parse(query.sort)
        known = sort.key in ("name", "difficulty", "disagreement") or sort.key in self.by_key
        self.sort = sort if known else RELEASE_ORDER
        self.tasks = _Window.of(len(self.names), TASKS_A_PAGE, query.page)
        needs_all = self.sort.key in ("difficulty", "disagreement")
        self.scores = self._scores(self.names) if needs_all else {}
        self.shown = self._ordered()[self.tasks.slice]
        if not needs_all:
            self.scores = self._scores(self.shown)

    def _find_category(self, wanted: str) -> Category | None:
        if not wanted:
            return None
        for category in self.board.selection.rules.categories:
            if category.id == wanted:
                return category
        raise Http404("This release has no such category.")

    def _scores(self, tasks: Sequence[str]) -> dict[str, list[float]]:
        """By Task, the scores of all shown entries, in their order."""
        found: dict[str, list[float]] = {name: [] for name in tasks}
        wanted = tasks if len(tasks) <= TASKS_A_PAGE else None
        for scores in task_scores(self.board, self.entries, wanted).values():
            for name, score in scores.items():
                if name in found:
                    found[name].append(score)
        return found

    def page(self) -> GridPage:
        board, resource = self.board, self.board.revision.resource
        name, label = formats.clean_text(resource.name), revision_label(board.revision)
        figures = task_figures(board, self.visible, self.shown)
        project = board.project
        return GridPage(
            crumbs=(
                Crumb(project.name, reverse("jobs:project", args=[project.slug])),
                Crumb(f"{name} {label}", board.href(sort="")),
                Crumb("Tasks × Agents"),
            ),
            name=name,
            label=label,
            board_href=board.href(sort=""),
            compare_href=compare_href(board),
            claim=self._claim(),
            categories=self._categories(),
            orders=self._orders(),
            task_head=self._head("name", "Task"),
            heads=self._heads(),
            columns=tuple(self._column(entry) for entry in self.visible),
            rows=tuple(self._row(task, figures) for task in self.shown),
            score_label=f"Score on {formats.clean_text(self.category.name)}" if self.category else "Score",
            unit=formats.score_unit(self.low, self.high),
            legend=LEGEND if board.scoring.success_threshold is not None else LEGEND[3:],
            caption=self._caption(),
            agents_words=self.columns.words("Agents"),
            agents_previous=self._href(agents=self.columns.number - 1) if self.columns.start else "",
            agents_next=self._href(agents=self.columns.number + 1) if self.columns.has_next else "",
            tasks_words=self.tasks.words("Tasks"),
            tasks_previous=self._href(page=self.tasks.number - 1) if self.tasks.start else "",
            tasks_next=self._href(page=self.tasks.number + 1) if self.tasks.has_next else "",
        )

    # Order

    def _ordered(self) -> list[str]:
        """Task names in the chosen order: unknown last both ways, equal ones in the release's order."""
        if self.sort == RELEASE_ORDER:
            return self.names
        if self.sort.key == "name":
            return sorted(self.names, key=str.casefold, reverse=self.sort.descending)
        value = self._sort_value()
        values = {name: value(name) for name in self.names}
        known = {name: found for name, found in values.items() if found is not None}
        ordered = sorted(known, key=known.__getitem__, reverse=self.sort.descending)
        return [*ordered, *(name for name in self.names if name not in known)]

    def _sort_value(self) -> Callable[[str], float | None]:
        if self.sort.key == "difficulty":
            return self._mean
        if self.sort.key == "disagreement":
            return self._disagreement
        entry = self.by_key[self.sort.key]
        return task_scores(self.board, [entry])[entry.configuration.pk].get

    def _mean(self, task: str) -> float | None:
        scores = self.scores[task]
        return math.fsum(score / len(scores) for score in scores) if scores else None

    def _disagreement(self, task: str) -> float | None:
        scores, mean = self.scores[task], self._mean(task)
        if mean is None or len(scores) < 2:
            return None
        return math.hypot(*(score - mean for score in scores)) / math.sqrt(len(scores) - 1)

    # Choices

    def _href(self, **changes: str | int) -> str:
        """This grid with something changed; the first page is the default."""
        query = self.query
        sign = "-" if self.sort.descending else ""
        now = {
            "category": query.category,
            "sort": f"{sign}{self.sort.key}",
            "page": self.tasks.number,
            "agents": self.columns.number,
        }
        return grid_href(
            self.board,
            **{name: "" if value == 1 else str(value) for name, value in {**now, **changes}.items()},
        )

    def _categories(self) -> tuple[Choice, ...]:
        found = self.board.selection.rules.categories
        if not found:
            return ()
        return (
            Choice("All Tasks", self._href(category="", page=1), self.category is None),
            *(
                Choice(
                    formats.clean_text(category.name),
                    self._href(category=category.id, page=1),
                    self.category is not None and self.category.id == category.id,
                )
                for category in found
            ),
        )

    def _orders(self) -> tuple[Choice, ...]:
        orders = {
            "": "Release order",
            "name": "Name",
            "difficulty": "Hardest first",
            "-disagreement": "Most disagreement",
        }
        return tuple(
            Choice(label, self._href(sort=sort, page=1), Sort.parse(sort) == self.sort)
            for sort, label in orders.items()
        )

    def _sort_href(self, key: str, first: str = "") -> str:
        descending = not self.sort.descending if key == self.sort.key else first == "-"
        return self._href(sort=f"{'-' if descending else ''}{key}", page=1)

    def _direction(self, key: str) -> str:
        if key != self.sort.key:
            return ""
        return "descending" if self.sort.descending else "ascending"

    def _heads(self) -> tuple[Column, ...]:
        mean = "Mean over the Agents shown of their scores at this Task: the lower, the harder"
        spread = "Standard deviation over the Agents shown of their scores at this Task"
        return (
            self._head("difficulty", "Mean", mean),
            self._head("disagreement", "Disagreement", spread, first="-"),
        )

    def _head(self, key: str, label: str, title: str = "", first: str = "") -> Column:
        """A column that belongs to no entry. `first`: "-" where a click sorts downwards."""
        href = self._sort_href(key, first)
        return Column(key, label, title=title, href=href, sort=self._direction(key))

    # Words

    def _claim(self) -> str:
        board, entries, tasks = self.board, len(self.entries), len(self.names)
        of = f" of {len(board.entries)}" if entries != len(board.entries) else ""
        kind = "on no track" if board.selection.track is None else f"on the track {board.selection.reference}"
        jobs = len(board.state.job)
        chosen = f" Only the {jobs} Job{'s' if jobs > 1 else ''} chosen on the board." if jobs else ""
        return (
            f"{entries}{of} Agent{'' if entries == 1 and not of else 's'} at "
            f"{formats.count(tasks)} Task{'' if tasks == 1 else 's'}, {kind}.{chosen}"
        )

    def _caption(self) -> str:
        unit = formats.score_unit(self.low, self.high)
        scale = "" if unit else f" Scores go from {self._text(self.low)} to {self._text(self.high)}."
        return (
            f"Mean score over the valid attempts at each Task{f', in {unit}' if unit else ''}; "
            f"sd is the standard deviation over them.{scale}"
        )

    def _text(self, value: float | None) -> str:
        return formats.score_text(value, self.low, self.high)

    # Cells

    def _column(self, entry: Entry) -> GridColumn:
        row = RowBuilder(self.board).row(entry)
        key = entry_key(entry)
        return GridColumn(
            agent=row.agent,
            rank=row.rank,
            detail=f"{row.model} · {row.harness}",
            href=self._sort_href(key),
            sort=self._direction(key),
            score=row.score if self.category is None else self._category_score(entry),
            rank_href=row.rank_href,
            agent_href=agent_href(self.board.project, entry.configuration),
        )

    def _category_score(self, entry: Entry) -> Figure:
        """As the board's view of categories prints it."""
        view = replace(self.board, state=replace(self.board.state, view="categories"))
        cells = RowBuilder(view).row(entry).categories
        return next(
            cell.score
            for cell, tally in zip(cells, entry.categories, strict=True)
            if self.category is not None and tally.key == self.category.id
        )

    def _row(self, task: str, figures: Mapping[int, Mapping[str, TaskFigures]]) -> GridRow:
        weight = self.board.scoring.task_weights.get(task, 1.0)
        mean, spread = self._mean(task), self._disagreement(task)
        return GridRow(
            task=formats.clean_text(task),
            number=self.numbers[task],
            weight="" if weight == 1 else f"{weight:g}",
            href=trials_href(self.board, None, task),
            task_href=task_page_href(self.board, self.numbers[task]),
            mean=Figure(self._text(mean), "No Agent has a valid attempt" if mean is None else str(mean)),
            disagreement=Figure(
                self._text(spread), "Needs two Agents with a valid attempt" if spread is None else str(spread)
            ),
            cells=tuple(
                self._cell(entry, task, figures[entry.configuration.pk].get(task)) for entry in self.visible
            ),
        )

    def _cell(self, entry: Entry, task: str, found: TaskFigures | None) -> GridCell:
        if found is None or not found.attempts:
            return GridCell(Figure(formats.DASH, "No attempt"), "", (), None)
        href = trials_href(self.board, entry, task)
        marks = tuple(self._marks(found))
        if found.score is None:
            return GridCell(Figure(formats.DASH, "No valid attempt", href=href), "", marks, None)
        bar = formats.interval_bar(found.score, None, None, self.low, self.high)
        return GridCell(
            score=Figure(self._text(found.score), str(found.score), href=href),
            spread="" if found.spread is None else f"sd {self._text(found.spread)}",
            marks=marks,
            fill=round((bar.point_x or 0) / formats.BAR_WIDTH * 100, 1),
        )

    def _marks(self, found: TaskFigures) -> list[tuple[str, str]]:
        marks = []
        if found.valid and self.board.scoring.success_threshold is not None:
            shape = "✓" if found.successes == found.valid else "◐" if found.successes else "✗"
            passed = f"{found.successes}/{found.valid}"
            marks.append((f"{shape} {passed}", f"{found.successes} of {found.valid} passed"))
        for name, number in found.outcomes.items():
            shape, one, many = MARKS[name]
            marks.append((f"{shape} {number}", f"{number} {one if number == 1 else many}"))
        return marks
