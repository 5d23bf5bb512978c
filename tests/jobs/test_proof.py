"""The page behind each number of a board: its formula leads there, and the number is the same everywhere."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from benchmarks.domain.explanation import OF_CATEGORY, OF_WHOLE, OUTCOME_NAMES
from benchmarks.models import Revision
from jobs.imports import ImportReport
from jobs.models import Job, Tally
from jobs.pages import BoardPage, BoardRow
from plural_site.accounts.models import Project, User
from tests.builders import (
    AWAITING_REVIEW,
    CANCELLED,
    AgentSpec,
    BenchmarkSpec,
    Outcome,
    category,
    failed,
    make_job,
    scoring,
    track,
)
from tests.formulas import work_out
from tests.importing import bring

if TYPE_CHECKING:
    from tests.conftest import ClientAs

HOME = "/projects/triage"
BOARD = f"{HOME}/benchmarks/demo-bench@1.0.0"
STEP = re.compile(
    r'<li><p><span class="symbol">(.*?)</span> = <code>(.*?)</code> = <b class="result">(.*?)</b></p>'
    r"(?:<details.*?<ol class=\"terms\">(.*?)</ol></details>)?</li>"
)
EXACT = re.compile(r'([\w^ ]+) = <code class="exact">(.*?)</code>')
DIGITS = re.compile(r"[−-]?[\d\u202f]+(?:\.\d+)?")


@pytest.fixture
def visitor(project: Project, ann: User, client_as: ClientAs) -> Client:
    return client_as(ann)


# Reading a page as people do -------------------------------------------------------------------------


@dataclass(frozen=True)
class Proof:
    page: Any
    text: str
    exact: dict[str, str]
    """The unrounded numbers, by name, as they are printed."""


def proof_of(visitor: Client, href: str) -> Proof:
    """Every printed formula must give what is printed behind it, and the last ones the unrounded numbers."""
    response = visitor.get(href)
    assert response.status_code == 200, href
    text = unescape(response.content.decode())
    exact = {name.strip(): number for name, number in EXACT.findall(text)}
    results: dict[str, str] = {}
    for symbol, formula, result, terms in STEP.findall(text):
        summands = re.findall("<code>(.*?)</code>", terms) if terms else [formula]
        total = sum((work_out(summand) for summand in summands), Fraction(0))
        assert near(total, Fraction(result)), (href, symbol)
        if "…" not in formula:
            assert near(work_out(formula), Fraction(result)), (href, symbol)
        results[symbol] = result
    assert {name: results.get(name) for name in exact} == exact, href
    page = response.context["page"]
    assert page.warnings == () and "do not agree" not in text, href
    assert bool(exact) != bool(page.missing), href
    return Proof(page, text, exact)


def near(one: Fraction, other: Fraction) -> bool:
    return abs(one - other) <= max(abs(one), abs(other)) / 10**12 + Fraction(1, 10**14)


def is_rounded(shown: str, value: Fraction) -> bool:
    """Whether a number as the board shows it is this one, to the last digit shown."""
    if shown.startswith((">", "<")) and "%" in shown:
        return 0 < value < Fraction("0.0005") or Fraction("0.9995") <= value < 1
    (digits,) = DIGITS.findall(shown)
    plain = digits.replace("\u202f", "").replace("−", "-")
    if shown.startswith("<"):
        return 0 < value < Fraction(plain)
    unit = Fraction(1, 10 ** len(plain.partition(".")[2]))
    return abs(value - Fraction(plain)) <= unit / 2 + Fraction(1, 10**9)


def check_shown(figure: str, shown: str, proof: Proof, low: float, high: float) -> None:
    """The board's own text of a number against the unrounded one of its proof."""
    assert proof.page.shown.text == shown
    numbers = [Fraction(text) for text in proof.exact.values()]
    if not numbers:
        assert shown in ("–", "no interval", "no score"), (figure, shown)
        return
    parts = shown.split(" – ") if figure == "interval" else [shown]
    share = "%" in shown or (figure in ("score", "interval", "spread") and (low, high) == (0, 1))
    for part, number in zip(parts, numbers, strict=True):
        in_per_cent = share and not part.startswith((">", "<"))
        assert is_rounded(part, number * 100 if in_per_cent else number), (figure, shown, number)


# Every number of the demo ----------------------------------------------------------------------------


def figures_of(row: BoardRow) -> Iterator[tuple[str, str, str]]:
    """Name, text and address of each number of a row's overview."""
    yield "rank", row.rank, row.rank_href
    yield "interval", row.interval.text, row.interval.href
    for name, figure in (
        ("score", row.score),
        ("success", row.success),
        ("spread", row.spread),
        ("pass", row.pass_hat),
        ("coverage", row.coverage),
        ("cost", row.cost),
        ("total", row.total_cost),
        ("latency", row.latency),
        ("attempts", row.attempts),
        ("jobs", row.jobs),
    ):
        yield name, figure.text, figure.href
    names = {words: key for key, words in OUTCOME_NAMES.items()}
    for figure in row.outcomes:
        yield names[figure.title], figure.text, figure.href


