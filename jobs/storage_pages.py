"""What the page of a project's storage gets."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import Fact
from plural_site.accounts.frame import Frame


@dataclass(frozen=True, slots=True)
class KindRow:
    """`width` of its bar, from 0 to 100. `note` says what a retention rule has removed of it."""

    label: str
    about: str
    files: str
    size: str
    share: str
    width: float
    note: str


@dataclass(frozen=True, slots=True)
class JobSizeRow:
    """`sizes` in the order of `StoragePage.columns`."""

    href: str
    job_id: str
    source: str
    source_href: str
    started: str
    sizes: tuple[str, ...]
    total: str
    note: str


@dataclass(frozen=True, slots=True)
class KindChoice:
    value: str
    label: str
    about: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class GoingRow:
    href: str
    job_id: str
    files: str
    freed: str


@dataclass(frozen=True, slots=True)
class KeptRow:
    href: str
    job_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class PreviewPart:
    """What a rule takes now. `fields` carry it to `set_action`, which is '' where it is in force already."""

    sentence: str
    facts: tuple[Fact, ...]
    going: tuple[GoingRow, ...]
    more: str
    """In words, of Jobs that are not listed."""
    held: tuple[KeptRow, ...]
    held_more: str
    fields: tuple[tuple[str, str], ...]
    set_action: str
    button: str


@dataclass(frozen=True, slots=True)
class RulePart:
    """`sentence` is '' without a rule. The form is there for who may change it, at `action`."""

    sentence: str
    since: str
    action: str
    days: str
    newest: str
    kinds: tuple[KindChoice, ...]
    error: str
    end_action: str
    may_change: bool
    preview: PreviewPart | None


@dataclass(frozen=True, slots=True)
class StoragePage:
    frame: Frame
    facts: tuple[Fact, ...]
    kinds: tuple[KindRow, ...]
    columns: tuple[str, ...]
    jobs: tuple[JobSizeRow, ...]
    first_href: str
    next_href: str
    rule: RulePart
