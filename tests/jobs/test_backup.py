"""Backups: whole or none, taken from a moment, put back as they were, on both databases."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import signal
import stat
import tarfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection, connections, models, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from benchmarks.models import Resource
from hub.models import Draft, Manifest, ManifestRecord, Publication
from jobs import backup as backing
from jobs import undo
from jobs.backup import back_up
from jobs.backup_contents import BLOBS, HEADER, LEFT_OUT, ROWS, UPLOADS, check
from jobs.file_holds import end_dead, files_are_held, holding
from jobs.imports import import_path
from jobs.models import Blob, FileHold, ImportRun, Job, RetentionRule, UploadPart, Worker
from jobs.removal import remove_files
from jobs.restore import restore
from jobs.search_texts import index_texts
from jobs.uploads import drop_parts
from plural_site.accounts.actions import create_api_key, create_project, create_user, personal_account
from plural_site.accounts.models import BrowserSession, Project, User
from plural_site.db import blobs
from plural_site.db.backup_file import BLOCK, BackupError, Reader, Writer, canonical, header
from plural_site.db.frozen import missing_triggers, thaw
from plural_site.db.portable import PLAIN, columns_of, converted, encoders, kind_of, line, tables
from tests.buckets import Bucket
from tests.builders import START, AgentSpec, BenchmarkSpec, make_job, track
from tests.importing import bring, files_below
from tests.sites import SEED, Site, fresh_postgresql
from tests.uploading import enqueue

SPEC = BenchmarkSpec(tracks=(track(),))
Rows = dict[str, list[list[Any]]]
FOLDERS = ("blobs", "uploads", "scratch")


def quiet(text: str) -> None:
    """Says nothing."""


@pytest.fixture(autouse=True)
def _no_files() -> Iterator[None]:
    _remove_stored()
    yield
    _remove_stored()


def _remove_stored() -> None:
    for name in FOLDERS:
        shutil.rmtree(Path(settings.DATA_DIR) / name, ignore_errors=True)


def dump() -> Rows:
    """Every row of every table that a backup holds, as JSON has it."""
    found: Rows = {}
    for model in tables(apps, LEFT_OUT):
        columns = columns_of(model)
        query = model._base_manager.order_by("pk").values_list(*(column.attname for column in columns))
        change = encoders(columns)
        found[model._meta.label_lower] = [json.loads(line(converted(row, change))) for row in query]
    return found


def bytes_below(name: str) -> dict[str, str]:
    root = Path(settings.DATA_DIR) / name
    return {path: hashlib.sha256((root / path).read_bytes()).hexdigest() for path in files_below(name)}


def wipe() -> None:
    """What a new installation has: tables without rows, and no files."""
    for own in connections.all():
        thaw(own)
    call_command("flush", verbosity=0, interactive=False)
    _remove_stored()


@pytest.fixture
def full(transactional_db: None, tmp_path: Path) -> Project:
    """A project with something in every kind of table, and every kind of value in its columns."""
    ann = create_user(email="ann@example.org", name="Änn\u202e “x”", password="correct horse battery")
    project = create_project(actor=ann, account=personal_account(ann), slug="triage", notice="\t\n\\ é")
    create_api_key(actor=ann, account=project.account, project=project)
    agents = [AgentSpec(name="a", harness="loop"), AgentSpec(name="b", model="sim/two")]
    make_job(tmp_path / "jobs", benchmark=SPEC, agents=agents, track_id="open")
    make_job(tmp_path / "jobs", single_task="alone")
    make_job(tmp_path / "jobs", single_task="other")
    bring(project, tmp_path / "jobs")
    index_texts(Job.objects.values_list("pk", flat=True))
    RetentionRule.objects.create(project=project, keep_days=9999, kinds=["logs"], set_by=ann, set_at=START)
    enqueue(project, ann, bytes(range(256)) * 50)
    _publish(project, ann)
    BrowserSession.objects.create(
        session_key="k" * 32,
        session_data="private",
        expire_date=timezone.now() + timedelta(days=1),
        last_seen_at=timezone.now(),
    )
    Worker.objects.create(name="here:1", beat_at=timezone.now())
    return project


def _publish(project: Project, ann: User) -> None:
    digest = "sha256:" + "1" * 64
    publication = Publication.objects.create(
        project=project,
        resource=Resource.objects.filter(kind="benchmark").first(),
        account_slug="ann",
        slug="bench",
        title="Bench",
    )
    manifest = Manifest.objects.create(
        publication=publication,
        version="1.0.0",
        schema_version="x/1",
        digest=digest,
        body=bytes(range(256)),
        published_at=START,
    )
    ManifestRecord.objects.create(
        publication=publication,
        version="1.0.0",
        sequence=1,
        manifest=manifest,
        kind="publish",
        by="Ann",
        at=START,
        digest=digest,
        body=b"",
    )
    Draft.objects.create(publication=publication, person=ann, choices={"deep": [1, 1.5, None, True, "ü"]})


# There and back ---------------------------------------------------------------------------------------


def test_restored_site_has_the_same_rows_and_files(full: Project, tmp_path: Path) -> None:
    before, files, parts = dump(), bytes_below("blobs"), bytes_below("uploads")
    path = tmp_path / "site.tar"
    made = back_up(path, quiet)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {entry.name for entry in tmp_path.iterdir()} == {"jobs", "site.tar"}
    assert made.rows == {label: len(found) for label, found in before.items()}
    assert (made.lost, made.files) == ([], len(files) + len(parts))
    last = Project.objects.latest("pk").pk
    wipe()
    restore(path, quiet)
    assert dump() == before
    assert (bytes_below("blobs"), bytes_below("uploads")) == (files, parts)
    assert missing_triggers(connection) == []
    assert not BrowserSession.objects.exists()
    ann = User.objects.get()
    assert create_project(actor=ann, account=personal_account(ann), slug="new").pk == last + 1
    assert not FileHold.objects.exists()
    call_command("check_integrity", stdout=io.StringIO())


def test_keys_of_rows_that_are_gone_are_not_given_again(full: Project, tmp_path: Path) -> None:
    gone = ImportRun.objects.create(project=full, source="x", beat_at=START, status="failed")
    key = gone.pk
    gone.delete()
    back_up(tmp_path / "site.tar", quiet)
    wipe()
    restore(tmp_path / "site.tar", quiet)
    again = ImportRun.objects.create(
        project=Project.objects.get(), source="x", beat_at=START, status="failed"
    )
    assert again.pk == key + 1


def test_file_is_a_tar_that_other_tools_read(full: Project, tmp_path: Path) -> None:
    back_up(tmp_path / "site.tar", quiet)
    with tarfile.open(tmp_path / "site.tar") as archive:
        names = archive.getnames()
        assert (names[0], names[-1]) == (HEADER, "seal.json")
        for name in names:
            data = archive.extractfile(name)
            assert data is not None
            content = data.read()
            if name.startswith(BLOBS):
                assert hashlib.sha256(content).hexdigest() == name.removeprefix(BLOBS)
            elif name.startswith(f"{ROWS}accounts.user/"):
                assert b"ann@example.org" in gzip.decompress(content)
        assert not [name for name in names if any(label in name for label in LEFT_OUT)]
        assert b"private" not in (tmp_path / "site.tar").read_bytes()


def test_what_was_under_way_is_let_go(full: Project, tmp_path: Path) -> None:
    """A half-written Job is in the backup, as the database had it; the restored site has none."""
    run = ImportRun.objects.create(
        project=full, source="x", beat_at=START, status="running", host="there", lock="l"
    )
    job = Job.objects.earliest("pk")
    values = {field.attname: getattr(job, field.attname) for field in Job._meta.concrete_fields}
    del values["id"]
    values |= {"client_job_id": "job_half", "state": "importing", "import_run_id": run.pk}
    Job.objects.create(**values)
    back_up(tmp_path / "site.tar", quiet)
    wipe()
    restore(tmp_path / "site.tar", quiet)
    assert not Job.objects.filter(client_job_id="job_half").exists()
    assert ImportRun.objects.get(pk=run.pk).status == "failed"
    call_command("check_integrity", stdout=io.StringIO())


def test_every_kind_of_column_has_a_portable_form() -> None:
    for model in tables(apps, LEFT_OUT):
        encoders(columns_of(model))
        for column in columns_of(model):
            assert kind_of(column) in PLAIN | {"BinaryField", "DateTimeField", "DateField"}, column
    labels = {model._meta.label_lower for model in apps.get_models(include_auto_created=True)}
    assert set(LEFT_OUT) <= labels
    kept = [model for model in apps.get_models() if model._meta.label_lower not in LEFT_OUT]
    targets = {target._meta.label_lower for model in kept for target in _targets(model)}
    assert not targets & set(LEFT_OUT)


def _targets(model: type[models.Model]) -> Iterator[type[models.Model]]:
    for column in model._meta.concrete_fields:
        if isinstance(column, models.ForeignKey):
            yield column.related_model


# What is refused --------------------------------------------------------------------------------------


def test_database_with_rows_is_refused(full: Project, tmp_path: Path) -> None:
    back_up(tmp_path / "site.tar", quiet)
    before, files = dump(), bytes_below("blobs")
    with pytest.raises(CommandError, match="Nothing was restored. The database is not empty: it holds 1 "):
        call_command("restore", tmp_path / "site.tar", stdout=io.StringIO())
    assert (dump(), bytes_below("blobs")) == (before, files)


def rewritten(data: bytes, change: Callable[[str, bytes], bytes], **seal: Any) -> bytes:
    """A whole backup with other contents, as only this code makes it."""
    out = io.BytesIO()
    writer, reader = Writer(out), Reader(io.BytesIO(data), checks=True)
    for member in reader.members():
        writer.add(member.name, change(member.name, member.data()))
    assert reader.seal is not None
    facts = {name: value for name, value in reader.seal.items() if name != "sha256"}
    writer.seal(facts | seal)
    return out.getvalue()


def in_rows(label: str, change: Callable[[list[Any]], list[Any]]) -> Callable[[str, bytes], bytes]:
    def changed(name: str, data: bytes) -> bytes:
        if not name.startswith(f"{ROWS}{label}/"):
            return data
        found = [json.loads(text) for text in gzip.decompress(data).splitlines()]
        return gzip.compress(b"".join(line(change(row)) for row in found))

    return changed


def test_rows_that_can_not_go_in_leave_nothing(full: Project, tmp_path: Path) -> None:
    """The file is whole, and what it holds contradicts itself: all goes back to nothing."""
    back_up(tmp_path / "site.tar", quiet)
    whole = (tmp_path / "site.tar").read_bytes()
    wipe()
    empty = dump()
    broken = {
        "refers to one that is not there": in_rows("jobs.job", lambda row: [row[0], 999, *row[2:]]),
        "A row of jobs.trial can't be put in": in_rows("jobs.trial", lambda row: [row[0], None, *row[2:]]),
        "A row of accounts.user can't be put in": in_rows("accounts.user", lambda row: [*row[:-1], "never"]),
    }
    for message, change in broken.items():
        path = tmp_path / "broken.tar"
        path.write_bytes(rewritten(whole, change))
        with pytest.raises(CommandError, match="Nothing was restored"):
            call_command("restore", path, stdout=io.StringIO())
        with pytest.raises(BackupError, match=message):
            restore(path, quiet)
        assert dump() == empty
        assert bytes_below("blobs") == bytes_below("uploads") == {}
        assert missing_triggers(connection) == []


def test_backup_of_a_newer_or_another_version_is_refused(full: Project, tmp_path: Path) -> None:
    back_up(tmp_path / "site.tar", quiet)
    whole = (tmp_path / "site.tar").read_bytes()
    wipe()

    def told(**changes: Any) -> Callable[[str, bytes], bytes]:
        def changed(name: str, data: bytes) -> bytes:
            if name != HEADER:
                return data
            facts = json.loads(data)
            return canonical(facts | {key: change(facts[key]) for key, change in changes.items()})

        return changed

    cases = {
        "newer version of the site, which knows jobs.9999_future": told(
            migrations=lambda known: [*known, ["jobs", "9999_future"]]
        ),
        "not of the version that the backup": told(
            migrations=lambda known: [pair for pair in known if pair != ["hub", "0001_initial"]]
        ),
        "not known here: plural-site.backup/9": told(format=lambda _: "plural-site.backup/9"),
        "backup.json can't be read": told(tables=lambda _: [1]),
    }
    for message, change in cases.items():
        (tmp_path / "odd.tar").write_bytes(rewritten(whole, change))
        with pytest.raises(BackupError, match=message):
            restore(tmp_path / "odd.tar", quiet)
    assert not User.objects.exists()


_made: list[bytes] = []


@pytest.fixture
def whole(request: pytest.FixtureRequest, tmp_path: Path) -> bytes:
    """A backup of the full site, made once."""
    if not _made:
        request.getfixturevalue("full")
        back_up(tmp_path / "whole.tar", quiet)
        _made.append((tmp_path / "whole.tar").read_bytes())
    return _made[0]


def members_of(data: bytes) -> list[tuple[str, int, int]]:
    """(name, where its header begins, bytes of its content) of each member, by another reader."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return [(info.name, info.offset, info.size) for info in archive]


