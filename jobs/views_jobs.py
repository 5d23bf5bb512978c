"""Pages of Jobs, and what a person may decide about one. Each parses, asks or acts, and renders."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.domain.types import DomainError
from jobs import actions
from jobs.job_decisions import Kind, decision_page
from jobs.job_page import find_job, job_page
from jobs.jobs_list import jobs_page
from plural_site.accounts.access import Need, SignedInRequest, can, project_for

Act = Callable[..., object]
ACTIONS: dict[Kind, tuple[Act, Act]] = {
    Kind.SET_ASIDE: (actions.set_aside, actions.count_again),
    Kind.CLOSE: (actions.close_job, actions.open_again),
}
"""What does it, and what takes it back."""


@require_safe
def jobs(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = jobs_page(found, request.GET.dict(), can_write=can(found, Need.WRITE))
    return render(request, "jobs/jobs.html", {"project": found, "page": page})


@require_safe
def job(request: SignedInRequest, project: str, job_id: str) -> HttpResponse:
    return _job(request, project, job_id, "jobs/job.html", is_whole=True)


@require_safe
def live(request: SignedInRequest, project: str, job_id: str) -> HttpResponse:
    """The part of the Job's page that changes while it runs."""
    return _job(request, project, job_id, "jobs/_job_news.html", is_whole=False)


def _job(
    request: SignedInRequest, project: str, job_id: str, template: str, *, is_whole: bool
) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    shown, can_write = find_job(found, job_id), can(found, Need.WRITE)
    page = job_page(found, shown, request.GET.dict(), can_write=can_write, is_whole=is_whole)
    return render(request, template, {"project": found, "page": page})


@require_http_methods(["GET", "HEAD", "POST"])
def set_aside(request: SignedInRequest, project: str, job_id: str) -> HttpResponse:
    return _decide(request, project, job_id, Kind.SET_ASIDE)


@require_http_methods(["GET", "HEAD", "POST"])
def close(request: SignedInRequest, project: str, job_id: str) -> HttpResponse:
    return _decide(request, project, job_id, Kind.CLOSE)


def _decide(request: SignedInRequest, project: str, job_id: str, kind: Kind) -> HttpResponse:
    """Asks, and acts when the answer comes: `do` says which way, whatever happened meanwhile."""
    found = project_for(request.user, project, Need.WRITE)
    shown = find_job(found, job_id)
    error, reason = "", request.POST.get("reason", "")
    if request.method == "POST":
        do, undo = ACTIONS[kind]
        try:
            if request.POST.get("do") == "undo":
                undo(actor=request.user, project=found, job_id=job_id)
            else:
                do(actor=request.user, project=found, job_id=job_id, reason=reason)
        except DomainError as problem:
            error = str(problem)
        else:
            return redirect("jobs:job", project=found.slug, job_id=job_id)
    page = decision_page(found, shown, kind, reason=reason, error=error)
    status = 422 if error else 200
    return render(request, "jobs/job_decision.html", {"project": found, "page": page}, status=status)
