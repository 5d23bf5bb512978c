"""A project's retention rule: setting it, and which Jobs it takes files from. `jobs.trimming` does that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from benchmarks.actions import lock_project
from jobs.domain.retention import JobAge, Rule, outlived
from jobs.holds import held
from jobs.models import Job, RetentionRule
from jobs.record import NO_RESULT
from jobs.sizes import Sizes, sizes_from
from plural_site.accounts.actions import record
from plural_site.accounts.models import Project, User

OPEN = (NO_RESULT, "awaiting_review")
"""Statuses of Jobs of which more may come, unless a person closes them."""


@dataclass(frozen=True, slots=True)
class Going:
    """A Job that the rule takes files from: how many, their bytes, and what it frees in the store."""

    key: int
    job_id: str
    files: int
    size: int
    freed: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a rule does to a project now. `held`: Jobs that it would take files from, were they not needed."""

    rule: Rule
    going: tuple[Going, ...]
    held: Mapping[str, str]
    """Id of the Job to the reason."""
    jobs: int
    """Of the project, whether or not they have outlived the rule."""

    @property
    def files(self) -> int:
        return sum(job.files for job in self.going)

    @property
    def freed(self) -> int:
        return sum(job.freed for job in self.going)


@dataclass(frozen=True, slots=True)
class KeptJob:
    """A landed Job as far as sizes and retention go."""

    key: int
    job_id: str
    age: JobAge
    runs: frozenset[int]
    """Imports that brought anything of it."""
    sizes: Sizes


# The rule ---------------------------------------------------------------------------------------------


def as_rule(row: RetentionRule) -> Rule:
    return Rule(row.keep_days, row.keep_newest, tuple(row.kinds))


def rule_of(project: Project) -> RetentionRule | None:
    return RetentionRule.objects.select_related("set_by").filter(project=project).first()


@transaction.atomic
def set_rule(*, actor: User, project: Project, rule: Rule) -> None:
    """Turns the rule on, in place of any other. The caller has checked Need.MANAGE."""
    lock_project(project)
    row, _ = RetentionRule.objects.update_or_create(
        project=project,
        defaults={
            "keep_days": rule.keep_days,
            "keep_newest": rule.keep_newest,
            "kinds": list(rule.kinds),
            "set_by": actor,
            "set_at": timezone.now(),
            "applied_at": None,
        },
    )
    record(actor, "retention.set", row, project=project, **in_words(rule))


@transaction.atomic
def end_rule(*, actor: User, project: Project) -> None:
    """Turns the rule off; what it removed stays removed. The caller has checked Need.MANAGE."""
    lock_project(project)
    row = RetentionRule.objects.filter(project=project).first()
    if row:
        record(actor, "retention.end", row, project=project, **in_words(as_rule(row)))
        row.delete()


def in_words(rule: Rule) -> dict[str, Any]:
    """For a sentence: `kinds` that go, `kept` until when they stay."""
    days, newest = rule.keep_days, rule.keep_newest
    bounds = []
    if days is not None:
        bounds.append(f"for {days} day{'s' if days > 1 else ''}")
    if newest is not None:
        bounds.append(
            f"while it is among the newest {newest} of its Benchmark"
            if newest > 1
            else "while it is the newest of its Benchmark"
        )
    return {"kinds": _listed(rule.kinds), "kept": " and ".join(bounds)}


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


# What it does -----------------------------------------------------------------------------------------


def kept_jobs(project: Project, key: int | None = None) -> list[KeptJob]:
    """Every landed Job of a project, or one of them, in one query."""
    found = Job.objects.visible(project).annotate(
        came_at=Coalesce("import_run__started_at", "created_at"),
        resource=Coalesce("revision__resource", "task_revision__resource"),
    )
    if key is not None:
        found = found.filter(pk=key)
    columns = (
        "pk",
        "client_job_id",
        "resource",
        "started_at",
        "created_at",
        "came_at",
        "status",
        "closed_at",
    )
    rows = found.order_by("pk").values(*columns, "closed_at", "added_by", "import_run", "sizes")
    return [_kept(row) for row in rows.iterator(chunk_size=2000)]


def _kept(row: Mapping[str, Any]) -> KeptJob:
    age = JobAge(
        key=row["pk"],
        group=row["resource"],
        started_at=row["started_at"],
        came_at=max(row["came_at"], row["created_at"]),
        is_open=row["status"] in OPEN and row["closed_at"] is None,
    )
    runs = frozenset(run for run in (row["added_by"], row["import_run"]) if run is not None)
    return KeptJob(row["pk"], row["client_job_id"], age, runs, sizes_from(row["sizes"]))


def plan(rule: Rule, jobs: Sequence[KeptJob], now: datetime) -> Plan:
    """Writes nothing. Its queries are those of the holds; their number depends on no number of Jobs."""
    keys = set(outlived(rule, [job.age for job in jobs], now))
    concerned = [job for job in jobs if job.key in keys and job.sizes.of(rule.kinds)[0]]
    reasons = held([job.key for job in concerned])
    return Plan(
        rule,
        tuple(_going(rule, job) for job in concerned if job.key not in reasons),
        {job.job_id: reasons[job.key] for job in concerned if job.key in reasons},
        len(jobs),
    )


def _going(rule: Rule, job: KeptJob) -> Going:
    files, size = job.sizes.of(rule.kinds)
    return Going(job.key, job.job_id, files, size, size + job.sizes.earlier)
