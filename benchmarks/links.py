"""Addresses and labels of revisions."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from benchmarks.models import Revision
from plural_site.accounts.models import Project


def revision_label(revision: Revision) -> str:
    """ "1.1.0", or "revision 3" without a version."""
    return revision.version or f"revision {revision.number}"


def board_href(project: Project, revision: Revision, **query: str) -> str:
    selector = revision.version or str(revision.number)
    path = f"/projects/{project.slug}/benchmarks/{revision.resource.slug}@{quote(selector, safe='.+_-')}"
    return f"{path}?{urlencode(query)}" if query else path
