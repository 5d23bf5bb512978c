"""Sign-in by a provider of OpenID Connect: authorization code with PKCE, state and nonce, by Authlib.

Needs the extra `oidc`, and OIDC_ISSUER in the environment (see env.py, which checks both).
"""

from __future__ import annotations

from dataclasses import dataclass

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.django_client import DjangoOAuth2App, OAuth
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from joserfc.errors import JoseError

from plural_site.env import OpenId

TIMEOUT = 10  # seconds, for each request to the provider
SIGNATURES = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
"""Never "none", and never one that the client's own secret makes."""

_FAILURES = (
    OAuthError,
    JoseError,
    requests.RequestException,
    ValueError,
    RuntimeError,
    LookupError,
    TypeError,
)


class OpenIdError(Exception):
    """The provider can't be reached, or what came from it is not to be believed."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a checked id token says; `email` is '' unless the provider has verified it."""

    issuer: str
    subject: str
    email: str
    name: str


def redirect_to_provider(request: HttpRequest, provider: OpenId, callback: str) -> HttpResponseBase:
    """Raises OpenIdError."""
    try:
        response: HttpResponseBase = _client(provider).authorize_redirect(request, callback)
    except _FAILURES as error:
        raise OpenIdError(str(error)) from error
    return response


def claims_of_callback(request: HttpRequest, provider: OpenId) -> Claims:
    """Exchanges the code; checks the token's signature, issuer, audience, time, nonce. Raises OpenIdError."""
    issuer = {"essential": True, "value": provider.issuer}
    try:
        token = _client(provider).authorize_access_token(request, claims_options={"iss": issuer})
        claims = token["userinfo"]
        subject = claims["sub"]
    except _FAILURES as error:
        raise OpenIdError(str(error)) from error
    if not isinstance(subject, str) or not 0 < len(subject) <= 255 or "\0" in subject:
        raise OpenIdError("The token names nobody.")
    email, name = claims.get("email"), claims.get("name")
    is_verified = claims.get("email_verified") is True and isinstance(email, str)
    return Claims(
        issuer=provider.issuer,
        subject=subject,
        email=email if is_verified else "",
        name=name.replace("\0", "")[:200] if isinstance(name, str) else "",
    )


def _client(provider: OpenId) -> DjangoOAuth2App:
    client = OAuth().register(
        "oidc",
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        server_metadata_url=f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": "openid email profile",
            "code_challenge_method": "S256",
            "default_timeout": TIMEOUT,
        },
    )
    metadata = client.load_server_metadata()
    if metadata.get("issuer") != provider.issuer:
        raise OpenIdError("The provider calls itself by another address than OIDC_ISSUER.")
    offered = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
    metadata["id_token_signing_alg_values_supported"] = [name for name in offered if name in SIGNATURES]
    return client
