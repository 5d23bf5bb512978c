"""What views about people share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers

from plural_site.accounts.frame import FormPage
from plural_site.accounts.models import Account, Project


def try_act(form: forms.Form, act: Callable[[], object], field: str | None = None) -> bool:
    """Whether a valid form could be acted upon; what was wrong stands in the form."""
    if not form.is_valid():
        return False
    try:
        act()
    except ValidationError as error:
        names_fields = hasattr(error, "error_dict")
        form.add_error(None if names_fields or field not in form.fields else field, error)
        return False
    return True


def render_form(request: HttpRequest, form: forms.Form, page: FormPage, **context: Any) -> HttpResponse:
    return render(request, "accounts/form.html", {"page": page, "form": form, **context})


def say(request: HttpRequest, text: str) -> None:
    messages.success(request, text)


def refuse(request: HttpRequest, error: ValidationError) -> None:
    messages.error(request, " ".join(error.messages))


def once(response: HttpResponse) -> HttpResponse:
    """For a page with a secret, which no cache may keep."""
    add_never_cache_headers(response)
    return response


def whole(path: str) -> str:
    return settings.PLURAL_SITE_URL + path


def place_name(place: Account | Project) -> str:
    kind = "account" if isinstance(place, Account) else "project"
    return f"the {kind} {place.name}"


def link_context(secret_path: str, email: str, *, sent: bool) -> dict[str, str]:
    """What a members page says of a new invitation."""
    whom = f"Only {email} can use it" if email else "Whoever has it can use it"
    note = f"It is shown now and never again. {whom}, once, within 7 days."
    if sent:
        note += f" It has been sent to {email} too."
    return {"link": whole(secret_path), "link_title": "Invitation", "link_note": note}
