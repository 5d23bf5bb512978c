"""Error pages: a plain sentence in the frame of the site, and the id to quote when asking for help."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from plural_site.logging import current_request_id


class GoneError(Http404):
    """What the reader may see was here and was removed; the sentence says by what and when."""


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    # Without the request, whose very host name may be what is bad.
    context = {"request_id": current_request_id()}
    return HttpResponse(render_to_string("errors/400.html", context), status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 403, str(exception))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, GoneError):
        return _page(request, 410, str(exception))
    return _page(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    return _page(request, 500)


def too_many_requests(request: HttpRequest, retry_after: int, *, as_json: bool) -> HttpResponse:
    """`retry_after` in seconds; JSON in the shape of the API's errors."""
    text = f"Too many requests. Try again in {retry_after} s."
    response = JsonResponse({"detail": text}, status=429) if as_json else _page(request, 429, text)
    response.headers["Retry-After"] = str(retry_after)
    return response


@login_not_required
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _page(request, 403)


def _page(request: HttpRequest, status: int, reason: str = "") -> HttpResponse:
    context = {"reason": reason, "request_id": current_request_id()}
    return render(request, f"errors/{status}.html", context, status=status)
