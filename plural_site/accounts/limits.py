"""How many requests a minute a key, or an IP address without a sign-in, may send.

A sliding minute: this minute's count, and the last one's weighted by how much of it lies within the last
60 seconds. Counts are shared by all processes through the database, with few writes: a process counts
`SLACK` of the limit on its own before it tells anybody, and then takes requests in blocks that double up to
`LARGEST_BLOCK` of the limit. So a client below a tenth of the limit costs no write at all, a busy one about
one in thirty requests at the default limit. In return the limit is exact for one process only; with several
it may come up to a tenth later for each of them, or sooner by the blocks not yet used.
"""

from __future__ import annotations

import ipaddress
import math
import random
import threading
import time
from dataclasses import dataclass

from django.conf import settings
from django.db import OperationalError, transaction
from django.http import HttpRequest

from plural_site.accounts.models import RequestCount

MINUTE = 60  # seconds
SLACK = 10
LARGEST_BLOCK = 20
MOST_SUBJECTS = 10_000
SWEEP_SHARE = 0.002


class TooManyRequestsError(Exception):
    """`retry_after`: seconds, at least 1."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Too many requests. Try again in {retry_after} s.")
        self.retry_after = retry_after


def room(limit: int, before: int, count: int, second: float) -> int:
    """How many more requests fit, `second` seconds (0 to 60) into the minute."""
    return max(0, math.floor(limit - count - before * (1 - second / MINUTE)))


def seconds_until_room(limit: int, before: int, count: int, second: float) -> int:
    """When one more request fits, in whole seconds from now, at least 1."""
    if limit < 1:
        return MINUTE
    if count < limit and before:  # later in this minute, as the last one's requests fall out of sight
        fits_at = MINUTE * (1 - (limit - count - 1) / before)
        if fits_at < MINUTE:
            return max(1, math.ceil(fits_at - second))
    fits_at = 0.0 if count < limit else MINUTE * (1 - (limit - 1) / count)
    return max(1, math.ceil(MINUTE - second + fits_at))


@dataclass(slots=True)
class _Local:
    """What this process knows of one subject in one minute."""

    minute: int
    used: int = 0
    untold: int = 0
    """Used, and not in the database yet."""
    taken: int = 0
    """In the database, and not used yet."""
    refused_until: float = 0.0


_known: dict[str, _Local] = {}
_lock = threading.Lock()


def check(subject: str, limit: int) -> None:
    """Counts a request of `subject`. Raises TooManyRequestsError. A limit of 0 is none."""
    if limit == 0:
        return
    now = time.time()
    minute, second = divmod(now, MINUTE)
    with _lock:
        local = _known.get(subject)
        if local is None or local.minute != minute:
            if len(_known) >= MOST_SUBJECTS:
                _known.clear()
            refused_until = local.refused_until if local else 0.0
            local = _known[subject] = _Local(int(minute), refused_until=refused_until)
        if now < local.refused_until:
            raise TooManyRequestsError(max(1, math.ceil(local.refused_until - now)))
        local.used += 1
        if local.taken:
            local.taken -= 1
            return
        if local.used <= limit // SLACK:
            local.untold += 1
            return
        untold, local.untold = local.untold, 0
        block = max(1, min(local.used, limit // LARGEST_BLOCK))
    if random.random() < SWEEP_SHARE:  # noqa: S311 - no secret
        _forget_old(int(minute))
    got, retry_after = _take(subject, limit, untold, block, minute=int(minute), second=second)
    with _lock:
        local.taken += max(0, got - 1)
        if not got:
            local.refused_until = now + retry_after
    if not got:
        raise TooManyRequestsError(retry_after)


def forget() -> None:
    """Drops what this process has counted, for tests."""
    with _lock:
        _known.clear()


def _take(
    subject: str, limit: int, untold: int, block: int, *, minute: int, second: float
) -> tuple[int, int]:
    """How many of `block` requests are granted, and, for none, after how many seconds one is."""
    try:
        with transaction.atomic():
            RequestCount.objects.bulk_create(
                [RequestCount(subject=subject, minute=minute, count=0, before=0)], ignore_conflicts=True
            )
            row = RequestCount.objects.select_for_update().get(subject=subject)
            if row.minute != minute:
                row.before = row.count if row.minute == minute - 1 else 0
                row.count, row.minute = 0, minute
            row.count += untold
            got = min(block, room(limit, row.before, row.count, second))
            row.count += got
            row.save()
            if got:
                return got, 0
            return 0, seconds_until_room(limit, row.before, row.count, second)
    except OperationalError:  # the database is locked by a long write: counting is not worth an error
        return 1, 0


def _forget_old(minute: int) -> None:
    try:
        with transaction.atomic():
            old = RequestCount.objects.filter(minute__lt=minute - 60)
            found = list(old.select_for_update(skip_locked=True).values_list("pk", flat=True)[:1000])
            RequestCount.objects.filter(pk__in=found).delete()
    except OperationalError:
        return


def client_ip(request: HttpRequest) -> str:
    """Whoever sent the request, as the outermost of our own proxies saw them; IPv6 by its /64 network.

    The header is believed as far as settings.PROXIES says: anybody can put more in front of it.
    """
    address = request.META.get("REMOTE_ADDR", "")
    if settings.PROXIES:
        seen = [
            part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()
        ]
        if len(seen) >= settings.PROXIES:
            address = seen[-settings.PROXIES]
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed.packed, 64), strict=False))
    return str(parsed)
