"""Publishing: the overview and the steps. Each parses, asks or acts, and renders."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.selectors import find_benchmark
from hub import drafts
from hub.done_page import done_page, is_published
from hub.models import Draft
from hub.public_board import PublicState
from hub.publish_overview import publish_page
from hub.publish_pages import FieldError
from hub.wizard import BY_NAME, STEPS, DraftView, step_href
from hub.wizard_check import READER, check_page, freeze, settle_finding
from hub.wizard_disclosure import disclosure_answer, disclosure_page
from hub.wizard_release import chosen_release, release_page
from hub.wizard_results import ResultsStep
from hub.wizard_text import text_answer, text_page
from plural_site.accounts.access import Need, SignedInRequest, can, project_for
from plural_site.accounts.frame import Frame, QuestionPage
from plural_site.accounts.handling import say
from plural_site.accounts.kept import keeps_what_was_sent
from plural_site.http import render_page

read_or_send = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
def overview(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = publish_page(found, request.user, may_publish=can(found, Need.PUBLISH))
    return render(request, "hub/publish.html", {"project": found, "page": page})


@require_POST
def start(request: SignedInRequest, project: str, slug: str) -> HttpResponse:
    found = project_for(request.user, project, Need.PUBLISH)
    draft = drafts.start(actor=request.user, project=found, resource=find_benchmark(found, slug))
    return redirect(step_href(found, slug, STEPS[draft.reached - 1].name))


@read_or_send
def discard(request: SignedInRequest, project: str, slug: str) -> HttpResponse:
    try:
        view = _draft_view(request, project, slug)
    except Draft.DoesNotExist:
        return redirect("hub:publish", project)
    if request.method == "POST":
        drafts.discard(view.draft)
        say(request, "The draft is gone. Nothing public has changed.")
        return redirect("hub:publish", project)
    page = QuestionPage(
        Frame(""),
        "Discard this draft?",
        ("What you answered is forgotten. Nothing that is public changes.",),
        "Discard the draft",
        view.href(STEPS[view.draft.reached - 1].name),
    )
    return render(request, "accounts/question.html", {"project": view.project, "page": page})


@keeps_what_was_sent
@read_or_send
def step(request: SignedInRequest, project: str, slug: str, name: str) -> HttpResponse:
    """One step. An answer that is kept leads on; one that isn't is shown again with what is wrong."""
    if name not in BY_NAME:
        raise Http404("Publishing has no such step.")
    try:
        view = _draft_view(request, project, slug)
    except Draft.DoesNotExist:
        return _after(request, project, slug)
    if BY_NAME[name].number > view.draft.reached:
        return redirect(view.href(STEPS[view.draft.reached - 1].name))
    try:
        return ANSWERS[name](request, view) if request.method == "POST" else _show(request, view, name)
    except drafts.DraftChanged as changed:
        fresh = _draft_view(request, project, slug)
        return _show(request, fresh, name, [FieldError("", str(changed))], status=409)


@require_safe
def reader(request: SignedInRequest, project: str, slug: str) -> HttpResponse:
    """The preview as it will stand on the Hub, or the part of it that its board swaps."""
    try:
        view = _draft_view(request, project, slug)
    except Draft.DoesNotExist:
        return redirect("hub:publish", project)
    if BY_NAME["check"].number > view.draft.reached:
        return redirect(view.href(STEPS[view.draft.reached - 1].name))
    page = check_page(view, READER, state=PublicState.parse(request.GET))
    context = {"project": view.project, "page": page}
    return render_page(request, "hub/publish_check.html", "hub/_publish_board.html", context)


