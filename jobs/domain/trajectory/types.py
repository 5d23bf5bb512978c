"""The neutral step model: what every trajectory format is read into."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

BlockKind = Literal[
    "message", "reasoning", "call", "result", "reward", "error", "image", "audio", "subagent", "raw"
]
EMBEDDED = "data:"
"""`Image.path` of a picture that stands in the step itself, as base64 in the block's text."""
REWARD_LABEL = "Training reward, never seen by the Agent"


@dataclass(frozen=True, slots=True)
class Image:
    """A picture or a sound. `path` as written, until the file it names is known; '' without one."""

    media_type: str
    path: str


@dataclass(frozen=True, slots=True)
class SubagentRef:
    """Another trajectory: `path` is what to open it by, '' where it was not saved."""

    trajectory_id: str
    path: str


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a step. `text` may be cut; `length` is its full number of characters.

    `call_id` joins a call with its results; a failed result is of kind error and keeps it.
    """

    kind: BlockKind
    label: str
    text: str
    length: int
    is_json: bool = False
    call_id: str = ""
    image: Image | None = None
    subagent: SubagentRef | None = None

    @property
    def is_cut(self) -> bool:
        return len(self.text) < self.length


@dataclass(frozen=True, slots=True)
class Step:
    """`number` is the position from 1. Costs in USD. `extra` is JSON of what no block shows, '' for none."""

    number: int
    step_id: str
    source: str
    time: datetime | None
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    llm_calls: int | None
    is_copied: bool
    blocks: tuple[Block, ...]
    extra: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """A step as read, and the seconds that it says it took."""

    step: Step
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class OutlineRow:
    """A step in a list. Seconds and USD; `size` in bytes; `calls` are function names.

    `duration` is what the step says it took, else the time until the next one, None where that is unknown
    or negative. Costs leave copied context out.
    """

    number: int
    source: str
    title: str
    since_start: float | None
    duration: float | None
    tokens: int | None
    cost_usd: float | None
    cumulative_cost: float | None
    size: int
    is_error: bool
    has_subagent: bool
    is_copied: bool
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """Over the whole trajectory, as it declares them, else summed without copied context."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    calls_without_cost: int


@dataclass(frozen=True, slots=True)
class TrajectoryFacts:
    """What a file says of itself. `continued` is the path of the next part, '' for none."""

    format: str
    agent: str
    model: str
    session: str
    totals: Totals
    steps: int
    started: datetime | None
    ended: datetime | None
    notes: tuple[str, ...]
    problems: tuple[str, ...]
    continued: str
    subagents: tuple[SubagentRef, ...]


@dataclass(frozen=True, slots=True)
class Bucket:
    """Neighbouring steps `first` to `last`. `cost` in USD; `sources` are (source, steps), most first."""

    first: int
    last: int
    errors: int
    subagents: int
    cost: float | None
    sources: tuple[tuple[str, int], ...]
