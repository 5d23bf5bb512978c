"""What links open for people who are not signed in: an invitation, a new password."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache

from plural_site.accounts import mail
from plural_site.accounts.actions_people import (
    accept_as_new_person,
    accept_invitation,
    open_invitation,
    use_password_link,
)
from plural_site.accounts.forms import ForgotForm, NewPasswordForm, NewPersonForm
from plural_site.accounts.frame import FormPage, Frame
from plural_site.accounts.handling import place_name, refuse, render_form, say, try_act, whole
from plural_site.accounts.limits import client_ip
from plural_site.accounts.models import Invitation, User
from plural_site.accounts.sessions import sign_in_browser
from plural_site.accounts.throttle import begin_try, wait_text
from plural_site.accounts.tokens import password_path, user_of_password_link
from plural_site.accounts.views_own import read_or_send
from plural_site.formats import clean_text, datetime_text


@dataclass(frozen=True, slots=True)
class InvitationPage:
    """`title` is '' where the link no longer works. `reader` is who is signed in, or ''."""

    title: str
    role: str = ""
    expires: str = ""
    email: str = ""
    reader: str = ""
    is_for_reader: bool = False
    sign_in_href: str = ""


@login_not_required
@never_cache
@read_or_send
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Shows what the link gives; one button for who is signed in, a form for who is new."""
    found = open_invitation(secret)
    if found is None:
        return render(request, "accounts/invitation.html", {"page": InvitationPage("")}, status=410)
    reader = request.user if isinstance(request.user, User) else None
    form = NewPersonForm(request.POST or None, fixed_email=found.email)
    if request.method == "POST":
        try:
            if reader:
                return _welcome(request, accept_invitation(user=reader, secret=secret))
            if form.is_valid():
                return _take_in(request, form, secret)
        except ValidationError as error:
            refuse(request, error)
    context = {"page": _page(request, found, reader), "form": form}
    return render(request, "accounts/invitation.html", context)


def _take_in(request: HttpRequest, form: NewPersonForm, secret: str) -> HttpResponse:
    user, accepted = accept_as_new_person(
        secret=secret,
        email=form.cleaned_data.get("email", ""),
        name=form.cleaned_data["name"],
        password=form.cleaned_data["password"],
    )
    sign_in_browser(request, user)
    return _welcome(request, accepted)


def _welcome(request: HttpRequest, accepted: Invitation) -> HttpResponse:
    place = accepted.project or accepted.account
    assert place is not None  # noqa: S101 - by the table's constraint
    say(request, f"Welcome to {clean_text(place_name(place))}.")
    if accepted.project:
        return redirect(accepted.project)
    return redirect("accounts:account", place.slug)


def _page(request: HttpRequest, found: Invitation, reader: User | None) -> InvitationPage:
    place = found.project or found.account
    assert place is not None  # noqa: S101 - by the table's constraint
    by = clean_text(str(found.created_by))
    return InvitationPage(
        title=f"{by} invites you to {clean_text(place_name(place))}",
        role=f"{found.role}, with the right to publish" if found.may_publish else found.role,
        expires=datetime_text(found.expires_at),
        email=clean_text(found.email),
        reader=clean_text(reader.email) if reader else "",
        is_for_reader=reader is not None and found.email in {"", reader.email},
        sign_in_href=f"{reverse('accounts:sign-in')}?{urlencode({'next': request.path})}",
    )


@login_not_required
@never_cache
@read_or_send
def forgot(request: HttpRequest) -> HttpResponse:
    """Says and takes the same whether or not the address is known."""
    form = ForgotForm(request.POST or None)
    if not mail.is_configured():
        return render(request, "accounts/forgot.html", {"form": None, "sent": False})
    if request.method == "POST" and try_act(form, lambda: _send_link(request, form.cleaned_data["email"])):
        return render(request, "accounts/forgot.html", {"form": None, "sent": True})
    return render(request, "accounts/forgot.html", {"form": form, "sent": False})


def _send_link(request: HttpRequest, email: str) -> None:
    begun = begin_try(purpose="forgot", address=email, ip=client_ip(request))
    if isinstance(begun, timedelta):
        raise ValidationError(f"Too many requests. Try again in {wait_text(begun)}.")
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    # The same work for a person who is not there, so that the time tells nothing.
    someone = user or User(pk=0, email=email, password="!")  # noqa: S106 - an unusable password
    text = (
        "Somebody, perhaps you, asked for a new password.\n\nOpen this link within a day; it works once:\n\n"
        f"{whole(password_path(someone))}\n\nIf it wasn't you, ignore this: nothing has changed."
    )
    if user:
        mail.send_later(to=user.email, subject="A new password", text=text)
    else:
        mail.do_nothing_later()


@login_not_required
@never_cache
@read_or_send
def password_link(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    user = user_of_password_link(uid, token, User.objects.all())
    if user is None:
        return render(request, "accounts/password_link_gone.html", status=410)
    form = NewPasswordForm(request.POST or None)
    if request.method == "POST" and try_act(
        form,
        lambda: use_password_link(uid=uid, token=token, password=form.cleaned_data["password"]),
        "password",
    ):
        say(request, "Your password is set. Sign in with it.")
        return redirect("accounts:sign-in")
    page = FormPage(Frame(""), "New password", "Set password", (f"For {clean_text(user.email)}.",))
    return render_form(request, form, page)
