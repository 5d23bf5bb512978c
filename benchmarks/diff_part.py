"""The differences between two revisions of a Benchmark, as a page shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.diff_pages import (
    DiffPart,
    FieldRow,
    FieldsPart,
    LineRow,
    MovedTask,
    NamedTask,
    PartRow,
    UpdatedTask,
)
from benchmarks.domain.json_diff import Change, JsonDiff, Value
from benchmarks.domain.line_diff import LineDiff
from benchmarks.domain.revision_diff import (
    Part,
    PartPair,
    PinnedTask,
    TaskChanges,
    TaskPair,
    are_verifiers_reordered,
    configuration_changes,
    match_tasks,
    part_changes,
    part_content_changes,
    parts_of,
    task_content_changes,
)
from benchmarks.domain.types import JsonObject
from benchmarks.links import task_href
from benchmarks.models import Revision
from benchmarks.pinned import contents_of, pinned_tasks, with_parts
from plural_site import formats
from plural_site.accounts.models import Project

TASKS_A_PAGE = 20
PARTS_SHOWN = 20
NAMES_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Side:
    """One of two revisions. `revision` is None where it is not stored yet.

    `made` then holds contents of Tasks that are not stored either, by hash.
    """

    content: JsonObject
    tasks: Sequence[PinnedTask]
    revision: Revision | None = None
    made: Mapping[str, JsonObject] = field(default_factory=dict)


def stored_side(revision: Revision) -> Side:
    """A revision that the project holds. One query."""
    return Side(revision.content, pinned_tasks(revision), revision)


def diff_part(
    project: Project, old: Side, new: Side, *, page: int, href: Callable[[int], str]
) -> tuple[DiffPart, TaskChanges]:
    """What changed from `old` to `new`, with page `page` of its updated Tasks. A few queries."""
    builder = _Builder(project, old, new, page, href)
    return builder.part(), builder.changes


class _Builder:
    def __init__(self, project: Project, old: Side, new: Side, page: int, href: Callable[[int], str]) -> None:
        self.project, self.old, self.new, self.href = project, old, new, href
        self.changes = match_tasks(old.tasks, new.tasks)
        self.places: dict[int, dict[str, int]] = {}
        updated = self._with_parts(self.changes.updated)
        self.pages = max(-(-len(updated) // TASKS_A_PAGE), 1)
        self.page = min(max(page, 1), self.pages)
        self.shown = updated[(self.page - 1) * TASKS_A_PAGE : self.page * TASKS_A_PAGE]
        self.part_pairs = part_changes(updated)
        self.contents = self._contents()

    def part(self) -> DiffPart:
        changes = self.changes
        configuration = configuration_changes(self.old.content, self.new.content)
        return DiffPart(
            is_empty=changes.is_empty and not configuration.total,
            counts=tuple(self._counts(configuration)),
            added=tuple(self._named(task, self.new) for task in changes.added[:NAMES_SHOWN]),
            removed=tuple(self._named(task, self.old) for task in changes.removed[:NAMES_SHOWN]),
            renamed=tuple(
                (formats.clean_text(pair.old.name), formats.clean_text(pair.new.name))
                for pair in changes.renamed[:NAMES_SHOWN]
            ),
            moved=tuple(
                MovedTask(formats.clean_text(move.name), move.old, move.new)
                for move in changes.moved[:NAMES_SHOWN]
            ),
            parts=tuple(self._part(pair) for pair in self.part_pairs[:PARTS_SHOWN]),
            more_parts=max(len(self.part_pairs) - PARTS_SHOWN, 0),
            updated=tuple(self._task(pair) for pair in self.shown),
            updated_total=len(changes.updated),
            configuration=fields_part(configuration),
            previous_href=self.href(self.page - 1) if self.page > 1 else "",
            next_href=self.href(self.page + 1) if self.page < self.pages else "",
        )

    def _with_parts(self, pairs: Sequence[TaskPair]) -> tuple[TaskPair, ...]:
        bare = [task for pair in pairs for task in (pair.old, pair.new) if not task.parts]
        found = with_parts(self.project, bare) if bare else {}

        def whole(task: PinnedTask) -> PinnedTask:
            return task if task.parts else found[task.content_hash]

        return tuple(TaskPair(whole(pair.old), whole(pair.new)) for pair in pairs)

    def _contents(self) -> dict[str, Any]:
        """Of the Tasks that are shown, and of what changed in its content among their parts."""
        made = {**self.old.made, **self.new.made}
        tasks = [task for pair in self.shown for task in (pair.old, pair.new)]
        parts = [part for pair in self.part_pairs[:PARTS_SHOWN] for part in (pair.old, pair.new) if part]
        wanted = {task.content_hash for task in tasks} | {part.content_hash for part in parts}
        return {**made, **contents_of(self.project, wanted - made.keys())}

    def _counts(self, configuration: JsonDiff) -> Iterator[tuple[str, str]]:
        changes = self.changes
        for what, number in (
            ("Tasks updated", len(changes.updated)),
            ("Tasks added", len(changes.added)),
            ("Tasks removed", len(changes.removed)),
            ("Tasks renamed", len(changes.renamed)),
            ("Tasks moved", len(changes.moved)),
            ("Environments and Verifiers", len(self.part_pairs)),
            ("Fields of the configuration", configuration.total),
        ):
            if number:
                yield what, formats.count(number)

    def _named(self, task: PinnedTask, side: Side) -> NamedTask:
        return NamedTask(formats.clean_text(task.name), self._href(task, side))

    def _href(self, task: PinnedTask, side: Side) -> str:
        if side.revision is None:
            return ""
        if side.revision.pk not in self.places:
            names = {each.name: place for place, each in enumerate(side.tasks, start=1)}
            self.places[side.revision.pk] = names
        return task_href(self.project, side.revision, self.places[side.revision.pk][task.name])

    def _part(self, pair: PartPair) -> PartRow:
        fields = None
        if pair.old and pair.new and pair.is_same_thing:
            contents = (
                self.contents.get(pair.old.content_hash, {}),
                self.contents.get(pair.new.content_hash, {}),
            )
            fields = fields_part(part_content_changes(*contents))
        return PartRow(
            title=_part_title(pair.old, pair.new),
            words=_part_words(pair.old, pair.new),
            tasks=formats.clean_texts(pair.tasks[:NAMES_SHOWN]),
            more_tasks=max(len(pair.tasks) - NAMES_SHOWN, 0),
            fields=fields,
        )

    def _task(self, pair: TaskPair) -> UpdatedTask:
        old, new = (self.contents.get(task.content_hash, {}) for task in (pair.old, pair.new))
        parts = [
            f"{_part_title(before, after)}: {_part_words(before, after)}" for before, after in parts_of(pair)
        ]
        if are_verifiers_reordered(pair):
            parts.append("Verifiers in another order")
        return UpdatedTask(
            name=formats.clean_text(pair.new.name),
            href=self._href(pair.new, self.new) or self._href(pair.old, self.old),
            words=_revision_words(pair.old.number, pair.new.number),
            old_hash=pair.old.content_hash,
            new_hash=pair.new.content_hash,
            short_hash=pair.new.content_hash.removeprefix("sha256:")[:12],
            parts=tuple(parts),
            fields=fields_part(task_content_changes(old, new)),
        )


def fields_part(found: JsonDiff) -> FieldsPart:
    shown = len(found.changes)
    note = f"The first {shown} of {formats.count(found.total)} changes." if shown < found.total else ""
    return FieldsPart(tuple(_field(change) for change in found.changes), note)


def _field(change: Change) -> FieldRow:
    old, new = (_value(value) if value else ("", "") for value in (change.old, change.new))
    lines, note = _lines(change.lines) if change.lines else ((), "")
    return FieldRow(
        path=formats.clean_text(change.path or "everything"),
        kind=change.kind,
        old=old[0],
        new=new[0],
        old_note=old[1],
        new_note=new[1],
        lines=lines,
        lines_note=note,
    )


def _value(value: Value) -> tuple[str, str]:
    before = f"{formats.count(value.skipped)} equal characters before; " if value.skipped else ""
    is_cut = value.left_out or value.skipped
    note = f"{before}{formats.count(value.length)} characters in all" if is_cut else ""
    text = f"{'…' if value.skipped else ''}{formats.clean_text(value.text)}{'…' if value.left_out else ''}"
    return text, note


def _lines(found: LineDiff) -> tuple[tuple[LineRow, ...], str]:
    rows = tuple(
        LineRow(
            line.kind,
            "" if line.old is None else str(line.old),
            "" if line.new is None else str(line.new),
            formats.clean_text(line.text),
        )
        for line in found.lines
    )
    note = f"{_count_lines(found.removed)} removed, {_count_lines(found.added)} added"
    return rows, note + (f"; {formats.count(found.left_out)} of them are not shown" if found.left_out else "")


def _count_lines(number: int) -> str:
    return f"{formats.count(number)} line{'' if number == 1 else 's'}"


def _part_title(old: Part | None, new: Part | None) -> str:
    part = old or new
    return f"{part.kind.title()} {formats.clean_text(part.name)}" if part else ""


def _part_words(old: Part | None, new: Part | None) -> str:
    if old is None:
        return f"added at revision {new.number}" if new else ""
    if new is None:
        return "removed"
    if old.slug != new.slug:
        return f"replaced by {formats.clean_text(new.name)}"
    return _revision_words(old.number, new.number)


def _revision_words(old: int | None, new: int | None) -> str:
    return f"from revision {old} to {new or 'a new one'}"
