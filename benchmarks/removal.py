"""The part of Benchmarks in the deletion of a project."""

from __future__ import annotations

from benchmarks.models import (
    Category,
    Configuration,
    Dependency,
    Kind,
    Release,
    Resource,
    Revision,
    TaskCategory,
    TaskPin,
    Track,
)
from plural_site.accounts.removal import Counted, Removal


class BenchmarksRemoval(Removal):
    frozen = (Category, Configuration, Dependency, Release, Revision, TaskCategory, TaskPin, Track)

    def counts(self) -> list[Counted]:
        resources = Resource.objects.filter(project=self.project)
        return [
            Counted("Benchmarks", resources.filter(kind=Kind.BENCHMARK).count()),
            Counted(
                "Benchmark releases",
                Release.objects.filter(resource__in=resources.filter(kind=Kind.BENCHMARK)).count(),
            ),
        ]

    def remove_frozen(self) -> None:
        revisions = Revision.objects.filter(resource__project=self.project)
        Resource.objects.filter(project=self.project).update(current=None)
        # Straight to the database: Django would refuse, as each of these protects the next.
        for rows in (
            TaskCategory.objects.filter(category__revision__in=revisions),
            Category.objects.filter(revision__in=revisions),
            TaskPin.objects.filter(revision__in=revisions),
            Track.objects.filter(revision__in=revisions),
            Release.objects.filter(revision__in=revisions),
            Dependency.objects.filter(revision__in=revisions),
            Configuration.objects.filter(project=self.project),
            revisions,
        ):
            rows._raw_delete(rows.db)
