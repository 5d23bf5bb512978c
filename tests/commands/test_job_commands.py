"""`job` and `trial` in a terminal: the words of the pages, values for scripts, and what isn't there."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from jobs import terminal
from jobs.actions import close_job
from jobs.job_figures import figures_of
from jobs.models import Execution, Job, JobAgent, Trial
from jobs.search_texts import progress
from plural_site.accounts.actions import create_project
from plural_site.accounts.models import Project, User
from tests.builders import AgentSpec, BenchmarkSpec, Outcome, agents_named, failed, make_job, track
from tests.importing import bring
from tests.trajectories import ATIF, leave

SPEC = BenchmarkSpec(tracks=(track(),))


def run(*arguments: object) -> str:
    out = StringIO()
    call_command(*map(str, arguments), stdout=out)
    return out.getvalue()


def values(*arguments: object) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    return json.loads(run(*arguments, "--json"), parse_constant=refuse)


def refused(*arguments: object) -> str:
    with pytest.raises(CommandError) as error:
        run(*arguments)
    assert error.value.returncode == 1
    return str(error.value)


def happened(agent: str, task: str, attempt: int) -> Outcome | float | None:
    return failed("provider_unavailable") if (agent, task) == ("bold", "first") else 0.5


@pytest.fixture
def job(project: Project, tmp_path: Path) -> Job:
    agents = agents_named(("calm", "bold"))
    bring(project, make_job(tmp_path, benchmark=SPEC, agents=agents, outcomes=happened, track_id="open"))
    return Job.objects.get()


def test_lists_jobs_as_the_page_does(project: Project, job: Job, visitor: Client, tmp_path: Path) -> None:
    bring(project, make_job(tmp_path / "2", single_task="letter", result_json=False))
    head, *rows = run("job", "list").splitlines()
    assert head.startswith("Job ") and len(rows) == 2
    shown = {row.job_id: row for row in visitor.get("/projects/triage/jobs").context["page"].rows}
    line = next(row for row in rows if row.startswith(job.client_job_id))
    page = shown[job.client_job_id]
    for words in (page.status, page.source, "open@1.0.0", page.agents[0].score.text, page.started):
        assert words in line
    assert run("job", "list", "--status", "running").count("job_") == 1
    assert run("job", "list", "--benchmark", "demo-bench").count("job_") == 1
    assert run("job", "list", "--status", "cancelled") == "No Jobs match.\n"
    assert run("job", "list", "--limit", 1).endswith("And more: --limit shows more than 1.\n")
    limited = values("job", "list", "--limit", 1)
    assert (len(limited["jobs"]), limited["more"]) == (1, True)
    assert "There is no Benchmark no-such in the project triage." in refused(
        "job", "list", "--benchmark", "no-such"
    )
    assert "There is no project none." in refused("job", "list", "--project", "none")


def test_an_empty_project_has_no_jobs(project: Project) -> None:
    assert run("job", "list") == "No Jobs yet.\n"
    assert values("job", "list") == {"jobs": [], "more": False}


def test_shows_a_job_as_its_page_does(job: Job, visitor: Client) -> None:
    text = run("job", "show", job.client_job_id)
    page = visitor.get(f"/projects/triage/jobs/{job.client_job_id}").context["page"]
    assert text.startswith(f"Job {job.client_job_id}: {page.status}\n")
    for fact in page.facts:
        assert fact.label in text and fact.figure.text in text
    for agent in page.agents:
        assert agent.name in text and agent.score.text in text
        assert all(f"{agent.name} alone would not rank: {reason}" in text for reason in agent.reasons)
    for trial in Trial.objects.all():
        assert trial.client_trial_id in text


def test_a_job_as_json_holds_every_trial_unrounded(job: Job) -> None:
    shown = values("job", "show", job.client_job_id)
    assert (shown["id"], shown["project"], shown["benchmark"], shown["version"], shown["track"]) == (
        *(job.client_job_id, "triage", "demo-bench", "1.0.0", "open@1.0.0"),
    )
    assert shown["outcomes"] == {"scored": 3, "infrastructure_error": 1}
    assert (shown["task"], shown["closed_at"], shown["planned"], shown["recorded"]) == (None, None, 4, 4)
    calm = job.agents.get(name="calm")
    figures = figures_of(job, calm)
    assert figures and shown["agents"][0]["score"] == figures.overall.score == 0.5
    assert [(row["agent"], row["task"], row["outcome"], row["score"]) for row in shown["trials"]] == [
        ("calm", "first", "scored", 0.5),
        ("bold", "first", "infrastructure_error", None),
        ("calm", "second", "scored", 0.5),
        ("bold", "second", "scored", 0.5),
    ]
    JobAgent.objects.update(figures={})
    assert values("job", "show", job.client_job_id) == shown
    listed = values("job", "list")["jobs"][0]
    assert listed == {name: value for name, value in shown.items() if name != "trials"}


def test_a_closed_job_is_closed_for_scripts(project: Project, ben: User, tmp_path: Path) -> None:
    killed = make_job(tmp_path, benchmark=SPEC, track_id="open", result_json=False)
    bring(project, killed)
    assert values("job", "show", killed.name)["status"] == "running"
    close_job(actor=ben, project=project, job_id=killed.name, reason="The machine died.")
    assert values("job", "show", killed.name)["status"] == "closed"
    for more in ((), ("--status", "closed")):
        assert [job["status"] for job in values("job", "list", *more)["jobs"]] == ["closed"]


def test_values_for_scripts_hold_nothing_that_a_terminal_obeys() -> None:
    text = terminal.as_json({"name": "ü\u202e\x9b\x7f\x1b[31m\ud800"})
    assert text.encode().decode() == '{\n  "name": "ü\\u202e\\u009b\\u007f\\u001b[31m\\ud800"\n}'
    assert json.loads(text) == {"name": "ü\u202e\x9b\x7f\x1b[31m\ud800"}


def test_shows_a_trial_as_its_page_does(job: Job, visitor: Client) -> None:
    for trial in Trial.objects.all():
        text = run("trial", "show", trial.client_trial_id)
        page = visitor.get(f"/projects/triage/trials/{trial.client_trial_id}").context["page"]
        assert text.startswith(f"Trial {trial.client_trial_id}: {page.outcome}\n")
        for words in (page.why, page.claim, *(row.name for row in page.verifiers.rows)):
            assert words in text
        for fact in (*page.facts, *page.details):
            assert f"{fact.label} " in text and fact.figure.text in text
        assert "Steps" not in text


def test_steps_are_those_of_the_first_trajectory(job: Job) -> None:
    with_steps = Trial.objects.filter(outcome="scored").earliest("pk").client_trial_id
    without = Trial.objects.exclude(outcome="scored").get().client_trial_id
    steps = values("trial", "show", with_steps, "--steps")["steps"]
    assert [step["number"] for step in steps] == list(range(1, len(steps) + 1)) and steps
    text = run("trial", "show", with_steps, "--steps")
    assert all(step["title"] in text for step in steps)
    assert values("trial", "show", without, "--steps")["steps"] is None
    assert run("trial", "show", without, "--steps").endswith("Steps: it left no trajectory.\n")
    assert "steps" not in values("trial", "show", without)


def test_a_trial_as_json(job: Job) -> None:
    trial = Trial.objects.exclude(outcome="scored").get()
    shown = values("trial", "show", trial.client_trial_id)
    assert (shown["job"], shown["agent"], shown["task"]) == (job.client_job_id, "bold", "first")
    assert (shown["score"], shown["error_code"], shown["cost_usd"]) == (None, "provider_unavailable", None)
    assert [(row["number"], row["counts"], row["error_code"]) for row in shown["executions"]] == [
        (0, True, "provider_unavailable")
    ]


def test_what_is_not_there_is_said(job: Job, ann: User) -> None:
    create_project(actor=ann, account=job.project.account, slug="other")
    assert refused("job", "show", "job_none") == "There is no Job job_none in any project."
    assert refused("trial", "show", "trl_none") == "There is no Trial trl_none in any project."
    ident = Trial.objects.earliest("pk").client_trial_id
    for what, name in (("job", job.client_job_id), ("trial", ident)):
        words = f"There is no {what.title()} {name} in the project other."
        assert refused(what, "show", name, "--project", "other") == words
    assert "holds no Trial" in refused("trial", "show", ident, "--job", "job_none")
    assert "␀" in refused("job", "show", "a\0\x1b[31mb") or "any project" in refused("job", "show", "a\0b")
    assert "name one with --project" in refused("job", "list")


def test_an_id_in_several_projects_names_them(job: Job, ann: User, tmp_path: Path) -> None:
    other = create_project(actor=ann, account=job.project.account, slug="other")
    bring(other, tmp_path)
    ident = Trial.objects.earliest("pk").client_trial_id
    assert refused("job", "show", job.client_job_id) == (
        f"Job {job.client_job_id} is in several projects (other, triage): name one with --project SLUG."
    )
    assert "is in several projects (other, triage)" in refused("trial", "show", ident)
    assert values("job", "show", job.client_job_id, "--project", "other")["project"] == "other"
    assert values("trial", "show", ident, "--project", "triage")["project"] == "triage"


def test_outside_text_can_not_command_the_terminal(project: Project, tmp_path: Path) -> None:
    hostile = "\x1b[2Jwipe\u202e\nnext 表"
    spec = BenchmarkSpec(tasks=(hostile,))
    outcome = Outcome(score=0.5, feedback=hostile, error_code=None)
    bring(
        project,
        make_job(tmp_path, benchmark=spec, agents=[AgentSpec(name=hostile)], outcomes=lambda *_: outcome),
    )
    job, trial = Job.objects.get().client_job_id, Trial.objects.get().client_trial_id
    leave(Execution.objects.get(), {ATIF: {"schema_version": "ATIF-v1.7", "steps": [{"message": hostile}]}})
    for text in (
        run("job", "list"),
        run("job", "show", job),
        run("trial", "show", trial, "--steps"),
    ):
        assert "\x1b" not in text and "\u202e" not in text and "wipe" in text
        assert not any(line.startswith("next") for line in text.splitlines())


def test_tables_are_aligned_with_wide_characters() -> None:
    lines = list(terminal.table(("A", "N"), [["表", "1"], ["e\u0301x", "22"], ["x" * 99, "3"]], numbers=(1,)))
    assert {terminal.width(line) for line in lines} == {terminal.WIDEST + 4}
    assert lines[3].startswith("x" * 47 + "…  ")


def test_json_has_no_number_that_is_none() -> None:
    assert json.loads(
        terminal.as_json({"a": [float("nan"), float("inf"), 1.5], "b": {"c": float("-inf")}})
    ) == {
        "a": [None, None, 1.5],
        "b": {"c": None},
    }


def test_rebuild_makes_the_search_index_ahead(job: Job) -> None:
    out = run("rebuild", "--search")
    assert out.splitlines()[-1] == "Search: 4 of 4 Trials indexed, 0 that can't be read."
    assert progress([job.pk]).is_done
    assert "Trajectories" not in out and "Leaderboards" not in out
    run("rebuild", "--steps")
    assert progress([job.pk]).indexed == 1  # the one that left no trajectory
    run("rebuild", "--project", "triage")
    assert progress([job.pk]).is_done
