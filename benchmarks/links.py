"""Addresses and labels of revisions."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from django.urls import reverse

from benchmarks.models import Revision
from plural_site.accounts.models import Project


def revision_label(revision: Revision) -> str:
    """ "1.1.0", or "revision 3" without a version."""
    return revision.version or f"revision {revision.number}"


def board_href(project: Project, revision: Revision, **query: str) -> str:
    selector = revision.version or str(revision.number)
    path = f"/projects/{project.slug}/benchmarks/{revision.resource.slug}@{quote(selector, safe='.+_-')}"
    return f"{path}?{urlencode(query)}" if query else path


def benchmark_href(project: Project, slug: str, **query: str) -> str:
    """A Benchmark's own page. `query` may hold `revision`."""
    path = reverse("benchmarks:benchmark", args=[project.slug, slug])
    return f"{path}?{urlencode(query)}" if query else path


def release_href(project: Project, slug: str, number: int) -> str:
    """Where a revision gets its version."""
    return reverse("benchmarks:release", args=[project.slug, slug, number])


def updates_href(project: Project, slug: str) -> str:
    """What of that which a Benchmark pins has newer revisions."""
    return reverse("benchmarks:updates", args=[project.slug, slug])


def compare_releases_href(project: Project, slug: str, **query: str) -> str:
    """What changed between two revisions. `query` may hold `from` and `to`."""
    path = reverse("jobs:compare-releases", args=[project.slug, slug])
    return f"{path}?{urlencode(query)}" if query else path


def task_href(project: Project, revision: Revision, position: int, **query: str) -> str:
    """A Task in a release. `position` counts from 1 (a pin's own position counts from 0).

    `query` may hold `track`: `id@version`, or "none" for untracked evidence. Needs the revision's resource
    and release.
    """
    path = f"{board_href(project, revision)}/tasks/{position}"
    return f"{path}?{urlencode(query)}" if query else path


def search_href(project: Project, revision: Revision) -> str:
    """Search over the Trials of a release. Needs the revision's resource and release."""
    return f"{board_href(project, revision)}/search"
