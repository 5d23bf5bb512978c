"""The few facts that a Trial takes from its ATIF trajectory (`artifacts/atif-trajectory.json`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers import stream_json, strict_json
from jobs.domain.readers.strict_json import Fields, NotStrictError

NAME = "atif-trajectory.json"
_MAX_MODELS = 100


@dataclass(frozen=True, slots=True)
class Trajectory:
    """`calls_missing_cost`: some model call reported no cost, so the total is a lower bound."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    calls_missing_cost: bool = False
    models: tuple[str, ...] = ()


def from_bytes(data: bytes, file: str) -> Trajectory:
    """Raises `ImportProblemError` for anything odd."""
    fields = Fields(strict_json.loads(data, file), file)
    models: set[str] = set()
    for index, step in enumerate(fields.array("steps")):
        _add_model(models, step, index, file)
    return _trajectory(fields, models)


def from_stream(read: Callable[[int], bytes], file: str) -> Trajectory:
    """The same without holding more than one step at a time."""
    models: set[str] = set()
    kept: dict[str, Any] = {}
    steps = 0
    try:
        for key, value in stream_json.members(read):
            if key == "steps":
                _add_model(models, value, steps, file)
                steps += 1
            elif key == "final_metrics":
                kept[key] = value
    except NotStrictError as error:
        raise ImportProblemError(file, "", str(error)) from None
    return _trajectory(Fields(kept, file), models)


def _add_model(models: set[str], step: Any, index: int, file: str) -> None:
    if type(step) is not dict:
        raise ImportProblemError(file, f"steps[{index}]", "must be an object")
    if step.get("source") != "agent" or step.get("llm_call_count") == 0 or not step.get("model_name"):
        return
    name = step["model_name"]
    if type(name) is str and name in models:
        return
    models.add(Fields(step, file, f"steps[{index}]").text("model_name"))
    if len(models) > _MAX_MODELS:
        raise ImportProblemError(file, f"steps[{index}].model_name", "is one model too many to list")


def _trajectory(fields: Fields, models: set[str]) -> Trajectory:
    metrics = fields.optional_object("final_metrics")
    if metrics is None:
        return Trajectory(models=tuple(sorted(models)))
    extra = metrics.optional_object("extra")
    missing = extra.optional_integer("calls_missing_cost", 0) if extra else 0
    return Trajectory(
        metrics.optional_integer("total_prompt_tokens", 0),
        metrics.optional_integer("total_completion_tokens", 0),
        bool(missing),
        tuple(sorted(models)),
    )
