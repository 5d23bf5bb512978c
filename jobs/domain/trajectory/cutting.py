"""Steps cut to what a page shows, and as plain JSON for a database row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jobs.domain.trajectory import values
from jobs.domain.trajectory.types import EMBEDDED, Block, Image, Step, SubagentRef

TEXT_LIMIT = 4_000
"""Characters of a block on a page."""
PREVIEW_CHARACTERS = 24_000
"""Of all blocks of a step that is kept in a row."""
PREVIEW_BLOCKS = 50
_REMARKS = 20


def cut(step: Step, text_limit: int) -> Step:
    """At most `PREVIEW_BLOCKS` blocks of `text_limit` characters, and no bytes of an embedded picture."""
    return replace(
        step,
        blocks=tuple(_cut_block(block, text_limit) for block in step.blocks[:PREVIEW_BLOCKS]),
        extra=_cut_extra(step.extra, text_limit),
        remarks=_said(step),
    )


def _said(step: Step) -> tuple[str, ...]:
    """Its remarks, with one on the blocks that are left out."""
    hidden = len(step.blocks) - PREVIEW_BLOCKS
    more = (f"It has {hidden} more parts; open the step to see them.",) if hidden > 0 else ()
    return (*step.remarks[:_REMARKS], *more)


def _cut_extra(extra: str, limit: int) -> str:
    return extra if len(extra) <= limit else f"{extra[:limit]}…"


def _cut_block(block: Block, limit: int) -> Block:
    if block.image and block.image.path == EMBEDDED:
        limit = 0
    return block if len(block.text) <= limit else replace(block, text=block.text[:limit])


def preview(step: Step) -> dict[str, Any]:
    """A step of any size as a row holds it: nothing that a database refuses, and not much of it."""
    left = PREVIEW_CHARACTERS
    blocks = []
    for block in step.blocks[:PREVIEW_BLOCKS]:
        short = _cut_block(block, min(TEXT_LIMIT, left))
        left -= len(short.text)
        blocks.append(
            [
                block.kind,
                values.storable(block.label[:300]),
                values.storable(short.text),
                block.length,
                block.is_json,
                block.call_id,
                [block.image.media_type, values.storable(block.image.path[:1000])] if block.image else None,
                [block.subagent.trajectory_id, block.subagent.path] if block.subagent else None,
            ]
        )
    return {
        "id": step.step_id,
        "source": step.source,
        "time": step.time.isoformat() if step.time else None,
        "model": step.model,
        "usage": [step.input_tokens, step.output_tokens, step.cached_tokens, step.cost_usd, step.llm_calls],
        "copied": step.is_copied,
        "blocks": blocks,
        "extra": values.storable(_cut_extra(step.extra, TEXT_LIMIT)),
        "remarks": [values.storable(remark[:500]) for remark in _said(step)],
    }


def from_preview(kept: dict[str, Any], number: int) -> Step:
    tokens_in, tokens_out, cached, cost, calls = kept["usage"]
    return Step(
        number=number,
        step_id=kept["id"],
        source=kept["source"],
        time=values.time(kept["time"]),
        model=kept["model"],
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cached_tokens=cached,
        cost_usd=cost,
        llm_calls=calls,
        is_copied=kept["copied"],
        blocks=tuple(_block(block) for block in kept["blocks"]),
        extra=kept["extra"],
        remarks=tuple(kept["remarks"]),
    )


def _block(kept: list[Any]) -> Block:
    kind, label, text, length, is_json, call_id, image, subagent = kept
    return Block(
        kind,
        label,
        text,
        length,
        is_json,
        call_id,
        Image(*image) if image else None,
        SubagentRef(*subagent) if subagent else None,
    )