@pytest.mark.django_db(transaction=True)
def test_every_part_that_is_damaged_is_noticed(whole: bytes) -> None:
    assert check(io.BytesIO(whole)).lost == frozenset()
    places = []
    for _, start, size in members_of(whole):
        places += [start, start + 110, start + 130, start + 150, start + 300, start + BLOCK - 1]
        if size:
            places += [start + BLOCK, start + BLOCK + size // 2, start + BLOCK + size - 1]
        if size % BLOCK:
            places.append(start + BLOCK + size)
    for place in [*places, len(whole) - 1, len(whole) - 900]:
        damaged = bytearray(whole)
        damaged[place] ^= 0x11
        with pytest.raises(BackupError):
            check(io.BytesIO(damaged))


@pytest.mark.django_db(transaction=True)
def test_every_truncation_and_addition_is_noticed(whole: bytes) -> None:
    ends = [0, 1, BLOCK, len(whole) - 1, len(whole) - BLOCK, len(whole) - 2 * BLOCK]
    for _, start, size in members_of(whole):
        ends += [start, start + BLOCK, start + BLOCK + size // 2]
    for end in ends:
        with pytest.raises(BackupError):
            check(io.BytesIO(whole[:end]))
    for more in (b"\0", bytes(BLOCK), b"x"):
        with pytest.raises(BackupError):
            check(io.BytesIO(whole + more))


@pytest.mark.django_db(transaction=True)
def test_any_flipped_bit_is_noticed(whole: bytes) -> None:
    @hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, len(whole) - 1), st.integers(0, 7))
    def flip(place: int, bit: int) -> None:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << bit
        with pytest.raises(BackupError):
            check(io.BytesIO(damaged))

    flip()


