"""The line that runs again what a Job ran, quoted so that a shell hands the client exactly these names."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.command_line import (
    BY_MODEL,
    Ran,
    RanAgent,
    command_lines,
    is_by_model_alone,
    rerun_line,
)

BENCH, AGENT = f"sha256:{'b' * 64}", f"sha256:{'a' * 64}"
STEADY = RanAgent("Steady", "steady", AGENT, "sim/steady-1")
RAN = Ran("benchmark", "support-triage", BENCH, "Support Triage 1.1.0", (STEADY,), attempts=2)


def words(ran: Ran) -> list[str]:
    (line,) = command_lines(ran).lines
    return shlex.split(line)


def test_a_job_without_a_track_is_repeated_with_its_attempts() -> None:
    assert words(RAN) == [
        *("plural", "run", "--benchmark", f"support-triage@{BENCH}"),
        *("--agent", f"steady@{AGENT}", "--attempts", "2"),
    ]
    assert "--attempts" not in words(replace(RAN, attempts=1))
    assert any("--record" in note for note in command_lines(RAN).notes)


def test_on_a_track_the_track_says_how_many_attempts() -> None:
    ran = replace(RAN, track_id="controlled", track_attempts=2)
    assert words(ran)[-2:] == ["--evaluation-track", "controlled"]
    notes = command_lines(ran).notes
    assert any("plural auth login" in note for note in notes)
    assert not any("asks for" in note for note in notes)
    other = command_lines(replace(ran, track_attempts=3)).notes
    assert any("made 2 attempts at each Task. The track asks for 3" in note for note in other)


def test_a_single_task_and_an_agent_that_was_named_by_its_model() -> None:
    agent = RanAgent("one", "", AGENT, "sim/one", "native")
    ran = Ran("task", "login-loop", BENCH, "Login loop", (agent,), attempts=1)
    assert words(ran) == ["plural", "run", "--task", f"login-loop@{BENCH}", "--model", "sim/one"]
    custom = replace(ran, agents=(replace(agent, harness="my-loop"),))
    assert words(custom)[-2:] == ["--harness", "my-loop"]


def test_several_agents_take_several_lines() -> None:
    other = replace(STEADY, name="Quick", slug="quick", is_sure=False, secrets=("DESK_KEY", "A_KEY"))
    found = command_lines(replace(RAN, agents=(STEADY, other, STEADY)))
    assert [shlex.split(line)[5] for line in found.lines] == [f"steady@{AGENT}", f"quick@{AGENT}"]
    text = " ".join(found.notes)
    assert "each line makes a Job of its own" in text
    assert "These are made from their names: quick." in text
    assert "by name: A_KEY, DESK_KEY." in text


@pytest.mark.parametrize(
    "model",
    [
        "two words",
        "it's",
        'say "hi"',
        "$(rm -rf ~)",
        "`id`",
        "a;b|c&d>e<f",
        "~/x*?[1]{a,b}!",
        "\\",
        "#no",
        "-m",
        "--agent",
        "",
        "größer/模型",
        "a\u00a0b",
    ],
)
def test_odd_names_reach_the_client_as_they_are(model: str) -> None:
    agent = RanAgent("x", "", AGENT, model)
    got = words(replace(RAN, agents=(agent,), attempts=1))
    joined = model.startswith("-") or not model
    assert got[4:] == ([f"--model={model}"] if joined else ["--model", model])


@pytest.mark.parametrize("model", ["a\nb", "a\0", "a\x1b[31m", "a\u202eb", "a\u200bb", "a\u2028b", "\ud800"])
def test_names_that_can_not_be_copied_for_sure_get_no_line(model: str) -> None:
    found = command_lines(replace(RAN, agents=(RanAgent("x", "", AGENT, model),)))
    assert found.lines == ()
    assert found.notes[-1].startswith("No line for x:")


@given(st.text(min_size=1))
def test_no_name_changes_the_other_words_of_the_line(model: str) -> None:
    found = command_lines(replace(RAN, agents=(RanAgent("x", "", AGENT, model),), attempts=3))
    for line in found.lines:
        got = shlex.split(line)
        assert got[:4] == ["plural", "run", "--benchmark", f"support-triage@{BENCH}"]
        assert got[-2:] == ["--attempts", "3"]
        assert (
            "".join(got[4:-2]).removeprefix("--model").removeprefix("=" if model[0] == "-" else "") == model
        )


def test_what_repeats_the_job_where_it_ran() -> None:
    assert rerun_line("job_1") == "plural job rerun job_1"
    assert rerun_line("job_1", "trl_2") == "plural trial rerun trl_2"
    assert rerun_line("job_1; rm") == "plural job rerun 'job_1; rm'"
    assert rerun_line("job_\n1") == ""


def test_an_agent_with_anything_of_its_own_is_not_by_model_alone() -> None:
    assert is_by_model_alone({**BY_MODEL, "model": "sim/one"})
    for changes in ({"instructions": "Be brief."}, {"harness": AGENT}, {"credentials": {"a": 1}}):
        assert not is_by_model_alone({**BY_MODEL, "model": "sim/one", **changes})
