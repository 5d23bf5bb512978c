"""Two releases compared on the web: what changed, and the scores of each Agent on only what did not."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs import release_scores
from plural_site.accounts.models import Project
from tests.builders import START, BenchmarkSpec, agents_named, category, make_job, scoring, track
from tests.importing import bring

PAGE = "/projects/triage/benchmarks/demo-bench/compare-releases"
TASKS = tuple("abcdefgh")
OLD = BenchmarkSpec(
    version="1.0.0",
    tasks=TASKS,
    tracks=(track(), track("other")),
    scoring=scoring(task_weights={"a": 2.0, "b": 3.0}),
    categories=(category("all", *TASKS),),
)
NEW = BenchmarkSpec(
    version="1.1.0",
    tasks=("b", "a", *TASKS[2:7], "i"),
    task_text={"c": "Answer c, anew."},
    tracks=(track(name="Renamed"), track("other", version="2.0.0", max_turns=4)),
    scoring=scoring(task_weights={"a": 2.0, "b": 1.0}, description="Other words."),
    categories=(category("all", "a"),),
)
COMMON = ("a", "d", "e", "f", "g")
"""c is another content, b another weight, h gone and i new."""
SCORES = {
    ("1.0.0", "up"): dict.fromkeys(TASKS, 0.0) | {"a": 1.0, "c": 1.0},
    ("1.1.0", "up"): dict.fromkeys("abcdefgi", 1.0) | {"a": 0.0},
    ("1.0.0", "gone"): dict.fromkeys(TASKS, 0.5),
    ("1.1.0", "come"): dict.fromkeys("abcdefgi", 0.25),
}


def record(
    project: Project, folder: Path, spec: BenchmarkSpec, *names: str, track_id: str | None = "open"
) -> None:
    def happened(agent: str, task: str, _attempt: int) -> float | None:
        return SCORES[spec.version, agent].get(task)

    later = timedelta(hours=int(spec.version.replace(".", "")))
    place = folder / f"{spec.version} {track_id}"
    bring(
        project,
        make_job(
            place,
            benchmark=spec,
            agents=agents_named(names),
            outcomes=happened,
            track_id=track_id,
            started=START + later,
        ),
    )


@pytest.fixture
def both(project: Project, tmp_path: Path) -> None:
    record(project, tmp_path, OLD, "up", "gone")
    record(project, tmp_path, NEW, "up", "come")


def page_of(visitor: Client, **query: Any) -> Any:
    response = visitor.get(PAGE, query)
    assert response.status_code == 200
    return response.context["page"]


def row_of(page: Any, agent: str) -> Any:
    return next(row for row in page.scores.rows if row.agent == agent)


@pytest.mark.usefixtures("both")
def test_scores_are_those_of_the_tasks_that_did_not_change(visitor: Client) -> None:
    page = page_of(visitor)
    assert (page.title, page.reasons) == ("1.0.0 and 1.1.0", ())
    assert [task.text for task in page.tasks] == list(COMMON)
    assert "5 of the 8 Tasks of 1.1.0 compare" in page.tasks_words
    assert [(each.reason, [task.text for task in each.tasks]) for each in page.excluded] == [
        ("Their content, or what they pin, is another one", ["c"]),
        ("They weigh differently", ["b"]),
        ("They are in 1.0.0 only", ["h"]),
        ("They are in 1.1.0 only", ["i"]),
    ]
    row = row_of(page, "up")
    weights = {"a": 2.0}
    total = sum(weights.get(task, 1.0) for task in COMMON)
    before, after = (
        sum(weights.get(task, 1.0) * SCORES[version, "up"][task] for task in COMMON) / total
        for version in ("1.0.0", "1.1.0")
    )
    assert (float(row.old.score.title), float(row.new.score.title)) == pytest.approx((before, after))
    assert float(row.difference.title) == pytest.approx(after - before)
    assert row.old.coverage.text == "5 of 5"
    assert "Too few Tasks differ to tell: 5 Tasks differ" in row.verdict
    assert row.bar.text != "no interval"


@pytest.mark.usefixtures("both")
def test_an_agent_of_one_release_alone_stands_beside_the_others(visitor: Client) -> None:
    page = page_of(visitor)
    assert [row.agent for row in page.scores.rows] == ["up", "come", "gone"]
    gone, come = row_of(page, "gone"), row_of(page, "come")
    assert (gone.old.score.text, gone.new.score.text, gone.verdict) == ("50.0", "–", "It ran on 1.0.0 only.")
    assert (come.old.remark, come.new.score.text, come.difference.text) == ("did not run", "25.0", "–")
    assert page.scores.adjusted == ""


@pytest.mark.usefixtures("both")
def test_what_changed_is_told_with_the_way_to_each_task(visitor: Client) -> None:
    diff = page_of(visitor).diff
    assert [task.name for task in diff.added] == ["i"]
    assert diff.added[0].href.endswith("demo-bench@1.1.0/tasks/8")
    assert diff.removed[0].href.endswith("demo-bench@1.0.0/tasks/8")
    assert [task.name for task in diff.updated] == ["c"]
    assert [(move.name, move.old, move.new) for move in diff.moved] == [("b", 2, 1)]
    paths = [row.path for row in diff.configuration.rows]
    assert "scoring.task_weights.b" in paths
    assert "tracks[id=other].max_turns" in paths
    assert "tracks[id=open].name" in paths


@pytest.mark.usefixtures("both")
def test_only_tracks_with_the_same_rules_can_be_chosen(visitor: Client) -> None:
    page = page_of(visitor)
    assert [(choice.label, choice.current) for choice in page.tracks] == [("Renamed (open@1.0.0)", True)]
    assert page_of(visitor, track="open").scores is not None
    for wanted in ("other", "other@1.0.0", "none", "x\0"):
        assert visitor.get(PAGE, {"track": wanted}).status_code == 404


@pytest.mark.usefixtures("both")
def test_the_other_way_round_the_difference_has_the_other_sign(visitor: Client) -> None:
    there, back = page_of(visitor), page_of(visitor, **{"from": "1.1.0", "to": "1.0.0"})
    assert back.title == "1.1.0 and 1.0.0"
    assert there.swap_href == f"{PAGE}?from=2&to=1&track=open%401.0.0"
    one, other = (float(row_of(page, "up").difference.title) for page in (there, back))
    assert one == -other != 0
    assert [task.text for task in back.tasks] == list(COMMON)


def test_rules_that_differ_leave_nothing_comparable(
    visitor: Client, project: Project, tmp_path: Path
) -> None:
    record(project, tmp_path, OLD, "gone")
    other = BenchmarkSpec(version="1.1.0", tasks=OLD.tasks, scoring=scoring(agent_failure="exclude"))
    record(project, tmp_path, other, "come", track_id=None)
    response = visitor.get(PAGE)
    page = response.context["page"]
    assert page.scores is None
    assert len(page.reasons) == 2
    assert "What an attempt that the Agent failed counts as: zero in 1.0.0, exclude in 1.1.0." in page.reasons
    assert "Nothing is comparable" in response.content.decode()
    assert not page.diff.is_empty


def test_a_track_on_which_nobody_ran_says_so(visitor: Client, project: Project, tmp_path: Path) -> None:
    record(project, tmp_path, OLD, "gone", track_id=None)
    record(project, tmp_path, NEW, "come", track_id=None)
    response = visitor.get(PAGE)
    assert response.context["page"].scores is None
    assert "Nobody ran on this track" in response.content.decode()


def test_one_revision_alone_and_one_with_itself(visitor: Client, project: Project, tmp_path: Path) -> None:
    record(project, tmp_path, OLD, "gone")
    assert "There is one revision only" in visitor.get(PAGE).content.decode()
    record(project, tmp_path, NEW, "come")
    text = visitor.get(PAGE, {"from": "2", "to": "1.1.0"}).content.decode()
    assert "Choose two that differ" in text


@pytest.mark.usefixtures("both")
def test_revisions_that_are_not_there_are_absent(visitor: Client) -> None:
    for query in ({"from": "9"}, {"to": "x"}, {"from": "\0"}, {"to": "0"}):
        assert visitor.get(PAGE, query).status_code == 404
    assert visitor.get(PAGE.replace("demo-bench", "other")).status_code == 404


@pytest.mark.usefixtures("both")
def test_many_agents_come_in_pages(visitor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_scores, "AGENTS_A_PAGE", 2)
    first = page_of(visitor)
    assert [row.agent for row in first.scores.rows] == ["up", "come"]
    assert first.scores.agents_words == "Agents 1 to 2 of 3"
    second = visitor.get(first.scores.agents_next).context["page"]
    assert [row.agent for row in second.scores.rows] == ["gone"]
    assert page_of(visitor, agents="77").scores.agents_words == "Agents 3 to 3 of 3"


@pytest.mark.usefixtures("both")
def test_board_and_benchmark_page_lead_here(visitor: Client) -> None:
    board = visitor.get("/projects/triage/benchmarks/demo-bench@1.0.0")
    assert board.context["page"].compare_releases_href == f"{PAGE}?from=1&to=2"
    assert f'href="{PAGE}?from=1&amp;to=2"' in board.content.decode()
    newest = visitor.get("/projects/triage/benchmarks/demo-bench@1.1.0").context["page"]
    assert newest.compare_releases_href == f"{PAGE}?to=2"
    assert page_of(visitor, to="2").title == "1.0.0 and 1.1.0"
    assert page_of(visitor, to="1").is_same
    rows = visitor.get("/projects/triage/benchmarks/demo-bench").context["page"].revisions
    assert [(row.compare.text, row.compare.href) for row in rows] == [
        ("with 1.0.0", f"{PAGE}?from=1&to=2"),
        ("with 1.1.0", f"{PAGE}?from=1&to=2"),
    ]


@pytest.mark.usefixtures("both")
def test_it_costs_the_same_with_more_of_everything(visitor: Client, project: Project, tmp_path: Path) -> None:
    def cost(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert visitor.get(path).status_code == 200
        return len(queries)

    before = cost(PAGE)
    names = tuple(f"task {number}" for number in range(30))
    for number, text in enumerate(("x", "y")):
        spec = BenchmarkSpec(
            name="Big",
            slug="big",
            version=f"{number}.0.0",
            tasks=names,
            task_text=dict.fromkeys(names[:15], text),
            tracks=(track(),),
        )
        agents = agents_named(f"agent-{n}" for n in range(4))
        folder = make_job(tmp_path / f"big {number}", benchmark=spec, agents=agents, track_id="open")
        bring(project, folder)
    assert cost(PAGE.replace("demo-bench", "big")) == before == 22
