"""What load balancers and monitoring systems are told, and by whom nobody else is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from jobs.models import ImportRun, Worker
from jobs.operations import operations
from plural_site import metrics, monitoring
from plural_site.accounts.models import Project, User
from tests.builders import make_job
from tests.importing import bring
from tests.uploading import enqueue

TOKEN = "0123456789" * 3


@pytest.fixture(autouse=True)
def _asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitoring, "_migrations", monitoring._Migrations())
    monkeypatch.setattr(monitoring, "_store", monitoring._Store())


@pytest.fixture
def _on(settings: Settings, tmp_path: Path) -> None:
    settings.METRICS_TOKEN = TOKEN


def _fail(*_: object) -> None:
    raise DatabaseError


@pytest.mark.django_db
def test_healthz_asks_the_database_and_nobody_who_asks(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok", "database": "ok"})
    with connection.execute_wrapper(_fail):
        response = client.get("/healthz")
    assert (response.status_code, response.json()["database"]) == (503, "unavailable")


@pytest.mark.django_db
def test_readyz_asks_for_all_that_a_page_needs(client: Client) -> None:
    whole = {"status": "ok", "database": "ok", "migrations": "ok", "blobs": "ok"}
    response = client.get("/readyz")
    assert (response.status_code, response.json()) == (200, whole)
    with connection.execute_wrapper(_fail):
        response = client.get("/readyz")
    gone = {"status": "unavailable", "database": "unavailable", "migrations": "unavailable"}
    assert (response.status_code, response.json()) == (503, whole | gone)


@pytest.mark.django_db
def test_readyz_waits_for_migrations(client: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'hub'")
    response = client.get("/readyz")
    assert (response.status_code, response.json()["migrations"]) == (503, "pending")


@pytest.mark.django_db
def test_readyz_does_not_ask_the_store_each_time(client: Client, settings: Settings, tmp_path: Path) -> None:
    blobs: dict[str, Any] = settings.STORAGES["blobs"]
    (tmp_path / "file").write_text("")
    options = blobs["OPTIONS"] | {"location": tmp_path / "file" / "blobs"}
    settings.STORAGES = settings.STORAGES | {"blobs": blobs | {"OPTIONS": options}}
    response = client.get("/readyz")
    assert (response.status_code, response.json()["blobs"]) == (503, "unavailable")
    settings.STORAGES = settings.STORAGES | {"blobs": blobs}
    assert client.get("/readyz").status_code == 503
    monitoring._store._until = 0.0
    assert client.get("/readyz").status_code == 200


@pytest.mark.django_db
def test_metrics_are_off_unless_a_token_is_set(client: Client) -> None:
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.django_db
@pytest.mark.usefixtures("_on")
def test_metrics_are_for_whoever_has_the_token(client: Client, project: Project, ann: User) -> None:
    client.force_login(ann)
    for given in (
        "",
        "Bearer",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}",
        "Bearer \u00e9",
    ):
        response = client.get("/metrics", headers={"Authorization": given} if given else {})
        assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert TOKEN.encode() not in response.content
    assert Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def _figures(client: Client) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    response = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415 - after its folder is set

    families = text_string_to_metric_families(response.content.decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.mark.usefixtures("_on")
def test_requests_are_counted_by_view_and_never_by_address(client: Client, project: Project) -> None:
    def count(route: str, status: int, method: str = "GET") -> float:
        labels = (("method", method), ("route", route), ("status", str(status)))
        return _figures(client).get(("plural_site_requests_total", labels), 0)

    before = {name: count(*name) for name in (("none", 404), ("jobs:project", 302), ("none", 404, "OTHER"))}
    for number in range(3):
        client.get(f"/no/such/{number}")
        client.get(f"/projects/p{number}")
    client.generic("BREW", "/no/such")
    after = {name: count(*name) - before[name] for name in before}
    assert after == {("none", 404): 3, ("jobs:project", 302): 3, ("none", 404, "OTHER"): 1}
    routes = {dict(labels).get("route", "") for _, labels in _figures(client)}
    assert not [route for route in routes if "such" in route]
    buckets = [dict(labels)["le"] for name, labels in _figures(client) if name.endswith("_seconds_bucket")]
    assert {"0.01", "30.0", "+Inf"} <= set(buckets)


@pytest.mark.usefixtures("_on")
def test_figures_of_the_queue_and_of_what_is_stored(
    client: Client, project: Project, ben: User, tmp_path: Path
) -> None:
    bring(project, make_job(tmp_path))
    run = enqueue(project, ben, b"x" * 100)
    ImportRun.objects.filter(pk=run.pk).update(beat_at=timezone.now() - timedelta(minutes=5))
    now = timezone.now()
    Worker.objects.create(name="a:1", beat_at=now)
    Worker.objects.create(name="b:2", beat_at=now - timedelta(minutes=1))
    found = _figures(client)
    assert found["plural_site_imports", (("status", "queued"),)] == 1
    assert found["plural_site_imports", (("status", "done"),)] == 1
    assert found["plural_site_imports", (("status", "failed"),)] == 0
    assert 300 <= found["plural_site_import_wait_seconds", ()] < 400
    assert found["plural_site_workers", ()] == 1
    assert found["plural_site_blobs", ()] == 1
    assert found["plural_site_blob_bytes", ()] > 100
    assert found["plural_site_database_bytes", ()] > 100_000


def test_a_worker_that_imports_counts_as_one(project: Project, ben: User) -> None:
    assert operations().workers == 0
    run = enqueue(project, ben, b"x" * 100)
    ImportRun.objects.filter(pk=run.pk).update(status="running")
    assert operations().workers == 1


COUNT = """
import django, sys
django.setup()
from plural_site import metrics
for _ in range(int(sys.argv[1])):
    metrics.count_request("GET", "jobs:board", 200, 0.02)
"""


def test_processes_count_together_and_an_end_loses_nothing(tmp_path: Path) -> None:
    kept = ("PATH", "HOME", "LANG", "VIRTUAL_ENV", "PYTHONPATH")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "plural_site.settings"}
    environment |= {"METRICS_TOKEN": TOKEN}

    def run(*code: str) -> str:
        command = [sys.executable, "-c", *code]
        done = subprocess.run(
            command, cwd=site.BASE_DIR, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    for times in ("3", "4"):
        run(COUNT, times)
    show = "import django; django.setup()\nfrom plural_site import metrics, monitoring\n"
    show += "print(metrics.package().generate_latest(metrics.registry()).decode())"
    name = 'plural_site_requests_total{method="GET",route="jobs:board",status="200"}'
    assert f"{name} 7.0" in run(show)
    metrics.forget(tmp_path / "metrics")
    assert name not in run(show)


def test_nothing_of_a_site_is_in_what_anybody_may_ask(db: None, client: Client) -> None:
    words = json.dumps([client.get(path).json() for path in ("/healthz", "/readyz")])
    assert set(re.findall(r"[a-z]+", words)) == {"status", "ok", "database", "migrations", "blobs"}
