"""Planted secrets and look-alikes for the gate of publication, made from their forms.

The corpus holds forms, not secrets: parts that are put together with random characters, so that no secret
stands in a file. `{A:20}` is 20 letters and digits; see `ALPHABETS`.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

CORPUS = Path(__file__).parent / "data" / "leaks"
PLACEHOLDER = re.compile(r"\{(\w+)(?::(\d+))?\}")
ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "a": string.ascii_letters,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "n": string.ascii_lowercase + string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "U": string.ascii_uppercase + string.digits,
    "2": string.ascii_uppercase + "234567",
    "d": "123456789",
    "p": string.ascii_letters + string.digits + "!#$*+-_",
}


@dataclass(frozen=True)
class Sample:
    """`kind` is what should be found, of a look-alike what it is. `name` is the key that it stands under."""

    kind: str
    form: tuple[str, ...]
    name: str = ""

    def make(self, chance: random.Random) -> str:
        return "".join(_part(part, chance) for part in self.form)


def _part(part: str, chance: random.Random) -> str:
    match = PLACEHOLDER.fullmatch(part)
    if match is None:
        return part
    if match[1] == "basic":
        return base64.b64encode(f"svc:{_part('{p:12}', chance)}".encode()).decode()
    if match[1] == "p":  # a password: of every sort of character, first a letter
        signs = [chance.choice(ALPHABETS["p"]) for _ in range(int(match[2]) - 3)]
        return (
            chance.choice(string.ascii_lowercase)
            + "".join(signs)
            + chance.choice("!#*")
            + chance.choice("123456789")
        )
    return "".join(chance.choices(ALPHABETS[match[1]], k=int(match[2])))


def chance(seed: str) -> random.Random:
    return random.Random(seed)  # noqa: S311  # what is drawn guards nothing


def planted() -> list[Sample]:
    return [
        Sample(line["kind"], tuple(line["form"]), line.get("name", "")) for line in _lines("planted.jsonl")
    ]


def look_alikes() -> list[Sample]:
    return [
        Sample(line["why"], tuple(line["form"]), line.get("name", "")) for line in _lines("look_alikes.jsonl")
    ]


def _lines(name: str) -> Iterator[dict[str, Any]]:
    for line in (CORPUS / name).read_text("utf-8").splitlines():
        yield json.loads(line)


def _in_two_lines(text: str) -> str:
    middle = max(1, len(text) * 2 // 3)
    return f"{text[:middle]}\n    {text[middle:]}"


def _escaped(text: str) -> str:
    return json.dumps({"log": f"value {text}"})


def _wrapped_base64(text: str) -> str:
    code = base64.b64encode(text.encode()).decode()
    return "\n".join(code[at : at + 20] for at in range(0, len(code), 20))


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "JSON": _escaped,
    "JSON in JSON": lambda text: _escaped(_escaped(text)),
    "JSON three times": lambda text: _escaped(_escaped(_escaped(text))),
    "unicode escapes": lambda text: "".join(
        f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else sign for sign in text
    ),
    "\\x escapes": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode("latin-1", "replace")),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 unpadded in words": lambda text: (
        f"see {base64.b64encode(text.encode()).decode().rstrip('=')} here"
    ),
    "base64 URL-safe": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 of a sentence": lambda text: base64.b64encode(f"please use {text} for it".encode()).decode(),
    "base64 after other letters": lambda text: "run/" + base64.b64encode(text.encode()).decode(),
    "base64 of JSON": lambda text: base64.b64encode(_escaped(text).encode()).decode(),
    "base64 twice": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "base64 in lines": _wrapped_base64,
    "base64 of UTF-16": lambda text: base64.b64encode(text.encode("utf-16-le")).decode(),
    "base64 of gzip": lambda text: base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode(),
    "percent": lambda text: quote(text, safe=""),
    "percent, every character": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "percent of base64": lambda text: quote(base64.b64encode(text.encode()).decode(), safe=""),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal with spaces": lambda text: text.encode().hex(" "),
    "HTML entities": lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    "HTML escaped": html.escape,
    "zero-width characters": "\u200b".join,
    "soft hyphens": lambda text: text[:5] + "\u00ad" + text[5:9] + "\u2060" + text[9:],
    "full-width characters": lambda text: "".join(
        chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text
    ),
    "two lines": _in_two_lines,
    "two lines, quoted": lambda text: f'"{text[: len(text) // 2]}" +\n  "{text[len(text) // 2 :]}"',
    "two lines, escaped": lambda text: _escaped(_in_two_lines(text)),
}
LINE_SPLITS = frozenset(name for name in ENCODINGS if name.startswith("two lines"))
SHORT_OF_BYTES = {
    "base64": 12,
    "base64 unpadded in words": 12,
    "base64 URL-safe": 12,
    "base64 after other letters": 12,
    "base64 twice": 12,
    "base64 in lines": 12,
    "base64 of UTF-16": 6,
    "base64 of gzip": 12,
    "percent of base64": 12,
    "hexadecimal": 12,
    "hexadecimal with spaces": 12,
}
"""What is shorter is not read: every second word would be base64."""


def manifest_with(text: str, *, name: str = "", in_key: bool = False) -> bytes:
    """A small document in the shape of a manifest with `text` in one place of it."""
    applicability: dict[str, Any] = {"language": "en"}
    if in_key:
        applicability[text] = "yes"
    elif name:
        applicability[name] = text
    document = {
        "schema_version": "plural.benchmark-publication/1",
        "about": {
            "purpose": "Measures refund policy reading.",
            "description": "" if in_key or name else text,
        },
        "tasks": [{"id": f"sha256:{'ab' * 32}", "name": "desk-first", "applicability": applicability}],
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode(
        "utf-8", "surrogatepass"
    )
