"""Undoing what hides a text from a search: escapes, encodings, odd characters, line breaks. Each once."""

from __future__ import annotations

import base64
import html
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice

from hub.domain.leaks.edits import Edit

Decoder = Callable[[str], Iterator[Edit]]

UNUSUAL = re.compile(r"[^\t\n\r\x20-\x7e]")
FILLERS = dict.fromkeys(map(ord, "\u115f\u1160\u2800\u3164\uffa0"), "")
LOOK_ALIKES = {
    **FILLERS,
    **dict(zip(map(ord, "авекмнорстухіјѕԁԛԝһӏ"), "abekmhopctyxijsdqwhl", strict=True)),
    **dict(zip(map(ord, "АВЕКМНОРСТУХІЈЅԌ"), "ABEKMHOPCTYXIJSG", strict=True)),
    **dict(zip(map(ord, "αορνικτυχ"), "aopviktux", strict=True)),
    **dict(zip(map(ord, "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"), "ABEZHIKMNOPTYX", strict=True)),
    **dict(zip(map(ord, "‐‑‒–—−"), "------", strict=True)),
    0x85: "\n",
    0x2028: "\n",
    0x2029: "\n",
}
"""Letters that look like Latin ones. Words of other scripts are read as they are too."""

ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-7]{3})|([\"'\\/bfnrt0]))"
)
SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "0": ""}
PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})+")
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});")

LINE_BREAKS = "line breaks"
LINE_BREAK = re.compile(r"[ \t]{0,40}(?:\r?\n|\r)[ \t]{0,80}(?=\S)")
BEFORE_BREAK = re.compile(r"(?:[\"'`][ \t]{0,4}[+.\\&]?|\\)\Z")
AFTER_BREAK = re.compile(r"(?:[+.&]?[ \t]{0,4}[\"'`]|(?:[>#*|]|//)[ \t]{1,4})")

BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
HEX = re.compile(
    r"(?:[0-9a-fA-F]{2}){12,}|[0-9a-fA-F]{2}(?:[ :,-][0-9a-fA-F]{2}){11,}"
    r"|0x[0-9a-fA-F]{2}(?:[ ,]{1,2}0x[0-9a-fA-F]{2}){7,}"
)
HEX_PREFIX = re.compile(r"0x|[^0-9a-fA-F]")
TO_STANDARD = str.maketrans("-_", "+/")
READABLE = re.compile(r"[\t\n\r\x20-\x7e\u00a0-\ufffc\U00010000-\U0010ffff]{12,}")
READABLE_SIGN = re.compile(READABLE.pattern.removesuffix("{12,}"))
SMALLEST_TEXT = 6
"""Bytes: something shorter that happens to decode to readable text is no hidden text."""
MOST_INFLATED = 1_000_000
APART = " \0 "
CUT = "\0…"
"""Ends what inflates to more."""
COMPRESSED = (b"\x1f\x8b\x08", b"\x78\x01", b"\x78\x9c", b"\x78\xda")


@cache
def _usual(sign: str) -> str:
    if (known := LOOK_ALIKES.get(ord(sign))) is not None:
        return known
    if unicodedata.category(sign) in ("Cf", "Mn", "Me", "Cc"):
        return ""
    return unicodedata.normalize("NFKC", sign).translate(LOOK_ALIKES)


def usual_characters(text: str) -> Iterator[Edit]:
    """Full-width and look-alike letters as plain ones; without characters that take no room and NULs."""
    if text.isascii() and text.isprintable():
        return
    for match in UNUSUAL.finditer(text):
        sign = match[0]
        if (usual := _usual(sign)) != sign:
            yield Edit(match.start(), match.end(), usual, "unusual characters")


def unescaped(text: str) -> Iterator[Edit]:
    """Backslash escapes of JSON, Python, shell and C."""
    if "\\" not in text:
        return
    for match in ESCAPE.finditer(text):
        braced, short, long, byte, octal, sign = match.groups()
        number = braced or short or long or byte
        if sign is not None:
            plain = SHORT_ESCAPES.get(sign, sign)
        else:
            code = int(number, 16) if number else int(octal, 8)
            plain = chr(code) if code <= 0x10FFFF else ""
        yield Edit(match.start(), match.end(), plain, "escapes")


