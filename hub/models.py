"""What is public (frozen), and drafts of what may become public.

A Publication shows nothing to the public before its first record. Frozen rows refer to no row of a
project, so that they stay when the project goes.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from benchmarks.models import DIGEST, Release, Resource, digest_field
from hub.querysets import ListingQuerySet, RecordQuerySet
from plural_site.accounts.models import SLUG_PATTERN, Project
from plural_site.db.frozen import frozen

FINITE = (-1e308, 1e308)


class Publication(models.Model):
    """A Benchmark as the Hub knows it. `account_slug` and `slug` make its address and never change."""

    project = models.ForeignKey(
        Project, null=True, on_delete=models.SET_NULL, related_name="publications", db_index=False
    )
    resource = models.OneToOneField(
        Resource, null=True, on_delete=models.SET_NULL, related_name="publication"
    )
    """Both are null once the project is deleted."""
    account_slug = models.CharField(max_length=80)
    slug = models.CharField(max_length=80)
    title = models.CharField(max_length=500)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account_slug", "slug"], name="publication_address"),
            models.CheckConstraint(condition=Q(slug__regex=SLUG_PATTERN), name="publication_slug"),
            models.CheckConstraint(condition=Q(account_slug__regex=SLUG_PATTERN), name="publication_account"),
        ]
        indexes: ClassVar = [models.Index(fields=["project"], name="publication_project")]

    def __str__(self) -> str:
        return f"{self.account_slug}/{self.slug}"

    def get_absolute_url(self) -> str:
        return f"/hub/{self.account_slug}/{self.slug}"


@frozen
class Manifest(models.Model):
    """One state of a published release: exactly the bytes whose SHA-256 is `digest`."""

    publication = models.ForeignKey(Publication, on_delete=models.PROTECT, related_name="manifests")
    version = models.CharField(max_length=64)
    """Of the release."""
    schema_version = models.CharField(max_length=64)
    digest = digest_field(unique=True)
    body = models.BinaryField()
    published_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(digest__regex=DIGEST), name="manifest_digest_form"),
            models.CheckConstraint(condition=~Q(version=""), name="manifest_has_version"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["publication", "version", "-id"], name="manifest_of_release")
        ]

    def __str__(self) -> str:
        return self.digest


class RecordKind(models.TextChoices):
    PUBLISH = "publish"
    CORRECT = "correct"
    WITHDRAW = "withdraw"
    RESTORE = "restore"


@frozen
class ManifestRecord(models.Model):
    """What the manifest's schema has no place for. The records of one release are a chain by digest.

    `body` is the canonical JSON (`plural-site.record/1`) whose SHA-256 is `digest`; the columns repeat it.
    """

    publication = models.ForeignKey(Publication, on_delete=models.PROTECT, related_name="records")
    version = models.CharField(max_length=64)
    sequence = models.PositiveIntegerField()
    manifest = models.OneToOneField(Manifest, on_delete=models.PROTECT, related_name="record")
    previous = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="next")
    kind = models.CharField(max_length=16, choices=RecordKind)
    reason = models.TextField(blank=True)
    by = models.CharField(max_length=200)
    """Name of the person, as it is public."""
    at = models.DateTimeField()
    digest = digest_field(unique=True)
    body = models.BinaryField()

    objects = RecordQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["publication", "version", "sequence"], name="manifestrecord_sequence"
            ),
            models.CheckConstraint(
                condition=Q(sequence=1, previous__isnull=True) | Q(sequence__gt=1, previous__isnull=False),
                name="manifestrecord_first_has_no_previous",
            ),
            models.CheckConstraint(condition=Q(kind__in=RecordKind.values), name="manifestrecord_kind"),
            models.CheckConstraint(
                condition=Q(kind__in=["publish"]) | ~Q(reason=""), name="manifestrecord_reason"
            ),
            models.CheckConstraint(condition=Q(digest__regex=DIGEST), name="manifestrecord_digest_form"),
        ]

    def __str__(self) -> str:
        return f"{self.version} {self.sequence} {self.kind}"


@frozen
class PublishedResult(models.Model):
    """A result of a manifest, to be found and compared without reading its body."""

    manifest = models.ForeignKey(Manifest, on_delete=models.PROTECT, related_name="results")
    result_id = models.CharField(max_length=80)
    track_ref = models.CharField(max_length=600)
    configuration = digest_field()
    label = models.CharField(max_length=500)
    model = models.CharField(max_length=500)
    status = models.CharField(max_length=16)
    provenance = models.CharField(max_length=32)
    score = models.FloatField(null=True)
    eligible = models.BooleanField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["manifest", "result_id"], name="publishedresult_id"),
            models.CheckConstraint(
                condition=Q(score__range=FINITE) | Q(score__isnull=True), name="publishedresult_finite"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["accepted", "withdrawn", "superseded"]), name="publishedresult_status"
            ),
            models.CheckConstraint(
                condition=Q(
                    provenance__in=["plural_executed", "independently_reproduced", "self_reported", "legacy"]
                ),
                name="publishedresult_provenance",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["result_id"], name="publishedresult_by_id")]


class Listing(models.Model):
    """How a published Benchmark stands in the Hub's search: of its newest record (derived)."""

    publication = models.OneToOneField(
        Publication, primary_key=True, on_delete=models.CASCADE, related_name="listing"
    )
    manifest = models.ForeignKey(Manifest, on_delete=models.PROTECT, related_name="+")
    title = models.CharField(max_length=500)
    description = models.TextField(blank=True)
    version = models.CharField(max_length=64)
    publisher = models.CharField(max_length=500)
    results = models.PositiveIntegerField()
    """Accepted ones."""
    tasks = models.PositiveIntegerField()
    is_withdrawn = models.BooleanField()
    updated_at = models.DateTimeField()
    folded = models.TextField()
    """Everything that a search looks at, without case."""

    objects = ListingQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["-updated_at", "-publication"], name="listing_latest")]


