"""Pages of trajectories, one or two at a time, and the parts of one."""

from __future__ import annotations

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from jobs.trajectory_compare import CompareQuery, compare_page
from jobs.trajectory_links import TrajectoryQuery
from jobs.trajectory_open import Opened, open_trajectory
from jobs.trajectory_page import trajectory_page
from jobs.trajectory_step import block_response, image_response, raw_response, step_page
from jobs.trajectory_strip import error_href
from plural_site.accounts.access import Need, SignedInRequest, project_for


def _open(request: SignedInRequest, project: str, trial_id: str, *, is_patient: bool = False) -> Opened:
    found = project_for(request.user, project, Need.READ)
    query = TrajectoryQuery.parse(request.GET.dict(), is_patient=is_patient)
    return open_trajectory(found, trial_id, query)


@require_safe
def trajectory(request: SignedInRequest, project: str, trial_id: str) -> HttpResponse:
    opened = _open(request, project, trial_id)
    if opened.index is not None and (href := error_href(opened.index, opened.links, opened.query)):
        return redirect(href)
    page = trajectory_page(opened)
    return render(request, "jobs/trajectory.html", {"project": opened.shown.project, "page": page})


@require_safe
def step(request: SignedInRequest, project: str, trial_id: str, number: int) -> HttpResponse:
    opened = _open(request, project, trial_id, is_patient=True)
    page = step_page(opened, number, request.GET.dict())
    return render(request, "jobs/step.html", {"project": opened.shown.project, "page": page})


@require_safe
def raw(request: SignedInRequest, project: str, trial_id: str, number: int) -> HttpResponseBase:
    return raw_response(_open(request, project, trial_id, is_patient=True), number)


@require_safe
def block(request: SignedInRequest, project: str, trial_id: str, number: int, part: int) -> HttpResponseBase:
    return block_response(_open(request, project, trial_id, is_patient=True), number, part)


@require_safe
def image(request: SignedInRequest, project: str, trial_id: str, number: int, part: int) -> HttpResponseBase:
    return image_response(_open(request, project, trial_id, is_patient=True), number, part)


@require_safe
def compare(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = compare_page(found, CompareQuery.parse(request.GET.dict()))
    return render(request, "jobs/trajectory_compare.html", {"project": found, "page": page})
