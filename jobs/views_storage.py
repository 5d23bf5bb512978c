"""What a project stores, and its retention rule."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from benchmarks.domain.types import DomainError
from jobs.retention import end_rule, set_rule
from jobs.storage_page import RuleQuery, storage_page
from plural_site.accounts.access import Need, SignedInRequest, project_for

UNPROCESSABLE = 422
ASKED = ("days", "newest", "kind")


@require_safe
def storage(request: SignedInRequest, project: str) -> HttpResponse:
    """Of the rule that the address describes, if it does, a preview."""
    found = project_for(request.user, project, Need.READ)
    asked = any(name in request.GET for name in ASKED)
    page = storage_page(found, _query(request.GET) if asked else RuleQuery(), request.GET.get("cursor"))
    return render(request, "jobs/storage.html", {"project": found, "page": page})


@require_POST
def retention(request: SignedInRequest, project: str) -> HttpResponse:
    """Turns a rule on, or off with `off`."""
    found = project_for(request.user, project, Need.MANAGE)
    if "off" in request.POST:
        end_rule(actor=request.user, project=found)
        messages.success(request, "The retention rule is off. What it removed stays removed.")
        return redirect("jobs:storage", found.slug)
    query = _query(request.POST)
    try:
        set_rule(actor=request.user, project=found, rule=query.rule())
    except DomainError as problem:
        query = RuleQuery.asked(query.days, query.newest, query.kinds, str(problem))
        page = storage_page(found, query, None)
        context = {"project": found, "page": page}
        return render(request, "jobs/storage.html", context, status=UNPROCESSABLE)
    messages.success(request, "The retention rule is on. The worker applies it within minutes.")
    return redirect("jobs:storage", found.slug)


def _query(values: QueryDict) -> RuleQuery:
    return RuleQuery.asked(values.get("days", ""), values.get("newest", ""), values.getlist("kind"))
