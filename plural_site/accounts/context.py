"""What every template gets."""

from __future__ import annotations

from django.http import HttpRequest

THEMES = ("light", "dark")
THEME_COOKIE = "theme"


def theme(request: HttpRequest) -> dict[str, str]:
    """`theme` for `<html data-theme>`, from the cookie that the theme form sets; '' follows the system."""
    chosen = request.COOKIES.get(THEME_COOKIE, "")
    return {"theme": chosen if chosen in THEMES else ""}
