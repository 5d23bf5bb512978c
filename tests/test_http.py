"""Paging, fragments, headers, error pages, health."""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import path
from django.utils import timezone
from django_htmx.middleware import HtmxMiddleware

from plural_site.accounts.models import AuditEvent, User
from plural_site.http import paginate, render_page

if TYPE_CHECKING:
    from tests.conftest import ClientAs

PAGE, FRAGMENT = "errors/404.html", "errors/_ways_out.html"


def _render(**headers: str) -> HttpResponse:
    request = RequestFactory().get("/", headers=headers)
    HtmxMiddleware(lambda _: HttpResponse())(request)
    return render_page(request, PAGE, FRAGMENT, {"request_id": "r"}, status=418)


@pytest.mark.parametrize(
    ("headers", "is_page"),
    [
        ({}, True),
        ({"HX-Request": "true"}, False),
        ({"HX-Request": "true", "HX-Boosted": "true"}, True),
        ({"HX-Request": "true", "HX-History-Restore-Request": "true"}, True),
    ],
)
def test_render_page_gives_the_fragment_to_htmx_only(headers: dict[str, str], is_page: bool) -> None:
    response = _render(**headers)
    assert (b"<html" in response.content) == is_page
    assert b"<code>r</code>" in response.content
    assert "HX-Request" in response.headers["Vary"]
    assert response.status_code == 418


@pytest.fixture
def events(ann: User) -> list[AuditEvent]:
    """Twelve events, in groups of equal times, by verb and id."""
    AuditEvent.objects.bulk_create(
        AuditEvent(actor=ann, verb=f"v{number % 3}", object_type="x", object_id=str(number))
        for number in range(12)
    )
    return list(AuditEvent.objects.order_by("verb", "-id"))


def _all_pages(order: list[str], size: int) -> list[AuditEvent]:
    found: list[AuditEvent] = []
    cursor: str | None = None
    while True:
        page = paginate(AuditEvent.objects.all(), order=order, cursor=cursor, size=size)
        assert len(page.items) <= size
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("size", [1, 3, 5, 13, 50])
@pytest.mark.parametrize(
    "order",
    [[], ["verb"], ["-verb"], ["-created_at"], ["verb", "-created_at"], ["project"], ["-actor_key", "verb"]],
)
def test_pages_together_are_the_whole_in_order(order: list[str], size: int, events: list[AuditEvent]) -> None:
    whole = list(AuditEvent.objects.order_by(*order, "id"))
    assert _all_pages(order, size) == whole
    assert len(whole) == 13


@pytest.mark.parametrize("order", [["last_login"], ["-last_login"]])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_nulls_come_last_both_ways(
    order: list[str], size: int, ann: User, ben: User, cy: User, dee: User
) -> None:
    now = timezone.now()
    User.objects.filter(pk=ann.pk).update(last_login=now)
    User.objects.filter(pk=cy.pk).update(last_login=now + timedelta(microseconds=1))
    found: list[User] = []
    cursor: str | None = ""
    while cursor is not None:
        page = paginate(User.objects.all(), order=order, cursor=cursor, size=size)
        found, cursor = found + page.items, page.next_cursor
    assert found == ([ann, cy] if order == ["last_login"] else [cy, ann]) + [ben, dee]


def test_rows_added_meanwhile_neither_repeat_nor_hide_others(events: list[AuditEvent], ann: User) -> None:
    first = paginate(AuditEvent.objects.all(), order=["-created_at"], cursor=None, size=5)
    AuditEvent.objects.create(actor=ann, verb="new", object_type="x", object_id="1")
    second = paginate(AuditEvent.objects.all(), order=["-created_at"], cursor=first.next_cursor, size=50)
    assert len(first.items + second.items) == len({event.pk for event in first.items + second.items}) == 13


