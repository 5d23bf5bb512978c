"""One-table questions, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from benchmarks.models import Revision
    from jobs.models import Job, Tally, Trial  # noqa: F401 - named by the base classes
    from plural_site.accounts.models import Project


COUNTED_TO = 10_000
"""Trials: where a list has more, and nothing kept tells how many, that is all it says."""


def counting(prefix: str = "") -> models.Q:
    """Jobs that figures are made of: landed whole, and not set aside. `prefix`: the way to the Job."""
    return models.Q(**{f"{prefix}state": "ready", f"{prefix}set_aside_at__isnull": True})


class JobQuerySet(models.QuerySet["Job"]):
    def visible(self, project: Project) -> JobQuerySet:
        """Jobs that have landed whole."""
        return self.filter(project=project, state="ready")

    def counting(self) -> JobQuerySet:
        """Landed Jobs that nobody has set aside."""
        return self.filter(counting())

    def recorded(self) -> int:
        """How many Trials they hold, from what is kept with them."""
        total: int | None = self.aggregate(total=models.Sum("recorded"))["total"]
        return total or 0

    def with_source(self) -> JobQuerySet:
        """With what ran and who decided what, but for the definitions, which may be large."""
        related = self.select_related(
            "revision__resource",
            "revision__release",
            "task_revision__resource",
            "task_revision__release",
            "import_run__actor",
            "set_aside_by",
            "closed_by",
        )
        definitions = ("revision__definition", "task_revision__definition")
        return related.defer(*definitions, "import_run__report", "sizes").prefetch_related(
            "agents__configuration"
        )


class TrialQuerySet(models.QuerySet["Trial"]):
    def visible(self, project: Project) -> TrialQuerySet:
        return self.filter(job__project=project, job__state="ready")

    def counted(
        self,
        revision: Revision,
        track_ref: str,
        configurations: Iterable[int],
        jobs: Sequence[str] | None = None,
    ) -> TrialQuerySet:
        """Trials that an entry takes: those at its Tasks, of landed Jobs on this release and track.

        Of all such Jobs, or only of those whose ids are named.
        """
        found = self.filter(
            counting("job__"),
            job__revision=revision,
            job__track_ref=track_ref,
            job_agent__configuration__in=configurations,
            pin__isnull=False,
        )
        if jobs is not None:
            found = found.filter(job__client_job_id__in=jobs)
        return found.first_copies(jobs)

    def count_to_limit(self) -> int:
        """How many there are; `COUNTED_TO` + 1 stands for more than that."""
        return self.order_by().values("pk")[: COUNTED_TO + 1].count()

    def first_copies(self, jobs: Sequence[str] | None = None) -> TrialQuerySet:
        """Of a Trial that several Jobs hold (of all, or of those named) the copy that came in first."""
        same = ("client_trial_id", "job__revision", "job__track_ref", "job_agent__configuration")
        earlier = self.model._default_manager.filter(
            counting("job__"),
            **{name: models.OuterRef(name) for name in same},
            pin__isnull=False,
            pk__lt=models.OuterRef("pk"),
        )
        if jobs is not None:
            earlier = earlier.filter(job__client_job_id__in=jobs)
        return self.filter(~models.Exists(earlier))


class TallyQuerySet(models.QuerySet["Tally"]):
    def board(self, revision: Revision, track_ref: str) -> TallyQuerySet:
        return self.filter(revision=revision, track_ref=track_ref)
