"""What is derived from evidence and may be made anew at any time."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from benchmarks.models import Configuration, Revision
from jobs.models.evidence import Execution, Job, Trial
from jobs.querysets import TallyQuerySet


class Tally(models.Model):
    """Figures of one configuration on one release and track, kept at import (derived).

    `key` is '' for the whole, a Category's id or a Task's name. Costs in USD, latencies in seconds,
    both per attempt; `detail` holds what no query sorts or filters by.
    """

    class Scope(models.TextChoices):
        OVERALL = "overall"
        CATEGORY = "category"
        TASK = "task"

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="tallies")
    track_ref = models.CharField(max_length=600, blank=True)
    configuration = models.ForeignKey(Configuration, on_delete=models.CASCADE, related_name="tallies")
    scope = models.CharField(max_length=16, choices=Scope)
    position = models.PositiveIntegerField(default=0)
    key = models.CharField(max_length=500, blank=True)
    score = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    standard_error = models.FloatField(null=True)
    sample_size = models.PositiveIntegerField(default=0)
    coverage = models.FloatField(default=0)
    complete_coverage = models.FloatField(null=True)
    success_rate = models.FloatField(null=True)
    completion_rate = models.FloatField(null=True)
    cost = models.FloatField(null=True)
    cost_measured = models.PositiveIntegerField(default=0)
    cost_attempts = models.PositiveIntegerField(default=0)
    cost_total = models.FloatField(null=True)
    cost_partial = models.BooleanField(default=False)
    latency = models.FloatField(null=True)
    latency_measured = models.PositiveIntegerField(default=0)
    latency_attempts = models.PositiveIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    planned = models.PositiveIntegerField(default=0)
    valid = models.PositiveIntegerField(default=0)
    successes = models.PositiveIntegerField(default=0)
    outcomes = models.JSONField(default=dict)
    detail = models.JSONField(default=dict)
    eligible = models.BooleanField(default=False)
    reasons = models.JSONField(default=list)
    rules_version = models.PositiveSmallIntegerField()

    objects = TallyQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["revision", "track_ref", "configuration", "scope", "key"], name="tally_key"
            ),
            models.CheckConstraint(
                condition=Q(scope__in=["overall", "category", "task"]), name="tally_scope"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["revision", "track_ref", "scope", "configuration", "position"], name="tally_board"
            )
        ]

    @property
    def name(self) -> str:
        """Of a Category."""
        return self._detail_text("name")

    @property
    def unavailable_reason(self) -> str:
        return self._detail_text("unavailable_reason")

    @property
    def tasks_covered(self) -> int:
        return int(self.detail["tasks_covered"])

    @property
    def tasks_total(self) -> int:
        return int(self.detail["tasks_total"])

    def _detail_text(self, name: str) -> str:
        value: Any = self.detail.get(name)
        return value if isinstance(value, str) else ""


class StepIndex(models.Model):
    """Where the steps of one trajectory file lie, and what the file says of itself (derived)."""

    execution = models.ForeignKey(Execution, on_delete=models.CASCADE, related_name="step_indexes")
    path = models.CharField(max_length=1000)
    format = models.CharField(max_length=32)
    version = models.PositiveSmallIntegerField()
    """Of the code that made it: another one makes it anew."""
    steps = models.PositiveIntegerField()
    facts = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["execution", "path"], name="stepindex_file")]


class StepChunk(models.Model):
    """A run of neighbouring steps, as rows of an outline (derived)."""

    index = models.ForeignKey(StepIndex, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    rows = models.JSONField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["index", "number"], name="stepchunk_number")]


class StepText(models.Model):
    """Text of a step, in parts, to be searched (derived). Only of a Trial's final execution.

    The key is made of Trial, step and part; see `jobs.search_texts.text_key`.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="+")
    index = models.ForeignKey(StepIndex, on_delete=models.CASCADE, related_name="texts")
    step = models.PositiveIntegerField()
    part = models.PositiveIntegerField()
    text = models.TextField()
    folded = models.TextField()
    """The same without case, which is what a search looks at."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["index", "step", "part"], name="steptext_part")
        ]


class TextMark(models.Model):
    """How far the texts of a final execution are indexed (derived). No `index`: it left no trajectory."""

    execution = models.OneToOneField(
        Execution, primary_key=True, on_delete=models.CASCADE, related_name="text_mark"
    )
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")
    index = models.ForeignKey(StepIndex, null=True, on_delete=models.CASCADE, related_name="+")
    version = models.PositiveSmallIntegerField()
    """Of the code that made the texts: another one makes them anew."""
    upto = models.PositiveIntegerField(default=0)
    """The last step whose text is there."""
    is_whole = models.BooleanField(default=False)
    problem = models.CharField(max_length=200, blank=True)
    """Why it can't be read, '' where it can."""