@pytest.mark.django_db(transaction=True)
def test_members_that_were_taken_out_or_put_in_are_noticed(whole: bytes) -> None:
    """Even where the seal was made anew."""

    def without(prefix: str, more: tuple[str, bytes] | None = None) -> bytes:
        out = io.BytesIO()
        writer, reader = Writer(out), Reader(io.BytesIO(whole), checks=True)
        for member in reader.members():
            data = member.data()
            if not prefix or not member.name.startswith(prefix):
                writer.add(member.name, data)
        if more:
            writer.add(*more)
        assert reader.seal is not None
        writer.seal({name: value for name, value in reader.seal.items() if name != "sha256"})
        return out.getvalue()

    for prefix, message in (
        (BLOBS, "missing or not what it was"),
        (UPLOADS, "missing or not what it was"),
        (f"{ROWS}jobs.trial/", "not as many rows"),
        (HEADER, "does not begin with backup.json"),
    ):
        with pytest.raises(BackupError, match=message):
            check(io.BytesIO(without(prefix)))
    for more in (("blobs/" + "0" * 64, b"x"), ("rows/no.such/1.jsonl.gz", b""), ("../etc/passwd", b"x")):
        with pytest.raises(BackupError):
            check(io.BytesIO(without("", more)))


@pytest.mark.parametrize("data", [b"", b"PK\3\4", bytes(2048), b"x" * 5000, header("a.txt", 3) + b"abc"])
def test_other_files_are_no_backup(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(data)
    with pytest.raises(CommandError, match=r"damaged|no backup|cut short"):
        call_command("restore", "--check", path, stdout=io.StringIO())


def test_headers_hold_sizes_beyond_eight_gigabytes() -> None:
    block = header(BLOBS + "0" * 64, 30 * 10**9)
    assert tarfile.TarInfo.frombuf(block, "utf-8", "strict").size == 30 * 10**9
    with pytest.raises(ValueError, match="too long"):
        header("x" * 101, 1)


# Making one -------------------------------------------------------------------------------------------


def test_what_the_store_has_lost_is_said_and_the_rest_is_there(full: Project, tmp_path: Path) -> None:
    lost, cut, wrong, *_ = sorted(Blob.objects.values_list("digest", flat=True))
    root = Path(settings.DATA_DIR) / "blobs"
    paths = {path.name: path for path in root.rglob("*") if path.is_file()}
    paths[lost.removeprefix("sha256:")].unlink()
    changes: dict[str, Callable[[bytes], bytes]] = {
        cut: lambda data: data[:-1],
        wrong: lambda data: b"#" + data[1:],
    }
    for digest, change in changes.items():
        path = paths[digest.removeprefix("sha256:")]
        path.write_bytes(change(path.read_bytes()))
    out = io.StringIO()
    with pytest.raises(CommandError, match="whole but for 3 files"):
        call_command("backup", tmp_path / "site.tar", stdout=out, stderr=out)
    names = {digest.replace("sha256:", BLOBS) for digest in (lost, cut, wrong)}
    assert all(f"The store has lost or damaged {name}." in out.getvalue() for name in names)
    before = dump()
    wipe()
    contents = restore(tmp_path / "site.tar", quiet)
    assert contents.lost == names
    assert dump() == before
    assert {f"sha256:{path[-64:]}" for path in files_below("blobs")} == set(
        Blob.objects.values_list("digest", flat=True)
    ) - {lost, cut, wrong}


def test_file_that_is_there_is_never_written_over(full: Project, tmp_path: Path) -> None:
    path = tmp_path / "site.tar"
    path.write_text("precious")
    with pytest.raises(CommandError, match="No backup was made. There is a file"):
        call_command("backup", path, stdout=io.StringIO())
    assert path.read_text() == "precious"
    with pytest.raises(CommandError, match="No backup was made"):
        call_command("backup", tmp_path / "no" / "such" / "folder.tar", stdout=io.StringIO())
    (tmp_path / "link.tar.part").symlink_to(path)
    with pytest.raises(CommandError, match="No backup was made"):
        call_command("backup", tmp_path / "link.tar", stdout=io.StringIO())
    assert path.read_text() == "precious"


def test_failure_in_the_middle_leaves_nothing(
    full: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site.tar.part").write_bytes(b"of one that was killed")

    def full_disk(self: Any, facts: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Writer, "seal", full_disk)
    with pytest.raises(CommandError, match="No space left on device"):
        call_command("backup", tmp_path / "site.tar", stdout=io.StringIO())
    assert {entry.name for entry in tmp_path.iterdir()} == {"jobs"}
    assert not FileHold.objects.exists()


def test_what_the_disk_did_not_keep_is_noticed(
    full: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def forgetful(handle: int) -> None:
        if os.fstat(handle).st_size > 5000:
            os.pwrite(handle, b"\0\0\0\0", 3000)
        sync(handle)

    monkeypatch.setattr(os, "fsync", forgetful)
    with pytest.raises(CommandError, match="damaged"):
        call_command("backup", tmp_path / "site.tar", stdout=io.StringIO())
    assert not (tmp_path / "site.tar").exists()
    call_command("backup", tmp_path / "site.tar", "--no-verify", stdout=io.StringIO())
    with pytest.raises(CommandError, match="damaged"):
        call_command("restore", "--check", tmp_path / "site.tar", stdout=io.StringIO())


def test_files_come_from_a_bucket_and_go_into_one(bucket: Bucket, full: Project, tmp_path: Path) -> None:
    keys, before = bucket.all_keys(), dump()
    lost = min(blobs.stored())
    made = back_up(tmp_path / "site.tar", quiet)
    assert (made.lost, made.files) == ([], len(keys))
    wipe()
    bucket.server.client().delete_objects(
        Bucket=bucket.name, Delete={"Objects": [{"Key": key} for key in keys]}
    )
    assert bucket.all_keys() == []
    restore(tmp_path / "site.tar", quiet)
    assert (bucket.all_keys(), dump()) == (keys, before)
    assert files_below("blobs") == files_below("uploads") == set()
    call_command("check_integrity", stdout=io.StringIO())
    blobs.delete(lost)
    with pytest.raises(CommandError, match="whole but for 1 files"):
        call_command("backup", tmp_path / "again.tar", stdout=io.StringIO(), stderr=io.StringIO())
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 problem"):
        call_command("check_integrity", stdout=out, stderr=out)
    assert f"{lost}: is not in the store" in out.getvalue()


# While the site runs ----------------------------------------------------------------------------------


def test_files_stay_while_they_are_held(full: Project) -> None:
    stray = blobs.put(io.BytesIO(b"of an import that died"))
    run = ImportRun.objects.filter(size__gt=0).get()
    with holding("backup") as held:
        assert files_are_held()
        assert remove_files([stray]) == 0
        drop_parts(run)
        assert blobs.exists(stray)
        assert files_below("uploads")
        with pytest.raises(CommandError, match="A backup or a restore is running"):
            call_command("collect_files", stdout=io.StringIO())
    assert held.has_leftovers
    assert not files_are_held()
    call_command("collect_files", stdout=io.StringIO())
    assert not blobs.exists(stray)


def test_hold_of_a_dead_process_holds_nothing(full: Project) -> None:
    FileHold.objects.create(
        what="backup",
        host="elsewhere",
        lock="x",
        beat_at=timezone.now() - timedelta(hours=2),
        has_leftovers=True,
    )
    assert not files_are_held()
    assert end_dead()
    assert not FileHold.objects.exists()


def test_job_undone_meanwhile_is_in_the_backup(
    full: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are still there to be copied, and go when the backup is done. Nobody waits for it."""
    run, before = ImportRun.objects.get(size=0), dump()
    actor = User.objects.get()
    header_of = backing._header

    def undone(*arguments: Any) -> Any:
        made = header_of(*arguments)
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '2s'")
        undo.undo(actor=actor, project=full, run_id=run.pk)
        return made

    monkeypatch.setattr(backing, "_header", undone)
    if connection.vendor == "sqlite":
        pytest.skip("In memory, SQLite has no snapshots; the test with an import below has a file.")
    back_up(tmp_path / "site.tar", quiet)
    assert files_below("blobs") == set()
    wipe()
    restore(tmp_path / "site.tar", quiet)
    assert dump() == before


def site_pairs() -> list[tuple[str, str]]:
    """From which database to which, as far as the suite has them."""
    if connection.vendor == "sqlite":
        return [("sqlite", "sqlite")]
    return [("sqlite", "postgresql"), ("postgresql", "sqlite"), ("postgresql", "postgresql")]


@pytest.fixture
def make_site(tmp_path: Path) -> Iterator[Callable[[str, str], Site]]:
    made = []

    def make(name: str, vendor: str) -> Site:
        if vendor == "sqlite":
            return Site(tmp_path / name)
        made.append(fresh_postgresql())
        return Site(tmp_path / name, made[-1].__enter__())

    yield make
    for database in made:
        database.__exit__(None, None, None)


DUMP = """
import django, json, sys
django.setup()
from django.apps import apps
from jobs.backup_contents import LEFT_OUT
from plural_site.db.portable import columns_of, converted, encoders, tables
found = {}
for model in tables(apps, LEFT_OUT):
    columns = columns_of(model)
    rows = model._base_manager.order_by("pk").values_list(*(column.attname for column in columns))
    change = encoders(columns)
    found[model._meta.label_lower] = [converted(row, change) for row in rows]
json.dump(found, sys.stdout)
"""


def all_rows(site: Site) -> Rows:
    found: Rows = json.loads(site.run("-c", DUMP).stdout)
    return found


def all_blobs(site: Site) -> dict[str, str]:
    root = site.data / "blobs" / "sha256"
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in root.rglob("*") if path.is_file()
    }


def stored_rows(path: Path) -> Rows:
    """Of a backup, read by nothing of the site's."""
    found: Rows = {}
    with tarfile.open(path) as archive:
        for info in archive:
            if info.name.startswith(ROWS):
                data = archive.extractfile(info)
                assert data is not None
                found.setdefault(info.name.split("/")[1], []).extend(
                    json.loads(text) for text in gzip.decompress(data.read()).splitlines()
                )
    return found


def stored_columns(path: Path) -> dict[str, list[str]]:
    with tarfile.open(path) as archive:
        data = archive.extractfile(HEADER)
        assert data is not None
        return {table["table"]: table["columns"] for table in json.loads(data.read())["tables"]}


@pytest.mark.parametrize(("source", "target"), site_pairs())
def test_backup_while_an_import_runs_is_of_one_moment_and_comes_back_equal(
    source: str, target: str, make_site: Callable[[str, str], Site], tmp_path: Path
) -> None:
    """Twice: in the middle of an import, and when it has ended, which is then equal to the site itself."""
    for number in range(4):
        make_job(tmp_path / "first", benchmark=SPEC, track_id="open", key=f"a{number}")
    for number in range(6):
        attempts = 550 if number == 3 else 20  # one in parts
        started = START + timedelta(hours=1 + number)
        make_job(
            tmp_path / "second",
            benchmark=SPEC,
            track_id="open",
            key=str(number),
            attempts=attempts,
            started=started,
        )
    site = make_site("here", source)
    site.run("-c", SEED, str(tmp_path / "none"))
    site.manage("import_jobs", tmp_path / "first")
    importing = site.start("import_jobs", tmp_path / "second")
    time.sleep(2)
    site.manage("backup", tmp_path / "during.tar")
    assert importing.wait(timeout=180) == 0
    site.manage("backup", tmp_path / "after.tar")

    there = make_site("during", target)
    there.manage("restore", tmp_path / "during.tar")
    rows, now = stored_rows(tmp_path / "during.tar"), all_rows(there)
    place = stored_columns(tmp_path / "during.tar")
    half = _half(rows, place)
    assert len(rows["jobs.job"]) >= 4
    for label in ("accounts.user", "benchmarks.revision", "jobs.blob", "jobs.tally", "jobs.supersededtrial"):
        assert now[label] == rows.get(label, [])
    for label, column in (("jobs.job", "id"), ("jobs.trial", "job_id"), ("jobs.jobagent", "job_id")):
        at = place[label].index(column)
        assert now[label] == [row for row in rows[label] if row[at] not in half]
    assert set(all_blobs(there)) <= set(all_blobs(site))

    equal = make_site("after", target)
    said = equal.manage("restore", tmp_path / "after.tar")
    assert "Nothing is wrong." in said
    assert all_rows(equal) == all_rows(site)
    assert all_blobs(equal) == all_blobs(site)
    again = equal.manage("import_jobs", tmp_path / "second", "--project", "triage")
    assert "6 unchanged" in again


def _half(rows: Rows, place: dict[str, list[str]]) -> set[int]:
    """Jobs that were being written."""
    state, key = (place["jobs.job"].index(name) for name in ("state", "id"))
    return {row[key] for row in rows["jobs.job"] if row[state] == "importing"}


def test_backup_that_is_killed_leaves_a_part_that_the_next_one_takes(
    make_site: Callable[[str, str], Site], tmp_path: Path
) -> None:
    site = make_site("here", connection.vendor)
    make_job(tmp_path / "jobs", benchmark=SPEC, track_id="open", attempts=150)
    site.run("-c", SEED, str(tmp_path / "none"))
    site.manage("import_jobs", tmp_path / "jobs")
    path = tmp_path / "site.tar"
    backing_up = site.start("backup", path)
    give_up = time.monotonic() + 60
    while not path.with_name("site.tar.part").exists() and time.monotonic() < give_up:
        time.sleep(0.002)
    os.killpg(backing_up.pid, signal.SIGKILL)
    backing_up.wait()
    assert not path.exists()
    site.manage("backup", path)
    assert "A whole backup" in site.manage("restore", "--check", path)
    assert not path.with_name("site.tar.part").exists()


def test_backup_of_an_older_version_is_brought_up_to_date(
    make_site: Callable[[str, str], Site], tmp_path: Path
) -> None:
    """Its tables lack what came since: rows go into tables as it had them, which are then migrated."""
    site = make_site("here", connection.vendor)
    make_job(tmp_path / "jobs", benchmark=SPEC, track_id="open")
    site.run("-c", SEED, str(tmp_path / "none"))
    site.manage("import_jobs", tmp_path / "jobs")
    site.manage("backup", tmp_path / "new.tar")
    gone = {"size", "sizes"}

    def older(name: str, data: bytes) -> bytes:
        if name == HEADER:
            facts = json.loads(data)
            facts["migrations"] = [
                pair for pair in facts["migrations"] if pair[0] != "jobs" or pair[1] < "0006"
            ]
            facts["tables"] = [
                {**table, "columns": [column for column in table["columns"] if column not in gone]}
                if table["table"] == "jobs.job"
                else table
                for table in facts["tables"]
                if table["table"] != "jobs.retentionrule"
            ]
            places.extend(_columns(data, "jobs.job"))
            return canonical(facts)
        if name.startswith(f"{ROWS}jobs.job/"):
            kept = [at for at, column in enumerate(places) if column not in gone]
            return in_rows("jobs.job", lambda row: [row[at] for at in kept])(name, data)
        return data

    places: list[str] = []
    data = (tmp_path / "new.tar").read_bytes()
    reader = Reader(io.BytesIO(data), checks=True)
    for member in reader.members():
        member.data()
    assert reader.seal is not None
    rows = {label: count for label, count in reader.seal["rows"].items() if label != "jobs.retentionrule"}
    (tmp_path / "old.tar").write_bytes(rewritten(data, older, rows=rows))
    there = make_site("there", connection.vendor)
    assert "Nothing is wrong." in there.manage("restore", tmp_path / "old.tar")
    assert all_rows(there) == all_rows(site)
    migrated = make_site("migrated", connection.vendor)
    migrated.manage("migrate", "--verbosity", "0")
    said = migrated.manage("restore", tmp_path / "old.tar", code=1)
    assert "Restore it into a database without tables" in said


def _columns(data: bytes, label: str) -> list[str]:
    found: list[str] = next(
        table["columns"] for table in json.loads(data)["tables"] if table["table"] == label
    )
    return found


def test_damaged_file_changes_nothing_at_a_new_site(
    make_site: Callable[[str, str], Site], full: Project, tmp_path: Path
) -> None:
    back_up(tmp_path / "site.tar", quiet)
    data = bytearray((tmp_path / "site.tar").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "damaged.tar").write_bytes(data)
    site = make_site("there", connection.vendor)
    assert "Nothing was restored. The file is damaged" in site.manage(
        "restore", tmp_path / "damaged.tar", code=1
    )
    assert not all_blobs(site)
    site.manage("migrate", "--verbosity", "0")
    assert not any(all_rows(site).values())


def test_import_into_the_same_place_is_told(full: Project) -> None:
    """A hold does not keep imports from landing."""
    with holding("backup"), transaction.atomic():
        report = import_path(
            project=full, actor=None, path=Path("jobs/demo/support-triage.tar.gz"), patience=0
        )
    assert report.landed


def test_part_rows_name_their_files(full: Project) -> None:
    assert UploadPart.objects.get().name in files_below("uploads")
