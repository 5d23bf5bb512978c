"""Model calls of an ATIF trajectory: tokens, cost and time of each, and what they add up to. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MAX_LISTED = 100
MAX_MODELS = 20
_MAX_COUNT = 10**15


@dataclass(frozen=True, slots=True)
class Call:
    """A step that called a model. Tokens, cost (USD) and seconds are None where none were reported."""

    step: str
    model: str
    calls: int
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    cost: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class ModelUse:
    model: str
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    without_cost: int


@dataclass(frozen=True, slots=True)
class ModelCalls:
    listed: tuple[Call, ...]
    """The first of them; `steps` says how many there are."""
    steps: int
    whole: ModelUse
    models: tuple[ModelUse, ...]
    """By number of calls."""
    models_total: int
    reported_without_cost: int | None
    """Calls without a cost as the run counted them itself."""


def model_calls(document: Mapping[str, Any]) -> ModelCalls:
    """`document` is a parsed `atif-trajectory.json`; what is not as it should be counts as not reported."""
    steps = document.get("steps")
    calls = [_call(step) for step in steps if _calls_a_model(step)] if isinstance(steps, list) else []
    by_model: dict[str, list[Call]] = {}
    for call in calls:
        by_model.setdefault(call.model, []).append(call)
    uses = sorted((_use(model, own) for model, own in by_model.items()), key=lambda use: -use.calls)
    extra = _mapping(_mapping(document.get("final_metrics")).get("extra"))
    return ModelCalls(
        listed=tuple(calls[:MAX_LISTED]),
        steps=len(calls),
        whole=_use("", calls),
        models=tuple(uses[:MAX_MODELS]),
        models_total=len(uses),
        reported_without_cost=_count(extra.get("calls_missing_cost")),
    )


def _calls_a_model(step: Any) -> bool:
    if not isinstance(step, dict) or step.get("source") != "agent":
        return False
    return bool(step.get("llm_call_count") != 0)


def _call(step: Mapping[str, Any]) -> Call:
    metrics = _mapping(step.get("metrics"))
    milliseconds = _number(_mapping(metrics.get("extra")).get("duration_ms"))
    name, number = step.get("model_name"), step.get("step_id")
    return Call(
        step=str(number) if isinstance(number, int | str) and len(str(number)) <= 40 else "",
        model=name if isinstance(name, str) else "",
        calls=_count(step.get("llm_call_count")) or 1,
        input_tokens=_count(metrics.get("prompt_tokens")),
        cached_tokens=_count(metrics.get("cached_tokens")),
        output_tokens=_count(metrics.get("completion_tokens")),
        cost=_number(metrics.get("cost_usd")),
        seconds=None if milliseconds is None else milliseconds / 1000,
    )


def _use(model: str, calls: Iterable[Call]) -> ModelUse:
    calls = list(calls)
    costs = [call.cost for call in calls if call.cost is not None]
    return ModelUse(
        model=model,
        calls=sum(call.calls for call in calls),
        input_tokens=_sum(call.input_tokens for call in calls),
        output_tokens=_sum(call.output_tokens for call in calls),
        cost=math.fsum(costs) if costs else None,
        without_cost=sum(call.calls for call in calls if call.cost is None),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= _MAX_COUNT else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and 0 <= number <= _MAX_COUNT else None
