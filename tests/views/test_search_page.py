"""The pages that search the Trials of a Job and of a Benchmark."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs import search, views_search
from jobs.models import Execution, Job, TextMark, Trial
from jobs.search_pages import SearchPage
from jobs.search_texts import index_texts
from plural_site.accounts.models import Project
from tests.builders import START, BenchmarkSpec, Outcome, agents_named, failed, make_job, track
from tests.importing import bring
from tests.trajectories import ATIF, atif, leave

SPEC = BenchmarkSpec(tasks=("refund", "letter"), tracks=(track(),))
BOARD = "/projects/triage/benchmarks/demo-bench@1.0.0"
Say = Callable[[str, str, int], str]


def happened(agent: str, task: str, attempt: int) -> Outcome | float:
    if agent == "bold":
        return failed("", "max_turns", trajectory=True) if task == "letter" else 0.0
    return failed("provider_unavailable", trajectory=True) if (task, attempt) == ("letter", 2) else 1.0


def said(agent: str, task: str, attempt: int) -> str:
    return f"{agent} at {task}: <b>Refund</b> of 5% & more" if task == "refund" else f"{agent} writes"


def recorded(project: Project, folder: Path, say: Say = said, **job: Any) -> Job:
    """A Job of two Agents with two attempts at two Tasks; each says something in steps 2 and 3."""
    agents = agents_named(("calm", "bold"))
    settings = {"benchmark": SPEC, "agents": agents, "attempts": 2, "outcomes": happened, "track_id": "open"}
    path = make_job(folder, **{**settings, **job})
    bring(project, path)
    made = Job.objects.get(client_job_id=path.name)
    for execution in Execution.objects.filter(trial__job=made, is_final=True).select_related(
        "trial__job_agent"
    ):
        trial = execution.trial
        words = say(trial.job_agent.name, trial.task_name, trial.attempt)
        steps = [
            {"step_id": n, "source": "agent", "message": text} for n, text in enumerate(("", words, words))
        ]
        leave(execution, {ATIF: atif(steps)})
    return made


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine, one request indexes all, but where a test says otherwise."""
    monkeypatch.setattr(views_search, "INDEX_SECONDS", 600)


@pytest.fixture
def job(project: Project, tmp_path: Path) -> Job:
    return recorded(project, tmp_path)


def path_of(job: Job) -> str:
    return f"/projects/triage/jobs/{job.client_job_id}/search"


def page_of(visitor: Client, path: str, **query: str) -> SearchPage:
    response = visitor.get(path, query)
    assert response.status_code == 200
    page: SearchPage = response.context["page"]
    return page


def counts(page: SearchPage) -> dict[str, list[str]]:
    return {row.name: [figure.text for figure in row.figures] for row in page.counts}


def test_without_words_it_says_what_can_be_asked(visitor: Client, job: Job) -> None:
    response = visitor.get(path_of(job))
    page = response.context["page"]
    assert (page.words, page.claim, page.trials, page.go_on_href) == ("", "", (), "")
    assert "What did the Agents say?" in response.content.decode()
    assert not TextMark.objects.exists()
    assert page_of(visitor, path_of(job), q="   ").words == ""


def test_counts_say_who_passed_and_who_failed(visitor: Client, job: Job) -> None:
    page = page_of(visitor, path_of(job), q="REFUND</B> of 5% &")
    assert page.claim == "In 4 of 8 Trials, 8 steps."
    assert page.heads == ("Passed", "Failed", "Neither", "All")
    assert counts(page) == {
        "calm": ["2 of 3", "–", "0 of 1", "2 of 4"],
        "bold": ["–", "2 of 4", "–", "2 of 4"],
    }
    bold = page.counts[1]
    assert [row.figures[1].note for row in page.counts] == ["", "50.0\u00a0%"]
    assert bold.figures[1].href.endswith("&agent=1&outcome=failed")
    assert "at or above 100.0 %; an agent failure counts as 0.0 %" in page.passed_words


