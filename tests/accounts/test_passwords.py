from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import TYPE_CHECKING

import pytest
import time_machine
from django.contrib.auth import authenticate
from django.core import mail as django_mail
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from plural_site.accounts import mail
from plural_site.accounts.actions import create_user
from plural_site.accounts.actions_people import create_organization
from plural_site.accounts.models import AccountMembership, AccountRole, AuditEvent, BrowserSession, User
from plural_site.accounts.tokens import password_path, sign_in_path

if TYPE_CHECKING:
    from tests.conftest import ClientAs

PASSWORD, NEW = "correct horse battery", "another horse battery"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def signed_in(user: User, agent: str = "") -> Client:
    client = Client(headers={"User-Agent": agent})
    assert client.post("/sign-in", {"username": user.email, "password": PASSWORD}).status_code == 302
    return client


def test_password_change_asks_for_the_current_one_and_ends_other_sessions(ann: User) -> None:
    here, there = signed_in(ann), signed_in(ann)
    wrong = here.post("/account/password", {"current": "x", "password": NEW}).content.decode()
    assert "not your current password" in wrong
    short = here.post("/account/password", {"current": PASSWORD, "password": "short"}).content.decode()
    assert "too short" in short
    assert here.post("/account/password", {"current": PASSWORD, "password": NEW}).status_code == 302
    assert authenticate(username=ann.email, password=NEW) == ann
    assert here.get("/account").status_code == 200
    assert there.get("/account").status_code == 302
    assert AuditEvent.objects.filter(verb="user.set_password", actor=ann).count() == 1


def test_person_without_a_password_sets_a_first_one(db: None) -> None:
    eve = create_user(email="eve@example.org")
    browser = Client()
    browser.post(sign_in_path(eve))
    page = browser.get("/account/password").content.decode()
    assert 'name="current"' not in page
    assert browser.post("/account/password", {"password": NEW}).status_code == 302
    assert authenticate(username=eve.email, password=NEW) == eve


def test_forgotten_password_by_email(ann: User, settings: Settings) -> None:
    settings.EMAIL_HOST = "smtp.example.org"
    elsewhere, browser = signed_in(ann), Client()
    page = browser.post("/forgot-password", {"email": "ANN@example.org"}).content.decode()
    unknown = browser.post("/forgot-password", {"email": "nobody@example.org"}).content.decode()
    assert re.sub(r'value="\w{64}"', "", page) == re.sub(r'value="\w{64}"', "", unknown)
    mail.outgoing.submit(lambda: None).result(timeout=10)
    (message,) = django_mail.outbox
    assert message.to == ["ann@example.org"]
    found = re.search(r"http://127\.0\.0\.1:8000(/password/\S+)", str(message.body))
    assert found
    assert browser.get(found[1]).status_code == 200
    assert "too short" in browser.post(found[1], {"password": "short"}).content.decode()
    assert browser.post(found[1], {"password": NEW}).headers["Location"] == "/sign-in"
    assert authenticate(username=ann.email, password=NEW) == ann
    assert browser.get(found[1]).status_code == browser.post(found[1], {"password": NEW}).status_code == 410
    assert elsewhere.get("/account").status_code == 302


def test_forgotten_password_is_throttled_alike_for_known_and_unknown(ann: User, settings: Settings) -> None:
    settings.EMAIL_HOST = "smtp.example.org"
    for address in ("ann@example.org", "nobody@example.org"):
        pages = [Client().post("/forgot-password", {"email": address}).content.decode() for _ in range(6)]
        assert ["Too many requests" in page for page in pages] == [False] * 5 + [True]


def test_site_without_email_says_whom_to_ask(client: Client, db: None) -> None:
    page = client.post("/forgot-password", {"email": "ann@example.org"}).content.decode()
    assert "manage.py password_link EMAIL" in page
    assert django_mail.outbox == []


def test_command_prints_a_link(ann: User) -> None:
    out = StringIO()
    call_command("password_link", ann.email, stdout=out)
    path = out.getvalue().strip().removeprefix("http://127.0.0.1:8000")
    assert Client().post(path, {"password": NEW}).status_code == 302
    assert authenticate(username=ann.email, password=NEW) == ann


def test_owner_makes_a_link_for_a_member_and_it_is_logged(ann: User, dee: User, client_as: ClientAs) -> None:
    org = create_organization(actor=ann, slug="acme")
    AccountMembership.objects.create(account=org, user=dee, role=AccountRole.MEMBER)
    page = client_as(ann).post(f"/accounts/acme/members/{dee.pk}/link")
    found = re.search(r"http://127\.0\.0\.1:8000(/password/[\w-]+/[\w-]+)", page.content.decode())
    assert found
    assert Client().post(found[1], {"password": NEW}).status_code == 302
    assert authenticate(username=dee.email, password=NEW) == dee
    assert AuditEvent.objects.get(verb="user.make_password_link").actor == ann


def test_password_link_is_no_sign_in_link_and_the_other_way_round(ann: User) -> None:
    for path in (
        password_path(ann).replace("/password/", "/sign-in/"),
        sign_in_path(ann).replace("/sign-in/", "/password/"),
    ):
        assert Client().get(path).status_code == 410


def test_links_are_spent_by_each_other(ann: User) -> None:
    path = password_path(ann)
    Client().post(sign_in_path(ann))
    assert Client().get(path).status_code == 410


# Sessions


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Firefox on Linux"),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
            "Version/17.0 Safari/605.1.15",
            "Safari on macOS",
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0 "
            "Safari/537.36 Edg/129.0",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/129.0 Mobile Safari/537.36",
            "Chrome on Android",
        ),
        ("curl/8.5.0", "curl"),
        ("<script>alert(1)</script>", "Unknown browser"),
        ("", "Unknown browser"),
        ("Mozilla/5.0", "Unknown browser"),
    ],
)
def test_browser_is_named_in_words(agent: str, words: str, ann: User) -> None:
    signed_in(ann, agent)
    assert BrowserSession.objects.get(user=ann).browser == words


def test_sessions_are_listed_and_ended_one_by_one_or_all(ann: User, dee: User) -> None:
    here = signed_in(ann, "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0")
    others = [signed_in(ann, "curl/8") for _ in range(3)]
    stranger = signed_in(dee)
    page = here.get("/account/sessions").content.decode()
    assert page.count("This one") == 1
    assert page.count('name="session"') == 3
    assert str(here.session.session_key) not in page
    assert str(others[0].session.session_key) not in page
    chosen = re.findall(r'name="session" value="(\w+)"', page)[0]
    assert stranger.post("/account/sessions/end", {"session": chosen}).status_code == 302
    assert BrowserSession.objects.filter(user=ann).count() == 4  # not theirs to end
    here.post("/account/sessions/end", {"session": chosen})
    assert sum(browser.get("/account").status_code == 200 for browser in others) == 2
    here.post("/account/sessions/end", {})
    assert BrowserSession.objects.filter(user=ann).count() == 3
    here.post("/account/sessions/end", {"others": "yes"})
    assert [browser.get("/account").status_code for browser in others] == [302, 302, 302]
    assert here.get("/account").status_code == 200
    assert stranger.get("/account").status_code == 200


def test_last_visit_is_written_at_most_every_ten_minutes(ann: User) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        browser = signed_in(ann)
        for minutes, expected in ((9, 0), (1, 10), (9, 10), (1, 20)):
            clock.shift(timedelta(minutes=minutes))
            browser.get("/account")
            session = BrowserSession.objects.get(user=ann)
            assert session.last_seen_at == NOON + timedelta(minutes=expected)
            assert session.signed_in_at == NOON