def percent_decoded(text: str) -> Iterator[Edit]:
    if "%" in text:
        for match in PERCENT.finditer(text):
            plain = bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace")
            yield Edit(match.start(), match.end(), plain, "percent-encoding")


def entities(text: str) -> Iterator[Edit]:
    if "&" in text:
        for match in ENTITY.finditer(text):
            if (plain := html.unescape(match[0])) != match[0]:
                yield Edit(match.start(), match.end(), plain, "HTML entities")


def joined_lines(text: str) -> Iterator[Edit]:
    """Lines put together, with the quotes, signs and indents that hold a value broken over lines."""
    if "\n" not in text and "\r" not in text:
        return
    done = 0
    for match in LINE_BREAK.finditer(text):
        start, end = match.span()
        if before := BEFORE_BREAK.search(text, max(done, start - 6), start):
            start = before.start()
        if after := AFTER_BREAK.match(text, end, end + 8):
            end = after.end()
        done = end
        yield Edit(start, end, "", LINE_BREAKS)


def even_lines_joined(text: str) -> Iterator[Edit]:
    return islice(joined_lines(text), 0, None, 2)


def odd_lines_joined(text: str) -> Iterator[Edit]:
    return islice(joined_lines(text), 1, None, 2)


def encoded_runs(text: str) -> Iterator[Edit]:
    """Base64 and hexadecimal in one go; where both read something, what begins first, then the longer."""
    by_start = sorted(
        [*hex_decoded(text), *base64_decoded(text)], key=lambda edit: (edit.start, -len(edit.text))
    )
    done = 0
    for edit in by_start:
        if edit.start >= done:
            done = edit.end
            yield edit


def base64_decoded(text: str) -> Iterator[Edit]:
    """Standard and URL-safe, padded or not, wherever in a longer run of such characters it begins."""
    for match in BASE64.finditer(text):
        run = match[0].rstrip("=").translate(TO_STANDARD)
        read = [_readable(_bytes_of(run[skipped:])) for skipped in range(4)]
        if any(read):
            yield Edit(match.start(), match.end(), APART.join(filter(None, read)), "base64")


def _bytes_of(run: str) -> bytes:
    """`run` without padding; a last single character is too few for a byte and left out."""
    over = len(run) % 4
    return base64.b64decode(run[: len(run) - 1] if over == 1 else run + "=" * (-len(run) % 4))


def hex_decoded(text: str) -> Iterator[Edit]:
    for match in HEX.finditer(text):
        digits = HEX_PREFIX.sub("", match[0])
        plain = _readable(bytes.fromhex(digits))
        start = match.start()
        if not plain and len(match[0]) == len(digits):
            following = text[match.end() : match.end() + 1]
            shifted = digits[1:] + (following if following and following in "0123456789abcdefABCDEF" else "")
            plain = _readable(bytes.fromhex(shifted[: len(shifted) & ~1]))
        if plain:
            yield Edit(start, match.end(), plain, "hexadecimal")


def _readable(data: bytes) -> str:
    """What can be read in `data`: all of it, what it inflates to, or its readable stretches; '' for none."""
    if data.startswith(COMPRESSED) and (inflated := _inflated(data)):
        return _readable(inflated) + (CUT if len(inflated) == MOST_INFLATED else "")
    if len(data) >= 2 * SMALLEST_TEXT and data[1::2].count(0) * 3 > len(data):
        text = data.decode("utf-16-le", "replace")
    else:
        text = data.decode("utf-8", "replace")
    if SMALLEST_TEXT <= len(text) <= 1.05 * len(READABLE_SIGN.findall(text)):
        return text
    return APART.join(READABLE.findall(text))


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data, MOST_INFLATED)
    except zlib.error:
        return b""
