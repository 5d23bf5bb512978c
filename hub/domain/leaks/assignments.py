"""Secrets known by the name that they are given to: `password = …`, `"api_key": "…"`, `scheme://user:…@host`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hub.domain.leaks.hits import Hit, positions
from hub.domain.leaks.randomness import NUMBERS_ONLY, UUID, is_placeholder, looks_random, turns

NAMES_OF_PASSWORDS = r"pass(?:word|wd|phrase|code)|pwd"
NAMES_OF_SECRETS = (
    r"secret|token|api[ _-]?key|apikey|access[ _-]?key|private[ _-]?key|account[ _-]?key|auth[ _-]?key"
    r"|signing[ _-]?key|encryption[ _-]?key|master[ _-]?key|license[ _-]?key|credentials?|authorization"
    r"|connection[ _-]?string|session[ _-]?id|cookie"
)
NOT_NAMES = re.compile(
    r"(?:id|ids|hash|digest|name|type|count|limit|url|uri|length|size|s_used|sha256)$", re.I
)
"""Ends of names whose values are about a secret and not the secret: `token_count`, `secret_name`."""
ASSIGNMENT = re.compile(
    rf"(?P<name>{NAMES_OF_PASSWORDS}|{NAMES_OF_SECRETS})(?P<rest>[A-Za-z0-9_-]{{0,24}})"
    r"[\"'`\]]{0,2}[ \t]{0,4}(?:value[ \t]{0,2})?(?:=>|:=|==|=|:|\bis\b)"
    r"[ \t\r\n]{0,4}(?P<open>[\"'`(\[]{0,2})"
    r"(?P<value>[^\s\"'`,;<>()\[\]{}]{6,400})",
    re.I | re.ASCII,
)
NAMED = re.compile(
    rf"(?:^|[^a-z])(?:{NAMES_OF_PASSWORDS}|{NAMES_OF_SECRETS}|auth|key)(?:s|[^a-z]|$)", re.I | re.ASCII
)
IS_PASSWORD = re.compile(NAMES_OF_PASSWORDS, re.I)
BROAD_NAME = re.compile(r"(?:^|[^a-z])(?:auth|key)s?$", re.I)
USERINFO = re.compile(r"[^\s/?#@\"'<>\\]{0,200}")
PASSWORD_IN_ADDRESS = re.compile(r"[^\s:/@\"'<>]{0,100}:([^\s@\"'<>]{1,200})@[\w\[.-]", re.ASCII)
TOKEN_IN_ADDRESS = re.compile(r"([\w-]{20,200})@[\w.-]", re.ASCII)
PORT = re.compile(r"\d{1,5}/", re.ASCII)
"""`host:8080/@name` has no password."""


COMMAND_LINE = re.compile(
    r"(?<![\w-])(?:-u|--user)[ =][\"']?[\w.@-]{1,64}:(?P<value>[^\s\"']{4,200})", re.ASCII
)
"""`curl -u name:password`."""


def assigned_hits(text: str) -> Iterator[Hit]:
    """`text` may hold code, YAML, shell or prose."""
    for match in ASSIGNMENT.finditer(text):
        if NOT_NAMES.search(match["rest"]):
            continue
        value = match["value"].rstrip(".:!?")
        start = match.start("value")
        kind = _kind_of(match["name"], value, is_quoted=bool(match["open"]))
        if kind:
            yield Hit(kind, start, start + len(value), value)
    for match in COMMAND_LINE.finditer(text):
        if not is_placeholder(match["value"]):
            yield Hit("password", *match.span("value"), match["value"])
    yield from _in_addresses(text)


def named_hit(name: str, value: str) -> Hit | None:
    """The value of a JSON member by the member's name, e.g. `"OPENAI_API_KEY"`."""
    spread = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    if len(value) > 4000 or not NAMED.search(spread) or NOT_NAMES.search(name):
        return None
    stripped = value.strip()
    if any(sign.isspace() for sign in stripped):
        return None
    kind = _kind_of(name, stripped, is_quoted=True)
    if kind is None or (BROAD_NAME.search(spread) and not looks_random(stripped)):
        return None
    start = value.index(stripped)
    return Hit(kind, start, start + len(stripped), stripped)


def _kind_of(name: str, value: str, *, is_quoted: bool) -> str | None:
    if is_placeholder(value):
        return None
    if IS_PASSWORD.search(name):
        return "password" if _may_be_password(value, is_quoted=is_quoted) else None
    return "assigned_secret" if _may_be_secret(value) else None


def _may_be_password(value: str, *, is_quoted: bool) -> bool:
    if len(value) < 6:
        return False
    has_digit = any(map(str.isdigit, value))
    has_letter = any(map(str.isalpha, value))
    has_sign = any(not sign.isalnum() and sign not in "-_./" for sign in value)
    mixed_case = value.lower() != value and value[1:].lower() != value[1:]
    if has_digit:
        return has_letter or is_quoted or has_sign or len(value) >= 6
    return has_sign or (mixed_case and turns(value) >= 0.3)


def _may_be_secret(value: str) -> bool:
    if len(value) < 8 or NUMBERS_ONLY.fullmatch(value):
        return False
    if UUID.fullmatch(value) or looks_random(value):
        return True
    has_digit = any(map(str.isdigit, value))
    has_sign = any(sign in "!@#$%^&*+~|" for sign in value)
    mixed = turns(value) >= (0.15 if len(value) >= 16 else 0.3)
    return has_digit and (has_sign or mixed) and len(set(value)) >= 6


def _in_addresses(text: str) -> Iterator[Hit]:
    for at in positions(text, "://"):
        start = at + 3
        match = PASSWORD_IN_ADDRESS.match(text, start, start + 400)
        if match and not PORT.match(match[1]) and not is_placeholder(match[1]):
            yield Hit("url_password", start, match.end() - 2, match[1])
            continue
        token = TOKEN_IN_ADDRESS.match(text, start, start + 300)
        if token and looks_random(token[1]):
            yield Hit("url_password", *token.span(1), token[1], "a token in an address")
