"""One-table questions, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from benchmarks.models import Revision
    from jobs.models import Job, Tally, Trial  # noqa: F401 - named by the base classes
    from plural_site.accounts.models import Project


class JobQuerySet(models.QuerySet["Job"]):
    def visible(self, project: Project) -> JobQuerySet:
        """Jobs that have landed whole."""
        return self.filter(project=project, state="ready")

    def with_source(self) -> JobQuerySet:
        return self.select_related(
            "revision__resource", "revision__release", "task_revision__resource"
        ).prefetch_related("agents__configuration")


class TrialQuerySet(models.QuerySet["Trial"]):
    def visible(self, project: Project) -> TrialQuerySet:
        return self.filter(job__project=project, job__state="ready")

    def counted(self, revision: Revision, track_ref: str, configurations: Iterable[int]) -> TrialQuerySet:
        """Trials that an entry takes: those of every landed Job on this release and track, at its Tasks."""
        return self.filter(
            job__revision=revision,
            job__track_ref=track_ref,
            job__state="ready",
            job_agent__configuration__in=configurations,
            pin__isnull=False,
        ).first_copies()

    def first_copies(self) -> TrialQuerySet:
        """Without Trials that an entry has already: of one stored in several Jobs the first copy counts."""
        same = ("client_trial_id", "job__revision", "job__track_ref", "job_agent__configuration")
        earlier = self.model._default_manager.filter(
            **{name: models.OuterRef(name) for name in same},
            job__state="ready",
            pin__isnull=False,
            pk__lt=models.OuterRef("pk"),
        )
        return self.filter(~models.Exists(earlier))


class TallyQuerySet(models.QuerySet["Tally"]):
    def board(self, revision: Revision, track_ref: str) -> TallyQuerySet:
        return self.filter(revision=revision, track_ref=track_ref)
