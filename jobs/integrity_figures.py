"""Checks of derived rows against the evidence that they were made of, and their mending."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.db.models import Count, F, Q

from benchmarks.actions import lock_project
from benchmarks.domain.scoring import classify, total
from benchmarks.domain.types import Attempt, Scoring
from benchmarks.models import Revision
from jobs import job_figures, search_tables, search_texts, step_indexes, tallies
from jobs.integrity import Finding, Looked, Scope
from jobs.integrity_rows import name_of
from jobs.models import Job, JobAgent, StepIndex, StepText, Tally, TextMark, Trial
from jobs.sizes import measured, record_sizes
from jobs.stored_files import StoredFile
from plural_site.accounts.models import Project

_FETCHED = 500


def _plain(value: Any) -> Any:
    """As a database gives it back: tuples are lists."""
    return json.loads(json.dumps(value))


def outcomes(scope: Scope, looked: Looked) -> Iterator[Finding]:
    """What each Trial counts as, by the rules of its release. Evidence: it is not mended."""
    for job in (
        Job.objects.filter(state=Job.State.READY).select_related("revision").order_by("pk").iterator(50)
    ):
        scoring: Scoring | None = job.revision.rules.scoring if job.revision else None
        rows = Trial.objects.filter(job=job).values_list(
            "pk", "task_name", "attempt", "status", "score", "error_code", "stop_reason", "outcome"
        )
        for key, task, attempt, status, score, error, stop, outcome in rows.iterator(chunk_size=5000):
            looked.number += 1
            one = Attempt(task, attempt, status, score, error or None, stop or None)
            if classify(one, scoring) != outcome:
                message = f"counts as {outcome}, which is not what its result and the rules give"
                yield Finding(name_of(Trial, key), message)
        scope.say(f"{looked.number:,} Trials")


# Jobs -------------------------------------------------------------------------------------------------


def jobs(scope: Scope, looked: Looked) -> Iterator[Finding]:
    """Figures of each Job's Agents, of the Job and of its files."""
    for key, project in Job.objects.filter(state=Job.State.READY).order_by("pk").values_list("pk", "project"):
        looked.number += 1
        scope.say(f"{looked.number:,} Jobs")
        wrong = _wrong_of_job(key)
        if wrong:
            with transaction.atomic():  # nothing of it moves now, so that what is wrong is wrong
                lock_project(Project(pk=project))
                wrong = _wrong_of_job(key)
                if wrong and scope.mends:
                    job = Job.objects.select_related("revision").get(pk=key)
                    job_figures.record_figures(job, list(job.agents.select_related("configuration")))
                    record_sizes(job)
        for message in wrong:
            yield Finding(name_of(Job, key), message, is_mended=scope.mends)


def _wrong_of_job(key: int) -> list[str]:
    job = Job.objects.select_related("revision").filter(pk=key).first()
    if job is None:
        return []
    wrong = []
    kept = list(job.agents.select_related("configuration"))
    before = [_figures(agent) for agent in kept]
    for agent, was in zip(job_figures.compute(job, kept), before, strict=True):
        now = _figures(agent)
        odd = [name for name in job_figures.DERIVED if now[name] != was[name]]
        if odd and was["figures"].get("version") == job_figures.VERSION:
            wrong.append(f"figures of its Agent {agent.position + 1} differ: {', '.join(odd)}")
    costs = [agent.cost_total for agent in kept if agent.cost_total is not None]
    if (job.recorded, job.cost_total) != (sum(agent.recorded for agent in kept), total(costs)):
        wrong.append("its number of Trials or its cost differs")
    sizes = measured(job)
    if (job.size, job.sizes) != (sizes.total, _plain(sizes.as_json())):
        wrong.append("what its files take differs")
    return wrong


def _figures(agent: JobAgent) -> dict[str, Any]:
    return {name: _plain(getattr(agent, name)) for name in job_figures.DERIVED}


# Leaderboards -----------------------------------------------------------------------------------------


def boards(scope: Scope, looked: Looked) -> Iterator[Finding]:
    """Every tally against the Trials that it is made of."""
    for revision_id, track in tallies.boards():
        looked.number += 1
        scope.say(f"{looked.number:,} leaderboards")
        revision = Revision.objects.select_related("resource__project").get(pk=revision_id)
        wrong = _wrong_of_board(revision, track)
        if wrong:
            with transaction.atomic():
                lock_project(revision.resource.project)
                wrong = _wrong_of_board(revision, track)
                if wrong and scope.mends:
                    tallies.rebuild(revision, track, tallies.configurations_on(revision, track))
        where = f"leaderboard of {revision.resource.slug} #{revision.number}, track {track or 'none'}"
        for message, number in sorted(wrong.items()):
            yield Finding(where, f"{number:,} {message}", is_mended=scope.mends)


