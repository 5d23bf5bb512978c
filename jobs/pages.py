"""What the pages of this app show, as values a template can print. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import BoardTable, Choice, TrackTab
from benchmarks.pages import Crumb, Figure


@dataclass(frozen=True, slots=True)
class BoardPage:
    crumbs: tuple[Crumb, ...]
    name: str
    slug: str
    version: str
    number: int
    benchmark_href: str
    claim: str
    """What was measured, of how many, under which rules."""
    claim_more: str
    """What the score is and how its interval is made."""
    tabs: tuple[TrackTab, ...]
    releases: tuple[Choice, ...]
    compare_releases_href: str
    """'' where there is one revision only."""
    table: BoardTable
    is_untracked: bool
    track_rules: tuple[str, ...]
    track_example: str
    """YAML to add where the release declares no track, '' otherwise."""
    matches_nothing: bool
    """There are entries, and the filters leave none."""
    csv_href: str
    json_href: str
    compare_href: str
    grid_href: str
    search_href: str
    """Where what its Trials said can be searched."""
    this_href: str
    set_aside: Figure | None
    """E.g. "1 Job set aside" and, as its note, what that means; None for none."""
    uncounted: tuple[str, ...]
    """Why chosen Jobs count nowhere on it."""


@dataclass(frozen=True, slots=True)
class JobAgentLine:
    """An Agent of a Job with its score over that Job alone."""

    name: str
    score: Figure


@dataclass(frozen=True, slots=True)
class JobRow:
    href: str
    job_id: str
    status: str
    tone: str
    """Badge tone: neutral, good, info, warn or bad."""
    marks: tuple[Figure, ...]
    """"Set aside" and "Closed", each with who did so, when and why as its title."""
    source: str
    source_href: str
    track: str
    agents: tuple[JobAgentLine, ...]
    more_agents: int
    """Left out of `agents`."""
    planned: Figure
    trials: Figure
    """Finished ones, with a note where others are pending."""
    scored: Figure
    failed: Figure
    cost: Figure
    started: str
    by: str
    """Who brought it."""
    origin: str
    """E.g. "imported"."""
    rerun_of: str
    rerun_href: str


@dataclass(frozen=True, slots=True)
class BenchmarkCard:
    name: str
    slug: str
    href: str
    board_href: str
    version: str
    description: str
    tasks: int
    tracks: tuple[str, ...]
    entries: int
    jobs: int


@dataclass(frozen=True, slots=True)
class ProjectPage:
    name: str
    benchmarks: tuple[BenchmarkCard, ...]
    jobs: tuple[JobRow, ...]
    jobs_href: str
    import_command: str
    """The exact line that brings more Jobs."""
    can_write: bool


@dataclass(frozen=True, slots=True)
class TrialRow:
    href: str
    task: str
    agent: str
    attempt: int
    outcome: str
    tone: str
    score: Figure
    cost: Figure
    latency: Figure
    tokens: Figure
    turns: Figure
    stop_reason: str
    error_code: str
    executions: int
    job_href: str
    job_id: str


@dataclass(frozen=True, slots=True)
class TrialsPage:
    """A filtered list of Trials: what stands behind a count on the board."""

    crumbs: tuple[Crumb, ...]
    title: str
    filters: tuple[str, ...]
    clear_href: str
    total: int
    total_words: str
    """As "1,234", or "more than 10,000"."""
    rows: tuple[TrialRow, ...]
    next_href: str
