"""Setting a Job aside and closing one: what counts afterwards, who did it, and that it can be taken back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client

from benchmarks.domain.types import DomainError
from jobs import actions
from jobs.models import Job, Tally
from plural_site.accounts.actions import create_project
from plural_site.accounts.models import AuditEvent, Project, User
from tests.builders import START, AgentSpec, BenchmarkSpec, make_job, track
from tests.importing import bring, figures, only_board, overall

SPEC = BenchmarkSpec(tracks=(track(),))


@pytest.fixture
def two(project: Project, tmp_path: Path) -> tuple[str, str]:
    """Two Jobs of one Agent on one board: 1.0 in the first, 0.5 in the second."""
    first = make_job(tmp_path, benchmark=SPEC, track_id="open", key="1")
    second = make_job(
        tmp_path,
        benchmark=SPEC,
        track_id="open",
        key="2",
        outcomes=lambda *_: 0.5,
        started=START + timedelta(hours=1),
    )
    bring(project, tmp_path)
    return first.name, second.name


def job(job_id: str) -> Job:
    return Job.objects.get(client_job_id=job_id)


def test_a_job_set_aside_counts_nowhere_at_once(project: Project, ben: User, two: tuple[str, str]) -> None:
    assert overall("open@1.0.0").score == 0.75
    before = figures()
    actions.set_aside(actor=ben, project=project, job_id=two[1], reason="The key ran out.")
    assert (overall("open@1.0.0").score, overall("open@1.0.0").attempts) == (1.0, 2)
    shown = job(two[1])
    assert (shown.set_aside_by, shown.set_aside_reason) == (ben, "The key ran out.")
    actions.set_aside(actor=ben, project=project, job_id=two[0], reason="A trial run.")
    assert not Tally.objects.exists()
    for job_id in two:
        actions.count_again(actor=ben, project=project, job_id=job_id)
    assert figures() == before
    assert (job(two[1]).set_aside_at, job(two[1]).set_aside_by, job(two[1]).set_aside_reason) == (
        None,
        None,
        "",
    )


def test_what_is_left_is_what_the_other_job_gives_alone(
    project: Project, ben: User, two: tuple[str, str], tmp_path: Path
) -> None:
    actions.set_aside(actor=ben, project=project, job_id=two[0], reason="x")
    left = figures()
    Job.objects.filter(client_job_id=two[0]).delete()
    actions.set_aside(actor=ben, project=project, job_id=two[1], reason="x")
    actions.count_again(actor=ben, project=project, job_id=two[1])
    assert figures() == left != []


def test_every_decision_leaves_an_event(project: Project, ben: User, two: tuple[str, str]) -> None:
    actions.set_aside(actor=ben, project=project, job_id=two[0], reason="why")
    actions.count_again(actor=ben, project=project, job_id=two[0])
    events = AuditEvent.objects.filter(verb__startswith="job.").order_by("pk")
    assert [(event.verb, event.actor, event.project) for event in events] == [
        ("job.set_aside", ben, project),
        ("job.count_again", ben, project),
    ]
    assert [event.detail["job"] for event in events] == [two[0], two[0]]
    assert events[0].detail["reason"] == events[1].detail["was_set_aside_for"] == "why"


def test_doing_it_twice_changes_nothing(project: Project, ann: User, ben: User, two: tuple[str, str]) -> None:
    actions.set_aside(actor=ben, project=project, job_id=two[0], reason="first")
    actions.set_aside(actor=ann, project=project, job_id=two[0], reason="second")
    assert (job(two[0]).set_aside_by, job(two[0]).set_aside_reason) == (ben, "first")
    for _ in range(2):
        actions.count_again(actor=ben, project=project, job_id=two[0])
    assert AuditEvent.objects.filter(verb__startswith="job.").count() == 2


@pytest.mark.parametrize("reason", ["", "  \n ", "\0", "x" * 501])
def test_a_reason_is_needed(reason: str, project: Project, ben: User, two: tuple[str, str]) -> None:
    with pytest.raises(DomainError):
        actions.set_aside(actor=ben, project=project, job_id=two[0], reason=reason)
    assert job(two[0]).set_aside_at is None


def test_a_job_of_another_project_is_not_there(ann: User, project: Project, two: tuple[str, str]) -> None:
    other = create_project(actor=ann, account=project.account, slug="other")
    for act in (actions.count_again, actions.open_again):
        with pytest.raises(Job.DoesNotExist):
            act(actor=ann, project=other, job_id=two[0])
    for do in (actions.set_aside, actions.close_job):
        with pytest.raises(Job.DoesNotExist):
            do(actor=ann, project=other, job_id=two[0], reason="x")


def test_a_job_on_a_single_task_can_be_set_aside(project: Project, ben: User, tmp_path: Path) -> None:
    folder = make_job(tmp_path, single_task="alone")
    bring(project, folder)
    actions.set_aside(actor=ben, project=project, job_id=folder.name, reason="x")
    assert job(folder.name).set_aside_at is not None


# Jobs without a result --------------------------------------------------------------------------------


@pytest.fixture
def killed(project: Project, tmp_path: Path) -> Path:
    folder = make_job(
        tmp_path,
        benchmark=SPEC,
        track_id="open",
        outcomes=lambda agent, task, attempt: 1.0 if task == "first" else None,
        result_json=False,
    )
    bring(project, folder)
    return folder


def grown(tmp_path: Path, *, result_json: bool) -> Path:
    """The same Job later, with every Trial."""
    return make_job(tmp_path / "later", benchmark=SPEC, track_id="open", result_json=result_json)


def test_what_a_closed_job_left_undone_counts_as_cancelled(
    project: Project, ben: User, killed: Path, visitor: Client
) -> None:
    before, open_figures = only_board(project).entries[0], figures()
    assert (before.overall.outcomes, before.missing) == ({"scored": 1}, 1)
    actions.close_job(actor=ben, project=project, job_id=killed.name, reason="The machine died.")
    assert (job(killed.name).closed_by, job(killed.name).closed_reason) == (ben, "The machine died.")
    after = only_board(project).entries[0]
    assert (after.overall.outcomes, after.missing) == ({"scored": 1, "cancelled": 1}, 0)
    assert (after.overall.score, after.overall.coverage) == (before.overall.score, before.overall.coverage)
    tasks = Tally.objects.filter(scope=Tally.Scope.TASK).order_by("position")
    assert [row.detail["cancelled"] for row in tasks] == [0, 1]
    page = visitor.get("/projects/triage/benchmarks/demo-bench@1.0.0", {"track": "open"}).context["page"]
    entry = (page.table.rows + page.table.unranked)[0]
    proof = visitor.get(entry.attempts.href).context["page"]
    assert (proof.shown.text, proof.warnings) == (entry.attempts.text, ())
    actions.open_again(actor=ben, project=project, job_id=killed.name)
    assert (job(killed.name).closed_at, job(killed.name).closed_reason) == (None, "")
    assert figures() == open_figures


def test_only_a_job_without_a_result_can_be_closed(project: Project, ben: User, two: tuple[str, str]) -> None:
    with pytest.raises(DomainError):
        actions.close_job(actor=ben, project=project, job_id=two[0], reason="x")
    assert job(two[0]).closed_at is None


@pytest.mark.parametrize("result_json", [True, False])
def test_more_of_a_closed_job_opens_it_and_leaves_it_set_aside(
    result_json: bool, project: Project, ben: User, killed: Path, tmp_path: Path
) -> None:
    actions.close_job(actor=ben, project=project, job_id=killed.name, reason="The machine died.")
    actions.set_aside(actor=ben, project=project, job_id=killed.name, reason="Half of it is missing.")
    bring(project, killed)
    assert job(killed.name).closed_at is not None
    bring(project, grown(tmp_path, result_json=result_json))
    found = job(killed.name)
    assert (found.recorded, found.closed_at, found.closed_by, found.closed_reason) == (2, None, None, "")
    assert found.set_aside_reason == "Half of it is missing."
    assert not Tally.objects.exists()


def test_deciding_does_not_look_like_news(project: Project, ben: User, killed: Path) -> None:
    before = job(killed.name).updated_at
    actions.set_aside(actor=ben, project=project, job_id=killed.name, reason="x")
    actions.close_job(actor=ben, project=project, job_id=killed.name, reason="x")
    assert job(killed.name).updated_at == before


# Figures ----------------------------------------------------------------------------------------------


def test_agents_keep_what_the_board_makes_of_their_job_alone(project: Project, tmp_path: Path) -> None:
    agents = [AgentSpec(name="a", model="sim/a"), AgentSpec(name="b", model="sim/b")]
    folder = make_job(
        tmp_path,
        benchmark=SPEC,
        track_id="open",
        agents=agents,
        outcomes=lambda agent, task, _: 1.0 if agent == "a" or task == "first" else None,
    )
    bring(project, folder)
    columns = (
        "score",
        "coverage",
        "complete_coverage",
        "cost_total",
        "attempts",
        "planned",
        "outcomes",
        "reasons",
    )
    for agent in job(folder.name).agents.all():
        tally = Tally.objects.get(configuration=agent.configuration, scope=Tally.Scope.OVERALL)
        kept = agent.figures["overall"]
        assert {name: kept[name] for name in columns} == {name: getattr(tally, name) for name in columns}
        assert kept["detail"] == tally.detail
    assert [agent.figures["missing"] for agent in job(folder.name).agents.all()] == [[], [[1, 1]]]
    assert job(folder.name).recorded == 3
    assert job(folder.name).cost_total == pytest.approx(0.03)
