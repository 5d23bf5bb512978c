"""Newer revisions of what a project holds, as a push leaves them."""

from __future__ import annotations

from typing import Any

from benchmarks.actions import choose_current, record_revisions
from benchmarks.domain.identity import hashed_content, revision_hash
from benchmarks.domain.types import Definition
from benchmarks.models import Resource, Revision
from plural_site.accounts.models import Project


def newer(project: Project, kind: str, slug: str, **changes: Any) -> Revision:
    """The latest revision of a Task, an Environment or a Verifier with these changes, as the current one."""
    resource = Resource.objects.get(project=project, kind=kind, slug=slug)
    content = {**resource.revisions.latest("number").content, **changes}
    dependencies = (content["environment"], *content["verifiers"]) if kind == "task" else ()
    definition = Definition(
        kind=kind,  # type: ignore[arg-type]  # one of the three
        name=resource.name,
        version="",
        content=hashed_content(content),
        content_hash=revision_hash(kind, content),  # type: ignore[arg-type]
        dependencies=dependencies,
        slug=slug,
    )
    found, _ = record_revisions(project=project, definitions=[definition])
    choose_current(found[digest] for digest in [definition.content_hash])
    return found[definition.content_hash]


def benchmark(project: Project, slug: str = "demo-bench") -> Resource:
    return Resource.objects.select_related("current", "project").get(
        project=project, kind="benchmark", slug=slug
    )
