"""The page behind a number of a leaderboard."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.selectors import find_benchmark, find_revision
from jobs.proof import ProofQuery, proof_page
from plural_site.accounts.access import Need, SignedInRequest, project_for


@require_safe
def proof(request: SignedInRequest, project: str, slug: str, selector: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    revision = find_revision(find_benchmark(found, slug), selector)
    page = proof_page(found, revision, ProofQuery.parse(request.GET))
    return render(request, "jobs/proof.html", {"project": found, "page": page})
