"""Pages of a project: home, leaderboard, Trials. Each parses, asks a selector and renders."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.board.state import BoardState
from benchmarks.selectors import find_benchmark, find_revision
from jobs import selectors
from jobs.board import load_board
from jobs.board_page import board_page
from jobs.exports import leaderboard_csv, leaderboard_json
from plural_site.accounts.access import Need, SignedInRequest, can, project_for
from plural_site.http import render_page


@require_safe
def project(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = selectors.project_page(found, can_write=can(found, Need.WRITE))
    return render(request, "jobs/project.html", {"project": found, "page": page})


@require_safe
def board(request: SignedInRequest, project: str, slug: str, selector: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    revision = find_revision(find_benchmark(found, slug), selector)
    page = board_page(load_board(found, revision, BoardState.parse(request.GET)))
    response = render_page(request, "jobs/board.html", "jobs/_board.html", {"project": found, "page": page})
    response.headers["HX-Push-Url"] = page.this_href  # without the fields that a form leaves empty
    return response


@require_safe
def export(request: SignedInRequest, project: str, slug: str, selector: str, kind: str) -> HttpResponse:
    """The board that is shown, as a file; as JSON with each entry's Tasks for `tasks=1`."""
    found = project_for(request.user, project, Need.READ)
    revision = find_revision(find_benchmark(found, slug), selector)
    with_tasks = kind == "json" and request.GET.get("tasks") == "1"
    shown = load_board(found, revision, BoardState.parse(request.GET), with_tasks=with_tasks)
    if kind == "json":
        return HttpResponse(leaderboard_json(shown, with_tasks=with_tasks), content_type="application/json")
    response = HttpResponse(leaderboard_csv(shown), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{slug}-{revision.number}.csv"'
    return response


@require_safe
def trials(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = selectors.trials_page(found, request.GET.dict())
    return render(request, "jobs/trials.html", {"project": found, "page": page})
