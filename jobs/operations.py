"""Figures for whoever runs the site: the queue of imports, workers, and what is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Sum
from django.utils import timezone

from jobs.import_lock import SILENT_FOR
from jobs.models import Blob, ImportRun, Worker
from jobs.queue import SEEN_FOR

Status = ImportRun.Status


@dataclass(frozen=True, slots=True)
class Operations:
    """`imports` counts by status, every status included. `oldest_wait` in seconds, 0 where nothing waits.

    `workers` at least: one that imports is not heard of, so it counts as an import that goes on.
    """

    imports: Mapping[str, int]
    oldest_wait: float
    workers: int
    blobs: int
    blob_bytes: int


def operations() -> Operations:
    """Five queries; the one over blobs reads a row for each, of which a Job makes one or two."""
    now = timezone.now()
    counts = dict(ImportRun.objects.order_by().values_list("status").annotate(Count("pk")))
    waiting = ImportRun.objects.filter(status=Status.QUEUED, project__archived_at__isnull=True)
    since: datetime | None = waiting.aggregate(first=Min("beat_at"))["first"]
    stored = Blob.objects.aggregate(count=Count("pk"), size=Sum("size"))
    return Operations(
        imports={status: counts.get(status, 0) for status in Status.values},
        oldest_wait=max((now - since).total_seconds(), 0.0) if since else 0.0,
        workers=max(
            Worker.objects.filter(beat_at__gte=now - SEEN_FOR).count(),
            ImportRun.objects.filter(
                status=Status.RUNNING, size__gt=0, beat_at__gte=now - SILENT_FOR
            ).count(),
        ),
        blobs=stored["count"],
        blob_bytes=stored["size"] or 0,
    )