class Facet(models.Model):
    """A value that a listing is found by (derived)."""

    class Kind(models.TextChoices):
        TAXONOMY = "taxonomy"
        KIND = "kind"
        LICENCE = "licence"
        PUBLISHER = "publisher"

    listing = models.ForeignKey(Listing, on_delete=models.CASCADE, related_name="facets")
    kind = models.CharField(max_length=16, choices=Kind)
    value = models.CharField(max_length=500)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["listing", "kind", "value"], name="facet_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["taxonomy", "kind", "licence", "publisher"]), name="facet_kind"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["kind", "value"], name="facet_value")]


class Draft(models.Model):
    """What one person is about to publish. Nothing of it is public.

    `choices` is what was answered (see `hub.choices`), `candidate` the bytes that were shown last and
    would be frozen.
    """

    publication = models.ForeignKey(Publication, on_delete=models.CASCADE, related_name="drafts")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="drafts")
    release = models.ForeignKey(Release, null=True, on_delete=models.SET_NULL, related_name="drafts")
    reached = models.PositiveSmallIntegerField(default=1)
    """The last step that may be opened, from 1 to 5."""
    choices = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=1)
    """Counts its changes: who saves an older one is told."""
    candidate = models.BinaryField(null=True)
    candidate_digest = models.CharField(max_length=71, blank=True)
    candidate_at = models.DateTimeField(null=True)
    candidate_base = models.CharField(max_length=71, blank=True)
    """Digest of the manifest that the candidate was compared with, '' where there was none."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["publication", "person"], name="draft_of_person"),
            models.CheckConstraint(condition=Q(reached__range=(1, 5)), name="draft_reached"),
            models.CheckConstraint(
                condition=Q(candidate__isnull=True, candidate_at__isnull=True, candidate_digest="")
                | Q(candidate__isnull=False, candidate_at__isnull=False) & ~Q(candidate_digest=""),
                name="draft_candidate_is_whole",
            ),
        ]
