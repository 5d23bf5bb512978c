"""Filters and columns of the board: what is left out, what the page says of it, what a form carries."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from plural_site.accounts.models import Project
from tests.builders import AgentSpec, BenchmarkSpec, Outcome, make_job, scoring, track
from tests.deciding import BOARD, FIGURES, page_of, some_recorded  # noqa: F401 - a fixture
from tests.importing import bring


def shown(visitor: Client, **query: str) -> set[str]:
    page = page_of(visitor, **query)
    return {row.agent for row in (*page.table.rows, *page.table.unranked)}


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"q": " DEA "}, {"dear"}),
        ({"model": "sim/quick"}, {"quick"}),
        ({"harness": "built-in loop"}, {*FIGURES, "idle"}),
        ({"harness": "none of these"}, set()),
        ({"min": "80"}, {"quick", "dear", "bound", "silent", "absent"}),
        ({"min": "80", "ranked": "1"}, {"quick", "dear", "bound", "silent"}),
        ({"cost": "0,02"}, {"cheap", "bound", "absent"}),
        ({"cost": "nan", "min": "rubbish", "ranked": "yes"}, {*FIGURES, "idle"}),
    ],
)
def test_filters_leave_out(visitor: Client, query: dict[str, str], expected: set[str]) -> None:
    assert shown(visitor, **query) == expected


@pytest.mark.usefixtures("recorded")
def test_the_form_shows_what_is_chosen_and_carries_the_rest(visitor: Client) -> None:
    query = {
        "q": "a", "model": "sim/dear", "min": "10", "cost": "1", "ranked": "1", "hide": "cost",
        "sort": "-cost", "floor": "40", "x": "latency", "view": "",
    }  # fmt: skip
    form = page_of(visitor, **query).table.filters
    assert (form.text, form.least, form.most, form.ranked_only, form.active) == ("a", "10", "1", True, True)
    assert [option.value for option in form.models if option.chosen] == ["sim/dear"]
    assert [option.value for option in form.columns if option.chosen] == ["cost"]
    assert dict(form.carried) == {"sort": "-cost", "floor": "40", "x": "latency"}
    assert form.narrowing == 4
    assert form.words == (
        "names with “a”",
        "the model sim/dear",
        "scores of at least 10 %",
        "known costs of at most $1 per attempt",
        "ranked entries",
    )
    cleared = parse_qs(urlsplit(form.clear_href).query)
    assert cleared == {"track": ["open@1.0.0"], "sort": ["-cost"], "floor": ["40"], "x": ["latency"]}
    assert not visitor.get(form.clear_href).context["page"].table.filters.active


@pytest.mark.usefixtures("recorded")
def test_an_address_from_a_form_is_written_without_its_empty_fields(visitor: Client) -> None:
    query = {"q": "", "model": "", "min": "", "hide": "jobs", "x": "cost", "scale": "log"}
    response = visitor.get(BOARD, query, headers={"HX-Request": "true"})
    assert response.headers["HX-Push-Url"] == f"{BOARD}?track=open%401.0.0&hide=jobs"
    assert response.content.startswith(b'<div id="board"') and b"<html" not in response.content


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("view", ["", "categories"])
def test_heads_and_cells_leave_out_the_same_columns(visitor: Client, view: str) -> None:
    every = [option.value for option in page_of(visitor, view=view).table.filters.columns]
    assert every and not {"rank", "agent", "score"} & set(every)
    for hide in ([], every[:1], every[-1:], every[::2], every, ["rank", "agent", "score", "nothing"]):
        response = visitor.get(BOARD, {"view": view, "hide": hide})
        heads, rows = table_of(response.content.decode())
        left = set(hide) & set(every)
        assert len(heads) == 4 + len(every) - len(left)
        assert set(heads) & left == set()
        assert rows and set(rows) == {len(heads)}


def table_of(html: str) -> tuple[list[str], list[int]]:
    """First class of each head, and how many cells each entry's first row has."""
    (head,) = re.findall(
        r"<thead><tr>(.*?)</tr></thead>\s*<tbody", html.partition('id="chart"')[0], re.DOTALL
    )
    rows = re.findall(r'<tbody class="entry.*?<tr>(.*?)</tr>', html, re.DOTALL)
    return (
        re.findall(r'<th scope="col" class="([^" ]+)', head),
        [len(re.findall(r"<t[dh][ >]", row)) for row in rows],
    )


