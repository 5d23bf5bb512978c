"""Pages about the reader: profile, password, sessions, API keys, accounts."""

from __future__ import annotations

from typing import cast

from django.contrib.auth import update_session_auth_hash
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from plural_site.accounts.access import AccountNeed, Need, SignedInRequest, account_for, project_for
from plural_site.accounts.actions import create_api_key, free_slug, set_password
from plural_site.accounts.actions_people import (
    change_profile,
    create_organization,
    end_sessions,
    expiry,
    revoke_key,
)
from plural_site.accounts.forms import AccountForm, KeyForm, PasswordForm, ProfileForm
from plural_site.accounts.frame import FormPage, QuestionPage, own_frame
from plural_site.accounts.handling import once, render_form, say, try_act
from plural_site.accounts.key_pages import own_keys_page, places_for_keys
from plural_site.accounts.models import Account, ApiKey, KeyAbility, Project, User
from plural_site.accounts.own_pages import accounts_page, sessions_page
from plural_site.formats import clean_text

read_or_send = require_http_methods(["GET", "HEAD", "POST"])


@read_or_send
def profile(request: SignedInRequest) -> HttpResponse:
    form = ProfileForm(request.POST or None, initial={"name": request.user.name})
    if request.method == "POST" and try_act(
        form, lambda: change_profile(actor=request.user, name=form.cleaned_data["name"])
    ):
        say(request, "Saved.")
        return redirect("accounts:profile")
    text = (f"You sign in as {request.user.email}.",)
    return render_form(request, form, FormPage(own_frame("profile"), "Profile", "Save", text))


@read_or_send
def password(request: SignedInRequest) -> HttpResponse:
    """A person without a password sets a first one; else the current one is asked for."""
    user = request.user
    form = PasswordForm(request.POST or None)
    if not user.has_usable_password():
        del form.fields["current"]
    if request.method == "POST" and try_act(form, lambda: _change_password(request, form), "password"):
        say(request, "Your password is changed. All your other sessions have ended.")
        return redirect("accounts:password")
    text = () if user.has_usable_password() else ("You have no password yet and come in by links only.",)
    return render_form(request, form, FormPage(own_frame("password"), "Password", "Change password", text))


def _change_password(request: SignedInRequest, form: PasswordForm) -> None:
    user = request.user
    if "current" in form.fields and not user.check_password(form.cleaned_data["current"]):
        raise ValidationError({"current": "This is not your current password."})
    set_password(actor=user, user=user, password=form.cleaned_data["password"])
    update_session_auth_hash(request, user)
    end_sessions(actor=user, current_key=cast("str", request.session.session_key), chosen=None)


@require_safe
def sessions(request: SignedInRequest) -> HttpResponse:
    page = sessions_page(request.user, cast("str", request.session.session_key))
    return render(request, "accounts/sessions.html", {"page": page})


@require_POST
def sessions_end(request: SignedInRequest) -> HttpResponse:
    chosen = request.POST.get("session") or None
    if chosen is None and "others" not in request.POST:
        return redirect("accounts:sessions")
    ended = end_sessions(
        actor=request.user, current_key=cast("str", request.session.session_key), chosen=chosen
    )
    say(request, "One session has ended." if ended == 1 else f"{ended} sessions have ended.")
    return redirect("accounts:sessions")


@read_or_send
def keys(request: SignedInRequest) -> HttpResponse:
    """The page that answers a new key is the only one that shows it."""
    form = KeyForm(request.POST or None, places=places_for_keys(request.user))
    made: list[tuple[ApiKey, str]] = []
    if request.method == "POST" and try_act(
        form, lambda: made.append(_make_key(request.user, form)), "place"
    ):
        key, secret = made[0]
        page = own_keys_page(request.user, secret=secret, made=key)
        form = KeyForm(places=places_for_keys(request.user))
        return once(render(request, "accounts/keys.html", {"page": page, "form": form}))
    return render(request, "accounts/keys.html", {"page": own_keys_page(request.user), "form": form})


def _make_key(user: User, form: KeyForm) -> tuple[ApiKey, str]:
    kind, _, slug = form.cleaned_data["place"].partition(":")
    days = form.cleaned_data["days"]
    project: Project | None = None
    account: Account
    try:
        if kind == "project":
            project = project_for(user, slug, Need.READ)
            account = project.account
        else:
            account = _account_of(user, slug)
    except (Http404, PermissionDenied) as error:
        raise ValidationError("You can't make a key for that any more.") from error
    return create_api_key(
        actor=user,
        account=account,
        project=project,
        label=form.cleaned_data["label"],
        ability=KeyAbility(form.cleaned_data["ability"]),
        expires_at=expiry(int(days) if days else None),
    )


def _account_of(user: User, slug: str) -> Account:
    """An account in which `user` is, or in which they have a project."""
    project = Project.objects.visible_to(user).filter(account__slug=slug).select_related("account").first()
    return project.account if project else account_for(user, slug, AccountNeed.READ)[0]


@read_or_send
def key_revoke(request: SignedInRequest, pk: int) -> HttpResponse:
    key = get_object_or_404(ApiKey.objects.select_related("project", "account"), pk=pk, user=request.user)
    return answer_revoke(
        request, key, QuestionPage(own_frame("keys"), *revoke_question(key), "/account/keys")
    )


def revoke_question(key: ApiKey) -> tuple[str, tuple[str, ...], str]:
    """Title, text and button."""
    what = clean_text(key.label) or f"{key.prefix}…"
    text = "Programs that use it stop working at once. A revoked key can't be brought back."
    return f"Revoke the key “{what}”?", (text,), "Revoke key"


def answer_revoke(request: SignedInRequest, key: ApiKey, question: QuestionPage) -> HttpResponse:
    """Asks on GET, revokes on POST."""
    if request.method != "POST":
        return render(request, "accounts/question.html", {"page": question})
    revoke_key(actor=request.user, key=key)
    say(request, f"The key {key.prefix}… is revoked.")
    return redirect(question.back_href)


@require_safe
def accounts(request: SignedInRequest) -> HttpResponse:
    return render(request, "accounts/accounts.html", {"page": accounts_page(request.user)})


@read_or_send
def account_new(request: SignedInRequest) -> HttpResponse:
    form = AccountForm(request.POST or None)
    made: list[Account] = []
    if request.method == "POST" and try_act(
        form,
        lambda: made.append(
            create_organization(
                actor=request.user,
                slug=form.cleaned_data["slug"] or free_slug(Account, form.cleaned_data["name"], "account"),
                name=form.cleaned_data["name"],
            )
        ),
        "slug",
    ):
        say(request, "The organization is made. You own it.")
        return redirect("accounts:account", made[0].slug)
    text = ("An organization owns projects together with the people you invite.",)
    page = FormPage(own_frame("accounts"), "New organization", "Make organization", text, "/accounts")
    return render_form(request, form, page)
