"""Pages as people get them: figures, orders, selectors, links, and nothing that a Job can break."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit

import pytest
from django.test import Client

from benchmarks.board.parts import BoardRow
from benchmarks.models import Resource, Revision
from jobs import filters, querysets
from jobs.models import Job, Trial
from jobs.pages import BoardPage
from plural_site.accounts.models import Project, User
from tests.builders import (
    AWAITING_REVIEW,
    CANCELLED,
    START,
    AgentSpec,
    BenchmarkSpec,
    Outcome,
    agents_named,
    category,
    failed,
    make_job,
    scoring,
    track,
)
from tests.importing import bring

if TYPE_CHECKING:
    from tests.conftest import ClientAs

HOME = "/projects/triage"
BENCHMARK = f"{HOME}/benchmarks/demo-bench"
BOARD = f"{BENCHMARK}@1.0.0"
REVISIONS = "/api/v1/benchmarks/demo-bench/revisions"
FILES = re.compile(r"/files/|/raw$")
"""Addresses of what a Trial left, as it is."""
NOT_FOR_PEOPLE = re.compile(r"\b(nan|NaN|None|inf|Infinity)\b")

TASKS = ("a", "b", "c", "d", "e", "f")
SPEC = BenchmarkSpec(
    tasks=TASKS,
    categories=(category("early", "a", "b", "c"), category("late", "f")),
    tracks=(track("open", attempts=2), track("models", kind="models")),
)
AGENTS = ("alpha", "beta", "gamma", "short", "idle")


def happened(agent: str, task: str, attempt: int) -> Outcome | float | None:
    """alpha and beta share the first rank, gamma follows, short leaves much out, idle never gets a score."""
    by_agent: dict[str, Outcome | float] = {
        "alpha": Outcome(cost_usd=None, latency_seconds=None),
        "beta": Outcome(cost_usd=0.5, calls_missing_cost=1, latency_seconds=3.0),
        "gamma": Outcome(score=0.5, cost_usd=0.25, latency_seconds=1.0),
    }
    if agent in by_agent:
        return by_agent[agent]
    if agent == "idle":
        return failed("provider_unavailable")
    of_short: dict[str, Outcome | float] = {
        "a": 1.0,
        "b": failed("", "max_turns"),
        "c": CANCELLED,
        "d": AWAITING_REVIEW,
        "e": failed("provider_unavailable"),
    }
    return of_short.get(task)


@pytest.fixture
def recorded(project: Project, tmp_path: Path) -> None:
    agents = agents_named(AGENTS)
    make_job(tmp_path, benchmark=SPEC, agents=agents, attempts=2, outcomes=happened, track_id="open")
    again = START + timedelta(hours=1)
    make_job(
        tmp_path,
        benchmark=SPEC,
        agents=agents[2:3],
        attempts=2,
        outcomes=happened,
        track_id="open",
        started=again,
    )
    make_job(tmp_path, benchmark=SPEC, agents=agents[:1], outcomes=happened)
    make_job(tmp_path, single_task="alone", key="alone")
    bring(project, tmp_path)


def page_of(visitor: Client, path: str, **query: str) -> Any:
    response = visitor.get(path, query)
    assert response.status_code == 200, path
    return response.context["page"]


def board_rows(page: BoardPage) -> dict[str, BoardRow]:
    return {row.agent: row for row in (*page.table.rows, *page.table.unranked)}


class Links(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def every_page(
    visitor: Client, start: str = HOME, *, one_of_a_kind: bool = False
) -> Iterator[tuple[str, str]]:
    """Address and text of everything below `start` that can be reached by links from there.

    `one_of_a_kind`: of the pages behind numbers, and of lists of Trials, one for each number or each set of
    filters, whichever entry, Task or Job it is about.
    """
    waiting, seen, kinds = [start], {start}, set()
    while waiting:
        path = waiting.pop()
        response = visitor.get(path)
        assert response.status_code == 200, path
        text = response.getvalue().decode()
        yield path, text
        if "html" not in response.headers["Content-Type"] or "<html" not in text:
            continue
        for link in Links(text).found:
            target = urlsplit(urljoin(path, link))
            address = f"{target.path}{'?' + target.query if target.query else ''}"
            # One link of each sort order is enough: they are tried below.
            if target.netloc or "sort=" in address or address in seen or not address.startswith(start):
                continue
            seen.add(address)
            if one_of_a_kind and target.path.endswith(("/proof", "/trials")):
                kind = (target.path, re.sub(r"(?<==)(?!(?<=figure=))[^&]*", "", target.query))
                if kind in kinds:
                    continue
                kinds.add(kind)
            waiting.append(address)


# Figures ---------------------------------------------------------------------------------------------


def test_board_shows_the_figures(recorded: None, visitor: Client) -> None:
    page = page_of(visitor, BOARD)
    assert "5 Agents on 6 Tasks, 2 attempts each, on the track open@1.0.0" in page.claim
    rows = board_rows(page)
    assert {name: row.rank for name, row in rows.items()} == {
        "alpha": "1=",
        "beta": "1=",
        "gamma": "3",
        "short": "–",
        "idle": "–",
    }
    assert page.table.summary == "3 ranked, 2 not ranked"
    beta, gamma, short, idle = (rows[name] for name in ("beta", "gamma", "short", "idle"))
    assert (beta.score.text, beta.cost.text, beta.cost.note) == ("100.0", "≥ $0.50", "measured 12 of 12")
    assert beta.total_cost.text == "≥ $6.00"
    assert (rows["alpha"].cost.text, rows["alpha"].cost.note) == ("–", "measured 0 of 12")
    assert (rows["alpha"].latency.text, rows["alpha"].total_cost.text) == ("–", "–")
    assert (gamma.jobs.text, gamma.attempts.text, gamma.success.text) == ("2", "24", "0.0\u00a0%")
    assert (gamma.cost.text, gamma.total_cost.text, gamma.latency.text) == ("$0.25", "$6.00", "1.0\u00a0s")
    assert gamma.interval.text == "50.0 – 50.0"
    assert (short.attempts.text, short.attempts.note) == ("10", "10 of 12 planned")
    assert {(figure.text, figure.title) for figure in short.outcomes} == {
        ("2", "scored"),
        ("2", "agent failures"),
        ("2", "infrastructure errors"),
        ("2", "cancelled"),
        ("2", "pending"),
    }
    assert (short.score.text, short.coverage.text) == ("50.0", "33.3\u00a0%")
    assert short.coverage.note.startswith("2 of 6")
    assert (short.interval.text, short.interval.reason != "") == ("no interval", True)
    assert len(short.reasons) == 2
    assert (idle.score.text, idle.interval.text, idle.success.text) == ("–", "no score", "–")


def test_category_view_shows_a_column_for_each(recorded: None, visitor: Client) -> None:
    page = page_of(visitor, BOARD, view="categories")
    assert [column.label for column in page.table.columns][-2:] == ["Early", "Late"]
    cells = board_rows(page)["short"].categories
    assert [(cell.score.text, cell.coverage) for cell in cells] == [
        ("50.0", "2 of 3 Tasks"),
        ("–", "0 of 1 Tasks"),
    ]


def test_api_gives_the_same_figures(recorded: None, visitor: Client) -> None:
    response = visitor.get(page_of(visitor, BOARD).json_href)
    found = json.loads(response.content, parse_constant=pytest.fail)
    assert found["track"] == "open@1.0.0"
    entries = {entry["agent"]: entry for entry in found["entries"]}
    assert [entry["rank"] for entry in found["entries"]] == [1, 1, 3, None, None]
    assert entries["short"]["missing"] == 2
    assert entries["beta"]["cost"] == {
        "value": 0.5,
        "measured": 12,
        "attempts": 12,
        "total": 6.0,
        "partial": True,
    }
    assert entries["alpha"]["cost"]["value"] is entries["alpha"]["cost"]["total"] is None
    assert len(entries["gamma"]["jobs"]) == 2


def test_lists_and_single_pages(recorded: None, visitor: Client) -> None:
    home = page_of(visitor, HOME)
    (card,) = home.benchmarks
    assert (card.tasks, card.entries, card.jobs, card.version) == (6, 5, 3, "1.0.0")
    assert len(home.jobs) == 4
    jobs = {row.track or row.source: row for row in page_of(visitor, f"{HOME}/jobs").rows}
    assert jobs["Task alone"].source_href == ""
    assert len(page_of(visitor, f"{HOME}/jobs", benchmark="demo-bench", track="open@1.0.0").rows) == 2
    first = Job.objects.filter(track_ref="open@1.0.0").earliest("started_at")
    page = page_of(visitor, f"{HOME}/jobs/{first.client_job_id}")
    facts = {fact.label: fact.figure for fact in page.facts}
    assert (facts["Trials"].text, facts["Trials"].note) == ("58", "58 of 60 planned")
    assert (facts["Scored"].text, facts["Failed"].text) == ("38", "16")
    assert facts["Cost"].text == "≥ $9.04"
    trial = Trial.objects.get(job=first, job_agent__name="short", task_name="b", attempt=2)
    shown = page_of(visitor, f"{HOME}/trials/{trial.client_trial_id}")
    assert (shown.outcome, "bottom of the score range" in shown.why) == ("Agent failure", True)
    assert (shown.files.rows != (), [row.status for row in shown.verifiers.rows]) == (True, ["no result"])


def test_benchmark_page_says_what_the_release_declares(recorded: None, visitor: Client) -> None:
    page = page_of(visitor, BENCHMARK)
    revision = Revision.objects.get(resource__kind="benchmark")
    assert (page.purpose, page.license) == ("Shows that reading works.", "Apache-2.0")
    assert [words.reference for words in page.tracks] == ["open@1.0.0", "models@1.0.0"]
    assert {words.rules_hash for words in page.tracks} == set(
        revision.tracks.values_list("rules_hash", flat=True)
    )
    (row,) = page.revisions
    assert (row.jobs.text, row.tasks, row.tracks, row.is_current) == ("3", 6, 2, True)


# Orders ----------------------------------------------------------------------------------------------


VALUES: dict[str, dict[str, Any]] = {
    "rank": {"alpha": 1.0, "beta": 1.0, "gamma": 3.0},
    "score": {"alpha": 1.0, "beta": 1.0, "gamma": 0.5},
    "agent": {"alpha": "alpha", "beta": "beta", "gamma": "gamma"},
    "cost": {"beta": 0.5, "gamma": 0.25},
    "total": {"beta": 6.0, "gamma": 6.0},
    "latency": {"beta": 3.0, "gamma": 1.0},
    "attempts": {"alpha": 12, "beta": 12, "gamma": 24},
    "jobs": {"alpha": 1, "beta": 1, "gamma": 2},
    "success": {"alpha": 1.0, "beta": 1.0, "gamma": 0.0},
}


def test_unknown_values_come_last_both_ways_and_ranks_stay(recorded: None, visitor: Client) -> None:
    ranks = {name: row.rank for name, row in board_rows(page_of(visitor, BOARD)).items()}
    for key, values in VALUES.items():
        for sign in ("", "-"):
            page = page_of(visitor, BOARD, sort=f"{sign}{key}")
            order = [row.agent for row in page.table.rows]
            known = [values[name] for name in order if name in values]
            assert known == sorted(known, reverse=sign == "-"), (key, sign)
            assert [name in values for name in order] == sorted(
                [name in values for name in order], reverse=True
            )
            assert {name: row.rank for name, row in board_rows(page).items()} == ranks
            current = [column.sort for column in page.table.columns if column.sort]
            assert current == ["descending" if sign else "ascending"]
    unranked = {sign: page_of(visitor, BOARD, sort=f"{sign}score").table.unranked for sign in ("", "-")}
    for rows in unranked.values():
        assert [row.agent for row in rows] == ["short", "idle"]


def test_every_column_head_sorts_and_turns_around(recorded: None, visitor: Client) -> None:
    for view in ("", "categories"):
        for column in page_of(visitor, BOARD, view=view).table.columns:
            if not column.href:
                assert column.key in ("interval", "range")
                continue
            ways = set()
            href = column.href
            for _ in range(2):
                page = visitor.get(href).context["page"]
                (sorted_by,) = [found for found in page.table.columns if found.sort]
                assert sorted_by.key == column.key
                assert page.table.views[1 if view else 0].current
                ways.add(sorted_by.sort)
                href = sorted_by.href
            assert ways == {"ascending", "descending"}


# Selectors -------------------------------------------------------------------------------------------


def test_revisions_are_selected_in_every_form(project: Project, visitor: Client, tmp_path: Path) -> None:
    make_job(tmp_path, benchmark=BenchmarkSpec())
    make_job(
        tmp_path, benchmark=BenchmarkSpec(version="2.0.0", purpose="More."), started=START + timedelta(days=1)
    )
    bring(project, tmp_path)
    first = Resource.objects.get(kind="benchmark").revisions.get(number=1)
    prefix = first.content_hash.removeprefix("sha256:")
    for selector in ("1", "#1", "1.0.0", f"rev_{first.pk}", first.content_hash, f"sha256:{prefix[:7]}"):
        path = f"{BENCHMARK}@{quote(selector, safe='')}"
        assert page_of(visitor, path).number == 1, selector
        api = f"{REVISIONS}/{quote(selector, safe='')}/leaderboard?project=triage"
        assert visitor.get(api).json()["revision"]["number"] == 1
        assert page_of(visitor, BENCHMARK, revision=selector).number == 1
    assert page_of(visitor, BENCHMARK).number == 2
    for selector in (
        "9", "#", "#x", "0", "-1", "1.0", "sha256:", "sha256:abc", "0" * 64, "rev_x", "rev_999", "9" * 40,
        "\0", "1\0", "é", "²", "None", "x" * 3000,
    ):  # fmt: skip
        quoted = quote(selector, safe="")
        assert visitor.get(f"{BENCHMARK}@{quoted}").status_code == 404, selector
        api = f"{REVISIONS}/{quoted}/leaderboard?project=triage"
        assert visitor.get(api).status_code == 404, selector
        assert visitor.get(BENCHMARK, {"revision": selector}).status_code == 404, selector


def test_tracks_are_chosen_by_id_reference_and_none(recorded: None, visitor: Client) -> None:
    for wanted, reference in (
        ("", "open@1.0.0"),
        ("open", "open@1.0.0"),
        ("open@1.0.0", "open@1.0.0"),
        ("models", "models@1.0.0"),
        ("none", None),
    ):
        api = "/api/v1/benchmarks/demo-bench/revisions/1/leaderboard"
        found = visitor.get(api, {"project": "triage", "track": wanted}).json()
        assert (found["track"], bool(found["entries"])) == (reference, reference != "models@1.0.0")
        page = page_of(visitor, BOARD, track=wanted)
        (tab,) = [tab for tab in page.tabs if tab.current]
        assert (tab.detail or None, tab.count) == (reference, len(found["entries"]))
    for wanted in ("open@2.0.0", "Open", "x" * 2000):
        assert visitor.get(BOARD, {"track": wanted}).status_code == 404
    untracked = page_of(visitor, BOARD, track="none")
    assert untracked.table.rows == ()
    assert [row.agent for row in untracked.table.unranked] == ["alpha"]


def test_release_without_tracks_shows_what_to_write(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    bring(project, make_job(tmp_path))
    for path in (BOARD, BENCHMARK):
        text = visitor.get(path).content.decode()
        assert "tracks:\n  - id: open" in text
        assert "This release declares no track" in text
    page = page_of(visitor, BOARD)
    assert (page.table.rows, len(page.table.unranked), page.is_untracked) == ((), 1, True)


def test_empty_project_says_how_to_fill_it(
    project: Project, visitor: Client, cy: User, client_as: ClientAs
) -> None:
    command = "python manage.py import_jobs PATH --project triage"
    for path in (HOME, f"{HOME}/jobs"):
        assert command in visitor.get(path).content.decode()
        assert command not in client_as(cy).get(path).content.decode()
    assert visitor.get(f"{HOME}/trials").status_code == 200
    assert visitor.get(BENCHMARK).status_code == 404


# Links -----------------------------------------------------------------------------------------------


def number_links(row: BoardRow) -> Iterator[tuple[str, int, str]]:
    """Name, number of Trials and address of each number that some Trials stand behind."""
    yield "attempts", int(row.attempts.text), row.attempts.href
    for outcome in row.outcomes:
        yield outcome.title, int(outcome.text), outcome.href
    for name in ("cost", "latency"):
        figure = getattr(row, name)
        yield name, int(figure.note.split()[1]), figure.href


@pytest.mark.parametrize("wanted", ["open", "none"])
def test_every_number_leads_to_as_many_trials(wanted: str, recorded: None, visitor: Client) -> None:
    page = page_of(visitor, BOARD, track=wanted)
    followed = 0
    for row in (*page.table.rows, *page.table.unranked):
        assert visitor.get(row.href).context["page"].total == int(row.attempts.text)
        for name, number, href in number_links(row):
            counted = visitor.get(href).context["page"].stages[-1].figure
            assert counted.text == str(number)
            response = visitor.get(counted.href)
            assert response.status_code == 200
            assert response.context["page"].total == number, (row.agent, name)
            assert f"{number} Trial" in response.content.decode()
            followed += 1
        proof = visitor.get(row.jobs.href).context["page"]
        listed = visitor.get(proof.jobs_href).context["page"].rows
        assert len(listed) == len(proof.jobs) == int(row.jobs.text)
    assert followed > 1


def test_numbers_of_a_job_lead_to_as_many_trials(recorded: None, visitor: Client) -> None:
    for row in page_of(visitor, f"{HOME}/jobs").rows:
        for figure in (row.trials, row.scored, row.failed):
            assert visitor.get(figure.href).context["page"].total == int(figure.text)
    for revision in page_of(visitor, BENCHMARK).revisions:
        assert len(visitor.get(revision.jobs.href).context["page"].rows) == int(revision.jobs.text)


def test_lists_are_paged_without_repeats_or_gaps(recorded: None, visitor: Client) -> None:
    seen: list[str] = []
    href = f"{HOME}/trials"
    while href:
        page = visitor.get(href).context["page"]
        seen += [row.href for row in page.rows]
        href = page.next_href
    assert len(seen) == len(set(seen)) == Trial.objects.count() > 50


def test_trials_of_the_project_are_counted_from_what_is_kept_or_up_to_a_limit(
    recorded: None, visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the limit lies, and however many Jobs there are, each list holds the same Trials."""

    def listed() -> dict[str, tuple[int, str, list[str]]]:
        pages = {query: page_of(visitor, f"{HOME}/trials{query}") for query in queries}
        return {
            query: (page.total, page.total_words, [row.href for row in page.rows])
            for query, page in pages.items()
        }

    whole, job = Trial.objects.count(), Job.objects.earliest("pk")
    agent = job.agents.earliest("pk").configuration.content_hash.removeprefix("sha256:")[:12]
    queries = ("", f"?job={job.client_job_id}", "?outcome=scored", f"?agent={agent}")
    before = listed()
    assert before[""][:2] == (whole, str(whole))
    assert before[queries[1]][:2] == (job.recorded, str(job.recorded))
    scored = Trial.objects.filter(outcome="scored").count()
    assert before["?outcome=scored"][:2] == (scored, str(scored))
    monkeypatch.setattr(filters, "MOST_KEYS", 0)
    assert listed() == before
    monkeypatch.setattr(querysets, "COUNTED_TO", 3)
    after = listed()
    assert after[""] == before[""]
    assert after[queries[1]] == before[queries[1]]
    assert after["?outcome=scored"][:2] == (4, "more than 3")
    assert after[queries[3]] == before[queries[3]]  # within the limit


