"""The command line that repeats a run, on a Job's page, an entry's proof and an Agent's page."""

from __future__ import annotations

import json
import shlex
from html import unescape
from pathlib import Path
from typing import Any

from django.test import Client

from benchmarks.models import Configuration, Revision
from plural_site.accounts.models import Project
from tests.builders import AgentSpec, BenchmarkSpec, agents_named, change, make_job, track
from tests.importing import bring

SPEC = BenchmarkSpec(tracks=(track(attempts=2),))
AGENT = AgentSpec(name="Steady Hand", model="sim/one", instructions="Be brief.")


def told(folder: Path, **run: Any) -> Path:
    """A Job whose run.json says how the client was called."""
    for key, value in run.items():
        change(folder / "run.json", key, value)
    return folder


def page_of(visitor: Client, path: str) -> Any:
    response = visitor.get(path)
    assert response.status_code == 200
    return response.context["page"], unescape(response.content.decode())


def job_of(visitor: Client, folder: Path) -> Any:
    return page_of(visitor, f"/projects/triage/jobs/{folder.name}")


def hashes() -> tuple[str, str]:
    return (
        Revision.objects.get(resource__kind="benchmark").content_hash,
        Configuration.objects.get().content_hash,
    )


def test_a_saved_agent_on_a_track(visitor: Client, project: Project, tmp_path: Path) -> None:
    folder = make_job(tmp_path, benchmark=SPEC, agents=[AGENT], attempts=2, track_id="open")
    bring(project, told(folder, agent="agent/steady", harness="native", model="sim/one"))
    page, text = job_of(visitor, folder)
    benchmark, agent = hashes()
    (line,) = page.command.lines
    assert shlex.split(line) == [
        *("plural", "run", "--benchmark", f"demo-bench@{benchmark}"),
        *("--agent", f"steady@{agent}", "--evaluation-track", "open"),
    ]
    assert page.command.rerun == f"plural job rerun {folder.name}"
    assert line in text
    assert any("pulls Demo Bench 1.0.0" in note for note in page.command.notes)
    live, _ = page_of(visitor, f"/projects/triage/jobs/{folder.name}/live")
    assert live.command is None


def test_an_agent_that_was_named_by_its_model(visitor: Client, project: Project, tmp_path: Path) -> None:
    folder = make_job(tmp_path, benchmark=SPEC, agents=agents_named(["one"]))
    bring(project, told(folder, agent="one", harness="codex", model="sim/one"))
    (line,) = job_of(visitor, folder)[0].command.lines
    assert shlex.split(line)[4:] == ["--model", "sim/one", "--harness", "codex"]


def test_a_job_that_does_not_tell_how_it_was_called(
    visitor: Client, project: Project, tmp_path: Path
) -> None:
    agents = [AGENT, AgentSpec(name="plain", model="sim/two words")]
    folder = make_job(tmp_path, benchmark=SPEC, agents=agents, attempts=3, run_json=False)
    bring(project, folder)
    command = job_of(visitor, folder)[0].command
    first, second = map(shlex.split, command.lines)
    assert first[4] == "--agent"
    assert first[5].startswith("steady-hand@sha256:")
    assert first[-2:] == ["--attempts", "3"]
    assert second[4:] == ["--model", "sim/two words", "--attempts", "3"]
    assert command.rerun == ""
    text = " ".join(command.notes)
    assert "These are made from their names: steady-hand." in text
    assert "each line makes a Job of its own" in text


def test_attempts_that_a_track_does_not_ask_for_are_told(
    visitor: Client, project: Project, tmp_path: Path
) -> None:
    folder = make_job(tmp_path, benchmark=SPEC, agents=[AGENT], attempts=1, track_id="open")
    bring(project, folder)
    notes = job_of(visitor, folder)[0].command.notes
    assert any("made 1 attempt at each Task. The track asks for 2" in note for note in notes)


def test_a_single_task(visitor: Client, project: Project, tmp_path: Path) -> None:
    folder = make_job(tmp_path, single_task="first", agents=[AGENT])
    bring(project, told(folder, source="task/first", agent="agent/x"))
    (line,) = job_of(visitor, folder)[0].command.lines
    task = Revision.objects.get(resource__kind="task")
    assert shlex.split(line)[2:4] == ["--task", f"first@{task.content_hash}"]


def test_an_entry_and_an_agent_give_the_line_of_the_latest_job(
    visitor: Client, project: Project, tmp_path: Path
) -> None:
    folder = make_job(tmp_path, benchmark=SPEC, agents=[AGENT, AgentSpec(name="b", model="sim/b")])
    bring(project, folder)
    agent = Configuration.objects.get(model="sim/one").content_hash.removeprefix("sha256:")[:12]
    board = "/projects/triage/benchmarks/demo-bench@1.0.0"
    for path in (
        f"{board}/proof?track=none&entry={agent}&figure=score",
        f"/projects/triage/agents/{agent}",
    ):
        page, text = page_of(visitor, path)
        (line,) = page.command.lines
        option, value = shlex.split(line)[4:6]
        assert (option, value.startswith(f"Steady Hand@sha256:{agent}")) == ("--agent", True)
        assert line in text
        assert folder.name in page.command.words


def test_a_run_record_of_rubbish_is_left_aside(visitor: Client, project: Project, tmp_path: Path) -> None:
    folder = make_job(tmp_path, benchmark=SPEC, agents=[AGENT])
    bring(project, told(folder, agent={"no": "text"}, harness=None, evaluation_track=None))
    (line,) = job_of(visitor, folder)[0].command.lines
    assert "--agent steady-hand@" in line
    assert json.loads((folder / "run.json").read_text())["agent"] == {"no": "text"}
