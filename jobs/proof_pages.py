"""What the page behind a number shows. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import Choice, Fact
from benchmarks.pages import Crumb, Figure
from jobs.command_pages import CommandPart


@dataclass(frozen=True, slots=True)
class ProofTerm:
    text: str
    label: str
    """The Task, entry or Job that it stands for."""


@dataclass(frozen=True, slots=True)
class ProofStep:
    """`symbol` = `formula` = `result`. Where the formula is long, `formula` leaves out its middle."""

    symbol: str
    formula: str
    result: str
    terms: tuple[ProofTerm, ...]
    """The summands, one a line; empty where `formula` is all there is."""


@dataclass(frozen=True, slots=True)
class ProofStage:
    """A step of the funnel; its number leads to those Trials."""

    name: str
    figure: Figure
    how: str


@dataclass(frozen=True, slots=True)
class ProofTask:
    task: str
    href: str
    """The entry's Trials at this Task."""
    weight: str
    attempts: Figure
    valid: str
    samples: tuple[Figure, ...]
    """An attempt each, linked to its Trial: what it brings into the number, else its outcome."""
    more: int
    """Attempts beyond those."""
    figure: str


@dataclass(frozen=True, slots=True)
class ProofRank:
    rank: str
    agent: str
    score: Figure
    is_this: bool


@dataclass(frozen=True, slots=True)
class ProofJob:
    href: str
    job_id: str
    started: str
    planned: str
    recorded: str


@dataclass(frozen=True, slots=True)
class ProofPage:
    """Where a number of a leaderboard comes from."""

    crumbs: tuple[Crumb, ...]
    label: str
    agent: str
    category: str
    """'' for all Tasks."""
    shown: Figure
    """As the board shows it."""
    unit: str
    """Of a score: "%" or ''; other numbers carry their own."""
    exact: tuple[Fact, ...]
    """The same unrounded; more than one for an interval, empty where there is no number."""
    missing: str
    """Why there is no number."""
    warnings: tuple[str, ...]
    """Where board, Trials and printed formula do not give the same number."""
    chosen_jobs: int
    """How many Jobs the reader chose; 0 where all count."""
    rules: tuple[str, ...]
    release_rules: tuple[str, ...]
    steps: tuple[ProofStep, ...]
    stages: tuple[ProofStage, ...]
    ranking: tuple[ProofRank, ...]
    """All ranked entries, for a rank."""
    jobs: tuple[ProofJob, ...]
    """The Jobs, for a number of Jobs."""
    sample_head: str
    task_head: str
    tasks: tuple[ProofTask, ...]
    tasks_total: int
    all_href: str
    """The same page with every Task, '' where all are shown."""
    others: tuple[Choice, ...]
    """The entry's other numbers."""
    command: CommandPart | None
    """What makes one more Job of the entry."""
    trials_href: str
    jobs_href: str