def _cursor(*values: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "é",
        "\0",
        "A" * 5000,
        base64.urlsafe_b64encode(b"[" * 600).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
        _cursor(),
        _cursor(1),
        _cursor(1, 2, 3),
        _cursor({"a": 1}, 2),
        _cursor("2026-11-30", 1),
        _cursor("2026-11-30T00:00:00", 1),
        _cursor("0001-01-01T00:00:00+23:00", 1),
        _cursor("2026-99-99T00:00:00Z", 1),
        _cursor(None, 1),
        _cursor("2026-11-30T00:00:00Z", None),
        _cursor("2026-11-30T00:00:00Z", "x"),
        _cursor("2026-11-30T00:00:00Z", float("nan")),
        _cursor("2026-11-30T00:00:00Z", float("inf")),
    ],
)
def test_cursor_that_makes_no_sense_gives_the_first_page(cursor: str, events: list[AuditEvent]) -> None:
    first = paginate(AuditEvent.objects.all(), order=["created_at"], cursor=None, size=4)
    assert paginate(AuditEvent.objects.all(), order=["created_at"], cursor=cursor, size=4) == first


@pytest.mark.parametrize("verb", ["\0", "\ud800", "x" * 500])
def test_cursor_with_text_that_no_database_takes_does_no_harm(verb: str, events: list[AuditEvent]) -> None:
    for pk in (1, 10**30):
        page = paginate(AuditEvent.objects.all(), order=["verb"], cursor=_cursor(verb, pk), size=4)
        assert len(page.items) in {0, 4}


@pytest.mark.django_db
def test_headers_of_every_page(client: Client) -> None:
    headers = client.get("/sign-in").headers
    assert set(headers["Content-Security-Policy"].split("; ")) == {
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
        "img-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "form-action 'self'",
    }
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Permissions-Policy"].startswith("camera=()")
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_signed_in_pages_are_not_kept_by_caches(ann: User, client_as: ClientAs) -> None:
    assert client_as(ann).get("/").headers["Cache-Control"] == "private, no-cache"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "kept"), [("proxy-0123.a_b", True), ("short", False), ("a b c d e f", False)]
)
def test_request_id_is_taken_over_if_harmless(given: str, kept: bool, client: Client) -> None:
    answered = client.get("/healthz", headers={"X-Request-ID": given}).headers["X-Request-ID"]
    assert (answered == given) == kept
    assert len(answered) >= 8


def _refuse(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied("Only managers may do that.")


def _break(request: HttpRequest) -> HttpResponse:
    raise RuntimeError


def _urls_with_faults() -> ModuleType:
    """The site's table with two views that fail."""
    site, module = vars(import_module("plural_site.urls")), ModuleType("urls_with_faults")
    views = [path("refuse", _refuse), path("break", _break)]
    vars(module).update(site | {"urlpatterns": views + site["urlpatterns"]})
    return module


@pytest.mark.parametrize(
    ("address", "status", "headers"),
    [
        ("/no-such", 404, {}),
        ("/refuse", 403, {}),
        ("/break", 500, {}),
        ("/sign-in", 400, {"Host": "evil.example"}),
    ],
)
def test_error_page_keeps_the_frame_and_shows_the_request_id(
    address: str, status: int, headers: dict[str, str], ann: User, client_as: ClientAs, settings: Any
) -> None:
    settings.ROOT_URLCONF = _urls_with_faults()
    client = client_as(ann)
    client.raise_request_exception = False
    response = client.get(address, headers=headers | {"X-Request-ID": "request-0123"})
    page = response.content.decode()
    assert response.status_code == status
    assert "site-header" in page
    assert "<code>request-0123</code>" in page
    assert response.headers["X-Frame-Options"] == "DENY"


def test_form_without_token_is_refused_with_an_explanation(ann: User) -> None:
    response = Client(enforce_csrf_checks=True).post("/theme", {"theme": "dark"})
    assert response.status_code == 403
    assert "form" in response.content.decode()


@pytest.mark.django_db
def test_static_files_are_served_without_collecting(client: Client) -> None:
    response = client.get("/static/css/tokens.css")
    assert response.status_code == 200
    assert b"--page" in b"".join(response)
    assert "script-src 'self'" in response.headers["Content-Security-Policy"]
