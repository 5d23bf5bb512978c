"""Steps of a trajectory as finished text: bounded together, however much they hold."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from jobs.domain import ansi, pretty_json
from jobs.domain.room import Room
from jobs.domain.sharing import fair_limit
from jobs.domain.trajectory import scan
from jobs.domain.trajectory.types import EMBEDDED, Block, Image, OutlineRow, Step
from jobs.files import ENDINGS, claimed_image
from jobs.stored_files import StoredFile, removed_words
from jobs.trajectory_links import TrajectoryLinks
from jobs.trajectory_pages import BlockView, OutlineView, StepView
from plural_site import formats

TEXTS_ROOM, NAMES_ROOM, BLOCKS_ROOM = 340_000, 110_000, 240_000
"""Bytes of HTML on a page: what blocks say, short names in all of it, and the markup of blocks."""
BLOCK_MARKUP = 500
STEP_BLOCKS = 50
FOLD_LINES, FOLD_CHARACTERS = 40, 6_000
CALLS_NAMED = 3
KEPT_CALLS = 10
"""That an outline keeps of a step."""
MOST_REMARKS = 6
NAME_LENGTH = 120
SOURCES = {"agent": "Agent", "user": "User", "system": "System", "tool": "Tool"}
KINDS = {
    "message": "",
    "reasoning": "Reasoning",
    "call": "Call",
    "result": "Result",
    "error": "Error",
    "image": "Picture",
    "audio": "Sound",
    "subagent": "Subagent",
    "raw": "As written",
}
PLAIN_NAMES = frozenset(
    {"message", "reasoning", "result", "error", "failed", "subagent", "image", "audio"}
    | {"embedded image", "embedded audio"}
)
"""Labels that say no more than the kind does."""
PROSE = frozenset({"message", "reasoning"})


def clean(text: str) -> str:
    return formats.clean_text(ansi.strip(text))


def moment_text(moment: datetime | None) -> str:
    """To the second, in UTC."""
    return "" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True, slots=True)
class Look:
    """How steps are to be shown. `files` are those of the execution by path, `execution` its number.

    `text_limit`: characters of one block at most. `blocks` (first, how many) are those of a step that are
    wanted; None: the first ones, as many as fit.
    """

    links: TrajectoryLinks
    execution: int
    files: Mapping[str, StoredFile]
    fold: str = ""
    marked: int = 0
    hits: frozenset[int] = frozenset()
    text_limit: int = 4_000
    blocks: tuple[int, int] | None = None
    names: Room = field(default_factory=lambda: Room(NAMES_ROOM, 0, clean))

    def name(self, text: str, most: int = NAME_LENGTH) -> str:
        cut = self.names.text(text, most)
        return cut.text + ("…" if cut.left_out else "")


def step_views(found: Sequence[tuple[OutlineRow, Step]], look: Look) -> tuple[StepView, ...]:
    """Together at most `TEXTS_ROOM` bytes of text, and as many blocks as there is room for."""
    chosen = [_chosen(step, look) for _, step in found]
    if look.blocks is None:
        each = BLOCK_MARKUP + 2 * len(look.links.block(10**6, 100))
        most = min(fair_limit(map(len, chosen), BLOCKS_ROOM // each), STEP_BLOCKS)
        chosen = [blocks[:most] for blocks in chosen]
    texts = [
        [_Text(block, look.text_limit) for _, block in blocks]
        + [_Text(Block("raw", "", step.extra, len(step.extra), True), look.text_limit)]
        for blocks, (_, step) in zip(chosen, found, strict=True)
    ]
    limit = fair_limit((text.cost for step_texts in texts for text in step_texts), TEXTS_ROOM)
    return tuple(
        _Step(row, step, blocks, step_texts, look=look, limit=limit).view()
        for (row, step), blocks, step_texts in zip(found, chosen, texts, strict=True)
    )


def _chosen(step: Step, look: Look) -> list[tuple[int, Block]]:
    first, count = look.blocks or (0, STEP_BLOCKS)
    return _ordered(step.blocks)[first : first + count]


def _ordered(blocks: Sequence[Block]) -> list[tuple[int, Block]]:
    """With their positions; each result right after the call that it answers, if it comes later."""
    answers: dict[str, list[tuple[int, Block]]] = {}
    calls: set[str] = set()
    for at, block in enumerate(blocks):
        if not block.call_id:
            continue
        if block.kind == "call":
            calls.add(block.call_id)
        elif block.call_id in calls:
            answers.setdefault(block.call_id, []).append((at, block))
    moved = {at for found in answers.values() for at, _ in found}
    ordered: list[tuple[int, Block]] = []
    for at, block in enumerate(blocks):
        if at in moved:
            continue
        ordered.append((at, block))
        if block.kind == "call":
            ordered += answers.pop(block.call_id, [])
    return ordered


class _Text:
    """What a block says, and the bytes of HTML that it takes."""

    def __init__(self, block: Block, limit: int) -> None:
        self.raw = "" if block.image else block.text[:limit]
        self.length = 0 if block.image else block.length
        self.whole = clean(self.raw)
        if block.is_json and not block.is_cut and len(self.raw) == block.length:
            self.whole = clean(pretty_json.indent(self.raw, limit))
        self.cost = len(html.escape(self.whole).encode("utf-8", "replace"))

    def cut(self, limit: int) -> tuple[str, int]:
        """Cleaned text of at most so many bytes of HTML, and how many characters of the original it is."""
        if self.cost <= limit:
            return self.whole, len(self.raw)
        cut = Room(limit, 0, clean).text(self.raw, len(self.raw))
        return cut.text, len(self.raw) - cut.left_out


@dataclass(frozen=True, slots=True)
class _Aside:
    """What stands beside a block's text."""

    image_href: str = ""
    image_words: str = ""
    link_href: str = ""
    link_words: str = ""


