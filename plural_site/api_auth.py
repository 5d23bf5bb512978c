"""Who calls the API and for which project: a Bearer key, or the session of a signed-in person."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from ninja.errors import HttpError
from ninja.security.base import AuthBase

from plural_site.accounts import limits
from plural_site.accounts.access import Need, authenticate_key, project_for, project_for_key, projects_of
from plural_site.accounts.models import ApiKey, Project, User
from plural_site.logging import note

NO_PROJECT = "Name the project in the X-Project-Id header (its id or slug)."


class KeyOrSession(AuthBase):
    """A request with an Authorization header is judged by it alone.

    Raises TooManyRequestsError beyond the bound of the key; for what is no key, of the IP address.
    """

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __call__(self, request: HttpRequest) -> ApiKey | User | None:
        header = request.headers.get("Authorization")
        if header is not None:
            scheme, _, secret = header.partition(" ")
            key = authenticate_key(secret.strip()) if scheme.lower() == "bearer" else None
            if key is None:
                limits.check(f"ip:{limits.client_ip(request)}", settings.IP_RATE_LIMIT)
            else:
                note(user=key.user_id, key=key.prefix)
                limits.check(f"key:{key.pk}", settings.KEY_RATE_LIMIT)
            return key
        return request.user if request.user.is_authenticated else None


class Anybody(AuthBase):
    """Whoever asks. The middleware counts requests without an Authorization header; with one, this does."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __call__(self, request: HttpRequest) -> bool:
        if "Authorization" in request.headers:
            limits.check(f"ip:{limits.client_ip(request)}", settings.IP_RATE_LIMIT)
        return True


def project_of(request: HttpRequest, need: Need) -> Project:
    """The project that a request names, by header, or by `project` in the address for links in pages.

    Raises Http404 where the caller may not see it, PermissionDenied where it may not do that there,
    HttpError 422 where no project is named and none can be inferred.
    """
    caller: ApiKey | User = request.auth  # type: ignore[attr-defined]  # set by ninja
    named = request.headers.get("X-Project-Id") or request.GET.get("project")
    if isinstance(caller, ApiKey):
        if named or caller.project_id is not None:
            return project_for_key(caller, named, need)
        only = list(projects_of(caller.user).filter(account=caller.account_id)[:2])
        if len(only) == 1:
            return project_for_key(caller, only[0].slug, need)
        raise HttpError(422, NO_PROJECT)
    if not named:
        raise HttpError(422, NO_PROJECT)
    return project_for(caller, named, need)
