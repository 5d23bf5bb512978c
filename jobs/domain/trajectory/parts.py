"""Blocks out of message content, in the shapes that the common interfaces of models use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jobs.domain.trajectory import values
from jobs.domain.trajectory.types import (
    EMBEDDED,
    REWARD_LABEL,
    Block,
    BlockKind,
    Image,
    Read,
    Step,
    SubagentRef,
)

MAX_BLOCKS = 5_000
"""Of a step: more of them are not read."""
_EXIT_CODES = ("exit_code", "exec_exit_code", "returncode", "return_code")
_STATUSES = ("status", "exec_status")
_FAILED = frozenset({"error", "failed", "failure", "timeout", "timed_out"})


def block(kind: BlockKind, label: str, text: str, *, call_id: str = "", is_json: bool = False) -> Block:
    text = values.readable(text)
    return Block(kind, label, text, len(text), is_json or values.is_json_text(text), call_id)


def raw(value: Any, label: str, *, kind: BlockKind = "raw", call_id: str = "") -> Block:
    return block(kind, label, values.as_json(value), call_id=call_id, is_json=True)


def unread(data: bytes, label: str) -> tuple[Block, ...]:
    """What could not be parsed, as text; nothing of what is too large."""
    if not data:
        return ()
    text = data.decode(errors="replace")
    return (Block("raw", label, text, len(text)),)


def content(value: Any, kind: BlockKind, label: str, *, call_id: str = "") -> list[Block]:
    """Blocks of text, of a list of parts, or of anything else; none for null and ''."""
    if value is None or value == "":
        return []
    if type(value) is str:
        return [block(kind, label, value, call_id=call_id)]
    if type(value) is dict and type(value.get("type")) is str:
        value = [value]
    if type(value) is not list:
        return [raw(value, label, kind=kind, call_id=call_id)]
    found: list[Block] = []
    for item in value[:MAX_BLOCKS]:
        found += _part(item, kind, label, call_id)
    return found


def _part(part: Any, kind: BlockKind, label: str, call_id: str) -> list[Block]:
    if type(part) is str:
        return content(part, kind, label, call_id=call_id)
    if type(part) is not dict:
        return [raw(part, f"{label}: unknown part", call_id=call_id)]
    name = part.get("type")
    reader = _PARTS.get(name) if type(name) is str else None
    read = reader(part, kind, label, call_id) if reader else None
    if read is None:
        return [raw(part, f"{label}: unknown part {values.label(name)}".rstrip(), call_id=call_id)]
    return read


def _text(part: dict[str, Any], kind: BlockKind, label: str, call_id: str) -> list[Block] | None:
    text = part.get("text", part.get("refusal"))
    return content(text, kind, label, call_id=call_id) if type(text) is str else None


def _reasoning(part: dict[str, Any], kind: BlockKind, label: str, call_id: str) -> list[Block] | None:
    texts = (part.get(key) for key in ("thinking", "reasoning", "text", "summary", "data"))
    text = next((text for text in texts if text), None)
    return content(text, "reasoning", "reasoning") if type(text) is str else None


def _image(part: dict[str, Any], kind: BlockKind, label: str, call_id: str) -> list[Block] | None:
    return _medium(part, "image", part.get("source", part.get("image_url", part.get("image"))), call_id)


def _audio(part: dict[str, Any], kind: BlockKind, label: str, call_id: str) -> list[Block] | None:
    return _medium(part, "audio", part.get("source", part.get("input_audio")), call_id)


def _medium(part: dict[str, Any], kind: BlockKind, source: Any, call_id: str) -> list[Block] | None:
    """A picture or a sound by file name, by address, or embedded as base64."""
    fields = {"url": source} if type(source) is str else values.mapping(source)
    media_type = values.label(fields.get("media_type") or fields.get("format"))
    data, where = fields.get("data"), fields.get("path") or fields.get("url")
    if type(data) is not str and type(where) is str and where.startswith("data:"):
        head, _, data = where.partition(",")
        media_type = values.label(head[5:].partition(";")[0])
    if type(data) is str:
        data = values.readable(data)
        image = Image(media_type, EMBEDDED)
        return [Block(kind, f"embedded {kind}", data, len(data), False, call_id, image)]
    if type(where) is not str or not where:
        return None
    where = values.readable(where)
    return [Block(kind, kind, where, len(where), False, call_id, Image(media_type, where))]


def _tool_use(part: dict[str, Any], kind: BlockKind, label: str, call_id: str) -> list[Block] | None:
    return [call(part.get("name"), part.get("input"), part.get("id", part.get("call_id")))]


def _tool_result(part: dict[str, Any], kind: BlockKind, label: str, call_id: str) -> list[Block] | None:
    own = values.label(part.get("tool_use_id", part.get("call_id")))
    text = part.get("content", part.get("output"))
    if part.get("is_error") is True:
        return content(text, "error", "failed", call_id=own) or [block("error", "failed", "", call_id=own)]
    return content(text, "result", "result", call_id=own)


_PARTS: dict[str, Callable[[dict[str, Any], BlockKind, str, str], list[Block] | None]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "refusal"), _text),
    **dict.fromkeys(("thinking", "reasoning", "redacted_thinking"), _reasoning),
    **dict.fromkeys(("image", "image_url", "input_image"), _image),
    **dict.fromkeys(("audio", "input_audio"), _audio),
    "tool_use": _tool_use,
    "tool_result": _tool_result,
}


def call(name: Any, arguments: Any, call_id: Any) -> Block:
    """A call of a function; arguments that are JSON text stay as they were written."""
    label, own = values.label(name) or "call", values.label(call_id)
    if type(arguments) is str:
        return block("call", label, arguments, call_id=own)
    return raw({} if arguments is None else arguments, label, kind="call", call_id=own)


def reward(value: Any, parts: Any = None) -> list[Block]:
    """A reward, unless it is nothing or 0 without parts."""
    number = values.float_of(value)
    if not parts and (value is None or number == 0):
        return []
    text = values.as_json(value) if not parts else values.as_json({"reward": value, "rewards": parts})
    return [block("reward", REWARD_LABEL, text, is_json=True)]


def failure(*objects: Any) -> str | None:
    """How one of these objects says that something failed, None where none does."""
    for fields in map(values.mapping, objects):
        error = fields.get("error")
        if error not in (None, "", False, [], {}):
            return "" if error is True else error if type(error) is str else values.as_json(error)
        if fields.get("is_error") is True or fields.get("isError") is True:
            return ""
        for key in _EXIT_CODES:
            code = fields.get(key)
            if type(code) is int and code != 0:
                return f"exit code {values.label(code)}"
        for key in _STATUSES:
            status = fields.get(key)
            if type(status) is str and status.lower() in _FAILED:
                return f"status {values.label(status)}"
    return None


def failed(blocks: list[Block], error: str | None, call_id: str = "") -> list[Block]:
    """The blocks of a result, marked as failed where `error` says so, which is told unless it is there."""
    if error is None:
        return blocks
    marked = [replace(one, kind="error") if one.kind == "result" else one for one in blocks]
    if not any(one.kind == "error" and (error in one.text) for one in marked):
        marked.append(block("error", "error", error, call_id=call_id))
    return marked


def subagent(reference: Any) -> Block:
    fields = values.mapping(reference)
    path = values.label(fields.get("trajectory_path")) if type(fields.get("trajectory_path")) is str else ""
    ident = values.label(fields.get("trajectory_id") or fields.get("session_id"))
    found = raw(reference, "subagent", kind="subagent")
    return replace(found, subagent=SubagentRef(ident, path))


def extra(found: dict[str, Any]) -> str:
    """JSON of what is left over, '' for nothing."""
    left = {key: value for key, value in found.items() if value not in (None, "", [], {})}
    return values.as_json(left) if left else ""


def step(
    number: int,
    source: str,
    blocks: list[Block],
    *,
    step_id: str = "",
    time: Any = None,
    model: Any = None,
    usage: tuple[Any, Any, Any, Any] = (None, None, None, None),
    llm_calls: Any = None,
    is_copied: bool = False,
    left: dict[str, Any] | None = None,
    remarks: list[str] | None = None,
    seconds: float | None = None,
) -> Read:
    """`usage`: input, output and cached tokens, cost in USD, of any type."""
    said = list(remarks or ())
    when = values.time(time)
    if time is not None and when is None:
        said.append("Its time can't be read.")
    elif when is not None and not values.has_zone(time):
        said.append("Its time says no zone; it is taken for UTC.")
    if not blocks:
        said.append("It holds nothing to show.")
    elif len(blocks) > MAX_BLOCKS:
        said.append(f"It has {len(blocks)} parts, of which the first {MAX_BLOCKS} are shown.")
    tokens_in, tokens_out, cached, cost = usage
    return Read(
        Step(
            number=number,
            step_id=step_id,
            source=source,
            time=when,
            model=values.label(model),
            input_tokens=values.count(tokens_in),
            output_tokens=values.count(tokens_out),
            cached_tokens=values.count(cached),
            cost_usd=values.amount(cost),
            llm_calls=values.count(llm_calls) if type(llm_calls) is int else None,
            is_copied=is_copied,
            blocks=tuple(blocks[:MAX_BLOCKS]),
            extra=extra(left) if left else "",
            remarks=tuple(said),
        ),
        seconds,
    )


def unshown(number: int, value: Any, what: str, remark: str) -> Read:
    """A step of no known shape."""
    return step(number, "", [raw(value, what)], remarks=[remark])
