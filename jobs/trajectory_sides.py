"""One side of a comparison of two trajectories: its steps, as far as they are read, and what they say."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404

from jobs.domain.trajectory.align import WINDOW, Pair, Signature, signature
from jobs.domain.trajectory.types import OutlineRow, Step
from jobs.models import StepIndex, Trial
from jobs.trajectories import open_page, outline
from jobs.trajectory_links import TrajectoryQuery
from jobs.trajectory_open import Opened, open_trajectory
from jobs.trajectory_strip import find_error
from plural_site.accounts.models import Project

MOST_READ = 24 * 1024 * 1024
"""Bytes of each side whose text is compared at a time; of the steps beyond, only what their rows say."""
READ_STEPS = (2_000, 1_000, 500, 250, 100, 50)
TEXT_SHOWN = 700
_ID = re.compile(r"[-a-zA-Z0-9_]{1,128}")


@dataclass(frozen=True, slots=True)
class Side:
    letter: str
    opened: Opened
    rows: Sequence[OutlineRow] = ()
    """Of the window that is shown."""
    steps: Sequence[Step] = ()
    """The first of those, as far as they are read."""
    first_error: int = 0

    @property
    def index(self) -> StepIndex | None:
        return self.opened.index

    @property
    def trial(self) -> Trial:
        return self.opened.shown.trial


def open_side(letter: str, project: Project, trial_id: str, window: int) -> Side:
    if not _ID.fullmatch(trial_id):
        raise Http404("No such Trial in this project.")
    opened = open_trajectory(project, trial_id, TrajectoryQuery())
    index = opened.index
    if index is None or not index.steps:
        return Side(letter, opened)
    rows = outline(index, window, WINDOW)
    count = _readable(rows)
    try:
        read = open_page(index, (window - 1) * WINDOW // count + 1, count) if rows else []
    except Http404:
        read = []
    steps = [step for _, step in read]
    return Side(letter, opened, rows, steps, find_error(index, 0, forwards=True))


def _readable(rows: Sequence[OutlineRow]) -> int:
    """How many of them are read: windows begin at a multiple of every such number."""
    for count in READ_STEPS:
        if sum(row.size for row in rows[:count]) <= MOST_READ:
            return count
    return READ_STEPS[-1]


def said_of(step: Step) -> tuple[str, bool]:
    """What a step says and does, in one text, and whether that leaves something out."""
    found, is_cut = [], False
    for block in step.blocks:
        if block.kind == "reward" or block.image:
            continue
        name = f"{block.label} " if block.kind in ("call", "error") and block.label else ""
        mark = {"call": "→ ", "result": "← ", "error": "error: "}.get(block.kind, "")
        found.append(f"{mark}{name}{block.text[: 2 * TEXT_SHOWN]}")
        is_cut = is_cut or block.is_cut or len(block.text) > 2 * TEXT_SHOWN
        if sum(map(len, found)) > 2 * TEXT_SHOWN:
            return "\n".join(found), True
    return "\n".join(found), is_cut


def signatures(side: Side) -> list[Signature]:
    """Steps that are not read equal nothing, but may be of a kind."""
    found = [signature(step) for step in side.steps]
    for row in side.rows[len(found) :]:
        unlike = hashlib.sha256(f"{side.letter} {row.number}".encode()).hexdigest()
        found.append(Signature(unlike, "\0".join((row.source, *row.calls))))
    return found


def places(side: Side, pairs: Sequence[Pair]) -> set[int]:
    found = (pair.a if side.letter == "A" else pair.b for pair in pairs)
    return {place for place in found if place is not None}
