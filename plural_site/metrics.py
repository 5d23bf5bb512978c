"""Counts of requests for a monitoring system, kept by all web processes together.

Each process writes into files of its own in METRICS_DIR, which whoever is asked for the figures adds up. The
package is an extra, so it is loaded only where METRICS_TOKEN turns this on.
"""

# ruff: noqa: PLC0415 - the package asks for its folder when it is loaded, and may not be there

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from django.conf import settings

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Histogram

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class _Counts(NamedTuple):
    requests: Counter
    seconds: Histogram


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """`route` names a view, so that there are as many figures as views, whatever addresses are tried."""
    counts = _counts()
    counts.requests.labels(method, route, str(status)).inc()
    counts.seconds.labels(route).observe(seconds)


def registry() -> CollectorRegistry:
    """What all processes have counted."""
    client = package()
    found: CollectorRegistry = client.CollectorRegistry()
    client.multiprocess.MultiProcessCollector(found)
    return found


@cache
def package() -> ModuleType:
    """prometheus_client. Only through here: as it is loaded it looks for the folder that processes share."""
    folder = Path(settings.METRICS_DIR)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    import prometheus_client.core
    import prometheus_client.multiprocess

    return prometheus_client


def forget(folder: Path) -> None:
    """Drops what earlier processes counted. Only while none runs."""
    shutil.rmtree(folder, ignore_errors=True)


@cache
def _counts() -> _Counts:
    client = package()
    own = client.CollectorRegistry()
    return _Counts(
        client.Counter("plural_site_requests", "Requests.", ["method", "route", "status"], registry=own),
        client.Histogram(
            "plural_site_request_seconds",
            "Time until a request's answer began.",
            ["route"],
            buckets=SECONDS,
            registry=own,
        ),
    )
