"""Trajectories as pages show them: a page of steps costs a query and a bounded read, however large the file.

Pages, like steps, are numbered from 1. What reads the file raises Http404 where the store has lost it.
"""

from __future__ import annotations

import base64
import binascii
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from django.http import Http404

from jobs.domain.trajectory import cutting, scan, values
from jobs.domain.trajectory import outline as outlines
from jobs.domain.trajectory.cutting import TEXT_LIMIT
from jobs.domain.trajectory.outline import Row
from jobs.domain.trajectory.reading import reread
from jobs.domain.trajectory.types import (
    EMBEDDED,
    Block,
    Bucket,
    Image,
    OutlineRow,
    Step,
    SubagentRef,
    Totals,
    TrajectoryFacts,
)
from jobs.models import StepChunk, StepIndex
from jobs.step_indexes import (
    CHUNK,
    TrajectoryFile,
    ensure_index,
    file_of,
    first_index,
    known_trajectories,
    open_pack,
    trajectory_files,
)
from jobs.trajectory_search import Found, Hit, find_text, step_texts

__all__ = [
    "TEXT_LIMIT",
    "Found",
    "Hit",
    "TrajectoryFile",
    "ensure_index",
    "facts_of",
    "find_text",
    "first_index",
    "image_bytes",
    "open_page",
    "outline",
    "overview",
    "page_of",
    "read_step",
    "step_texts",
    "stream_block",
    "stream_raw_step",
    "trajectory_files",
]

PER_PAGE = 50
_PIECE = 1 << 16
_GAP = 4096
"""Bytes between two steps that are sooner read than passed over."""
_PICTURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


def page_of(number: int, per_page: int = PER_PAGE) -> int:
    """The page that a step stands on."""
    return (max(number, 1) - 1) // per_page + 1


def facts_of(index: StepIndex) -> TrajectoryFacts:
    facts = index.facts
    links = _Links(index)
    known = known_trajectories(index)[: len(facts["embedded"])]
    found = dict.fromkeys(SubagentRef(ident, path) for ident, path in known)
    found |= dict.fromkeys(links.subagent(SubagentRef(*reference)) for reference in facts["references"])
    continued, problems = "", list(facts["problems"])
    if facts["continued"]:
        continued = links.file(facts["continued"])
        if not continued:
            problems.append(f"It goes on in {facts['continued']}, which was not saved.")
    return TrajectoryFacts(
        format=index.format,
        agent=facts["agent"],
        model=facts["model"],
        session=facts["session"],
        totals=Totals(*facts["totals"]),
        steps=index.steps,
        started=values.time(facts["started"]),
        ended=values.time(facts["ended"]),
        notes=tuple(facts["notes"]),
        problems=tuple(problems),
        continued=continued,
        subagents=tuple(found),
    )


def outline(index: StepIndex, number: int, per_page: int = PER_PAGE) -> list[OutlineRow]:
    """The rows of a page; empty beyond the last. One query."""
    return [_outline_row(index, at, row) for at, row in _rows(index, number, per_page)]


def open_page(
    index: StepIndex, number: int, per_page: int = PER_PAGE, *, text_limit: int = TEXT_LIMIT
) -> list[tuple[OutlineRow, Step]]:
    """The steps of a page, each block cut at `text_limit` characters; empty beyond the last page.

    Steps of more than `outlines.LARGE_STEP` bytes come cut as their row keeps them. One query.
    """
    rows = _rows(index, number, per_page)
    links = _Links(index)
    found = []
    with open_pack(index.execution) as stream:
        data = _read_small(stream, links.offset, [row for _, row in rows])
        for (at, row), own in zip(rows, data, strict=True):
            step = cutting.from_preview(row[12], at) if own is None else _parsed(index, at, row, own)
            found.append((_outline_row(index, at, row), cutting.cut(links.joined(step), text_limit)))
    return found


