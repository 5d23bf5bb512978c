"""Imports of built Jobs, and what they left in the database in a form that tests can compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings

from benchmarks.models import Configuration, Release, Resource, Revision
from jobs.imports import ImportReport, import_path
from jobs.models import Blob, Execution, Job, JobAgent, SupersededTrial, Tally, Trial
from plural_site.accounts.models import Project

STORED = (Resource, Revision, Release, Configuration, Job, JobAgent, Trial, Execution, SupersededTrial, Tally)
OWN = {"id", "revision_id", "configuration_id"}


def bring(project: Project, path: Path) -> ImportReport:
    """Imports, and everything has to land."""
    report = import_path(project=project, actor=None, path=path)
    assert report.landed, report.problems
    return report


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
