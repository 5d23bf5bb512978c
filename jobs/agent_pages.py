"""What the pages of a Task and of Agents show, as values a template can print. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import Choice, IntervalBar, TrackTab
from benchmarks.pages import Crumb, Figure
from jobs.command_pages import CommandPart

# A Task in a release


@dataclass(frozen=True, slots=True)
class PinnedRow:
    """An Environment or a Verifier as the Task pins it. `version` is '' for none, `number` '' if not held."""

    role: str
    name: str
    version: str
    number: str
    content_hash: str
    short_hash: str
    kind: str
    facts: tuple[str, ...]
    criteria: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrivatePart:
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class AttemptCell:
    href: str
    number: int
    shape: str
    words: str
    """All of it in words: outcome, score, cost, time, Job."""
    score: str
    tone: str
    """good, warn, bad or neutral; the shape says it too."""


@dataclass(frozen=True, slots=True)
class AgentAttempts:
    """One Agent at the Task."""

    agent: str
    agent_href: str
    detail: str
    rank: str
    score: Figure
    fill: float | None
    """Length of the bar, 0 to 100; None without a score."""
    spread: str
    passed: str
    trials_href: str
    cells: tuple[AttemptCell, ...]
    more: str
    """E.g. "968 more", '' where all are shown."""
    remark: str


@dataclass(frozen=True, slots=True)
class AttemptNumber:
    number: int
    score: Figure
    fill: float | None
    passed: str
    valid: str


@dataclass(frozen=True, slots=True)
class AgentGroup:
    """Agents that did alike, e.g. "Pass every time"."""

    label: str
    count: int
    agents: tuple[Figure, ...]
    more: int


@dataclass(frozen=True, slots=True)
class TaskPage:
    crumbs: tuple[Crumb, ...]
    task: str
    position: int
    total: int
    version: str
    content_hash: str
    benchmark: str
    label: str
    """The release: "1.1.0" or "revision 3"."""
    claim: str
    tabs: tuple[TrackTab, ...]
    previous: Choice | None
    next: Choice | None
    links: tuple[Choice, ...]
    weight: str
    categories: tuple[Figure, ...]
    limits: str
    instructions_html: str
    """Sanitised HTML, safe to print unescaped; '' where there are none."""
    seats: tuple[tuple[str, str], ...]
    """(seat, sanitised HTML of its instructions)."""
    goals: tuple[str, ...]
    pinned: tuple[PinnedRow, ...]
    private: tuple[PrivatePart, ...]
    difficulty: str
    """E.g. "hard", '' where nothing is known."""
    difficulty_text: str
    difficulty_scale: str
    disagreement: str
    groups: tuple[AgentGroup, ...]
    unit: str
    caption: str
    legend: tuple[tuple[str, str], ...]
    rows: tuple[AgentAttempts, ...]
    rows_words: str
    rows_previous: str
    rows_next: str
    numbers: tuple[AttemptNumber, ...]
    """Empty where there is one attempt number only."""
    numbers_words: str


# An Agent


@dataclass(frozen=True, slots=True)
class SettingRow:
    label: str
    value: str
    is_set: bool


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A name that the configuration ran under."""

    name: str
    version: str
    harness: str
    jobs: str
    latest: str


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One entry: a release and a track."""

    release: str
    release_href: str
    track: str
    rank: Figure
    reasons: tuple[str, ...]
    score: Figure
    unit: str
    interval: IntervalBar
    coverage: Figure
    attempts: Figure
    cost: Figure
    latency: Figure
    proof_href: str


@dataclass(frozen=True, slots=True)
class AgentJobRow:
    href: str
    job_id: str
    status: str
    tone: str
    source: str
    source_href: str
    track: str
    trials: str
    started: str
    remark: str


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """Cost or time per attempt."""

    label: str
    mean: Figure
    median: Figure
    p90: Figure
    measured: str


@dataclass(frozen=True, slots=True)
class EndingRow:
    """How attempts ended: an outcome, an error code and a stop reason, '' for none."""

    outcome: str
    tone: str
    error_code: str
    stop_reason: str
    count: Figure
    share: str


@dataclass(frozen=True, slots=True)
class CalledModel:
    name: str
    count: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class OtherConfiguration:
    name: str
    href: str
    latest: str
    differences: tuple[tuple[str, str, str], ...]
    """(what, here, there)."""
    lines: tuple[str, ...]
    """Differing lines of the instructions, with "-" (here) or "+" (there) before each."""


@dataclass(frozen=True, slots=True)
class AgentPage:
    crumbs: tuple[Crumb, ...]
    name: str
    model: str
    harness: str
    content_hash: str
    short_hash: str
    claim: str
    trials_href: str
    settings: tuple[SettingRow, ...]
    instructions: str
    """The beginning; '' for none."""
    instructions_rest: str
    """'' where the beginning is all."""
    instructions_size: str
    names: tuple[NamedRow, ...]
    more_names: int
    results: tuple[ResultRow, ...]
    results_words: str
    results_previous: str
    results_next: str
    jobs: tuple[AgentJobRow, ...]
    command: CommandPart | None
    """What runs the latest of its Jobs again, with this Agent."""
    jobs_href: str
    jobs_total: str
    measures: tuple[MeasureRow, ...]
    measures_words: str
    definition: str
    endings: tuple[EndingRow, ...]
    endings_words: str
    called: tuple[CalledModel, ...]
    called_words: str
    others: tuple[OtherConfiguration, ...]
    others_words: str
    others_href: str
    """The list of all of that model; '' where all are here."""


# The list of Agents


@dataclass(frozen=True, slots=True)
class AgentRow:
    href: str
    name: str
    model: str
    harness: str
    short_hash: str
    jobs: Figure
    entries: Figure
    latest: str


@dataclass(frozen=True, slots=True)
class AgentsPage:
    crumbs: tuple[Crumb, ...]
    total: str
    text: str
    model: str
    carried: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str, str], ...]
    """(label, href, "ascending", "descending" or '')."""
    rows: tuple[AgentRow, ...]
    filters: tuple[str, ...]
    clear_href: str
    next_href: str
