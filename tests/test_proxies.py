"""What a proxy tells of a request is believed of one's own proxies only."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from pytest_django.fixtures import Settings

from plural_site import env
from plural_site.accounts import limits
from plural_site.middleware import forwarded

GIVEN: dict[str, Any] = {
    "HTTP_X_FORWARDED_FOR": "6.6.6.6, 5.5.5.5",
    "HTTP_X_FORWARDED_PROTO": "https",
    "HTTP_X_FORWARDED_HOST": "evil.example",
    "HTTP_FORWARDED": "for=6.6.6.6",
}


def seen(address: str, **given: Any) -> HttpRequest:
    found: list[HttpRequest] = []

    def view(request: HttpRequest) -> HttpResponse:
        found.append(request)
        return HttpResponse()

    forwarded(view)(RequestFactory().get("/", REMOTE_ADDR=address, **given))
    return found[0]


@pytest.mark.parametrize(
    ("proxies", "address", "ip"),
    [
        (1, "127.0.0.1", "5.5.5.5"),
        (1, "::1", "5.5.5.5"),
        (1, "::ffff:127.0.0.1", "5.5.5.5"),
        (1, "10.1.2.3", "5.5.5.5"),
        (2, "10.1.2.3", "6.6.6.6"),
        (1, "10.2.2.3", "10.2.2.3"),  # past the proxy
        (1, "8.8.8.8", "8.8.8.8"),
        (1, "nonsense", "unknown"),
        (0, "127.0.0.1", "127.0.0.1"),
        (1, "", "5.5.5.5"),  # a Unix socket
    ],
)
def test_address_is_the_one_that_our_own_proxy_saw(
    proxies: int, address: str, ip: str, settings: Settings
) -> None:
    settings.PROXIES = proxies
    settings.TRUSTED_PROXIES = env._networks("127.0.0.0/8, ::1, 10.1.0.0/16")
    request = seen(address, **GIVEN)
    assert limits.client_ip(request) == ip
    is_believed = proxies > 0 and ip not in (address, "unknown")
    assert ("HTTP_X_FORWARDED_PROTO" in request.META) == is_believed
    assert ("HTTP_FORWARDED" in request.META) == is_believed


def test_what_is_not_believed_is_said_once(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.PROXIES = 1
    middleware = forwarded(lambda request: HttpResponse())
    with caplog.at_level(logging.WARNING, "plural_site.middleware"):
        for _ in range(3):
            middleware(RequestFactory().get("/", REMOTE_ADDR="8.8.8.8", **GIVEN))
        middleware(RequestFactory().get("/", REMOTE_ADDR="9.9.9.9"))
    assert [record.getMessage() for record in caplog.records] == [
        "X-Forwarded headers from 8.8.8.8 are not believed: see TRUSTED_PROXIES"
    ]


@pytest.fixture
def _https(settings: Settings) -> None:
    settings.PROXIES = 1
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_SSL_REDIRECT = True
    settings.ALLOWED_HOSTS = ["plural.example.org"]


@pytest.mark.django_db
@pytest.mark.usefixtures("_https")
def test_https_and_host_can_not_be_claimed_past_the_proxy() -> None:
    def ask(**given: Any) -> HttpResponse:
        client = Client()
        return client.get("/sign-in", HTTP_HOST="plural.example.org", **given)  # type: ignore[return-value]

    assert ask(REMOTE_ADDR="127.0.0.1", HTTP_X_FORWARDED_PROTO="https").status_code == 200
    for given in ({"REMOTE_ADDR": "8.8.8.8", **GIVEN}, {"REMOTE_ADDR": "127.0.0.1"}):
        response = ask(**given)
        assert (response.status_code, response["Location"]) == (301, "https://plural.example.org/sign-in")
    page = ask(REMOTE_ADDR="127.0.0.1", **GIVEN)
    assert b"evil.example" not in page.content


@pytest.mark.django_db
def test_a_client_does_not_get_round_the_bound_by_claiming_addresses(settings: Settings) -> None:
    settings.IP_RATE_LIMIT, settings.PROXIES = 10, 1
    limits.forget()
    statuses = []
    for number in range(14):
        chain = f"{number}.1.1.1, 7.7.7.7"  # the last one is what the proxy added
        statuses.append(Client().get("/sign-in", HTTP_X_FORWARDED_FOR=chain).status_code)
    assert statuses == [200] * 10 + [429] * 4
    statuses = [
        Client().get("/sign-in", REMOTE_ADDR="8.8.8.8", HTTP_X_FORWARDED_FOR=f"{number}.1.1.1").status_code
        for number in range(14)
    ]
    assert statuses == [200] * 10 + [429] * 4
    limits.forget()
