"""The page of one Trial and its receipt: what is said, what is linked, and that nothing outside breaks it."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.utils import timezone

from jobs.models import Execution, Job, Trial
from jobs.trial_pages import ReceiptPage, TrialPage
from plural_site.accounts.models import Project, User
from plural_site.db import blobs
from tests.builders import (
    AWAITING_REVIEW,
    CANCELLED,
    START,
    AgentSpec,
    BenchmarkSpec,
    Outcome,
    category,
    change,
    clock,
    failed,
    line,
    make_job,
    track,
)
from tests.importing import bring

if TYPE_CHECKING:
    from tests.conftest import ClientAs

HOME = "/projects/triage/trials"
NOT_FOR_PEOPLE = re.compile(r"\b(nan|NaN|None|inf|Infinity)\b")
SPEC = BenchmarkSpec(
    tasks=("a", "b"),
    categories=(category("early", "a"),),
    scoring={"task_weights": {"a": 3.0}},
    tracks=(track("open", attempts=2),),
)
APPS = {"desk": {"control": "owned", "initial": {"team": "", "n": 1}, "final": {"team": "billing", "n": 1}}}
SCORED = Outcome(
    score=0.5,
    scores={"closed": 1.0, "priority": 0.0, "team": 0.5},
    evidence=("priority='normal', wanted 'low'", {"nested": {"list": [1, True, None]}}),
    feedback="Routed to the wrong team.",
    artifacts={"apps.json": line(APPS), "notes.txt": b"first\nsecond\n"},
)

Ask = Callable[..., Any]


@pytest.fixture
def visitor(project: Project, ann: User, client_as: ClientAs) -> Client:
    return client_as(ann)


def page_of(visitor: Client, trial: Trial, **query: Any) -> TrialPage:
    response = visitor.get(f"{HOME}/{trial.client_trial_id}", query)
    assert response.status_code == 200
    text = response.content.decode()
    assert NOT_FOR_PEOPLE.findall(text) == []
    page: TrialPage = response.context["page"]
    return page


def receipt_of(visitor: Client, trial: Trial, **query: Any) -> ReceiptPage:
    response = visitor.get(f"{HOME}/{trial.client_trial_id}/receipt", query)
    assert response.status_code == 200
    page: ReceiptPage = response.context["page"]
    return page


def bring_one(project: Project, store: Path, outcome: Outcome | float, **options: Any) -> Trial:
    """A Job on one Task, with `outcome`."""
    bring(project, make_job(store, single_task="alone", outcomes=lambda a, t, n: outcome, **options))
    return Trial.objects.latest("pk")


# What it says ----------------------------------------------------------------------------------------


def test_verifier_says_what_failed_first(project: Project, visitor: Client, tmp_path: Path) -> None:
    page = page_of(visitor, bring_one(project, tmp_path, SCORED))
    (verifier,) = page.verifiers.rows
    assert [(row.name, row.mark, row.text) for row in verifier.parts] == [
        ("priority", "not met", "0"),
        ("team", "partly met", "0.5"),
        ("closed", "met", "1"),
    ]
    assert (verifier.score.text, verifier.weight.text, verifier.weight.note) == (
        "50.0 %",
        "1",
        "100.0\u00a0% of the score",
    )
    assert verifier.feedback.text == "Routed to the wrong team."
    assert [node.kind for node in verifier.evidence] == ["text", "object"]
    assert page.verifiers.sum == "(1 × 0.5) / (1) = 0.5"
    assert page.claim == "check gave 50.0 % (weight 1)."
    assert page.why.endswith("below the success threshold of 100.0 %.")


def test_weights_are_those_of_the_binding(project: Project, visitor: Client, tmp_path: Path) -> None:
    folder = make_job(tmp_path, single_task="alone", outcomes=lambda a, t, n: SCORED)
    change(folder / "config.json", "source.task.verifiers[0].weight", 2.5)
    bring(project, folder)
    (verifier,) = page_of(visitor, Trial.objects.get()).verifiers.rows
    assert (verifier.weight.text, verifier.score.text) == ("2.5", "50.0 %")


def test_score_that_does_not_follow_from_its_verifiers_is_said(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    trial = bring_one(project, tmp_path, SCORED)
    Trial.objects.update(score=0.75)
    page = page_of(visitor, trial)
    assert "reports 0.75" in page.verifiers.notes[0]


def test_states_are_shown_as_changes(project: Project, visitor: Client, tmp_path: Path) -> None:
    (app,) = page_of(visitor, bring_one(project, tmp_path, SCORED)).state.apps
    assert [(c.path, c.kind, c.old, c.new) for c in app.changes] == [("team", "changed", '""', '"billing"')]
    assert (app.control, app.summary) == ("owned", "1 change from initial to final.")


def test_only_a_final_state_is_no_comparison(project: Project, visitor: Client, tmp_path: Path) -> None:
    outcome = Outcome(artifacts={"state.json": b'{"team": "billing"}'})
    (app,) = page_of(visitor, bring_one(project, tmp_path, outcome)).state.apps
    assert (app.changes, app.trees[0].children[0].text) == ((), "billing")
    assert "only the final state" in app.summary


def atif(*costs: float | None) -> bytes:
    steps = [
        {"step_id": n, "source": "agent", "llm_call_count": 1, "model_name": "sim/one", "metrics": metrics}
        for n, cost in enumerate(costs, 1)
        for metrics in [{"prompt_tokens": 10, "completion_tokens": 2, "cost_usd": cost}]
    ]
    missing = sum(cost is None for cost in costs)
    return line(
        {
            "steps": [*steps, {"step_id": 99, "source": "agent", "llm_call_count": 0}],
            "final_metrics": {"extra": {"calls_missing_cost": missing}},
        }
    )


def test_calls_without_a_cost_make_a_lower_bound(project: Project, visitor: Client, tmp_path: Path) -> None:
    outcome = Outcome(cost_usd=0.25, artifacts={"atif-trajectory.json": atif(0.25, None)}, trajectory=False)
    calls = page_of(visitor, bring_one(project, tmp_path, outcome)).calls
    assert [(row.step, row.cost.text) for row in calls.rows] == [("1", "$0.25"), ("2", "–")]
    assert (calls.totals[-1].cost.text, calls.totals[-1].input) == ("≥ $0.25", "20")
    assert calls.notes == ("1 of 2 calls reported no cost, so the total is a lower bound.",)


@pytest.mark.parametrize(("cost", "note"), [(0.0, "reported as $0"), (0.25, ""), (None, "")])
def test_a_cost_of_zero_for_tokens_is_marked(
    cost: float | None, note: str, project: Project, visitor: Client, tmp_path: Path
) -> None:
    trial = bring_one(project, tmp_path, Outcome(cost_usd=cost))
    Trial.objects.update(tokens=1200)
    (fact,) = [fact for fact in page_of(visitor, trial).facts if fact.label == "Cost"]
    assert fact.figure.note == note
    assert ("did not know the price" in fact.figure.title) is (cost == 0)
    Trial.objects.update(tokens=0)
    (fact,) = [fact for fact in page_of(visitor, trial).facts if fact.label == "Cost"]
    assert fact.figure.note == ""


def test_cost_of_an_attempt_without_a_receipt_for_it_is_not_lost(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    outcome = failed("timeout", "harness_timeout", artifacts={"atif-trajectory.json": atif(0.25, 0.5)})
    calls = page_of(visitor, bring_one(project, tmp_path, outcome)).calls
    assert calls.totals[-1].cost.text == "$0.75"
    assert "the receipt has no cost" in calls.notes[0].lower()


def test_a_trajectory_too_large_for_a_page_is_said(
    project: Project, visitor: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.trial_runs.MOST_ATIF", 100)
    calls = page_of(visitor, bring_one(project, tmp_path, Outcome())).calls
    assert (calls.rows, "see the trajectory" in calls.missing) == ((), True)


def test_logs_show_their_end_without_terminal_codes(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    folder = make_job(tmp_path, single_task="alone")
    (logs,) = folder.glob("trials/*/executions/0/logs")
    (logs / "stdout.log").write_text("".join(f"\x1b[31mline {n}\x1b[0m\n" for n in range(5000)))
    (logs / "stderr.log").write_bytes(b"10 %\r20 %\r\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07 \xff\x00")
    (logs / "verifier.stderr.log").unlink()
    bring(project, folder)
    stdout, stderr, empty, absent = page_of(visitor, Trial.objects.get()).logs
    assert stdout.tail.split("\n") == [f"line {n}" for n in range(4960, 5000)]
    assert (stdout.note.startswith("Its end, of"), bool(stdout.href)) == (True, True)
    assert (stderr.tail, stderr.note) == ("10 %\n20 %\nlink \ufffd␀", "")
    assert (empty.note, empty.href) == ("Empty.", "")
    assert absent.note == "The run left no such log."


def test_trajectory_of_the_execution_that_is_shown_is_one_click_away(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    trial = bring_one(project, tmp_path, Outcome(before=(Outcome(status="failed", score=None),)))
    for query, wanted in (({}, ""), ({"execution": 0}, "?execution=0")):
        href = page_of(visitor, trial, **query).trajectory.href
        assert href == f"{HOME}/{trial.client_trial_id}/trajectory{wanted}"
        assert visitor.get(href).status_code == 200


# Missing parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "verifiers", "artifacts"),
    [
        (failed("protocol_failed"), "ended before its Verifiers ran (protocol failed)", "crashes"),
        (failed("timeout", "harness_timeout"), "(timeout)", "timeout, harness timeout"),
        (failed("verifier_failed", "max_turns"), "keeps no result of any Verifier", "verifier failed"),
        (CANCELLED, "cancelled before its Verifiers", "cancelled execution keeps no artifacts"),
    ],
)
def test_missing_parts_say_why(
    project: Project, visitor: Client, tmp_path: Path, outcome: Outcome, verifiers: str, artifacts: str
) -> None:
    page = page_of(visitor, bring_one(project, tmp_path, outcome))
    (row,) = page.verifiers.rows
    assert (row.status, verifiers in row.missing) == ("no result", True), row.missing
    assert artifacts in page.files.missing
    assert artifacts in page.state.missing
    assert artifacts in page.calls.missing
    assert page.trajectory.href == ""


def test_a_trial_that_awaits_a_person_says_so(project: Project, visitor: Client, tmp_path: Path) -> None:
    page = page_of(visitor, bring_one(project, tmp_path, AWAITING_REVIEW))
    (row,) = page.verifiers.rows
    assert (row.score.text, row.score.title) == ("–", "A person has yet to review it")
    assert (page.outcome, page.verifiers.sum) == ("Pending", "")


def test_lost_files_are_no_error(project: Project, visitor: Client, tmp_path: Path) -> None:
    trial = bring_one(project, tmp_path, SCORED)
    for pack in {trial.job.pack_id, *trial.executions.values_list("pack", flat=True)}:
        blobs.delete(pack)
    page = page_of(visitor, trial)
    assert "no longer in the store" in page.state.missing
    assert "no longer in the store" in receipt_of(visitor, trial).missing


# Executions ------------------------------------------------------------------------------------------


def test_retries_say_why_and_each_execution_has_a_page(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    outcome = Outcome(before=(failed("provider_unavailable"), failed("odd_code")))
    trial = bring_one(project, tmp_path, outcome)
    page = page_of(visitor, trial)
    assert [(row.number, row.is_final, row.is_shown) for row in page.executions] == [
        (0, False, False),
        (1, False, False),
        (2, True, True),
    ]
    first, second, _ = page.executions
    assert first.error.text == "provider unavailable: provider_unavailable happened"
    assert (
        first.retry
        == "Tried again, because the Job retries after provider unavailable (retry 1 of at most 2)."
    )
    assert second.retry.startswith("Tried again, because it ended with odd code")
    assert page.superseded == ""
    earlier = visitor.get(first.href).context["page"]
    assert (earlier.shown, earlier.verifiers.rows[0].missing != "") == (0, True)
    assert "only the last execution counts" in earlier.superseded
    for wanted in ("3", "x", "-1", "9" * 30):
        assert visitor.get(f"{HOME}/{trial.client_trial_id}", {"execution": wanted}).status_code == 404


def test_the_last_failure_says_why_there_is_no_further_try(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    spent = failed("provider_unavailable", before=(failed("provider_unavailable"),) * 2)
    assert page_of(visitor, bring_one(project, tmp_path / "1", spent)).executions[-1].retry == (
        "Not tried again: all 2 retries were used."
    )
    other = bring_one(project, tmp_path / "2", failed("protocol_failed"), key="2")
    assert "does not retry after protocol failed" in page_of(visitor, other).executions[-1].retry


# How it counts, and what stands beside it ------------------------------------------------------------


@pytest.fixture
def recorded(project: Project, tmp_path: Path) -> None:
    agents = [AgentSpec(name=name, model=f"sim/{name}") for name in ("alpha", "beta")]
    make_job(tmp_path, benchmark=SPEC, agents=agents, attempts=2, track_id="open")
    bring(project, tmp_path)


def test_entry_is_told_and_proven(recorded: None, visitor: Client) -> None:
    trial = Trial.objects.get(task_name="a", attempt=1, job_agent__name="alpha")
    entry = page_of(visitor, trial).entry
    assert entry.words == (
        "Its Task weighs 3 of 4 (75.0\u00a0%) in Demo Bench 1.0.0.",
        "The entry has 2 attempts at this Task, 2 of them valid, with a mean of 100.0 %.",
    )
    proof = visitor.get(entry.proof_href).context["page"]
    assert (proof.label, proof.agent) == ("Score", "alpha")
    (early,) = entry.categories
    assert visitor.get(early.href).context["page"].category == "Early"
    assert visitor.get(entry.board_href).status_code == 200


def test_every_trial_of_an_agent_or_task_is_passed_once(recorded: None, visitor: Client) -> None:
    for name, wanted in (("Same Agent", 4), ("Same Task", 4)):
        trial = Trial.objects.earliest("pk")
        row = next(row for row in page_of(visitor, trial).neighbours if row.name == name)
        while row.previous.href:
            row = neighbours_at(visitor, row.previous.href, name)
        seen = 1
        while row.following.href:
            row = neighbours_at(visitor, row.following.href, name)
            seen += 1
        assert seen == wanted


def neighbours_at(visitor: Client, href: str, name: str) -> Any:
    return next(row for row in visitor.get(href).context["page"].neighbours if row.name == name)


def test_other_attempts_are_marked(recorded: None, visitor: Client) -> None:
    trial = Trial.objects.get(task_name="b", attempt=2, job_agent__name="beta")
    marks = page_of(visitor, trial).attempts
    assert [(mark.attempt, mark.text, mark.is_this) for mark in marks] == [
        (1, "100.0 %", False),
        (2, "100.0 %", True),
    ]


def test_a_trial_that_several_jobs_hold_counts_once(
    project: Project, recorded: None, visitor: Client, tmp_path: Path
) -> None:
    first = Job.objects.get()
    trial = Trial.objects.get(task_name="a", attempt=1, job_agent__name="alpha")
    copy_of(trial)
    page = page_of(visitor, trial)
    assert [(row.counts, row.is_shown) for row in page.held] == [
        ("counts", True),
        ("does not count: the copy that came in first counts", False),
    ]
    other = visitor.get(page.held[1].href).context["page"]
    assert [row.is_shown for row in other.held] == [False, True]
    assert other.entry.words[0] == "It counts on no leaderboard: the copy that came in first counts."
    assert (other.entry.proof_href, page.entry.proof_href != "") == ("", True)
    for href in (other.files.rows[0].href, other.receipt_href, other.logs[0].href or other.receipt_href):
        assert "job=job_copy" in href
        assert visitor.get(href).status_code == 200
    first.set_aside_at, first.set_aside_reason = timezone.now(), "a broken model"
    first.save()
    aside = page_of(visitor, trial)
    assert [row.is_shown for row in aside.held] == [False, True]
    assert "set aside on" in aside.held[0].counts
    assert "a broken model" in aside.held[0].counts
    assert aside.held[1].counts == "counts"
    assert visitor.get(f"{HOME}/{trial.client_trial_id}", {"job": "job_none"}).status_code == 404


def copy_of(trial: Trial) -> Trial:
    """The same Trial, held by another Job too."""
    job, agent, execution = trial.job, trial.job_agent, trial.executions.get()
    job.pk, job.client_job_id = None, "job_copy"
    job.save()
    agent.pk, agent.job = None, job
    agent.save()
    copy = Trial.objects.get(pk=trial.pk)
    copy.pk, copy.job, copy.job_agent = None, job, agent
    copy.save()
    execution.pk, execution.trial = None, copy
    execution.save()
    return copy


def test_no_step_leads_round_in_circles_where_trials_are_held_twice(recorded: None, visitor: Client) -> None:
    for trial in Trial.objects.filter(task_name="a", job_agent__name="alpha").order_by("pk"):
        if not Job.objects.filter(client_job_id="job_copy").exists():
            copy_of(trial)
    trial = Trial.objects.filter(job_agent__name="alpha").earliest("task_position", "attempt")
    row = page_of(visitor, trial).neighbours[0]
    seen = 0
    while row.following.href:
        seen += 1
        assert seen < 10
        row = neighbours_at(visitor, row.following.href, row.name)
    assert seen == 3


# Receipt ---------------------------------------------------------------------------------------------


def verdicts(page: ReceiptPage) -> dict[str, str]:
    return {row.what: row.verdict for row in (*page.checks, *page.files)}


def test_every_digest_of_an_unaltered_trial_matches(recorded: None, visitor: Client) -> None:
    for trial in Trial.objects.all():
        page = receipt_of(visitor, trial)
        found = verdicts(page)
        assert {name for name, verdict in found.items() if verdict != "matches"} == {
            "selected.json",
            "harness",
        }
        assert {"receipt", "task", "environment", "verifier", "agent", "release"} <= found.keys()
        assert {"Job specification", "artifacts/atif-trajectory.json", "result.json"} <= found.keys()
        assert (page.tone, page.summary.startswith("All ")) == ("good", True)


def test_altered_bytes_are_found_when_recomputed(project: Project, visitor: Client, tmp_path: Path) -> None:
    trial = bring_one(project, tmp_path, SCORED)
    execution = trial.executions.get()
    path, _, offset, size, *_ = next(file for file in execution.files if file[0] == "artifacts/notes.txt")
    with blobs.open_blob(execution.pack_id) as stream:
        place, data = Path(stream.name), stream.read()
    place.chmod(0o600)
    place.write_bytes(data[:offset] + b"X" * size + data[offset + size :])
    found = receipt_of(visitor, trial)
    assert [row.what for row in found.files if row.verdict == "differs"] == [path]
    assert (found.files[0].what, found.tone) == (path, "bad")
    assert found.summary.startswith("1 of ")


def test_what_the_run_altered_is_said_on_both_pages(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    folder = make_job(tmp_path, single_task="alone", outcomes=lambda a, t, n: SCORED)
    (execution,) = folder.glob("trials/*/executions/0")
    (execution / "artifacts" / "notes.txt").write_bytes(b"other")
    (execution / "artifacts" / "apps.json").unlink()
    (execution / "artifacts" / "more.txt").write_bytes(b"more")
    for file in (execution / "receipt.json",):
        change(file, "cost_usd", 1.5)
    bring(project, folder)
    trial = Trial.objects.get()
    page = page_of(visitor, trial)
    assert page.receipt.text == "1 of 2 files agree"
    assert any("receipt.json" in problem for problem in page.receipt_problems)
    found = verdicts(receipt_of(visitor, trial))
    assert {name for name, verdict in found.items() if verdict == "differs"} >= {
        "receipt",
        "receipt inside result.json",
        "artifacts/notes.txt",
        "artifacts/apps.json",
        "artifacts/more.txt",
    }


def test_pins_are_compared(recorded: None, visitor: Client) -> None:
    trial = Trial.objects.earliest("pk")
    Job.objects.update(files=[file for file in trial.job.files if file[0] != "lock.json"])
    found = verdicts(receipt_of(visitor, trial))
    assert found["task in lock.json"] == found["agent in lock.json"] == "not recomputed"
    assert found["agent"] == found["task"] == "matches"
    Trial.objects.filter(pk=trial.pk).update(task_digest="sha256:" + "0" * 64)
    assert verdicts(receipt_of(visitor, trial))["task pin"] == "differs"


# Hostile input ---------------------------------------------------------------------------------------

EVIL = "<script>alert(1)</script>\x1b[31mred\u202egnp\u2066\x07'\"&"
WORSE = EVIL + "\0"
"""Not even a name may hold this."""


def hostile(store: Path) -> Path:
    nested: Any = WORSE
    for _ in range(45):
        nested = {EVIL: [nested]}
    deep: Any = 0
    for _ in range(200):
        deep = {"a": deep}
    names = {f"odd/{n:04d} \u202e<b>&'\"{'é' * 60}.txt": WORSE.encode() * 200 for n in range(1000)}
    apps = {"desk": {"initial": {}, "final": {f"{EVIL}{n}": WORSE * 20 for n in range(2000)}}, EVIL: [EVIL]}
    outcome = Outcome(
        scores={f"{EVIL}{n}": 0.5 for n in range(1000)},
        evidence=[nested, *({"k" * 50 + str(n): WORSE * 20} for n in range(6000)), "'" * 500_000],
        feedback=WORSE * 2000,
        artifacts={**names, "apps.json": line(apps), "state.json": line(deep), "view.json": line(deep)},
        before=(failed(EVIL, EVIL, error_message=EVIL * 1500),) * 5,
    )
    folder = make_job(store, single_task=f"alone {EVIL}", outcomes=lambda a, t, n: outcome)
    (trial,) = folder.glob("trials/*")
    moments = [clock(START + timedelta(seconds=n)) for n in range(10_001)]
    phases = [
        {"name": f"{EVIL}{n % 30}", "started_at": moments[n], "completed_at": moments[n + 1]}
        for n in range(10_000)
    ]
    last = trial / "executions" / "5"
    change(last / "receipt.json", "phases", phases)
    change(last / "result.json", "receipt.phases", phases)
    shutil.copy(last / "result.json", trial / "result.json")
    (last / "logs" / "stdout.log").write_bytes(WORSE.encode() * 20_000)
    return folder


def test_hostile_trial_stays_harmless_and_small(project: Project, visitor: Client, tmp_path: Path) -> None:
    bring(project, hostile(tmp_path))
    trial = Trial.objects.get()
    assert len(json.dumps(Execution.objects.get(is_final=True).verifier_results)) > 5_000_000
    paths = [f"{HOME}/{trial.client_trial_id}", f"{HOME}/{trial.client_trial_id}/receipt"]
    files = 0
    for path in paths:
        started = time.monotonic()
        response = visitor.get(path)
        assert response.status_code == 200
        assert time.monotonic() - started < 10
        assert len(response.content) < 1_000_000
        text = response.content.decode()
        for found in ("<script>alert", "\x1b", "\u202e", "\u2066", "\0", "\x07", "<b>&"):
            assert found not in text, (path, found)
    href = paths[0]
    while href:
        response = visitor.get(href)
        assert len(response.content) < 1_000_000
        page = response.context["page"]
        files += len(page.files.rows)
        href = page.files.next_href.partition("#")[0]
    assert files == len(Execution.objects.get(is_final=True).files)
    assert (page.timeline.lanes != (), len(page.executions)) == (True, 6)
    (verifier,) = page.verifiers.rows
    assert (len(verifier.parts), verifier.feedback.left_out > 0) == (60, True)
    assert 0 < len(verifier.evidence) < verifier.evidence_total
    assert [app.changes != () for app in page.state.apps] == [False, True]
    assert page.record_missing == "result.json is not shown: too large."
