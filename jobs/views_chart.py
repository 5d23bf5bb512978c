"""The chart's figure at an address of its own."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from benchmarks.board.state import BoardState
from benchmarks.selectors import find_benchmark, find_revision
from jobs.board import load_board
from plural_site.accounts.access import Need, SignedInRequest, project_for


@require_safe
def chart(request: SignedInRequest, project: str, slug: str, selector: str) -> HttpResponse:
    from benchmarks.board.charts import figure_json  # noqa: PLC0415  Plotly is large, and no page needs it

    found = project_for(request.user, project, Need.READ)
    revision = find_revision(find_benchmark(found, slug), selector)
    board = load_board(found, revision, BoardState.parse(request.GET))
    return HttpResponse(figure_json(board), content_type="application/json")
