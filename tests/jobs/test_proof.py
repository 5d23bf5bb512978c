"""The page behind each number of a board: its formula leads there, and the number is the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from jobs.models import Job, Tally
from plural_site.accounts.models import Project
from tests.builders import (
    AWAITING_REVIEW,
    CANCELLED,
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
from tests.proving import HOME, check_funnel, figures_of, proof_of, rows_of

if TYPE_CHECKING:
    pass

BOARD = f"{HOME}/benchmarks/demo-bench@1.0.0"


TASKS = ("a", "b", "c", "d", "e", "f")


def happened(agent: str, task: str, attempt: int) -> Outcome | float | None:
    mixed: dict[str, Outcome | float] = {
        "a": Outcome(score=-0.25, cost_usd=0.125, calls_missing_cost=1, latency_seconds=1.5),
        "b": failed("", "max_turns", latency_seconds=9.0),
        "c": CANCELLED,
        "d": AWAITING_REVIEW,
        "e": failed("provider_unavailable"),
    }
    return mixed.get(task) if agent == "mixed" else 0.5 * attempt - 0.5


def recorded(project: Project, folder: Path, **more: Any) -> None:
    spec = BenchmarkSpec(
        tasks=TASKS,
        categories=(category("early", "a", "b", "c"), category("late", "f")),
        scoring=scoring(score_range=[-1.0, 1.0], success_threshold=0.0, task_weights={"a": 3.0}),
        tracks=(track("open", attempts=2),),
    )
    agents = agents_named(("whole", "mixed"))
    for key in ("1", "2"):
        make_job(
            folder,
            benchmark=spec,
            agents=agents,
            attempts=2,
            outcomes=happened,
            track_id="open",
            key=key,
            **more,
        )
    bring(project, folder)


def test_every_stage_of_every_number_leads_to_its_trials(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    recorded(project, tmp_path)
    known: dict[str, int] = {}
    for path in (BOARD, f"{BOARD}?view=categories"):
        page = visitor.get(path).context["page"]
        for row in rows_of(page):
            hrefs = [href for cell in row.categories for href in (cell.score.href, cell.interval_href)]
            hrefs = hrefs or [href for _, _, href in figures_of(row)]
            for href in hrefs:
                proof_of(visitor, href)
                check_funnel(visitor, href, known)
    mixed = next(row for row in rows_of(page) if row.agent == "mixed")
    stages = {stage.name: stage for stage in proof_of(visitor, mixed.cost.href).page.stages}
    assert {name: stage.figure.text for name, stage in stages.items()} == {
        "planned": "24",
        "attempted": "20",
        "finished": "16",
        "scored": "4",
        "counted": "4",
    }
    assert "less 4 that left no result" in stages["attempted"].how
    assert "4 agent failures, less 4 without a cost" in stages["counted"].how


def test_it_says_what_the_rule_is_and_why_there_is_no_number(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    recorded(project, tmp_path)
    row = next(row for row in rows_of(visitor.get(BOARD).context["page"]) if row.agent == "mixed")
    score = proof_of(visitor, row.score.href)
    assert "agent failures, which count as -1, the bottom of the range" in score.text
    assert (score.page.shown.text, score.exact) == ("−0.44", {"score": "-0.4375"})
    for href, why in (
        (row.rank_href, "still pending"),
        (row.interval.href, "at least 5 Tasks"),
        (f"{row.score.href}&category=late", "No Task has a valid attempt"),
    ):
        found = proof_of(visitor, href)
        assert found.exact == {} and why in found.page.missing and why in found.text
    jobs = proof_of(visitor, row.jobs.href).page.jobs
    assert {job.job_id for job in jobs} == set(Job.objects.values_list("client_job_id", flat=True))
    assert {(job.planned, job.recorded) for job in jobs} == {("12", "10")}
    whole = next(row for row in rows_of(visitor.get(BOARD).context["page"]) if row.agent == "whole")
    assert [row.is_this for row in proof_of(visitor, whole.rank_href).page.ranking] == [True]


def test_only_the_chosen_jobs_count(project: Project, visitor: Client, tmp_path: Path) -> None:
    recorded(project, tmp_path)
    chosen = Job.objects.latest("pk").client_job_id
    page = visitor.get(BOARD, {"job": chosen, "q": "whole", "sort": "cost"}).context["page"]
    (row,) = rows_of(page)
    assert f"job={chosen}" in row.attempts.href and "sort=" not in row.attempts.href
    found = proof_of(visitor, row.attempts.href)
    assert found.exact == {"attempts": "12"}
    assert "Only the Job chosen on the board" in found.text
    known: dict[str, int] = {}
    for _, _, href in figures_of(row):
        proof_of(visitor, href)
        check_funnel(visitor, href, known)


def test_a_board_that_says_something_else_is_not_hidden(
    project: Project, visitor: Client, tmp_path: Path
) -> None:
    recorded(project, tmp_path)
    row = rows_of(visitor.get(BOARD).context["page"])[0]
    Tally.objects.filter(scope="overall").update(score=0.125)
    response = visitor.get(row.score.href)
    assert "The board says 0.125 for score, its Trials give 0.25" in response.content.decode()
    assert len(response.context["page"].warnings) == 1
    assert "it gives the number on the board" not in response.content.decode()


def test_many_tasks_stand_on_a_page_of_their_own(project: Project, visitor: Client, tmp_path: Path) -> None:
    names = tuple(f"task-{n:03}" for n in range(203))
    spec = BenchmarkSpec(tasks=names, tracks=(track(),))
    make_job(tmp_path, benchmark=spec, track_id="open", outcomes=lambda a, t, n: int(t[-3:]) / 1000)
    bring(project, tmp_path)
    (row,) = rows_of(visitor.get(BOARD).context["page"])
    for href in (row.score.href, row.interval.href, row.pass_hat.href, row.cost.href, row.attempts.href):
        first = proof_of(visitor, href)
        assert (len(first.page.tasks), first.page.tasks_total) == (200, 203)
        whole = proof_of(visitor, first.page.all_href)
        assert (len(whole.page.tasks), whole.page.all_href) == (203, "")
        assert whole.exact == first.exact
    assert "3 more together" in proof_of(visitor, row.score.href).text


@pytest.mark.parametrize(
    "query",
    [
        "",
        "figure=score",
        "entry=ENTRY",
        "entry=ENTRY&figure=nope",
        "entry=ENTRY&figure=spread&category=early",
        "entry=ENTRY&figure=score&category=nope",
        "entry=000000000000&figure=score",
        "entry=%00&figure=%00&category=%00",
        "entry=ENTRY&figure=score&track=nope",
        "entry=ENTRY&figure=score&track=none",
        "entry=ENTRY&figure=score&job=job_none",
    ],
)
def test_what_is_not_on_the_board_is_not_found(
    query: str, project: Project, visitor: Client, tmp_path: Path
) -> None:
    recorded(project, tmp_path)
    row = rows_of(visitor.get(BOARD).context["page"])[0]
    assert visitor.get(f"{BOARD}/proof?entry={row.key}&figure=score").status_code == 200
    assert visitor.get(f"{BOARD}/proof?{query.replace('ENTRY', row.key)}").status_code == 404
