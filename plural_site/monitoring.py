"""What load balancers and monitoring systems ask: does it live, can it serve, how does it do."""

from __future__ import annotations

import hmac
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from jobs.operations import operations
from plural_site import metrics as request_metrics
from plural_site.db import blobs
from plural_site.db.sizes import database_bytes

if TYPE_CHECKING:
    from prometheus_client import Metric

OK, UNAVAILABLE = "ok", "unavailable"
STORE_SECONDS = 5.0
"""How long the answer of the store is believed: anybody may ask for it, and asking may cost money."""


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers, else 503."""
    return _answer({"database": _database()})


@login_not_required
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers, has every migration, and blobs can be reached; else 503."""
    database = _database()
    migrations = _migrations() if database == OK else UNAVAILABLE
    return _answer({"database": database, "migrations": migrations, "blobs": _store.state()})


def _answer(parts: dict[str, str]) -> JsonResponse:
    is_ok = all(state == OK for state in parts.values())
    return JsonResponse({"status": OK if is_ok else UNAVAILABLE, **parts}, status=200 if is_ok else 503)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return UNAVAILABLE
    return OK


class _Migrations:
    """Asked until they are all there: nobody takes one back under a running process."""

    def __init__(self) -> None:
        self._are_done = False

    def __call__(self) -> str:
        if not self._are_done:
            try:
                executor = MigrationExecutor(connection)
            except DatabaseError:
                return UNAVAILABLE
            self._are_done = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        return OK if self._are_done else "pending"


class _Store:
    def __init__(self) -> None:
        self._state, self._until = "", 0.0

    def state(self) -> str:
        if time.monotonic() >= self._until:
            try:
                blobs.check()
                self._state = OK
            except OSError:
                self._state = UNAVAILABLE
            self._until = time.monotonic() + STORE_SECONDS
        return self._state


_migrations, _store = _Migrations(), _Store()


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Figures in the format of Prometheus, for whoever has METRICS_TOKEN; 404 where none is set."""
    if not settings.METRICS_TOKEN:
        raise Http404("Metrics are off.")
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    expected = settings.METRICS_TOKEN.encode()
    if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), expected):
        refused = HttpResponse("Send METRICS_TOKEN as `Authorization: Bearer TOKEN`.\n", status=401)
        refused.headers["WWW-Authenticate"] = "Bearer"
        refused.headers["Content-Type"] = "text/plain; charset=utf-8"
        return refused
    client, registry = request_metrics.package(), request_metrics.registry()
    registry.register(_Operations())
    return HttpResponse(client.generate_latest(registry), content_type=client.CONTENT_TYPE_LATEST)


class _Operations:
    """Figures of the database, taken when they are asked for."""

    def collect(self) -> Iterator[Metric]:
        family = request_metrics.package().core.GaugeMetricFamily
        found = operations()
        imports = family("plural_site_imports", "Imports by status.", labels=["status"])
        for status, count in found.imports.items():
            imports.add_metric([status], count)
        yield imports
        for name, text, value in (
            ("import_wait_seconds", "How long the import that waits longest has waited.", found.oldest_wait),
            ("workers", "Workers heard of within half a minute.", found.workers),
            ("blobs", "Stored blobs.", found.blobs),
            ("blob_bytes", "Bytes of stored blobs.", found.blob_bytes),
            ("database_bytes", "Bytes of the database.", database_bytes()),
        ):
            yield family(f"plural_site_{name}", text, value=value)
