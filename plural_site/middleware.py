"""What every request goes through: who it comes from, its line in the log, headers, sign-in, a bound."""

from __future__ import annotations

import ipaddress
import logging
import re
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from plural_site import errors, metrics
from plural_site.accounts import kept, limits
from plural_site.accounts.sessions import note_visit
from plural_site.logging import begin_request, note, safe_path

GetResponse = Callable[[HttpRequest], HttpResponse]

log, log_request = logging.getLogger(__name__), logging.getLogger("plural_site.request")

FORWARDED = (
    "HTTP_FORWARDED",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PORT",
    "HTTP_X_FORWARDED_PROTO",
)
MOST_TOLD = 100
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
MONITORING = frozenset({"/healthz", "/readyz"})
QUIET = frozenset({"static", "healthz", "readyz", "metrics"})
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()" for feature in ("camera", "geolocation", "microphone", "payment", "usb")
)


def forwarded(get_response: GetResponse) -> GetResponse:
    """Drops what a proxy would tell of a request, unless it comes from one of our own.

    So nobody who reaches this process past the proxy can give himself another address, or claim https.
    """
    told: set[str] = set()

    def middleware(request: HttpRequest) -> HttpResponse:
        address = request.META.get("REMOTE_ADDR", "")
        if not settings.PROXIES or not _is_trusted(address):
            dropped = [request.META.pop(name) for name in FORWARDED if name in request.META]
            if dropped and settings.PROXIES and address not in told and len(told) < MOST_TOLD:
                told.add(address)
                log.warning("X-Forwarded headers from %s are not believed: see TRUSTED_PROXIES", address)
        return get_response(request)

    return middleware


def _is_trusted(address: str) -> bool:
    if not address:  # a Unix socket, which only this machine reaches
        return True
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    return any(parsed in network for network in settings.TRUSTED_PROXIES)


def observed(get_response: GetResponse) -> GetResponse:
    """Takes over the proxy's X-Request-ID, or makes one, and repeats it; logs and measures each request."""

    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        identifier = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        # Not reset afterwards: Django logs refused requests when every middleware has returned.
        begin_request(identifier)
        started = time.monotonic()
        response = get_response(request)
        response.headers["X-Request-ID"] = identifier
        _observe(request, response, time.monotonic() - started)
        return response

    return middleware


def _observe(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    """`seconds` until the answer begins: one that streams takes as long as its reader."""
    route = _route(request)
    facts = {
        "method": request.method if request.method in METHODS else "OTHER",
        "path": safe_path(request.path),
        "route": route,
        "status": response.status_code,
        "duration_ms": round(1000 * seconds, 1),
    }
    level = logging.DEBUG if route in QUIET else logging.INFO
    words = (facts["method"], facts["path"], facts["status"], facts["duration_ms"])
    log_request.log(level, "%s %s %s in %s ms", *words, extra={"facts": facts})
    if settings.METRICS_TOKEN:
        metrics.count_request(str(facts["method"]), route, response.status_code, seconds)


def _route(request: HttpRequest) -> str:
    """The name of the address's view. Of one that nobody answers to: "static" or "none"."""
    match = request.resolver_match
    if match:
        return match.view_name
    return "static" if request.path.startswith(settings.STATIC_URL) else "none"


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
        if by_key or request.path_info in MONITORING:
            return get_response(request)
        if request.user.is_authenticated:
            note(user=request.user.pk)
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
