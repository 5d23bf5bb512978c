"""Pages of updates: what is newer, and the question before the next revision is saved."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.domain.types import DomainError
from benchmarks.links import benchmark_href
from benchmarks.update_page import UpdateQuery, Updates, save_page, updates_page
from benchmarks.updating import save_update
from plural_site.accounts.access import Need, SignedInRequest, can, project_for
from plural_site.accounts.handling import say


@require_safe
def updates(request: SignedInRequest, project: str, slug: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = updates_page(
        Updates(found, slug, UpdateQuery.parse(request.GET)), can_write=can(found, Need.WRITE)
    )
    return render(request, "benchmarks/updates.html", {"project": found, "page": page})


@require_http_methods(["GET", "HEAD", "POST"])
def save(request: SignedInRequest, project: str, slug: str) -> HttpResponse:
    """Shows exactly what would be saved, and saves that when it is confirmed."""
    found = project_for(request.user, project, Need.WRITE)
    query = request.POST if request.method == "POST" else request.GET
    wanted = Updates(found, slug, UpdateQuery.parse(query))
    error = ""
    if request.method == "POST":
        try:
            revision = save_update(
                actor=request.user,
                resource=wanted.resource,
                taken=wanted.keys,
                expected_hash=request.POST.get("expected", ""),
            )
        except DomainError as problem:
            error = str(problem)
        else:
            say(request, f"Revision {revision.number} is saved and current.")
            return redirect(benchmark_href(found, slug, revision=str(revision.number)))
    elif not wanted.taken:
        return redirect(wanted.href())
    page = save_page(wanted, error=error)
    status = 422 if error else 200
    return render(request, "benchmarks/updates_save.html", {"project": found, "page": page}, status=status)
