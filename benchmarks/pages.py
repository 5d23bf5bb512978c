"""What the pages of this app show, as values a template can print.

Numbers come as finished text beside their raw value where sorting or drawing needs it: a hot table
calls no filters per cell.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as it is shown. `text` is an en dash where there is none, and `title` then says why."""

    text: str
    title: str = ""
    note: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Crumb:
    label: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class RevisionRow:
    number: int
    version: str
    content_hash: str
    short_hash: str
    href: str
    is_current: bool
    tasks: int
    tracks: int
    jobs: Figure
    note: str
    """E.g. "claims 1.0.0, which is revision 2"; '' where there is nothing to say."""
    created: str
    release_href: str
    """Where it gets a version; '' where it has one and for who may not give one."""
    compare: Figure | None
    """With the current revision, or that with the one before it; None for one alone."""


@dataclass(frozen=True, slots=True)
class TrackWords:
    """A track's rules in words. `href` leads to its board."""

    reference: str
    name: str
    kind: str
    """"models" or "agents"."""
    description: str
    rules: tuple[str, ...]
    rules_hash: str
    limits_broken: tuple[str, ...]
    """Tasks whose Environment exceeds a cap of the track, in words."""
    href: str


@dataclass(frozen=True, slots=True)
class CategoryWords:
    id: str
    name: str
    description: str
    taxonomy: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskRow:
    position: int
    name: str
    version: str
    content_hash: str
    short_hash: str
    weight: str
    categories: tuple[str, ...]
    shared_with: str
    """Name of another Task with the same content, '' for none: such a release can't be published."""
    href: str
    difficulty: Figure
    """Mean score over the entries of the default track; the note is it in a word, e.g. "hard"."""


@dataclass(frozen=True, slots=True)
class BenchmarkPage:
    crumbs: tuple[Crumb, ...]
    name: str
    slug: str
    version: str
    """'' for a revision without one."""
    number: int
    content_hash: str
    board_href: str
    search_href: str
    release_href: str
    """As that of a `RevisionRow`."""
    updates: Figure | None
    """What the current revision pins and is newer in the project, with the way there."""
    current_label: str
    """The current revision, e.g. "1.1.0" or "revision 3"."""
    description: str
    purpose: str
    success: str
    limitations: tuple[str, ...]
    license: str
    readme_html: str
    """Sanitised HTML, safe to print unescaped; '' where there is no README."""
    scoring: tuple[str, ...]
    tasks: tuple[TaskRow, ...]
    tasks_words: str
    """What the mean scores of the Tasks are over."""
    categories: tuple[CategoryWords, ...]
    tracks: tuple[TrackWords, ...]
    track_example: str
    """YAML to add where the release has no track, '' otherwise."""
    revisions: tuple[RevisionRow, ...]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A version that is free, and when it fits."""

    version: str
    why: str


@dataclass(frozen=True, slots=True)
class ReleasePage:
    crumbs: tuple[Crumb, ...]
    title: str
    name: str
    number: int
    version: str
    """That it has already; '' otherwise."""
    content_hash: str
    facts: tuple[tuple[str, Figure], ...]
    missing: tuple[str, ...]
    """What releasing needs and isn't there."""
    suggestions: tuple[Suggestion, ...]
    preselected: str
    taken: tuple[tuple[str, int], ...]
    """(version, number of its revision), the latest revision first."""
    back_href: str
