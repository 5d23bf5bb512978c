"""Signing in and out, the list of projects, the colour theme."""

from __future__ import annotations

import math
import random
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from plural_site.accounts.access import SignedInRequest
from plural_site.accounts.actions import use_sign_in_link
from plural_site.accounts.context import THEME_COOKIE, THEMES
from plural_site.accounts.forms import SignInForm
from plural_site.accounts.kept import read as read_kept
from plural_site.accounts.models import User
from plural_site.accounts.selectors import home_page
from plural_site.accounts.sessions import sign_in_browser
from plural_site.accounts.throttle import forget_old
from plural_site.accounts.tokens import user_of_link

YEAR = 365 * 24 * 60 * 60  # seconds
FORGET_SHARE = 0.02


class SignIn(LoginView):
    form_class = SignInForm
    template_name = "accounts/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kept = self.request.POST.get("kept", "")
        return {**super().get_context_data(**kwargs), "openid": settings.OPENID, "kept": kept}

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        sign_in_browser(self.request, form.get_user())
        if (kept := read_kept(self.request.POST.get("kept", ""))) is not None:
            return render(self.request, "accounts/send_again.html", {"page": kept})
        return redirect(self.get_success_url())

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_invalid(form)
        if isinstance(form, SignInForm) and form.wait is not None:
            response.status_code = 429
            response.headers["Retry-After"] = str(math.ceil(form.wait.total_seconds()))
        if random.random() < FORGET_SHARE:  # noqa: S311 - no secret
            forget_old()
        return response


sign_in = SignIn.as_view()


@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    """The person's projects, or the only one of them."""
    page = home_page(request.user)
    if len(page.projects) == 1:
        return redirect(page.projects[0].url)
    return render(request, "accounts/home.html", {"page": page})


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """A button on GET, so that previews of the link don't spend it; signs in on POST."""
    if request.method == "POST":
        user = use_sign_in_link(uid=uid, token=token)
        if user is not None:
            sign_in_browser(request, user)
            return redirect(safe_next(request, request.POST.get("next", "")))
    else:
        user = user_of_link(uid, token, User.objects.all())
    context = {"email": user.email if user else "", "next": request.GET.get("next", "")}
    return render(request, "accounts/sign_in_link.html", context, status=200 if user else 410)


@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keeps the colour theme in a cookie (none: as the system) and goes back to `next`."""
    response = redirect(safe_next(request, request.POST.get("next", "")))
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie(
            THEME_COOKIE, chosen, max_age=YEAR, httponly=True, samesite="Lax", secure=request.is_secure()
        )
    else:
        response.delete_cookie(THEME_COOKIE)
    return response


def safe_next(request: HttpRequest, target: str) -> str:
    """`target` if it is an address of this site, else the home page."""
    is_safe = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return target if is_safe else resolve_url("accounts:home")
