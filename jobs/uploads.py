"""What is uploaded, part by part, and kept until its import needs it no more.

The bytes lie in Django's storage "uploads", in a folder of their own for each upload.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, storages
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from benchmarks.domain.types import DomainError
from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers.joined import JoinedParts
from jobs.domain.readers.sources import Source, open_archive
from jobs.file_holds import files_are_held
from jobs.import_lock import note_event
from jobs.models import ImportRun, UploadPart
from plural_site.accounts.models import Project, User
from plural_site.db.blobs import ObjectStore
from plural_site.formats import bytes_text

PART_SIZE = 8 << 20
KEPT_FOR = timedelta(days=7)
FORM_FILE_KEPT_FOR = timedelta(days=1)
MOST_UNFINISHED = 20
"""Of one person in one project."""
DIGEST = re.compile(r"[0-9a-f]{64}")
ARCHIVE = re.compile(r"\.(tar\.gz|tgz|tar|zip)$", re.IGNORECASE)
NO_ARCHIVE = "Choose a .tar.gz, .tgz, .tar or .zip file. “{name}” is none."
NO_FILE = "Choose an archive of at most {limit}."
Status = ImportRun.Status


def begin(*, project: Project, actor: User, name: str, size: int, fingerprint: str) -> ImportRun:
    """An upload to send parts to: that of the same file, unless it has ended, or a new one.

    The caller has checked Need.WRITE. Raises DomainError for what can't be taken.
    """
    name = _checked(name, size)
    mine = ImportRun.objects.filter(project=project, actor=actor)
    if fingerprint:
        same = mine.filter(source=name, size=size, fingerprint=fingerprint)
        if found := same.filter(status__in=[Status.UPLOADING, Status.QUEUED, Status.RUNNING]).first():
            return found
    if mine.filter(status=Status.UPLOADING).count() >= MOST_UNFINISHED:
        raise DomainError("You have too many unfinished uploads here. Finish or cancel some first.")
    return ImportRun.objects.create(
        project=project,
        actor=actor,
        source=name,
        size=size,
        fingerprint=fingerprint,
        status=Status.UPLOADING,
        beat_at=timezone.now(),
    )


def _checked(name: str, size: int) -> str:
    name = name.replace("\0", "").strip().replace("\\", "/").rpartition("/")[2][:500]
    limit = settings.UPLOAD_LIMIT
    if not ARCHIVE.search(name):
        raise DomainError(NO_ARCHIVE.format(name=name))
    if size < 1:
        raise DomainError(f"“{name}” is empty.")
    if size > limit:
        raise DomainError(f"“{name}” has {bytes_text(size)}; at most {bytes_text(limit)} are taken here.")
    storage = storages["uploads"]
    if isinstance(storage, FileSystemStorage) and (free := _free(Path(storage.location))) < size:
        raise DomainError(
            f"The server has room for {bytes_text(free)} only; “{name}” has {bytes_text(size)}."
        )
    return name


def _free(folder: Path) -> int:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return shutil.disk_usage(folder).free


def part_count(run: ImportRun) -> int:
    return -(-run.size // PART_SIZE)


def part_size(run: ImportRun, number: int) -> int:
    """Bytes of the part with this number. Raises DomainError where there is none."""
    if not 0 <= number < part_count(run):
        raise DomainError(f"There is no part {number}; the last one is {part_count(run) - 1}.")
    return min(PART_SIZE, run.size - number * PART_SIZE)


def first_missing(run: ImportRun) -> int:
    """Number of the first part that is not there; the count of parts where all are."""
    there = run.parts.order_by("number").values_list("number", flat=True)
    return next((at for at, number in enumerate(there) if at != number), len(there))


def add_part(run: ImportRun, number: int, data: bytes, sha256: str) -> ImportRun:
    """Keeps a part; with the last one the upload is queued. The same part twice is fine, also afterwards.

    `sha256` is what the sender computed, in hex. Raises DomainError for another size or other bytes, and
    where the upload was cancelled.
    """
    expected = part_size(run, number)
    if len(data) != expected:
        raise DomainError(f"Part {number} came with {len(data)} bytes; {expected} were expected.")
    digest = hashlib.sha256(data).hexdigest()
    if not DIGEST.fullmatch(sha256) or digest != sha256:
        raise DomainError(f"Part {number} was damaged on the way: its SHA-256 is {digest}.")
    if run.is_whole:  # the answer to the last part was lost on the way
        return _with_the_same(run, number, digest)
    # A name of its own for each try, so that taking back one never touches another.
    place = f"{run.pk}/{number:06d}-{secrets.token_hex(8)}"
    name = storages["uploads"].save(place, ContentFile(data))
    part = UploadPart(run=run, number=number, size=expected, digest=f"sha256:{digest}", name=name)
    try:
        run = _keep_part(part)
    except IntegrityError:  # it is there already, from a try whose answer was lost
        storages["uploads"].delete(name)
        run.refresh_from_db()
        _with_the_same(run, number, digest)
    except BaseException:
        storages["uploads"].delete(name)
        raise
    return run


@transaction.atomic
def _keep_part(part: UploadPart) -> ImportRun:
    """Raises IntegrityError where it is there already, DomainError where the upload takes no more."""
    held = ImportRun.objects.select_for_update(of=("self",)).select_related("project", "actor")
    run = held.get(pk=part.run_id)
    if run.is_whole:
        raise IntegrityError("somebody else sent the last part just now")
    if run.status != Status.UPLOADING:
        raise DomainError(f"This upload takes no more parts: it is {run.status}.")
    part.save(force_insert=True)
    run.received += part.size
    run.beat_at = timezone.now()
    if run.received == run.size:
        run.status = Status.QUEUED
        note_event(run, "import.start")
    run.save()
    return run


def _with_the_same(run: ImportRun, number: int, digest: str) -> ImportRun:
    """Raises DomainError where other bytes than these were kept. Of an import that is done none are."""
    if run.parts.filter(number=number).exclude(digest=f"sha256:{digest}").exists():
        raise DomainError(f"Part {number} is here already, with other bytes. Did the file change meanwhile?")
    return run


def add_file(*, project: Project, actor: User, file: UploadedFile[bytes] | None) -> ImportRun:
    """What a form sent, queued. Raises DomainError for what can't be taken."""
    if file is None:
        raise DomainError(NO_FILE.format(limit=bytes_text(settings.UPLOAD_LIMIT)))
    run = begin(project=project, actor=actor, name=file.name or "", size=file.size or 0, fingerprint="")
    try:
        for number in range(part_count(run)):
            data = file.read(part_size(run, number))
            run = add_part(run, number, data, hashlib.sha256(data).hexdigest())
    except BaseException:
        cancel(run)
        raise
    return run


