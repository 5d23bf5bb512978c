"""What a page shows of the differences between two revisions. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LineRow:
    """`kind` is "kept", "removed", "added" or "skipped"; numbers are '' where the line isn't in that text."""

    kind: str
    old: str
    new: str
    text: str


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field that changed; `kind` is "added", "removed" or "changed". With `lines`, they tell it all."""

    path: str
    kind: str
    old: str
    new: str
    old_note: str
    new_note: str
    lines: tuple[LineRow, ...]
    lines_note: str
    """How many lines went and came, and how many of them are left out."""


@dataclass(frozen=True, slots=True)
class FieldsPart:
    rows: tuple[FieldRow, ...]
    note: str
    """'' where every change is in `rows`."""

    @property
    def values(self) -> tuple[FieldRow, ...]:
        """Those that are told by their values before and after."""
        return tuple(row for row in self.rows if not row.lines)

    @property
    def texts(self) -> tuple[FieldRow, ...]:
        """Those that are told by line."""
        return tuple(row for row in self.rows if row.lines)


@dataclass(frozen=True, slots=True)
class PartRow:
    """An Environment or a Verifier that became another one in some Tasks."""

    title: str
    """E.g. "Environment helpdesk"."""
    words: str
    """E.g. "from revision 1 to 2"."""
    tasks: tuple[str, ...]
    more_tasks: int
    fields: FieldsPart | None
    """None where it was added, removed or replaced by something else."""


@dataclass(frozen=True, slots=True)
class NamedTask:
    """`href` leads to its page, '' where there is none yet."""

    name: str
    href: str


@dataclass(frozen=True, slots=True)
class UpdatedTask:
    name: str
    href: str
    words: str
    """E.g. "from revision 1 to 2" or "from revision 1 to a new one"."""
    old_hash: str
    new_hash: str
    short_hash: str
    """Of the new content."""
    parts: tuple[str, ...]
    """Environments and Verifiers that changed, in words."""
    fields: FieldsPart


@dataclass(frozen=True, slots=True)
class MovedTask:
    name: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class DiffPart:
    is_empty: bool
    counts: tuple[tuple[str, str], ...]
    """(what, how many) of every kind of change that occurs."""
    added: tuple[NamedTask, ...]
    removed: tuple[NamedTask, ...]
    renamed: tuple[tuple[str, str], ...]
    moved: tuple[MovedTask, ...]
    parts: tuple[PartRow, ...]
    more_parts: int
    updated: tuple[UpdatedTask, ...]
    """One page of them."""
    updated_total: int
    configuration: FieldsPart
    previous_href: str
    next_href: str
