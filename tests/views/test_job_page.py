"""The page of one Job: figures by the rules and the runner's own, grid, Trials, news and decisions."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs import actions, job_grid, job_trials, querysets
from jobs.models import Job, JobAgent, Trial
from plural_site.accounts.models import Project, User
from plural_site.http import paginate
from tests.builders import (
    AWAITING_REVIEW,
    CANCELLED,
    START,
    AgentSpec,
    BenchmarkSpec,
    Outcome,
    category,
    change,
    failed,
    make_job,
    track,
)
from tests.importing import bring

if TYPE_CHECKING:
    from tests.conftest import ClientAs

HOME = "/projects/triage"
BOARD = f"{HOME}/benchmarks/demo-bench@1.0.0"
TASKS = ("task-1", "task-2", "task-10", "100%_done", "last")
SPEC = BenchmarkSpec(
    tasks=TASKS, tracks=(track(attempts=2),), categories=(category("odd", "task-1", "task-10"),)
)
AGENTS = (AgentSpec(name="alpha", model="sim/a"), AgentSpec(name="beta", model="sim/b"))


def happened(agent: str, task: str, attempt: int) -> Outcome | float | None:
    by_task: dict[str, Outcome | float | None] = {
        "task-1": Outcome(score=0.9 if attempt == 1 else 1.0, cost_usd=0.3, latency_seconds=9.0),
        "task-2": failed("", "max_turns", cost_usd=0.2, latency_seconds=40.0),
        "task-10": failed("provider_unavailable", cost_usd=0.1, latency_seconds=3.0),
        "100%_done": CANCELLED,
        "last": None,
    }
    if agent == "beta":
        return AWAITING_REVIEW if task == "last" else 0.5
    return by_task[task]


@pytest.fixture
def visitor(project: Project, ann: User, client_as: ClientAs) -> Client:
    return client_as(ann)


@pytest.fixture
def job(project: Project, tmp_path: Path) -> Job:
    folder = make_job(tmp_path, benchmark=SPEC, agents=AGENTS, attempts=2, track_id="open", outcomes=happened)
    bring(project, folder)
    return Job.objects.get()


def address(job: Job) -> str:
    return f"{HOME}/jobs/{job.client_job_id}"


def page_of(visitor: Client, job: Job, **query: str) -> Any:
    response = visitor.get(address(job), query)
    assert response.status_code == 200
    return response.context["page"]


# Figures ----------------------------------------------------------------------------------------------


def test_figures_are_those_of_the_board_with_this_job_alone(
    project: Project, job: Job, visitor: Client, tmp_path: Path
) -> None:
    bring(
        project,
        make_job(
            tmp_path, benchmark=SPEC, agents=AGENTS, track_id="open", started=START + timedelta(hours=1)
        ),
    )
    board = visitor.get(BOARD, {"job": job.client_job_id}).context["page"]
    rows = {row.agent: row for row in (*board.table.rows, *board.table.unranked)}
    found = {agent.name: agent for agent in page_of(visitor, job).agents}
    assert set(found) == set(rows) == {"alpha", "beta"}
    for name, agent in found.items():
        row = rows[name]
        for figure in ("score", "coverage", "success", "cost", "latency", "attempts"):
            mine, theirs = getattr(agent, figure), getattr(row, figure)
            assert (mine.text, mine.note, mine.title) == (theirs.text, theirs.note, theirs.title)
        assert (agent.total.text, agent.interval.text) == (row.total_cost.text, row.interval.text)
        assert agent.reasons == row.reasons
        assert [(o.text, o.title) for o in agent.outcomes] == [(o.text, o.title) for o in row.outcomes]


def test_counts_add_up_to_what_was_planned(job: Job, visitor: Client) -> None:
    facts = {fact.label: fact.figure for fact in page_of(visitor, job).facts}
    labels = ("Scored", "Failed", "Cancelled", "Pending", "Left nothing")
    assert [facts[label].text for label in labels] == ["10", "4", "2", "2", "2"]
    assert (facts["Trials"].text, facts["Trials"].note) == ("18", "18 of 20 planned")
    for label in labels[:4]:
        assert visitor.get(facts[label].href).context["page"].total == int(facts[label].text)
    for agent in page_of(visitor, job).agents:
        for outcome in agent.outcomes:
            assert visitor.get(outcome.href).context["page"].total == int(outcome.text)


def test_the_runners_own_figures_stand_beside_with_the_reason(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    folder = make_job(tmp_path, benchmark=SPEC, agents=AGENTS[:1], attempts=2, outcomes=happened)
    trials = 8
    runner = {
        "agent_name": "alpha",
        "agent_digest": "sha256:" + "0" * 64,
        "model_id": "sim/a",
        "count": trials,
        "successes": 2,
        "mean_score": 0.475,
        "coverage": 0.4,
        "total_cost": 1.2,
        "mean_latency_seconds": 99.0,
    }
    change(folder / "result.json", "aggregates", [runner])
    bring(project, folder)
    (agent,) = page_of(visitor, Job.objects.get()).agents
    said = {figure.label: figure for figure in agent.runner}
    assert set(said) == {"Successes", "Total cost", "Time per Trial"}
    assert (said["Successes"].runner, said["Successes"].ours.text) == ("2", "1")
    assert "ended without an error" in said["Successes"].reason
    assert (said["Total cost"].runner, said["Total cost"].ours.text) == ("$1.20", "$1.00")
    assert "every Trial that reported a cost" in said["Total cost"].reason
    assert "does not follow from the Trials" in said["Time per Trial"].reason


def test_figures_are_computed_where_none_are_kept(job: Job, visitor: Client) -> None:
    before = page_of(visitor, job)
    JobAgent.objects.update(figures={})
    after = page_of(visitor, job)
    assert (after.agents, after.grid, after.missing) == (before.agents, before.grid, before.missing)
    (row,) = visitor.get(f"{HOME}/jobs").context["page"].rows
    assert row.agents[0].score.text == "–"


def test_planned_trials_that_left_nothing_are_named(
    job: Job, visitor: Client, project: Project, ben: User
) -> None:
    missing = page_of(visitor, job).missing
    assert (missing.total, missing.rows) == (2, (("alpha", "last", 1), ("alpha", "last", 2)))
    Job.objects.update(status="running")
    actions.close_job(actor=ben, project=project, job_id=job.client_job_id, reason="Dead.")
    page = page_of(visitor, job)
    facts = {fact.label: fact.figure for fact in page.facts}
    assert facts["Left nothing"].note == "counted as cancelled"
    assert "count as cancelled" in page.missing.words


# Grid -------------------------------------------------------------------------------------------------


def test_grid_has_a_mark_for_each_attempt(job: Job, visitor: Client) -> None:
    grid = page_of(visitor, job).grid
    assert grid.agents == ("alpha", "beta")
    found = {row.task: [[mark.shape for mark in cell.marks] for cell in row.cells] for row in grid.rows}
    assert found == {
        "task-1": [["✗", "✓"], ["✗", "✗"]],
        "task-2": [["▲", "▲"], ["✗", "✗"]],
        "task-10": [["!", "!"], ["✗", "✗"]],
        "100%_done": [["⊘", "⊘"], ["✗", "✗"]],
        "last": [["·", "·"], ["…", "…"]],
    }
    assert [row.cells[0].score for row in grid.rows] == ["95.0", "0.0", "–", "–", "–"]
    mark = grid.rows[0].cells[0].marks[0]
    assert (mark.text, mark.words) == ("90.0", "Attempt 1: did not pass, 90.0")
    assert visitor.get(mark.href).status_code == 200
    assert [row.total for row in [visitor.get(row.href).context["page"] for row in grid.rows]] == [
        4,
        4,
        4,
        4,
        2,
    ]


def test_grid_is_paged(job: Job, visitor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_grid, "AGENTS_A_PAGE", 1)
    monkeypatch.setattr(job_grid, "TASKS_A_PAGE", (2, 2))
    monkeypatch.setattr(job_grid, "ATTEMPTS_SHOWN", 1)
    first = page_of(visitor, job, outcome="scored").grid
    assert (first.tasks_words, first.agents_words) == ("Tasks 1 to 2 of 5", "Agents 1 to 1 of 2")
    assert first.rows[0].cells[0].more.text == "1 more"
    assert visitor.get(first.rows[0].cells[0].more.href).context["page"].total == 2
    page = visitor.get(visitor.get(first.tasks_next).context["page"].grid.agents_next).context["page"]
    assert (page.grid.agents, [row.task for row in page.grid.rows]) == (("beta",), ["task-10", "100%_done"])
    assert page.trials.filters == ("scored",)
    assert page_of(visitor, job, tasks="99", agents="99").grid.tasks_words == "Tasks 5 to 5 of 5"


# Trials -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ({}, 18),
        ({"agent": "1"}, 10),
        ({"agent": "0", "outcome": "failed"}, 4),
        ({"task": "TASK-1"}, 8),
        ({"task": "%_d"}, 4),
        ({"task": "k_1"}, 0),
        ({"at": "1"}, 4),
        ({"category": "odd"}, 8),
        ({"outcome": "cancelled"}, 2),
        ({"error": "provider_unavailable"}, 2),
        ({"stop": "max_turns"}, 2),
        ({"score_min": "50", "score_max": "90"}, 9),
        ({"score_min": "90"}, 2),
        ({"cost_min": "0,2"}, 4),
        ({"time_min": "30"}, 2),
        ({"tokens_min": "1"}, None),
        ({"turns_max": "1000"}, None),
        (
            {"agent": "9", "outcome": "x", "score_min": "nan", "cost_max": "inf", "at": "-1", "error": "\0"},
            18,
        ),
    ],
)
def test_trials_are_filtered(query: dict[str, str], total: int | None, job: Job, visitor: Client) -> None:
    page = page_of(visitor, job, **query)
    expected = total
    if expected is None:
        column = "tokens" if "tokens_min" in query else "turns"
        expected = Trial.objects.filter(**{f"{column}__isnull": False}).count()
    assert (page.total, len(page.rows)) == (expected, expected)


COLUMNS = {
    "score": "score",
    "cost": "cost_usd",
    "time": "latency_seconds",
    "tokens": "tokens",
    "turns": "turns",
    "attempt": "attempt",
    "task": "task_position",
    "agent": "job_agent_id",
}


@pytest.mark.parametrize("key", COLUMNS)
@pytest.mark.parametrize("sign", ["", "-"])
def test_trials_are_sorted_with_unknown_last_and_paged(
    key: str, sign: str, job: Job, visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_trials, "paginate", lambda rows, **how: paginate(rows, size=5, **how))
    seen: list[str] = []
    href = f"{address(job)}?sort={sign}{key}"
    while href:
        trials = visitor.get(href).context["page"].trials
        seen += [row.href.rsplit("/", 1)[-1] for row in trials.rows]
        href = trials.next_href
    assert len(seen) == len(set(seen)) == 18
    values = dict(Trial.objects.values_list("client_trial_id", COLUMNS[key]))
    order = [values[trial] for trial in seen]
    known = [value for value in order if value is not None]
    assert known == sorted(known, reverse=sign == "-")
    assert order[: len(known)] == known


def test_a_sort_keeps_the_filter_and_says_its_direction(job: Job, visitor: Client) -> None:
    page = page_of(visitor, job, agent="1", sort="-cost")
    (current,) = [column for column in page.trials.columns if column.sort]
    assert (current.key, current.sort) == ("cost", "descending")
    turned = visitor.get(current.href).context["page"]
    assert (turned.total, turned.trials.filters) == (10, ("Agent beta",))
    html = visitor.get(address(job), {"agent": "1", "sort": "-cost"}).content.decode()
    assert 'aria-sort="descending"' in html


def test_large_counts_are_bounded(job: Job, visitor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(querysets, "COUNTED_TO", 3)
    assert page_of(visitor, job, task="task").trials.total_words == "more than 3"
    assert page_of(visitor, job, outcome="scored").trials.total_words == "10"
    assert page_of(visitor, job).trials.total_words == "18"


@pytest.mark.parametrize(
    "query",
    [
        {"error": "provider_unavailable"},
        {"error": "never"},
        {"stop": "max_turns"},
        {"stop": "never", "agent": "1"},
    ],
)
def test_words_are_counted_from_what_is_kept_or_where_words_were_left_out_from_trials(
    query: dict[str, str], job: Job, visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(querysets, "COUNTED_TO", -1)  # so that a count from Trials shows
    known = page_of(visitor, job, **query).trials
    assert known.total_words == str(known.total) == str(len(known.rows))
    monkeypatch.setattr(job_trials, "WORDS_KEPT", 0)
    counted = page_of(visitor, job, **query).trials
    assert counted.total_words.startswith("more than")
    assert [row.href for row in counted.rows] == [row.href for row in known.rows]


def test_nothing_that_matches_can_be_cleared(job: Job, visitor: Client) -> None:
    text = visitor.get(address(job), {"task": "zzz"}).content.decode()
    assert "No Trials match" in text
    assert f'href="{address(job)}#trials">Clear filters' in text


# What ran, reruns, single Tasks -----------------------------------------------------------------------


def test_pins_say_what_ran_by_content(job: Job, visitor: Client) -> None:
    pins = page_of(visitor, job).pins
    revision = job.revision
    assert revision is not None
    assert pins.content_hash == revision.content_hash
    digests = list(revision.pins.order_by("position").values_list("task_digest", flat=True))
    assert [pin.content_hash for pin in pins.tasks] == digests
    assert {pin.kind for pin in pins.parts} == {"Environment", "Verifier"}
    assert pins.spec_hash == job.spec_hash


def test_reruns_are_linked_both_ways(project: Project, job: Job, visitor: Client, tmp_path: Path) -> None:
    again = make_job(
        tmp_path, benchmark=SPEC, key="again", rerun_of=job.client_job_id, started=START + timedelta(hours=1)
    )
    lost = make_job(tmp_path, key="lost", rerun_of="job_" + "0" * 24)
    bring(project, again)
    bring(project, lost)
    (later,) = page_of(visitor, job).related
    assert (later.label, later.figure.text) == ("Run again as", again.name)
    (earlier,) = visitor.get(later.figure.href).context["page"].related
    assert (earlier.label, earlier.figure.href) == ("Rerun of the Job", address(job))
    (absent,) = visitor.get(f"{HOME}/jobs/{lost.name}").context["page"].related
    assert (absent.figure.href, absent.figure.title) == ("", "That Job is not in this project")


def test_a_job_on_a_single_task_has_its_page(project: Project, visitor: Client, tmp_path: Path) -> None:
    bring(project, make_job(tmp_path, single_task="alone", attempts=2, outcomes=lambda a, t, n: n / 2))
    job = Job.objects.get()
    page = page_of(visitor, job)
    assert ([agent.score.text for agent in page.agents], page.total) == (["75.0"], 2)
    assert [[mark.shape for mark in cell.marks] for cell in page.grid.rows[0].cells] == [["✗", "✓"]]
    assert page.grid.rows[0].task == "alone"
    assert page_of(visitor, job, task="ALO", category="x").total == 2


def test_hostile_names_do_nothing(project: Project, visitor: Client, tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>\x1b[31m\u202e{{ 7 }}"
    spec = BenchmarkSpec(tasks=(bad,), name=bad)
    bring(project, make_job(tmp_path, benchmark=spec, agents=[AgentSpec(name=bad, model=bad)]))
    job = Job.objects.get()
    for path in (address(job), f"{address(job)}?task=<script>", f"{HOME}/jobs", f"{address(job)}/set-aside"):
        text = visitor.get(path).content.decode()
        assert "<script>alert" not in text
        assert "\u202e" not in text
        assert "\x1b" not in text


def test_hostile_error_codes_are_chosen_by_how_they_read(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    code = "bad <b>\x1b[31m\u202ecode"
    bring(
        project,
        make_job(
            tmp_path, outcomes=lambda agent, task, _: failed(code, "odd\u202e") if task == "first" else 1.0
        ),
    )
    job = Job.objects.get()
    form = page_of(visitor, job).trials.form
    (error,) = form.errors
    (stop,) = [option for option in form.stops if "odd" in option.value]
    assert "\u202e" not in error.value + stop.value
    for query in ({"error": error.value}, {"stop": stop.value}, {"error": error.value, "stop": stop.value}):
        assert page_of(visitor, job, **query).total == 1
    assert "\u202e" not in visitor.get(address(job)).content.decode()


# News -------------------------------------------------------------------------------------------------


def test_only_a_job_that_may_still_run_asks_for_news(
    project: Project, ben: User, visitor: Client, tmp_path: Path
) -> None:
    some = make_job(tmp_path / "1", benchmark=SPEC, result_json=False, outcomes=lambda a, t, n: None)
    bring(project, some)
    job = Job.objects.get()
    text = visitor.get(address(job), {"sort": "-cost", "outcome": "scored"}).content.decode()
    assert f'hx-get="{address(job)}/live?outcome=scored&amp;sort=-cost" hx-trigger="every 5s"' in text
    assert f'href="{address(job)}">Reload' in text
    news = visitor.get(f"{address(job)}/live").content.decode()
    assert "<html" not in news
    assert 'id="job-live" hx-get=' in news
    assert 'id="trials-list" hx-swap-oob="true"' in news
    assert 'id="job-status" class="badge warn" hx-swap-oob="true">No result yet' in news

    actions.close_job(actor=ben, project=project, job_id=job.client_job_id, reason="Dead.")
    for path in (address(job), f"{address(job)}/live"):
        assert "hx-trigger" not in visitor.get(path).content.decode()
    actions.open_again(actor=ben, project=project, job_id=job.client_job_id)

    bring(project, make_job(tmp_path / "2", benchmark=SPEC))
    news = visitor.get(f"{address(job)}/live").content.decode()
    assert "hx-trigger" not in news
    assert "Succeeded" in news
    assert news.count("attempt 1") + news.count("Attempt 1") >= len(TASKS)


# Decisions --------------------------------------------------------------------------------------------


def test_a_contributor_sets_a_job_aside_and_takes_it_back(
    job: Job, ben: User, visitor: Client, client_as: ClientAs
) -> None:
    browser, path = client_as(ben), f"{address(job)}/set-aside"
    asked = browser.get(path)
    assert (asked.status_code, asked.context["page"].needs_reason) == (200, True)
    refused = browser.post(path, {"do": "do", "reason": "  "})
    assert (refused.status_code, "Give a reason" in refused.content.decode()) == (422, True)
    assert browser.post(path, {"do": "do", "reason": "The <i>key</i> ran out."}).headers[
        "Location"
    ] == address(job)
    (decision,) = page_of(visitor, job).decisions
    assert (decision.what, decision.by) == ("Set aside", "Ben")
    assert "The &lt;i&gt;key&lt;/i&gt; ran out." in visitor.get(address(job)).content.decode()
    board = visitor.get(BOARD).context["page"]
    assert (board.table.rows, board.table.unranked, board.set_aside.text) == ((), (), "1 Job set aside")
    assert browser.get(path).context["page"].needs_reason is False
    assert browser.post(path, {"do": "undo"}).status_code == 302
    assert page_of(visitor, job).decisions == ()
    assert len(visitor.get(BOARD).context["page"].table.unranked) == 2


def test_closing_by_the_page(job: Job, ben: User, client_as: ClientAs) -> None:
    browser, path = client_as(ben), f"{address(job)}/close"
    refused = browser.post(path, {"do": "do", "reason": "x"})
    assert (refused.status_code, "has a result" in refused.content.decode()) == (422, True)
    Job.objects.update(status="running")
    assert "2 planned Trials of this Job left nothing." in browser.get(path).context["page"].follows
    assert browser.post(path, {"do": "do", "reason": "x"}).status_code == 302
    assert Job.objects.get().closed_by == ben
    assert browser.post(path, {"do": "undo"}).status_code == 302
    assert Job.objects.get().closed_at is None


def test_a_viewer_may_look_and_not_decide(job: Job, cy: User, client_as: ClientAs) -> None:
    browser = client_as(cy)
    page = page_of(browser, job)
    assert (page.aside_href, page.close_href) == ("", "")
    for what in ("set-aside", "close"):
        assert browser.get(f"{address(job)}/{what}").status_code == 403
        assert browser.post(f"{address(job)}/{what}", {"do": "do", "reason": "x"}).status_code == 403
    assert Job.objects.get().set_aside_at is None


# Cost -------------------------------------------------------------------------------------------------


def test_the_page_costs_the_same_with_more_trials(project: Project, visitor: Client, tmp_path: Path) -> None:
    def queries(number: int, tasks: int, attempts: int) -> dict[str, int]:
        spec = BenchmarkSpec(
            tasks=tuple(f"t-{n}" for n in range(tasks)), slug=f"b-{number}", name=f"b {number}"
        )
        folder = make_job(
            tmp_path / str(number),
            benchmark=spec,
            agents=AGENTS,
            attempts=attempts,
            outcomes=lambda agent, task, attempt: None if task == "t-0" else 0.5,
        )
        bring(project, folder)
        found = {}
        for way in ("", "?sort=-cost", "?task=t&score_min=1", "/live"):
            with CaptureQueriesContext(connection) as captured:
                assert visitor.get(f"{HOME}/jobs/{folder.name}{way}").status_code == 200
            found[way] = len(captured)
        return found

    assert queries(1, 2, 1) == queries(2, 12, 6)
