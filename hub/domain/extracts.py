"""Facts for a manifest taken from definitions as they are hashed: only the parts that may become public.

Contents come from outside and are trusted for their hash alone, so a value of the wrong kind counts as not
declared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.domain.identity import sha256_digest
from benchmarks.domain.types import JsonObject
from hub.domain.facts import AgentFacts
from hub.domain.manifest import ManifestRequirements, ManifestVerifier


def agent_facts(
    content_hash: str,
    content: JsonObject,
    *,
    label: str,
    harness: str | None,
    harness_version: str | None = None,
) -> AgentFacts:
    """An Agent's model, routing and digest of instructions. Names and versions stand with its Jobs."""
    routing = _mapping(content.get("routing"))
    return AgentFacts(
        content_hash=content_hash,
        label=label,
        model=_text(content.get("model")) or "",
        provider=_text(routing.get("provider")),
        fallback_models=tuple(_texts(routing.get("fallback_models"))),
        harness=harness or None,
        harness_version=harness_version or None if harness else None,
        instructions_digest=instructions_digest(_text(content.get("instructions")) or ""),
        temperature=_number(routing.get("temperature")),
        max_tokens=_whole(routing.get("max_tokens")),
    )


def instructions_digest(instructions: str) -> str | None:
    """SHA-256 over the UTF-8 text of an Agent's instructions; None where there are none but white space."""
    return sha256_digest(instructions.encode()) if instructions.strip() else None


def requirements(name: str, content: JsonObject) -> ManifestRequirements:
    """What the Environment of this name and content needs: where it runs, its actions and its limits."""
    runtime, limits = _mapping(content.get("runtime")), _mapping(content.get("limits"))
    return ManifestRequirements(
        environment=name,
        runtime_provider=_text(runtime.get("provider")),
        network=_text(runtime.get("network")),
        tools=tuple(dict.fromkeys(_actions(content.get("apps")))),
        max_turns=_whole(limits.get("max_turns")),
        max_seconds=_number(limits.get("max_seconds")),
        max_cost_usd=_number(limits.get("max_cost_usd")),
    )


def verifier(name: str, content: JsonObject) -> ManifestVerifier:
    weight = _number(content.get("weight"))
    return ManifestVerifier(
        name=name, kind=_text(content.get("kind")) or "", weight=1.0 if weight is None else weight
    )


def _actions(apps: object) -> Iterator[str]:
    for app in apps if isinstance(apps, list) else ():
        actions = _mapping(app).get("actions")
        for action in actions if isinstance(actions, list) else ():
            name = _text(_mapping(action).get("name"))
            if name:
                yield name


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> Iterator[str]:
    for item in value if isinstance(value, list) else ():
        if text := _text(item):
            yield text


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
