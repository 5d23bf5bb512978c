"""A Task in a release: its text, every Agent's attempts, and the same figures as on grid and board."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from jobs.agent_pages import TaskPage
from jobs.models import Job
from plural_site.accounts.models import Project, User
from tests.builders import (
    AWAITING_REVIEW,
    CANCELLED,
    AgentSpec,
    BenchmarkSpec,
    Outcome,
    category,
    failed,
    make_job,
    scoring,
    track,
)
from tests.importing import bring

if TYPE_CHECKING:
    from tests.conftest import ClientAs

BOARD = "/projects/triage/benchmarks/demo-bench@1.0.0"
TASKS = ("hard", "even", "easy")
AGENTS = ("ace", "bee", "cat")
NOT_FOR_PEOPLE = re.compile(r"\b(nan|NaN|None|inf|Infinity)\b")
EVIL = "<script>alert(1)</script>\x1b[31mred\u202egnp"
Value = Outcome | float | None
SCORES: dict[str, dict[str, tuple[Value, Value]]] = {
    "ace": {"hard": (1.0, 0.0), "even": (1.0, 1.0), "easy": (1.0, 1.0)},
    "bee": {"hard": (0.0, failed("", "max_turns")), "even": (0.0, 0.0), "easy": (1.0, 1.0)},
    "cat": {
        "hard": (failed("provider_unavailable"), CANCELLED),
        "even": (1.0, AWAITING_REVIEW),
        "easy": (0.5, 1.0),
    },
}


@pytest.fixture
def visitor(project: Project, ann: User, client_as: ClientAs) -> Client:
    return client_as(ann)


def record(project: Project, folder: Path, key: str = "", **changes: Any) -> None:
    spec = BenchmarkSpec(
        tasks=TASKS,
        **{
            "tracks": (track("open", attempts=2), track("other")),
            "categories": (category("letters", "hard", "easy"),),
            "scoring": scoring(task_weights={"hard": 2.0}),
            **changes,
        },
    )
    bring(
        project,
        make_job(
            folder,
            benchmark=spec,
            agents=[AgentSpec(name=name, model=f"sim/{name}") for name in AGENTS],
            attempts=2,
            outcomes=lambda agent, task, attempt: SCORES[agent][task][attempt - 1],
            track_id="open" if spec.tracks else None,
            result_json=False,
            key=key,
        ),
    )


def page_of(visitor: Client, path: str) -> Any:
    response = visitor.get(path)
    assert response.status_code == 200, path
    assert not NOT_FOR_PEOPLE.search(response.content.decode()), path
    return response.context["page"]


def task(visitor: Client, position: int, query: str = "") -> TaskPage:
    page = page_of(visitor, f"{BOARD}/tasks/{position}{query}")
    assert isinstance(page, TaskPage)
    return page


def test_attempts_stand_side_by_side(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path)
    page = task(visitor, 1)
    cells = {row.agent: [(cell.number, cell.shape, cell.score) for cell in row.cells] for row in page.rows}
    assert cells == {
        "ace": [(1, "✓", "100.0"), (2, "✗", "0.0")],
        "bee": [(1, "✗", "0.0"), (2, "▲", "–")],
        "cat": [(1, "!", "–"), (2, "⊘", "–")],
    }
    words = {row.agent: [cell.words for cell in row.cells] for row in page.rows}
    job = Job.objects.get().client_job_id
    assert words["ace"][0] == f"attempt 1: passed, score 100.0 %, cost $0.010, time 2.0\u00a0s, {job}"
    assert "agent failure, no score, counts as 0.0, cost unknown" in words["bee"][1]
    assert "infrastructure error, no score, left out" in words["cat"][0]
    assert [cell.shape for cell in task(visitor, 2).rows[2].cells] == ["✓", "…"]
    for row in page.rows:
        for cell in row.cells:
            assert page_of(visitor, cell.href)
        assert page_of(visitor, row.trials_href).total == 2
        assert page_of(visitor, row.agent_href).name == row.agent


def test_figures_are_those_of_the_grid(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path)
    record(project, tmp_path / "again", key="again")
    job = Job.objects.earliest("pk").client_job_id
    for query in ("", f"?job={job}"):
        grid = page_of(visitor, f"{BOARD}/grid{query}")
        for row in grid.rows:
            page = page_of(visitor, row.task_href)
            assert (page.task, page.position) == (row.task, row.number)
            assert {agent.agent: agent.score.text for agent in page.rows} == {
                column.agent: cell.score.text for column, cell in zip(grid.columns, row.cells, strict=True)
            }
            assert [agent.spread for agent in page.rows] == [cell.spread for cell in row.cells]
            attempts = 2 if query else 4
            assert {len(agent.cells) for agent in page.rows} == {attempts}
            known = page.difficulty_text.replace("\u00a0", " ")
            assert f"score {row.mean.text} %" in known, known
        assert [column.agent_href for column in grid.columns] == [row.agent_href for row in page.rows]


def test_difficulty_and_disagreement_are_words(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path)
    hard, even, easy = (task(visitor, position) for position in (1, 2, 3))
    assert (hard.difficulty, even.difficulty, easy.difficulty) == ("hard", "medium", "very easy")
    assert "the hardest of 3 Tasks" in hard.difficulty_text
    assert "the 2nd hardest of 3 Tasks" in even.difficulty_text
    assert "the easiest of 3 Tasks" in easy.difficulty_text
    groups = {group.label: [agent.text for agent in group.agents] for group in hard.groups}
    assert groups == {"Sometimes pass": ["ace"], "Never pass": ["bee"], "No valid attempt": ["cat"]}
    assert hard.groups[0].agents[0].note == "1 of 2"
    assert "from 0.0 % to 50.0 %" in hard.disagreement.replace("\u00a0", " ")
    assert [(row.number, row.score.text, row.valid, row.passed) for row in hard.numbers] == [
        (1, "50.0", "2 of 3", "1 of 2"),
        (2, "0.0", "2 of 3", "0 of 2"),
    ]
    assert "standard deviation is 35.4" in hard.numbers_words


def test_the_benchmark_lists_its_tasks(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path)
    page = page_of(visitor, "/projects/triage/benchmarks/demo-bench")
    assert [(row.name, row.categories, row.weight, row.difficulty.note) for row in page.tasks] == [
        ("hard", ("Letters",), "2", "hard"),
        ("even", (), "1", "medium"),
        ("easy", ("Letters",), "1", "very easy"),
    ]
    for row in page.tasks:
        shown = page_of(visitor, row.href)
        assert (shown.task, shown.version) == (row.name, row.version)
        assert row.difficulty.text in shown.difficulty_text
        assert shown.content_hash == row.content_hash


def test_the_task_is_shown_with_what_it_pins(project: Project, visitor: Client, tmp_path: Path) -> None:
    text = (
        "# Refund\n\nDo **this**. <script>alert(1)</script> [out](javascript:alert(1)) ![x](http://e/x.png)"
    )
    record(project, tmp_path, task_text={"hard": text})
    page = task(visitor, 1)
    assert "<strong>this</strong>" in page.instructions_html
    assert "<script" not in page.instructions_html and "<img" not in page.instructions_html
    assert 'href="javascript' not in page.instructions_html
    assert [(row.role, row.name, row.version, row.number) for row in page.pinned] == [
        ("Environment", "desk", "1.0.0", "1"),
        ("Verifier", "check", "1.0.0", "1"),
    ]
    assert page.pinned[1].kind == "deterministic check"
    assert page.pinned[0].content_hash.startswith("sha256:")
    assert (page.weight, page.limits) == ("2", "8 turns, 45.0\u00a0s, any cost")
    assert [figure.text for figure in page.categories] == ["Letters"]
    assert page_of(visitor, page.categories[0].href).rows
    for link in page.links:
        assert visitor.get(link.href).status_code == 200


def test_inner_parts_are_folded_and_marked_private(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path)
    text = visitor.get(f"{BOARD}/tasks/1").content.decode()
    (part,) = re.findall(r'<details class="fold private-part">.*?</details>', text, re.DOTALL)
    assert "private: never published unless chosen" in part
    assert "&quot;answer&quot;: &quot;hard&quot;" in part
    assert "&quot;answer&quot;" not in text.replace(part, "")


def test_tasks_lead_to_their_neighbours_on_the_same_track(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    record(project, tmp_path)
    first = task(visitor, 1, "?track=none")
    assert first.previous is None and first.next is not None and first.rows == ()
    second = page_of(visitor, first.next.href)
    assert (second.task, second.next.label, second.previous.label) == ("even", "easy", "hard")
    assert [tab.current for tab in second.tabs] == [False, False, True]
    tracked = page_of(visitor, second.tabs[0].href)
    assert (tracked.task, len(tracked.rows)) == ("even", 3)
    assert task(visitor, 3).next is None


def test_addresses_that_name_nothing_are_404(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path)
    for path in (
        "tasks/0",
        "tasks/4",
        f"tasks/{'9' * 40}",
        "tasks/x",
        "tasks/1?track=nope",
        "tasks/1?job=job_x",
    ):
        expected = 200 if "job_x" in path else 404  # a board of no Job is an empty board
        assert visitor.get(f"{BOARD}/{path}").status_code == expected, path
    for selector in ("1", "%231"):
        assert visitor.get(f"/projects/triage/benchmarks/demo-bench@{selector}/tasks/1").status_code == 200
    for value in ("", "x", "\0", "-1", "9" * 40, "²", "W" * 2000):
        for name in ("agents", "track", "job"):
            assert visitor.get(f"{BOARD}/tasks/1", {name: value}).status_code in (200, 404), (name, value)


def test_many_agents_come_in_pages_at_the_same_cost(
    project: Project, visitor: Client, tmp_path: Path, django_assert_num_queries: Any
) -> None:
    def add(key: str, names: list[str], attempts: int) -> None:
        bring(
            project,
            make_job(
                tmp_path / key,
                benchmark=BenchmarkSpec(tasks=("only", "more"), tracks=(track(),)),
                agents=[AgentSpec(name=name, model=f"sim/{name}") for name in names],
                attempts=attempts,
                key=key,
            ),
        )

    add("few", ["agent-00"], 2)
    queries = 16
    with django_assert_num_queries(queries):
        visitor.get(f"{BOARD}/tasks/1?track=none")
    add("many", [f"agent-{at:02}" for at in range(1, 45)], 2)
    add("long", ["agent-00"], 40)
    with django_assert_num_queries(queries):
        visitor.get(f"{BOARD}/tasks/1?track=none")
    names: list[str] = []
    href = f"{BOARD}/tasks/1?track=none"
    while href:
        page = page_of(visitor, href)
        names += [row.agent for row in page.rows]
        href = page.rows_next
    assert names == [f"agent-{at:02}" for at in range(45)]
    assert page.rows_words == "Agents 41 to 45 of 45"
    first = task(visitor, 1, "?track=none")
    assert (len(first.rows[0].cells), first.rows[0].more) == (32, "10 more")
    assert first.groups[0].count == 45 and first.groups[0].more == 37
    assert len(first.numbers) == 32


@pytest.mark.parametrize("limits", [(0.0, 0.9e308), (-1.0, 1.0)])
def test_other_ranges_without_a_pass_mark(
    limits: tuple[float, float], project: Project, visitor: Client, tmp_path: Path
) -> None:
    """The largest scores add up to more than a database holds."""
    high = limits[1]
    rules = scoring(score_range=limits, success_threshold=None)
    spec = BenchmarkSpec(tasks=("only", "more"), tracks=(track(attempts=2),), scoring=rules)
    agents = [AgentSpec(name=name, model=f"sim/{name}") for name in ("one", "two")]
    outcomes = lambda agent, task, attempt: high if agent == "one" else (attempt - 1) * high  # noqa: E731
    bring(
        project,
        make_job(tmp_path, benchmark=spec, agents=agents, attempts=2, outcomes=outcomes, track_id="open"),
    )
    page = task(visitor, 1)
    assert [group.label for group in page.groups] == ["Attempts differ"]
    assert {cell.shape for row in page.rows for cell in row.cells} == {""}
    assert page.difficulty in ("easy", "very easy") and page.unit == ""
    assert [row.passed for row in page.numbers] == ["", ""]
    assert (
        page_of(visitor, "/projects/triage/benchmarks/demo-bench").tasks[0].difficulty.note == page.difficulty
    )


def test_hostile_text_is_shown_and_does_nothing(project: Project, visitor: Client, tmp_path: Path) -> None:
    name = f"task {EVIL}"
    spec = BenchmarkSpec(
        name=f"Bench {EVIL}",
        slug="demo-bench",
        tasks=(name, "other"),
        categories=(category("all", name, name=f"Cat {EVIL}"),),
        tracks=(track(name=f"Track {EVIL}"),),
        task_text={name: f"Do {EVIL}"},
    )
    agents = [AgentSpec(name=f"{EVIL}{at}", model=f"sim/{EVIL}{at}") for at in range(2)]
    bring(project, make_job(tmp_path, benchmark=spec, agents=agents, track_id="open"))
    agent = task(visitor, 1).rows[0].agent_href
    for path in (f"{BOARD}/tasks/1", agent, "/projects/triage/agents", "/projects/triage/agents?q=script"):
        text = visitor.get(path).content.decode()
        assert "&lt;script&gt;alert(1)" in text, path
        for found in ("<script>alert", "\x1b", "\u202e"):
            assert found not in text, (path, found)