@pytest.mark.usefixtures("recorded")
def test_the_spread_has_the_unit_of_the_score(visitor: Client) -> None:
    units = {column.key: column.unit for column in page_of(visitor).table.columns}
    assert units["spread"] == units["score"] == "%"


@pytest.mark.usefixtures("recorded")
def test_columns_of_the_other_view_stay_left_out(visitor: Client) -> None:
    page = page_of(visitor, view="categories", hide="cost")
    assert ("hide", "cost") in page.table.filters.carried
    assert "Some columns are left out." in visitor.get(BOARD, {"hide": "cost"}).content.decode()


@pytest.mark.usefixtures("recorded")
def test_nothing_that_matches_is_not_nothing_at_all(visitor: Client) -> None:
    text = visitor.get(BOARD, {"q": "nobody"}).content.decode()
    assert "No entry matches" in text and "Nothing has run" not in text and 'id="chart"' not in text
    text = visitor.get(BOARD, {"job": "job_unknown"}).content.decode()
    assert "No entry matches" in text
    text = visitor.get(BOARD, {"track": "empty", "q": "nobody"}).content.decode()
    assert "Nothing has run on this track yet" in text


@pytest.mark.usefixtures("recorded")
def test_jobs_are_chosen_in_the_form(visitor: Client) -> None:
    jobs = page_of(visitor).table.filters.jobs
    assert len(jobs) == 2 and not any(option.chosen for option in jobs)
    seen = set()
    for option in jobs:
        page = page_of(visitor, job=option.value)
        assert page.claim.endswith("Only the Job chosen here.")
        assert page.table.filters.words == ("1 chosen Job",)
        assert [job.value for job in page.table.filters.jobs if job.chosen] == [option.value]
        assert len(page.table.filters.jobs) == 2
        seen.add(frozenset(row.agent for row in (*page.table.rows, *page.table.unranked)))
    assert seen == {frozenset(FIGURES), frozenset({"idle"})}


def test_hostile_names_can_be_filtered_by(project: Project, visitor: Client, tmp_path: Path) -> None:
    model = "sim/\x1b[31m\u202e<b>\x07 two  spaces "
    make_job(
        tmp_path,
        benchmark=BenchmarkSpec(tracks=(track("open"),), scoring=scoring(score_range=[0.0, 100.0])),
        agents=[AgentSpec(name="odd", model=model), AgentSpec(name="plain", model="sim/plain")],
        outcomes=lambda *_: 50.0,
        track_id="open",
    )
    bring(project, tmp_path)
    (option,) = [found for found in page_of(visitor).table.filters.models if found.value != "sim/plain"]
    assert not re.search("[\x00-\x1f\u202e]", option.value)
    assert shown(visitor, model=option.value) == {"odd"}
    assert shown(visitor, min="50") == {"odd", "plain"} and shown(visitor, min="50.1") == set()
    text = visitor.get(BOARD, {"q": '"><script>x</script>', "floor": "50"}).content.decode()
    assert "<script>x" not in text


def test_a_cost_of_zero_is_marked(project: Project, visitor: Client, tmp_path: Path) -> None:
    costs: dict[str, tuple[float | None, float | None]] = {
        "free": (0.0, 0.0),
        "half": (0.0, None),
        "cheap": (0.1, 0.0),
    }
    make_job(
        tmp_path,
        benchmark=BenchmarkSpec(tasks=("a", "b"), tracks=(track("open"),)),
        agents=[AgentSpec(name=name, model=f"sim/{name}") for name in costs],
        outcomes=lambda agent, task, _: Outcome(score=0.5, cost_usd=costs[agent][task == "b"]),
        track_id="open",
    )
    bring(project, tmp_path)
    cells = {row.agent: row.cost for row in page_of(visitor).table.rows}
    assert cells["free"].note == "measured 2 of 2, reported as $0"
    assert cells["free"].title == (
        "Every attempt reported a cost of exactly 0. Where its model is not free, the run did not know "
        "the price."
    )
    assert cells["half"].note == "measured 1 of 2, reported as $0"
    assert cells["half"].title.startswith("Every attempt that told its cost reported a cost of exactly 0.")
    assert cells["cheap"].note == "measured 2 of 2" and cells["cheap"].title == "0.05"