class _Step:
    def __init__(
        self,
        row: OutlineRow,
        step: Step,
        blocks: list[tuple[int, Block]],
        texts: list[_Text],
        *,
        look: Look,
        limit: int,
    ) -> None:
        self.row, self.step, self.blocks, self.texts = row, step, blocks, texts
        self.limit, self.look, self.links = limit, look, look.links
        self.is_readable = row.size <= scan.PIECE_LIMIT

    def view(self) -> StepView:
        row, step, look = self.row, self.step, self.look
        named = Counter(block.label for block in step.blocks if block.kind == "call")
        least = "+" if len(step.blocks) == STEP_BLOCKS and look.blocks is None else ""
        return StepView(
            number=step.number,
            source=source_words(step.source, look.name),
            tone=step.source if step.source in SOURCES else "other",
            calls=tuple(
                (look.name(name, 80), f"× {formats.count(times)}{least}" if times > 1 else "")
                for name, times in list(named.items())[:CALLS_NAMED]
            ),
            calls_more=max(len(named) - CALLS_NAMED, 0),
            is_error=row.is_error,
            is_copied=row.is_copied,
            is_marked=step.number == look.marked,
            is_hit=step.number in look.hits,
            is_folded=look.fold == "all" and step.number != look.marked,
            since=since_words(row),
            moment=moment_text(step.time),
            duration=formats.seconds(row.duration) if row.duration is not None else "",
            cost=formats.money(step.cost_usd) if step.cost_usd is not None else "",
            details=tuple(self._details()),
            remarks=tuple(look.name(remark, 300) for remark in step.remarks[:MOST_REMARKS]),
            blocks=tuple(self._grouped()),
            blocks_words=self._blocks_words(),
            extra=self.texts[-1].cut(self.limit)[0] if step.extra else "",
            permanent_href=self.links.permanent(look.execution, step.number),
            own_href=self.links.step(step.number) if self.look.blocks is None else "",
            raw_href=self.links.raw(step.number),
        )

    def _details(self) -> list[str]:
        row, step = self.row, self.step
        tokens = [
            f"{formats.count(amount)} {word}"
            for amount, word in (
                (step.input_tokens, "in"),
                (step.cached_tokens, "cached"),
                (step.output_tokens, "out"),
            )
            if amount is not None
        ]
        found = [self.look.name(step.model)] if step.model else []
        if tokens:
            found.append(f"tokens: {', '.join(tokens)}")
        if step.llm_calls is not None and step.llm_calls != 1:
            found.append(f"{formats.count(step.llm_calls)} model calls")
        if row.cumulative_cost is not None:
            found.append(f"{formats.money(row.cumulative_cost)} so far")
        return [*found, formats.bytes_text(row.size)]

    def _blocks_words(self) -> str:
        """A page of steps gets no more than `STEP_BLOCKS` parts of each, so that many may not be all."""
        shown, all_of_them = len(self.blocks), len(self.step.blocks)
        if self.look.blocks is None:
            is_all = shown == all_of_them and shown < STEP_BLOCKS
            return "" if is_all else f"These are the first {shown} parts."
        if shown >= all_of_them:
            return ""
        first = self.look.blocks[0]
        last = formats.count(first + shown)
        return f"Parts {formats.count(first + 1)} to {last} of {formats.count(all_of_them)}."

    # Blocks ----------------------------------------------------------------------------------------

    def _grouped(self) -> list[BlockView]:
        """Results stand under the call that they answer."""
        places: dict[str, int] = {}
        found: list[BlockView] = []
        for (at, block), text in zip(self.blocks, self.texts, strict=False):
            view = self._block(at, block, text)
            place = places.get(block.call_id) if block.call_id else None
            if block.kind == "call":
                if block.call_id:
                    places.setdefault(block.call_id, len(found))
                found.append(view)
            elif place is not None:
                found[place] = replace(found[place], results=(*found[place].results, view))
            else:
                found.append(view)
        return found

    def _block(self, at: int, block: Block, text: _Text) -> BlockView:
        shown, characters = text.cut(self.limit)
        head, rest = folded(shown)
        is_subagent, aside = block.subagent is not None, self._aside(at, block)
        if is_subagent:
            head, rest = "", shown
        lines = rest.count("\n") + 1
        is_cut = characters < text.length
        return BlockView(
            kind=block.kind,
            title=KINDS.get(block.kind, ""),
            name="" if block.label in PLAIN_NAMES else self.look.name(block.label),
            head=head,
            rest=rest,
            rest_words="The reference to it"
            if is_subagent
            else f"{formats.count(lines)} more line{'' if lines == 1 else 's'}",
            is_open=self.look.fold == "none",
            is_shut=block.kind == "reasoning" and self.look.fold != "none",
            cut=f"First {formats.count(characters)} of {formats.count(text.length)} characters"
            if is_cut
            else "",
            all_href=self._all_href(at) if is_cut else "",
            image_href=aside.image_href,
            image_words=aside.image_words,
            link_href=aside.link_href,
            link_words=aside.link_words,
            is_mono=block.kind not in PROSE or block.is_json,
        )

    def _all_href(self, at: int) -> str:
        """A step too large to be parsed has no parts, only bytes."""
        number = self.step.number
        return self.links.block(number, at) if self.is_readable else self.links.raw(number)

    def _aside(self, at: int, block: Block) -> _Aside:
        if block.image is not None:
            return self._medium(at, block, block.image)
        if block.subagent is None:
            return _Aside()
        ident = self.look.name(block.subagent.trajectory_id) or "the subagent"
        if not block.subagent.path:
            return _Aside(link_words=f"The trajectory of {ident} was not saved.")
        href = replace(self.links, file=block.subagent.path).page()
        return _Aside(link_href=href, link_words=f"Open the trajectory of {ident}")

    def _medium(self, at: int, block: Block, image: Image) -> _Aside:
        """Of a picture only one of the types that are checked before they are sent; of a sound its file."""
        kind = self.look.name(image.media_type, 60) or "unknown type"
        number, links = self.step.number, self.links
        if image.path == EMBEDDED:
            if block.kind == "image" and image.media_type in ENDINGS.values() and self.is_readable:
                return _Aside(links.image(number, at), kind)
            words = f"{kind}, {formats.count(block.length)} characters of base64, not shown"
            return _Aside("", words, self._all_href(at), "As written")
        file = self.look.files.get(image.path)
        if file is None:
            return _Aside("", f"{kind}, not kept here: {self.look.name(block.text, 300)}")
        words = f"{kind}, {formats.bytes_text(file.size)}: {self.look.name(file.path, 300)}"
        if file.removed:
            return _Aside("", f"{words}, {removed_words(file)}")
        if block.kind == "image" and claimed_image(file) and self.is_readable:
            return _Aside(links.image(number, at), words)
        return _Aside("", words, links.stored(self.look.execution, file.path), "The file")


