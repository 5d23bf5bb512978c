"""The grid: orders, windows, marks, and the same scores as the board."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import Http404, QueryDict

from benchmarks.board.parts import Column
from jobs.board_rows import RowBuilder
from jobs.compare_links import entry_key
from jobs.compare_pages import GridColumn, GridPage, GridRow
from jobs.grid import AGENTS_A_PAGE, GridQuery, grid_page
from plural_site.accounts.models import Project
from tests.builders import (
    AWAITING_REVIEW,
    CANCELLED,
    BenchmarkSpec,
    Outcome,
    agents_named,
    category,
    failed,
    scoring,
    track,
)
from tests.importing import only_board, record

Value = Outcome | float | None
LOST = failed("provider_unavailable")
SCORES: dict[str, dict[str, tuple[Value, Value]]] = {
    "ace": {"zeta": (1.0, 1.0), "alpha": (1.0, 0.0), "mid": (0.5, 0.5), "gone": (LOST, LOST)},
    "bee": {"zeta": (1.0, 1.0), "alpha": (0.0, 0.0), "mid": (1.0, 0.0), "gone": (CANCELLED, AWAITING_REVIEW)},
    "cat": {
        "zeta": (0.0, 1.0),
        "alpha": (0.0, failed("", "max_turns")),
        "mid": (None, None),
        "gone": (LOST, None),
    },
}
TASKS = ("zeta", "alpha", "mid", "gone")


def recorded(project: Project, folder: Path, **changes: Any) -> None:
    spec = BenchmarkSpec(
        tasks=TASKS,
        tracks=(track(attempts=2),),
        **{
            "categories": (category("letters", "alpha", "zeta"), category("rest", "mid", "gone")),
            "scoring": scoring(task_weights={"zeta": 2.0}, min_tasks_for_interval=2),
            **changes,
        },
    )
    record(
        project,
        folder,
        benchmark=spec,
        agents=agents_named(SCORES),
        attempts=2,
        track_id="open",
        outcomes=lambda agent, task, attempt: SCORES[agent][task][attempt - 1],
        result_json=False,
    )


def grid(project: Project, text: str = "") -> GridPage:
    return grid_page(only_board(project, text), GridQuery.parse(QueryDict(text)))


def row(page: GridPage, task: str) -> GridRow:
    (found,) = [row for row in page.rows if row.task == task]
    return found


def order(page: GridPage) -> list[str]:
    return [row.task for row in page.rows]


def test_cells_say_what_became_of_the_attempts(project: Project, tmp_path: Path) -> None:
    recorded(project, tmp_path)
    page = grid(project)
    at = {column.agent: place for place, column in enumerate(page.columns)}
    cells = {name: [row(page, task).cells[at[name]] for task in TASKS] for name in SCORES}
    assert [cell.score.text for cell in cells["ace"]] == ["100.0", "50.0", "50.0", "–"]
    assert [cell.spread for cell in cells["ace"]] == ["sd 0.0", "sd 70.7", "sd 0.0", ""]
    assert [[words for _, words in cell.marks] for cell in cells["ace"]] == [
        ["2 of 2 passed"],
        ["1 of 2 passed"],
        ["0 of 2 passed"],
        ["2 infrastructure errors"],
    ]
    assert [cell.fill for cell in cells["ace"]] == [100.0, 50.0, 50.0, None]
    assert [shape for shape, _ in cells["bee"][3].marks] == ["⊘ 1", "… 1"]
    assert cells["cat"][1].marks == (("✗ 0/2", "0 of 2 passed"), ("▲ 1", "1 agent failure"))
    nothing = cells["cat"][2]
    assert (nothing.score.text, nothing.score.title, nothing.score.href) == ("–", "No attempt", "")
    assert cells["ace"][3].score.title == "No valid attempt"
    assert cells["ace"][3].score.href.endswith("task=gone")


def test_orders_put_the_unknown_last_both_ways(project: Project, tmp_path: Path) -> None:
    recorded(project, tmp_path)
    assert order(grid(project)) == list(TASKS)
    assert order(grid(project, "sort=name")) == ["alpha", "gone", "mid", "zeta"]
    assert order(grid(project, "sort=-name")) == ["zeta", "mid", "gone", "alpha"]
    assert order(grid(project, "sort=difficulty")) == ["alpha", "mid", "zeta", "gone"]
    assert order(grid(project, "sort=-difficulty")) == ["zeta", "mid", "alpha", "gone"]
    spread = {"zeta": [1.0, 1.0, 0.5], "alpha": [0.5, 0.0, 0.0], "mid": [0.5, 0.5]}
    page = grid(project, "sort=-disagreement")
    assert order(page) == ["zeta", "alpha", "mid", "gone"]
    for task, scores in spread.items():
        assert float(row(page, task).disagreement.title) == pytest.approx(statistics.stdev(scores))
        assert float(row(page, task).mean.title) == pytest.approx(statistics.mean(scores))
    assert (row(page, "gone").mean.text, row(page, "gone").disagreement.text) == ("–", "–")
    assert order(grid(project, "sort=rubbish&page=-4&agents=x")) == list(TASKS)


def heads(page: GridPage) -> list[Column | GridColumn]:
    return [page.task_head, *page.heads, *page.columns]


def test_every_head_sorts_and_says_so(project: Project, tmp_path: Path) -> None:
    recorded(project, tmp_path)
    page = grid(project)
    for head in heads(page):
        ways, href = set(), head.href
        for _ in range(2):
            (current,) = [found for found in heads(grid(project, href.partition("?")[2])) if found.sort]
            ways.add(current.sort)
            href = current.href
        assert ways == {"ascending", "descending"}
    by_cat = grid(project, page.columns[2].href.partition("?")[2])
    assert order(by_cat) == ["alpha", "zeta", "mid", "gone"]


def test_scores_are_those_of_the_board(project: Project, tmp_path: Path) -> None:
    recorded(project, tmp_path)
    board = only_board(project, "view=categories")
    rows = [RowBuilder(board).row(entry) for entry in board.entries]
    assert [column.score for column in grid(project).columns] == [row.score for row in rows]
    for place, name in enumerate(("letters", "rest")):
        page = grid(project, f"category={name}")
        assert [column.score.text for column in page.columns] == [
            row.categories[place].score.text for row in rows
        ]
        assert page.score_label == f"Score on {name.title()}"
    assert order(grid(project, "category=rest&sort=name")) == ["gone", "mid"]
    with pytest.raises(Http404):
        grid(project, "category=none")


def test_filters_of_the_board_leave_columns_out(project: Project, tmp_path: Path) -> None:
    recorded(project, tmp_path)
    page = grid(project, "q=bee")
    assert [column.agent for column in page.columns] == ["bee"]
    assert "1 of 3 Agents" in page.claim
    assert all("q=bee" in order.href for order in page.orders)
    assert row(page, "zeta").disagreement.text == "–"
    assert grid(project, "q=nobody").columns == ()


def test_chosen_jobs_give_the_same_grid(project: Project, tmp_path: Path) -> None:
    recorded(project, tmp_path)
    job = only_board(project).entries[0].agents[0].job.client_job_id
    for text in ("", "sort=difficulty", "category=rest", "sort=-disagreement"):
        one, other = grid(project, text), grid(project, f"{text}&job={job}")
        for first, second in zip(one.rows, other.rows, strict=True):
            assert (first.task, first.mean, first.disagreement) == (
                second.task,
                second.mean,
                second.disagreement,
            )
            for a, b in zip(first.cells, second.cells, strict=True):
                assert (a.score.text, a.spread, a.marks, a.fill) == (b.score.text, b.spread, b.marks, b.fill)
                assert not b.score.href or f"job={job}" in b.score.href


def test_tasks_and_agents_come_in_windows(
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    monkeypatch.setattr("jobs.grid.TASKS_A_PAGE", 4)
    tasks = tuple(f"task-{at}" for at in range(10))
    agents = agents_named(f"agent-{at:02}" for at in range(23))
    spec = BenchmarkSpec(tasks=tasks, tracks=(track(),))

    def outcomes(agent: str, task: str, attempt: int) -> float:
        return 1.0 if (int(agent[-2:]) + int(task[-1])) % 7 else 0.0

    record(project, tmp_path, benchmark=spec, agents=agents, outcomes=outcomes, track_id="open")
    page = grid(project)
    assert (len(page.columns), len(page.rows)) == (AGENTS_A_PAGE, 4)
    assert (page.agents_words, page.tasks_words) == ("Agents 1 to 8 of 23", "Tasks 1 to 4 of 10")
    seen: list[str] = []
    href = "agents=2&sort=difficulty"
    while href:
        page = grid(project, href.partition("?")[2] or href)
        assert len(page.columns) == AGENTS_A_PAGE
        assert page.agents_words == "Agents 9 to 16 of 23"
        seen += order(page)
        href = page.tasks_next
    assert sorted(seen) == sorted(tasks)
    assert page.tasks_words == "Tasks 9 to 10 of 10"
    columns: list[str] = []
    href = "page=99"
    while href:
        page = grid(project, href.partition("?")[2] or href)
        columns += [column.agent for column in page.columns]
        href = page.agents_next
    board = only_board(project)
    assert columns == [entry.names[0] for entry in board.entries]
    for text, queries in (("", 2), ("difficulty", 2), (entry_key(board.entries[3]), 3)):
        with django_assert_num_queries(queries):
            grid_page(board, GridQuery(sort=text))


@pytest.mark.parametrize(("limits", "text"), [([-1.0, 1.0], "0.25"), ([0.0, 100.0], "0.2")])
def test_other_ranges_without_a_pass_mark(
    limits: list[float], text: str, project: Project, tmp_path: Path
) -> None:
    rules = scoring(score_range=limits, success_threshold=None)
    spec = BenchmarkSpec(tasks=("only",), tracks=(track(),), scoring=rules)
    record(project, tmp_path, benchmark=spec, outcomes=lambda *_: 0.25, track_id="open")
    page = grid(project)
    ((cell,),) = [row.cells for row in page.rows]
    assert (cell.score.text, cell.marks, page.unit, page.categories) == (text, (), "", ())
    assert all(shape not in "✓◐✗" for shape, _ in page.legend)
    assert "Scores go from" in page.caption
