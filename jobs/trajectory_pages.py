"""What the pages of a trajectory show. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import Choice, Fact
from benchmarks.pages import Crumb, Figure


@dataclass(frozen=True, slots=True)
class BlockView:
    """A piece of a step. `head` is always in sight, `rest` unfolds; `cut` says how much of it all that is."""

    kind: str
    title: str
    name: str
    """Of what is called or has answered; outside text."""
    head: str
    rest: str
    rest_words: str
    is_open: bool
    """Whether `rest` is unfolded."""
    is_shut: bool
    """Whether the whole is folded away, as reasoning is."""
    cut: str
    all_href: str
    image_href: str
    image_words: str
    """Instead of a picture that can't be shown, or beside one: what it is."""
    link_href: str
    link_words: str
    is_mono: bool
    results: tuple[BlockView, ...] = ()


@dataclass(frozen=True, slots=True)
class StepView:
    number: int
    source: str
    """In words, at the head of a sentence."""
    tone: str
    calls: tuple[tuple[str, str], ...]
    """Name of each function that it calls, and how often where that is more than once."""
    calls_more: int
    is_error: bool
    is_copied: bool
    is_marked: bool
    is_hit: bool
    is_folded: bool
    since: str
    moment: str
    """When, absolutely; '' where it isn't said."""
    duration: str
    cost: str
    details: tuple[str, ...]
    """Model, tokens, cost so far, size."""
    remarks: tuple[str, ...]
    blocks: tuple[BlockView, ...]
    blocks_words: str
    """How many of its parts these are; '' for all."""
    extra: str
    permanent_href: str
    own_href: str
    raw_href: str


@dataclass(frozen=True, slots=True)
class OutlineView:
    number: int
    source: str
    title: str
    figures: str
    """Time since the start, duration, cost and cost so far."""
    calls: str
    is_error: bool
    has_subagent: bool
    is_copied: bool
    is_marked: bool
    is_hit: bool


@dataclass(frozen=True, slots=True)
class RunMark:
    """Neighbouring steps in the overview. Lengths in units of its drawing."""

    href: str
    label: str
    x: float
    width: float
    y: float
    height: float
    error: str
    """Path of the mark of an error, '' for none."""
    subagent: str
    tone: str


@dataclass(frozen=True, slots=True)
class StripPart:
    runs: tuple[RunMark, ...]
    width: int
    height: int
    here_x: float
    here_width: float
    """Where the steps of this page lie."""
    words: tuple[str, ...]
    """What is drawn, in words."""
    legend: tuple[str, ...]
    """Which marks occur: "error", "subagent", "cost"."""


@dataclass(frozen=True, slots=True)
class HitRow:
    number: int
    href: str
    where: str
    before: str
    match: str
    after: str


@dataclass(frozen=True, slots=True)
class SearchPart:
    words: str
    summary: str
    hits: tuple[HitRow, ...]
    on_href: str
    """Goes on with the steps that were not looked at; '' where all were."""
    on_words: str
    clear_href: str


@dataclass(frozen=True, slots=True)
class PagerPart:
    """Pages of steps, or of the parts of one. '' for an address that leads nowhere."""

    words: str
    first_href: str = ""
    previous_href: str = ""
    next_href: str = ""
    last_href: str = ""
    step_before_href: str = ""
    """The step before the first one of this page, for the keyboard."""
    step_after_href: str = ""


@dataclass(frozen=True, slots=True)
class TrajectoryPage:
    crumbs: tuple[Crumb, ...]
    task: str
    agent: str
    about: str
    outcome: str
    tone: str
    trial_href: str
    compare_href: str
    missing: str
    """Why there is no trajectory; '' where there is one."""
    missing_links: tuple[Choice, ...]
    wait_href: str
    """Where a large file is read first: the address that does it."""
    wait_words: str
    superseded: str
    facts: tuple[Fact, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    executions: tuple[Choice, ...]
    files: tuple[Choice, ...]
    related: tuple[Choice, ...]
    """What it is part of, goes on in, and calls."""
    related_more: int
    raw_href: str
    download_href: str
    strip: StripPart
    search: SearchPart
    hidden: tuple[tuple[str, str], ...]
    """Names and values that the forms of the page pass on."""
    action: str
    """Address of the page without a query, where its forms lead."""
    pager: PagerPart
    range_words: str
    last_step: int
    step: int
    """The one asked for; 0 for none."""
    fold: str
    folds: tuple[Choice, ...]
    previous_error_href: str
    next_error_href: str
    outline: tuple[OutlineView, ...]
    steps: tuple[StepView, ...]


@dataclass(frozen=True, slots=True)
class StepPage:
    crumbs: tuple[Crumb, ...]
    task: str
    agent: str
    number: int
    of: str
    step: StepView
    pager: PagerPart
    """Of its parts."""
    previous_href: str
    next_href: str
    trajectory_href: str
    folds: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class SideView:
    """One side's step in a comparison."""

    number: int
    href: str
    source: str
    title: str
    text: str
    """Its beginning; '' in runs that are equal."""
    figures: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class PairRow:
    """Steps that stand beside each other; None where the other side has none.

    A run of `count` equal pairs is one row, with as many of `pairs` as are shown.
    """

    anchor: str
    kind: str
    """"equal", "differs", "only a" or "only b"."""
    words: str
    a: SideView | None
    b: SideView | None
    count: int = 1
    pairs: tuple[tuple[SideView, SideView], ...] = ()
    pairs_more: int = 0
    marks: tuple[str, ...] = ()
    """"first difference", "first error of A"."""


@dataclass(frozen=True, slots=True)
class SideHead:
    letter: str
    trial_id: str
    agent: str
    attempt: str
    outcome: str
    tone: str
    score: str
    facts: tuple[Fact, ...]
    trial_href: str
    trajectory_href: str
    missing: str


@dataclass(frozen=True, slots=True)
class StateChange:
    app: str
    path: str
    kind: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class StatesPart:
    changes: tuple[StateChange, ...]
    words: str


@dataclass(frozen=True, slots=True)
class AttemptChoice:
    agent: str
    job: str
    attempt: str
    outcome: str
    tone: str
    score: Figure
    href: str
    trial_href: str
    current: str
    """"A" or "B" where it is shown."""


@dataclass(frozen=True, slots=True)
class TrajectoryComparePage:
    crumbs: tuple[Crumb, ...]
    task: str
    a: SideHead
    b: SideHead | None
    warning: str
    """Where the two are not at the same Task."""
    landmarks: tuple[Choice, ...]
    summary: tuple[str, ...]
    bound: str
    rows: tuple[PairRow, ...]
    pager: PagerPart
    windows: tuple[Choice, ...]
    states: StatesPart
    choices: tuple[AttemptChoice, ...]
    choices_more: int
    swap_href: str
