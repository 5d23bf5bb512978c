"""What was found in a trajectory, as links to its steps."""

from __future__ import annotations

from jobs.domain.room import Room
from jobs.models import StepIndex
from jobs.trajectories import Found, Hit, find_text
from jobs.trajectory_links import TrajectoryLinks, TrajectoryQuery
from jobs.trajectory_pages import HitRow, SearchPart
from jobs.trajectory_steps import KINDS, clean
from plural_site import formats

HITS_ROOM, MOST_HITS, SECONDS = 40_000, 50, 1.5
EMPTY_SEARCH = SearchPart("", "", (), "", "", "")


def search_part(index: StepIndex, links: TrajectoryLinks, query: TrajectoryQuery, page: int) -> SearchPart:
    if not query.words:
        return EMPTY_SEARCH
    found = find_text(index, query.words, MOST_HITS, query.after, seconds=SECONDS)
    room = Room(HITS_ROOM, 0, clean)
    on = links.page(words=query.words, after=found.stopped_at, fold=query.fold, anchor="found")
    return SearchPart(
        words=clean(query.words),
        summary=_summary(found, query.after, index.steps),
        hits=tuple(_hit(hit, links, query, room) for hit in found),
        on_href="" if found.is_complete else on,
        on_words=f"Go on after step {formats.count(found.stopped_at)}",
        clear_href=links.page(page=page, fold=query.fold),
    )


def _hit(hit: Hit, links: TrajectoryLinks, query: TrajectoryQuery, room: Room) -> HitRow:
    snippet, ends = hit.snippet, (hit.start, hit.end)
    parts = (snippet[: ends[0]], snippet[slice(*ends)], snippet[ends[1] :])
    before, match, after = (room.text(part, 500).text for part in parts)
    href = links.page(
        step=hit.number,
        words=query.words,
        after=query.after,
        fold=query.fold,
        anchor=f"step-{hit.number}",
    )
    where = "" if hit.label in KINDS else room.text(hit.label, 60).text
    return HitRow(hit.number, href, where, before, match, after)


def _summary(found: Found, after: int, steps: int) -> str:
    hits = f"{formats.count(len(found))} step{'' if len(found) == 1 else 's'}" if found else "No step"
    where = f"Searched steps {formats.count(after + 1)} to" if after else "Searched"
    last = formats.count(min(found.stopped_at, steps))
    skipped = len(found.skipped)
    left = f" {formats.count(skipped)} of them are too large to be searched." if skipped else ""
    return f"{hits} found. {where} {last} of {formats.count(steps)} steps.{left}"
