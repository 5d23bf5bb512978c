"""Boards at the limits: one entry or two hundred, one Task or three thousand, all equal, no cost at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from benchmarks.board.neighbours import MOST_RANGED
from jobs.board import Board
from plural_site import formats
from plural_site.accounts.models import Project
from tests.builders import BenchmarkSpec, Outcome, agents_named, category, scoring, track
from tests.importing import add_tasks, fill, only_board, record

BOARD = "/projects/triage/benchmarks/demo-bench@1.0.0"
NOT_FOR_PEOPLE = re.compile(r"\b(nan|NaN|None|inf|Infinity)\b")


@dataclass(frozen=True, kw_only=True)
class Extreme:
    entries: int = 3
    tasks: int = 6
    score: Callable[[int, int], float] = lambda agent, task: float(task % 3 > agent % 3)
    """From the places of Agent and Task, from 0."""
    rules: Mapping[str, Any] = field(default_factory=dict)
    cost: float | None = 0.01
    seconds: float | None = 2.0


CASES = {
    "one entry": Extreme(entries=1),
    "two hundred entries": Extreme(entries=200, tasks=2, score=lambda agent, task: agent % 101 / 100),
    "all equal": Extreme(entries=5, score=lambda agent, task: 0.5),
    "all zero": Extreme(score=lambda agent, task: 0.0, cost=0.0, seconds=0.0),
    "from -1 to 1": Extreme(
        score=lambda agent, task: (-1.0, 0.25, 1.0)[(agent + task) % 3],
        rules={"score_range": [-1.0, 1.0], "success_threshold": 0.0},
    ),
    "from 0 to 100": Extreme(
        score=lambda agent, task: 12.5 * (agent + task),
        rules={"score_range": [0.0, 100.0], "success_threshold": None},
    ),
    "one Task": Extreme(tasks=1),
    "three thousand Tasks": Extreme(
        entries=2, tasks=3000, score=lambda agent, task: (task * 7 + agent) % 5 / 4
    ),
    "no cost at all": Extreme(cost=None, seconds=None),
}


@pytest.fixture(params=CASES)
def board(request: pytest.FixtureRequest, project: Project, tmp_path: Path) -> Board:
    case = CASES[request.param]
    tasks = tuple(f"task-{at}" for at in range(case.tasks))
    names = [f"agent-{at}" for at in range(case.entries)]

    def score(agent: str, task: str) -> float:
        return case.score(names.index(agent), int(task.partition("-")[2]))

    def first(agent: str, task: str, _attempt: int) -> Outcome | None:
        """The rest is filled in behind the import, which takes long for thousands."""
        if task != tasks[0]:
            return None
        return Outcome(score=score(agent, task), cost_usd=case.cost, latency_seconds=case.seconds)

    declared = tasks[:20]
    spec = BenchmarkSpec(
        tasks=declared,
        categories=(category("first", tasks[0]), category("all", *declared)),
        tracks=(track(),),
        scoring=scoring(**{"success_threshold": 0.5, **case.rules}),
    )
    agents = agents_named(names)
    record(
        project, tmp_path, benchmark=spec, agents=agents, outcomes=first, track_id="open", result_json=False
    )
    revision = only_board(project).revision
    add_tasks(revision, tasks[len(declared) :])
    fill(revision, score)
    return only_board(project)


def test_every_page_of_the_board_says_the_same(board: Board, visitor: Client) -> None:
    def get(path: str) -> Any:
        response = visitor.get(path)
        assert response.status_code == 200, path
        assert not NOT_FOR_PEOPLE.search(response.content.decode()), path
        return response

    page = get(BOARD).context["page"]
    low, high = board.scoring.score_range
    expected = [formats.score_text(entry.overall.score, low, high) for entry in board.entries]
    assert [row.score.text for row in page.table.rows] == expected
    assert len(page.table.rows) == len(board.entries) and page.table.unranked == ()
    check_ranks(page.table.rows)
    for row in page.table.rows:
        ends = [row.interval.point_x, row.interval.low_x, row.interval.width]
        assert all(0 <= end <= 160 for end in ends if end is not None)
    few = 1 < len(page.table.rows) <= MOST_RANGED
    assert all(bool(row.rank_range.text) == few for row in page.table.rows)
    categories = get(f"{BOARD}?view=categories").context["page"].table.rows
    assert [row.categories[1].score.text for row in categories] == [
        formats.score_text(entry.categories[1].score, low, high) for entry in board.entries
    ]
    grid = get(f"{BOARD}/grid").context["page"]
    assert [column.score.text for column in grid.columns] == expected[: len(grid.columns)]
    assert len(grid.rows) == min(len(board.selection.task_names), 100)
    figure = json.loads(get(f"{BOARD}/chart.json").content)
    drawn = [len(trace["x"]) for trace in figure["data"] if trace["mode"] == "markers"]
    assert sum(drawn) == (0 if board.entries[0].overall.cost is None else len(page.table.rows))
    assert len(json.loads(get(page.json_href).content)["entries"]) == len(page.table.rows)
    assert len(get(page.csv_href).content.decode().splitlines()) == len(page.table.rows) + 1
    first, last = page.table.rows[0], page.table.rows[-1]
    for shown, href in (
        (first.rank, first.rank_href),
        (first.interval.text, first.interval.href),
        (last.score.text, last.score.href),
        (last.cost.text, last.cost.href),
    ):
        proof = get(href).context["page"]
        assert (proof.shown.text, proof.warnings) == (shown, ())
    others = [row.key for row in page.table.rows[1:11]]
    compared = get(f"{BOARD}/compare?a={page.table.rows[0].key}&{'&'.join(f'b={key}' for key in others)}")
    assert len(compared.context["page"].pairs) == len(others)


def check_ranks(rows: list[Any]) -> None:
    """Competition ranks: as many entries stand before one as its rank says, less one."""
    ranks = [row.rank for row in rows]
    for rank in ranks:
        number = int(rank.removesuffix("="))
        assert sum(int(other.removesuffix("=")) < number for other in ranks) == number - 1
        assert rank.endswith("=") == (ranks.count(rank) > 1)
