"""Resources and their revisions: what was run, by content.

All but `Resource` is frozen: the database refuses to change or delete such rows. Labels that may move
(display name, README, which revision is current) stand on the resource.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.functional import cached_property

from benchmarks.domain.definitions import BenchmarkRules, rules_from_content
from benchmarks.domain.tracks import parse_track
from benchmarks.domain.types import Track as TrackRules
from benchmarks.querysets import ResourceQuerySet, RevisionQuerySet
from plural_site.accounts.models import Project
from plural_site.db.frozen import frozen

DIGEST = r"\Asha256:[0-9a-f]{64}\Z"


def digest_field(**options: Any) -> models.CharField[str, str]:
    return models.CharField(max_length=71, **options)


class Kind(models.TextChoices):
    ENVIRONMENT = "environment"
    VERIFIER = "verifier"
    TASK = "task"
    HARNESS = "harness"
    AGENT = "agent"
    BENCHMARK = "benchmark"


class Resource(models.Model):
    """A named thing whose states are revisions. `slug` is the folder's name and never changes."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="resources")
    kind = models.CharField(max_length=16, choices=Kind)
    slug = models.CharField(max_length=80)
    name = models.CharField(max_length=500)
    readme = models.TextField(blank=True)
    current = models.ForeignKey(
        "benchmarks.Revision", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    current_is_chosen = models.BooleanField(default=False)
    """A push or a person set `current`; an import then never moves it."""
    current_since = models.DateTimeField(null=True, blank=True)
    """Start of the latest Job that ran the current revision, where an import set it."""
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ResourceQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "kind", "slug"], name="resource_project_kind_slug"),
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="resource_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}/{self.slug}"


@frozen
class Revision(models.Model):
    """One content of a resource. `definition` is the RFC 8785 text that was hashed, as `content`."""

    resource = models.ForeignKey(Resource, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    content_hash = digest_field()
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="children")
    definition = models.TextField()
    claimed_version = models.CharField(max_length=64, blank=True)
    """The version that came with the content, whether or not it became a release."""
    forked_from = models.TextField(blank=True)
    pushed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = RevisionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["resource", "content_hash"], name="revision_resource_hash"),
            models.UniqueConstraint(fields=["resource", "number"], name="revision_resource_number"),
            models.CheckConstraint(condition=Q(number__gte=1), name="revision_number"),
            models.CheckConstraint(condition=Q(content_hash__regex=DIGEST), name="revision_hash_form"),
        ]
        indexes: ClassVar = [models.Index(fields=["content_hash"], name="revision_hash")]

    def __str__(self) -> str:
        return f"{self.resource_id}#{self.number}"

    @property
    def content(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.definition)
        return parsed

    @cached_property
    def rules(self) -> BenchmarkRules:
        """The declared rules of a Benchmark."""
        return rules_from_content(self.content)

    @cached_property
    def pin_keys(self) -> dict[str, int]:
        """Keys of the Task pins of a Benchmark by the Task's name, in their order."""
        return dict(self.pins.values_list("name", "pk"))

    @property
    def version(self) -> str:
        """The release version, '' without one. Needs `select_related("release")` to stay one query."""
        return self.release.version if hasattr(self, "release") else ""


@frozen
class Dependency(models.Model):
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="dependencies")
    depends_on = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="dependants")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["revision", "depends_on"], name="dependency_pair"),
            models.CheckConstraint(condition=~Q(revision=models.F("depends_on")), name="dependency_not_self"),
        ]


@frozen
class Release(models.Model):
    """A version of a revision, for ever."""

    revision = models.OneToOneField(Revision, on_delete=models.PROTECT, related_name="release")
    resource = models.ForeignKey(Resource, on_delete=models.PROTECT, related_name="releases")
    version = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["resource", "version"], name="release_version"),
            models.CheckConstraint(
                condition=Q(version__regex=r"\A[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}\Z")
                & ~Q(version__regex=r"\A[0-9]+\Z"),
                name="release_version_form",
            ),
        ]

    def __str__(self) -> str:
        return self.version


@frozen
class TaskPin(models.Model):
    """A Task of a Benchmark revision, under the display name that scoring joins on."""

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="pins")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=500)
    version = models.CharField(max_length=500, blank=True)
    task_revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="pinned_in")
    task_digest = digest_field()
    weight = models.FloatField()

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["revision", "name"], name="taskpin_name"),
            models.UniqueConstraint(fields=["revision", "position"], name="taskpin_position"),
            models.CheckConstraint(condition=Q(weight__gt=0), name="taskpin_weight"),
            models.CheckConstraint(condition=Q(task_digest__regex=DIGEST), name="taskpin_digest_form"),
        ]


@frozen
class Category(models.Model):
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="categories")
    position = models.PositiveIntegerField()
    slug = models.CharField(max_length=64)
    name = models.CharField(max_length=500)
    description = models.TextField(blank=True)
    taxonomy = models.CharField(max_length=200, blank=True)
    pins = models.ManyToManyField(TaskPin, through="TaskCategory", related_name="categories")

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["revision", "slug"], name="category_slug")]


@frozen
class TaskCategory(models.Model):
    category = models.ForeignKey(Category, on_delete=models.PROTECT, related_name="+")
    pin = models.ForeignKey(TaskPin, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["category", "pin"], name="taskcategory_pair")
        ]


class TrackKind(models.TextChoices):
    MODELS = "models"
    AGENTS = "agents"


@frozen
class Track(models.Model):
    """Comparison rules of a revision; the same `id@version` has the same `rules_hash` in every revision."""

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="tracks")
    position = models.PositiveIntegerField()
    track_id = models.CharField(max_length=64)
    version = models.CharField(max_length=500)
    name = models.CharField(max_length=500)
    kind = models.CharField(max_length=16, choices=TrackKind)
    attempts = models.PositiveSmallIntegerField()
    rules = models.JSONField()
    rules_hash = digest_field()

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["revision", "track_id"], name="track_revision_id"),
            models.CheckConstraint(condition=Q(kind__in=TrackKind.values), name="track_kind"),
            models.CheckConstraint(condition=Q(attempts__range=(1, 32)), name="track_attempts"),
            models.CheckConstraint(condition=Q(rules_hash__regex=DIGEST), name="track_hash_form"),
        ]

    def __str__(self) -> str:
        return self.reference

    @property
    def reference(self) -> str:
        return f"{self.track_id}@{self.version}"

    def as_rules(self) -> TrackRules:
        return parse_track(self.rules)


@frozen
class Configuration(models.Model):
    """An Agent by content. It has no name: the names it ran under stand with the Jobs."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="configurations")
    content_hash = digest_field()
    model = models.CharField(max_length=500)
    definition = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "content_hash"], name="configuration_hash"),
            models.CheckConstraint(condition=Q(content_hash__regex=DIGEST), name="configuration_hash_form"),
        ]

    @property
    def content(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.definition)
        return parsed
