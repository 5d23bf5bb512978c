"""Two texts line by line: which lines went, which came, and a few around them. Pure, and bounded in work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

CONTEXT = 2
MOST_LINES = 200
LONGEST_LINE = 500
LARGEST = 1000
"""Differing lines of each side that are matched with each other; more are shown as gone and come."""
MOST_CELLS = 50_000
"""Pairs of equal lines among those; more, too."""

LineKind = Literal["kept", "removed", "added", "skipped"]


@dataclass(frozen=True, slots=True)
class Line:
    """`old` and `new` count from 1, None where the line isn't in that text. Of `skipped`, text is ''."""

    kind: LineKind
    text: str
    old: int | None = None
    new: int | None = None


@dataclass(frozen=True, slots=True)
class LineDiff:
    """`left_out` counts removed and added lines that are not in `lines`."""

    lines: tuple[Line, ...]
    added: int
    removed: int
    left_out: int = 0


def line_diff(old: str, new: str, *, most: int = MOST_LINES) -> LineDiff:
    """At most about `most` lines of the difference, long ones cut."""
    before, after = old.splitlines(), new.splitlines()
    blocks = _differing(before, after)
    removed = sum(block.old_end - block.old_start for block in blocks)
    added = sum(block.new_end - block.new_start for block in blocks)
    lines: list[Line] = []
    shown = 0
    for line in _lines(before, after, blocks):
        if len(lines) >= most:
            break
        lines.append(line)
        shown += line.kind in {"removed", "added"}
    return LineDiff(tuple(lines), added, removed, removed + added - shown)


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of the old text that others in the new text stand for, ends excluded."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def _differing(before: Sequence[str], after: Sequence[str]) -> list[_Block]:
    start, shorter = 0, min(len(before), len(after))
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    if not gone and not come:
        return []
    if not gone or not come or _is_too_much(gone, come):
        return [_Block(start, start + len(gone), start, start + len(come))]
    matcher = SequenceMatcher(None, gone, come, autojunk=False)
    return [
        _Block(start + i1, start + i2, start + j1, start + j2)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _is_too_much(gone: Sequence[str], come: Sequence[str]) -> bool:
    if max(len(gone), len(come)) > LARGEST:
        return True
    counts = Counter(come)
    return sum(number * counts[line] for line, number in Counter(gone).items()) > MOST_CELLS


def _lines(before: Sequence[str], after: Sequence[str], blocks: Sequence[_Block]) -> Iterator[Line]:
    """What differs with the lines around it. Between blocks, old and new go in step."""
    at = 0
    for number, block in enumerate(blocks):
        shift = block.new_start - block.old_start
        first = max(block.old_start - CONTEXT, at)
        if first > at:
            yield Line("skipped", "")
        for place in range(first, block.old_start):
            yield _line("kept", before[place], place, place + shift)
        for place in range(block.old_start, block.old_end):
            yield _line("removed", before[place], place, None)
        for place in range(block.new_start, block.new_end):
            yield _line("added", after[place], None, place)
        following = blocks[number + 1].old_start if number + 1 < len(blocks) else len(before)
        at = min(block.old_end + CONTEXT, following)
        shift = block.new_end - block.old_end
        for place in range(block.old_end, at):
            yield _line("kept", before[place], place, place + shift)
    if blocks and at < len(before):
        yield Line("skipped", "")


def _line(kind: LineKind, text: str, old: int | None, new: int | None) -> Line:
    cut = text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"
    return Line(kind, cut, None if old is None else old + 1, None if new is None else new + 1)
