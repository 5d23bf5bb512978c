"""Agent configurations as they stand in a manifest, and what may answer in their name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from benchmarks.domain.tracks import check_conformance
from benchmarks.domain.types import ConfigurationFacts, Track
from hub.domain.facts import AgentFacts
from hub.domain.manifest import ConfigurationKind, ManifestConfiguration, ModelUse

_CONTENT = ("model", "provider", "fallback_models", "harness", "instructions_digest", "settings")
HAS_INSTRUCTIONS = "not shown"
"""Stands for instructions of which only the digest is known."""


def configuration(agent: AgentFacts, models_used: Sequence[ModelUse]) -> ManifestConfiguration:
    """`group` is the model; `settings` holds what is set of temperature and max_tokens."""
    settings = {"temperature": _float(agent.temperature), "max_tokens": agent.max_tokens}
    return ManifestConfiguration(
        id=agent.content_hash,
        label=agent.label,
        group=agent.model,
        kind=kind_of(agent.model, agent.fallback_models, models_used),
        model=agent.model,
        provider=agent.provider,
        fallback_models=agent.fallback_models,
        models_used=tuple(models_used),
        harness=agent.harness,
        harness_version=agent.harness_version,
        instructions_digest=agent.instructions_digest,
        settings={name: value for name, value in settings.items() if value is not None},
    )


def kind_of(model: str, fallbacks: Sequence[str], used: Iterable[ModelUse]) -> ConfigurationKind:
    """`system` as soon as another model may answer or has answered."""
    return "system" if fallbacks or other_models(model, used) else "model"


def other_models(model: str, used: Iterable[ModelUse]) -> list[str]:
    """Names of models used that are not the configured one, which may be reported without its provider."""
    names = sorted({use.model for use in used})
    return [name for name in names if name != model and not model.endswith(f"/{name}")]


def conformance(track: Track, configured: ManifestConfiguration) -> list[str]:
    """Every reason why the configuration may not run on the track, as the manifest tells it."""
    facts = ConfigurationFacts(
        model=configured.model,
        fallback_models=configured.fallback_models,
        harness=configured.harness,
        instructions=HAS_INSTRUCTIONS if configured.instructions_digest else "",
        temperature=configured.settings.get("temperature"),
        max_tokens=configured.settings.get("max_tokens"),
    )
    return check_conformance(track, facts)


def models_issue(track: Track, model: str, used: Iterable[ModelUse]) -> list[str]:
    """Why an entry of a models track that called other models can't rank; empty where it can."""
    others = other_models(model, used)
    if track.kind != "models" or not others:
        return []
    return [
        f"Track {track.reference} compares models; attempts of this configuration "
        f"({model}) report calling {', '.join(others)}."
    ]


def added_up(uses: Iterable[Sequence[ModelUse]]) -> tuple[ModelUse, ...]:
    """Models of several results of one configuration. Calls add up; one unknown count makes them unknown."""
    by_model: dict[tuple[str, str], list[ModelUse]] = {}
    for use in chain.from_iterable(uses):
        by_model.setdefault((use.model, use.provider or ""), []).append(use)
    found = []
    for key in sorted(by_model):
        calls = [use.calls for use in by_model[key] if use.calls is not None]
        known = len(calls) == len(by_model[key])
        found.append(replace(by_model[key][0], calls=sum(calls) if known else None))
    return tuple(found)


def merged(published: Sequence[ModelUse], new: Sequence[ModelUse]) -> tuple[ModelUse, ...]:
    """Models of a published configuration and of new results of it.

    Which calls the two share isn't known, so a count stays only where both agree on it or one alone has it.
    """
    found = {(use.model, use.provider or ""): use for use in published}
    for use in new:
        key = (use.model, use.provider or "")
        before = found.setdefault(key, use)
        if before.calls != use.calls:
            found[key] = replace(use, calls=None)
    return tuple(found[key] for key in sorted(found))


def differing(one: ManifestConfiguration, other: ManifestConfiguration) -> list[str]:
    """Fields in which the two say different things of one content. Label and version are labels and may."""
    return [name for name in _CONTENT if getattr(one, name) != getattr(other, name)]


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)
