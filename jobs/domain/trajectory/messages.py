"""`{messages[], status, …}`: chat messages as model interfaces take them."""

from __future__ import annotations

from typing import Any

from jobs.domain.trajectory import parts, values
from jobs.domain.trajectory.about import About
from jobs.domain.trajectory.scan import Piece
from jobs.domain.trajectory.types import Block, Read

FORMAT = "messages"
LABEL = "Messages of the last model call"
STEPS = "messages"
SOURCES = {"assistant": "agent", "function": "tool"}
_KEYS = frozenset(
    {
        "role",
        "content",
        "name",
        "tool_calls",
        "tool_call_id",
        "reasoning_content",
        "reasoning",
        "timestamp",
        "model",
        "usage",
        "cost",
        "type",
        "error",
    }
)


def member(about: About, piece: Piece) -> None:
    value = piece.value
    if piece.key == "status" and type(value) is str:
        about.note(f"Status: {values.label(value)}")
    elif piece.key == "finalized":
        if value is not True:
            about.problem("The run did not finish writing it.")
    elif piece.key == "time_elapsed" and values.amount(value) is not None:
        about.note(f"Time: {values.amount(value):g} s")
    elif piece.key in ("model", "model_name") and type(value) is str:
        about.model = values.label(value)
    elif piece.key == "session_id":
        about.session = values.label(value)
    else:
        about.note(f"{values.storable(piece.key)}: {values.as_json(value)}")


def is_message(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("role")) is str
        and ("content" in value or "tool_calls" in value)
    )


def step(value: Any, number: int, key: str = "") -> Read:
    if type(value) is not dict:
        return parts.unshown(number, value, "message", "This message is not an object.")
    role = values.label(value.get("role"))
    usage = values.mapping(value.get("usage"))
    remarks = [] if role else ["It names no role."]
    return parts.step(
        number,
        SOURCES.get(role, role),
        blocks(value),
        time=value.get("timestamp"),
        model=value.get("model"),
        usage=(
            usage.get("prompt_tokens", usage.get("input_tokens")),
            usage.get("completion_tokens", usage.get("output_tokens")),
            usage.get("cached_tokens", usage.get("cached_input_tokens")),
            value.get("cost", usage.get("cost_usd")),
        ),
        left=values.without(value, _KEYS),
        remarks=remarks,
    )


def blocks(value: dict[str, Any], prefix: str = "") -> list[Block]:
    """Of a message; `prefix` goes before the labels of what was said."""
    role = values.label(value.get("role"))
    found = parts.content(value.get("reasoning_content", value.get("reasoning")), "reasoning", "reasoning")
    if SOURCES.get(role, role) == "tool":
        own = values.label(value.get("tool_call_id"))
        name = values.label(value.get("name")) or "result"
        result = parts.content(value.get("content"), "result", f"{prefix}{name}", call_id=own)
        return found + parts.failed(result, parts.failure(value), own)
    found += parts.content(value.get("content"), "message", f"{prefix}{role or 'message'}")
    found += map(call, values.sequence(value.get("tool_calls"))[: parts.MAX_BLOCKS])
    return parts.failed(found, parts.failure(value))


def call(item: Any) -> Block:
    """A tool call, with the function inside or beside."""
    if type(item) is not dict:
        return parts.raw(item, "call of no known shape")
    inner = item.get("function")
    if type(inner) is dict:
        return parts.call(inner.get("name"), inner.get("arguments"), item.get("id"))
    if type(inner) is str or "name" in item:
        name = inner if type(inner) is str else item.get("name")
        return parts.call(name, item.get("arguments"), item.get("id"))
    return parts.raw(item, "call of no known shape")
