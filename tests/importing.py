"""Imports of built Jobs, and what they left in the database in a form that tests can compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import QueryDict

from benchmarks.board.state import BoardState
from benchmarks.models import Configuration, Release, Resource, Revision, TaskPin
from jobs import tallies
from jobs.board import Board, load_board
from jobs.imports import ImportReport, import_path
from jobs.models import Blob, Execution, Job, JobAgent, SupersededTrial, Tally, Trial
from plural_site.accounts.models import Project
from tests.builders import make_job

STORED = (Resource, Revision, Release, Configuration, Job, JobAgent, Trial, Execution, SupersededTrial, Tally)
OWN = {"id", "revision_id", "configuration_id"}


def bring(project: Project, path: Path) -> ImportReport:
    """Imports, and everything has to land."""
    report = import_path(project=project, actor=None, path=path)
    assert report.landed, report.problems
    return report


def record(project: Project, folder: Path, **job: Any) -> None:
    """Makes one Job as `make_job` does, and imports it."""
    bring(project, make_job(folder, **job))


def only_board(project: Project, query: str = "") -> Board:
    """The board of the only release, as the query of an address asks for it."""
    revision = Revision.objects.with_release().select_related("resource").get(resource__kind="benchmark")
    return load_board(project, revision, BoardState.parse(QueryDict(query)))


def add_tasks(revision: Revision, names: Sequence[str]) -> None:
    """Tasks of these names besides those that it has, all of one content: what no import would make."""
    pin, count = revision.pins.earliest("pk"), revision.pins.count()
    values = {field.attname: getattr(pin, field.attname) for field in TaskPin._meta.concrete_fields}
    del values["id"]
    TaskPin.objects.bulk_create(
        TaskPin(**{**values, "name": name, "position": at}) for at, name in enumerate(names, start=count)
    )


def fill(revision: Revision, score: Callable[[str, str], float | None]) -> None:
    """Of every Agent that has one Trial alone, one like it at each other Task, with this score.

    Straight into the database, for releases that would take long to import. None is no Trial.
    """
    rows = []
    agents = list(JobAgent.objects.filter(job__revision=revision).order_by("pk"))
    for agent in agents:
        (model,) = Trial.objects.filter(job_agent=agent)
        values = {field.attname: getattr(model, field.attname) for field in Trial._meta.concrete_fields}
        del values["id"]
        for pin in revision.pins.all():
            if pin.pk != model.pin_id and (value := score(agent.name, pin.name)) is not None:
                place = {"pin_id": pin.pk, "task_position": pin.position, "task_name": pin.name}
                ident = f"trl_{agent.pk}_{pin.pk}"
                rows.append(Trial(**{**values, **place, "client_trial_id": ident, "score": value}))
    Trial.objects.bulk_create(rows, batch_size=1000)
    job = agents[0].job
    tallies.rebuild(revision, job.track_ref, [agent.configuration_id for agent in agents])


def refused(project: Project, path: Path) -> ImportReport:
    report = import_path(project=project, actor=None, path=path)
    assert not report.landed
    return report


def figures() -> list[dict[str, Any]]:
    """Every tally, apart from primary keys."""
    rows = []
    for row in Tally.objects.select_related("revision", "configuration"):
        values = {f.attname: getattr(row, f.attname) for f in Tally._meta.fields if f.attname not in OWN}
        rows.append(
            {
                **values,
                "revision": row.revision.content_hash,
                "configuration": row.configuration.content_hash,
            }
        )
    return sorted(
        rows,
        key=lambda row: [str(row[k]) for k in ("revision", "track_ref", "configuration", "scope", "key")],
    )


def stored() -> dict[str, list[dict[str, Any]]]:
    """Every row of what an import writes, but for the time and the run of the last write."""
    rows: dict[str, list[dict[str, Any]]] = {
        model.__name__: [
            {key: value for key, value in row.items() if key not in ("updated_at", "import_run_id")}
            for row in model._default_manager.order_by("pk").values()
        ]
        for model in STORED
    }
    rows["Blob"] = [{"digest": blob.digest, "size": blob.size} for blob in Blob.objects.order_by("pk")]
    return rows


def files_below(name: str) -> set[str]:
    """Files in a folder of DATA_DIR, relative to that folder."""
    root = Path(settings.DATA_DIR) / name
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def overall(track_ref: str = "") -> Tally:
    """The only entry of the only release on a track."""
    return Tally.objects.get(scope=Tally.Scope.OVERALL, track_ref=track_ref)
