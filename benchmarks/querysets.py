"""One-table questions, by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from benchmarks.models import Resource, Revision  # noqa: F401 - named by the base classes
    from plural_site.accounts.models import Project

HASH_PREFIX = re.compile(r"^(?P<scheme>sha256:)?(?P<hex>[0-9a-f]{7,64})$")


class ResourceQuerySet(models.QuerySet["Resource"]):
    def for_project(self, project: Project) -> ResourceQuerySet:
        return self.filter(project=project)

    def benchmarks(self) -> ResourceQuerySet:
        """Benchmarks that have a revision to show."""
        return self.filter(kind="benchmark", current__isnull=False)


class RevisionQuerySet(models.QuerySet["Revision"]):
    def with_release(self) -> RevisionQuerySet:
        return self.select_related("release")

    def select(self, selector: str) -> Revision | None:
        """The revision that a selector names among these of one resource, None where none or several do.

        Tried in this order: number ("3", "#3"), version, id ("rev_7"), full content hash, unique prefix
        of it (at least 7 hex digits, written with "sha256:" or holding a letter).
        """
        if "\0" in selector:  # which PostgreSQL takes in no text
            return None
        number = selector.removeprefix("#")
        if number.isascii() and number.isdigit():
            return self.filter(number=int(number)).first() if len(number) < 10 else None
        if found := self.filter(release__version=selector).first():
            return found
        key = selector.removeprefix("rev_")
        if key != selector and key.isascii() and key.isdigit() and len(key) < 19:
            return self.filter(pk=int(key)).first()
        match = HASH_PREFIX.match(selector.lower())
        if not match or not (match["scheme"] or re.search("[a-f]", match["hex"])):
            return None
        hits = list(self.filter(content_hash__startswith=f"sha256:{match['hex']}")[:2])
        return hits[0] if len(hits) == 1 else None
