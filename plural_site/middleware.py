"""Request ids for logs and error pages, response headers that Django does not set, sign-in by default."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

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
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response

    return middleware


class SignInRequiredMiddleware(LoginRequiredMiddleware):
    """Every view needs a signed-in person unless marked `login_not_required`; the API answers for itself."""

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., Any], view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        if request.path_info.startswith("/api/"):
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)