def exported(entry: dict[str, Any], row: dict[str, str]) -> dict[str, list[Any]]:
    """The same numbers in JSON and CSV, and that these two agree."""
    uncertainty, cost = entry["uncertainty"], entry["cost"]
    found = {
        "rank": ([entry["rank"]], ["rank"]),
        "score": ([entry["score"]], ["score"]),
        "interval": ([uncertainty["low"], uncertainty["high"]], ["low", "high"]),
        "success": ([entry["success_rate"]], ["success_rate"]),
        "coverage": ([entry["coverage"]], ["coverage"]),
        "complete": ([entry["complete_coverage"]], ["complete_coverage"]),
        "completion": ([entry["completion_rate"]], ["completion_rate"]),
        "cost": ([cost["value"]], ["cost"]),
        "total": ([cost["total"]], ["cost_total"]),
        "latency": ([entry["latency"]["value"]], ["latency"]),
        "attempts": ([sum(entry["outcomes"].values())], ["attempts"]),
    }
    for name, (values, columns) in found.items():
        assert ["" if value is None else str(value) for value in values] == [row[c] for c in columns], name
    only_in_csv = {name: [row[column]] for name, column in (("spread", "spread"), ("pass", "pass_hat"))}
    return {
        **{name: values for name, (values, _) in found.items()},
        **{name: [float(text) if text else None for text in texts] for name, texts in only_in_csv.items()},
        **{key: [entry["outcomes"].get(key, 0)] for key in OUTCOME_NAMES},
        "jobs": [len(entry["jobs"])],
    }


def check_exported(name: str, proof: Proof, values: list[Any]) -> None:
    known = [value for value in values if value is not None]
    assert [float(text) for text in proof.exact.values()] == known, name


def boards(project: Project) -> Iterator[tuple[str, Revision, tuple[float, float]]]:
    revisions = Revision.objects.filter(resource__kind="benchmark", resource__project=project)
    for revision in revisions.select_related("resource", "release"):
        path = f"{HOME}/benchmarks/{revision.resource.slug}@{revision.number}"
        low, high = revision.content["scoring"]["score_range"]
        for name in (*revision.tracks.values_list("track_id", flat=True), "none"):
            yield f"{path}?track={name}", revision, (low, high)


def rows_of(page: BoardPage) -> tuple[BoardRow, ...]:
    return (*page.rows, *page.unranked)


def test_every_number_of_the_demo(imported: ImportReport, project: Project, visitor: Client) -> None:
    seen: set[str] = set()
    followed = 0
    for path, _, bounds in boards(project):
        page = visitor.get(path).context["page"]
        in_json = json.loads(visitor.get(page.json_href).content)["entries"]
        in_csv = list(csv.DictReader(io.StringIO(visitor.get(page.csv_href).content.decode())))
        with_categories = visitor.get(f"{path}&view=categories").context["page"]
        every = zip(rows_of(page), in_json, in_csv, rows_of(with_categories), strict=True)
        for row, entry, line, wide in every:
            values = exported(entry, line)
            for name, shown, href in figures_of(row):
                found = proof_of(visitor, href)
                check_shown(name, shown, found, *bounds)
                check_exported(name, found, values[name])
                seen.add(name)
                followed += 1
            others = {other.href.split("figure=")[1]: other.href for other in found.page.others}
            assert tuple(others) == OF_WHOLE
            for name in ("complete", "completion"):
                check_exported(name, proof_of(visitor, others[name]), values[name])
            followed += check_categories(visitor, wide, entry, line, bounds)
            check_funnel(visitor, row.score.href)
    assert followed > 300
    assert seen == set(OF_WHOLE) - {"complete", "completion", "pending"}


def check_categories(
    visitor: Client, row: BoardRow, entry: dict[str, Any], line: dict[str, str], bounds: tuple[float, float]
) -> int:
    for cell, part in zip(row.categories, entry["categories"], strict=True):
        assert line[f"category.{part['id']}"] == ("" if part["score"] is None else str(part["score"]))
        found = proof_of(visitor, cell.score.href)
        check_shown("score", cell.score.text, found, *bounds)
        check_exported("score", found, [part["score"]])
        of_interval = proof_of(visitor, cell.interval_href)
        if cell.interval:
            check_shown("interval", cell.interval, of_interval, *bounds)
        values = {
            "interval": [part["uncertainty"]["low"], part["uncertainty"]["high"]],
            "success": [part["success_rate"]],
            "coverage": [part["coverage"]],
            "cost": [part["cost"]["value"]],
            "total": [part["cost"]["total"]],
            "latency": [part["latency"]["value"]],
        }
        others = {other.href.split("figure=")[1].split("&")[0]: other.href for other in found.page.others}
        assert tuple(others) == OF_CATEGORY
        for name, expected in values.items():
            check_exported(name, proof_of(visitor, others[name]), expected)
    return len(row.categories) * (len(OF_CATEGORY) + 1)


def check_funnel(visitor: Client, href: str) -> None:
    """Each count of Trials leads to as many."""
    page = visitor.get(href).context["page"]
    assert [stage.name for stage in page.stages] == [
        "planned",
        "attempted",
        "finished",
        "scored",
        "counted",
    ]
    for stage in page.stages:
        if stage.figure.text == "–":
            assert "for the whole only" in stage.how
        elif stage.name == "planned":
            assert visitor.get(stage.figure.href).context["page"].rows
        else:
            listed = visitor.get(stage.figure.href).context["page"].total
            assert listed == int(stage.figure.text), (href, stage.name)
    assert visitor.get(page.trials_href).context["page"].total == int(page.stages[1].figure.text)
    assert sum(int(task.attempts.text) for task in page.tasks) == int(page.stages[1].figure.text)


# What else it says -----------------------------------------------------------------------------------

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
    agents = [AgentSpec(name=name, model=f"sim/{name}") for name in ("whole", "mixed")]
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
    for path in (BOARD, f"{BOARD}?view=categories"):
        page = visitor.get(path).context["page"]
        for row in rows_of(page):
            hrefs = [href for cell in row.categories for href in (cell.score.href, cell.interval_href)]
            hrefs = hrefs or [href for _, _, href in figures_of(row)]
            for href in hrefs:
                proof_of(visitor, href)
                check_funnel(visitor, href)
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
    for _, _, href in figures_of(row):
        proof_of(visitor, href)
        check_funnel(visitor, href)


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