def test_what_every_trial_is_needs_no_column(visitor: Client, project: Project, tmp_path: Path) -> None:
    page = page_of(visitor, path_of(recorded(project, tmp_path, outcomes=lambda *_: 1.0)), q="refund")
    assert page.heads == ("Passed", "Failed", "All")
    assert counts(page)["calm"] == ["2 of 4", "–", "2 of 4"]


def test_without_a_pass_mark_nothing_passes_or_fails(
    visitor: Client, project: Project, tmp_path: Path
) -> None:
    spec = BenchmarkSpec(tasks=SPEC.tasks, scoring={"success_threshold": None})
    page = page_of(
        visitor,
        path_of(recorded(project, tmp_path, benchmark=spec, track_id=None)),
        q="refund",
        outcome="failed",
    )
    assert (page.heads, page.form.outcomes, page.filters) == (("All",), (), ())
    assert counts(page) == {"calm": ["2 of 4"], "bold": ["2 of 4"]}


def test_hits_lead_to_their_step(visitor: Client, job: Job) -> None:
    response = visitor.get(path_of(job), {"q": "refund</b> OF"})
    page: SearchPage = response.context["page"]
    first = page.trials[0]
    trial = Trial.objects.get(job=job, task_name="refund", job_agent__name="calm", attempt=1)
    assert (first.task, first.agent, first.verdict, first.tone) == ("refund", "calm", "Passed", "good")
    assert first.about == "attempt 1 · 100.0 %"
    assert [hit.step for hit in first.hits] == [2, 3]
    hit = first.hits[0]
    assert (hit.before, hit.match, hit.after) == ("calm at refund: <b>", "Refund</b> of", " 5% & more")
    assert hit.href == f"/projects/triage/trials/{trial.client_trial_id}/trajectory?step=2#step-2"
    assert visitor.get(hit.href).status_code == 200
    text = response.content.decode()
    assert "&lt;b&gt;<mark>Refund&lt;/b&gt; of</mark> 5% &amp; more" in text
    assert "<b>Refund" not in text


def test_more_hits_of_a_trial_are_counted(visitor: Client, job: Job) -> None:
    for execution in Execution.objects.all():
        steps = [{"step_id": n, "source": "agent", "message": f"again {n}"} for n in range(9)]
        leave(execution, {ATIF: atif(steps)})
    trial = page_of(visitor, path_of(job), q="again").trials[0]
    assert (len(trial.hits), trial.more and trial.more.text) == (3, "6 more steps")
    assert trial.more and trial.more.href.endswith("/trajectory?q=again")


def test_filters_narrow_and_stand_in_the_address(visitor: Client, job: Job) -> None:
    def found(**query: str) -> list[tuple[str, str]]:
        return [(hit.agent, hit.task) for hit in page_of(visitor, path_of(job), q="writes", **query).trials]

    assert found() == [("calm", "letter"), ("calm", "letter"), ("bold", "letter"), ("bold", "letter")]
    assert found(agent="1") == [("bold", "letter")] * 2
    assert found(outcome="passed") == [("calm", "letter")]
    assert found(outcome="failed") == [("bold", "letter")] * 2
    assert found(outcome="neither") == [("calm", "letter")]
    assert found(task="refund") == []
    assert len(found(agent="no", outcome="odd", page="-3")) == 4
    page = page_of(visitor, path_of(job), q="writes", agent="0", outcome="passed", task="LETT")
    assert page.claim == "In 1 of 1 Trial, 2 steps."
    assert page.filters == ("Agent calm", "Trials that passed", "Tasks with “LETT”")
    assert page.clear_href == f"{path_of(job)}?q=writes"
    assert [option.label for option in page.form.agents if option.chosen] == ["calm"]


