"""Telling random strings from words, and from placeholders that documentation puts where a secret goes."""

from __future__ import annotations

import math
import re
from collections import Counter

SEPARATORS = re.compile(r"[^A-Za-z0-9]+")
UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
NUMBERS_ONLY = re.compile(r"[\d.,:/TZ+-]+")
_PLACEHOLDERS = """
changeme change-me change_me default dummy example fake hidden invalid key missing mysecret n/a na nil
none null omitted optional pass passphrase passwd password placeholder private pwd redacted removed
required sample secret set string test todo token true false undefined unknown unset user username value
bytes bearer
"""
PLACEHOLDER_WORDS = frozenset(_PLACEHOLDERS.split())
PLACEHOLDER_PARTS = re.compile(
    r"(?i)^(?:your|my|the|insert|enter|replace|put|add|some|an?)(?:[ _-][a-z]+)+$|(?:^|[^a-z])your[^a-z]"
    r"|example(?:key)?(?:$|[^a-z])|placeholder|redacted|changeme|x{5,}|\*{3,}|\.{3}|…|^(?:\?+|1234(?:5678?)?)$"
)
REFERENCES = re.compile(
    r"^(?:\$[{(]|\$[A-Z_][A-Z0-9_]*$|\$[a-z_]+$|%\(|%[A-Za-z_]+%$|<.*>$|\{\{|\{[\w.]+\}$|os\.|process\.|env\b|ENV\b"
    r"|secrets?\.|vault:|op://|arn:|ssm:)"
)


def entropy(text: str) -> float:
    """Shannon entropy of the characters of `text`, in bits a character."""
    total = len(text)
    return -sum(count / total * math.log2(count / total) for count in Counter(text).values())


def _classes(text: str) -> str:
    return "".join("d" if sign.isdigit() else "u" if sign.isupper() else "l" for sign in text)


def turns(text: str) -> float:
    """Share of neighbouring characters that differ in class (lower, upper, digit).

    It is 0.1 to 0.25 in names and 0.4 to 0.65 in random strings.
    """
    kinds = _classes(text)
    return sum(a != b for a, b in zip(kinds, kinds[1:], strict=False)) / max(1, len(kinds) - 1)


def looks_random(text: str) -> bool:
    """Whether `text`, of letters, digits and separators, looks drawn and not written. Wants 12 of them."""
    joined = SEPARATORS.sub("", text)
    if len(joined) < 12 or len(set(joined)) < 6:
        return False
    kinds = set(_classes(joined))
    if len(kinds) < 2:
        return False
    pieces = [piece for piece in SEPARATORS.split(text) if len(piece) >= 8]
    if kinds in ({"l", "d"}, {"u", "d"}):
        return any(turns(piece) >= 0.15 and sum(map(str.isdigit, piece)) >= 2 for piece in pieces)
    return turns(joined) >= 0.3 or any(len(piece) >= 16 and turns(piece) >= 0.35 for piece in pieces)


def is_placeholder(value: str) -> bool:
    """Whether `value` stands where a secret would without being one: a word, a reference, a mask."""
    bare = value.strip("\"'`.,;:!?()[]{}<>")
    return (
        not bare
        or bare.lower() in PLACEHOLDER_WORDS
        or len(set(bare)) <= 2
        or bool(PLACEHOLDER_PARTS.search(value) or REFERENCES.search(value))
    )
