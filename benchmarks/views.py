from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.selectors import benchmark_page
from plural_site.accounts.access import Need, SignedInRequest, project_for


@require_safe
def benchmark(request: SignedInRequest, project: str, slug: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = benchmark_page(found, slug, request.GET.get("revision", ""))
    return render(request, "benchmarks/benchmark.html", {"project": found, "page": page})
