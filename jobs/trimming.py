"""Taking files from Jobs as their project's retention rule says: what stays is written into new packs.

Pack by pack in short transactions, so that it may be killed at any point and goes on from there. Rows keep
what was removed in their lists, with digest, size and time. What stays is compared with its digest on the
way, so that damage is never carried into a new pack.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from django.db import transaction
from django.utils import timezone

from benchmarks.actions import lock_project
from jobs.domain.file_kinds import kind_of
from jobs.domain.retention import Rule
from jobs.holds import held
from jobs.import_lock import scratch_root
from jobs.models import Blob, Execution, Job, RetentionRule, SupersededTrial
from jobs.removal import packs_of, remove_files, remove_unused
from jobs.retention import KeptJob, Plan, as_rule, kept_jobs, plan
from jobs.sizes import Sizes, record_sizes, sizes_from
from jobs.step_indexes import drop_indexes
from jobs.stored_files import CHUNK, StoredFile
from plural_site.accounts.actions import Actor, record
from plural_site.accounts.models import Project
from plural_site.db import blobs
from plural_site.db.frozen import ThawError, thawed

SCRATCH = "trim-"
REMOVED = -1
"""Offset of a file whose bytes are gone."""
PLAN_SECONDS = 60.0
"""How long a plan is gone by before it is made anew: Jobs come and go meanwhile."""
_UPDATED = 200
Files = list[list[Any]]


class TrimError(Exception):
    """Why files can't be taken from a Job now; the packs that were not rewritten yet are as they were."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What became of one Job; `problem` says why nothing could be taken from it."""

    job_id: str
    files: int = 0
    size: int = 0
    problem: str = ""


def due(project: Project) -> Plan | None:
    """What the project's rule takes now. None without one, and while the project is archived."""
    rule = _rule_in_force(project)
    return plan(rule, kept_jobs(project), timezone.now()) if rule else None


def ruled_projects() -> list[Project]:
    """Those whose rule is in force."""
    found = Project.objects.filter(retention_rule__isnull=False, archived_at__isnull=True)
    return list(found.order_by("pk"))


def apply_rule(project: Project, actor: Actor) -> Iterator[Trimmed]:
    """Goes through the Jobs that the project's rule takes files from, each of them once."""
    tried: set[int] = set()
    while found := due(project):
        made = time.monotonic()
        going = [job for job in found.going if job.key not in tried]
        for job in going:
            tried.add(job.key)
            try:
                trimmed = _Trim(project, found.rule, job.key).run(actor)
            except (TrimError, ThawError, OSError) as error:
                trimmed = Trimmed(job.job_id, problem=str(error))
            if trimmed:
                yield trimmed
            if time.monotonic() - made > PLAN_SECONDS:
                break
        else:
            RetentionRule.objects.filter(project=project).update(applied_at=timezone.now())
            return


def _rule_in_force(project: Project) -> Rule | None:
    row = RetentionRule.objects.filter(project=project, project__archived_at__isnull=True).first()
    return as_rule(row) if row else None


