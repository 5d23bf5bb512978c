"""The list of Jobs: what a row says, filters, search, orders, pages, and what stands for nothing."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from jobs import actions
from jobs.imports import import_path
from jobs.models import Job
from plural_site.accounts.models import Project, User
from tests.builders import AWAITING_REVIEW, START, AgentSpec, BenchmarkSpec, Outcome, failed, make_job, track

if TYPE_CHECKING:
    from tests.conftest import ClientAs

JOBS = "/projects/triage/jobs"
BOARD = "/projects/triage/benchmarks/demo-bench@1.0.0"
SPEC = BenchmarkSpec(tracks=(track(),))


@pytest.fixture
def visitor(project: Project, ann: User, client_as: ClientAs) -> Client:
    return client_as(ann)


def happened(agent: str, task: str, attempt: int) -> Outcome | float | None:
    if agent == "Élan":
        return failed("provider_unavailable") if task == "first" else Outcome(score=0.5, cost_usd=0.2)
    return AWAITING_REVIEW if task == "first" else failed("", "max_turns")


@pytest.fixture
def ids(project: Project, ben: User, tmp_path: Path) -> dict[str, str]:
    """Jobs by what they are, from the earliest on."""

    def make(name: str, hours: int, **changes: Any) -> str:
        started = START + timedelta(hours=hours)
        return make_job(tmp_path, key=name, started=started, **{"benchmark": SPEC, **changes}).name

    whole = make("whole", 0, track_id="open", agents=[AgentSpec(name="50%_off")])
    found = {
        "whole": whole,
        "mixed": make(
            "mixed",
            1,
            agents=[AgentSpec(name="Élan", model="sim/a"), AgentSpec(name="other", model="sim/b")],
            outcomes=happened,
        ),
        "killed": make("killed", 2, outcomes=lambda a, task, n: None, result_json=False),
        "alone": make("alone", 3, single_task="Goodwill letter"),
        "rerun": make("rerun", 4, track_id="open", rerun_of=whole),
    }
    assert import_path(project=project, actor=ben, path=tmp_path).landed
    return found


def listed(visitor: Client, ids: dict[str, str], **query: str) -> list[str]:
    names = {job_id: name for name, job_id in ids.items()}
    return [names[row.job_id] for row in visitor.get(JOBS, query).context["page"].rows]


def test_a_row_says_what_came_of_a_job(ids: dict[str, str], visitor: Client) -> None:
    rows = {row.job_id: row for row in visitor.get(JOBS).context["page"].rows}
    mixed, whole, rerun, killed = (rows[ids[name]] for name in ("mixed", "whole", "rerun", "killed"))
    figures = (mixed.planned, mixed.trials, mixed.scored, mixed.failed)
    assert [figure.text for figure in figures] == ["4", "3", "1", "2"]
    assert (mixed.trials.note, mixed.track, mixed.status) == ("1 pending", "", "Awaiting review")
    assert [(line.name, line.score.text, line.score.note) for line in mixed.agents] == [
        ("Élan", "50.0\u00a0%", "1 of 2 Tasks"),
        ("other", "0.0\u00a0%", "1 of 2 Tasks"),
    ]
    assert (whole.track, whole.cost.text, whole.by, whole.origin) == (
        "open@1.0.0",
        "$0.020",
        "Ben",
        "imported",
    )
    assert (rerun.rerun_of, rerun.rerun_href) == (ids["whole"], f"{JOBS}/{ids['whole']}")
    assert (killed.trials.text, killed.agents[0].score.text, killed.cost.text) == ("0", "–", "–")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"status": "running"}, "killed"),
        ({"status": "awaiting_review"}, "mixed"),
        ({"track": "open@1.0.0"}, "rerun whole"),
        ({"track": "none"}, "alone killed mixed"),
        ({"of": "demo-bench"}, "rerun killed mixed whole"),
        ({"benchmark": "demo-bench", "revision": "1", "track": "open@1.0.0"}, "rerun whole"),
        ({"name": "élan"}, "mixed"),
        ({"name": "OTHER"}, "mixed"),
        ({"q": "ÉLAN"}, "mixed"),
        ({"q": "%_o"}, "whole"),
        ({"q": "%"}, "whole"),
        ({"q": "0_off"}, ""),
        ({"q": "demo BENCH"}, "rerun killed mixed whole"),
        ({"q": "goodwill"}, "alone"),
        ({"q": "nothing like it"}, ""),
        ({"q": "\0"}, "rerun alone killed mixed whole"),
        ({"status": "nonsense", "aside": "nonsense"}, "rerun alone killed mixed whole"),
    ],
)
def test_filters_and_search(
    query: dict[str, str], expected: str, ids: dict[str, str], visitor: Client
) -> None:
    assert listed(visitor, ids, **query) == expected.split()


def test_a_job_is_found_by_a_part_of_its_id(ids: dict[str, str], visitor: Client) -> None:
    assert listed(visitor, ids, q=ids["mixed"][6:].upper()) == ["mixed"]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("started", "whole mixed killed alone rerun"),
        ("cost", "alone whole rerun mixed killed"),
        ("-cost", "mixed whole rerun alone killed"),
        ("-trials", "mixed whole rerun alone killed"),
        ("trials", "killed alone whole rerun mixed"),
        ("status", "mixed killed whole alone rerun"),
        ("nonsense", "rerun alone killed mixed whole"),
    ],
)
def test_orders_with_unknown_last(sort: str, expected: str, ids: dict[str, str], visitor: Client) -> None:
    assert listed(visitor, ids, sort=sort) == expected.split()


def test_every_head_turns_around_and_keeps_the_filter(ids: dict[str, str], visitor: Client) -> None:
    for head in visitor.get(JOBS, {"of": "demo-bench"}).context["page"].columns:
        href, ways = head.href, set()
        for _ in range(2 if href else 0):
            page = visitor.get(href).context["page"]
            (now,) = [column for column in page.columns if column.sort]
            assert (now.key, len(page.rows)) == (head.key, 4)
            ways.add(now.sort)
            href = now.href
        assert ways in (set(), {"ascending", "descending"})


@pytest.mark.parametrize("sort", ["-started", "cost", "-cost", "trials", "status"])
def test_pages_neither_repeat_nor_leave_out(sort: str, ids: dict[str, str], visitor: Client) -> None:
    models = list(Job.objects.all())
    for number in range(120):
        copy = Job.objects.get(pk=models[number % len(models)].pk)
        copy.pk, copy.client_job_id = None, f"job_copy_{number}"
        copy.save()
    seen, href = [], f"{JOBS}?sort={sort}"
    while href:
        page = visitor.get(href).context["page"]
        seen += [row.job_id for row in page.rows]
        href = page.next_href
    assert len(seen) == len(set(seen)) == 125


def test_what_stands_where_there_is_nothing(
    project: Project, visitor: Client, cy: User, client_as: ClientAs, tmp_path: Path
) -> None:
    text = visitor.get(JOBS).content.decode()
    for command in ("python manage.py import_jobs PATH --project triage", "plural run --benchmark BENCHMARK"):
        assert command in text
        assert command not in client_as(cy).get(JOBS).content.decode()
    assert import_path(project=project, actor=None, path=make_job(tmp_path)).landed
    text = visitor.get(JOBS, {"q": "zzz", "sort": "cost"}).content.decode()
    assert f'No Jobs match. <a href="{JOBS}?sort=cost">Clear filters</a>' in text


def test_what_is_not_there_is_404(ids: dict[str, str], visitor: Client) -> None:
    for query in ({"of": "no-such"}, {"benchmark": "no-such"}, {"agent": "abcdefabcdef"}):
        assert visitor.get(JOBS, query).status_code == 404


def test_a_job_set_aside_is_said_here_and_on_its_board(
    project: Project, ben: User, ids: dict[str, str], visitor: Client
) -> None:
    assert visitor.get(BOARD).context["page"].set_aside is None
    actions.set_aside(actor=ben, project=project, job_id=ids["whole"], reason="The <b>key</b> ran out.")
    board = visitor.get(BOARD)
    told = board.context["page"].set_aside
    assert told.text == "1 Job set aside"
    assert "1 Job set aside</a>, which counts in none" in board.content.decode()
    response = visitor.get(told.href)
    (row,) = response.context["page"].rows
    assert row.job_id == ids["whole"]
    (mark,) = row.marks
    assert mark.text == "Set aside"
    assert mark.title.startswith("Counts in no figure, by Ben on ")
    assert "The &lt;b&gt;key&lt;/b&gt; ran out." in response.content.decode()
    assert "<b>key" not in response.content.decode()
    assert listed(visitor, ids, aside="no", track="open@1.0.0") == ["rerun"]
    (entry,) = board.context["page"].table.unranked or board.context["page"].table.rows
    assert entry.jobs.text == "1"
    assert visitor.get(entry.href).context["page"].total == int(entry.attempts.text) == 2


def test_a_closed_job_is_found_as_closed(
    project: Project, ben: User, ids: dict[str, str], visitor: Client
) -> None:
    actions.close_job(actor=ben, project=project, job_id=ids["killed"], reason="The machine died.")
    assert listed(visitor, ids, status="running") == []
    assert listed(visitor, ids, status="closed") == ["killed"]
    (row,) = visitor.get(JOBS, {"status": "closed"}).context["page"].rows
    assert (row.status, row.marks[0].text) == ("Closed without a result", "Closed")
