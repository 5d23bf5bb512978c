"""What accounts ask of Jobs: their part in the deletion of a project, and words for the audit log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import ForeignObjectRel, QuerySet, Sum
from django.utils import timezone

from jobs.file_holds import files_are_held
from jobs.import_lock import no_import_begins, remove_leftovers
from jobs.models import Blob, Execution, ImportRun, Job, SupersededTrial, Tally, Trial
from plural_site.accounts.models import Project
from plural_site.accounts.removal import Counted, Removal
from plural_site.db import blobs
from plural_site.db.frozen import thawed

BATCH = 500
UNUSED_FOR = timedelta(hours=1)
WORDS = {
    "import.cancel": "cancelled the upload of {source}",
    "import.done": "finished the import of {source}: of its Jobs {added} were added, {updated} brought up to "
    "date, {unchanged} unchanged and {refused} refused",
    "import.start": "began the import of {source}",
    "import.undo": "undid the import of {source}: {jobs} Jobs with {trials} Trials went",
    "retention.apply": "took {files} files from the Job {job}, by the retention rule",
    "retention.end": "turned off the retention rule, by which a Job kept its {kinds} {kept}",
    "retention.set": "turned on a retention rule: a Job keeps its {kinds} {kept}",
    "job.close": "closed the Job {job}: “{reason}”",
    "job.count_again": "let the Job {job} count again",
    "job.open_again": "opened the Job {job} again",
    "job.set_aside": "set the Job {job} aside: “{reason}”",
}
"""How the audit log tells what is done to Jobs."""


class JobsRemoval(Removal):
    frozen = (Blob,)

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._candidates: list[str] = []
        self._unused: list[str] = []

    def counts(self) -> list[Counted]:
        jobs = Job.objects.filter(project=self.project)
        return [
            Counted("Jobs", jobs.count()),
            Counted("Trials", Trial.objects.filter(job__in=jobs).count()),
            Counted("Bytes in files", size_of(jobs), is_bytes=True),
        ]

    def hindrance(self) -> str:
        remove_leftovers()
        running = ImportRun.objects.filter(project=self.project, status=ImportRun.Status.RUNNING)
        return "An import into this project is running. Wait until it has ended." if running.exists() else ""

    def remove(self) -> None:
        jobs = Job.objects.filter(project=self.project)
        self._candidates = packs_of(jobs)
        for job in jobs.only("pk"):  # one by one, since Django reads what it deletes into memory
            job.delete()
        ImportRun.objects.filter(project=self.project).delete()
        Tally.objects.filter(revision__resource__project=self.project).delete()

    def remove_frozen(self) -> None:
        self._unused = remove_unused(self._candidates)

    def after_commit(self) -> None:
        remove_files(self._unused)


def packs_of(jobs: QuerySet[Job]) -> list[str]:
    """Digests of all that these Jobs hold files in, or held before they grew."""
    return sorted(set(_packs(jobs)) | set(_superseded(jobs)))


def remove_unused(candidates: Sequence[str]) -> list[str]:
    """Deletes rows of those blobs that nothing refers to, and says which. The caller has thawed them."""
    kept = set(_superseded(Job.objects.all()))
    removed: list[str] = []
    for batch in _batches([digest for digest in candidates if digest not in kept]):
        unused = unreferenced(batch)
        rows = Blob.objects.filter(digest__in=unused)
        rows._raw_delete(rows.db)
        removed += sorted(unused)
    return removed


def unreferenced(digests: Collection[str]) -> set[str]:
    """Those of a batch of blobs to which no row of any table refers by a foreign key."""
    unused = set(digests)
    for relation in Blob._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel):
            rows = relation.related_model._base_manager.filter(**{f"{relation.field.name}__in": digests})
            unused -= set(rows.values_list(relation.field.attname, flat=True))
    return unused


def remove_unused_rows() -> list[str]:
    """Deletes rows of blobs that nothing has referred to for an hour: what imports left that died.

    Says which; their files can go when this is committed. Not while an import runs.
    """
    since = timezone.now() - UNUSED_FOR
    with transaction.atomic():
        old = list(Blob.objects.filter(created_at__lt=since).values_list("digest", flat=True))
        unused = sorted(set().union(*map(unreferenced, _batches(old))))
        if not unused or ImportRun.objects.filter(status=ImportRun.Status.RUNNING).exists():
            return []
        with thawed(Blob):
            return remove_unused(unused)


def size_of(jobs: QuerySet[Job]) -> int:
    """Bytes of the files of these Jobs."""
    size: int | None = Blob.objects.filter(digest__in=_packs(jobs)).aggregate(size=Sum("size"))["size"]
    return size or 0


def remove_files(digests: Sequence[str]) -> int:
    """Removes stored files that no row names, and says how many are gone.

    None while an import runs, which may have brought the same bytes and not said so yet, and while
    somebody holds the files; `manage.py collect_files` finds them later.
    """
    removed = 0
    for batch in _batches(digests):
        with no_import_begins():
            if ImportRun.objects.filter(status=ImportRun.Status.RUNNING).exists() or files_are_held():
                return removed
            named = set(Blob.objects.filter(digest__in=batch).values_list("digest", flat=True))
            unnamed = [digest for digest in batch if digest not in named]
            blobs.delete_all(unnamed)
        removed += len(unnamed)
    return removed


def _packs(jobs: QuerySet[Job]) -> QuerySet[Job, str]:
    """Digests of the files of `jobs` and of their executions."""
    executions = Execution.objects.filter(trial__job__in=jobs.values("pk"))
    own = jobs.order_by().values_list("pack_id", flat=True)
    return own.union(executions.order_by().values_list("pack_id", flat=True))


def _superseded(jobs: QuerySet[Job]) -> Iterator[str]:
    rows = SupersededTrial.objects.filter(trial__job__in=jobs.values("pk"))
    for packs in rows.values_list("packs", flat=True).iterator():
        yield from packs


def _batches(digests: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(digests), BATCH):
        yield digests[start : start + BATCH]
