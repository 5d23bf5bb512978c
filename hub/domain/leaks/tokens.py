"""Secrets that their form gives away: keys of providers, private keys, signed tokens, headers."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator

from hub.domain.leaks.hits import Hit, positions
from hub.domain.leaks.providers import PROVIDERS, Provider
from hub.domain.leaks.randomness import (
    NUMBERS_ONLY,
    PLACEHOLDER_PARTS,
    entropy,
    is_placeholder,
    looks_random,
    turns,
)

PEM_BEGIN = re.compile(r"-{4,6} ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,6}")
PEM_END = re.compile(r"-{4,6} ?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,6}")
PUBLIC_PEM = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,10} )?(?:CERTIFICATE|PUBLIC KEY)-----[A-Za-z0-9+/=\s\\]{0,20000}"
)
LONGEST_KEY = 20_000
"""Characters; without an END line this much may belong to a private key."""
KEY_BODY = re.compile(r"[A-Za-z0-9+/=\s\\:,.\"'-]*")
OPENSSH = re.compile(r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=\s\\]{40,10000}")
JWK_PRIVATE = re.compile(r'"d"?\s{0,3}:\s{0,3}"?[\w-]{32,2000}')
PUTTY = re.compile(r"PuTTY-User-Key-File-\d")
JWT = re.compile(r"eyJ[\w-]{8,2000}\.[\w-]{4,8000}\.[\w-]{10,2000}", re.ASCII)
BEARER = re.compile(r"\b(?:bearer|token)[ \t]{1,4}([A-Za-z0-9._~+/-]{16,2000}={0,2})", re.I | re.ASCII)
BASIC = re.compile(r"\bbasic[ \t]{1,4}([A-Za-z0-9+/]{8,400}={0,2})", re.I | re.ASCII)
AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
HEX_32 = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
TWILIO_ACCOUNT = re.compile(r"(?<![A-Za-z0-9])AC[0-9a-f]{32}(?![0-9a-f])")
NEAR = 300
"""Characters between two halves of a pair of credentials."""
SSH_PUBLIC = ("AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh")
RANDOM = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9]{32,200}(?![A-Za-z0-9+/_=-])", re.ASCII)


PREFIXED = re.compile(
    r"(?<![A-Za-z0-9_/-])(?!pk[_-])(?=[a-z0-9_-]{0,24}(?:key|tok|sec|api|pat|auth|live|prod|oat|sk|server)[a-z]{0,6}[_-])"
    r"(?:[a-z0-9]{1,12}[_-]){1,4}(?P<random>[A-Za-z0-9]{20,200})(?![A-Za-z0-9_-])",
    re.I | re.ASCII,
)
"""A key with a prefix that says so, of no provider known here: `acme_live_…`."""


HEX_AND_RANDOM = re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![A-Za-z0-9])", re.ASCII)
"""Keys of Zhipu AI (Z.ai)."""


def token_hits(text: str) -> Iterator[Hit]:
    """Time grows with the length of `text` only, whatever is in it."""
    yield from _private_keys(text)
    provided = list(_provided(text))
    yield from provided
    yield from _beside(text, [hit for hit in provided if hit.kind == "aws_key_id"])
    if "eyJ" in text:
        yield from (Hit("jwt", *match.span(), match[0]) for match in JWT.finditer(text) if _is_jwt(match[0]))
    yield from _headers(text)
    for match in PREFIXED.finditer(text):
        if looks_random(match["random"]) and not PLACEHOLDER_PARTS.search(match["random"]):
            yield Hit("prefixed_key", *match.span(), match[0])
    for match in HEX_AND_RANDOM.finditer(text):
        if looks_random(match[0][33:]):
            yield Hit("prefixed_key", *match.span(), match[0], "a Z.ai API key")
    yield from _random_values(text)


def _provided(text: str) -> Iterator[Hit]:
    for provider in PROVIDERS:
        if provider.mark not in text:
            continue
        done = 0
        for at in positions(text, provider.mark):
            start = at - provider.before
            if provider.mark == "T3BlbkFJ":
                start = _start_of_word(text, at)
            if start < done:
                continue
            match = provider.regex.match(text, start)
            if match and _is_key(text, match, provider):
                done = match.end()
                yield Hit(provider.kind, *match.span(), match[0], provider.label)


def _start_of_word(text: str, at: int) -> int:
    start = at
    while start > 0 and at - start < 200 and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    return start


def _is_key(text: str, match: re.Match[str], provider: Provider) -> bool:
    start = match.start()
    if start and not provider.loose and text[start - 1].isascii() and text[start - 1].isalnum():
        return False
    tail = match[0] if provider.before else match[0].removeprefix(provider.mark)
    if len(set(tail)) < 6 or PLACEHOLDER_PARTS.search(tail) or match[0].endswith("EXAMPLE"):
        return False
    return not provider.guard or looks_random(tail)


def _private_keys(text: str) -> Iterator[Hit]:
    done = 0
    for at in positions(text, "BEGIN"):
        begin = PEM_BEGIN.search(text, max(done, at - 7), at + 60)
        if begin is None or begin.start() < done:
            continue
        end = PEM_END.search(text, begin.end(), begin.end() + LONGEST_KEY)
        body = KEY_BODY.match(text, begin.end(), begin.end() + LONGEST_KEY)
        done = end.end() if end else body.end() if body else begin.end()
        yield Hit("private_key", begin.start(), done, text[begin.start() : done])
    if "b3BlbnNzaC1rZXktdjE" in text:
        yield from (Hit("private_key", *match.span(), match[0]) for match in OPENSSH.finditer(text))
    if "PuTTY-User-Key-File" in text:
        for match in PUTTY.finditer(text):
            end_at = min(len(text), match.start() + LONGEST_KEY)
            yield Hit("private_key", match.start(), end_at, text[match.start() : end_at])
    if '"kty"' in text:
        yield from (Hit("private_key", *match.span(), match[0]) for match in JWK_PRIVATE.finditer(text))
    if "service_account" in text and "private_key_id" in text:
        start = text.index("private_key_id")
        yield Hit("service_account", start, min(len(text), start + 80), text[start : start + 80])


def _beside(text: str, key_ids: list[Hit]) -> Iterator[Hit]:
    """Second halves of pairs, which have no form of their own: they are known by what stands beside them."""
    done = 0
    for hit in key_ids:
        for match in AWS_SECRET.finditer(text, max(done, hit.start - NEAR), hit.end + NEAR):
            if turns(match[0]) >= 0.3 and len(set(match[0])) >= 16 and "EXAMPLE" not in match[0]:
                yield Hit("aws_secret_key", *match.span(), match[0])
        done = hit.end + NEAR
    done = 0
    for account in TWILIO_ACCOUNT.finditer(text) if "AC" in text else ():
        for match in HEX_32.finditer(text, max(done, account.start() - NEAR), account.end() + NEAR):
            if match.start() != account.start() + 2:
                yield Hit("twilio_auth_token", *match.span(), match[0])
        done = account.end() + NEAR


def _is_jwt(value: str) -> bool:
    head = value.split(".", 1)[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and bool({"alg", "typ", "enc", "kid"} & header.keys())


def _headers(text: str) -> Iterator[Hit]:
    for match in BEARER.finditer(text):
        value = match[1]
        if is_placeholder(value) or NUMBERS_ONLY.fullmatch(value):
            continue
        if looks_random(value) or (entropy(value) >= 3.7 and turns(value) >= 0.25):
            yield Hit("bearer", *match.span(1), value)
    for match in BASIC.finditer(text):
        if _is_credentials(match[1]):
            yield Hit("bearer", *match.span(1), match[1])


def _is_credentials(value: str) -> bool:
    try:
        pair = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    name, colon, password = pair.partition(":")
    return bool(colon and name and password) and pair.isprintable()


def _random_values(text: str) -> Iterator[Hit]:
    public = [match.span() for match in PUBLIC_PEM.finditer(text)] if "BEGIN" in text else []
    for match in RANDOM.finditer(text):
        if (
            not match[0].startswith(SSH_PUBLIC)
            and _is_random_value(match[0])
            and not any(a <= match.start() < b for a, b in public)
        ):
            yield Hit("random_value", *match.span(), match[0])


def _is_random_value(value: str) -> bool:
    """Digits and both cases, mixed as only drawn strings are; hexadecimal digests have one case."""
    if not any(map(str.isdigit, value)) or value.lower() == value or value.upper() == value:
        return False
    return turns(value) >= 0.42 and entropy(value) >= 4.0
