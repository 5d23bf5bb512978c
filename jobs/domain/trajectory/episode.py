"""`episode.jsonl`: the record that the framework keeps, one event a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jobs.domain.trajectory import messages, parts, values
from jobs.domain.trajectory.about import About
from jobs.domain.trajectory.scan import Piece
from jobs.domain.trajectory.types import Block, Read

FORMAT = "episode"
LABEL = "Episode record"
STEPS = ""
_COMMON = frozenset(
    {"kind", "schema", "sequence", "event_id", "started_at", "ended_at", "duration_ms", "error", "turn"}
)
_SHOWN = frozenset(
    {
        "observation",
        "content",
        "action",
        "arguments",
        "tool_call_id",
        "reward",
        "rewards",
        "messages",
        "messages_offset",
        "message_count",
        "text",
        "reasoning",
        "tool_calls",
        "usage",
        "model",
        "tools",
        "response",
        "terminated",
        "truncated",
    }
)


def member(about: About, piece: Piece) -> None:
    """Every line is a step."""


def is_event(value: Any) -> bool:
    return type(value) is dict and type(value.get("kind")) is str and "sequence" in value


def step(value: Any, number: int, key: str = "") -> Read:
    if type(value) is not dict:
        return parts.unshown(number, value, "event", "This event is not an object.")
    kind = values.label(value.get("kind"))
    usage = values.mapping(value.get("usage"))
    reader = _READERS.get(kind)
    remarks = _remarks(value)
    if reader:
        source, blocks = reader(value)
        blocks = parts.failed(blocks, parts.failure(value), values.label(value.get("tool_call_id")))
        left = values.without(value, _COMMON | _SHOWN)
    else:
        source, blocks, left = kind, [parts.raw(value, kind or "event")], {}
        remarks.append("Its kind is unknown, so it is shown as it was written.")
    duration = values.amount(value.get("duration_ms"))
    return parts.step(
        number,
        source,
        blocks,
        step_id=values.label(value.get("event_id")),
        time=value.get("started_at"),
        model=value.get("model"),
        usage=(
            usage.get("input_tokens"),
            usage.get("output_tokens"),
            usage.get("cached_input_tokens"),
            usage.get("cost_usd"),
        ),
        llm_calls=1 if kind == "model.call" else 0,
        left=left,
        remarks=remarks,
        seconds=None if duration is None else duration / 1000,
    )


def _remarks(value: dict[str, Any]) -> list[str]:
    ends = {"terminated": "The Environment ended here.", "truncated": "The Environment was cut off here."}
    return [words for key, words in ends.items() if value.get(key) is True]


def _reset(value: dict[str, Any]) -> tuple[str, list[Block]]:
    return "environment", parts.content(value.get("observation"), "result", "first observation")


def _action(value: dict[str, Any]) -> tuple[str, list[Block]]:
    own, name = values.label(value.get("tool_call_id")), values.label(value.get("action")) or "action"
    seen = value.get("observation") if value.get("observation") is not None else value.get("content")
    return "environment", [
        parts.call(name, value.get("arguments"), own),
        *parts.content(seen, "result", name, call_id=own),
        *parts.reward(value.get("reward"), value.get("rewards")),
    ]


def _model_call(value: dict[str, Any]) -> tuple[str, list[Block]]:
    """What was newly sent, then the answer."""
    found: list[Block] = []
    for message in values.sequence(value.get("messages"))[: parts.MAX_BLOCKS]:
        if messages.is_message(message):
            found += messages.blocks(message, "sent: ")
        else:
            found.append(parts.raw(message, "sent"))
    found += parts.content(value.get("reasoning"), "reasoning", "reasoning")
    found += parts.content(value.get("text"), "message", "answer")
    found += map(messages.call, values.sequence(value.get("tool_calls"))[: parts.MAX_BLOCKS])
    return "agent", found


def _finish(value: dict[str, Any]) -> tuple[str, list[Block]]:
    answer = value.get("response", value.get("text"))
    return "agent", parts.content(answer, "message", "final answer")


_READERS: dict[str, Callable[[dict[str, Any]], tuple[str, list[Block]]]] = {
    "environment.reset": _reset,
    "environment.step": _action,
    "model.call": _model_call,
    "agent.finish": _finish,
}
