"""ATIF 1.0 to 1.8: `{schema_version, agent, steps[], final_metrics, …}`."""

from __future__ import annotations

from typing import Any

from jobs.domain.trajectory import parts, values
from jobs.domain.trajectory.about import About
from jobs.domain.trajectory.scan import Piece
from jobs.domain.trajectory.types import Block, Read

FORMAT = "atif"
LABEL = "ATIF trajectory"
STEPS = "steps"
_SOURCES = frozenset({"system", "user", "agent"})
_STEP_KEYS = frozenset(
    {
        "step_id",
        "source",
        "message",
        "timestamp",
        "model_name",
        "reasoning_content",
        "tool_calls",
        "metrics",
        "observation",
        "is_copied_context",
        "llm_call_count",
    }
)
_CALL_KEYS = frozenset({"tool_call_id", "function_name", "arguments"})
_RESULT_KEYS = frozenset({"source_call_id", "content", "subagent_trajectory_ref"})
_METRIC_KEYS = frozenset({"prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd"})
_BULK_KEYS = frozenset({"prompt_token_ids", "completion_token_ids", "logprobs"})
"""Long lists of numbers, which are left to the raw step."""
_AGENT_KEYS = ("model_name", "reasoning_content", "tool_calls", "metrics")
_TOTALS = {
    "input_tokens": "total_prompt_tokens",
    "output_tokens": "total_completion_tokens",
    "cached_tokens": "total_cached_tokens",
}


def member(about: About, piece: Piece) -> None:
    """Anything of the file that is not a step."""
    key, value = piece.key, piece.value
    if key == "subagent_trajectories":
        about.embed(values.label(values.mapping(value).get("trajectory_id")), piece.offset, piece.size)
    elif key == "agent" and type(value) is dict:
        names = (values.label(value.get("name")), values.label(value.get("version")))
        about.agent = " ".join(filter(None, names))
        about.model = values.label(value.get("model_name"))
    elif key == "session_id":
        about.session = values.label(value)
    elif key == "continued_trajectory_ref":
        about.continued = values.label(value)
    elif key == "notes" and value not in (None, ""):
        about.note(value if type(value) is str else values.as_json(value))
    elif key == "final_metrics":
        _final(about, values.mapping(value))
    elif key == "extra" and value not in (None, {}):
        about.note(f"extra: {values.as_json(value)}")
    elif key == "schema_version":
        about.note(f"Format {values.label(value) or values.as_json(value)}")
    elif key != "trajectory_id":
        about.note(f"{values.storable(key)}: {values.as_json(value)}")


def _final(about: About, metrics: dict[str, Any]) -> None:
    for name, key in _TOTALS.items():
        about.totals[name] = values.count(metrics.get(key))
    about.totals["cost_usd"] = values.amount(metrics.get("total_cost_usd"))
    about.totals["steps"] = values.count(metrics.get("total_steps"))
    extra = values.mapping(metrics.get("extra"))
    about.totals["calls_without_cost"] = values.count(extra.get("calls_missing_cost"))


