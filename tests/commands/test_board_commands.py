"""`leaderboard` and `check_entry`: safe to print, what a file is limited to, Jobs that do not count."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from jobs import actions
from jobs.models import Job
from plural_site.accounts.models import Project, User
from tests.builders import AgentSpec, BenchmarkSpec, make_job, track
from tests.importing import bring

NAME = "odd\x1b]0;owned\x07\x1b[31m\u202ered\x9b1m"
SHOWN = "odd⟨U+202E⟩red⟨U+009B⟩1m"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
BENCHMARK = "demo-bench@1.0.0"
BOARD = f"/projects/triage/benchmarks/{BENCHMARK}"


@pytest.fixture
def job(project: Project, tmp_path: Path) -> Job:
    agents = [AgentSpec(name=NAME, model="sim/\x1b[2Jodd\u202e"), AgentSpec(name="=1+1", model="sim/sum")]
    spec = BenchmarkSpec(tracks=(track("open"), track("other")))
    bring(project, make_job(tmp_path, benchmark=spec, agents=agents, track_id="open"))
    return Job.objects.get()


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as error:
        run(*arguments)
    assert error.value.returncode == 1
    return str(error.value)


@pytest.mark.usefixtures("job")
def test_a_board_in_a_terminal_holds_nothing_that_it_obeys() -> None:
    as_json, as_csv = run("leaderboard", BENCHMARK), run("leaderboard", BENCHMARK, "--csv")
    assert not OBEYED.search(as_json) and not OBEYED.search(as_csv.replace("\r\n", "\n"))
    assert {entry["agent"] for entry in json.loads(as_json)["entries"]} == {NAME, "=1+1"}
    assert {line["agent"] for line in csv.DictReader(io.StringIO(as_csv))} == {SHOWN, "'=1+1"}


@pytest.mark.usefixtures("job")
def test_check_entry_says_names_as_pages_show_them() -> None:
    unknown = refused("check_entry", BENCHMARK, "--agent", "no\x1b[31mbody\u202e")
    assert not OBEYED.search(unknown) and SHOWN in unknown and "nobody⟨U+202E⟩" in unknown
    for name in (NAME, SHOWN):
        said = run("check_entry", BENCHMARK, "--agent", name)
        assert said.startswith(f"{SHOWN}: rank 1, ") and not OBEYED.search(said.rstrip("\n"))


@pytest.mark.usefixtures("job")
def test_tasks_are_in_the_file_only_where_asked_for(visitor: Client) -> None:
    assert all("tasks" not in entry for entry in json.loads(run("leaderboard", BENCHMARK))["entries"])
    with_tasks = run("leaderboard", BENCHMARK, "--tasks")
    assert [len(entry["tasks"]) for entry in json.loads(with_tasks)["entries"]] == [2, 2]
    address = f"{BOARD}/leaderboard.json"
    assert visitor.get(address, {"tasks": "1"}).content.decode() == with_tasks
    assert visitor.get(address, {"tasks": "0"}).content.decode() == run("leaderboard", BENCHMARK)
    assert "no Tasks" in refused("leaderboard", BENCHMARK, "--csv", "--tasks")


def test_the_file_says_what_it_is_limited_to(job: Job, visitor: Client) -> None:
    address = f"{BOARD}/leaderboard.json"
    assert visitor.get(address).json()["selection"] == {"jobs": [], "filters": {}}
    query = {"job": job.client_job_id, "q": "odd", "min": "10", "ranked": "1", "sort": "-cost", "cost": "x"}
    answer = visitor.get(address, query).json()
    assert answer["selection"] == {
        "jobs": [job.client_job_id],
        "filters": {"q": "odd", "min": "10", "ranked": "1"},
    }
    assert len(answer["entries"]) == 1
    printed = json.loads(run("leaderboard", BENCHMARK, "--job", job.client_job_id))
    assert printed["selection"] == {"jobs": [job.client_job_id], "filters": {}}


def test_a_job_that_counts_nowhere_is_said(job: Job, project: Project, ben: User, visitor: Client) -> None:
    ident = job.client_job_id

    def said(*jobs: str, track: str = "open") -> tuple[str, ...]:
        response = visitor.get(BOARD, {"job": jobs, "track": track})
        words: tuple[str, ...] = response.context["page"].uncounted
        assert response.content.decode().count("Not every chosen Job counts here") == bool(words)
        assert all(f"<bdi>{text}</bdi>" in response.content.decode() for text in words)
        return words

    unknown = "job_x is not a Job of this release and track."
    assert (said(), said(ident), said(ident, "job_x")) == ((), (), (unknown,))
    assert said(ident, track="other") == (f"{ident} is not a Job of this release and track.",)
    for command in (["leaderboard", BENCHMARK], ["check_entry", BENCHMARK, "--agent", "=1+1"]):
        assert refused(*command, "--job", ident, "--job", "job_x") == unknown
    actions.set_aside(actor=ben, project=project, job_id=ident, reason="Wrong \x1b[31mkey\u202e")
    aside = f"{ident} was set aside (Wrong key⟨U+202E⟩), so it counts nowhere."
    assert said(ident) == (aside,)
    assert refused("leaderboard", BENCHMARK, "--job", ident) == aside
