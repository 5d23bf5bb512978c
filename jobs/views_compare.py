"""Pages that set the entries of a board, or two releases, beside each other."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.board.state import BoardState
from benchmarks.selectors import find_benchmark, find_revision
from jobs.board import load_board
from jobs.compare import CompareQuery, compare_page
from jobs.grid import GridQuery, grid_page
from jobs.release_compare import ReleasesQuery, compare_releases_page
from plural_site.accounts.access import Need, SignedInRequest, project_for


@require_safe
def compare(request: SignedInRequest, project: str, slug: str, selector: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    revision = find_revision(find_benchmark(found, slug), selector)
    board = load_board(found, revision, BoardState.parse(request.GET))
    page = compare_page(board, CompareQuery.parse(request.GET))
    return render(request, "jobs/compare.html", {"project": found, "page": page})


@require_safe
def grid(request: SignedInRequest, project: str, slug: str, selector: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    revision = find_revision(find_benchmark(found, slug), selector)
    board = load_board(found, revision, BoardState.parse(request.GET))
    page = grid_page(board, GridQuery.parse(request.GET))
    return render(request, "jobs/grid.html", {"project": found, "page": page})


@require_safe
def releases(request: SignedInRequest, project: str, slug: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = compare_releases_page(found, find_benchmark(found, slug), ReleasesQuery.parse(request.GET))
    return render(request, "jobs/compare_releases.html", {"project": found, "page": page})