def overview(index: StepIndex, buckets: int = 200) -> list[Bucket]:
    """The whole in at most `buckets` runs of equal length, the last one shorter. No query."""
    kept = index.facts["buckets"]
    width, runs = kept["width"], [outlines.run_of(run) for run in kept["runs"]]
    together = max(1, -(-len(runs) // max(buckets, 1)))
    unknown = index.facts["cost_unknown"]
    found = []
    for at in range(0, len(runs), together):
        errors, subagents, cost, sources = outlines.merged(*runs[at : at + together])
        first = at * width + 1
        last = min((at + together) * width, index.steps)
        cost = None if unknown else cost
        found.append(Bucket(first, last, errors, subagents, cost, tuple(sources.most_common())))
    return found


def read_step(index: StepIndex, number: int) -> Step:
    """A step in full, up to `scan.PIECE_LIMIT` bytes; a larger one says only that it is. One query.

    Raises Http404 where there is no such step.
    """
    row, links = _row(index, number), _Links(index)
    if row[1] > scan.PIECE_LIMIT:
        return links.joined(cutting.from_preview(row[12], number))
    with open_pack(index.execution) as stream:
        stream.seek(links.offset + row[0])
        return links.joined(_parsed(index, number, row, stream.read(row[1])))


def stream_block(index: StepIndex, step: int, block: int) -> Iterator[bytes]:
    """The text of one block (from 0) in full, as UTF-8. Raises Http404, before the first piece."""
    blocks = read_step(index, step).blocks
    if not 0 <= block < len(blocks):
        raise Http404("This step has no such part.")
    return _encoded(blocks[block].text)


def stream_raw_step(index: StepIndex, number: int) -> Iterator[bytes]:
    """The bytes of a step as they stand in the file, of any size. Raises Http404, before the first piece."""
    row, offset = _row(index, number), file_of(index)[1]
    with open_pack(index.execution):
        pass
    return _range(index, offset + row[0], row[1])


def image_bytes(index: StepIndex, step: int, block: int) -> tuple[str, bytes]:
    """(media type, bytes) of a picture that is embedded in a step. Raises Http404 for anything else."""
    blocks = read_step(index, step).blocks
    found = blocks[block] if 0 <= block < len(blocks) else None
    if found is None or found.image is None or found.image.path != EMBEDDED:
        raise Http404("This step holds no such picture.")
    start = _PICTURES.get(found.image.media_type)
    try:
        data = base64.b64decode(found.text)
    except (binascii.Error, ValueError):
        data = b""
    if start is None or not data.startswith(start):
        raise Http404("This is no PNG, JPEG, GIF or WebP picture.")
    return found.image.media_type, data


def _rows(index: StepIndex, page: int, per_page: int) -> list[tuple[int, Row]]:
    """(number, row) of the steps of a page."""
    first = (page - 1) * per_page + 1
    last = min(first + per_page - 1, index.steps)
    if page < 1 or per_page < 1 or first > last:
        return []
    kept = StepChunk.objects.filter(
        index=index, number__range=((first - 1) // CHUNK + 1, (last - 1) // CHUNK + 1)
    )
    return [
        (at, row)
        for number, rows in kept.order_by("number").values_list("number", "rows")
        for at, row in enumerate(rows, (number - 1) * CHUNK + 1)
        if first <= at <= last
    ]


def _row(index: StepIndex, number: int) -> Row:
    found = _rows(index, number, 1)
    if not found:
        raise Http404("This trajectory has no such step.")
    return found[0][1]


def _outline_row(index: StepIndex, number: int, row: Row) -> OutlineRow:
    return outlines.outline_row(number, row, cost_unknown=index.facts["cost_unknown"])


def _parsed(index: StepIndex, number: int, row: Row, data: bytes) -> Step:
    return reread(index.format, data, number, row[11]).step


def _read_small(stream: BinaryIO, offset: int, rows: Sequence[Row]) -> list[bytes | None]:
    """The bytes of each step that is not kept in its row, neighbours in one read."""
    found: list[bytes | None] = [None] * len(rows)
    run: list[int] = []
    for at, row in enumerate([*rows, None]):
        small = row is not None and row[12] is None
        before = rows[run[-1]] if run else None
        near = row and before and 0 <= row[0] - before[0] - before[1] <= _GAP
        if run and not (small and near):
            start, last = rows[run[0]][0], rows[run[-1]]
            stream.seek(offset + start)
            data = stream.read(last[0] + last[1] - start)
            for one in run:
                begin = rows[one][0] - start
                found[one] = data[begin : begin + rows[one][1]]
            run = []
        if small:
            run.append(at)
    return found


def _range(index: StepIndex, start: int, size: int) -> Iterator[bytes]:
    with open_pack(index.execution) as stream:
        stream.seek(start)
        while size and (data := stream.read(min(size, _PIECE))):
            size -= len(data)
            yield data


def _encoded(text: str) -> Iterator[bytes]:
    for at in range(0, len(text), _PIECE):
        yield text[at : at + _PIECE].encode(errors="replace")


class _Links:
    """What a step's references to other files and trajectories lead to, as far as they were saved."""

    def __init__(self, index: StepIndex) -> None:
        self.name, self.offset = file_of(index)
        self._files = {file[0] for file in index.execution.files}
        self._cost_unknown = index.facts["cost_unknown"]
        self._known: dict[str, str] = {}
        for ident, path in known_trajectories(index):
            self._known.setdefault(ident, path)

    def file(self, name: str) -> str:
        """Path of a file named beside this one, or by an absolute path that ends in the name of one."""
        folder = posixpath.dirname(self.name)
        for wanted in (name, posixpath.basename(name)):
            path = posixpath.normpath(posixpath.join(folder, wanted))
            if wanted and path in self._files:
                return path
        return ""

    def subagent(self, reference: SubagentRef) -> SubagentRef:
        found = self.file(reference.path) if reference.path else ""
        return replace(reference, path=found or self._known.get(reference.trajectory_id, ""))

    def joined(self, step: Step) -> Step:
        if self._cost_unknown and step.cost_usd is not None:
            step = replace(step, cost_usd=None)
        if any(block.image or block.subagent for block in step.blocks):
            step = replace(step, blocks=tuple(self._block(block) for block in step.blocks))
        return step

    def _block(self, block: Block) -> Block:
        if block.subagent:
            found = self.subagent(block.subagent)
            label = block.label if found.path else f"{block.label} (not saved)"
            return replace(block, subagent=found, label=label)
        if block.image and block.image.path != EMBEDDED:
            where = block.image.path
            path = self.file(where)
            is_address = where.startswith(("http://", "https://"))
            label = block.kind if path else f"{block.kind} ({'elsewhere' if is_address else 'not saved'})"
            return replace(block, image=Image(block.image.media_type, path), label=label)
        return block