def folded(text: str) -> tuple[str, str]:
    """What is in sight, and the lines after it."""
    end, lines = 0, 0
    while lines < FOLD_LINES:
        found = text.find("\n", end)
        if found < 0:
            end = len(text)
            break
        end, lines = found + 1, lines + 1
    end = min(end, FOLD_CHARACTERS)
    if end >= len(text) or not text[end:].strip():
        return text, ""
    return text[:end].removesuffix("\n"), text[end:]


def source_words(source: str, name: Callable[[str], str]) -> str:
    return SOURCES.get(source) or name(source) or "Unknown source"


def since_words(row: OutlineRow) -> str:
    return "" if row.since_start is None else f"+{formats.seconds(row.since_start)}"


def outline_views(
    rows: Sequence[OutlineRow], look: Look, *, marked: int = 0, hits: frozenset[int] = frozenset()
) -> tuple[OutlineView, ...]:
    return tuple(_outline(row, look, row.number == marked, row.number in hits) for row in rows)


def _outline(row: OutlineRow, look: Look, is_marked: bool, is_hit: bool) -> OutlineView:
    named = [name for name in row.calls if not row.title.startswith(f"{name}(")]
    calls = ", ".join(look.name(name, 40) for name in named)
    if len(row.calls) > 2:
        calls = f"{len(row.calls)}{' or more' if len(row.calls) == KEPT_CALLS else ''} calls"
    return OutlineView(
        number=row.number,
        source=source_words(row.source, look.name),
        title=look.name(row.title) or "Nothing to show",
        figures=figures(row),
        calls=calls,
        is_error=row.is_error,
        has_subagent=row.has_subagent,
        is_copied=row.is_copied,
        is_marked=is_marked,
        is_hit=is_hit,
    )


def figures(row: OutlineRow) -> str:
    """E.g. "+0.4 s · took 0.1 s · $0.0004 · $0.0010 so far"."""
    found = [since_words(row)]
    if row.duration is not None:
        found.append(f"took {formats.seconds(row.duration)}")
    if row.cost_usd is not None:
        found.append(formats.money(row.cost_usd))
    if row.cumulative_cost is not None and row.cumulative_cost != row.cost_usd:
        found.append(f"{formats.money(row.cumulative_cost)} so far")
    return " · ".join(filter(None, found))