def _wrong_of_board(revision: Revision, track: str) -> Counter[str]:
    wrong: Counter[str] = Counter()
    kept = {_place(row): _values(row) for row in Tally.objects.board(revision, track).iterator(_FETCHED)}
    for row in tallies.compute(revision, track):
        was = kept.pop(_place(row), None)
        if was is None:
            wrong["figures are missing"] += 1
        elif was != _values(row):
            wrong["figures differ from what the Trials give"] += 1
    if kept:
        wrong["figures are of nothing that counts there"] = len(kept)
    return wrong


def _place(row: Tally) -> tuple[Any, ...]:
    return row.configuration_id, row.scope, row.key


def _values(row: Tally) -> dict[str, Any]:
    names = (field.attname for field in Tally._meta.concrete_fields if not field.primary_key)
    return {name: _plain(getattr(row, name)) for name in names}


# Steps and search -------------------------------------------------------------------------------------


def step_index(scope: Scope, looked: Looked) -> Iterator[Finding]:
    """Of each index whether it is of the file that is there, and holds as many rows as it says."""
    rows = StepIndex.objects.filter(version=step_indexes.VERSION).select_related("execution")
    for index in rows.annotate(held=Count("chunks")).order_by("pk").iterator(chunk_size=_FETCHED):
        looked.number += 1
        scope.say(f"{looked.number:,} step indexes")
        if message := _wrong_of_index(index):
            yield from _dropped(scope, StepIndex, index.pk, message, index.delete)


def _wrong_of_index(index: Any) -> str:
    files = {file.path: file for file in (StoredFile(*entry) for entry in index.execution.files)}
    path = index.path
    while path not in files and "#" in path:
        path = path.rpartition("#")[0]
    file = files.get(path)
    if file is None or file.removed or index.facts.get("digest") != file.digest:
        return "is of a file that is not there any more"
    if index.held != -(-index.steps // step_indexes.CHUNK):
        return "lacks some of its steps"
    return ""


def _dropped(
    scope: Scope, model: type[StepIndex | TextMark], key: int, message: str, drop: Callable[[], object]
) -> Iterator[Finding]:
    """What is dropped is made again when somebody opens it."""
    if scope.mends:
        with transaction.atomic():
            drop()
    yield Finding(name_of(model, key), message, is_mended=scope.mends)


def search(scope: Scope, looked: Looked) -> Iterator[Finding]:
    """Texts of the search over Trials, and the database's own index over them."""
    marks = TextMark.objects.filter(index__isnull=False).exclude(index__execution=F("execution"))
    yield from _marks(scope, marks, "is of another execution")
    strays = StepText.objects.filter(~Q(job=F("trial__job")) | ~Q(trial=F("index__execution__trial")))
    for trial in strays.order_by("trial").values_list("trial", flat=True).distinct():
        yield from _texts(scope, trial, "some of its texts are of another Trial")
    if not scope.is_quick:
        odd: set[int] = set()
        texts = StepText.objects.order_by("pk").values_list("trial", "text", "folded")
        for trial, text, folded in texts.iterator(chunk_size=_FETCHED):
            looked.number += 1
            scope.say(f"{looked.number:,} texts")
            if folded != search_texts.fold(text):
                odd.add(trial)
        for trial in sorted(odd):
            yield from _texts(scope, trial, "some of its texts can't be found by what they say")
    yield from _own_index(scope)


def _marks(scope: Scope, marks: Any, message: str) -> Iterator[Finding]:
    for mark in marks:
        yield from _dropped(scope, TextMark, mark.pk, message, mark.delete)


def _texts(scope: Scope, trial: int, message: str) -> Iterator[Finding]:
    if scope.mends:
        with transaction.atomic():
            StepText.objects.filter(trial=trial).delete()
            TextMark.objects.filter(execution__trial=trial).delete()
    yield Finding(name_of(Trial, trial), message, is_mended=scope.mends)


def _own_index(scope: Scope) -> Iterator[Finding]:
    if connection.vendor == "sqlite" and not search_tables.has_index(connection):
        where, message = search_tables.INDEX, "the index over texts is missing"
    elif connection.vendor == "sqlite" and not _agrees():
        where, message = search_tables.INDEX, "the index over texts is not that of the texts"
    else:
        return
    if scope.mends:
        search_tables.uninstall(connection)
        search_tables.install(connection)
    yield Finding(where, message, is_mended=scope.mends)


def _agrees() -> bool:
    """SQLite compares every word of its index with the texts."""
    index = search_tables.INDEX
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {index}({index}, rank) VALUES ('integrity-check', 1)")  # noqa: S608
    except DatabaseError:
        return False
    return True
