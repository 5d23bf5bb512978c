"""What the pages of publishing show. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.pages import Crumb, Figure
from hub.public_pages import PublicationPage


@dataclass(frozen=True, slots=True)
class StepMark:
    """A step in the head of the wizard; `href` is '' before it can be opened."""

    number: int
    label: str
    detail: str
    """What was answered, e.g. "3 of 7"."""
    href: str
    state: str
    """"done", "current" or "ahead"."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """`field` is the id of the input in the page, '' where there is none."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class WizardFrame:
    """What every step shows around its question."""

    crumbs: tuple[Crumb, ...]
    steps: tuple[StepMark, ...]
    number: int
    title: str
    action: str
    back_href: str
    back_label: str
    discard_href: str
    notices: tuple[str, ...]
    """E.g. that somebody else has a draft too."""
    version: int
    """Of the draft, sent with the answers."""
    errors: tuple[FieldError, ...]
    saved: str


@dataclass(frozen=True, slots=True)
class ReleaseChoice:
    value: str
    label: str
    detail: str
    hindrances: tuple[str, ...]
    """Why it can't be published; empty where it can."""
    published: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class ReleasePage:
    frame: WizardFrame
    choices: tuple[ReleaseChoice, ...]
    unversioned: str
    """That revisions without a version can't be published, '' where there are none."""
    benchmark_href: str


@dataclass(frozen=True, slots=True)
class PickJob:
    value: str
    id: str
    label: str
    href: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class PickRow:
    """An entry that can be picked; `id` is that of its box in the page."""

    value: str
    id: str
    rank: str
    agent: str
    detail: str
    score: Figure
    interval: str
    attempts: str
    warnings: tuple[str, ...]
    replaces: str
    """The published result that it would replace, in words; '' for none."""
    reason: str
    jobs: tuple[PickJob, ...]
    chosen: bool


@dataclass(frozen=True, slots=True)
class PickGroup:
    reference: str
    name: str
    unit: str
    rows: tuple[PickRow, ...]


@dataclass(frozen=True, slots=True)
class Unpickable:
    what: str
    why: str
    href: str


@dataclass(frozen=True, slots=True)
class PublishedRow:
    id: str
    label: str
    track: str
    score: str
    status: str
    withdraws: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ResultsPage:
    frame: WizardFrame
    groups: tuple[PickGroup, ...]
    unpickable: tuple[Unpickable, ...]
    published: tuple[PublishedRow, ...]
    """Results of the current manifest that may be withdrawn."""
    ended: tuple[PublishedRow, ...]
    """Withdrawn and superseded ones, which stay as they are."""
    can_withdraw_release: bool
    withdraws_release: bool
    is_withdrawn: bool
    """The release is withdrawn now; publishing brings it back."""
    reason: str
    needs_reason: bool
    """There is a manifest already: a change of it has a reason."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A text that would become public, and whose it is."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class DisclosurePage:
    frame: WizardFrame
    instructions: bool
    findings: bool
    instruction_texts: tuple[Shown, ...]
    finding_texts: tuple[Shown, ...]
    never: tuple[str, ...]
    """Kinds that never become public, whatever is chosen."""


@dataclass(frozen=True, slots=True)
class TextField:
    name: str
    label: str
    hint: str
    value: str
    rows: int
    """Of a text area; 0 for a line."""
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskFields:
    """Inputs for a Task, numbered by its position."""

    position: int
    name: str
    description: str
    applicability: str
    error: str
    """What is wrong with its conditions."""


@dataclass(frozen=True, slots=True)
class TextPage:
    frame: WizardFrame
    fields: tuple[TextField, ...]
    tasks: tuple[TaskFields, ...]
    address: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A line of what was answered, with the step where it is changed."""

    label: str
    values: tuple[str, ...]
    href: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    kind: str
    """"added", "removed", "changed" or "withdrawn"."""
    sign: str
    what: str
    why: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FindingRow:
    id: str
    looks_like: str
    where: str
    context: str
    state: str
    """"open", "waived", "redacted" or "note"."""
    settled: str
    """How and by whom, '' while it is open."""
    can_redact: bool
    change_href: str
    """The step where it can be changed or left out."""


@dataclass(frozen=True, slots=True)
class CheckTab:
    label: str
    detail: str
    href: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class CheckPage:
    frame: WizardFrame
    tab: str
    tabs: tuple[CheckTab, ...]
    """Empty where there can be no manifest."""
    answers: tuple[Answer, ...]
    compared: str
    changes: tuple[ChangeRow, ...]
    public: tuple[Shown, ...]
    """Kinds of what becomes public, with counts."""
    private: tuple[Shown, ...]
    """Kinds of what stays private, with why."""
    findings: tuple[FindingRow, ...]
    open_findings: int
    scanned: str
    raw: str
    reader: PublicationPage | None
    """As it will stand on the Hub."""
    size: str
    reference: str
    digest: str
    sequence: int
    hindrance: str
    """Why it can't be frozen now, '' where it can."""
    is_withdrawal: bool


@dataclass(frozen=True, slots=True)
class DonePage:
    crumbs: tuple[Crumb, ...]
    title: str
    reference: str
    digest: str
    address: str
    as_of_address: str
    citation: str
    what_next: tuple[tuple[str, str], ...]
    """(words, href)"""


@dataclass(frozen=True, slots=True)
class PublishedRelease:
    version: str
    status: str
    tone: str
    results: str
    sequence: int
    by: str
    at: str
    reason: str
    href: str


@dataclass(frozen=True, slots=True)
class DraftRow:
    release: str
    step: str
    by: str
    saved: str
    href: str
    """'' for a draft of somebody else."""


@dataclass(frozen=True, slots=True)
class PublishBenchmark:
    name: str
    href: str
    start_href: str
    public_href: str
    releases: tuple[PublishedRelease, ...]
    drafts: tuple[DraftRow, ...]
    can_start: bool


@dataclass(frozen=True, slots=True)
class PublishPage:
    crumbs: tuple[Crumb, ...]
    benchmarks: tuple[PublishBenchmark, ...]
    may_publish: bool
    who: str
    """Who may give the right, where the reader hasn't got it."""
