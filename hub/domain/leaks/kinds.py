"""Every kind of finding: its heading, what it looks like, and whether it holds publication up.

Keys of providers are in `providers`, beside the shape that they are known by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hub.domain.leaks.providers import PROVIDERS
from hub.domain.leaks.types import Group


@dataclass(frozen=True, slots=True)
class Kind:
    """`rank` decides between findings of one text that overlap: the higher one stays."""

    group: Group
    label: str
    rank: int
    blocks: bool = True


PROVIDER_RANK = 80

KINDS: Mapping[str, Kind] = {
    "private_key": Kind("private_key", "a private key", 100),
    "service_account": Kind("private_key", "a Google Cloud service account's key file", 95),
    **{
        provider.kind: Kind("secret", provider.label, PROVIDER_RANK - (provider.kind == "sk_key"))
        for provider in PROVIDERS
    },
    "aws_secret_key": Kind("secret", "an AWS secret access key", 78),
    "twilio_auth_token": Kind("secret", "a Twilio auth token", 78),
    "jwt": Kind("secret", "a signed token (JWT)", 76),
    "url_password": Kind("password", "a password in an address", 74),
    "bearer": Kind("secret", "an authorization header", 60),
    "password": Kind("password", "a password", 50),
    "assigned_secret": Kind("secret", "a key, token or secret", 50),
    "prefixed_key": Kind("secret", "a key, by its prefix", 20),
    "random_value": Kind("secret", "a long random value, as keys are", 10),
    "email": Kind("personal", "an e-mail address", 40),
    "user_name": Kind("personal", "a user name from a machine path", 5),
    "machine_path": Kind("machine", "a path of a machine", 30),
    "private_text": Kind("private", "text from private material", 0),
    "public_name": Kind("public", "a private value that is also a public name", 0, blocks=False),
    "unchecked": Kind("unchecked", "text in more layers of encoding than can be read", 0),
}
