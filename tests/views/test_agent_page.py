"""An Agent's page and the list of Agents: the boards' own figures, and what its attempts came to."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.http import Http404
from django.test import Client

from benchmarks.models import Configuration
from jobs.agent_figures import agent_figures
from jobs.agent_page import find_agent
from jobs.agent_pages import AgentPage
from jobs.models import Job, JobAgent, Trial
from plural_site.accounts.actions import create_project
from plural_site.accounts.models import Project, User
from tests.builders import START, AgentSpec, BenchmarkSpec, Outcome, failed, make_job, share_trial, track
from tests.importing import bring

if TYPE_CHECKING:
    from tests.conftest import ClientAs

AGENTS = "/projects/triage/agents"
BOARD = "/projects/triage/benchmarks/demo-bench@1.0.0"
NOT_FOR_PEOPLE = re.compile(r"\b(nan|NaN|None|inf|Infinity)\b")
TASKS = tuple(f"task-{number}" for number in range(6))


@pytest.fixture
def visitor(project: Project, ann: User, client_as: ClientAs) -> Client:
    return client_as(ann)


def happened(agent: str, task: str, attempt: int) -> Outcome | float | None:
    """Costs 1 to 10 cents, one unknown; one Agent failure, one infrastructure error."""
    number = int(task[-1]) * 2 + attempt
    if number == 11:
        return failed("protocol_failed", "error")
    if number == 12:
        return failed("provider_unavailable")
    score = 1.0 if agent == "ace" else 0.5
    return Outcome(score=score, cost_usd=number / 100, latency_seconds=float(number), models=("one", "other"))


def record(project: Project, folder: Path, **changes: Any) -> None:
    job = {
        "benchmark": BenchmarkSpec(tasks=TASKS, tracks=(track("open", attempts=2),)),
        "agents": [AgentSpec(name="ace", model="sim/one"), AgentSpec(name="bee", model="sim/two")],
        "attempts": 2,
        "outcomes": happened,
        "track_id": "open",
        "result_json": False,
    }
    bring(project, make_job(folder, **{**job, **changes}))


def page_of(visitor: Client, path: str) -> Any:
    response = visitor.get(path)
    assert response.status_code == 200, path
    assert not NOT_FOR_PEOPLE.search(response.content.decode()), path
    return response.context["page"]


def agent(visitor: Client, name: str, query: str = "") -> AgentPage:
    own = JobAgent.objects.filter(name=name).latest("pk").configuration
    page = page_of(visitor, f"{AGENTS}/{own.content_hash[7:19]}{query}")
    assert isinstance(page, AgentPage)
    return page


def test_results_are_those_of_the_boards(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path / "1")
    record(project, tmp_path / "2", track_id=None, key="untracked")
    later = BenchmarkSpec(tasks=TASKS, version="2.0.0", tracks=(track(version="2.0.0"),))
    record(project, tmp_path / "3", benchmark=later)
    for name in ("ace", "bee"):
        page = agent(visitor, name)
        assert [(row.release, row.track) for row in page.results] == [
            ("Demo Bench 2.0.0", "open@2.0.0"),
            ("Demo Bench 1.0.0", "open@1.0.0"),
            ("Demo Bench 1.0.0", "no track"),
        ]
        for row in page.results:
            board = page_of(visitor, row.release_href)
            entries = {each.agent: each for each in (*board.table.rows, *board.table.unranked)}
            own = entries[name]
            assert row.release_href.endswith(f"#entry-{own.key}")
            assert (row.rank.text, row.reasons) == (own.rank, own.reasons)
            assert (row.score, row.interval, row.coverage) == (own.score, own.interval, own.coverage)
            assert (row.cost, row.latency, row.attempts.text) == (own.cost, own.latency, own.attempts.text)
            assert page_of(visitor, row.attempts.href).total == 12
            assert visitor.get(row.proof_href).status_code == 200
    # The infrastructure error leaves one attempt short where two are required.
    assert [row.rank.text for row in agent(visitor, "bee").results] == ["2", "–", "–"]


def test_cost_and_time_over_all_attempts(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path)
    page = agent(visitor, "ace")
    cost, time = page.measures
    assert (cost.mean.text, cost.median.text, cost.p90.text) == ("$0.055", "$0.055", "$0.090")
    assert (time.mean.text, time.median.text, time.p90.text) == ("5.2\u00a0s", "5.0\u00a0s", "9.0\u00a0s")
    assert (cost.measured, time.measured) == ("10 of 11", "11 of 11")
    assert "nearest rank" in page.definition


def test_unknown_costs_are_no_zeros_and_large_ones_no_error(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    def outcomes(name: str, task: str, attempt: int) -> Outcome:
        if name == "ace":
            return Outcome(cost_usd=None, latency_seconds=None)
        return Outcome(cost_usd=9e307, calls_missing_cost=1)

    record(project, tmp_path, outcomes=outcomes)
    cost, _ = agent(visitor, "ace").measures
    assert (cost.mean.text, cost.mean.title, cost.measured) == ("–", "No attempt reported a cost", "0 of 12")
    cost, _ = agent(visitor, "bee").measures
    assert cost.mean.text == cost.median.text == cost.p90.text == "≥ $9e+307"
    assert "a lower bound" in cost.mean.title


def test_endings_and_models_are_counted(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path)
    page = agent(visitor, "ace")
    assert [
        (row.outcome, row.error_code, row.stop_reason, row.count.text, row.share) for row in page.endings
    ] == [
        ("Scored", "", "environment terminated", "10", "83.3\u00a0%"),
        ("Agent failure", "protocol failed", "error", "1", "8.3\u00a0%"),
        ("Infrastructure error", "provider unavailable", "error", "1", "8.3\u00a0%"),
    ]
    for row in page.endings:
        assert page_of(visitor, row.count.href).total == int(row.count.text)
    assert [(model.name, model.count, model.is_own) for model in page.called] == [
        ("one", "10", True),
        ("other", "10", False),
    ]
    assert page.called_words.startswith("2 attempts report none.")


def test_each_trial_counts_once_and_none_of_a_job_set_aside(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    spec = BenchmarkSpec(tasks=("a", "b"), tracks=(track(),))
    jobs = [
        make_job(tmp_path / key, benchmark=spec, track_id="open", key=key, agents=[AgentSpec(name="ace")])
        for key in ("one", "two", "three")
    ]
    share_trial(jobs[0], jobs[1], "a")
    for job in jobs:
        bring(project, job)
    own = Configuration.objects.get()
    figures = agent_figures(own)
    assert (figures.total, figures.ran, sum(figures.endings.values())) == (5, 5, 5)
    Job.objects.filter(client_job_id=jobs[2].name).update(set_aside_at=START, set_aside_reason="wrong price")
    assert agent_figures(own).total == 3
    page = agent(visitor, "ace")
    assert {row.job_id: row.remark for row in page.jobs}[jobs[2].name] == "set aside, counts nowhere"


def test_of_too_many_attempts_the_latest_count(
    project: Project, visitor: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(project, tmp_path)
    monkeypatch.setattr("jobs.agent_figures.MOST_ATTEMPTS", 5)
    own = JobAgent.objects.get(name="ace")
    latest = Trial.objects.filter(job_agent=own).order_by("-pk")[:5]
    figures = agent_figures(own.configuration)
    assert (figures.total, figures.taken, sum(figures.endings.values())) == (12, 5, 5)
    assert figures.cost.count == sum(trial.cost_usd is not None for trial in latest)
    assert "Of 12 attempts the latest 5 are taken." in agent(visitor, "ace").measures_words


def test_the_configuration_is_told_in_words(project: Project, visitor: Client, tmp_path: Path) -> None:
    prose = "Answer briefly. " * 100
    agents = [
        AgentSpec(name="ace", model="sim/one", temperature=0.0, max_tokens=512, instructions=prose),
        AgentSpec(name="bee", model="sim/one", temperature=0.7, harness="loop", harness_version="1.2.0"),
    ]
    record(project, tmp_path, agents=agents)
    page = agent(visitor, "ace")
    found = {row.label: row.value for row in page.settings}
    assert (found["Temperature"], found["Max tokens"], found["Harness"]) == ("0", "512", "the built-in loop")
    assert page.instructions + page.instructions_rest == prose.strip()
    assert len(page.instructions) == 600
    (other,) = page.others
    assert (other.name, page_of(visitor, other.href).name) == ("bee", "bee")
    assert other.differences[0][0] == "Harness" and other.differences[0][1] == "the built-in loop"
    assert ("Temperature", "0", "0.7") in other.differences
    assert ("Max tokens", "512", "not set") in other.differences
    assert page.others_href == ""
    text = visitor.get(other.href).content.decode()
    assert "loop 1.2.0" in text and "/srv/loop" not in text


def test_names_and_jobs(project: Project, visitor: Client, tmp_path: Path) -> None:
    for number, name in enumerate(("ace", "ace", "renamed")):
        record(
            project,
            tmp_path / str(number),
            agents=[AgentSpec(name=name, model="sim/one")],
            key=str(number),
            started=START + timedelta(days=number),
        )
    page = agent(visitor, "ace")
    assert page.name == "renamed"
    assert [(row.name, row.jobs) for row in page.names] == [("renamed", "1"), ("ace", "2")]
    assert len(page.jobs) == 3 and page.jobs_total == "3 Jobs"
    assert [row.started for row in page.jobs][0].startswith("3 Nov 2026")
    assert len(page_of(visitor, page.jobs_href).rows) == 3


def test_addresses_of_agents(project: Project, visitor: Client, ann: User, tmp_path: Path) -> None:
    record(project, tmp_path / "here")
    other = create_project(actor=ann, account=project.account, slug="other")
    record(other, tmp_path / "there", agents=[AgentSpec(name="far", model="sim/far")])
    digits = Configuration.objects.filter(project=project).earliest("pk").content_hash.removeprefix("sha256:")
    for length in (7, 12, 64):
        assert visitor.get(f"{AGENTS}/{digits[:length]}").status_code == 200
    assert visitor.get(f"{AGENTS}/{digits[:12].upper()}").status_code == 200
    far = Configuration.objects.get(project=other).content_hash[7:19]
    for text in (digits[:6], "0" * 12, "xyzxyzxyz", "W" * 300, far, f"{digits}0"):
        assert visitor.get(f"{AGENTS}/{text}").status_code == 404, text
    with pytest.raises(Http404):
        find_agent(project, "\0")
    JobAgent.objects.filter(job__project=project).update(job=Job.objects.get(project=project))
    Job.objects.filter(project=project).update(state="importing")
    assert visitor.get(f"{AGENTS}/{digits[:12]}").status_code == 404
    assert page_of(visitor, AGENTS).rows == ()


def test_results_come_in_pages_at_the_same_cost(
    project: Project,
    visitor: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Any,
) -> None:
    monkeypatch.setattr("jobs.agent_results.RESULTS_A_PAGE", 2)
    monkeypatch.setattr("jobs.agent_page.RESULTS_A_PAGE", 2)

    def add(version: str) -> None:
        spec = BenchmarkSpec(tasks=TASKS, version=version, tracks=(track(),), purpose=version)
        record(project, tmp_path / version, benchmark=spec, key=version)

    add("1.0.0")
    path = f"{AGENTS}/{JobAgent.objects.earliest('pk').configuration.content_hash[7:19]}"
    with django_assert_num_queries(20):
        visitor.get(path)
    for number in range(2, 6):
        add(f"{number}.0.0")
    with django_assert_num_queries(20):
        visitor.get(path)
    seen: list[str] = []
    href = path
    while href:
        page = page_of(visitor, href)
        seen += [row.release for row in page.results]
        href = page.results_next
    assert seen == [f"Demo Bench {number}.0.0" for number in (5, 4, 3, 2, 1)]
    assert page.results_words == "Entries 5 to 5 of 5"
    assert page_of(visitor, f"{path}?results=99").results == page.results


def test_the_list_sorts_finds_and_pages(project: Project, visitor: Client, tmp_path: Path) -> None:
    agents = [AgentSpec(name=f"agent-{at:02}", model=f"sim/{at % 7}", max_tokens=at + 1) for at in range(60)]
    few: dict[str, Any] = {"benchmark": BenchmarkSpec(tasks=("task-1",)), "attempts": 1, "track_id": None}
    record(project, tmp_path / "many", agents=agents, **few)
    record(
        project, tmp_path / "late", agents=agents[5:8], **few, key="late", started=START + timedelta(days=1)
    )
    page = page_of(visitor, AGENTS)
    assert (page.total, len(page.rows)) == ("60 Agents", 50)
    assert {row.name for row in page.rows[:3]} == {"agent-05", "agent-06", "agent-07"}
    assert page.rows[0].jobs.text == "2"
    for label, href, _ in page.columns:
        for address in (href, next(h for name, h, _ in page_of(visitor, href).columns if name == label)):
            names: list[str] = []
            models: list[str] = []
            following = address
            while following:
                shown = page_of(visitor, following)
                names += [row.name for row in shown.rows]
                models += [row.model for row in shown.rows]
                following = shown.next_href
            assert sorted(names) == sorted(spec.name for spec in agents), address
            if label == "Model":
                assert models in (sorted(models), sorted(models, reverse=True))
    assert [row.name for row in page_of(visitor, f"{AGENTS}?q=AGENT-05").rows] == ["agent-05"]
    assert page_of(visitor, f"{AGENTS}?model=sim/3&sort=model").total == "9 Agents"
    assert page_of(visitor, f"{AGENTS}?q=sim%2F3").total == "9 Agents"
    assert page_of(visitor, f"{AGENTS}?q=%25").rows == ()
    for row in page.rows[:2]:
        assert page_of(visitor, row.href).name == row.name
        assert len(page_of(visitor, row.jobs.href).rows) == int(row.jobs.text)


def test_rubbish_in_addresses_is_never_an_error(project: Project, visitor: Client, tmp_path: Path) -> None:
    record(project, tmp_path)
    own = f"{AGENTS}/{Configuration.objects.earliest('pk').content_hash[7:19]}"
    for value in ("", "x", "\0", "%", "-1", "9" * 40, "²", "' OR 1=1", "W" * 2000, "é"):
        for name in ("q", "model", "sort", "cursor", "results"):
            for path in (AGENTS, own):
                assert visitor.get(path, {name: value}).status_code == 200, (path, name, value)