def cancel(run: ImportRun) -> None:
    """Ends an upload that is not yet being imported. Raises DomainError where it is too late."""
    waiting = ImportRun.objects.filter(pk=run.pk, status__in=[Status.UPLOADING, Status.QUEUED])
    with transaction.atomic():
        if not waiting.update(status=Status.CANCELLED, finished_at=timezone.now()):
            raise DomainError("It is too late to cancel this import. It can be undone when it has ended.")
        note_event(run, "import.cancel")
    drop_parts(run)


def retry(run: ImportRun) -> None:
    """Queues a failed upload again. Raises DomainError where its parts are gone."""
    if not can_retry(run):
        raise DomainError("What was uploaded is no longer here. Upload it again.")
    failed = ImportRun.objects.filter(pk=run.pk, status=Status.FAILED)
    with transaction.atomic():
        if not failed.update(status=Status.QUEUED, tries=0, finished_at=None, beat_at=timezone.now()):
            raise DomainError("Only an import that failed can be tried again.")
        note_event(run, "import.start")


def can_retry(run: ImportRun) -> bool:
    return run.status == Status.FAILED and run.size > 0 and run.parts.count() == part_count(run)


@contextmanager
def opened(run: ImportRun, scratch: Path) -> Iterator[Source]:
    """What was uploaded, as `jobs.domain.readers.sources.open_source` gives it."""
    parts = list(run.parts.all())
    if [part.number for part in parts] != list(range(part_count(run))):
        raise ImportProblemError(run.source, "", "was not kept whole on the server: upload it again")

    def load(number: int) -> bytes:
        with storages["uploads"].open(parts[number].name, "rb") as file:
            data: bytes = file.read(parts[number].size + 1)
        if f"sha256:{hashlib.sha256(data).hexdigest()}" != parts[number].digest:
            raise ImportProblemError(run.source, "", "was damaged on the server: upload it again")
        return data

    file = io.BufferedReader(JoinedParts([part.size for part in parts], load), 1 << 20)
    with open_archive(file, run.size, run.source, scratch) as source:
        yield source


def drop_parts(run: ImportRun) -> None:
    """Rows first: files that stay behind are found by `remove_old`."""
    UploadPart.objects.filter(run=run).delete()
    _remove_folder(str(run.pk))


def remove_old() -> None:
    """Removes unfinished uploads of long ago, and the parts of what needs none any more."""
    before = timezone.now() - KEPT_FOR
    for run in ImportRun.objects.filter(status=Status.UPLOADING, beat_at__lt=before):
        with contextlib.suppress(DomainError):
            cancel(run)
    held = ImportRun.objects.filter(parts__isnull=False).distinct()
    for run in held.filter(status__in=[Status.DONE, Status.CANCELLED, Status.UNDONE]):
        drop_parts(run)
    for run in held.filter(status=Status.FAILED, finished_at__lt=before):
        drop_parts(run)
    folders = [name for name in _listed("")[0] if name.isdigit()]
    known = ImportRun.objects.filter(pk__in=folders).filter(parts__isnull=False).values_list("pk", flat=True)
    uploading = ImportRun.objects.filter(status=Status.UPLOADING).values_list("pk", flat=True)
    for name in set(folders) - {str(key) for key in (*known, *uploading)}:
        _remove_folder(name)
    _remove_form_files()


def _remove_form_files() -> None:
    before = (timezone.now() - FORM_FILE_KEPT_FOR).timestamp()
    for path in Path(settings.FILE_UPLOAD_TEMP_DIR).glob("*.upload*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < before:
                path.unlink()


def _listed(folder: str) -> tuple[list[str], list[str]]:
    try:
        return storages["uploads"].listdir(folder)
    except FileNotFoundError:
        return [], []


def _remove_folder(folder: str) -> None:
    """Not while a backup may still read it; `remove_old` finds it later."""
    if files_are_held():
        return
    storage = storages["uploads"]
    names = [f"{folder}/{name}" for name in _listed(folder)[1]]
    if isinstance(storage, ObjectStore):
        storage.delete_all(names)
        return
    for name in names:
        storage.delete(name)
    if isinstance(storage, FileSystemStorage):
        with contextlib.suppress(OSError):  # somebody puts a part in just now
            storage.delete(folder)


def fingerprint_of(data: Mapping[str, str]) -> str:
    """What the browser sent to know a file by, if it is one."""
    given = data.get("fingerprint", "")
    return given if DIGEST.fullmatch(given) else ""
