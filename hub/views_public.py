"""The public Hub. Anybody may look: each view parses, asks a selector and renders."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.domain.types import DomainError
from benchmarks.pages import Crumb
from hub.public import Target, resolve, target, target_of_result
from hub.public_board import PublicState
from hub.public_history import crumbs_of, diff_page, history_page
from hub.public_home import HubQuery, home_page
from hub.public_links import history_href, json_href
from hub.public_pages import ResolvePage, UnreadablePage
from hub.public_publication import publication_page
from hub.public_read import UnreadableError, find_place
from hub.public_result import result_page
from hub.public_verify import verify_page
from plural_site.http import render_page

GONE = 410
View = Callable[..., HttpResponse]


def public(view: View) -> View:
    """Open to anybody, for reading. What can't be read as a manifest says so."""

    @login_not_required
    @require_safe
    @wraps(view)
    def opened(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except UnreadableError as error:
            return _unreadable(request, error, **kwargs)

    return opened


def _unreadable(
    request: HttpRequest, error: UnreadableError, account: str, slug: str, **more: str
) -> HttpResponse:
    place = find_place(account, slug)
    page = UnreadablePage(
        crumbs=(*crumbs_of(place), Crumb("Unreadable manifest")),
        digest=error.digest,
        why=str(error),
        json_href=json_href(error.digest),
        history_href=history_href(place),
    )
    return render(request, "hub/unreadable.html", {"page": page}, status=GONE)


@public
def home(request: HttpRequest) -> HttpResponse:
    page = home_page(HubQuery.parse(request.GET))
    return render_page(request, "hub/home.html", "hub/_listings.html", {"page": page})


@public
def publication(request: HttpRequest, account: str, slug: str) -> HttpResponse:
    return _publication(request, target(account, slug))


@public
def release(request: HttpRequest, account: str, slug: str, version: str) -> HttpResponse:
    return _publication(request, target(account, slug, version=version))


@public
def manifest(request: HttpRequest, account: str, slug: str, digest: str) -> HttpResponse:
    """As of this manifest: what it says never changes."""
    return _publication(request, target(account, slug, digest=digest))


def _publication(request: HttpRequest, found: Target) -> HttpResponse:
    state = PublicState.parse(request.GET)
    page = publication_page(found.place, found.record, found.published, found.links, state)
    response = render_page(
        request, "hub/publication.html", "hub/_board.html", {"page": page}, _status(request, found)
    )
    if page.board:
        response.headers["HX-Push-Url"] = page.board.this_href  # without what a form leaves empty
    return response


def _status(request: HttpRequest, found: Target) -> int:
    """410 where the newest thing at this address is that it was withdrawn. htmx swaps in no error."""
    stands = found.links.is_pinned or found.line.withdrawal is None
    return 200 if stands or getattr(request, "htmx", False) else GONE


@public
def history(request: HttpRequest, account: str, slug: str) -> HttpResponse:
    return render(request, "hub/history.html", {"page": history_page(find_place(account, slug))})


@public
def diff(request: HttpRequest, account: str, slug: str) -> HttpResponse:
    place = find_place(account, slug)
    page = diff_page(place, request.GET.get("from", ""), request.GET.get("to", ""))
    return render(request, "hub/diff.html", {"page": page})


@public
def result(request: HttpRequest, account: str, slug: str, result: str, digest: str = "") -> HttpResponse:
    found = target(account, slug, digest=digest) if digest else target_of_result(account, slug, result)
    page = result_page(found.place, found.record, found.published, found.links, result)
    return render(request, "hub/result.html", {"page": page}, status=_status(request, found))


@public
def verify(request: HttpRequest, account: str, slug: str, digest: str) -> HttpResponse:
    found = target(account, slug, digest=digest)
    return render(request, "hub/verify.html", {"page": verify_page(found.place, found.record)})


@login_not_required
@require_safe
def resolve_reference(request: HttpRequest) -> HttpResponse:
    """Leads from a reference to the manifest's page; without one, asks for it."""
    text = request.GET.get("ref", "").strip()
    if not text:
        return render(request, "hub/resolve.html", {"page": ResolvePage("", "")})
    try:
        return HttpResponseRedirect(resolve(text).href)
    except DomainError as error:
        problem, status = str(error), 400
    except Http404:
        problem, status = "Nothing published here has this digest.", 404
    return render(request, "hub/resolve.html", {"page": ResolvePage(text[:500], problem)}, status=status)
