"""Comparison and grid as people get them: one number everywhere, links to the Trials, hostile text."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from plural_site.accounts.models import Project
from tests.builders import (
    AgentSpec,
    BenchmarkSpec,
    Outcome,
    agents_named,
    category,
    failed,
    make_job,
    scoring,
    track,
)
from tests.importing import bring

if TYPE_CHECKING:
    pass

BOARD = "/projects/triage/benchmarks/demo-bench@1.0.0"
TASKS = ("a", "b", "c", "d", "e", "f")
AGENTS = ("alpha", "beta", "short")
NOT_FOR_PEOPLE = re.compile(r"\b(nan|NaN|None|inf|Infinity)\b")
EVIL = "<script>alert(1)</script>\x1b[31mred\u202egnp"


def happened(agent: str, task: str, attempt: int) -> Outcome | float | None:
    if agent == "alpha":
        return Outcome(score=1.0 if attempt == 1 else 0.5, cost_usd=0.5, calls_missing_cost=1)
    if agent == "gamma":
        return 0.5 if task == "f" else 0.75
    if agent == "beta":
        return Outcome(score=0.25, cost_usd=None, latency_seconds=None)
    of_short: dict[str, Outcome | float] = {
        "a": 1.0,
        "b": failed("", "max_turns"),
        "c": failed("provider_unavailable"),
    }
    return of_short.get(task)


def record(project: Project, folder: Path, agents: tuple[str, ...] = AGENTS, **changes: Any) -> None:
    spec = BenchmarkSpec(
        tasks=TASKS,
        **{
            "tracks": (track("open", attempts=2),),
            "categories": (category("early", "a", "b", "c"), category("late", "f")),
            **changes,
        },
    )
    make_job(
        folder,
        benchmark=spec,
        agents=agents_named(agents),
        attempts=2,
        outcomes=happened,
        track_id="open" if spec.tracks else None,
        result_json=False,
    )
    bring(project, folder)


def page_of(visitor: Client, path: str) -> Any:
    response = visitor.get(path)
    assert response.status_code == 200, path
    assert not NOT_FOR_PEOPLE.search(response.content.decode()), path
    return response.context["page"]


def keys(visitor: Client) -> dict[str, str]:
    page = page_of(visitor, BOARD)
    return {row.agent: row.key for row in (*page.table.rows, *page.table.unranked)}


def test_one_number_is_the_same_on_board_grid_and_comparison(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    record(project, tmp_path)
    board = page_of(visitor, f"{BOARD}?view=categories")
    rows = {row.agent: row for row in (*board.table.rows, *board.table.unranked)}
    key = keys(visitor)
    others = "&".join(f"b={key[name]}" for name in AGENTS[1:])
    compared = page_of(visitor, f"{BOARD}/compare?a={key['alpha']}&{others}")
    grid = page_of(visitor, board.grid_href)
    late = page_of(visitor, f"{board.grid_href}&category=late")
    assert [row.agent for row in compared.rows] == list(AGENTS)
    for row in compared.rows:
        seen = rows[row.agent]
        assert (row.rank, row.score, row.interval.text, row.cost, row.latency, row.attempts) == (
            seen.rank, seen.score, seen.interval.text, seen.cost, seen.latency, seen.attempts,
        )  # fmt: skip
    assert {column.agent: column.score for column in grid.columns} == {
        name: row.score for name, row in rows.items()
    }
    assert {column.agent: column.score.text for column in late.columns} == {
        name: row.categories[1].score.text for name, row in rows.items()
    }
    places = {column.agent: at for at, column in enumerate(grid.columns)}
    cells = {row.task: row.cells for row in grid.rows}
    for pair in compared.pairs:
        for task in pair.tasks:
            for name, figure in ((pair.a, task.a), (pair.b, task.b)):
                cell = cells[task.task][places[name]]
                assert (cell.score.text, cell.score.href) == (figure.text, figure.href)
    assert compared.pairs[0].difference.text == "+50.0"
    assert compared.pairs[0].measures[0].difference.text == "–"


def test_cells_lead_to_as_many_trials(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path)
    grid = page_of(visitor, f"{BOARD}/grid")
    followed = 0
    for row in grid.rows:
        assert page_of(visitor, row.href).total >= 4
        for column, cell in zip(grid.columns, row.cells, strict=True):
            if cell.score.href:
                assert page_of(visitor, cell.score.href).total == 2, (row.task, column.agent)
                followed += 1
    assert followed == 6 + 6 + 3


def test_the_board_leads_to_both_and_back(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path, ("alpha", "beta", "gamma"))
    text = visitor.get(BOARD).content.decode()
    board = page_of(visitor, BOARD)
    for href in (board.compare_href, board.grid_href):
        assert href.replace("&", "&amp;") in text
        assert page_of(visitor, page_of(visitor, href).board_href).name == "Demo Bench"
    marks = [[mark.text for mark in row.alike] for row in board.table.rows]
    assert marks == [["≈ 2"], ["≈ 1", "≈ 3"], ["≈ 2"]]
    for row in board.table.rows:
        for mark in row.alike:
            assert mark.href.replace("&", "&amp;") in text
            (pair,) = page_of(visitor, mark.href).pairs
            assert pair.a == row.agent
            if pair.apart:  # alone: 6 : 0, p = 2/2^6; with the other pair of neighbours twice that
                (note,) = [fact.figure.note for fact in pair.facts if fact.label == "On the board"]
                assert "p = 0.0312, adjusted 0.0625" in note
                assert {pair.a, pair.b} == {"beta", "gamma"}


def test_choosing_by_the_form_gives_the_comparison(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path)
    page = page_of(visitor, f"{BOARD}/compare")
    assert page.pairs == ()
    sent = {"a": page.baselines[0].value, "b": [page.others[1].value]}
    response = visitor.get(page.action, {**dict(page.carried), **sent})
    assert len(response.context["page"].pairs) == 1
    text = response.content.decode()
    assert f'value="{page.others[1].value}" checked' in text
    assert f'value="{page.baselines[0].value}" selected' in text


@pytest.mark.parametrize("agents", [(), ("alpha",)])
def test_boards_with_nothing_to_compare_say_so(
    agents: tuple[str, ...], project: Project, visitor: Client, tmp_path: Path
) -> None:
    record(project, tmp_path, agents or ("alpha",), tracks=(track("open", attempts=2), track("empty")))
    address = "" if agents else "?track=empty"
    for part in ("compare", "grid"):
        text = visitor.get(f"{BOARD}/{part}{address}").content.decode()
        assert ("There is one entry only" in text) == (part == "compare" and bool(agents))
        assert ("There is no entry yet" in text or "Nothing to show" in text) == (not agents)
    assert visitor.get(f"{BOARD}{address}").status_code == 200


def test_untracked_evidence_is_compared_with_a_warning(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    record(project, tmp_path, tracks=(), categories=())
    key = keys(visitor)
    page = page_of(visitor, f"{BOARD}/compare?track=none&a={key['alpha']}&b={key['beta']}")
    assert "run on no track" in page.claim
    assert [agent for agent, _ in page.warnings] == ["alpha", "beta"]
    assert page_of(visitor, f"{BOARD}/grid?track=none").categories == ()


def test_hostile_names_are_shown_and_do_nothing(project: Project, visitor: Client, tmp_path: Path) -> None:
    spec = BenchmarkSpec(
        name=f"Bench {EVIL}",
        slug="demo-bench",
        tasks=(f"task {EVIL}", "other"),
        categories=(category("all", f"task {EVIL}", name=f"Cat {EVIL}"),),
        scoring=scoring(task_weights={f"task {EVIL}": 2.0}),
        tracks=(track(name=f"Track {EVIL}"),),
    )
    agents = [AgentSpec(name=f"{EVIL}{at}", model=f"sim/{EVIL}{at}") for at in range(2)]
    outcomes = lambda agent, task, attempt: 1.0 if agent == f"{EVIL}0" else 0.0  # noqa: E731
    bring(project, make_job(tmp_path, benchmark=spec, agents=agents, track_id="open", outcomes=outcomes))
    first, second = keys(visitor).values()
    for path in (f"compare?a={first}&b={second}", "grid", "grid?category=all&sort=name", "compare"):
        text = visitor.get(f"{BOARD}/{path}").content.decode()
        assert "&lt;script&gt;alert(1)" in text, path
        for found in ("<script>alert", "\x1b", "\u202e"):
            assert found not in text, (path, found)


RUBBISH = ("", "x", "\0", "%", "-1", "9" * 40, "é", "²", "' OR 1=1", "../..", "sha256:", "W" * 2000)


def test_rubbish_in_addresses_is_never_an_error_of_ours(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    record(project, tmp_path)
    key = keys(visitor)["alpha"]
    read = {
        "compare": ("a", "b", "track", "job", "page"),
        "grid": ("track", "job", "page", "agents", "sort", "category", "q", "min"),
    }
    for part, names in read.items():
        for name, value in product(names, RUBBISH):
            response = visitor.get(f"{BOARD}/{part}", {"a": key, "b": key[:7], name: value})
            assert response.status_code in (200, 404), (part, name, value)
