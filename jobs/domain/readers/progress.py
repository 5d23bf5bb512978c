"""How far a Job got: its own result.json and the ends of its events.jsonl."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from benchmarks.domain.types import JsonObject
from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers import stream_json, strict_json
from jobs.domain.readers.folders import Folder, join
from jobs.domain.readers.strict_json import Fields, NotStrictError

STATUSES = frozenset(
    ("planned", "queued", "provisioning", "running", "verifying")
    + ("awaiting_review", "succeeded", "failed", "cancelled")
)
EVENT_LINE_LIMIT = 1024 * 1024


def status_of(fields: Fields) -> str:
    status = fields.text("status")
    if status not in STATUSES:
        raise fields.problem("status", f"is not a known status: {strict_json.shown(status)[:60]!r}")
    return status


def read_result(folder: Folder, job_id: str) -> tuple[str, tuple[JsonObject, ...]]:
    """Status and the runner's aggregates.

    The file also repeats every Trial's result and grows to hundreds of megabytes: those are read past, one
    at a time, and only found to be JSON.
    """
    file = join(folder.label, "result.json")
    kept: dict[str, Any] = {"aggregates": []}
    try:
        with folder.open_file("result.json") as source:
            for key, value in stream_json.members(source.read):
                if key == "aggregates" and value is not None:
                    kept[key].append(value)
                elif key in ("job_id", "status"):
                    kept[key] = value
    except NotStrictError as error:
        raise ImportProblemError(file, "", str(error)) from None
    fields = Fields(strict_json.checked(kept, file), file)
    if fields.text("job_id") != job_id:
        raise fields.problem("job_id", f"must be {job_id}, as in lock.json")
    aggregates = tuple(strict_json.without_nul(item.data) for item in fields.objects("aggregates"))
    return status_of(fields), aggregates


def read_times(folder: Folder) -> tuple[datetime | None, datetime | None]:
    """Timestamps of the first event and of the last `completed` event near the end; None where untold.

    Only the two ends of the file are read: it grows to gigabytes, and a kill tears its last line.
    """
    file = join(folder.label, "events.jsonl")
    with folder.open_file("events.jsonl") as source:
        head = source.read(EVENT_LINE_LIMIT)
        source.skip_to_last(EVENT_LINE_LIMIT)
        tail = (head + source.read(EVENT_LINE_LIMIT))[-EVENT_LINE_LIMIT:]
    started_at = None
    if head:
        first = Fields(strict_json.loads(head.partition(b"\n")[0], file), file)
        started_at = first.time("timestamp")
    return started_at, next(_completions(tail, file), None)


def _completions(tail: bytes, file: str) -> Iterator[datetime]:
    """Times of `completed` events, last first; lines that are torn or odd are passed over."""
    for line in reversed(tail.split(b"\n")):
        if b'"completed"' not in line:
            continue
        try:
            event = Fields(strict_json.loads(line, file), file)
            moment = event.time("timestamp") if event.data.get("type") == "completed" else None
        except ImportProblemError:
            continue
        if moment is not None:
            yield moment
