"""Evidence: Jobs, Trials, executions and their files, and the imports that brought it."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from benchmarks.models import DIGEST, Configuration, Revision, TaskPin, digest_field
from jobs.querysets import JobQuerySet, TrialQuerySet
from plural_site.accounts.models import Project
from plural_site.db.frozen import frozen

FINITE = (-1e308, 1e308)


def finite(*fields: str) -> Q:
    """Refuses infinities on both databases, and NaN (SQLite stores it as null)."""
    condition = Q()
    for name in fields:
        condition &= Q(**{f"{name}__range": FINITE}) | Q(**{f"{name}__isnull": True})
    return condition


@frozen
class Blob(models.Model):
    """Bytes in the content-addressed store."""

    digest = digest_field(primary_key=True)
    size = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(digest__regex=DIGEST), name="blob_digest_form")
        ]


class ImportRun(models.Model):
    """One import: of what a command was pointed at, or of what was uploaded in parts."""

    class Status(models.TextChoices):
        UPLOADING = "uploading"
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"
        UNDONE = "undone"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="imports")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    source = models.CharField(max_length=500)
    status = models.CharField(max_length=16, choices=Status, default=Status.RUNNING)
    report = models.JSONField(default=dict)
    counts = models.JSONField(default=dict)
    """Of the report: Jobs added, updated, unchanged and refused, Trials, problems."""
    host = models.CharField(max_length=255, blank=True)
    lock = models.CharField(max_length=32, blank=True)
    """Name of the lock file that its process holds while it lives."""
    beat_at = models.DateTimeField()
    """When something of it last moved: a part came in, a process read on."""
    fingerprint = models.CharField(max_length=71, blank=True)
    """Of an upload: what the browser knows the same file or folder by."""
    size = models.PositiveBigIntegerField(default=0)
    """Bytes of the whole upload; 0 for what a command imports."""
    received = models.PositiveBigIntegerField(default=0)
    jobs_found = models.PositiveIntegerField(default=0)
    jobs_done = models.PositiveIntegerField(default=0)
    trials_done = models.PositiveIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0)
    """How often a process began with it."""
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    undone_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(
                    status__in=["uploading", "queued", "running", "done", "failed", "cancelled", "undone"]
                ),
                name="importrun_status",
            ),
            models.UniqueConstraint(
                fields=["project"], condition=Q(status="running"), name="importrun_one_at_a_time"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "-created_at", "-id"], name="importrun_latest"),
            models.Index(fields=["status", "id"], name="importrun_queue"),
        ]

    def __str__(self) -> str:
        return self.source

    @property
    def is_whole(self) -> bool:
        """Whether all of an upload came in, whatever became of it then but that somebody cancelled it."""
        return 0 < self.size == self.received and self.status != self.Status.CANCELLED


class UploadPart(models.Model):
    """A part of what is uploaded, until its import needs it no more. `number` counts from 0."""

    run = models.ForeignKey(ImportRun, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    digest = digest_field()
    name = models.CharField(max_length=255)
    """In the storage "uploads"."""

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["run", "number"], name="uploadpart_number")]


class Worker(models.Model):
    """A process that takes imports from the queue, and when it was last heard of."""

    name = models.CharField(max_length=300, primary_key=True)
    beat_at = models.DateTimeField()


class Job(models.Model):
    """One run. Invisible while `state` is importing; `track_ref` is '' without a track."""

    class State(models.TextChoices):
        IMPORTING = "importing"
        READY = "ready"

    class Origin(models.TextChoices):
        IMPORTED = "imported"
        RECORDED = "recorded"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="jobs")
    client_job_id = models.CharField(max_length=128)
    revision = models.ForeignKey(Revision, null=True, on_delete=models.PROTECT, related_name="jobs")
    task_revision = models.ForeignKey(Revision, null=True, on_delete=models.PROTECT, related_name="task_jobs")
    track_ref = models.CharField(max_length=600, blank=True)
    origin = models.CharField(max_length=16, choices=Origin)
    state = models.CharField(max_length=16, choices=State)
    status = models.CharField(max_length=32)
    spec_hash = digest_field()
    attempts = models.PositiveIntegerField()
    rerun_of_job = models.CharField(max_length=128, blank=True)
    rerun_of_trial = models.CharField(max_length=128, blank=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    aggregates = models.JSONField(default=list)
    notes = models.JSONField(default=list)
    pack = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    files = models.JSONField(default=list)
    import_run = models.ForeignKey(ImportRun, null=True, on_delete=models.SET_NULL, related_name="jobs")
    """The last one that brought something of it; `added_by` brought it first."""
    added_by = models.ForeignKey(ImportRun, null=True, on_delete=models.SET_NULL, related_name="added_jobs")
    set_aside_at = models.DateTimeField(null=True)
    """Since when a person keeps it out of every figure; its evidence stays."""
    set_aside_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    set_aside_reason = models.CharField(max_length=500, blank=True)
    closed_at = models.DateTimeField(null=True)
    """Since when a person has said that nothing more comes of a Job without a result."""
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    closed_reason = models.CharField(max_length=500, blank=True)
    recorded = models.PositiveIntegerField(default=0)
    """Trials of all its Agents, and what they cost: to sort by (derived)."""
    cost_total = models.FloatField(null=True)
    size = models.PositiveBigIntegerField(default=0)
    """Bytes that its files take in the store, and what they are; see `jobs.sizes` (derived)."""
    sizes = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "client_job_id"], name="job_client_id"),
            models.CheckConstraint(condition=Q(state__in=["importing", "ready"]), name="job_state"),
            models.CheckConstraint(condition=Q(origin__in=["imported", "recorded"]), name="job_origin"),
            models.CheckConstraint(
                condition=Q(set_aside_at__isnull=True, set_aside_reason="")
                | Q(set_aside_at__isnull=False) & ~Q(set_aside_reason=""),
                name="job_set_aside_has_reason",
            ),
            models.CheckConstraint(
                condition=Q(closed_at__isnull=True, closed_reason="")
                | Q(closed_at__isnull=False) & ~Q(closed_reason=""),
                name="job_closed_has_reason",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "-started_at", "-id"], name="job_latest"),
            models.Index(fields=["revision", "track_ref"], name="job_board"),
        ]

    def __str__(self) -> str:
        return self.client_job_id


class JobAgent(models.Model):
    """An Agent of a Job, and what its Trials there add up to (derived)."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="agents")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=500)
    version = models.CharField(max_length=500, blank=True)
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, related_name="job_agents")
    harness = models.CharField(max_length=500, blank=True)
    harness_version = models.CharField(max_length=500, blank=True)
    planned = models.PositiveIntegerField()
    recorded = models.PositiveIntegerField(default=0)
    unplanned = models.PositiveIntegerField(default=0)
    """Trials at Tasks that the Job's source does not hold: kept, never scored."""
    outcomes = models.JSONField(default=dict)
    cost_total = models.FloatField(null=True)
    cost_measured = models.PositiveIntegerField(default=0)
    cost_partial = models.BooleanField(default=False)
    figures = models.JSONField(default=dict)
    """What the leaderboard's rules make of its Trials in this Job alone; see `jobs.job_figures`."""

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job", "position"], name="jobagent_position")
        ]


