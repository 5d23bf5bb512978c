"""Any other JSON: every element of a list, every other member and every line is a step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jobs.domain.trajectory import atif, episode, messages, parts, values
from jobs.domain.trajectory.about import About
from jobs.domain.trajectory.scan import Piece
from jobs.domain.trajectory.types import Read

FORMAT = "raw"
LABEL = "File of no known format"
STEPS = ""


def member(about: About, piece: Piece) -> None:
    """Everything is a step."""


def step(value: Any, number: int, key: str = "") -> Read:
    """By its shape, else as JSON. `key` is the member of the file's object that it stands in."""
    if messages.is_message(value):
        return messages.step(value, number)
    if episode.is_event(value):
        return episode.step(value, number)
    if type(value) is dict and "source" in value and ("message" in value or "step_id" in value):
        return atif.step(value, number)
    name = values.storable(key[: values.LABEL_LENGTH])
    read = parts.step(number, "", [parts.raw(value, name or "entry")])
    return replace(read, step=replace(read.step, source=_source(value, name)))


def _source(value: Any, key: str) -> str:
    fields = values.mapping(value)
    named = (values.label(fields.get(name)) for name in ("type", "kind", "event", "source", "role"))
    return next(filter(None, named), key)