def test_pages_follow_one_another(visitor: Client, project: Project, tmp_path: Path) -> None:
    names = tuple(f"task-{number:02}" for number in range(45))
    job = recorded(project, tmp_path, benchmark=BenchmarkSpec(tasks=names), attempts=1, track_id=None)
    seen, href = [], f"{path_of(job)}?q=writes&agent=0"
    while href:
        page = visitor.get(href).context["page"]
        seen += [trial.task for trial in page.trials]
        last, href = page, page.next_href
    assert seen == list(names)
    assert (last.place, last.next_href) == ("Trials 41 to 45 of 45", "")
    assert last.previous_href == f"{path_of(job)}?q=writes&agent=0&page=2"
    assert page_of(visitor, path_of(job), q="writes", agent="0", page="99").place == last.place


def test_goes_on_until_all_is_indexed(visitor: Client, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views_search, "INDEX_SECONDS", 0)
    response = visitor.get(path_of(job), {"q": "e"})
    text, page = response.content.decode(), response.context["page"]
    assert page.progress == "Indexed 1 of 8 Trials; results so far."
    assert page.go_on_href == f"{path_of(job)}?q=e"
    assert 'hx-trigger="load delay:200ms"' in text and 'href="' + page.go_on_href + '">Go on</a>' in text
    rounds = 1
    while page.go_on_href:
        response = visitor.get(page.go_on_href, headers={"HX-Request": "true"})
        page, rounds = response.context["page"], rounds + 1
        assert response.content.decode().startswith('<div id="search-results"')
        assert "HX-Request" in response.headers["Vary"]
    assert rounds == 8
    assert (page.progress, len(page.trials)) == ("", 8)
    assert "hx-get" not in response.content.decode()


def test_a_busy_database_shows_what_there_is(
    visitor: Client, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: Any) -> int:
        raise OperationalError("database is locked")

    index_texts([job.pk], 0)
    monkeypatch.setattr(views_search, "index_texts", busy)
    assert page_of(visitor, path_of(job), q="a").progress == "Indexed 1 of 8 Trials; results so far."


def test_what_is_not_found_says_so_with_help(visitor: Client, job: Job) -> None:
    response = visitor.get(path_of(job), {"q": "<nowhere>", "agent": "1"})
    text = response.content.decode()
    assert response.context["page"].claim == "In none of 4 Trials."
    assert "No step holds “<bdi>&lt;nowhere&gt;</bdi>”" in text
    assert "Clear filters" in text and "Words are taken literally" in text


