"""The page of one trajectory: what it shows, that it stays small, and that nothing outside breaks it."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs import trajectory_open
from jobs.models import Execution, StepIndex, Trial
from jobs.trajectory_pages import BlockView, StepPage, StepView, TrajectoryPage
from plural_site.accounts.models import Project, User
from plural_site.db import blobs
from tests.builders import CANCELLED, Outcome, failed, make_job
from tests.conftest import ClientAs
from tests.importing import bring
from tests.trajectories import ATIF, atif, leave, step, write_atif

HOME = "/projects/triage/trials"
MOST = 1_000_000
NOT_FOR_PEOPLE = re.compile(r"\b(nan|NaN|None|inf|Infinity)\b")
PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 100
MESSAGES = "artifacts/trajectory.json"


@pytest.fixture
def trial(project: Project, tmp_path: Path) -> Trial:
    bring(project, make_job(tmp_path, single_task="alone"))
    return Trial.objects.get()


def execution_of(trial: Trial) -> Execution:
    return trial.executions.get(is_final=True)


def write(trial: Trial, steps: list[Any], **changes: Any) -> None:
    leave(execution_of(trial), {ATIF: atif(steps, **changes)})


def address(trial: Trial, rest: str = "") -> str:
    return f"{HOME}/{trial.client_trial_id}/trajectory{rest}"


def get(visitor: Client, trial: Trial, **query: Any) -> tuple[TrajectoryPage, str]:
    response = visitor.get(address(trial), query)
    assert response.status_code == 200
    text = response.content.decode()
    assert len(response.content) < MOST
    assert NOT_FOR_PEOPLE.findall(text) == []
    page: TrajectoryPage = response.context["page"]
    return page, text


def page_of(visitor: Client, trial: Trial, **query: Any) -> TrajectoryPage:
    return get(visitor, trial, **query)[0]


def step_of(visitor: Client, trial: Trial, number: int, **query: Any) -> StepPage:
    response = visitor.get(address(trial, f"/steps/{number}"), query)
    assert response.status_code == 200
    assert len(response.content) < MOST
    page: StepPage = response.context["page"]
    return page


def all_blocks(step: StepView) -> list[BlockView]:
    return [found for block in step.blocks for found in (block, *block.results)]


def said(step: StepView) -> str:
    return "\n".join(block.head + block.rest for block in all_blocks(step))


# What it shows ----------------------------------------------------------------------------------------


def test_head_says_what_the_file_says(visitor: Client, trial: Trial) -> None:
    steps = [step(number) for number in range(1, 4)]
    steps[1]["metrics"] = {"prompt_tokens": 5, "completion_tokens": 1}
    write(trial, steps, notes="Made by hand.")
    page = page_of(visitor, trial)
    facts = {fact.label: (fact.figure.text, fact.figure.note) for fact in page.facts}
    assert facts["Agent"] == ("solo 1.0.0", "")
    assert facts["Model"] == ("sim/one", "")
    assert facts["Steps"] == ("3", "")
    assert facts["Time"] == ("2.0\u00a0s", "from 1 Nov 2026, 08:00 UTC")
    assert facts["Tokens"] == ("205 in, 21 out", "10 cached")
    assert facts["Cost"] == ("≥ $0.0020", "1 call without a cost")
    assert facts["Format"] == ("ATIF", ATIF)
    assert "Made by hand." in page.notes
    assert page.trial_href == f"{HOME}/{trial.client_trial_id}"
    assert page.compare_href == f"/projects/triage/trajectories/compare?a={trial.client_trial_id}"


def test_step_says_when_how_long_and_what_it_cost(visitor: Client, trial: Trial) -> None:
    write(trial, [step(number, size=20) for number in range(1, 4)])
    page, text = get(visitor, trial)
    second = page.steps[1]
    assert (second.number, second.source, second.calls) == (2, "Agent", (("read_log", ""),))
    assert (second.since, second.duration, second.cost) == (
        "+1.0\u00a0s",
        "took 1.0 s"[5:].replace(" ", "\u00a0"),
        "$0.0010",
    )
    assert second.moment == "2026-11-01 08:00:02 UTC"
    assert second.details[:3] == ("sim/one", "tokens: 100 in, 5 cached, 10 out", "$0.0020 so far")
    assert second.permanent_href == address(trial, "?execution=0&step=2#step-2")
    assert 'id="step-2"' in text
    row = page.outline[1]
    assert (row.number, row.source, row.title, row.calls) == (
        2,
        "Agent",
        "Step 2: look at the log.",
        "read_log",
    )
    assert row.figures == "+1.0\u00a0s · took 1.0\u00a0s · $0.0010 · $0.0020 so far"


def test_results_stand_under_their_call(visitor: Client, trial: Trial) -> None:
    calls = [
        {"tool_call_id": f"k{n}", "function_name": f"tool{n}", "arguments": {"n": n, "why": "w" * 80}}
        for n in (1, 2)
    ]
    results = [
        {"source_call_id": "k2", "content": "second"},
        {"source_call_id": "k1", "content": "first", "extra": {"is_error": True}},
        {"content": "of no call"},
    ]
    write(trial, [step(1, tool_calls=calls, observation={"results": results})])
    message, one, two, other = page_of(visitor, trial).steps[0].blocks
    assert (message.title, message.is_mono) == ("", False)
    assert (one.title, one.name) == ("Call", "tool1")
    assert one.head == json.dumps({"n": 1, "why": "w" * 80}, indent=2)
    assert [(result.kind, result.head) for result in one.results] == [("error", "first")]
    assert [(result.kind, result.head) for result in two.results] == [("result", "second")]
    assert (other.kind, other.head) == ("result", "of no call")


def test_every_kind_of_part_is_shown(visitor: Client, trial: Trial) -> None:
    odd = step(
        1,
        message=[{"type": "text", "text": "Hello"}, {"type": "hologram", "x": 1}],
        reasoning_content="I think",
        extra={"reward": 0.5},
        unknown_key={"deep": [1]},
        is_copied_context=True,
    )
    write(trial, [odd])
    page, text = get(visitor, trial)
    shown = page.steps[0]
    kinds = {block.kind: block for block in shown.blocks}
    assert kinds["reasoning"].is_shut
    assert kinds["raw"].head == '{"type": "hologram", "x": 1}'
    assert kinds["reward"].name == "Training reward, never seen by the Agent"
    assert '"deep"' in shown.extra
    assert shown.is_copied
    assert "copied context" in text
    assert "not part of the score" in text


def test_long_text_is_folded_and_longer_text_is_cut(visitor: Client, trial: Trial) -> None:
    lines = "\n".join(f"line {n}" for n in range(100))
    write(trial, [step(1, message=lines), step(2, message="y" * 5000)])
    first, second = page_of(visitor, trial).steps
    block = first.blocks[0]
    assert block.head.endswith("line 39") and block.rest.startswith("line 40\n")
    assert (block.rest_words, block.is_open, block.cut) == ("60 more lines", False, "")
    cut = second.blocks[0]
    assert cut.cut == "First 4\u202f000 of 5\u202f000 characters"
    whole = b"".join(visitor.get(cut.all_href))
    assert whole == b"y" * 5000
    assert page_of(visitor, trial, fold="none").steps[0].blocks[0].is_open


def test_folding_is_in_the_address(visitor: Client, trial: Trial) -> None:
    write(trial, [step(1, reasoning_content="I think"), step(2)])
    assert not any(found.is_folded for found in page_of(visitor, trial).steps)
    assert all(found.is_folded for found in page_of(visitor, trial, fold="all").steps)
    assert [found.is_folded for found in page_of(visitor, trial, fold="all", step=2).steps] == [True, False]
    assert not page_of(visitor, trial, fold="none").steps[0].blocks[0].is_shut
    assert [choice.current for choice in page_of(visitor, trial, fold="none").folds] == [False, False, True]


# Pages ------------------------------------------------------------------------------------------------


def test_steps_come_fifty_a_page(visitor: Client, trial: Trial) -> None:
    write(trial, [step(number, size=10) for number in range(1, 121)])
    page = page_of(visitor, trial, page=2)
    assert [found.number for found in page.steps] == list(range(51, 101))
    assert [row.number for row in page.outline] == list(range(51, 101))
    assert page.range_words == "Steps 51 to 100 of 120"
    pager = page.pager
    assert (pager.words, pager.first_href) == ("Page 2 of 3", address(trial, "#steps"))
    assert pager.last_href == pager.next_href == address(trial, "?page=3#steps")
    assert pager.step_before_href == address(trial, "#step-50")
    assert pager.step_after_href == address(trial, "?page=3#step-101")
    last = page_of(visitor, trial, page=99)
    assert (len(last.steps), last.pager.next_href, last.pager.last_href) == (20, "", "")


@pytest.mark.parametrize(("asked", "first", "marked"), [(77, 51, 77), (10**8, 101, 120), ("x", 1, 0)])
def test_step_chooses_its_page(visitor: Client, trial: Trial, asked: Any, first: int, marked: int) -> None:
    write(trial, [step(number, size=10) for number in range(1, 121)])
    page = page_of(visitor, trial, step=asked)
    assert page.steps[0].number == first
    assert [found.number for found in page.steps if found.is_marked] == ([marked] if marked else [])
    assert [row.number for row in page.outline if row.is_marked] == ([marked] if marked else [])


def test_overview_marks_errors_and_leads_to_them(visitor: Client, trial: Trial, tmp_path: Path) -> None:
    wrong = {
        "observation": {"results": [{"source_call_id": "c", "content": "no", "extra": {"is_error": True}}]}
    }
    file = write_atif(tmp_path / "big.json", 1000, size=50, special={7: wrong, 640: wrong})
    leave(execution_of(trial), {ATIF: file})
    page, text = get(visitor, trial)
    assert len(page.strip.runs) <= 200
    assert len([run for run in page.strip.runs if run.error]) == 2
    assert page.strip.words[0].startswith("2 steps with an error (in ")
    assert page.strip.legend == ("error", "cost")
    assert text.count('class="strip-error"') == 3
    run = next(
        run for run in page.strip.runs if "639" in run.label or "641" in run.label or "640" in run.label
    )
    assert run.href.startswith(address(trial, "?page=13#step-6"))
    ways = [
        (page.next_error_href, 7),
        (address(trial, "?step=7&go=next-error"), 640),
        (address(trial, "?step=640&go=next-error"), 7),
        (address(trial, "?step=640&go=previous-error"), 7),
        (address(trial, "?go=previous-error"), 640),
    ]
    for href, found in ways:
        response = visitor.get(href)
        assert response["Location"] == address(trial, f"?step={found}#step-{found}")
    write(trial, [step(1)])
    assert page_of(visitor, trial).next_error_href == ""


def test_search_leads_to_steps_and_goes_on(visitor: Client, trial: Trial, tmp_path: Path) -> None:
    special = {5: {"message": "a <b>needle</b> here"}, 170: {"message": "another NEEDLE"}}
    leave(execution_of(trial), {ATIF: write_atif(tmp_path / "big.json", 200, size=50, special=special)})
    page, text = get(visitor, trial, q=" needle ")
    assert [hit.number for hit in page.search.hits] == [5, 170]
    assert page.search.summary == "2 steps found. Searched 200 of 200 steps."
    assert "a &lt;b&gt;<mark>needle</mark>&lt;/b&gt; here" in text
    hit = page_of(visitor, trial, q="needle", step=170)
    assert page.search.hits[1].href == address(trial, "?step=170&q=needle#step-170")
    assert [found.number for found in hit.steps if found.is_hit] == [170]
    assert page.search.on_href == ""
    many = page_of(visitor, trial, q="look at")
    assert len(many.search.hits) == 50
    assert many.search.on_words == "Go on after step 51"
    rest = visitor.get(many.search.on_href).context["page"].search
    assert rest.hits[0].number == 52
    assert rest.summary.endswith("Searched steps 52 to 101 of 200 steps.")
    assert page_of(visitor, trial, q="nowhere at all").search.summary.startswith("No step found.")


# Others -----------------------------------------------------------------------------------------------


def test_files_and_executions_are_linked(visitor: Client, trial: Trial, project: Project) -> None:
    files = {
        ATIF: atif([step(1)]),
        MESSAGES: {
            "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
        },
    }
    execution = leave(execution_of(trial), files)
    page = page_of(visitor, trial)
    assert [(choice.label, choice.current) for choice in page.files] == [
        ("ATIF trajectory", True),
        ("Messages of the last model call", False),
    ]
    other = visitor.get(page.files[1].href).context["page"]
    assert [found.source for found in other.steps] == ["User", "Agent"]
    assert other.hidden == (("file", MESSAGES),)
    earlier = Execution(trial=trial, number=7, status="failed", is_final=False, pack_id=execution.pack_id)
    earlier.files = [file for file in execution.files if file[0] == MESSAGES]
    earlier.save()
    page = page_of(visitor, trial)
    assert [(choice.label, choice.current) for choice in page.executions] == [
        ("0, succeeded (counts)", True),
        ("7, failed", False),
    ]
    old = visitor.get(page.executions[1].href).context["page"]
    assert old.superseded.startswith("This is execution 7")
    assert old.hidden == (("execution", "7"),)
    assert "execution=7" in old.steps[0].raw_href


def test_subagents_and_continued_parts_are_linked(visitor: Client, trial: Trial) -> None:
    inner = atif([step(1, message="from inside")], trajectory_id="sub one")
    reference = {
        "results": [
            {
                "source_call_id": "c1",
                "content": "x",
                "subagent_trajectory_ref": [{"trajectory_id": "sub one"}],
            }
        ]
    }
    lost = {"results": [{"subagent_trajectory_ref": [{"trajectory_path": "lost.json"}]}]}
    main = atif(
        [step(1, observation=reference), step(2, observation=lost)],
        subagent_trajectories=[inner],
        continued_trajectory_ref="next-trajectory.json",
    )
    leave(execution_of(trial), {ATIF: main, "artifacts/next-trajectory.json": atif([step(1)])})
    page = page_of(visitor, trial)
    assert [choice.label for choice in page.related] == ["It goes on in another file", "Subagent sub one"]
    links = [block for found in page.steps for block in all_blocks(found) if block.kind == "subagent"]
    assert links[0].link_href == page.related[1].href
    assert (links[1].link_href, links[1].link_words) == ("", "The trajectory of the subagent was not saved.")
    sub = visitor.get(links[0].link_href).context["page"]
    assert "from inside" in said(sub.steps[0])
    assert sub.related[0].label == "Back to the trajectory that it is part of"
    assert visitor.get(sub.related[0].href).status_code == 200


def test_long_names_of_files_stay_short_in_addresses(visitor: Client, trial: Trial) -> None:
    name = f"artifacts/{'é' * 300}-trajectory.json"
    inner = atif([step(1, message="deep down")], trajectory_id="子" * 180)
    leave(execution_of(trial), {name: atif([step(1)], subagent_trajectories=[inner]), ATIF: atif([step(1)])})
    page = page_of(visitor, trial)
    href = page.files[1].href
    assert len(href) < 300
    shown = visitor.get(href).context["page"]
    assert dict(shown.hidden)["file"].startswith("~")
    sub = visitor.get(shown.related[0].href).context["page"]
    assert "deep down" in said(sub.steps[0])
    assert visitor.get(address(trial), {"file": "~0000"}).status_code == 404


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (failed("harness_failed"), "harness failed"),
        (CANCELLED, "It was cancelled"),
        (Outcome(trajectory=False), "The run recorded no artifacts."),
        (Outcome(trajectory=False, artifacts={"notes.txt": b"x"}), "The harness wrote no trajectory"),
    ],
)
def test_without_a_trajectory_the_page_says_why(
    project: Project, visitor: Client, tmp_path: Path, outcome: Outcome, words: str
) -> None:
    bring(project, make_job(tmp_path, single_task="alone", outcomes=lambda a, t, n: outcome))
    trial = Trial.objects.get()
    page = page_of(visitor, trial)
    assert words in page.missing
    assert [link.href.rpartition("#")[2] for link in page.missing_links] == ["logs", "files", "executions"]
    for rest in ("/steps/1", "/steps/1/raw", "/steps/1/blocks/0", "/steps/1/images/0"):
        assert visitor.get(address(trial, rest)).status_code == 404


def test_lost_bytes_and_empty_files_are_said(visitor: Client, trial: Trial) -> None:
    execution = leave(execution_of(trial), {ATIF: b"{"})
    assert page_of(visitor, trial).missing == "No step could be found in this file."
    assert page_of(visitor, trial).problems
    leave(execution, {ATIF: atif([step(1)])})
    blobs.delete(execution.pack_id)
    assert "no longer in the store" in page_of(visitor, trial).missing


def test_the_first_file_with_steps_is_opened(visitor: Client, trial: Trial) -> None:
    leave(execution_of(trial), {ATIF: b"{", MESSAGES: {"messages": [{"role": "user", "content": "hello"}]}})
    page = page_of(visitor, trial)
    assert "hello" in said(page.steps[0])
    assert f"file={MESSAGES.replace('/', '%2F')}" in page.steps[0].raw_href


def test_a_large_file_is_read_by_a_second_request(
    visitor: Client, trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory_open, "BIG_FILE", 1000)
    write(trial, [step(1, message="at last")] * 3)
    page, text = get(visitor, trial, step=2)
    assert page.wait_href == address(trial, "?step=2&read=1")
    assert not StepIndex.objects.exists()
    assert 'hx-trigger="load"' in text and "Reading the trajectory" in text
    assert page.missing == ""
    read = visitor.get(page.wait_href).context["page"]
    assert (read.wait_href, len(read.steps)) == ("", 3)
    assert page_of(visitor, trial).wait_href == ""


# One step, and its parts -------------------------------------------------------------------------------


def test_a_step_with_a_thousand_results(visitor: Client, trial: Trial) -> None:
    calls = [{"tool_call_id": f"k{n}", "function_name": "grep", "arguments": {"n": n}} for n in range(1000)]
    results = [{"source_call_id": f"k{n}", "content": f"result {n}"} for n in range(1000)]
    write(trial, [step(1, tool_calls=calls, observation={"results": results}), step(2)])
    shown, other = page_of(visitor, trial).steps
    assert len(all_blocks(shown)) == 50
    assert (shown.blocks_words, other.blocks_words) == ("These are the first 50 parts.", "")
    assert shown.calls == (("grep", "× 49+"),)
    assert any("1951 more parts" in remark for remark in shown.remarks)
    assert len(all_blocks(other)) == 3
    page = step_of(visitor, trial, 1, page=2)
    assert page.pager.words == "Page 2 of 41"
    assert page.step.blocks_words == "Parts 51 to 100 of 2\u202f001."
    assert page.step.calls == (("grep", "× 1\u202f000"),)
    assert len(all_blocks(page.step)) == 50
    joined = [block for block in page.step.blocks if block.results]
    assert len(joined) == 24  # the first result answers a call of the page before
    last = step_of(visitor, trial, 1, page=41)
    assert len(all_blocks(last.step)) == 1


@pytest.mark.parametrize(("repeated", "results"), [(300, 6), (300, 60), (12, 60)])
def test_the_worst_of_pages_stays_under_a_megabyte(
    visitor: Client, trial: Trial, monkeypatch: pytest.MonkeyPatch, repeated: int, results: int
) -> None:
    monkeypatch.setattr(trajectory_open, "BIG_FILE", 10**9)
    hostile = "<'\"&\x00\u202e" * repeated
    answers = [
        {"source_call_id": f"k{n}", "content": hostile, "junk": hostile[:2000]} for n in range(results)
    ]
    calls = [
        {"tool_call_id": f"k{n}", "function_name": hostile, "arguments": {hostile: n}} for n in range(results)
    ]
    big = step(
        1,
        tool_calls=calls,
        observation={"results": answers},
        model_name=hostile,
        source=hostile,
        more=hostile,
    )
    write(trial, [big] * 60, notes=hostile, extra={"x": hostile})
    page = page_of(visitor, trial)
    assert len(page.steps) == 50
    for query in ({"q": "<'"}, {"fold": "none"}, {"page": 2}):
        get(visitor, trial, **query)
    assert step_of(visitor, trial, 1, page=2).step.blocks


def test_a_step_of_two_megabytes(visitor: Client, trial: Trial) -> None:
    write(trial, [step(1, message="z" * 2_000_000), step(2)])
    first, second = page_of(visitor, trial).steps
    assert first.blocks[0].cut == "First 4\u202f000 of 2\u202f000\u202f000 characters"
    assert said(second)
    alone = step_of(visitor, trial, 1)
    assert alone.step.blocks[0].cut == "First 100\u202f000 of 2\u202f000\u202f000 characters"
    assert (alone.previous_href, alone.next_href) == ("", address(trial, "/steps/2"))
    response = visitor.get(alone.step.blocks[0].all_href)
    assert sum(map(len, response)) == 2_000_000


def test_parts_come_as_plain_text_that_cannot_run(visitor: Client, trial: Trial) -> None:
    picture = {"type": "image", "source": {"media_type": "image/png", "data": base64.b64encode(PNG).decode()}}
    drawing = {"type": "image", "source": {"media_type": "image/svg+xml", "data": "PHN2Zz4="}}
    fake = {"type": "image", "source": {"media_type": "image/png", "data": "PHN2Zz4="}}
    write(trial, [step(1, message=[{"type": "text", "text": "<script>1</script>"}, picture, drawing, fake])])
    page, text = get(visitor, trial)
    blocks = page.steps[0].blocks
    assert [bool(block.image_href) for block in blocks[:4]] == [False, True, False, True]
    assert 'loading="lazy"' in text
    assert "PHN2Zz4" not in text
    parts = {
        "/steps/1/raw": "text/plain",
        "/steps/1/blocks/0": "text/plain",
        "/steps/1/images/1": "image/png",
    }
    for rest, kind in parts.items():
        response = visitor.get(address(trial, rest))
        assert response.status_code == 200, rest
        assert response["Content-Type"].startswith(kind)
        assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert "Set-Cookie" not in response
    assert b"".join(visitor.get(address(trial, "/steps/1/images/1"))) == PNG
    for rest in (
        "/steps/1/images/2",
        "/steps/1/images/3",
        "/steps/1/images/0",
        "/steps/1/images/99",
        "/steps/9/raw",
    ):
        assert visitor.get(address(trial, rest)).status_code == 404, rest


def test_pictures_in_files_are_checked(visitor: Client, trial: Trial) -> None:
    parts = [
        {"type": "image", "source": {"media_type": "image/png", "path": name}}
        for name in ("shot.png", "fake.png", "javascript:alert(1)", "https://evil.example/x.png")
    ]
    sound = {"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav"}}
    files = {"artifacts/shot.png": PNG, "artifacts/fake.png": b"<svg/>", "artifacts/a.wav": b"RIFF"}
    leave(execution_of(trial), {ATIF: atif([step(1, message=[*parts, sound])]), **files})
    page, text = get(visitor, trial)
    blocks = page.steps[0].blocks
    assert [bool(block.image_href) for block in blocks[:4]] == [True, True, False, False]
    assert visitor.get(blocks[0].image_href)["Content-Type"] == "image/png"
    assert visitor.get(blocks[1].image_href).status_code == 404
    assert "not kept here: javascript:alert(1)" in blocks[2].image_words
    assert blocks[4].link_href.endswith("/executions/0/files/artifacts/a.wav")
    assert 'href="javascript' not in text and 'src="https' not in text


# What comes from outside -------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "\x1b[31mred\x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\",
    "\u202egnp.exe \u2066 \x00 \x07 \ud800",
    "</pre></details></article><h1>mine</h1>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_outside_text_is_only_text(visitor: Client, trial: Trial, text: str) -> None:
    everywhere = step(
        1,
        step_id=text,
        source=text,
        message=text,
        reasoning_content=text,
        model_name=text,
        timestamp=text,
        tool_calls=[{"tool_call_id": text, "function_name": text, "arguments": {text: text}}],
        observation={
            "results": [
                {
                    "source_call_id": text,
                    "content": text,
                    "subagent_trajectory_ref": [{"trajectory_id": text}],
                }
            ]
        },
        extra={"error": text, "reward": text},
    )
    everywhere[text] = text
    whole = atif(
        [everywhere], agent={"name": text, "version": text, "model_name": text}, notes=text, session_id=text
    )
    whole["subagent_trajectories"] = [atif([step(1)], trajectory_id=text)]
    leave(execution_of(trial), {ATIF: whole})
    asked = text.encode(errors="replace").decode()
    for query in (
        {},
        {"q": asked},
        {"q": "alert"},
        {"file": asked},
        {"go": asked},
        {"fold": asked, "page": asked, "step": asked},
    ):
        response = visitor.get(address(trial), query)
        body = response.content.decode()
        if "file" in query:
            assert response.status_code == 404
            continue
        assert response.status_code == 200
        assert "<script>alert" not in body and "<img src=x" not in body and "<h1>mine" not in body
        assert not re.search(r'(?:href|src)="\s*javascript:', body)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", body)
    assert visitor.get(address(trial, "/steps/1")).status_code == 200


def test_odd_times_and_costs_are_no_error(visitor: Client, trial: Trial) -> None:
    same = "2026-01-01T00:00:05Z"
    times = [same, same, "2026-01-01T00:00:01Z", None, "never", "2026-01-01T00:00:09Z"]
    write(trial, [step(n, timestamp=time, metrics={"cost_usd": 0.0}) for n, time in enumerate(times, 1)])
    page = page_of(visitor, trial)
    assert [found.since for found in page.steps] == ["+0.0\u00a0s", "+0.0\u00a0s", "", "", "", "+4.0\u00a0s"]
    assert {fact.label: fact.figure.text for fact in page.facts}["Cost"] == "–"
    assert any("backwards" in note for note in page.notes)


def test_broken_steps_are_shown_as_they_are(visitor: Client, trial: Trial) -> None:
    write(
        trial,
        [
            "text",
            7,
            None,
            [],
            {},
            {"source": None, "message": None},
            step(7, tool_calls="x", observation=[1]),
        ],
    )
    page, _ = get(visitor, trial)
    assert len(page.steps) == 7
    assert said(page.steps[0]) == '"text"'


def test_templates_make_no_queries(visitor: Client, trial: Trial, project: Project) -> None:
    write(trial, [step(1)])

    def refuse(*_: Any) -> None:
        raise AssertionError("a template asks the database")

    compare = f"/projects/triage/trajectories/compare?a={trial.client_trial_id}&b={trial.client_trial_id}"
    ways = {
        "jobs/trajectory.html": address(trial, "?q=look"),
        "jobs/step.html": address(trial, "/steps/1"),
        "jobs/trajectory_compare.html": compare,
    }
    for template, way in ways.items():
        context = {"page": visitor.get(way).context["page"], "project": project}
        with connection.execute_wrapper(refuse):
            assert "Step" in render_to_string(template, context)


# Who, and at what cost --------------------------------------------------------------------------------


def test_only_members_get_any_of_it(trial: Trial, dee: User, cy: User, client_as: ClientAs) -> None:
    write(trial, [step(1)])
    for rest in ("", "/steps/1", "/steps/1/raw", "/steps/1/blocks/0"):
        assert client_as(cy).get(address(trial, rest)).status_code == 200
        assert client_as(dee).get(address(trial, rest)).status_code == 404
        assert client_as(None).get(address(trial, rest)).status_code == 302


@pytest.mark.parametrize(
    ("rest", "queries"),
    [
        ("", 8),
        ("?step=33", 8),
        ("?q=look", 9),
        ("?fold=all&page=1", 8),
        ("/steps/3", 8),
        ("/steps/3/raw", 7),
        ("/steps/3/blocks/0", 7),
    ],
)
def test_queries_are_the_same_however_long(
    visitor: Client, trial: Trial, tmp_path: Path, rest: str, queries: int
) -> None:
    def asked() -> int:
        visitor.get(address(trial, rest))
        with CaptureQueriesContext(connection) as captured:
            assert visitor.get(address(trial, rest)).status_code == 200
        return len(captured)

    write(trial, [step(number) for number in range(1, 60)])
    assert asked() == queries
    leave(execution_of(trial), {ATIF: write_atif(tmp_path / "big.json", 1500, size=50)})
    assert asked() == queries
