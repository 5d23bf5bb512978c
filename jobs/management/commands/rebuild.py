from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404

from benchmarks.actions import lock_project
from benchmarks.models import Revision
from jobs import tallies
from jobs.management.board import find_project
from jobs.models import Execution, Job
from jobs.search_texts import index_texts, progress
from jobs.step_indexes import rebuild_indexes
from plural_site.accounts.models import Project
from plural_site.formats import clean_text

BATCH = 100
SAY_EVERY = 2.0
"""Seconds."""
MOST_IDLE = 100
"""Times in a row that no Trial could be finished, for a very large trajectory or a busy database."""


class Command(BaseCommand):
    help = (
        "Makes derived rows anew: the figures of every leaderboard and the step index of every Trial's "
        "trajectory; and makes the search index of what isn't in it yet. Evidence is only read. Without "
        "--tallies, --steps or --search it makes all."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this project")
        parser.add_argument("--tallies", action="store_true", help="only figures of leaderboards")
        parser.add_argument("--steps", action="store_true", help="only step indexes")
        parser.add_argument("--search", action="store_true", help="only the search index, ahead of questions")

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project(options["project"]) if options["project"] else None
        makers = {"tallies": self._tallies, "steps": self._steps, "search": self._search}
        for name in [name for name in makers if options[name]] or makers:
            makers[name](project)

    def _tallies(self, project: Project | None) -> None:
        boards = tallies.boards(project)
        for done, (revision_id, track) in enumerate(boards, 1):
            revision = Revision.objects.select_related("resource__project").get(pk=revision_id)
            with transaction.atomic():
                lock_project(revision.resource.project)
                tallies.rebuild(revision, track, tallies.configurations_on(revision, track))
            where = f"{revision.resource.slug} #{revision.number}, track {track or 'none'}"
            self.stdout.write(clean_text(f"[{done}/{len(boards)}] {where}"))
        self.stdout.write(f"Leaderboards: {len(boards)} made anew.")

    def _steps(self, project: Project | None) -> None:
        executions = Execution.objects.filter(trial__job__state="ready")
        if project:
            executions = executions.filter(trial__job__project=project)
        total, indexed, without, bad = executions.count(), 0, 0, 0
        said = time.monotonic()
        for done, execution in enumerate(_in_batches(executions), 1):
            try:
                index = rebuild_indexes(execution)
            except Exception as error:  # whatever one trajectory does, the others get their index
                bad += 1
                reason = str(error) if isinstance(error, Http404) else f"{type(error).__name__}: {error}"
                where = f"{execution.trial.client_trial_id}, execution {execution.number}"
                self.stderr.write(clean_text(f"{where}: {reason}"))
            else:
                indexed += index is not None
                without += index is None
            if time.monotonic() - said > SAY_EVERY:
                said = time.monotonic()
                self.stdout.write(f"[{done}/{total}] {indexed} trajectories indexed")
        self.stdout.write(
            f"Trajectories: {indexed} indexed, {without} executions without one, {bad} that can't be read."
        )

    def _search(self, project: Project | None) -> None:
        landed = Job.objects.filter(state="ready")
        jobs = list((landed.filter(project=project) if project else landed).values_list("pk", flat=True))
        idle = 0
        while not (state := progress(jobs)).is_done and idle < MOST_IDLE:
            idle = 0 if index_texts(jobs, SAY_EVERY) else idle + 1
            self.stdout.write(f"[{state.indexed}/{state.total}] Trials can be searched")
        self.stdout.write(
            f"Search: {state.indexed} of {state.total} Trials indexed, {state.unread} that can't be read."
        )


def _in_batches(executions: QuerySet[Execution]) -> Iterator[Execution]:
    last = 0
    rows = executions.select_related("trial").order_by("pk")
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        yield from batch
        last = batch[-1].pk
