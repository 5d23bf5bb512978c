"""Uploads and imports: what comes in, where it is shown, and what takes it back."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.domain.types import DomainError
from jobs import undo as undoing
from jobs import uploads
from jobs.imports_page import find_import, import_page, imports_page, new_page, undo_page
from jobs.models import ImportRun
from plural_site.accounts.access import Need, SignedInRequest, can, project_for

UNPROCESSABLE, CONFLICT = 422, 409


@require_safe
def imports(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = imports_page(found, request.GET.dict(), can_write=can(found, Need.WRITE))
    return render(request, "jobs/imports.html", {"project": found, "page": page})


@require_safe
def one(request: SignedInRequest, project: str, number: int) -> HttpResponse:
    return _one(request, project, number, "jobs/import.html")


@require_safe
def live(request: SignedInRequest, project: str, number: int) -> HttpResponse:
    """The part of an import's page that changes while it goes on."""
    return _one(request, project, number, "jobs/_import_live.html")


def _one(request: SignedInRequest, project: str, number: int, template: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    run = find_import(found, number)
    page = import_page(found, run, request.GET.dict(), can_write=can(found, Need.WRITE))
    return render(request, template, {"project": found, "page": page})


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: SignedInRequest, project: str) -> HttpResponse:
    """The page to upload from, and, without a script, the form's answer: the archive is queued."""
    found = project_for(request.user, project, Need.WRITE)
    error = ""
    if request.method == "POST":
        file = request.FILES.get("archive")
        try:
            run = uploads.add_file(project=found, actor=request.user, file=file)
        except DomainError as problem:
            error = str(problem)
        else:
            return redirect("jobs:import", project=found.slug, number=run.pk)
    page = new_page(found, request.user, error=error)
    context = {"project": found, "page": page}
    return render(request, "jobs/import_new.html", context, status=UNPROCESSABLE if error else 200)


@require_POST
def upload(request: SignedInRequest, project: str) -> HttpResponse:
    """Announces an upload in parts: says which part is missing first, and where parts go."""
    found = project_for(request.user, project, Need.WRITE)
    size = request.POST.get("size", "")
    try:
        run = uploads.begin(
            project=found,
            actor=request.user,
            name=request.POST.get("name", ""),
            size=int(size) if size.isdecimal() and len(size) < 19 else 0,
            fingerprint=uploads.fingerprint_of(request.POST.dict()),
        )
    except DomainError as problem:
        return JsonResponse({"error": str(problem)}, status=UNPROCESSABLE)
    href = reverse("jobs:import", args=[found.slug, run.pk])
    return JsonResponse(
        {
            "part_size": uploads.PART_SIZE,
            "first": uploads.first_missing(run),
            "href": href,
            "parts_href": f"{href}/parts/",
            "cancel_href": reverse("jobs:import-cancel", args=[found.slug, run.pk]),
        }
    )


@require_POST
def part(request: SignedInRequest, project: str, number: int, part: int) -> HttpResponse:
    found = project_for(request.user, project, Need.WRITE)
    run = _own(request, find_import(found, number))
    try:
        data = request.read(uploads.part_size(run, part) + 1)
        run = uploads.add_part(run, part, data, request.headers.get("X-Part-SHA256", ""))
    except DomainError as problem:
        return JsonResponse({"error": str(problem)}, status=UNPROCESSABLE)
    return JsonResponse({"received": run.received, "is_whole": run.status != ImportRun.Status.UPLOADING})


def _own(request: HttpRequest, run: ImportRun) -> ImportRun:
    """Nobody sends parts of what somebody else uploads."""
    if run.actor_id != request.user.pk:
        raise Http404("No such upload.")
    return run


@require_POST
def cancel(request: SignedInRequest, project: str, number: int) -> HttpResponse:
    return _act(request, project, number, uploads.cancel)


@require_POST
def retry(request: SignedInRequest, project: str, number: int) -> HttpResponse:
    return _act(request, project, number, uploads.retry)


Act = Callable[[ImportRun], None]


def _act(request: SignedInRequest, project: str, number: int, act: Act) -> HttpResponse:
    """Where it is too late, the page says what became of the import meanwhile."""
    found = project_for(request.user, project, Need.WRITE)
    run = find_import(found, number)
    try:
        act(run)
    except DomainError as problem:
        messages.error(request, str(problem))
    return redirect("jobs:import", project=found.slug, number=run.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def undo(request: SignedInRequest, project: str, number: int) -> HttpResponseBase:
    """Asks, with all that goes, and does it when the answer comes."""
    found = project_for(request.user, project, Need.WRITE)
    run = find_import(found, number)
    hindrance = ""
    if request.method == "POST":
        try:
            undoing.undo(actor=request.user, project=found, run_id=run.pk)
        except DomainError as problem:
            hindrance = str(problem)
        else:
            return redirect("jobs:import", project=found.slug, number=run.pk)
    page = undo_page(found, run, hindrance=hindrance)
    context = {"project": found, "page": page}
    return render(request, "jobs/import_undo.html", context, status=CONFLICT if hindrance else 200)
