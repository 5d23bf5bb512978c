"""What the pages that search the Trials of a Job or a Benchmark show. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import Option
from benchmarks.pages import Crumb, Figure


@dataclass(frozen=True, slots=True)
class SearchForm:
    """A form (GET) with the fields q, agent, outcome and task. `outcomes` is empty without a pass mark."""

    action: str
    carried: tuple[tuple[str, str], ...]
    text: str
    longest: int
    agents: tuple[Option, ...]
    outcomes: tuple[Option, ...]
    task: str


@dataclass(frozen=True, slots=True)
class AgentCounts:
    """How many Trials of an Agent hold the words; `figures` follow `SearchPage.heads`."""

    name: str
    href: str
    """Only what this Agent said."""
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class HitRow:
    """The first place in a step where the words stand."""

    anchor: str
    step: int
    href: str
    before: str
    match: str
    after: str


@dataclass(frozen=True, slots=True)
class TrialHits:
    task: str
    agent: str
    about: str
    """Attempt and score."""
    verdict: str
    tone: str
    href: str
    job_id: str
    """'' on the page of a Job."""
    job_href: str
    hits: tuple[HitRow, ...]
    more: Figure | None
    """Further steps that hold the words."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    crumbs: tuple[Crumb, ...]
    title: str
    of: str
    """What is searched, e.g. the Job's id."""
    is_of_job: bool
    """Of one Job; else of a Benchmark."""
    form: SearchForm
    tips: tuple[str, ...]
    words: str
    """What is looked for, '' for nothing yet."""
    claim: str
    """In how many Trials and steps it stands."""
    filters: tuple[str, ...]
    clear_href: str
    progress: str
    """How many Trials could be searched so far; '' where all were."""
    go_on_href: str
    """This very address, where more Trials can be searched; '' where there are none."""
    notes: tuple[str, ...]
    """What was left out, and why."""
    heads: tuple[str, ...]
    counts: tuple[AgentCounts, ...]
    passed_words: str
    """What counts as passed."""
    trials: tuple[TrialHits, ...]
    place: str
    """E.g. "Trials 21 to 40 of 312"; '' where there is one page only."""
    previous_href: str
    next_href: str
