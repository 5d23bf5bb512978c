"""The command line that repeats a Job, taken by the published client itself: it plans the same run."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("plural", reason="the published client is not installed")

from plural.agents.models import Agent

from benchmarks.domain.definitions import agent_definition
from jobs.domain.command_line import Ran, RanAgent, command_lines, is_by_model_alone
from tests.sample_project import job_files, unpack


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("project"))


def planned(project: Path, line: str) -> subprocess.CompletedProcess[str]:
    """What the client says of the run that a shell would start with this line."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PLURAL_")}
    environment["PLURAL_CONFIG_HOME"] = str(project.parent / "config")
    command = [*shlex.split(line), "--dry-run", "--json"]
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def ran(run: dict[str, Any], attempts: int) -> Ran:
    inputs = {key: value["content_hash"] for key, value in run["inputs"].items()}
    agent = RanAgent(
        name=run["agent"],
        slug=run["agent"].removeprefix("agent/"),
        content_hash=inputs[run["agent"]],
        model=run["model"],
        harness=run["harness"],
    )
    kind, slug = run["source"].split("/")
    return Ran(
        kind=kind,
        slug=slug,
        content_hash=inputs[run["source"]],
        title=slug,
        agents=(agent,),
        attempts=attempts,
        track_id=run["evaluation_track"] or "",
    )


def test_the_client_plans_what_the_job_ran_or_refuses(project: Path) -> None:
    """It runs the files that it finds if they are what ran; else it asks for the hosted project."""
    attempts = {config["run_id"]: config["attempts"] for config in job_files(project, "config.json")}
    assert len(attempts) > 10
    folders = [path.parent for path in project.glob(".plural/jobs/*/run.json")]
    taken = refused = 0
    for folder in sorted(folders):
        run = json.loads((folder / "run.json").read_text("utf-8"))
        config = json.loads((folder / "config.json").read_text("utf-8"))
        (line,) = command_lines(ran(run, config["attempts"])).lines
        done = planned(project, line)
        if done.returncode:
            assert "You are not signed in" in done.stderr + done.stdout, done.stderr
            refused += 1
            continue
        plan = json.loads(done.stdout)
        taken += 1
        assert (plan["source"], plan["agent"], plan["harness"]) == (
            run["source"],
            run["agent"],
            run["harness"],
        )
        hashes = {key: value["content_hash"] for key, value in plan["inputs"].items()}
        assert hashes.items() <= {key: value["content_hash"] for key, value in run["inputs"].items()}.items()
        assert max(trial["attempt"] for trial in plan["trials"]) == config["attempts"]
    assert taken >= 3
    assert refused >= 3


def test_an_agent_named_by_its_model_is_known_by_its_content() -> None:
    for fields, expected in (
        ({}, True),
        ({"instructions": "Be brief."}, False),
        ({"harness": "codex"}, False),
        ({"temperature": 0.0}, False),
        ({"secrets": ["A_KEY"]}, False),
    ):
        agent = Agent.model_validate({"model": "openai/gpt-5.6", "name": "gpt-5.6", **fields})
        content = agent_definition(agent._definition().model_dump(mode="json"))
        assert content.content_hash == agent.content_hash
        assert is_by_model_alone(content.content) is expected


def test_a_model_alone_is_taken_by_the_client(project: Path) -> None:
    agent = RanAgent("gpt-5.6", "", f"sha256:{'0' * 64}", "openai/gpt-5.6", "native")
    task = "goodwill-letter"
    inputs = [run["inputs"] for run in job_files(project, "run.json") if f"task/{task}" in run["inputs"]]
    content = inputs[0][f"task/{task}"]["content_hash"]
    (line,) = command_lines(Ran("task", task, content, task, (agent,), attempts=3)).lines
    done = planned(project, line)
    assert done.returncode == 0, done.stdout + done.stderr
    plan = json.loads(done.stdout)
    assert (plan["source"], plan["model"]) == (f"task/{task}", "openai/gpt-5.6")
    assert [trial["attempt"] for trial in plan["trials"]] == [1, 2, 3]
