"""Sessions that their person can list and end: Django's, in a table that says whose they are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth import login
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.http import HttpRequest
from django.utils import timezone

from plural_site.accounts.models import BrowserSession, User

SEEN_STEP = timedelta(minutes=10)
"""How old the time of the last visit may grow before it is written again."""
SINCE, SEEN, BROWSER = "signed_in_at", "seen_at", "browser"  # keys of the session's data

BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
)
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


class SessionStore(DatabaseStore):
    @classmethod
    def get_model_class(cls) -> type[BrowserSession]:
        return BrowserSession

    def create_model_instance(self, data: Mapping[str, Any]) -> BrowserSession:
        user_id = data.get("_auth_user_id")
        return BrowserSession(
            session_key=self._get_or_create_session_key(),  # type: ignore[attr-defined]  # not in the stubs
            session_data=self.encode(dict(data)),
            expire_date=self.get_expiry_date(),
            user_id=int(user_id) if user_id else None,
            browser=data.get(BROWSER, ""),
            signed_in_at=_moment(data.get(SINCE)),
            last_seen_at=_moment(data.get(SEEN)) or timezone.now(),
        )


def sign_in_browser(request: HttpRequest, user: User) -> None:
    """Signs `user` in and notes where and when."""
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    now = timezone.now().isoformat()
    request.session[BROWSER] = browser_in_words(request.headers.get("User-Agent", ""))
    request.session[SINCE] = request.session[SEEN] = now


def note_visit(request: HttpRequest) -> None:
    """Renews the time of the last visit where it has grown old."""
    seen = _moment(request.session.get(SEEN))
    now = timezone.now()
    if seen is not None and now - seen >= SEEN_STEP:
        request.session[SEEN] = now.isoformat()


def public_id(session_key: str) -> str:
    """What pages call a session: its key itself would let whoever reads it in."""
    return hashlib.sha256(f"session {session_key}".encode()).hexdigest()[:16]


def browser_in_words(user_agent: str) -> str:
    """E.g. "Firefox on Linux"; "Unknown browser" where nothing is recognised."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    if (
        not browser
        and (product := re.match(r"([A-Za-z][\w.-]{1,30})/", user_agent))
        and "Mozilla" not in product[1]
    ):
        browser = product[1]
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    return f"{browser or 'Unknown browser'} on {system}" if system else browser or "Unknown browser"


def _moment(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment else None