class _Trim:
    """Of one Job, as it is now."""

    def __init__(self, project: Project, rule: Rule, key: int) -> None:
        self.project, self.rule, self.key, self.now = project, rule, key, timezone.now()
        self.kept = self._kept()

    def run(self, actor: Actor) -> Trimmed | None:
        with thawed(Blob):  # where that is not allowed nothing could be freed
            pass
        executions = Execution.objects.filter(trial__job=self.key).order_by()
        for pack in sorted(set(executions.values_list("pack_id", flat=True))):
            self._rewrite(pack)
        return self._finish(actor)

    def _kept(self) -> KeptJob:
        found = next(iter(kept_jobs(self.project, self.key)), None)
        if found is None:
            raise TrimError("it is not there any more")
        return found

    def _check(self) -> None:
        """Under the project's lock: whether all that led to the decision still holds."""
        lock_project(self.project)
        kept = self._kept()
        if _rule_in_force(self.project) != self.rule:
            raise TrimError("the rule has changed meanwhile")
        if (kept.age, kept.runs) != (self.kept.age, self.kept.runs):
            raise TrimError("more of it came in meanwhile")
        if reasons := held([self.key]):
            raise TrimError(reasons[self.key])

    def _rewrite(self, pack: str) -> None:
        """Puts what stays of one pack into a new one, if anything goes from it."""
        executions = self._lists(pack)
        if not any(self._goes(StoredFile(*file)) for _, files in executions for file in files):
            return
        with tempfile.TemporaryDirectory(dir=scratch_root(), prefix=SCRATCH) as folder:
            path = Path(folder) / "pack"
            own, lists, digest, size = self._write(pack, executions, path)
            blobs.send(path, digest)  # nobody waits for an object store inside a transaction
            with transaction.atomic():
                self._check()
                if self._lists(pack) != executions:
                    raise TrimError("more of it came in meanwhile")
                Blob.objects.bulk_create([Blob(digest=digest, size=size)], ignore_conflicts=True)
                rows = [Execution(pk=key, pack_id=digest, files=files) for key, files in lists.items()]
                Execution.objects.bulk_update(rows, ["pack", "files"], batch_size=_UPDATED)
                if own is not None:
                    Job.objects.filter(pk=self.key).update(pack=digest, files=own)
                drop_indexes({key: _removed(files) for key, files in lists.items()})
                blobs.move_in(path, digest)  # last, so that a refusal leaves no file behind

    def _lists(self, pack: str) -> list[tuple[int, Files]]:
        rows = Execution.objects.filter(trial__job=self.key, pack=pack).order_by("pk")
        return list(rows.values_list("pk", "files"))

    def _write(
        self, pack: str, executions: Sequence[tuple[int, Files]], path: Path
    ) -> tuple[Files | None, dict[int, Files], str, int]:
        """The lists of the Job itself and of its executions, with digest and size of the new pack."""
        job = Job.objects.only("pack", "files").get(pk=self.key)
        try:
            with blobs.open_blob(pack) as source, path.open("wb") as target:
                copy = _Copy(source, target, self.now)
                own = [copy.kept(StoredFile(*file)) for file in job.files] if job.pack_id == pack else None
                lists = {
                    key: [
                        copy.without(file) if self._goes(file) else copy.kept(file)
                        for file in (StoredFile(*entry) for entry in files)
                    ]
                    for key, files in executions
                }
        except FileNotFoundError:
            raise TrimError(f"the store has lost {pack}") from None
        return own, lists, f"sha256:{copy.sha.hexdigest()}", copy.size

    def _goes(self, file: StoredFile) -> bool:
        return not file.removed and kind_of(file.path, file.role) in self.rule.kinds

    def _finish(self, actor: Actor) -> Trimmed | None:
        """Counts anew and lets go of the old packs, and of what replaced executions left, with an event."""
        with transaction.atomic():
            self._check()
            job = Job.objects.get(pk=self.key)
            before, packs = sizes_from(job.sizes), packs_of(Job.objects.filter(pk=self.key))
            SupersededTrial.objects.filter(trial__job=job).exclude(packs=[]).update(packs=[])
            record_sizes(job)
            after = sizes_from(job.sizes)
            files, size = (now - then for now, then in zip(_gone(after), _gone(before), strict=True))
            if files:
                detail: dict[str, Any] = {"job": job.client_job_id, "files": files, "bytes": size}
                record(actor, "retention.apply", job, project=self.project, **detail)
            with thawed(Blob):
                unused = remove_unused(sorted({*before.packs, *packs}))
            transaction.on_commit(partial(remove_files, unused))
        return Trimmed(job.client_job_id, files, size) if files else None


def _gone(sizes: Sizes) -> tuple[int, int]:
    pairs = sizes.removed.values()
    return sum(files for files, _ in pairs), sum(size for _, size in pairs)


def _removed(files: Files) -> set[str]:
    return {file.path for file in (StoredFile(*entry) for entry in files) if file.removed}


class _Copy:
    """Writes files of a pack one after another, each compared with its digest."""

    def __init__(self, source: BinaryIO, target: BinaryIO, now: datetime) -> None:
        self._source, self._target, self._now = source, target, now.isoformat()
        self.sha, self.size = hashlib.sha256(), 0

    def kept(self, file: StoredFile) -> list[Any]:
        """Its entry in the list; it is copied unless it was removed before."""
        if file.removed:
            return list(file)
        start, sha, left = self.size, hashlib.sha256(), file.size
        self._source.seek(file.offset)
        while left and (chunk := self._source.read(min(left, CHUNK))):
            for hasher in (sha, self.sha):
                hasher.update(chunk)
            self._target.write(chunk)
            left -= len(chunk)
        self.size += file.size
        if f"sha256:{sha.hexdigest()}" != file.digest:
            raise TrimError(f"its stored file {file.path} is not what was recorded")
        return list(file._replace(offset=start))[:-1]

    def without(self, file: StoredFile) -> list[Any]:
        return list(file._replace(offset=REMOVED, removed=self._now))