def step(value: Any, number: int, key: str = "") -> Read:
    if type(value) is not dict:
        return parts.unshown(number, value, "step", "This step is not an object.")
    source = values.label(value.get("source"))
    remarks = _remarks(value, source, number)
    calls, call_extras = _calls(value.get("tool_calls"))
    names = {one.call_id: one.label for one in calls if one.call_id}
    results, result_extras, seconds = _results(value.get("observation"), names, remarks)
    own = value.get("extra")
    results = parts.failed(results, parts.failure(own))
    message = parts.content(value.get("message"), "message", "message")
    if message and any(message[0].text == one.text for one in results):
        message = message[1:]  # some producers write a result as a step and say it twice
    reasoning = parts.content(value.get("reasoning_content"), "reasoning", "reasoning")
    metrics = values.mapping(value.get("metrics"))
    extras = values.mapping(own)
    rewards = parts.reward(extras.get("reward"), extras.get("rewards"))
    left = {
        **values.without(value, _STEP_KEYS),
        **{f"tool_calls[{at}]": left for at, left in call_extras.items()},
        **{f"results[{at}]": left for at, left in result_extras.items()},
        "metrics": values.without(metrics, _METRIC_KEYS | _BULK_KEYS)
        if metrics
        else values.as_json(value["metrics"])
        if value.get("metrics")
        else None,
    }
    return parts.step(
        number,
        source,
        [*reasoning, *message, *calls, *results, *rewards],
        step_id=values.label(value.get("step_id")),
        time=value.get("timestamp"),
        model=value.get("model_name"),
        usage=(
            metrics.get("prompt_tokens"),
            metrics.get("completion_tokens"),
            metrics.get("cached_tokens"),
            metrics.get("cost_usd"),
        ),
        llm_calls=value.get("llm_call_count"),
        is_copied=value.get("is_copied_context") is True,
        left=left,
        remarks=remarks,
        seconds=_sum(seconds, _milliseconds(metrics.get("extra")), _milliseconds(own)),
    )


def _remarks(value: dict[str, Any], source: str, number: int) -> list[str]:
    remarks = []
    if source not in _SOURCES:
        remarks.append(f"Its source {source or values.as_json(value.get('source'))} is unknown to ATIF.")
    if source in ("system", "user") and any(value.get(key) for key in _AGENT_KEYS):
        remarks.append("It holds what only a step of the Agent should hold.")
    if value.get("step_id") != number:
        written = values.label(value.get("step_id")) or "none"
        remarks.append(f"Its step_id is {written}, its position {number}.")
    return remarks


def _calls(value: Any) -> tuple[list[Block], dict[int, Any]]:
    found: list[Block] = []
    extras: dict[int, Any] = {}
    for at, item in enumerate(values.sequence(value)[: parts.MAX_BLOCKS]):
        if type(item) is not dict:
            found.append(parts.raw(item, "call of no known shape"))
            continue
        found.append(parts.call(item.get("function_name"), item.get("arguments"), item.get("tool_call_id")))
        if left := values.without(item, _CALL_KEYS):
            extras[at] = left
    return found, extras


def _results(
    observation: Any, names: dict[str, str], remarks: list[str]
) -> tuple[list[Block], dict[int, Any], float | None]:
    """Blocks, what they don't show by position, and the seconds that the results say they took."""
    if observation is None:
        return [], {}, None
    if type(observation) is not dict or type(observation.get("results", [])) is not list:
        return [parts.raw(observation, "observation of no known shape")], {}, None
    found: list[Block] = []
    extras: dict[int, Any] = {}
    seconds: float | None = None
    for at, item in enumerate(observation.get("results", [])[: parts.MAX_BLOCKS]):
        if type(item) is not dict:
            found.append(parts.raw(item, "result of no known shape"))
            continue
        extra = values.mapping(item.get("extra"))
        call_id = values.label(item.get("source_call_id"))
        if call_id and call_id not in names:
            remarks.append(f"A result names the call {call_id}, which this step did not make.")
        name = names.get(call_id) or values.label(extra.get("action")) or "result"
        blocks = parts.content(item.get("content"), "result", name, call_id=call_id)
        found += parts.failed(blocks, parts.failure(item, extra), call_id)
        found += map(parts.subagent, values.sequence(item.get("subagent_trajectory_ref")))
        seconds = _sum(seconds, _milliseconds(extra))
        if left := values.without(item, _RESULT_KEYS):
            extras[at] = left
    if rest := values.without(observation, ("results",)):
        extras[-1] = rest
    return found, extras, seconds


def _milliseconds(extra: Any) -> float | None:
    fields = values.mapping(extra)
    found = values.amount(fields.get("duration_ms", fields.get("exec_duration_ms")))
    return None if found is None else found / 1000


def _sum(*amounts: float | None) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None
