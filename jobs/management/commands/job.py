from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.http import Http404

from jobs import terminal
from jobs.filters import JOB_STATUSES, JobFilter
from jobs.job_page import job_page
from jobs.job_pages import JobPage
from jobs.management.board import find_project
from jobs.models import Job
from jobs.pages import JobRow
from jobs.rows import job_row
from plural_site import formats

TRIALS = ("Trial", "Task", "Agent", "Attempt", "Outcome", "Score", "Cost", "Time", "Ended by")
JOBS = (
    "Job",
    "Status",
    "Ran on",
    "Agents and their scores",
    "Planned",
    "Finished",
    "Failed",
    "Cost",
    "Started",
)
AGENTS = ("Agent", "Model", "Harness", "Score", "Interval", "Coverage", "Success", "Cost", "Time", "Attempts")


class Command(BaseCommand):
    help = "Lists Jobs, or shows one: the figures and words of their pages."

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_subparsers(dest="what", required=True, metavar="list|show")
        listing = what.add_parser("list", help="the Jobs of a project, the latest first")
        listing.add_argument("--project", metavar="SLUG", help="needed when there are several projects")
        listing.add_argument("--status", choices=sorted(JOB_STATUSES), metavar="STATUS", help=_statuses())
        listing.add_argument("--benchmark", metavar="SLUG", help="only those that ran on it")
        listing.add_argument("--limit", type=_number, default=50, metavar="N", help="at most N of them (50)")
        listing.add_argument("--json", action="store_true", help="as JSON, unrounded")
        showing = what.add_parser("show", help="one Job with its Agents and Trials")
        showing.add_argument("job", metavar="JOB_ID")
        showing.add_argument("--project", metavar="SLUG", help="needed when several projects have it")
        showing.add_argument("--json", action="store_true", help="as JSON, unrounded, with every Trial")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["what"] == "list":
            self._list(options)
        else:
            self._show(options)

    def _list(self, options: dict[str, Any]) -> None:
        project = find_project(options["project"])
        query = {"status": options["status"] or "", "of": options["benchmark"] or ""}
        try:
            chosen = JobFilter.parse(project, query).apply(Job.objects.visible(project))
        except Http404 as error:
            message = f"There is no Benchmark {options['benchmark']} in the project {project.slug}."
            raise CommandError(formats.clean_text(message)) from error
        limit = options["limit"]
        found = list(chosen.with_source().order_by("-started_at", "-pk")[: limit + 1])
        if options["json"]:
            values = [terminal.job_values(project, job) for job in found[:limit]]
            self.stdout.write(terminal.as_json({"jobs": values, "more": len(found) > limit}))
            return
        if not found:
            self.stdout.write("No Jobs match." if any(query.values()) else "No Jobs yet.")
            return
        rows = [_job_cells(job_row(project, job)) for job in found[:limit]]
        for line in terminal.table(JOBS, rows, numbers=(4, 5, 6, 7)):
            self.stdout.write(terminal.one_line(line))
        if len(found) > limit:
            self.stdout.write(f"And more: --limit shows more than {formats.count(limit)}.")

    def _show(self, options: dict[str, Any]) -> None:
        project, job = terminal.project_of_job(options["job"], options["project"])
        if options["json"]:
            values = terminal.job_values(project, job) | {"trials": terminal.job_trials(job)}
            self.stdout.write(terminal.as_json(values))
            return
        for line in _job_lines(job_page(project, job, {}, can_write=False)):
            self.stdout.write(terminal.one_line(line))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= 100_000):
        raise argparse.ArgumentTypeError("a whole number from 1 on")
    return int(text)


def _statuses() -> str:
    return "; ".join(f"{name}: {words}" for name, words in JOB_STATUSES.items())


def _job_cells(row: JobRow) -> list[str]:
    agents = [f"{agent.name} {terminal.cell(agent.score)}" for agent in row.agents]
    agents += [f"and {row.more_agents} more"] if row.more_agents else []
    status = ", ".join([row.status, *(mark.text.lower() for mark in row.marks if mark.text != "Closed")])
    source = f"{row.source}, {row.track}" if row.track else row.source
    counts = [terminal.cell(figure) for figure in (row.planned, row.trials, row.failed, row.cost)]
    return [row.job_id, status, source, ", ".join(agents), *counts, row.started]


def _job_lines(page: JobPage) -> Iterator[str]:
    yield f"Job {page.job_id}: {page.status}"
    for decision in page.decisions:
        by = f" by {decision.by}" if decision.by else ""
        yield f"{decision.what}{by} on {decision.at}: {decision.reason} {decision.follows}"
    yield ""
    yield from terminal.facts((*page.facts, *page.related))
    yield ""
    yield from terminal.table(
        AGENTS, [_agent_cells(page, at) for at in range(len(page.agents))], (3, 6, 7, 8, 9)
    )
    for agent in page.agents:
        for reason in agent.reasons:
            yield f"{agent.name} alone would not rank: {reason}"
    if page.missing:
        yield f"{formats.count(page.missing.total)} planned left nothing. {page.missing.words}"
    for note in page.notes:
        yield f"Note: {note}"
    if page.rows:
        yield ""
        yield from terminal.table(
            TRIALS, [_trial_cells(page, at) for at in range(len(page.rows))], (3, 5, 6, 7)
        )
    if page.total > len(page.rows):
        yield f"And {formats.count(page.total - len(page.rows))} more Trials: --json has all of them."


def _agent_cells(page: JobPage, at: int) -> list[str]:
    agent = page.agents[at]
    return [
        f"{agent.name} {agent.version}".strip(),
        agent.model,
        agent.harness,
        _score(agent.score.text, page.score_unit),
        agent.interval.text,
        agent.coverage.text,
        agent.success.text,
        agent.cost.text,
        agent.latency.text,
        agent.attempts.text,
    ]


def _trial_cells(page: JobPage, at: int) -> list[str]:
    row = page.rows[at]
    score = _score(row.score.text, page.score_unit)
    return [
        *(row.href.rpartition("/")[2], row.task, row.agent, str(row.attempt), row.outcome, score),
        *(row.cost.text, row.latency.text, ", ".join(filter(None, (row.stop_reason, row.error_code)))),
    ]


def _score(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit and text != formats.DASH and not text.endswith(unit) else text
