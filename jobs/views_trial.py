"""Pages of one Trial, and the files that it left."""

from __future__ import annotations

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.files import file_response
from jobs.receipts import receipt_page
from jobs.trial_page import TrialQuery, find_trial, trial_page
from plural_site.accounts.access import Need, SignedInRequest, project_for


@require_safe
def trial(request: SignedInRequest, project: str, trial_id: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = trial_page(found, trial_id, TrialQuery.parse(request.GET.dict()))
    return render(request, "jobs/trial.html", {"project": found, "page": page})


@require_safe
def receipt(request: SignedInRequest, project: str, trial_id: str) -> HttpResponse:
    """Recomputes every digest, each time that it is asked for."""
    found = project_for(request.user, project, Need.READ)
    page = receipt_page(found, trial_id, TrialQuery.parse(request.GET.dict()))
    return render(request, "jobs/receipt.html", {"project": found, "page": page})


@require_safe
def file(request: SignedInRequest, project: str, trial_id: str, number: int, path: str) -> HttpResponseBase:
    found = project_for(request.user, project, Need.READ)
    trial = find_trial(found, trial_id, request.GET.get("job", ""))
    return file_response(
        trial, number, path, request.headers, download=request.GET.get("download", "") == "1"
    )
