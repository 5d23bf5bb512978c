"""Signing in and out, the list of projects, the colour theme."""

from __future__ import annotations

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
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
from plural_site.accounts.models import User
from plural_site.accounts.selectors import home_page
from plural_site.accounts.tokens import user_of_link

YEAR = 365 * 24 * 60 * 60  # seconds

sign_in = LoginView.as_view(
    form_class=SignInForm, template_name="accounts/sign_in.html", redirect_authenticated_user=True
)


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
            login(request, user)
            return redirect(_safe_next(request))
    else:
        user = user_of_link(uid, token, User.objects.all())
    context = {"email": user.email if user else "", "next": request.GET.get("next", "")}
    return render(request, "accounts/sign_in_link.html", context, status=200 if user else 410)


@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keeps the colour theme in a cookie (none: as the system) and goes back to `next`."""
    response = redirect(_safe_next(request))
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie(
            THEME_COOKIE, chosen, max_age=YEAR, httponly=True, samesite="Lax", secure=request.is_secure()
        )
    else:
        response.delete_cookie(THEME_COOKIE)
    return response


def _safe_next(request: HttpRequest) -> str:
    """`next` of the form if it is an address of this site, else the home page."""
    target = request.POST.get("next", "")
    is_safe = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return target if is_safe else resolve_url("accounts:home")
