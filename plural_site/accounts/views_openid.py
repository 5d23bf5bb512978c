"""Sign-in by a provider of OpenID Connect. There is nothing here unless one is configured."""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from plural_site.accounts.actions_people import person_of_identity
from plural_site.accounts.handling import whole
from plural_site.accounts.sessions import sign_in_browser
from plural_site.accounts.views import safe_next
from plural_site.env import OpenId

NEXT = "openid_next"  # key of the session's data

logger = logging.getLogger(__name__)


@login_not_required
@never_cache
@require_safe
def start(request: HttpRequest) -> HttpResponseBase:
    provider = _provider()
    from plural_site.accounts import openid  # noqa: PLC0415 - needs an extra that may not be there

    request.session[NEXT] = safe_next(request, request.GET.get("next", ""))
    try:
        return openid.redirect_to_provider(request, provider, whole(reverse("accounts:openid-callback")))
    except openid.OpenIdError as error:
        return _failed(request, provider, error)


@login_not_required
@never_cache
@require_safe
def callback(request: HttpRequest) -> HttpResponseBase:
    provider = _provider()
    from plural_site.accounts import openid  # noqa: PLC0415 - needs an extra that may not be there

    try:
        claims = openid.claims_of_callback(request, provider)
        user = person_of_identity(
            issuer=claims.issuer,
            subject=claims.subject,
            email=claims.email,
            name=claims.name,
            new_people=provider.new_people,
        )
    except (openid.OpenIdError, ValidationError) as error:
        return _failed(request, provider, error)
    target = request.session.pop(NEXT, None) or reverse("accounts:home")
    sign_in_browser(request, user)
    return redirect(target)


def _provider() -> OpenId:
    provider: OpenId | None = settings.OPENID
    if provider is None:
        raise Http404("No provider is configured.")
    return provider


def _failed(request: HttpRequest, provider: OpenId, error: Exception) -> HttpResponse:
    """Only refusals of ours are told; what the provider says goes into the log."""
    logger.warning("Sign-in by %s failed: %s", provider.issuer, error)
    reason = " ".join(error.messages) if isinstance(error, ValidationError) else ""
    context = {"provider": provider.name, "reason": reason}
    return render(request, "accounts/openid_failed.html", context, status=403 if reason else 502)