@require_safe
def done(request: SignedInRequest, project: str, slug: str, digest: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    page = done_page(found, find_benchmark(found, slug), digest)
    return render(request, "hub/publish_done.html", {"project": found, "page": page})


def _after(request: SignedInRequest, project: str, slug: str) -> HttpResponse:
    """Without a draft: what was published, where this was sent twice, else the overview."""
    digest = request.POST.get("digest", "")
    if digest and is_published(slug, digest):
        return redirect("hub:publish-done", project, slug, digest)
    return redirect("hub:publish", project)


def _draft_view(request: SignedInRequest, project: str, slug: str) -> DraftView:
    """The reader's draft of this Benchmark. Raises Draft.DoesNotExist."""
    found = project_for(request.user, project, Need.PUBLISH)
    resource = find_benchmark(found, slug)
    rows = Draft.objects.select_related("publication__resource", "release__revision__resource", "person")
    draft = rows.get(publication__resource=resource, person=request.user)
    if draft.release is not None:
        draft.release.revision.release = draft.release
    return DraftView(found, draft)


def _seen(request: SignedInRequest) -> int:
    version = request.POST.get("version", "")
    return int(version) if version.isascii() and version.isdigit() and len(version) < 10 else 0


def _next(view: DraftView, name: str) -> HttpResponseRedirect:
    return redirect(view.href(STEPS[BY_NAME[name].number].name))


def _show(
    request: SignedInRequest,
    view: DraftView,
    name: str,
    errors: Sequence[FieldError] = (),
    *,
    page: object = None,
    status: int = 200,
) -> HttpResponse:
    """The step as it is kept, or `page` as it was sent."""
    shown = page or PAGES[name](view, errors, request)
    return render(
        request, f"hub/publish_{name}.html", {"project": view.project, "page": shown}, status=status
    )


def _answer_release(request: SignedInRequest, view: DraftView) -> HttpResponse:
    release = chosen_release(view, request.POST)
    if isinstance(release, FieldError):
        return _show(request, view, "release", [release], status=422)
    drafts.keep(view.draft, seen=_seen(request), step=1, choices=view.choices, release=release)
    return _next(view, "release")


def _answer_results(request: SignedInRequest, view: DraftView) -> HttpResponse:
    asked = ResultsStep(view)
    choices, errors = asked.answer(request.POST)
    if errors:
        return _show(request, view, "results", page=asked.page(errors, choices), status=422)
    # A withdrawn release needs no further answers.
    step = 4 if choices.withdraws_release else 2
    drafts.keep(view.draft, seen=_seen(request), step=step, choices=choices)
    return redirect(view.href("check")) if choices.withdraws_release else _next(view, "results")


def _answer_disclosure(request: SignedInRequest, view: DraftView) -> HttpResponse:
    choices = disclosure_answer(view, request.POST)
    drafts.keep(view.draft, seen=_seen(request), step=3, choices=choices)
    return _next(view, "disclosure")


def _answer_text(request: SignedInRequest, view: DraftView) -> HttpResponse:
    choices, errors = text_answer(view, request.POST)
    if errors:
        page = text_page(view, errors, choices.text, dict(choices.tasks))
        return _show(request, view, "text", page=page, status=422)
    drafts.keep(view.draft, seen=_seen(request), step=4, choices=choices)
    return _next(view, "text")


def _answer_check(request: SignedInRequest, view: DraftView) -> HttpResponse:
    if request.POST.get("do") != "freeze":
        error = settle_finding(view, request.user, seen=_seen(request), data=request.POST)
        if error is not None:
            return _show(request, view, "check", [error], status=422)
        return redirect(f"{view.href('check')}?tab=findings")
    outcome = freeze(view, request.user, seen=_seen(request), digest=request.POST.get("digest", ""))
    if isinstance(outcome, FieldError):
        fresh = _draft_view(request, view.project.slug, view.resource.slug)
        return _show(request, fresh, "check", [outcome], status=409)
    return redirect("hub:publish-done", view.project.slug, view.resource.slug, outcome)


PAGES: dict[str, Callable[[DraftView, Sequence[FieldError], SignedInRequest], object]] = {
    "release": lambda view, errors, _: release_page(view, errors),
    "results": lambda view, errors, _: ResultsStep(view).page(errors),
    "disclosure": lambda view, errors, _: disclosure_page(view, errors),
    "text": lambda view, errors, _: text_page(view, errors),
    "check": lambda view, errors, request: check_page(view, request.GET.get("tab", ""), errors),
}
ANSWERS = {
    "release": _answer_release,
    "results": _answer_results,
    "disclosure": _answer_disclosure,
    "text": _answer_text,
    "check": _answer_check,
}
