from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.http import Http404

from jobs import terminal
from jobs.domain.trajectory.types import OutlineRow
from jobs.models import Trial
from jobs.trajectories import first_index, outline
from jobs.trial_page import TrialQuery, trial_page
from jobs.trial_pages import TrialPage
from plural_site import formats

STEPS = ("Step", "From", "What", "At", "Took", "Tokens", "Cost", "")
VERIFIERS = ("Verifier", "Kind", "Status", "Score", "Weight", "Feedback")
EXECUTIONS = ("Execution", "Status", "Started", "Took", "What happened")


class Command(BaseCommand):
    help = "Shows one Trial: the figures and words of its page."

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_subparsers(dest="what", required=True, metavar="show")
        showing = what.add_parser("show", help="one Trial: outcome, why, Verifiers, executions")
        showing.add_argument("trial", metavar="TRIAL_ID")
        showing.add_argument("--project", metavar="SLUG", help="needed when several projects have it")
        showing.add_argument("--job", default="", metavar="JOB_ID", help="the copy that this Job holds")
        showing.add_argument("--steps", action="store_true", help="with the steps of its trajectory")
        showing.add_argument("--json", action="store_true", help="as JSON, unrounded")

    def handle(self, *args: Any, **options: Any) -> None:
        project, trial = terminal.project_of_trial(options["trial"], options["project"], options["job"])
        steps = _steps(trial) if options["steps"] else None
        if options["json"]:
            values = terminal.trial_values(project, trial)
            if options["steps"]:
                values["steps"] = None if steps is None else [asdict(step) for step in steps]
            self.stdout.write(terminal.as_json(values))
            return
        page = trial_page(project, trial.client_trial_id, TrialQuery(job=trial.job.client_job_id))
        lines = [*_lines(page, trial.job.client_job_id), *(_step_lines(steps) if options["steps"] else ())]
        for line in lines:
            self.stdout.write(terminal.one_line(line))


def _steps(trial: Trial) -> list[OutlineRow] | None:
    """Of the trajectory that is opened first; None where the Trial left none."""
    execution = trial.executions.filter(is_final=True).first()
    try:
        index = first_index(execution) if execution else None
        return outline(index, 1, max(index.steps, 1)) if index else None
    except Http404 as error:
        raise CommandError(str(error)) from error


def _lines(page: TrialPage, job: str) -> Iterator[str]:
    yield f"Trial {page.trial_id}: {page.outcome}"
    yield formats.clean_text(f"{page.task} by {page.agent}, {page.about}, of Job {job}")
    yield page.why
    yield from filter(None, (page.claim, page.superseded))
    yield ""
    yield from terminal.facts((*page.facts, *page.details))
    if page.verifiers.rows:
        yield ""
        rows = [
            [
                row.name,
                row.kind,
                row.status,
                row.score.text,
                row.weight.text,
                row.missing or row.feedback.text,
            ]
            for row in page.verifiers.rows
        ]
        yield from terminal.table(VERIFIERS, rows, (3, 4))
    yield from filter(None, (page.verifiers.missing,))
    if page.executions:
        yield ""
        rows = [
            [
                f"{row.number}{', counts' if row.is_final else ''}",
                *(row.status, row.started, row.duration),
                " ".join(filter(None, (row.error.text, row.retry))) or formats.DASH,
            ]
            for row in page.executions
        ]
        yield from terminal.table(EXECUTIONS, rows, (3,))
    if page.held:
        yield ""
        yield from terminal.table(
            ("Held by", "Started", ""), [[h.job_id, h.started, h.counts] for h in page.held]
        )
    for note in page.notes:
        yield f"Note: {note}"


def _step_lines(steps: Sequence[OutlineRow] | None) -> Iterator[str]:
    yield ""
    if not steps:
        yield "Steps: it left no trajectory." if steps is None else "Steps: its trajectory has none."
        return
    rows = [
        [
            str(step.number),
            step.source,
            step.title or ", ".join(step.calls),
            *(formats.seconds(step.since_start), formats.seconds(step.duration)),
            *(formats.count(step.tokens), formats.money(step.cost_usd)),
            "error" if step.is_error else "",
        ]
        for step in steps
    ]
    yield from terminal.table(STEPS, rows, (0, 3, 4, 5, 6))
