"""Addresses of a Task in a release and of an Agent; that of a release stands in `benchmarks.links`."""

from __future__ import annotations

from benchmarks.links import task_href
from benchmarks.models import Configuration
from plural_site.accounts.models import Project

HASH_DIGITS = 12
__all__ = ["agent_href", "task_href"]


def agent_href(project: Project, configuration: Configuration) -> str:
    digits = configuration.content_hash.removeprefix("sha256:")[:HASH_DIGITS]
    return f"/projects/{project.slug}/agents/{digits}"
