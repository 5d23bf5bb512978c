"""Slows down guessing of passwords, by address and by IP address, without ever locking anybody out.

The first tries are free; then each failure doubles the wait, up to a bound. Tries during a wait are
refused unread and don't lengthen it, and an hour without failures forgets them all. The bound is short for
an address, so that strangers can't keep its owner out for long, and longer for an IP address. A sign-in
link works all the while.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from plural_site.accounts.models import Throttle


@dataclass(frozen=True, slots=True)
class Rule:
    free: int
    """Failures without a wait."""
    first: timedelta
    longest: timedelta
    forgotten_after: timedelta = timedelta(hours=1)


BY_ADDRESS = Rule(free=5, first=timedelta(seconds=5), longest=timedelta(minutes=2))
BY_IP = Rule(free=20, first=timedelta(seconds=5), longest=timedelta(minutes=15))


def wait(rule: Rule, failures: int, last_at: datetime, now: datetime) -> timedelta:
    """How long from `now` on the next try has to wait."""
    since = now - last_at
    if failures < rule.free or since >= rule.forgotten_after:
        return timedelta(0)
    doublings = min(failures - rule.free, 30)
    whole: timedelta = min(rule.first * 2**doublings, rule.longest)
    return max(whole - since, timedelta(0))


def wait_text(left: timedelta) -> str:
    """E.g. "1 second", "2 minutes", rounded up."""
    seconds = max(1, math.ceil(left.total_seconds()))
    number, unit = (seconds, "second") if seconds < 120 else (math.ceil(seconds / 60), "minute")
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


@dataclass(frozen=True, slots=True)
class Try:
    """A try that was let through and counts as failed until `succeeded` is called."""

    address: str
    ip: str

    def succeeded(self) -> None:
        """The address is cleared; of the IP address only this try is taken back, whoever it was."""
        Throttle.objects.filter(subject=self.address).delete()
        Throttle.objects.filter(subject=self.ip, failures__gt=0).update(failures=F("failures") - 1)


@transaction.atomic
def begin_try(*, purpose: str, address: str, ip: str) -> Try | timedelta:
    """Counts a try, or says how long to wait. Counted first, so that tries side by side are all seen."""
    now = timezone.now()
    address_subject = _subject(purpose, "address", address.strip().lower())
    ip_subject = _subject(purpose, "ip", ip)
    rules = {address_subject: BY_ADDRESS, ip_subject: BY_IP}
    rows = []
    for subject, rule in sorted(rules.items()):  # in one order, so that two tries can't wait for each other
        Throttle.objects.bulk_create(
            [Throttle(subject=subject, failures=0, last_at=now)], ignore_conflicts=True
        )
        rows.append((Throttle.objects.select_for_update().get(subject=subject), rule))
    left = max(wait(rule, row.failures, row.last_at, now) for row, rule in rows)
    if left:
        return left
    for row, rule in rows:
        row.failures = 1 if now - row.last_at >= rule.forgotten_after else row.failures + 1
        row.last_at = now
        row.save()
    return Try(address_subject, ip_subject)


def _subject(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()


@transaction.atomic
def forget_old() -> None:
    """Removes what no longer counts; called now and then."""
    old = Throttle.objects.filter(last_at__lt=timezone.now() - timedelta(days=1))
    found = list(old.select_for_update(skip_locked=True).values_list("pk", flat=True)[:1000])
    Throttle.objects.filter(pk__in=found).delete()
