""" "Which one?": the answer on the board's page is that of the rule, and its words say what was asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from plural_site.accounts.models import Project
from tests.builders import AgentSpec, BenchmarkSpec, Outcome, make_job, scoring, track
from tests.deciding import BOARD, page_of, some_recorded  # noqa: F401 - a fixture
from tests.importing import bring

pytestmark = pytest.mark.usefixtures("recorded")


def test_without_a_floor_it_says_what_to_enter(visitor: Client) -> None:
    part = page_of(visitor).table.chooser
    assert (part.overall, part.categories, part.asked, part.tolerance) == (None, (), "", "5")
    assert part.example == "at least 75.0\u00a0%"  # the pass mark, which somebody reaches
    asked = visitor.get(part.example_href).context["page"].table.chooser
    assert asked.floor == "75" and asked.overall.name == "quick"


def test_the_cheapest_that_reaches_the_floor_is_chosen(visitor: Client) -> None:
    part = page_of(visitor, floor="45").table.chooser
    assert (part.overall.name, part.overall.cost, part.overall.score) == ("cheap", "$0.010", "50.0\u00a0%")
    assert part.overall.runners_up[0].startswith("quick: $0.02")
    assert len(part.overall.runners_up) == 3 and part.overall.more == 1
    dropped = " ".join(part.overall.dropped)
    assert all(name in dropped for name in ("bound", "silent", "partly", "absent", "idle"))
    assert page_of(visitor, floor="90").table.chooser.overall.name == "dear"


def test_about_the_same_cost_is_the_readers_to_say(visitor: Client) -> None:
    assert page_of(visitor, floor="45", tolerance="10").table.chooser.overall.name == "cheap"
    wide = page_of(visitor, floor="45", tolerance="110").table.chooser.overall
    assert wide.name == "quick" and any("fastest" in reason for reason in wide.reasons)
    for rubbish in ("-1", "many", "nan"):
        part = page_of(visitor, floor="45", tolerance=rubbish).table.chooser
        assert (part.tolerance, part.overall.name) == ("5", "cheap")


def test_each_category_has_its_own_answer(visitor: Client) -> None:
    part = page_of(visitor, floor="75").table.chooser
    names = {pick.scope: pick.name for pick in part.categories}
    assert names == {"Early": "quick", "Late": "quick"} and part.differs == ""
    part = page_of(visitor, floor="65", tolerance="25").table.chooser
    assert part.overall.name == "quick"
    part = page_of(visitor, floor="65", tolerance="0").table.chooser
    assert {pick.scope: (pick.name, pick.cost) for pick in part.categories} == {
        "Early": ("middle", "$0.020"),
        "Late": ("quick", part.overall.cost),
    }
    assert part.differs == "quick is not the choice on Early."


def test_doubts_are_said(visitor: Client) -> None:
    part = page_of(visitor, floor="50").table.chooser
    assert part.overall.name == "cheap"
    assert any("cost isn't fully known" in doubt for doubt in part.overall.doubts)
    (late,) = [pick for pick in part.categories if pick.scope == "Late"]
    assert any("no interval" in doubt for doubt in late.doubts)


def test_no_agent_is_an_answer_too(visitor: Client) -> None:
    part = page_of(visitor, floor="100.1").table.chooser
    assert part.overall.name == "" and part.overall.reasons
    text = visitor.get(BOARD, {"floor": "100.1"}).content.decode()
    assert "No Agent" in text and "No ranked Agent reaches the floor of 100.1\u00a0%." in text


def test_it_chooses_among_what_is_shown(visitor: Client) -> None:
    part = page_of(visitor, floor="45", q="e", ranked="1", harness="", model="sim/dear").table.chooser
    assert part.overall.name == "dear" and part.asked.startswith("Of the 1 entry shown, at least 45.0")
    assert ("model", "sim/dear") in part.carried and ("floor", "45") not in part.carried
    cleared = visitor.get(part.clear_href).context["page"]
    assert cleared.table.chooser.overall is None and [row.agent for row in cleared.table.rows] == ["dear"]


def test_scores_of_another_range_and_names_that_repeat(
    visitor: Client, project: Project, tmp_path: Path
) -> None:
    spec = BenchmarkSpec(
        name="Signed",
        slug="signed",
        tracks=(track("open"),),
        scoring=scoring(score_range=[-1.0, 1.0], success_threshold=None),
    )
    agents = [AgentSpec(name="twin", model="sim/left"), AgentSpec(name="other", model="sim/right")]
    costs = {"twin": 0.5, "other": 0.25}
    for key, name in (("1", "twin"), ("2", "other")):
        make_job(
            tmp_path / "signed",
            benchmark=spec,
            agents=[AgentSpec(name="twin", model=agent.model) for agent in agents if agent.name == name],
            outcomes=lambda *_, name=name: Outcome(score=-0.5, cost_usd=costs[name]),
            track_id="open",
            key=key,
        )
    bring(project, tmp_path / "signed")
    page = visitor.get("/projects/triage/benchmarks/signed@1.0.0", {"floor": "-0,5"}).context["page"]
    pick = page.table.chooser.overall
    assert pick.name.startswith("twin (") and pick.cost == "$0.25" and pick.score == "−0.50"
    assert pick.href in {f"#entry-{row.key}" for row in page.table.rows}
    assert len({row.agent for row in page.table.chart.rows}) == 2
    assert page.table.chooser.unit == ""
