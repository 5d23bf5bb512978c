"""The HTTP API, assembled from the routers of the apps. Errors are `{"detail": "text"}`."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, ValidationError

from hub.api import router as hub_router
from jobs.api import router as jobs_router
from plural_site import errors
from plural_site.accounts.limits import TooManyRequestsError
from plural_site.api_auth import KeyOrSession

api = NinjaAPI(
    title="Plural Site",
    version="1",
    auth=KeyOrSession(),
    docs_url=None,
    openapi_url="/openapi.json",
    urls_namespace="api",
)
api.add_router("", jobs_router)
api.add_router("", hub_router)


@api.exception_handler(Http404)
def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return api.create_response(request, {"detail": str(error) or "Not found."}, status=404)


@api.exception_handler(PermissionDenied)
def forbidden(request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    return api.create_response(request, {"detail": str(error) or "Not allowed."}, status=403)


@api.exception_handler(AuthenticationError)
def unauthenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    detail = "Send a valid API key as `Authorization: Bearer KEY`."
    response = api.create_response(request, {"detail": detail}, status=401)
    response.headers["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(TooManyRequestsError)
def too_many_requests(request: HttpRequest, error: TooManyRequestsError) -> HttpResponse:
    return errors.too_many_requests(request, error.retry_after, as_json=True)


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    problems = "; ".join(f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in error.errors)
    return api.create_response(request, {"detail": problems}, status=422)
