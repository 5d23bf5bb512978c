"""Times as they stand in manifests and records: ISO 8601 in UTC, to the second."""

from __future__ import annotations

from datetime import UTC, datetime

from benchmarks.domain.types import DomainError


def time_text(moment: datetime) -> str:
    """E.g. "2026-11-02T14:05:00Z". Raises DomainError for a time without a zone."""
    if moment.tzinfo is None:
        raise DomainError(f"The time {moment.isoformat()} has no time zone.")
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def parse_time(text: str) -> datetime | None:
    """None for what is no ISO 8601 time with a zone."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None
