"""The chart: axes, what is drawn and what is only counted, and that it says what the board says."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.board.charts import MOST_TICKS, dollars, make_axis, short
from benchmarks.board.plot import LARGEST, SMALLEST
from plural_site.accounts.models import Project
from tests.builders import AgentSpec, BenchmarkSpec, Outcome, make_job, scoring, track
from tests.deciding import BOARD, CHART, FIGURES, page_of, some_recorded  # noqa: F401 - a fixture
from tests.importing import bring

ROOT = Path(__file__).parents[2]
Figure = dict[str, Any]

# Axes ------------------------------------------------------------------------------------------------


def ticks(*values: float, is_log: bool = True) -> list[str]:
    return [text for _, text in make_axis(values, is_log=is_log, write=dollars).ticks]


def test_ticks_are_one_two_and_five_of_dollars() -> None:
    assert ticks(0.05, 1.0) == ["$0.05", "$0.10", "$0.20", "$0.50", "$1"]
    assert ticks(0.0013, 0.022) == ["$0.001", "$0.002", "$0.005", "$0.01", "$0.02"]
    assert ticks(2000.0, is_log=False) == ["$0", "$500", "$1\u202f000", "$1\u202f500", "$2\u202f000"]
    assert ticks(0.03, is_log=False) == ["$0", "$0.01", "$0.02", "$0.03"]
    assert ticks(0.001, 1000.0) == ["$0.001", "$0.01", "$0.10", "$1", "$10", "$100", "$1\u202f000"]


def test_a_log_axis_puts_zero_at_its_left_end() -> None:
    axis = make_axis([0.0, 0.01, 1.0], is_log=True, write=dollars)
    assert axis.ticks[0][1] == "$0"
    assert axis.ends[0] < axis.coordinate(0.0) < axis.coordinate(0.01)
    assert axis.ticks[0][0] == axis.place(0.0)
    assert make_axis([0.01, 1.0], is_log=True, write=dollars).zero is None


def test_an_axis_without_anything_above_zero_still_has_ends() -> None:
    for values in ([], [0.0], [0.0, 0.0]):
        axis = make_axis(values, is_log=False, write=dollars)
        assert axis.ends == (0.0, 1.0) and axis.ticks


AMOUNTS = st.just(0.0) | st.floats(SMALLEST, LARGEST)


@given(st.lists(AMOUNTS, min_size=1, max_size=20), st.booleans())
def test_every_value_has_a_place_and_ticks_are_few_and_in_order(values: list[float], wants_log: bool) -> None:
    axis = make_axis(values, is_log=wants_log and any(values), write=dollars)
    low, high = axis.ends
    assert all(low <= axis.coordinate(value) <= high for value in values) and low < high
    places = [place for place, _ in axis.ticks]
    assert places == sorted(set(places)) and 2 <= len(places) <= MOST_TICKS + 1
    assert len({text for _, text in axis.ticks}) == len(places)


def test_long_names_are_cut() -> None:
    assert short("as long as it may be", 20) == "as long as it may be"
    assert short("a name that is too long", 12) == "a name that…"


# Figures ---------------------------------------------------------------------------------------------


def figure_of(visitor: Client, **query: str) -> Figure:
    response = visitor.get(CHART, query)
    assert response.status_code == 200 and response.headers["Content-Type"] == "application/json"
    found: Figure = json.loads(response.content, parse_constant=pytest.fail)
    return found


def drawn(figure: Figure) -> dict[str, tuple[float, float]]:
    """Name to place, from the markers and what they say when pointed at."""
    found = {}
    for trace in figure["data"]:
        if trace["mode"] == "markers":
            for x, y, text in zip(trace["x"], trace["y"], trace["hovertext"], strict=True):
                found[text.partition("</b>")[0].removeprefix("<b>")] = (x, y)
    return found


def labels(figure: Figure) -> list[str]:
    return [note["text"] for note in figure["layout"]["annotations"] if note["name"] == "label"]


def frontier(figure: Figure) -> list[tuple[float, float]]:
    (line,) = [trace for trace in figure["data"] if trace["mode"] == "lines"]
    assert line["line"]["shape"] == "hv" and figure["data"][0] is line
    return list(zip(line["x"], line["y"], strict=True))


@pytest.mark.usefixtures("recorded")
def test_it_draws_what_the_board_says(visitor: Client) -> None:
    figure = figure_of(visitor)
    entries = {row["agent"]: row for row in visitor.get(f"{BOARD}/leaderboard.json").json()["entries"]}
    assert set(drawn(figure)) == set(FIGURES) - {"bound", "silent", "partly"}
    for name, (x, y) in drawn(figure).items():
        assert x == entries[name]["cost"]["value"]
        assert y == pytest.approx(entries[name]["score"] * 100)
    assert sorted(labels(figure)) == sorted(drawn(figure))
    for trace in figure["data"][1:]:
        for place, text in enumerate(trace["hovertext"]):
            entry = entries[text.partition("</b>")[0].removeprefix("<b>")]
            low, high = entry["uncertainty"]["low"], entry["uncertainty"]["high"]
            if low is None:
                assert trace["error_y"]["array"][place] is trace["error_y"]["arrayminus"][place] is None
                continue
            assert trace["y"][place] + trace["error_y"]["array"][place] == pytest.approx(high * 100)
            assert trace["y"][place] - trace["error_y"]["arrayminus"][place] == pytest.approx(low * 100)
    assert figure["layout"]["xaxis"]["type"] == "log"


@pytest.mark.usefixtures("recorded")
def test_the_frontier_is_of_ranked_entries_with_a_known_cost(visitor: Client) -> None:
    figure = figure_of(visitor)
    places = drawn(figure)
    _, *corners, _ = frontier(figure)
    assert corners == [places[name] for name in ("cheap", "quick", "dear")]
    assert set(labels(figure)[:3]) == {"cheap", "quick", "dear"}
    part = page_of(visitor).table.chart
    assert part.says.startswith("cheap, quick and dear are on the frontier:")
    notes = " ".join(part.notes)
    assert "1 whose cost is only a lower bound (bound, ≥ $0.0010)" in notes
    assert "1 of unknown cost (silent)" in notes and "1 without a score (idle)" in notes
    assert "1 whose cost is not known for every attempt (partly, known for 4 of 6 attempts)" in notes
    assert "what is drawn and scores higher" in part.says
    assert [row.agent for row in part.rows if "on the frontier" in row.remark] == ["cheap", "quick", "dear"]
    assert {row.agent: row.remark for row in part.rows}["absent"] == "not ranked"
    assert len(part.rows) == len(FIGURES) + 1


@pytest.mark.usefixtures("recorded")
def test_a_category_has_its_own_cost_and_time_has_its_own_axis(visitor: Client) -> None:
    late = drawn(figure_of(visitor, category="late"))
    assert late["middle"] == pytest.approx((0.05, 20.0))
    assert drawn(figure_of(visitor))["middle"] == pytest.approx((0.025, 70.0))
    assert page_of(visitor, category="late").table.chart.says.startswith("On Late: ")
    timed = figure_of(visitor, x="latency", scale="linear")
    assert drawn(timed)["quick"][0] == pytest.approx(1.0)
    assert "bound" in drawn(timed) and "silent" not in drawn(timed)
    assert timed["layout"]["xaxis"]["type"] == "linear" and timed["layout"]["xaxis"]["range"][0] == 0
    part = page_of(visitor, x="latency").table.chart
    assert part.title == "Time against correctness" and part.axes[1].current and not part.axes[0].current
    assert "1 of unknown time (silent)" in " ".join(part.notes)
    assert figure_of(visitor, category="nothing", x="weight", scale="?") == figure_of(visitor)


@pytest.mark.usefixtures("recorded")
def test_the_floor_is_a_line_within_the_range(visitor: Client) -> None:
    (line,) = figure_of(visitor, floor="75")["layout"]["shapes"]
    assert line["y0"] == line["y1"] == pytest.approx(75)
    assert "shapes" not in figure_of(visitor, floor="101")["layout"]
    assert any("outside the range" in note for note in page_of(visitor, floor="101").table.chart.notes)


@pytest.mark.usefixtures("recorded")
def test_it_shows_what_the_board_shows(visitor: Client) -> None:
    part = page_of(visitor, model="sim/cheap", floor="10", view="categories").table.chart
    figure = json.loads(visitor.get(part.figure_href).content)
    assert set(drawn(figure)) == {"cheap"} and figure["layout"]["shapes"]
    assert part.says == "cheap alone is on the frontier: nothing ranked scores higher or costs less."
    assert page_of(visitor, model="sim/silent").table.chart.figure_href == ""
    alone = page_of(visitor, model="sim/absent").table.chart
    assert alone.says == "No entry that is drawn is ranked, so there is no frontier." and alone.figure_href


@pytest.mark.parametrize("ends", [(-1.0, 1.0), (0.0, 100.0), (0.0, 1e12)])
def test_other_ranges_free_agents_and_hostile_names(
    ends: tuple[float, float],
    project: Project,
    visitor: Client,
    tmp_path: Path,
) -> None:
    low, high = ends
    spec = BenchmarkSpec(
        tracks=(track("open"),), scoring=scoring(score_range=list(ends), success_threshold=None)
    )
    names = ("free", "<img src=x onerror=1>" + "n" * 60, "equal")
    make_job(
        tmp_path,
        benchmark=spec,
        agents=[AgentSpec(name=name, model=f"sim/{place}") for place, name in enumerate(names)],
        outcomes=lambda agent, *_: Outcome(score=high, cost_usd=0.0 if agent == "free" else 0.25),
        track_id="open",
    )
    bring(project, tmp_path)
    figure = figure_of(visitor)
    texts = json.dumps(figure)
    assert "<img" not in texts and "&lt;img" in texts
    assert all(y == high for _, y in drawn(figure).values())
    bottom, top = figure["layout"]["yaxis"]["range"]
    assert bottom < low and high < top
    assert figure["layout"]["xaxis"]["ticktext"][0] == "$0"
    assert all(len(label) < 60 for label in labels(figure))
    notes = page_of(visitor).table.chart.notes
    zero = "Where its model is not free, the run did not know the price."
    assert f"Reported as $0 by every attempt: 1 (free). {zero}" in notes
    assert not any("$0" in note for note in page_of(visitor, x="latency").table.chart.notes)
    assert "At the left end, as a log scale has no place for zero: free." in notes


def test_unpriced_attempts_put_nobody_on_the_frontier(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    def happened(agent: str, task: str, _attempt: int) -> Outcome:
        half = agent == "half"
        return Outcome(
            score=0.9 if half else 0.8,
            cost_usd=0.1 if not half else 0.001 if task == "a" else None,
            latency_seconds=5.0 if not half else 0.5 if task == "a" else None,
        )

    make_job(
        tmp_path,
        benchmark=BenchmarkSpec(tasks=("a", "b"), tracks=(track("open"),)),
        agents=[AgentSpec(name=name, model=f"sim/{name}") for name in ("half", "whole")],
        outcomes=happened,
        track_id="open",
    )
    bring(project, tmp_path)
    for by, name in (("", "cost"), ("latency", "time")):
        assert set(drawn(figure_of(visitor, x=by))) == {"whole"}
        part = page_of(visitor, x=by).table.chart
        assert part.says.startswith("whole alone is on the frontier: nothing ranked and drawn scores higher")
        assert part.notes[0] == (
            f"Not drawn: 1 whose {name} is not known for every attempt (half, known for 1 of 2 attempts)."
        )
    pick = page_of(visitor, floor="50").table.chooser.overall
    assert pick.name == "whole"
    assert "half: It reaches the floor, but its cost is known for only 1 of its 2 attempts." in pick.dropped
    assert any("half's is known for only 1 of its 2 attempts" in doubt for doubt in pick.doubts)


def test_a_crowd_has_names_only_where_they_matter(project: Project, visitor: Client, tmp_path: Path) -> None:
    agents = [AgentSpec(name=f"agent-{place}", model=f"sim/{place}") for place in range(50)]
    make_job(
        tmp_path,
        benchmark=BenchmarkSpec(tracks=(track("open"),)),
        agents=agents,
        outcomes=lambda agent, *_: Outcome(score=0.5, cost_usd=int(agent[6:]) + 1),
        track_id="open",
    )
    bring(project, tmp_path)
    figure = figure_of(visitor)
    assert len(drawn(figure)) == 50 and 6 <= len(labels(figure)) <= 7 and labels(figure)[0] == "agent-0"


# What it is drawn with -------------------------------------------------------------------------------


@pytest.mark.usefixtures("recorded")
def test_colours_are_names_of_the_sites_tokens(visitor: Client) -> None:
    text = visitor.get(CHART, {"floor": "50"}).content.decode()
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", text))
    tokens = (ROOT / "static/css/tokens.css").read_text("utf-8")
    assert len(used) > 8 and all(f"{name}: light-dark(" in tokens for name in used)
    assert not re.search(r'"#[0-9a-fA-F]{3,8}"', text)


def test_pages_do_not_load_plotly() -> None:
    program = (
        "import sys, django; django.setup(); import plural_site.urls, jobs.views_chart, jobs.board_page;"
        "sys.exit('plotly' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_what_is_vendored_is_what_it_says() -> None:
    folder = ROOT / "static" / "vendor"
    listed = tomllib.loads((folder / "VENDOR.toml").read_text("utf-8"))
    assert {path.name for path in folder.iterdir() if path.suffix in (".js", ".css")} == set(listed)
    for name, facts in listed.items():
        content = (folder / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == facts["sha256"]
        assert f"v{facts['version']}".encode() in content[:200] and facts["license"] == "MIT"
        assert b"new Function" not in content and b"sourceMappingURL" not in content
    assert "MIT License" in (folder / "plotly-LICENSE.txt").read_text("utf-8")
