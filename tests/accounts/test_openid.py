"""Sign-in through a small provider of OpenID Connect on this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from pytest_django import Settings

from plural_site import env
from plural_site.accounts.models import AuditEvent, ExternalIdentity, User

SECRET = "client-secret-client-secret-client-secret"


@dataclass
class Provider:
    """Gives out one id token for a code; `claims` and the other fields make it lie."""

    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    signs_with: Any = None
    algorithm: str = "RS256"
    asked: dict[str, str] = field(default_factory=dict)
    """The query of the last authorization request."""

    def answer(self, path: str, form: dict[str, str]) -> tuple[int, Any]:
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            }
        if path == "/keys":
            return 200, {"keys": [self.key.as_dict(private=False)]}
        if path == "/token":
            return self._token(form)
        return 404, {}

    def _token(self, form: dict[str, str]) -> tuple[int, Any]:
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if form.get("code") != "good" or challenge != self.asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": "site",
            "sub": "subject-1",
            "iat": now,
            "exp": now + 60,
            "nonce": self.asked["nonce"],
            "email": "ann@example.org",
            "email_verified": True,
            "name": "Ann",
        }
        claims = {name: value for name, value in {**claims, **self.claims}.items() if value is not None}
        header = {"alg": self.algorithm, "kid": "one"}
        token = jwt.encode(header, claims, self.signs_with or self.key, algorithms=[self.algorithm])
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": token}


@pytest.fixture
def provider(settings: Settings) -> Iterator[Provider]:
    served = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer({name: values[0] for name, values in parse_qs(body).items()})

        def _answer(self, form: dict[str, str]) -> None:
            status, value = served.answer(urlsplit(self.path).path, form)
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments: Any) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served.issuer = f"http://127.0.0.1:{server.server_port}"
        settings.OPENID = env.OpenId(served.issuer, "site", SECRET, "Example Login", new_people=False)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield served
        server.shutdown()
        thread.join()


def begin(browser: Client, provider: Provider, path: str = "/sign-in/oidc") -> str:
    """Goes to the provider; the state to come back with."""
    response = browser.get(path)
    assert response.status_code == 302
    address = urlsplit(response.headers["Location"])
    assert f"{address.scheme}://{address.netloc}{address.path}" == f"{provider.issuer}/authorize"
    provider.asked = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert provider.asked["redirect_uri"] == "http://127.0.0.1:8000/sign-in/oidc/callback"
    assert provider.asked["code_challenge_method"] == "S256"
    return provider.asked["state"]


def come_back(browser: Client, state: str, code: str = "good") -> int:
    return browser.get("/sign-in/oidc/callback", {"state": state, "code": code}).status_code


def person_of(browser: Client) -> str | None:
    return browser.session.get("_auth_user_id")


def test_person_signs_in_by_a_verified_address_and_later_by_subject_alone(
    provider: Provider, ann: User
) -> None:
    browser = Client()
    assert "Sign in with Example Login" in browser.get("/sign-in").content.decode()
    state = begin(browser, provider, "/sign-in/oidc?next=/account")
    response = browser.get("/sign-in/oidc/callback", {"state": state, "code": "good"})
    assert response.headers["Location"] == "/account"
    assert person_of(browser) == str(ann.pk)
    assert ExternalIdentity.objects.get().subject == "subject-1"
    assert AuditEvent.objects.filter(verb="user.link_identity", actor=ann).count() == 1
    provider.claims = {"email": "other@example.org"}
    again = Client()
    assert come_back(again, begin(again, provider)) == 302
    assert person_of(again) == str(ann.pk)
    assert ExternalIdentity.objects.count() == 1


def test_address_can_not_be_taken_over_by_another_subject_unverified(provider: Provider, ann: User) -> None:
    for claims in (
        {"email_verified": False},
        {"email_verified": "true"},
        {"email_verified": None},
        {"email": None},
    ):
        provider.claims = claims
        browser = Client()
        assert come_back(browser, begin(browser, provider)) == 403
        assert person_of(browser) is None


def test_unknown_people_are_let_in_only_where_that_is_set(
    provider: Provider, db: None, settings: Settings
) -> None:
    provider.claims = {"email": "New@example.org", "name": "New"}
    browser = Client()
    assert come_back(browser, begin(browser, provider)) == 403
    assert not User.objects.exists()
    settings.OPENID = env.OpenId(provider.issuer, "site", SECRET, "Example Login", new_people=True)
    assert come_back(browser, begin(browser, provider)) == 302
    assert User.objects.get().email == "new@example.org"


def test_person_who_can_not_sign_in_stays_out(provider: Provider, ann: User) -> None:
    User.objects.update(is_active=False)
    browser = Client()
    assert come_back(browser, begin(browser, provider)) == 403
    assert person_of(browser) is None


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "another"},
        {"exp": 1},
        {"nonce": "stale"},
        {"nonce": None},
        {"sub": None},
        {"sub": "x" * 300},
        {"sub": 7},
    ],
    ids=str,
)
def test_token_with_wrong_claims_is_not_believed(
    claims: dict[str, Any], provider: Provider, ann: User
) -> None:
    provider.claims = claims
    browser = Client()
    assert come_back(browser, begin(browser, provider)) == 502
    assert person_of(browser) is None


def test_token_signed_by_another_key_or_by_a_secret_is_not_believed(provider: Provider, ann: User) -> None:
    for key, algorithm in (
        (RSAKey.generate_key(2048, {"kid": "one"}), "RS256"),
        (OctKey.import_key(SECRET, {"kid": "one"}), "HS256"),
    ):
        provider.signs_with, provider.algorithm = key, algorithm
        browser = Client()
        assert come_back(browser, begin(browser, provider)) == 502
        assert person_of(browser) is None


def test_state_is_of_this_browser_and_used_once(provider: Provider, ann: User) -> None:
    mine, theirs = Client(), Client()
    state = begin(theirs, provider)
    assert come_back(mine, state) == 502
    assert come_back(mine, "") == 502
    assert come_back(theirs, state) == 302
    theirs.post("/sign-out")
    assert come_back(theirs, state) == 502
    assert person_of(mine) is None


def test_refusals_of_the_provider_are_told_plainly(provider: Provider, ann: User) -> None:
    browser = Client()
    state = begin(browser, provider)
    page = browser.get(
        "/sign-in/oidc/callback", {"state": state, "error": "access_denied", "error_description": "<b>"}
    )
    assert page.status_code == 502
    assert "<b>" not in page.content.decode()
    assert come_back(browser, begin(browser, provider), code="bad") == 502


def test_next_leads_to_this_site_only(provider: Provider, ann: User) -> None:
    browser = Client()
    state = begin(browser, provider, "/sign-in/oidc?next=https://evil.example/")
    response = browser.get("/sign-in/oidc/callback", {"state": state, "code": "good"})
    assert response.headers["Location"] == "/"


def test_provider_that_is_not_there_or_calls_itself_otherwise(
    ann: User, provider: Provider, settings: Settings
) -> None:
    settings.OPENID = env.OpenId(f"{provider.issuer}/", "site", SECRET, "Example Login", new_people=False)
    assert Client().get("/sign-in/oidc").status_code == 502
    settings.OPENID = env.OpenId("http://127.0.0.1:9", "site", SECRET, "Example Login", new_people=False)
    assert Client().get("/sign-in/oidc").status_code == 502


def test_without_a_provider_there_is_nothing(ann: User) -> None:
    browser = Client()
    assert (
        browser.get("/sign-in/oidc").status_code == browser.get("/sign-in/oidc/callback").status_code == 404
    )
    assert "Sign in with" not in browser.get("/sign-in").content.decode()


def test_provider_is_configured_by_the_environment(tmp_path: Path) -> None:
    values = {
        "OIDC_ISSUER": "https://login.example.org/",
        "OIDC_CLIENT_ID": "site",
        "OIDC_CLIENT_SECRET": "s",
    }
    assert env.read({}, tmp_path).openid is None
    assert env.read(values, tmp_path).openid == env.OpenId(
        "https://login.example.org/", "site", "s", "login.example.org", new_people=False
    )
    with pytest.raises(ImproperlyConfigured, match="OIDC_CLIENT_SECRET: needed"):
        env.read({**values, "OIDC_CLIENT_SECRET": ""}, tmp_path)
    for issuer in ("http://login.example.org", "login.example.org", "https://", "https://a.example?x=1"):
        with pytest.raises(ImproperlyConfigured, match="OIDC_ISSUER"):
            env.read({**values, "OIDC_ISSUER": issuer}, tmp_path)
