"""What of a release and its Agents must not become public, as texts to compare the manifest with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.models import Configuration, Kind, Revision
from hub.choices import Choices
from hub.domain.leaks import PrivateMaterial
from hub.gathering import Gathering

OF_TASK = {
    "expected": "expected answers",
    "initial_state": "initial States",
    "reset_options": "reset options",
    "info": "infos of Tasks",
    "resources": "resources",
}
OF_VERIFIER = ("criteria", "info", "check", "instructions", "prompt", "rubric", "model", "metadata")
"""Its kind and weight are public."""


def private_material(gathering: Gathering, choices: Choices) -> PrivateMaterial:
    """Two queries."""
    found: dict[str, list[str]] = {label: [] for label in OF_TASK.values()}
    for pin in gathering.pins:
        content = pin.task_revision.content
        for key, label in OF_TASK.items():
            found[label] += texts(content.get(key))
    for held in gathering.pinned.values():
        if held.resource.kind == Kind.VERIFIER:
            parts = [held.content.get(key) for key in OF_VERIFIER]
            found.setdefault("Verifier definitions", []).extend(texts(parts))
        else:
            found.setdefault("settings of Environments", []).extend(_settings(held))
    prompts = found.setdefault("Agent prompts", [])
    for configuration in _configurations(gathering, choices):
        content = configuration.content
        prompts += [content["instructions"], *texts(content.get("harness_kwargs"))]
    return PrivateMaterial({label: tuple(filter(str.strip, held)) for label, held in found.items()})


def texts(value: Any) -> Iterator[str]:
    """Every text at any depth, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def _settings(held: Revision) -> Iterator[str]:
    for app in held.content.get("apps") or ():
        yield from texts(app.get("config"))
        yield from texts(app.get("state_schema"))


def _configurations(gathering: Gathering, choices: Choices) -> Sequence[Configuration]:
    project = gathering.revision.resource.project_id
    digests = {pick.configuration for pick in choices.picks}
    return list(Configuration.objects.filter(project=project, content_hash__in=digests))
