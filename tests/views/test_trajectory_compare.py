"""Two trajectories beside each other: what is matched, where they part, and what of it is bounded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs import trajectory_open, trajectory_sides
from jobs.domain.trajectory import align
from jobs.models import Execution, Trial
from jobs.trajectory_pages import TrajectoryComparePage
from plural_site.accounts.models import Project, User
from tests.builders import AgentSpec, BenchmarkSpec, Outcome, line, make_job
from tests.conftest import ClientAs
from tests.importing import bring
from tests.trajectories import ATIF, atif, leave, step, write_atif

ADDRESS = "/projects/triage/trajectories/compare"
APPS = "artifacts/apps.json"
WRONG = {"results": [{"source_call_id": "c", "content": "no", "extra": {"is_error": True}}]}


@pytest.fixture
def pair(project: Project, tmp_path: Path) -> tuple[Trial, Trial]:
    """Two Agents at one Task of a release that has another Task too."""
    bring(
        project,
        make_job(
            tmp_path,
            benchmark=BenchmarkSpec(tasks=("a", "b")),
            agents=(AgentSpec(name="first"), AgentSpec(name="second", model="sim/two")),
            outcomes=lambda agent, task, number: Outcome(score=1.0 if agent == "first" else 0.5),
        ),
    )
    first, second = Trial.objects.filter(task_name="a").order_by("job_agent__position")
    return first, second


def execution_of(trial: Trial) -> Execution:
    return trial.executions.get(is_final=True)


def write(trial: Trial, steps: list[Any], **apps: Any) -> None:
    files: dict[str, Any] = {ATIF: atif(steps)}
    if apps:
        files[APPS] = line(apps)
    leave(execution_of(trial), files)


def get(visitor: Client, a: Trial, b: Trial | None, **query: Any) -> tuple[TrajectoryComparePage, str]:
    asked = {"a": a.client_trial_id, **({"b": b.client_trial_id} if b else {}), **query}
    response = visitor.get(ADDRESS, asked)
    assert response.status_code == 200
    assert len(response.content) < 1_000_000
    page: TrajectoryComparePage = response.context["page"]
    return page, response.content.decode()


def page_of(visitor: Client, a: Trial, b: Trial | None, **query: Any) -> TrajectoryComparePage:
    return get(visitor, a, b, **query)[0]


def shape(page: TrajectoryComparePage) -> list[tuple[str, int, int | None, int | None]]:
    return [
        (row.kind, row.count, row.a.number if row.a else None, row.b.number if row.b else None)
        for row in page.rows
    ]


def test_equal_steps_fold_and_the_first_difference_is_marked(
    visitor: Client, pair: tuple[Trial, Trial]
) -> None:
    a, b = pair
    ours = [step(number) for number in range(1, 9)]
    theirs = [step(number) for number in range(1, 9)]
    theirs[3]["message"] = "Something else."
    theirs[5]["observation"] = WRONG
    del theirs[6]
    write(a, ours)
    write(b, theirs)
    page, text = get(visitor, a, b)
    assert shape(page) == [
        ("equal", 3, None, None),
        ("differs", 1, 4, 4),
        ("equal", 1, None, None),
        ("differs", 1, 6, 6),
        ("only a", 1, 7, None),
        ("equal", 1, None, None),
    ]
    assert [row.marks for row in page.rows[:4]] == [(), ("first difference",), (), ("first error of B",)]
    assert [(mark.label, mark.href.rpartition("#")[2]) for mark in page.landmarks] == [
        ("First difference: step 4 of A and step 4 of B", "row-2"),
        ("First error of B: step 6", "row-4"),
    ]
    assert 'id="row-2"' in text and "3 equal steps" in text
    assert page.summary[0] == "Steps: 5 equal, 2 of the same kind that differ, 1 only in A."
    assert "A has no step with an error." in page.summary
    different = page.rows[1]
    assert different.b and different.b.text.startswith("Something else.\n→ read_log")
    assert different.b.figures.endswith("so far")
    assert [(left.number, right.number) for left, right in page.rows[0].pairs] == [(1, 1), (2, 2), (3, 3)]


def test_heads_say_how_each_ended(visitor: Client, pair: tuple[Trial, Trial]) -> None:
    a, b = pair
    write(a, [step(1)])
    write(b, [step(1), step(2)])
    page = page_of(visitor, a, b)
    assert page.b
    assert (page.a.agent, page.a.outcome, page.a.score) == ("first", "Scored", "100.0 %")
    assert (page.b.agent, page.b.score) == ("second", "50.0 %")
    assert [fact.figure.text for fact in page.b.facts] == ["2", "1.0\u00a0s", "$0.0020"]
    assert page.warning == ""
    assert page.swap_href == f"{ADDRESS}?a={b.client_trial_id}&b={a.client_trial_id}"


def test_states_are_compared(visitor: Client, pair: tuple[Trial, Trial]) -> None:
    a, b = pair
    write(a, [step(1)], desk={"initial": {}, "final": {"team": "billing", "n": 1}})
    write(b, [step(1)], desk={"initial": {}, "final": {"team": "<i>it</i>", "n": 1, "x": 2}})
    states = page_of(visitor, a, b).states
    assert states.words == "2 differences between the final states."
    assert [(change.app, change.path, change.kind, change.a, change.b) for change in states.changes] == [
        ("desk", "team", "differs", '"billing"', '"<i>it</i>"'),
        ("desk", "x", "only in B", "", "2"),
    ]
    write(b, [step(1)], desk={"final": {"team": "billing", "n": 1}})
    assert page_of(visitor, a, b).states.words == "Both left their Apps in the same final state."
    write(b, [step(1)])
    assert page_of(visitor, a, b).states.words == "B recorded no final state of its Apps."


def test_other_attempts_can_be_chosen(visitor: Client, pair: tuple[Trial, Trial]) -> None:
    a, b = pair
    page = page_of(visitor, a, None)
    assert page.b is None and page.rows == ()
    assert [(choice.agent, choice.current, bool(choice.href)) for choice in page.choices] == [
        ("first", "A", False),
        ("second", "", True),
    ]
    assert page.choices[1].href == f"{ADDRESS}?a={a.client_trial_id}&b={b.client_trial_id}"
    assert [choice.current for choice in page_of(visitor, a, b).choices] == ["A", "B"]


def test_trials_of_different_tasks_are_shown_with_a_warning(
    visitor: Client, pair: tuple[Trial, Trial]
) -> None:
    a, _ = pair
    other = Trial.objects.get(task_name="b", job_agent__name="first")
    page = page_of(visitor, a, other)
    assert page.warning.startswith("A and B are at different Tasks (B: b)")
    assert page.rows
    assert page_of(visitor, a, a).warning == "A and B are the same Trial."
    same = page_of(visitor, a, a)
    assert same.landmarks == () and "There is no difference in what is compared here." in same.summary


def test_a_missing_trajectory_is_said(
    visitor: Client, pair: tuple[Trial, Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    leave(execution_of(b), {"logs/stdout.log": b""})
    page = page_of(visitor, a, b)
    assert page.b and page.b.missing == "The run recorded no artifacts."
    assert {row.kind for row in page.rows} == {"only a"}
    assert not any(mark.label.startswith("First difference") for mark in page.landmarks)
    write(b, [step(1)] * 4)
    monkeypatch.setattr(trajectory_open, "BIG_FILE", 1500)
    unread = page_of(visitor, a, b).b
    assert unread and "open it once first" in unread.missing


def test_long_ones_are_aligned_window_by_window(
    visitor: Client, pair: tuple[Trial, Trial], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    a, b = pair
    for module in (align, trajectory_sides):
        monkeypatch.setattr(module, "WINDOW", 100)
    monkeypatch.setattr("jobs.trajectory_compare.WINDOW", 100)
    monkeypatch.setattr(trajectory_sides, "READ_STEPS", (100, 50))
    leave(execution_of(a), {ATIF: write_atif(tmp_path / "a.json", 250, size=20)})
    special = {230: {"observation": WRONG}}
    leave(execution_of(b), {ATIF: write_atif(tmp_path / "b.json", 260, size=20, special=special)})
    first = page_of(visitor, a, b)
    assert shape(first) == [("equal", 100, None, None)]
    assert len(first.rows[0].pairs) == 15 and first.rows[0].pairs_more == 85
    assert "100 at a time" in first.bound
    assert [window.label for window in first.windows] == ["1–100", "101–200", "201–300"]
    assert first.landmarks[0].href == first.windows[2].href.replace("#rows", "")
    last = page_of(visitor, a, b, window=3)
    assert shape(last)[:2] == [("equal", 29, None, None), ("differs", 1, 230, 230)]
    assert shape(last)[-1] == ("only b", 1, None, 260)
    assert last.landmarks[0].label.startswith("First difference in this window: step 230")
    assert page_of(visitor, a, b, window=99).rows == ()
    monkeypatch.setattr(trajectory_sides, "MOST_READ", 1)
    unread = page_of(visitor, a, b)
    assert "only the first 50 of these were read" in unread.bound
    assert shape(unread)[0] == ("equal", 50, None, None)


def test_rows_come_in_pages(visitor: Client, pair: tuple[Trial, Trial]) -> None:
    a, b = pair
    write(a, [step(number, size=10) for number in range(1, 81)])
    write(b, [step(number, size=10, message=f"Other {number}") for number in range(1, 81)])
    first, second = page_of(visitor, a, b), page_of(visitor, a, b, page=2)
    assert (len(first.rows), len(second.rows)) == (50, 30)
    assert first.pager.words == "Page 1 of 2"
    assert second.rows[0].anchor == "row-51"
    assert first.pager.next_href.endswith("&page=2#rows")


def test_hostile_steps_stay_text_and_small(visitor: Client, pair: tuple[Trial, Trial]) -> None:
    a, b = pair
    text = "</pre><script>alert(1)</script>\x1b]8;;javascript:x\x1b\\y\x1b]8;;\x1b\\\u202e\x00" * 500
    write(
        a, [step(1, message=text, source=text, model_name=text)] * 60, **{text[:90]: {"final": {text: text}}}
    )
    write(b, [step(n, message=f"{n}{text}", source=text) for n in range(60)], desk={"final": [text] * 99})
    page, shown = get(visitor, a, b)
    assert "<script>alert" not in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", shown)
    assert len(page.rows) == 50


@pytest.mark.parametrize("a", ["", "nothing", "a\0b", "a b", "é", "x" * 500])
def test_unknown_trials_are_not_found(visitor: Client, pair: tuple[Trial, Trial], a: str) -> None:
    assert visitor.get(ADDRESS, {"a": a}).status_code == 404
    if a:
        assert visitor.get(ADDRESS, {"a": pair[0].client_trial_id, "b": a}).status_code == 404


def test_only_members_compare(pair: tuple[Trial, Trial], dee: User, cy: User, client_as: ClientAs) -> None:
    address = f"{ADDRESS}?a={pair[0].client_trial_id}&b={pair[1].client_trial_id}"
    assert client_as(cy).get(address).status_code == 200
    assert client_as(dee).get(address).status_code == 404
    assert client_as(None).get(address).status_code == 302


def test_queries_are_the_same_however_long(
    visitor: Client, pair: tuple[Trial, Trial], tmp_path: Path
) -> None:
    a, b = pair

    def asked() -> int:
        page_of(visitor, a, b)
        with CaptureQueriesContext(connection) as captured:
            page_of(visitor, a, b)
        return len(captured)

    for trial in pair:
        write(trial, [step(number) for number in range(1, 60)])
    assert asked() == 14
    for trial in pair:
        leave(execution_of(trial), {ATIF: write_atif(tmp_path / f"{trial.pk}.json", 1500, size=50)})
    assert asked() == 14
