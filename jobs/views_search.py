"""Pages that search the Trials of a Job or of a Benchmark. Each indexes a little first, where that is due."""

from __future__ import annotations

from contextlib import suppress

from django.db import OperationalError
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from benchmarks.selectors import find_benchmark, find_revision
from jobs.job_page import find_job
from jobs.search_page import Scope, SearchQuery, benchmark_scope, job_scope, search_page
from jobs.search_texts import index_texts
from plural_site.accounts.access import Need, SignedInRequest, project_for
from plural_site.http import render_page

INDEX_SECONDS = 2.0
"""Of one request."""


@require_safe
def of_job(request: SignedInRequest, project: str, job_id: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    return _search(request, job_scope(found, find_job(found, job_id)))


@require_safe
def of_benchmark(request: SignedInRequest, project: str, slug: str, selector: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    revision = find_revision(find_benchmark(found, slug), selector)
    return _search(request, benchmark_scope(found, revision, request.GET.get("track", "")))


def _search(request: SignedInRequest, scope: Scope) -> HttpResponse:
    query = SearchQuery.parse(request.GET.dict())
    if query.text:
        with suppress(OperationalError):  # an import holds the database: what there is can be searched
            index_texts(scope.jobs, INDEX_SECONDS)
    page = search_page(scope, query)
    context = {"project": scope.project, "page": page}
    return render_page(request, "jobs/search.html", "jobs/_search_results.html", context)
