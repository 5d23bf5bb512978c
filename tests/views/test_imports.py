"""Uploads without a script, and the pages of imports."""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.signals import request_finished
from django.test import Client
from django.utils import timezone

from jobs import uploads
from jobs.models import ImportRun, Job, UploadPart
from plural_site.accounts.models import AuditEvent, Project, User
from tests.builders import BenchmarkSpec, change, make_job, track
from tests.importing import files_below

if TYPE_CHECKING:
    from tests.conftest import ClientAs

HERE = "/projects/triage/imports"
BENCHMARK = BenchmarkSpec(tracks=(track(),))


@pytest.fixture(autouse=True)
def _no_uploads() -> Iterator[None]:
    """Rows of a test are rolled back, files are not."""
    yield
    for folder in (Path(settings.DATA_DIR) / "uploads").glob("[0-9]*"):
        shutil.rmtree(folder)


def packed(folder: Path) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        archive.add(folder, arcname=folder.name)
    return out.getvalue()


@pytest.fixture
def archive(tmp_path: Path) -> bytes:
    """Two Jobs."""
    for key in ("a", "b"):
        make_job(tmp_path / "jobs", benchmark=BENCHMARK, track_id="open", key=key)
    return packed(tmp_path / "jobs")


def send(browser: Client, data: bytes, name: str = "jobs.tar.gz") -> ImportRun:
    answer = browser.post(f"{HERE}/new", {"archive": SimpleUploadedFile(name, data)})
    run = ImportRun.objects.latest("pk")
    assert answer.status_code == 302, answer.content.decode()
    assert answer["Location"] == f"{HERE}/{run.pk}"
    return run


def work() -> None:
    call_command("work", "--once")


