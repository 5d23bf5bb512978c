"""What the pages of one Trial show. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import Choice, Fact
from benchmarks.pages import Crumb, Figure
from jobs.domain.json_tree import Node
from jobs.domain.phases import Span
from jobs.domain.room import Cut


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A Job that holds the Trial, and whether its copy is the one that counts."""

    job_href: str
    job_id: str
    started: str
    counts: str
    href: str
    """The page of that copy."""
    is_shown: bool


@dataclass(frozen=True, slots=True)
class EntryPart:
    """How the Trial enters a leaderboard."""

    words: tuple[str, ...]
    proof_href: str
    """The page that proves the score of its entry; '' where it enters none."""
    categories: tuple[Choice, ...]
    """Categories of its Task, linked to the proof of the entry's score there."""
    board_href: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Trials before and after this one; a `Choice` whose href is '' stands for none."""

    name: str
    previous: Choice
    following: Choice


@dataclass(frozen=True, slots=True)
class AttemptMark:
    """Another attempt at the same Task by the same Agent."""

    attempt: int
    text: str
    tone: str
    title: str
    href: str
    is_this: bool


@dataclass(frozen=True, slots=True)
class PartRow:
    """A criterion of a Verifier, or a part of its score. `mark` is '' where its range is unknown."""

    name: str
    text: str
    mark: str
    tone: str
    weight: str
    about: str


@dataclass(frozen=True, slots=True)
class VerifierRow:
    name: str
    kind: str
    status: str
    tone: str
    score: Figure
    weight: Figure
    parts: tuple[PartRow, ...]
    """Worst first."""
    feedback: Cut
    evidence: tuple[Node, ...]
    evidence_total: int
    missing: str
    """Why it gave no result; '' where it did."""


@dataclass(frozen=True, slots=True)
class VerifiersPart:
    rows: tuple[VerifierRow, ...]
    """Worst first, then those without a result."""
    total: int
    sum: str
    """How the score follows from them, as a formula; '' where it doesn't."""
    notes: tuple[str, ...]
    missing: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    path: str
    kind: str
    old: str
    new: str
    old_note: str
    new_note: str


@dataclass(frozen=True, slots=True)
class AppState:
    name: str
    control: str
    changes: tuple[ChangeRow, ...]
    summary: str
    trees: tuple[Node, ...]
    """Initial and final state."""


@dataclass(frozen=True, slots=True)
class StatePart:
    apps: tuple[AppState, ...]
    note: str
    missing: str


@dataclass(frozen=True, slots=True)
class CallRow:
    step: str
    model: str
    input: str
    cached: str
    output: str
    cost: Figure
    seconds: str


@dataclass(frozen=True, slots=True)
class CallsPart:
    rows: tuple[CallRow, ...]
    totals: tuple[CallRow, ...]
    """Of each model, where there are several, and of all calls."""
    words: str
    notes: tuple[str, ...]
    missing: str


@dataclass(frozen=True, slots=True)
class LaneRow:
    name: str
    count: str
    start: str
    seconds: str
    label: str
    """The drawing in words."""
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class PhaseRow:
    name: str
    start: str
    seconds: str


@dataclass(frozen=True, slots=True)
class TimelinePart:
    lanes: tuple[LaneRow, ...]
    phases: tuple[PhaseRow, ...]
    """In order, where some name repeats; empty where the lanes say it all."""
    width: int
    words: str
    missing: str


@dataclass(frozen=True, slots=True)
class ExecutionRow:
    number: int
    is_final: bool
    is_shown: bool
    href: str
    status: str
    tone: str
    error: Cut
    retry: str
    """Why it was tried again, or why not."""
    started: str
    duration: str


@dataclass(frozen=True, slots=True)
class LogRow:
    name: str
    size: str
    tail: str
    note: str
    href: str


@dataclass(frozen=True, slots=True)
class FileRow:
    path: str
    size: str
    role: str
    digest: str
    short_digest: str
    href: str
    """'' for a file that was removed, as `removed` says."""
    download_href: str
    recorded: str
    """How the run's own record of the digest compares: "agrees", "differs", or '' where it holds none."""
    image_href: str
    """The file itself where it is a picture that may be shown."""
    preview: str
    preview_note: str
    removed: str


@dataclass(frozen=True, slots=True)
class FilesPart:
    rows: tuple[FileRow, ...]
    words: str
    artifacts: int
    missing: str
    """Why there are no artifacts."""
    previous_href: str
    next_href: str


@dataclass(frozen=True, slots=True)
class TrialPage:
    crumbs: tuple[Crumb, ...]
    trial_id: str
    task: str
    task_href: str
    """'' for a Task that is in no release."""
    agent: str
    agent_href: str
    about: str
    """Attempt, track."""
    outcome: str
    tone: str
    claim: str
    """What the Verifiers gave."""
    why: str
    """Why the Trial counts as what it does, in words."""
    facts: tuple[Fact, ...]
    details: tuple[Fact, ...]
    notes: tuple[str, ...]
    held: tuple[HeldRow, ...]
    """Every Job that holds it, where there are several."""
    entry: EntryPart
    neighbours: tuple[Neighbours, ...]
    attempts: tuple[AttemptMark, ...]
    attempts_more: int
    trajectory: Figure
    """A link, or why there is none."""
    compare_href: str
    executions: tuple[ExecutionRow, ...]
    executions_total: int
    shown: int
    """Number of the execution that the following parts are of."""
    superseded: str
    """What to know where that isn't the one that counts; '' where it is."""
    verifiers: VerifiersPart
    state: StatePart
    calls: CallsPart
    timeline: TimelinePart
    logs: tuple[LogRow, ...]
    files: FilesPart
    record: Node | None
    """What else the run recorded of the execution."""
    record_missing: str
    receipt: Figure
    receipt_problems: tuple[str, ...]
    receipt_href: str


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A digest: as recorded, as recomputed or found, and whether they match."""

    what: str
    recorded: str
    found: str
    verdict: str
    """"matches", "differs" or "not recomputed"."""
    tone: str
    how: str


@dataclass(frozen=True, slots=True)
class ReceiptPage:
    crumbs: tuple[Crumb, ...]
    task: str
    agent: str
    attempt: int
    execution: int
    summary: str
    tone: str
    missing: str
    """Why nothing could be checked."""
    checks: tuple[CheckRow, ...]
    files: tuple[CheckRow, ...]
    """Files that differ first; at most some hundreds."""
    files_words: str
    tree: Node | None
    trial_href: str
    file_href: str
