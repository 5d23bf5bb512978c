"""The site with its blobs and uploads in an object store: recorded Jobs from the upload to the undo."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.core.files.storage import FileSystemStorage, storages
from django.core.management import call_command
from django.db import IntegrityError
from django.test import Client

from jobs import record, undo, uploads
from jobs.domain.retention import Rule
from jobs.models import Blob, Execution, ImportRun, Job, Trial
from jobs.removal import remove_files
from jobs.retention import set_rule
from jobs.trial_runs import MANIFEST
from jobs.trimming import apply_rule
from plural_site.accounts.models import Machine, Project, User
from plural_site.db import blobs
from tests.buckets import Bucket
from tests.importing import files_below
from tests.jobs.test_recorded_jobs import ARCHIVE
from tests.uploading import enqueue

if TYPE_CHECKING:
    from tests.conftest import ClientAs

PART = 500_000
HERE = "/projects/triage/imports"


@pytest.fixture(autouse=True)
def _nothing_on_disk(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file of blobs or uploads lands on this machine, whatever a test does."""
    assert not isinstance(storages["blobs"], FileSystemStorage)
    before = {name: files_below(name) for name in ("blobs", "uploads")}
    monkeypatch.setattr(uploads, "PART_SIZE", PART)
    yield
    assert {name: files_below(name) for name in before} == before


@pytest.fixture
def visitor(ben: User, client_as: ClientAs) -> Client:
    return client_as(ben)


@pytest.fixture
def run(project: Project, visitor: Client) -> ImportRun:
    """The recorded Jobs, sent in parts as the page's script does, and imported."""
    data = ARCHIVE.read_bytes()
    begun = visitor.post(f"{HERE}/uploads", {"name": ARCHIVE.name, "size": len(data)}).json()
    for number, start in enumerate(range(0, len(data), PART)):
        part = data[start : start + PART]
        answer = visitor.post(
            f"{begun['parts_href']}{number}",
            part,
            content_type="application/octet-stream",
            headers={"X-Part-SHA256": hashlib.sha256(part).hexdigest()},
        )
        assert answer.status_code == 200, answer.content
    run = ImportRun.objects.get()
    assert run.status == "queued"
    call_command("work", "--once")
    run.refresh_from_db()
    return run


def blob_keys(bucket: Bucket) -> set[str]:
    return {f"sha256:{key.rpartition('/')[2]}" for key in bucket.all_keys() if "/blobs/" in key}


def upload_keys(bucket: Bucket) -> list[str]:
    return [key for key in bucket.all_keys() if "/uploads/" in key]


def test_an_upload_lands_with_all_its_pages_and_is_undone(
    run: ImportRun, bucket: Bucket, visitor: Client, ben: User, project: Project
) -> None:
    assert (run.status, run.counts["added"], run.counts["trials"]) == ("done", 19, 270)
    assert files_below("scratch") == set()
    assert upload_keys(bucket) == []
    assert blob_keys(bucket) == set(Blob.objects.values_list("digest", flat=True)) != set()
    trial = Trial.objects.filter(executions__files__icontains="atif-trajectory").order_by("pk")[0]
    page = f"/projects/triage/trials/{trial.client_trial_id}"
    for path in ("/projects/triage", f"/projects/triage/jobs/{trial.job.client_job_id}", page):
        assert visitor.get(path).status_code == 200
    steps = visitor.get(f"{page}/trajectory")
    assert steps.status_code == 200
    assert b"steps/1" in steps.content
    assert visitor.get(f"{page}/receipt").status_code == 200
    _every_file_comes_as_it_was(visitor, page, trial)
    going = visitor.get(f"{HERE}/{run.pk}/undo")
    assert b"270" in going.content
    _undo(run, ben, project)
    assert not Job.objects.exists()
    assert bucket.all_keys() == []


def _every_file_comes_as_it_was(visitor: Client, page: str, trial: Trial) -> None:
    execution = trial.executions.get()
    for path, digest, _, size, *_ in execution.files:
        address = f"{page}/executions/{execution.number}/files/{path}"
        data = visitor.get(address).getvalue()
        assert f"sha256:{hashlib.sha256(data).hexdigest()}" in (digest, f"sha256:{digest}"), path
        if size > 10 and path != MANIFEST:
            part = visitor.get(address, headers={"Range": "bytes=5-9"})
            assert (part.status_code, part.getvalue()) == (206, data[5:10])