LISTED = (
    "task_position",
    "attempt",
    "job_agent",
    "outcome",
    "score",
    "cost_usd",
    "latency_seconds",
    "tokens",
    "turns",
    "stop_reason",
    "error_code",
)
"""What the Trials of one Job are filtered and sorted by, so that a page of them is found in the index."""


class Trial(models.Model):
    """One attempt at one Task; its figures are those of its final execution."""

    UNPLANNED = -1

    # The indexes below start with these two columns, so neither needs one of its own.
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="trials", db_index=False)
    job_agent = models.ForeignKey(JobAgent, on_delete=models.CASCADE, related_name="trials", db_index=False)
    pin = models.ForeignKey(TaskPin, null=True, on_delete=models.PROTECT, related_name="trials")
    task_position = models.IntegerField()
    task_name = models.CharField(max_length=500)
    task_digest = digest_field()
    attempt = models.PositiveIntegerField()
    client_trial_id = models.CharField(max_length=128)
    status = models.CharField(max_length=32)
    outcome = models.CharField(max_length=24)
    score = models.FloatField(null=True)
    cost_usd = models.FloatField(null=True)
    cost_partial = models.BooleanField(default=False)
    latency_seconds = models.FloatField(null=True)
    input_tokens = models.PositiveBigIntegerField(null=True)
    output_tokens = models.PositiveBigIntegerField(null=True)
    tokens = models.PositiveBigIntegerField(null=True)
    """Both together, of those that were reported."""
    turns = models.PositiveIntegerField(null=True)
    seed = models.BigIntegerField(null=True)
    error_code = models.CharField(max_length=500, blank=True)
    stop_reason = models.CharField(max_length=500, blank=True)
    models_used = models.JSONField(default=list)
    notes = models.JSONField(default=list)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    result_digest = digest_field()
    """sha256 of the final execution's result.json: the Trial changed when this did."""

    objects = TrialQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["job", "job_agent", "task_position", "attempt"],
                condition=Q(task_position__gte=0),
                name="trial_place",
            ),
            models.UniqueConstraint(fields=["job", "client_trial_id"], name="trial_client_id"),
            models.CheckConstraint(
                condition=finite("score", "cost_usd", "latency_seconds"), name="trial_finite"
            ),
            models.CheckConstraint(
                condition=~Q(outcome="scored") | Q(score__isnull=False), name="trial_scored_has_score"
            ),
            models.CheckConstraint(
                condition=Q(cost_usd__isnull=True) | Q(cost_usd__gte=0), name="trial_cost"
            ),
            models.CheckConstraint(
                condition=Q(
                    outcome__in=["pending", "scored", "cancelled", "agent_failure", "infrastructure_error"]
                ),
                name="trial_outcome",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["client_trial_id"], name="trial_by_client_id"),
            models.Index(fields=["job_agent", "pin"], name="trial_agent_pin"),
            models.Index(fields=["job", *LISTED], name="trial_of_job"),
        ]

    def __str__(self) -> str:
        return self.client_trial_id


class SupersededTrial(models.Model):
    """What a Trial said before its Job grew: figures, digests, and when it was replaced."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="superseded")
    result_digest = digest_field()
    figures = models.JSONField()
    packs = models.JSONField(default=list)
    superseded_at = models.DateTimeField(auto_now_add=True)


class Execution(models.Model):
    """One try of a Trial. `pack` holds every file it left, byte for byte, among others of its Job.

    `files` says where: [path, sha256, offset in the blob, size, media type, role, how the run's own record
    of the digest compares] of each.
    """

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="executions")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=32)
    error_code = models.CharField(max_length=500, blank=True)
    error_message = models.TextField(blank=True)
    stop_reason = models.CharField(max_length=500, blank=True)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    receipt_hash = models.CharField(max_length=71, blank=True)
    is_final = models.BooleanField()
    verifier_results = models.JSONField(default=list)
    """Of each Verifier: verifier, digest, kind, status, score, scores, feedback, evidence."""
    pack = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    files = models.JSONField()

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["trial", "number"], name="execution_number")]