def test_two_characters_say_how_far_they_were_looked_for(
    visitor: Client, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(visitor, path_of(job), q="5%")
    assert page.claim == "In 4 of 8 Trials, 8 steps."
    assert page.notes == (
        "The index knows words of three characters and more; for this, every text was looked through.",
    )
    monkeypatch.setattr(search, "SCANNED", 5)
    page = page_of(visitor, path_of(job), q="5%")
    assert page.notes[0].endswith("only the first 5 texts were looked through, those of 2 of 8 Trials.")


def test_nasty_words_are_words(visitor: Client, job: Job) -> None:
    for words in (
        "'",
        '"',
        "%",
        "_",
        "\\",
        "a\0b",
        "x" * 5000,
        "*",
        "NEAR(",
        "%00",
        "{{ 7 }}",
        "'; --",
    ):
        for query in ({"q": words}, {"q": "a", "task": words}, {"q": "a", "agent": words}):
            assert visitor.get(path_of(job), query).status_code == 200, query
    assert visitor.get(f"{path_of(job)}?q=%ED%A0%80&task=%ED%A0%80%00&page=%00").status_code == 200


def test_hostile_text_is_shown_as_text(visitor: Client, project: Project, tmp_path: Path) -> None:
    def say(agent: str, task: str, attempt: int) -> str:
        return "<script>alert(1)</script> \u202egnp.exe \x1b[31mred \0 needle"

    text = visitor.get(path_of(recorded(project, tmp_path, say)), {"q": "needle"}).content.decode()
    assert "<script>alert" not in text and "⟨U+202E⟩" in text and "\x1b" not in text and "\0" not in text


# Of a Benchmark ---------------------------------------------------------------------------------------


def test_a_benchmark_is_searched_over_the_jobs_of_its_board(
    visitor: Client, project: Project, tmp_path: Path
) -> None:
    one = recorded(project, tmp_path / "1", key="1")
    later = START + timedelta(days=1)
    two = recorded(project, tmp_path / "2", lambda *_: "refund again", key="2", started=later)
    aside = recorded(project, tmp_path / "3", key="3")
    Job.objects.filter(pk=aside.pk).update(set_aside_at=later, set_aside_reason="Broken.")
    recorded(project, tmp_path / "4", key="4", track_id=None)
    page = page_of(visitor, f"{BOARD}/search", q="refund")
    assert page.claim == "In 12 of 16 Trials, 24 steps."
    assert counts(page)["bold"] == ["–", "6 of 8", "–", "6 of 8"]
    assert {trial.job_id for trial in page.trials} == {one.client_job_id, two.client_job_id}
    assert page.form.carried == (("track", "open@1.0.0"),)
    assert page.of == "Demo Bench 1.0.0, open@1.0.0"
    bold = next(option.value for option in page.form.agents if option.label == "bold")
    only = page_of(visitor, f"{BOARD}/search", q="refund", agent=bold, track="open")
    assert {trial.agent for trial in only.trials} == {"bold"}
    assert page_of(visitor, f"{BOARD}/search", q="refund", track="none").claim == "In 4 of 8 Trials, 8 steps."
    assert visitor.get(f"{BOARD}/search?track=no-such").status_code == 404


def test_a_trial_that_two_jobs_hold_counts_once_and_links_to_its_own_copy(
    visitor: Client, project: Project, tmp_path: Path
) -> None:
    one = recorded(project, tmp_path / "1", key="1")
    two = recorded(project, tmp_path / "2", key="2")
    kept = Trial.objects.filter(job=one, task_name="refund").earliest("pk")
    copy = Trial.objects.get(
        job=two, task_name="refund", attempt=kept.attempt, job_agent__position=kept.job_agent.position
    )
    Trial.objects.filter(pk=copy.pk).update(client_trial_id=kept.client_trial_id)
    assert page_of(visitor, f"{BOARD}/search", q="refund").claim == "In 7 of 15 Trials, 14 steps."
    hrefs = [trial.href for trial in page_of(visitor, path_of(two), q="refund").trials]
    named = [href for href in hrefs if kept.client_trial_id in href]
    assert [href.partition("?")[2] for href in named] == [f"job={two.client_job_id}"]


# Cost -------------------------------------------------------------------------------------------------


def test_a_question_costs_the_same_with_more_of_everything(
    visitor: Client, project: Project, tmp_path: Path
) -> None:
    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert visitor.get(path).status_code == 200
        return len(captured)

    small = recorded(project, tmp_path / "1", key="1")
    tasks = tuple(f"t-{number}" for number in range(12))
    more = BenchmarkSpec(name="More", slug="more", tasks=tasks, tracks=(track(),))
    large = recorded(
        project, tmp_path / "2", key="2", benchmark=more, agents=agents_named("abcd"), attempts=3
    )
    index_texts([small.pk, large.pk])
    few, many = (queries(f"{path_of(job)}?q=writes") for job in (small, large))
    assert few == many
    few, many = (
        queries(f"/projects/triage/benchmarks/{slug}@1/search?q=writes") for slug in ("demo-bench", "more")
    )
    assert few == many


def test_links_lead_to_it(visitor: Client, job: Job) -> None:
    own = visitor.get(f"/projects/triage/jobs/{job.client_job_id}").content.decode()
    assert re.search(rf'href="{re.escape(path_of(job))}"', own)
    board = visitor.get(BOARD).content.decode()
    assert f'href="{BOARD}/search?track=open%401.0.0"' in board
