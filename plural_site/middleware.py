"""Request ids, response headers that Django does not set, sign-in by default, a bound on requests."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from plural_site import errors
from plural_site.accounts import kept, limits
from plural_site.accounts.sessions import note_visit
from plural_site.logging import current_request_id

GetResponse = Callable[[HttpRequest], HttpResponse]

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()" for feature in ("camera", "geolocation", "microphone", "payment", "usb")
)


def request_id(get_response: GetResponse) -> GetResponse:
    """Takes over the proxy's X-Request-ID, or makes one, and repeats it in the response."""

    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        identifier = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        # Not reset afterwards: Django logs refused requests when every middleware has returned.
        current_request_id.set(identifier)
        response = get_response(request)
        response.headers["X-Request-ID"] = identifier
        return response

    return middleware


def response_headers(get_response: GetResponse) -> GetResponse:
    """Pages depend on who asks, so no shared cache may keep one unless its view says so."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        response.headers["Permissions-Policy"] = PERMISSIONS_POLICY
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response

    return middleware


def rate_limit(get_response: GetResponse) -> GetResponse:
    """Bounds requests without a sign-in by IP address; those with a key are bounded where it is checked."""

    def middleware(request: HttpRequest) -> HttpResponse:
        is_api = request.path_info.startswith("/api/")
        by_key = is_api and "Authorization" in request.headers
        if by_key or request.path_info == "/healthz" or request.user.is_authenticated:
            return get_response(request)
        try:
            limits.check(f"ip:{limits.client_ip(request)}", settings.IP_RATE_LIMIT)
        except limits.TooManyRequestsError as error:
            return errors.too_many_requests(request, error.retry_after, as_json=is_api)
        return get_response(request)

    return middleware


class SignInRequiredMiddleware(LoginRequiredMiddleware):
    """Every view needs a signed-in person unless marked `login_not_required`; the API answers for itself."""

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., Any], view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        if request.path_info.startswith("/api/"):
            return None
        if request.user.is_authenticated:
            note_visit(request)
        elif kept.is_kept(request, view_func):
            return kept.sign_in_first(request)
        return super().process_view(request, view_func, view_args, view_kwargs)
