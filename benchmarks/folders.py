"""Benchmark folders that come beside Jobs: a README, and the release that they declare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from benchmarks.actions import lock_project, record_benchmark, record_revisions
from benchmarks.domain.folder import BenchmarkFolder, check_folder
from benchmarks.domain.folder_identity import Known, known_among, resolve
from benchmarks.domain.project_files import Problem
from benchmarks.domain.types import Definition, DomainError
from benchmarks.models import Kind, Resource, Revision
from plural_site.accounts.models import Project, User


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a folder: its revision, or why there is none; `problems` if it is not valid."""

    revision: Revision | None
    made: bool = False
    reason: str = ""
    problems: tuple[Problem, ...] = ()


def record_folder(*, project: Project, path: Path, actor: User | None = None) -> Recorded:
    """Records the release that a `benchmarks/<slug>/` folder declares, and its README.

    Hashes of Environments and Verifiers come from revisions that the project holds, since they depend on
    code; where the folder's can't be matched with those, only the README is taken.
    """
    report = check_folder(path)
    folder = report.folder
    if folder is None or report.problems:
        return Recorded(None, problems=report.problems)
    try:
        with transaction.atomic():
            lock_project(project)
            return _record(project, folder, actor)
    except DomainError as error:
        problem = Problem(f"benchmarks/{folder.slug}/benchmark.yaml", "", str(error))
        return Recorded(None, problems=(problem,))


def _record(project: Project, folder: BenchmarkFolder, actor: User | None) -> Recorded:
    resolution = resolve(folder, _held(project))
    revision, made = None, False
    if resolution.benchmark:
        record_revisions(project=project, definitions=resolution.tasks, actor=actor)
        revision, made = record_benchmark(
            project=project,
            definition=resolution.benchmark,
            tasks=[(task.name, task.version, task.content_hash) for task in resolution.tasks],
            actor=actor,
        )
    resource = revision.resource if revision else _resource(project, folder.slug)
    if resource:
        resource.readme = folder.readme
        resource.current = resource.current or revision
        resource.save(update_fields=["readme", "current"])
    return Recorded(revision, made, resolution.reason)


def _resource(project: Project, slug: str) -> Resource | None:
    return Resource.objects.for_project(project).filter(kind=Kind.BENCHMARK, slug=slug).first()


def _held(project: Project) -> Known:
    """The Environments and Verifiers that a project holds."""
    rows = Revision.objects.filter(
        resource__project=project, resource__kind__in=[Kind.ENVIRONMENT, Kind.VERIFIER]
    ).select_related("resource")
    return known_among(
        Definition(
            kind="environment" if row.resource.kind == Kind.ENVIRONMENT else "verifier",
            name=row.resource.name,
            version=row.claimed_version,
            content=row.content,
            content_hash=row.content_hash,
        )
        for row in rows
    )
