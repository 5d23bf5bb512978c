"""Finding words in one trajectory, and the texts that an index over all of them is made of."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from jobs.domain.trajectory import scan, values
from jobs.domain.trajectory.outline import Row
from jobs.domain.trajectory.reading import reread
from jobs.domain.trajectory.types import EMBEDDED, Block, Step
from jobs.models import StepIndex
from jobs.step_indexes import file_of, open_pack, rows_after

AROUND = 80
"""Characters shown on either side of a hit."""
PART, OVERLAP = 16_000, 200
_SPAN = 8 * 1024 * 1024
_PLAIN = re.compile(r"[a-z0-9_.-]+")
"""Characters that JSON writes as they are."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The first place in a step. `snippet[start:end]` are the words as they stand there.

    `block` counts from 0; -1: the name of a function that is called.
    """

    number: int
    block: int
    label: str
    snippet: str
    start: int
    end: int


class Found(list[Hit]):
    """`stopped_at`: the last step looked at, to go on after. `skipped`: steps too large to look into."""

    def __init__(self, hits: Iterable[Hit], stopped_at: int, steps: int, skipped: Iterable[int] = ()) -> None:
        super().__init__(hits)
        self.stopped_at = stopped_at
        self.is_complete = stopped_at >= steps
        self.skipped = tuple(skipped)


def find_text(
    index: StepIndex,
    words: str,
    limit: int = 50,
    after: int = 0,
    *,
    seconds: float = 2.0,
    max_bytes: int = 512 * 1024 * 1024,
) -> Found:
    """Steps after `after` that hold `words` literally, in any case: one hit a step, at most `limit`.

    Ends early once `seconds` or `max_bytes` are used up, after one chunk of steps at least.
    """
    if not words.strip() or limit < 1:
        return Found((), index.steps, index.steps)
    search = _Search(words)
    hits: list[Hit] = []
    skipped: list[int] = []
    give_up, left, offset = time.monotonic() + seconds, max_bytes, file_of(index)[1]
    with open_pack(index.execution) as stream:
        for rows in rows_after(index, after):
            for number, data, row in _candidates(stream, offset, rows, search):
                if data is None:
                    skipped.append(number)
                elif hit := search.in_step(reread(index.format, data, number, row[11]).step):
                    hits.append(hit)
                if len(hits) == limit or (number < rows[-1][0] and time.monotonic() > give_up):
                    return Found(hits, number, index.steps, skipped)
            left -= sum(row[1] for _, row in rows)
            after = rows[-1][0] if rows else after
            if left < 0 or time.monotonic() > give_up:
                break
    return Found(hits, after, index.steps, skipped)


def step_texts(index: StepIndex, after: int = 0) -> Iterator[tuple[int, int, str]]:
    """(step, part, text) of all that can be searched after a step: parts of at most `PART` characters.

    Parts count from 0 and begin with the last `OVERLAP` characters of the one before. The text is fit for
    a database row.
    """
    offset = file_of(index)[1]
    with open_pack(index.execution) as stream:
        for rows in rows_after(index, after):
            for number, row in rows:
                if row[1] > scan.PIECE_LIMIT:
                    continue
                stream.seek(offset + row[0])
                step = reread(index.format, stream.read(row[1]), number, row[11]).step
                text = values.storable("\n".join(filter(None, map(_searchable, step.blocks))))
                for part, at in enumerate(range(0, max(len(text) - OVERLAP, 1), PART - OVERLAP)):
                    if piece := text[at : at + PART]:
                        yield number, part, piece


def _searchable(block: Block) -> str:
    """Text of a block, with the name of what is called; nothing of a picture's bytes."""
    if block.image and block.image.path == EMBEDDED:
        return ""
    return f"{block.label} {block.text}" if block.kind == "call" else block.text


class _Search:
    def __init__(self, words: str) -> None:
        self._pattern = re.compile(re.escape(words), re.IGNORECASE)
        runs = _PLAIN.findall(words.lower()) if words.isascii() else []
        self._needle = max(runs, key=len, default="").encode()
        self._is_foreign = not words.isascii()

    def may_be_in(self, data: bytes) -> bool:
        """False only where the bytes of steps can't hold the words."""
        if self._needle:
            return self._needle in data.lower()
        return not self._is_foreign or not data.isascii() or b"\\u" in data

    def in_step(self, step: Step) -> Hit | None:
        for at, block in enumerate(step.blocks):
            text = "" if block.image and block.image.path == EMBEDDED else block.text
            if match := self._pattern.search(text):
                return _hit(step.number, at, block.label, text, match)
            if block.kind == "call" and (match := self._pattern.search(block.label)):
                return _hit(step.number, -1, block.label, block.label, match)
        return None


def _hit(number: int, block: int, label: str, text: str, match: re.Match[str]) -> Hit:
    first = max(0, match.start() - AROUND)
    snippet = text[first : min(match.end(), match.start() + 4 * AROUND) + AROUND]
    return Hit(number, block, label, snippet, match.start() - first, min(match.end() - first, len(snippet)))


def _candidates(
    stream: BinaryIO, offset: int, rows: list[tuple[int, Row]], search: _Search
) -> Iterator[tuple[int, bytes | None, Row]]:
    """(number, bytes, row) of steps that may hold the words; no bytes of those that are too large."""
    if not rows:
        return
    first, last = rows[0][1], rows[-1][1]
    span = last[0] + last[1] - first[0]
    together = b""
    if 0 < span <= _SPAN:
        stream.seek(offset + first[0])
        together = stream.read(span)
        if not search.may_be_in(together):
            return
    for number, row in rows:
        if row[1] > scan.PIECE_LIMIT:
            yield number, None, row
            continue
        if together:
            begin = row[0] - first[0]
            data = together[begin : begin + row[1]]
        else:
            stream.seek(offset + row[0])
            data = stream.read(row[1])
        if search.may_be_in(data):
            yield number, data, row
