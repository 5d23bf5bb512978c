"""What a project keeps of its Jobs' files, and what keeps files from being removed meanwhile."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from plural_site.accounts.models import Project


class RetentionRule(models.Model):
    """Files of which kinds go from Jobs that are neither young nor among the newest. At most one a project.

    A Job keeps its files as long as either bound covers it; see `jobs.domain.retention`.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="retention_rule")
    keep_days = models.PositiveIntegerField(null=True)
    keep_newest = models.PositiveIntegerField(null=True)
    """Jobs of each Benchmark."""
    kinds = models.JSONField()
    """Values of `jobs.domain.file_kinds.REMOVABLE`."""
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    set_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True)
    """When it was last gone through to its end."""

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(keep_days__gte=1) | Q(keep_days__isnull=True), name="retentionrule_days"
            ),
            models.CheckConstraint(
                condition=Q(keep_newest__gte=1) | Q(keep_newest__isnull=True), name="retentionrule_newest"
            ),
            models.CheckConstraint(
                condition=Q(keep_days__isnull=False) | Q(keep_newest__isnull=False),
                name="retentionrule_has_bound",
            ),
        ]


class FileHold(models.Model):
    """While its process lives, no stored file is removed: a backup reads them, or a restore puts them in."""

    what = models.CharField(max_length=32)
    host = models.CharField(max_length=255)
    lock = models.CharField(max_length=32)
    """As of an import: name of the lock file that its process holds."""
    beat_at = models.DateTimeField()
    has_leftovers = models.BooleanField(default=False)
    """Something was to be removed meanwhile, and is still there."""
