"""What the pages of updates show. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.diff_pages import DiffPart
from benchmarks.pages import Crumb


@dataclass(frozen=True, slots=True)
class OfferRow:
    """Something that is pinned at an older revision; `value` is the checkbox's, '' where it has none."""

    value: str
    chosen: bool
    kind: str
    name: str
    old: str
    new: str
    content_hash: str
    short_hash: str
    tasks: tuple[str, ...]
    more_tasks: int


@dataclass(frozen=True, slots=True)
class PlanPart:
    """The revision that would be saved."""

    number: int
    exists: bool
    """Whether the Benchmark holds this content already, as revision `number`."""
    content_hash: str
    made: int
    """Tasks that get a new revision."""
    problems: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UpdatesPage:
    crumbs: tuple[Crumb, ...]
    name: str
    label: str
    """The current revision, e.g. "1.1.0" or "revision 3"."""
    back_href: str
    action: str
    offers: tuple[OfferRow, ...]
    problems: tuple[str, ...]
    """What the address asks for and can't get."""
    plan: PlanPart | None
    """None where nothing is taken."""
    diff: DiffPart | None
    save_href: str
    """'' where it can't be saved, or not by this reader."""
    may_save: bool
    """Whether this reader may save at all."""


@dataclass(frozen=True, slots=True)
class SavedTask:
    """A Task as the next revision pins it. `how` says where its content comes from."""

    position: int
    name: str
    how: str
    content_hash: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class SavePage:
    crumbs: tuple[Crumb, ...]
    title: str
    name: str
    parent: str
    plan: PlanPart
    may_save: bool
    """Whether there is something to save that can be."""
    carried: tuple[tuple[str, str], ...]
    """Hidden fields: what is taken, and the content hash that is shown."""
    action: str
    back_href: str
    tasks: tuple[SavedTask, ...]
    definition: str
    """The content, as JSON text to read."""
    error: str