def _undo(run: ImportRun, ben: User, project: Project) -> None:
    """Files go when the transaction of the undoing has ended, which those of tests never do."""
    packs = list(Blob.objects.values_list("digest", flat=True))
    undo.undo(actor=ben, project=project, run_id=run.pk)
    remove_files(packs)


def test_pages_ask_the_store_for_little(run: ImportRun, bucket: Bucket, visitor: Client) -> None:
    """Each of these requests takes the time of a way to the store and back."""
    trial = Trial.objects.filter(executions__files__icontains="atif-trajectory").order_by("pk")[0]
    page = f"/projects/triage/trials/{trial.client_trial_id}"
    file = f"{page}/executions/0/files/{trial.executions.get().files[0][0]}"

    def asked(path: str) -> int:
        bucket.asked.clear()
        list(visitor.get(path, headers={"Accept": "*/*"}))
        return len(bucket.asked)

    board = asked("/projects/triage/benchmarks/support-triage@1.0.0")
    found = {"board": board, "trial": asked(page), "first": asked(f"{page}/trajectory")}
    found |= {"trajectory": asked(f"{page}/trajectory"), "file": asked(file)}
    assert found == {"board": 0, "trial": 4, "first": 4, "trajectory": 2, "file": 2}


def test_a_refused_job_leaves_no_file(
    project: Project, ben: User, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files go to the store before the rows are written, so that nobody waits for it in a transaction."""

    def refuse(*args: Any) -> None:
        raise IntegrityError("no such luck")

    monkeypatch.setattr(record, "record_figures", refuse)
    run = enqueue(project, ben, ARCHIVE.read_bytes(), ARCHIVE.name)
    call_command("work", "--once")
    run.refresh_from_db()
    assert (run.status, run.counts["refused"]) == ("failed", 19)
    assert not Blob.objects.exists()
    assert blob_keys(bucket) == set()


def test_a_store_that_is_away_fails_the_import_and_it_can_be_tried_again(
    project: Project, ben: User, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = enqueue(project, ben, ARCHIVE.read_bytes(), ARCHIVE.name)
    storage: Any = storages["blobs"]
    with monkeypatch.context() as patch:
        patch.setattr(storage, "bucket_name", "nowhere-to-be-found")
        with pytest.raises(OSError, match="NoSuchBucket"):  # as it looks for files to remove
            call_command("work", "--once")
    run.refresh_from_db()
    assert run.status == "failed"
    assert "could not be stored" in run.report["problems"][0]["message"]
    assert "the object store failed: NoSuchBucket" in run.report["problems"][0]["message"]
    assert not Job.objects.exists()
    uploads.retry(run)
    call_command("work", "--once")
    run.refresh_from_db()
    assert (run.status, Job.objects.count(), Execution.objects.count()) == ("done", 19, 275)
    assert blob_keys(bucket) == set(blobs.stored())


def test_a_retention_rule_writes_new_packs_into_the_bucket(
    run: ImportRun, project: Project, ben: User, bucket: Bucket, django_capture_on_commit_callbacks: Any
) -> None:
    before = {key: int(size) for key, size in Blob.objects.values_list("digest", "size")}
    set_rule(actor=ben, project=project, rule=Rule(None, 4, ("trajectories", "artifacts", "logs")))
    with django_capture_on_commit_callbacks(execute=True):
        done = list(apply_rule(project, Machine.WORKER))
    assert done
    assert {trimmed.problem for trimmed in done} == {""}
    after = dict(Blob.objects.values_list("digest", "size"))
    assert blob_keys(bucket) == set(after)
    assert sum(before.values()) - sum(after.values()) == sum(trimmed.size for trimmed in done)
    call_command("check_integrity", stdout=io.StringIO())


def test_a_part_sent_twice_at_once_is_kept_once(project: Project, ben: User, bucket: Bucket) -> None:
    data = b"x" * PART
    run = uploads.begin(project=project, actor=ben, name="a.tar", size=2 * PART, fingerprint="")
    sha256 = hashlib.sha256(data).hexdigest()
    for _ in range(2):
        uploads.add_part(run, 0, data, sha256)
    (key,) = upload_keys(bucket)
    assert key.endswith(run.parts.get().name)
    uploads.cancel(run)
    assert upload_keys(bucket) == []
    assert Path(settings.DATA_DIR).is_dir()