def text(browser: Client, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_archive_of_a_form_is_queued_and_lands(
    archive: bytes, project: Project, ben: User, client_as: ClientAs
) -> None:
    browser = client_as(ben)
    run = send(browser, archive)
    assert (run.status, run.actor, run.size, run.received) == ("queued", ben, len(archive), len(archive))
    waiting = text(browser, f"{HERE}/{run.pk}")
    assert "python manage.py work" in waiting
    assert 'hx-trigger="every 2s"' in waiting
    work()
    run.refresh_from_db()
    assert (run.status, run.counts["added"], run.jobs_found, run.jobs_done) == ("done", 2, 2, 2)
    assert files_below("uploads") == set()
    assert not UploadPart.objects.exists()
    page = text(browser, f"{HERE}/{run.pk}")
    for job in Job.objects.visible(project):
        assert f"/projects/triage/jobs/{job.client_job_id}" in page
    assert "hx-trigger" not in page
    assert "Ben" in page
    verbs = AuditEvent.objects.filter(verb__startswith="import.").order_by("pk").values_list("verb", "actor")
    assert list(verbs) == [("import.start", ben.pk), ("import.done", ben.pk)]


def test_form_refuses_what_is_no_archive_or_too_large(
    project: Project, ben: User, client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = client_as(ben)
    for name, data, words in (
        ("notes.txt", b"hello", "Choose a .tar.gz"),
        ("empty.zip", b"", "empty"),
    ):
        answer = browser.post(f"{HERE}/new", {"archive": SimpleUploadedFile(name, data)})
        assert answer.status_code == 422
        assert words in answer.content.decode()
    monkeypatch.setattr(settings, "UPLOAD_LIMIT", 1000)
    answer = browser.post(f"{HERE}/new", {"archive": SimpleUploadedFile("a.zip", bytes(1001))})
    assert (answer.status_code, "at most 1.0" in answer.content.decode()) == (422, True)
    answer = browser.post(f"{HERE}/new", {"archive": SimpleUploadedFile("a.zip", bytes(1_100_000))})
    assert answer.status_code == 422
    assert not ImportRun.objects.exists()
    assert files_below("uploads") == set()


def test_file_sent_to_any_other_page_is_not_kept(project: Project, ben: User, client_as: ClientAs) -> None:
    seen: list[str] = []

    def watch(sender: object, **kwargs: object) -> None:
        seen.extend(files_below("uploads"))

    request_finished.connect(watch)
    try:
        client_as(ben).post("/theme", {"x": SimpleUploadedFile("a.zip", bytes(100_000)), "theme": "dark"})
    finally:
        request_finished.disconnect(watch)
    assert seen == []


def begin(browser: Client, data: bytes, **changes: str) -> dict[str, Any]:
    sent = {"name": "jobs.tar", "size": str(len(data)), "fingerprint": "a" * 64, **changes}
    answer = browser.post(f"{HERE}/uploads", sent)
    assert answer.status_code == 200, answer.content.decode()
    found: dict[str, Any] = answer.json()
    return found


def put(browser: Client, begun: Mapping[str, Any], number: int, data: bytes, sha: str = "") -> int:
    return browser.post(
        f"{begun['parts_href']}{number}",
        data,
        content_type="application/octet-stream",
        headers={"X-Part-SHA256": sha or hashlib.sha256(data).hexdigest()},
    ).status_code


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(uploads, "PART_SIZE", 1000)
    return 1000


def test_parts_are_checked_kept_once_and_go_on_where_they_stopped(
    archive: bytes, small_parts: int, project: Project, ben: User, ann: User, client_as: ClientAs
) -> None:
    browser = client_as(ben)
    parts = [archive[at : at + small_parts] for at in range(0, len(archive), small_parts)]
    begun = begin(browser, archive, name="jobs.tar.gz")
    assert (begun["part_size"], begun["first"]) == (1000, 0)
    assert put(browser, begun, 0, parts[0], sha="0" * 64) == 422
    assert put(browser, begun, 0, parts[0][:-1]) == 422
    assert put(browser, begun, 0, parts[0] + b"x") == 422
    assert put(browser, begun, len(parts), parts[0]) == 422
    assert put(client_as(ann), begun, 0, parts[0]) == 404
    assert files_below("uploads") == set()
    assert [put(browser, begun, at, parts[at]) for at in (0, 1, 1, 3)] == [200] * 4
    assert len(files_below("uploads")) == 3
    again = begin(browser, archive, name="jobs.tar.gz")
    assert (again["href"], again["first"]) == (begun["href"], 2)
    assert begin(browser, archive, name="jobs.tar.gz", fingerprint="b" * 64)["href"] != begun["href"]
    assert begin(client_as(ann), archive, name="jobs.tar.gz")["href"] != begun["href"]
    assert "jobs.tar.gz" in text(browser, f"{HERE}/new")
    assert "Unfinished" in text(browser, f"{HERE}/new")
    for at in (2, *range(4, len(parts))):
        assert put(browser, begun, at, parts[at]) == 200
    run = ImportRun.objects.get(status="queued")
    again = begin(browser, archive, name="jobs.tar.gz")
    assert (again["href"], again["first"]) == (begun["href"], len(parts))
    assert put(browser, begun, 0, parts[0]) == 200  # as if the answer had been lost
    assert put(browser, begun, 0, parts[1]) == 422
    assert len(files_below("uploads")) == len(parts)
    work()
    run.refresh_from_db()
    assert (run.status, run.counts["added"]) == ("done", 2)
    assert put(browser, begun, len(parts) - 1, parts[-1]) == 200
    assert files_below("uploads") == set()
    assert begin(browser, archive, name="jobs.tar.gz")["href"] != begun["href"]


def test_zip_is_read_from_its_parts(
    archive: bytes, small_parts: int, project: Project, ben: User, client_as: ClientAs, tmp_path: Path
) -> None:
    packed_again = io.BytesIO()
    with zipfile.ZipFile(packed_again, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted((tmp_path / "jobs").rglob("*")):
            target.write(path, path.relative_to(tmp_path))
    run = send(client_as(ben), packed_again.getvalue(), "jobs.zip")
    assert run.parts.count() > 5
    work()
    run.refresh_from_db()
    assert (run.status, run.counts["added"]) == ("done", 2)


def test_cancelled_upload_leaves_nothing(
    archive: bytes, project: Project, ben: User, client_as: ClientAs
) -> None:
    browser = client_as(ben)
    run = send(browser, archive)
    assert browser.post(f"{HERE}/{run.pk}/cancel").status_code == 302
    run.refresh_from_db()
    assert (run.status, files_below("uploads")) == ("cancelled", set())
    work()
    assert not Job.objects.exists()
    browser.post(f"{HERE}/{run.pk}/cancel")
    begun = {"parts_href": f"{HERE}/{run.pk}/parts/"}
    assert put(browser, begun, 0, archive) == 422
    assert "too late to cancel" in text(browser, f"{HERE}/{run.pk}")


def test_old_unfinished_upload_goes_and_a_young_one_stays(
    archive: bytes, small_parts: int, project: Project, ben: User, client_as: ClientAs
) -> None:
    browser = client_as(ben)
    for print_ in ("a", "b"):
        put(browser, begin(browser, archive, fingerprint=print_ * 64), 0, archive[:1000])
    old, young = ImportRun.objects.order_by("pk")
    ImportRun.objects.filter(pk=old.pk).update(beat_at=timezone.now() - timedelta(days=8))
    folder = Path(settings.DATA_DIR) / "uploads"
    (folder / "999999").mkdir()
    (folder / "999999" / "000000").write_bytes(b"of nobody")
    work()
    assert list(ImportRun.objects.order_by("pk").values_list("status", flat=True)) == [
        "cancelled",
        "uploading",
    ]
    assert files_below("uploads") == {young.parts.get().name}
    assert old.pk


def test_failed_import_names_file_and_field_and_can_be_tried_again(
    tmp_path: Path, project: Project, ben: User, client_as: ClientAs
) -> None:
    good, bad = (make_job(tmp_path / "jobs", benchmark=BENCHMARK, track_id="open", key=key) for key in "ab")
    trial = next(bad.glob("trials/*/result.json"))
    change(trial, "status", 5)
    browser = client_as(ben)
    run = send(browser, packed(tmp_path / "jobs"))
    work()
    run.refresh_from_db()
    assert (run.status, run.counts["added"], run.counts["refused"]) == ("failed", 1, 1)
    page = text(browser, f"{HERE}/{run.pk}")
    assert f"trials/{trial.parent.name}/result.json" in page
    assert "field <code>status</code>" in page
    assert "Mend the file" in page
    assert "1 added, 1 left out" in text(browser, HERE)
    assert browser.post(f"{HERE}/{run.pk}/retry").status_code == 302
    work()
    run.refresh_from_db()
    assert (run.status, run.counts["unchanged"], run.counts["refused"]) == ("failed", 1, 1)
    uploads.drop_parts(run)
    browser.post(f"{HERE}/{run.pk}/retry")
    assert "no longer here" in text(browser, f"{HERE}/{run.pk}")
    assert good.name in text(browser, f"{HERE}/{run.pk}")


def test_page_of_a_hostile_report_is_harmless(project: Project, ben: User, client_as: ClientAs) -> None:
    evil = "<script>x</script>\x1b[31m\u202e"
    problem = {"file": evil, "field": evil, "message": evil}
    job = {
        "folder": evil,
        "job_id": evil,
        "result": "refused",
        "notes": [{"file": evil, "field": "", "message": evil}],
    }
    run = ImportRun.objects.create(
        project=project,
        source=evil,
        status="failed",
        beat_at=timezone.now(),
        finished_at=timezone.now(),
        report={"jobs": [job] * 250, "problems": [problem] * 100, "notes": [problem], "revisions": [evil]},
    )
    browser = client_as(ben)
    for path in (HERE, f"{HERE}/{run.pk}", f"{HERE}/{run.pk}?from=200", f"{HERE}/{run.pk}?from=-1"):
        page = text(browser, path)
        assert "<script>x" not in page
        assert "\x1b" not in page
    assert "and 80 more" in page
    assert "Jobs 1 to 100 of 250" in page


def test_list_pages_by_cursor_and_says_when_it_is_empty(
    project: Project, cy: User, ben: User, client_as: ClientAs
) -> None:
    assert "A member who may write" in text(client_as(cy), HERE)
    assert "No imports yet" in text(client_as(ben), HERE)
    for number in range(60):
        ImportRun.objects.create(
            project=project, source=f"file-{number}.zip", status="done", beat_at=timezone.now()
        )
    first = text(client_as(cy), HERE)
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following
    second = text(client_as(cy), unescape(following[1]))
    shown = [set(re.findall(r"file-\d+\.zip", page)) for page in (first, second)]
    assert [len(names) for names in shown] == [50, 10]
    assert not shown[0] & shown[1]