def test_all_links_lead_somewhere_and_no_page_shows_what_is_not_a_number(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    spec = BenchmarkSpec(categories=(category("all", "first"),), tracks=(track(attempts=2),))
    make_job(
        tmp_path,
        benchmark=spec,
        attempts=2,
        track_id="open",
        agents=agents_named(("alpha", "idle")),
        outcomes=happened,
        result_json=False,
    )
    make_job(tmp_path, single_task="alone", outcomes=lambda a, t, n: CANCELLED)
    bring(project, tmp_path)
    pages = dict(every_page(visitor))
    assert len(pages) > 20
    shown = [(path, NOT_FOR_PEOPLE.findall(text)) for path, text in pages.items() if "/files/" not in path]
    assert [(path, words) for path, words in shown if words] == []
    assert any(path.partition("?")[0].endswith("leaderboard.json") for path in pages)
    assert any("/files/" in path for path in pages)


# Outside text and rubbish ----------------------------------------------------------------------------

MARKUP = "<script>alert(1)</script>"
EVIL = f"{MARKUP}\x1b[31mred\u202egnp\u2066"
LONG = "W" * 400


def hostile(project: Project, tmp_path: Path) -> None:
    spec = BenchmarkSpec(
        name=f"Bench {EVIL}",
        slug="demo-bench",
        tasks=(f"task {EVIL}{LONG}", "other"),
        categories=(category("all", f"task {EVIL}{LONG}", name=f"Cat {EVIL}", description=EVIL),),
        scoring=scoring(metric=f"Metric {EVIL}", description=EVIL, task_weights={f"task {EVIL}{LONG}": 2.0}),
        tracks=(track(name=f"Track {EVIL}", description=EVIL, tools=EVIL, harnesses=[f"loop {EVIL}"]),),
        description=EVIL,
        purpose=EVIL,
        success=EVIL,
        limitations=(EVIL,),
        license=EVIL,
    )
    agents = [
        AgentSpec(
            name=f"agent {EVIL}{LONG}", model=f"sim/{EVIL}", harness=f"loop {EVIL}", harness_version=EVIL
        ),
        AgentSpec(name=f"again {EVIL}", model=f"sim/{EVIL}", harness=f"hoop {EVIL}"),
        AgentSpec(name="{{ page }}{% now %}", model="&lt;b&gt;", harness="'\"><img src=x>"),
    ]
    outcome = Outcome(
        feedback=f"{EVIL}\0",
        evidence=(EVIL, {f"{EVIL}\0": [f"{EVIL}\0"]}),
        scores={f"part {EVIL}": 0.5},
        models=(f"big/{EVIL}",),
        artifacts={"odd <b>&'\".txt": b"<script>alert(1)</script>"},
        before=(failed(f"code {EVIL}", EVIL, error_message=EVIL),),
    )
    broken = failed(f"code {EVIL}", f"stop {EVIL}", error_message=EVIL)
    make_job(
        tmp_path,
        benchmark=spec,
        agents=agents,
        track_id="open",
        outcomes=lambda a, t, n: outcome if t != "other" else broken,
        rerun_of=f"job_{EVIL}",
    )
    make_job(tmp_path, benchmark=spec, agents=agents[:1], track_id=EVIL, outcomes=lambda a, t, n: broken)
    bring(project, tmp_path)
    Resource.objects.filter(kind="benchmark").update(
        readme=f"# {EVIL}\n\n[x](javascript:alert(1)) <b onclick=x>"
    )
    Project.objects.filter(pk=project.pk).update(name=MARKUP, notice=MARKUP)


def test_hostile_text_is_shown_and_does_nothing(project: Project, visitor: Client, tmp_path: Path) -> None:
    hostile(project, tmp_path)
    reached = every_page(visitor, one_of_a_kind=True)
    pages = {path: text for path, text in reached if not FILES.search(path)}
    assert len(pages) > 15
    for path, text in pages.items():
        if "<html" not in text:
            continue  # JSON and CSV
        for found in (
            "<script>alert",
            "<img src=x",
            "<b onclick",
            '="javascript:',
            "\x1b",
            "\u202e",
            "\u2066",
        ):
            assert found not in text, (path, found)
        assert "&lt;script&gt;alert(1)" in text, path


def test_files_of_a_trial_can_do_nothing(project: Project, visitor: Client, tmp_path: Path) -> None:
    hostile(project, tmp_path)
    trials = every_page(visitor, f"{HOME}/trials", one_of_a_kind=True)
    files = [(path, visitor.get(path)) for path, _ in trials if FILES.search(path)]
    assert any("odd" in path for path, _ in files)
    for path, response in files:
        assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'", path
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Content-Type"] in ("text/plain; charset=utf-8", "application/octet-stream")


RUBBISH = (
    "",
    "x",
    "\0",
    "%",
    "-1",
    "9" * 40,
    "é",
    "' OR 1=1",
    "[]",
    "../..",
    "sha256:",
    "\ud7ff",
    "W" * 2000,
)
PARAMETERS = (
    "benchmark", "revision", "track", "agent", "task", "category", "outcome", "measured", "job", "cursor",
    "sort", "view", "tasks", "entry", "figure", "all", "q", "model", "harness", "min", "cost", "ranked",
    "hide",
)  # fmt: skip


def test_rubbish_in_addresses_is_never_an_error_of_ours(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    spec = BenchmarkSpec(categories=(category("all", "first"),), tracks=(track(),))
    folder = make_job(tmp_path, benchmark=spec, track_id="open")
    bring(project, folder)
    trial = Trial.objects.earliest("pk").client_trial_id
    paths = [HOME, BENCHMARK, BOARD, f"{HOME}/jobs", f"{HOME}/jobs/{folder.name}", f"{HOME}/trials"]
    api = "/api/v1/benchmarks/demo-bench/revisions/1/leaderboard?project=triage"
    # Each value on each page and for each parameter, and each parameter on each page: not all three at once.
    for (i, path), (j, name), (k, value) in product(*map(enumerate, ((*paths, api), PARAMETERS, RUBBISH))):
        if (i + j + k) % 5:
            continue
        query = {"benchmark": "demo-bench", name: value}
        assert visitor.get(path, query).status_code in (200, 404, 422), (path, name, value)
    for value in RUBBISH:
        for tail in (f"jobs/{quote(value)}", f"trials/{quote(value)}", f"benchmarks/{quote(value)}"):
            assert visitor.get(f"{HOME}/{tail}").status_code in (200, 404), (tail, value)
        files = f"{HOME}/trials/{trial}/executions"
        assert visitor.get(f"{files}/0/files/{quote(value or 'x')}").status_code == 404
    assert visitor.get(f"{HOME}/trials/{trial}/executions/{'9' * 40}/files/result.json").status_code == 404


def test_head_answers_as_get_does(recorded: None, visitor: Client) -> None:
    for path in (HOME, BOARD, f"{BOARD}/leaderboard.csv", f"{REVISIONS}/1/leaderboard?project=triage"):
        head, get = visitor.head(path), visitor.get(path)
        assert (head.status_code, get.status_code, head.content) == (200, 200, b""), path
        assert head.headers["Content-Type"] == get.headers["Content-Type"]


def test_cursors_made_up_by_hand_give_a_page(recorded: None, visitor: Client) -> None:
    made_up: list[list[Any]] = [
        [10**30, 0, 0, 0],
        [1, -(10**30), 1, 1],
        [1.5, None, [], {}],
        ["2026", 1],
        [True, True, True, True],
    ]
    for values in made_up:
        cursor = base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")
        for path in (f"{HOME}/trials", f"{HOME}/jobs"):
            assert visitor.get(path, {"cursor": cursor}).status_code == 200, values
