"""An Agent configuration in words, and what one has that another hasn't.

Contents are those that are hashed (`benchmarks.domain.definitions.agent_definition`). Nothing here gives away
a secret or a path of somebody's machine: of an address the host is told, of settings short plain values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any
from urllib.parse import urlsplit

from benchmarks.domain.types import JsonObject

LONGEST_VALUE = 80
MOST_SETTINGS = 50
HIDDEN = "not shown"
_SECRET = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
_PATH = re.compile(r"(?:^|[\s=:'\"(,])(?:/|~|[A-Za-z]:[\\/]|\\\\|file:)")


@dataclass(frozen=True, slots=True)
class Setting:
    """`value` is '' where nothing is set; `missing` then says what that means."""

    label: str
    value: str
    missing: str = ""

    @property
    def words(self) -> str:
        return self.value or self.missing


def settings(content: JsonObject, harness: str) -> tuple[Setting, ...]:
    """All but the instructions. `harness` is its name and version, '' for the built-in loop."""
    routing: Mapping[str, Any] = content.get("routing") or {}
    found = [
        Setting("Model", str(content.get("model") or "")),
        Setting("Provider", _text(routing.get("provider")), "the model’s own"),
        Setting("Fallback models", _names(routing.get("fallback_models")), "none"),
        Setting("Harness", _harness(content, harness), "the built-in loop"),
        Setting("Temperature", _number(routing.get("temperature")), "not set"),
        Setting("Max tokens", _number(routing.get("max_tokens")), "not set"),
        Setting("Secrets, by name", _names(content.get("secret_names")), "none"),
        Setting("Authentication", _text(content.get("auth_mode")), "not set"),
        Setting("Endpoint", _host(content.get("endpoint")), "the provider’s own"),
        Setting("Endpoint key, by name", _text(content.get("endpoint_key")), "none"),
    ]
    external = content.get("external")
    if isinstance(external, Mapping):
        found.append(Setting("External Agent", _host(external.get("url")) or HIDDEN))
        found.append(Setting("External version", _text(external.get("version")), "not set"))
    found += _plain(content.get("harness_kwargs"), "Harness setting")
    found += _plain(content.get("metadata"), "Metadata")
    return tuple(found)


def differences(
    content: JsonObject, harness: str, other: JsonObject, other_harness: str
) -> tuple[tuple[str, str, str], ...]:
    """(what, here, there) for all that differs. Contents that differ in what isn't shown say so."""
    here = {setting.label: setting for setting in settings(content, harness)}
    there = {setting.label: setting for setting in settings(other, other_harness)}
    rows = []
    for label in dict.fromkeys((*here, *there)):
        ours = here[label].words if label in here else "not set"
        theirs = there[label].words if label in there else "not set"
        if ours != theirs:
            rows.append((label, ours, theirs))
    mine, others = (str(each.get("instructions") or "") for each in (content, other))
    if mine != others:
        rows.append(("Instructions", _length(mine), _length(others)))
    if not rows or _unseen(content, other, {row[0] for row in rows}):
        rows.append(("Details", "differ in parts that are not shown", "see the content hashes"))
    return tuple(rows)


def instructions_diff(content: JsonObject, other: JsonObject, most: int) -> tuple[str, ...]:
    """At most `most` lines that differ, with "-" before those of `content`, "+" before those of `other`."""
    ours, theirs = (str(each.get("instructions") or "").splitlines()[:2000] for each in (content, other))
    lines = list(unified_diff(ours, theirs, n=1, lineterm=""))[2:]
    return tuple(lines[:most])


def _unseen(content: JsonObject, other: JsonObject, seen: set[str]) -> bool:
    """Whether something differs that no row tells of."""
    shown = {
        "model": "Model",
        "secret_names": "Secrets, by name",
        "auth_mode": "Authentication",
        "endpoint": "Endpoint",
        "endpoint_key": "Endpoint key, by name",
        "harness": "Harness",
        "instructions": "Instructions",
    }
    for key in content.keys() | other.keys():
        if _same(content.get(key), other.get(key)):
            continue
        if key in ("routing", "external"):
            continue
        if key in ("harness_kwargs", "metadata"):
            start = "Harness setting" if key == "harness_kwargs" else "Metadata"
            if not any(label.startswith(start) for label in seen):
                return True
        elif shown.get(key) not in seen:
            return True
    return False


def _same(a: Any, b: Any) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _harness(content: JsonObject, name: str) -> str:
    digest = content.get("harness")
    if not isinstance(digest, str) or not digest:
        return name
    return f"{name or 'a Harness'} (content {digest.removeprefix('sha256:')[:12]})"


def _names(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) and not _PATH.search(value) else HIDDEN if value else ""


def _number(value: object) -> str:
    return f"{value:.15g}" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _host(address: object) -> str:
    """Of an address its host and port; people put keys into the rest."""
    if not isinstance(address, str) or not address:
        return ""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return HIDDEN
    return f"{host}{port}" if host and parts.scheme in ("http", "https", "ws", "wss") else HIDDEN


def _plain(values: object, label: str) -> list[Setting]:
    if not isinstance(values, Mapping):
        return []
    names = sorted(map(str, values))[:MOST_SETTINGS]
    return [
        Setting(f"{label} {name}", _value(name, values[name])) for name in names if not _PATH.search(name)
    ]


def _value(name: str, value: object) -> str:
    if _SECRET.search(name):
        return HIDDEN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:.15g}"
    if value is None:
        return "none"
    if isinstance(value, str) and len(value) <= LONGEST_VALUE and not _PATH.search(value):
        return value or "empty"
    return HIDDEN


def _length(text: str) -> str:
    if not text.strip():
        return "none"
    lines = len(text.splitlines())
    return f"{len(text)} characters in {lines} line{'' if lines == 1 else 's'}"
