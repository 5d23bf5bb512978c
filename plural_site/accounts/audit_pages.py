"""The audit log of a project or an account: filtered, page by page, and as files."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet

from plural_site.accounts.audit_words import sentence, verb_words
from plural_site.accounts.frame import Frame
from plural_site.accounts.models import Account, AuditEvent, Machine, Project
from plural_site.formats import clean_text, datetime_text, spreadsheet_text
from plural_site.http import paginate

PAGE_SIZE = 50
COLUMNS = (
    "time",
    "person",
    "email",
    "key",
    "verb",
    "words",
    "project",
    "object_type",
    "object_id",
    "object_digest",
    "detail",
)


@dataclass(frozen=True, slots=True)
class Filters:
    """`since` and `until` are days (UTC), both included. '' and None mean any."""

    who: str = ""
    verb: str = ""
    since: date | None = None
    until: date | None = None

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> Filters:
        """What makes no sense filters nothing."""
        who = query.get("who", "").strip()[:254]
        verb = query.get("verb", "")[:64]
        return cls(
            who="" if "\0" in who else who,
            verb=verb if re.fullmatch(r"[a-z0-9_.]+", verb) else "",
            since=_day(query.get("since", "")),
            until=_day(query.get("until", "")),
        )

    def query(self) -> dict[str, str]:
        values = {"who": self.who, "verb": self.verb, "since": _iso(self.since), "until": _iso(self.until)}
        return {name: value for name, value in values.items() if value}

    def apply(self, events: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        if self.who:
            events = events.filter(
                Q(actor__email__icontains=self.who)
                | Q(actor__name__icontains=self.who)
                | Q(actor_key__user__email__icontains=self.who)
                | Q(actor_key__user__name__icontains=self.who)
                | Q(actor_key__prefix=self.who)
                | Q(machine__in=_machines(self.who))
            )
        if self.verb:
            events = events.filter(verb=self.verb)
        if self.since:
            events = events.filter(created_at__gte=_start(self.since))
        if self.until:
            events = events.filter(created_at__lt=_start(self.until) + timedelta(days=1))
        return events


@dataclass(frozen=True, slots=True)
class VerbChoice:
    value: str
    words: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class EventRow:
    """`key` is the start of the API key that acted for the person, or ''."""

    when: str
    iso: str
    who: str
    email: str
    key: str
    what: str
    project: str
    verb: str


@dataclass(frozen=True, slots=True)
class AuditPage:
    frame: Frame
    rows: tuple[EventRow, ...]
    verbs: tuple[VerbChoice, ...]
    who: str
    since: str
    until: str
    is_filtered: bool
    clear_href: str
    next_href: str
    csv_href: str
    json_href: str
    shows_project: bool


def project_events(project: Project) -> QuerySet[AuditEvent]:
    return AuditEvent.objects.filter(project=project)


def account_events(account: Account) -> QuerySet[AuditEvent]:
    """Those of its projects too, deleted ones included."""
    return AuditEvent.objects.filter(account=account)


def audit_page(
    frame: Frame, events: QuerySet[AuditEvent], query: Mapping[str, str], path: str, *, shows_project: bool
) -> AuditPage:
    """`path` is the address of the page, without a query."""
    filters = Filters.parse(query)
    found = paginate(
        _with_names(filters.apply(events)),
        order=["-created_at"],
        cursor=query.get("cursor"),
        size=PAGE_SIZE,
    )
    verbs = events.order_by("verb").values_list("verb", flat=True).distinct()
    chosen = filters.query()
    suffix = f"?{urlencode(chosen)}" if chosen else ""
    following = {**chosen, "cursor": found.next_cursor} if found.next_cursor else {}
    return AuditPage(
        frame=frame,
        rows=tuple(_row(event) for event in found.items),
        verbs=tuple(VerbChoice(verb, verb_words(verb), verb == filters.verb) for verb in verbs),
        who=filters.who,
        since=_iso(filters.since),
        until=_iso(filters.until),
        is_filtered=bool(chosen),
        clear_href=path,
        next_href=f"{path}?{urlencode(following)}" if following else "",
        csv_href=f"{path}.csv{suffix}",
        json_href=f"{path}.json{suffix}",
        shows_project=shows_project,
    )


def audit_csv(events: QuerySet[AuditEvent], query: Mapping[str, str]) -> Iterator[str]:
    """UTF-8 text with a header line, newest first. Text that a spreadsheet might run is quoted by "'"."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for values in _export(events, query):
        detail = json.dumps(values["detail"], ensure_ascii=False)
        cells = {**values, "detail": detail}
        writer.writerow([spreadsheet_text(str(cells[name] or "")) for name in COLUMNS])
        yield target.getvalue()
        target.seek(0)
        target.truncate()
    yield target.getvalue()


def audit_json(events: QuerySet[AuditEvent], query: Mapping[str, str]) -> Iterator[str]:
    """`{"events": [...]}`, newest first."""
    before = '{"events": ['
    for values in _export(events, query):
        yield f"{before}\n{json.dumps(values, ensure_ascii=False)}"
        before = ","
    yield f"{before if before != ',' else ''}\n]}}\n"


def _export(events: QuerySet[AuditEvent], query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    found = _with_names(Filters.parse(query).apply(events)).order_by("-created_at", "-pk")
    for event in found.iterator(chunk_size=500):
        row = _row(event)
        yield {
            "time": row.iso,
            "person": row.who,
            "email": row.email,
            "key": row.key or None,
            "verb": event.verb,
            "words": row.what,
            "project": event.project_slug,
            "object_type": event.object_type,
            "object_id": event.object_id,
            "object_digest": event.object_digest or None,
            "detail": event.detail,
        }


def _with_names(events: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
    return events.select_related("actor", "actor_key__user", "project")


def _row(event: AuditEvent) -> EventRow:
    key = event.actor_key
    person = key.user if key else event.actor
    slug = event.project.slug if event.project else event.project_slug or ""
    return EventRow(
        when=datetime_text(event.created_at),
        iso=event.created_at.astimezone(UTC).isoformat(),
        who=clean_text(str(person)) if person else event.get_machine_display(),
        email=clean_text(person.email) if person else "",
        key=f"{key.prefix}…" if key else "",
        what=sentence(event.verb, event.detail, event.object_type, event.object_id),
        project=f"{slug}, deleted" if slug and event.project is None else slug,
        verb=event.verb,
    )


def _machines(who: str) -> list[str]:
    return [value for value, label in Machine.choices if who.lower() in label]


def _start(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


def _day(text: str) -> date | None:
    """A day that a database can compare with; years at either end of the calendar are none."""
    if not re.fullmatch(r"[12]\d{3}-\d{2}-\d{2}", text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _iso(day: date | None) -> str:
    return day.isoformat() if day else ""
