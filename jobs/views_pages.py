"""Pages of a Task in a release, of an Agent, and the list of Agents."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.selectors import find_benchmark, find_revision
from jobs.agent_page import agent_page, find_agent
from jobs.agents_list import agents_page
from jobs.board import load_board
from jobs.task_page import TaskQuery, task_page, task_state
from plural_site.accounts.access import Need, SignedInRequest, project_for


@require_safe
def task(request: SignedInRequest, project: str, slug: str, selector: str, position: int) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    revision = find_revision(find_benchmark(found, slug), selector)
    board = load_board(found, revision, task_state(request.GET))
    page = task_page(board, position, TaskQuery.parse(request.GET))
    return render(request, "jobs/task.html", {"project": found, "page": page})


@require_safe
def agent(request: SignedInRequest, project: str, digits: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = agent_page(found, find_agent(found, digits), request.GET.dict())
    return render(request, "jobs/agent.html", {"project": found, "page": page})


@require_safe
def agents(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = agents_page(found, request.GET.dict())
    return render(request, "jobs/agents.html", {"project": found, "page": page})
