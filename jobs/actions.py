"""What a person decides about a Job: that it counts nowhere, that nothing more comes of it, and neither."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from benchmarks.actions import lock_project
from benchmarks.domain.types import DomainError
from jobs import tallies
from jobs.job_figures import record_figures
from jobs.models import Job
from jobs.record import NO_RESULT
from plural_site.accounts.actions import record
from plural_site.accounts.models import Project, User

MOST_REASON = 500
"""Characters."""


@transaction.atomic
def set_aside(*, actor: User, project: Project, job_id: str, reason: str) -> Job:
    """From now on the Job counts in no figure; its boards are up to date when this returns.

    The caller has checked Need.WRITE. One that is set aside already keeps its first reason. Raises
    DomainError without a usable reason and Job.DoesNotExist.
    """
    job = _locked(project, job_id)
    reason = _checked(reason)
    if job.set_aside_at is not None:
        return job
    job.set_aside_at, job.set_aside_by, job.set_aside_reason = timezone.now(), actor, reason
    _save(job, "set_aside")
    record(actor, "job.set_aside", job, project=project, job=job_id, reason=reason)
    _rebuild(job)
    return job


@transaction.atomic
def count_again(*, actor: User, project: Project, job_id: str) -> Job:
    """Takes `set_aside` back. The caller has checked Need.WRITE. Raises Job.DoesNotExist."""
    job = _locked(project, job_id)
    if job.set_aside_at is None:
        return job
    reason = job.set_aside_reason
    job.set_aside_at, job.set_aside_by, job.set_aside_reason = None, None, ""
    _save(job, "set_aside")
    record(actor, "job.count_again", job, project=project, job=job_id, was_set_aside_for=reason)
    _rebuild(job)
    return job


@transaction.atomic
def close_job(*, actor: User, project: Project, job_id: str, reason: str) -> Job:
    """Says that nothing more comes of a Job without a result: its missing Trials count as cancelled.

    An import that brings more of it opens it again. No score depends on it. The caller has checked
    Need.WRITE. Raises DomainError without a usable reason and for a Job that has a result, and
    Job.DoesNotExist.
    """
    job = _locked(project, job_id)
    reason = _checked(reason)
    if job.status != NO_RESULT:
        raise DomainError("This Job has a result, so there is nothing to close.")
    if job.closed_at is not None:
        return job
    job.closed_at, job.closed_by, job.closed_reason = timezone.now(), actor, reason
    _save(job, "closed")
    record(actor, "job.close", job, project=project, job=job_id, reason=reason)
    _rebuild(job)
    return job


@transaction.atomic
def open_again(*, actor: User, project: Project, job_id: str) -> Job:
    """Takes `close_job` back. The caller has checked Need.WRITE. Raises Job.DoesNotExist."""
    job = _locked(project, job_id)
    if job.closed_at is None:
        return job
    reason = job.closed_reason
    job.closed_at, job.closed_by, job.closed_reason = None, None, ""
    _save(job, "closed")
    record(actor, "job.open_again", job, project=project, job=job_id, was_closed_for=reason)
    _rebuild(job)
    return job


def _locked(project: Project, job_id: str) -> Job:
    """An import into the project waits for it, and it for a part of an import that is being written."""
    lock_project(project)
    return Job.objects.visible(project).get(client_job_id=job_id)


def _checked(reason: str) -> str:
    reason = reason.replace("\0", "").strip()
    if not reason:
        raise DomainError("Give a reason: readers see it on the Job and on its leaderboard's list.")
    if len(reason) > MOST_REASON:
        raise DomainError(f"Keep the reason to {MOST_REASON} characters; this has {len(reason)}.")
    return reason


def _save(job: Job, what: str) -> None:
    """Without `updated_at`, which tells when something of the Job came in."""
    job.save(update_fields=[f"{what}_at", f"{what}_by", f"{what}_reason"])


def _rebuild(job: Job) -> None:
    agents = list(job.agents.select_related("configuration"))
    record_figures(job, agents)
    if job.revision:
        tallies.rebuild(job.revision, job.track_ref, [agent.configuration_id for agent in agents])
