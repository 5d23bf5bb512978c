"""What the list of Jobs and the page of one Job show. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import Column, Fact, IntervalBar, Option
from benchmarks.pages import Crumb, Figure
from jobs.command_pages import CommandPart
from jobs.pages import JobRow, TrialRow


@dataclass(frozen=True, slots=True)
class JobFilters:
    """A form (GET) with the fields q, name, status, of (a Benchmark), track and aside."""

    action: str
    carried: tuple[tuple[str, str], ...]
    text: str
    name: str
    statuses: tuple[Option, ...]
    benchmarks: tuple[Option, ...]
    tracks: tuple[Option, ...]
    asides: tuple[Option, ...]
    narrowing: int
    """How many of the fields in the panel are set."""


@dataclass(frozen=True, slots=True)
class JobsPage:
    crumbs: tuple[Crumb, ...]
    rows: tuple[JobRow, ...]
    columns: tuple[Column, ...]
    form: JobFilters
    filters: tuple[str, ...]
    """What the list is limited to, in words."""
    clear_href: str
    first_href: str
    next_href: str
    import_command: str
    run_command: str
    """What makes a Job with the client."""
    can_write: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """That a person set the Job aside or closed it. `href` leads to where it is taken back, or is ''."""

    what: str
    by: str
    at: str
    reason: str
    follows: str
    href: str
    undo: str
    """What the link says."""


@dataclass(frozen=True, slots=True)
class RunnerFigure:
    label: str
    runner: str
    ours: Figure
    reason: str


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """An Agent's figures over this Job alone."""

    name: str
    version: str
    href: str
    model: str
    harness: str
    configuration: str
    """Content hash, in full."""
    short_hash: str
    score: Figure
    interval: IntervalBar
    coverage: Figure
    success: Figure
    cost: Figure
    total: Figure
    latency: Figure
    attempts: Figure
    outcomes: tuple[Figure, ...]
    """As `BoardRow.outcomes`."""
    reasons: tuple[str, ...]
    """Why the Job alone would not rank; empty where it would."""
    runner: tuple[RunnerFigure, ...]
    """Where the runner's own record says something else."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One attempt in the grid: `shape` before `text`, `words` for assistive technology and on hover."""

    shape: str
    text: str
    words: str
    href: str
    tone: str


@dataclass(frozen=True, slots=True)
class MarksCell:
    """`score` is the Task's, '' where there is one attempt only and its mark says it."""

    score: str
    title: str
    marks: tuple[Mark, ...]
    more: Figure | None
    """Attempts beyond those shown."""


@dataclass(frozen=True, slots=True)
class MarksRow:
    task: str
    number: int
    href: str
    cells: tuple[MarksCell, ...]


@dataclass(frozen=True, slots=True)
class JobGrid:
    agents: tuple[str, ...]
    rows: tuple[MarksRow, ...]
    legend: tuple[tuple[str, str], ...]
    caption: str
    tasks_words: str
    """E.g. "Tasks 1 to 30 of 100"; '' where all are shown."""
    tasks_previous: str
    tasks_next: str
    agents_words: str
    agents_previous: str
    agents_next: str


@dataclass(frozen=True, slots=True)
class MissingTrials:
    """Planned Trials that left nothing; `rows` are the first of `total`: Agent, Task, attempt."""

    total: int
    words: str
    rows: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class Pin:
    kind: str
    name: str
    version: str
    content_hash: str
    href: str


@dataclass(frozen=True, slots=True)
class JobPins:
    """What ran, by content. `more_*` are left out of the tuples."""

    source: Figure
    content_hash: str
    tasks: tuple[Pin, ...]
    more_tasks: int
    parts: tuple[Pin, ...]
    """Environments and Verifiers of the Tasks that are listed."""
    more_parts: bool
    spec_hash: str


@dataclass(frozen=True, slots=True)
class Range:
    """Two fields of a form, `name`_min and `name`_max."""

    name: str
    label: str
    least: str
    most: str


@dataclass(frozen=True, slots=True)
class TrialFilters:
    """A form (GET) with the fields task, agent, outcome, category, error, stop and those of `ranges`."""

    action: str
    carried: tuple[tuple[str, str], ...]
    task: str
    agents: tuple[Option, ...]
    outcomes: tuple[Option, ...]
    categories: tuple[Option, ...]
    errors: tuple[Option, ...]
    stops: tuple[Option, ...]
    ranges: tuple[Range, ...]
    narrowing: int


@dataclass(frozen=True, slots=True)
class JobTrials:
    form: TrialFilters
    columns: tuple[Column, ...]
    rows: tuple[TrialRow, ...]
    total: int
    total_words: str
    """E.g. "1,234" or "more than 10,000"."""
    recorded: int
    filters: tuple[str, ...]
    clear_href: str
    first_href: str
    next_href: str


@dataclass(frozen=True, slots=True)
class JobPage:
    crumbs: tuple[Crumb, ...]
    job_id: str
    status: str
    tone: str
    live_href: str
    """Where the page gets news of a Job that may still run, '' for one that has ended or was closed."""
    reload_href: str
    as_of: str
    """When this page was made."""
    arrived: str
    """When the last import that brought something of the Job did."""
    decisions: tuple[Decision, ...]
    aside_href: str
    """Where to set it aside; '' where it is, or where the reader may not."""
    close_href: str
    facts: tuple[Fact, ...]
    related: tuple[Fact, ...]
    """What it is a rerun of, and its reruns."""
    agents: tuple[AgentFigures, ...]
    score_unit: str
    range_low: str
    range_high: str
    missing: MissingTrials | None
    notes: tuple[str, ...]
    """What the import had to say of this Job."""
    grid: JobGrid | None
    trials: JobTrials
    command: CommandPart | None
    """What runs it again; None in the part that changes while it runs, and where nobody knows."""
    pins: JobPins

    @property
    def total(self) -> int:
        return self.trials.total

    @property
    def rows(self) -> tuple[TrialRow, ...]:
        return self.trials.rows


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """Asks before a Job is set aside or closed, or before that is taken back (then without a reason)."""

    crumbs: tuple[Crumb, ...]
    title: str
    job_id: str
    back_href: str
    action: str
    do: str
    """Value of the button's field `do`."""
    button: str
    is_grave: bool
    follows: tuple[str, ...]
    """What it does, in sentences."""
    needs_reason: bool
    reason: str
    error: str
