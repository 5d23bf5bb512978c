"""What somebody sent after their sign-in had ended: kept, signed, on the sign-in page, and sent again.

Nothing is stored. Cross-site requests never come this far, since the check against them comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from plural_site.accounts.forms import SignInForm

View = TypeVar("View", bound=Callable[..., Any])
SALT = "plural_site.accounts.kept"
VALID_FOR = 24 * 60 * 60  # seconds


@dataclass(frozen=True, slots=True)
class Kept:
    """Where it was sent, and the fields in their order."""

    path: str
    fields: tuple[tuple[str, str], ...]


def keeps_what_was_sent(view: View) -> View:
    """Decorator for views that take long answers. Put it outermost."""
    view.keeps_what_was_sent = True  # type: ignore[attr-defined]
    return view


def is_kept(request: HttpRequest, view: Callable[..., Any]) -> bool:
    return request.method == "POST" and getattr(view, "keeps_what_was_sent", False)


def sign_in_first(request: HttpRequest) -> HttpResponse:
    """The sign-in page, holding what was sent."""
    fields = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name != "csrfmiddlewaretoken"
    ]
    text = signing.dumps({"path": request.path, "fields": fields}, salt=SALT, compress=True)
    context = {
        "form": SignInForm(request),
        "kept": text,
        "next": request.path,
        "openid": None,
    }
    return render(request, "accounts/sign_in.html", context, status=401)


def read(text: str) -> Kept | None:
    """None for what was not kept here, or too long ago."""
    try:
        held = signing.loads(text, salt=SALT, max_age=VALID_FOR)
    except signing.BadSignature:
        return None
    return Kept(held["path"], tuple((name, value) for name, value in held["fields"]))
