"""What the pages of imports show. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import Fact
from benchmarks.pages import Crumb


@dataclass(frozen=True, slots=True)
class ImportRow:
    source: str
    href: str
    status: str
    tone: str
    """Class of the badge."""
    landed: str
    """E.g. "3 added, 1 unchanged"."""
    by: str
    at: str
    took: str


@dataclass(frozen=True, slots=True)
class ImportsPage:
    crumbs: tuple[Crumb, ...]
    rows: tuple[ImportRow, ...]
    first_href: str
    next_href: str
    new_href: str
    """'' for those who may not import."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An upload that the reader began and may go on with."""

    source: str
    received: str
    size: str
    share: int
    """Per cent."""
    at: str
    cancel_href: str


@dataclass(frozen=True, slots=True)
class ImportNewPage:
    """`begin_href` is where the script announces an upload; limits in bytes."""

    crumbs: tuple[Crumb, ...]
    action: str
    begin_href: str
    imports_href: str
    limit: int
    limit_text: str
    error: str
    unfinished: tuple[Unfinished, ...]
    needs_worker: bool
    work_command: str
    import_command: str


@dataclass(frozen=True, slots=True)
class LandedJob:
    """A Job of an import; `href` is '' where it is not there (any more)."""

    job_id: str
    href: str
    result: str
    tone: str
    trials: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """Problems with one message. `places` are files with the field, `more` is how many are not shown."""

    message: str
    advice: str
    places: tuple[tuple[str, str], ...]
    more: int


@dataclass(frozen=True, slots=True)
class Progress:
    """`most` is '' where nobody knows yet how much there is."""

    label: str
    value: int
    most: str
    text: str


@dataclass(frozen=True, slots=True)
class ImportPage:
    crumbs: tuple[Crumb, ...]
    source: str
    status: str
    tone: str
    summary: str
    live_href: str
    """'' once nothing changes any more."""
    reload_href: str
    as_of: str
    waits_for: str
    progress: Progress | None
    facts: tuple[Fact, ...]
    problems: tuple[ProblemGroup, ...]
    jobs: tuple[LandedJob, ...]
    jobs_heading: str
    first_href: str
    next_href: str
    revisions: tuple[str, ...]
    notes: tuple[str, ...]
    work_command: str
    """What starts a worker where none was seen, else ''."""
    cancel_href: str
    retry_href: str
    undo_href: str
    new_href: str


@dataclass(frozen=True, slots=True)
class UndoPage:
    crumbs: tuple[Crumb, ...]
    source: str
    action: str
    back_href: str
    facts: tuple[Fact, ...]
    going: tuple[tuple[str, str], ...]
    """Jobs that go, with where each is; `more` are not shown."""
    more: int
    staying: tuple[str, ...]
    hindrances: tuple[str, ...]
