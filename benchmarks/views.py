"""A Benchmark, and what a person may do to its revisions. Each parses, asks or acts, and renders."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.actions import release_revision
from benchmarks.domain.releasing import ReleaseRefusedError
from benchmarks.forms import ReleaseForm
from benchmarks.release_page import find_numbered, release_page
from benchmarks.selectors import benchmark_page
from plural_site.accounts.access import Need, SignedInRequest, can, project_for
from plural_site.accounts.handling import say


@require_safe
def benchmark(request: SignedInRequest, project: str, slug: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = benchmark_page(found, slug, request.GET.get("revision", ""), can_write=can(found, Need.WRITE))
    return render(request, "benchmarks/benchmark.html", {"project": found, "page": page})


@require_http_methods(["GET", "HEAD", "POST"])
def release(request: SignedInRequest, project: str, slug: str, number: int) -> HttpResponse:
    """Asks for the version, and gives it when it has been confirmed."""
    found = project_for(request.user, project, Need.WRITE)
    revision = find_numbered(found, slug, number)
    page = release_page(found, revision)
    form = ReleaseForm(
        request.POST if request.method == "POST" else None, initial={"version": page.preselected}
    )
    if form.is_valid():
        version = form.cleaned_data["version"]
        try:
            release_revision(actor=request.user, revision=revision, version=version)
        except ReleaseRefusedError as refused:
            for problem in refused.problems:
                form.add_error(None if problem in page.missing else "version", problem)
        else:
            say(request, f"Revision {number} is version {version} now.")
            return redirect(page.back_href)
    context = {"project": found, "page": page, "form": form}
    return render(request, "benchmarks/release.html", context, status=422 if form.errors else 200)
