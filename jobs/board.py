"""A leaderboard as its address asks for it: a release, a track, and the entries that are shown.

Page, CSV, JSON, chart and comparison all start from this, so that they can't differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.board.filters import passes
from benchmarks.board.state import BoardState, joined
from benchmarks.domain.types import Category, Scoring
from benchmarks.links import board_href
from benchmarks.models import Revision
from jobs.entries import Entry, load_entries
from jobs.models import Job
from jobs.tracks import Selection, select_track
from plural_site import formats
from plural_site.accounts.models import Project

ASIDE = ("client_job_id", "set_aside_at", "set_aside_reason")


@dataclass(frozen=True, slots=True)
class Board:
    """`entries` are those of the chosen Jobs, `shown` those that the filters leave, both by rank."""

    project: Project
    revision: Revision
    selection: Selection
    state: BoardState
    entries: tuple[Entry, ...]
    shown: tuple[Entry, ...]
    all_entries: tuple[Entry, ...]
    """Entries of all Jobs, also where only some Jobs are chosen."""

    @property
    def scoring(self) -> Scoring:
        return self.selection.rules.scoring

    @property
    def categories(self) -> tuple[Category, ...]:
        return self.selection.rules.categories

    @property
    def task_count(self) -> int:
        return len(self.selection.task_names)

    @property
    def lacks(self) -> frozenset[str]:
        return frozenset({"provenance"})

    @property
    def cost_scope(self) -> str:
        return ""

    @property
    def path(self) -> str:
        return board_href(self.project, self.revision)

    def href(self, **changes: Any) -> str:
        """Address of this board with some of its state changed."""
        return joined(self.path, self.state.query(**{"track": self.selection.key, **changes}))

    def part_href(self, part: str, **more: str) -> str:
        """Address of something made from this board: an export, a chart, a comparison."""
        return joined(f"{self.path}/{part}", self.state.query(track=self.selection.key), **more)

    def proof_href(self, entry: Entry, figure: str = "", category: str = "") -> str:
        """Where a number of an entry is explained; see `explanation.OF_WHOLE`. Filters don't matter there."""
        query = BoardState(track=self.selection.key, job=self.state.job).query()
        more = {"entry": entry.key, "category": category, "figure": figure}
        return joined(f"{self.path}/proof", query, **{name: text for name, text in more.items() if text})

    def export_href(self, kind: str) -> str:
        return self.part_href(f"leaderboard.{kind}")


def load_board(project: Project, revision: Revision, state: BoardState, *, with_tasks: bool = False) -> Board:
    """Raises Http404 where the release has no such track."""
    selection = select_track(revision, state.track)
    every = load_entries(revision, selection.reference, with_tasks=with_tasks)
    chosen = (
        load_entries(revision, selection.reference, with_tasks=with_tasks, jobs=state.job)
        if state.job
        else every
    )
    shown = [entry for entry in chosen if passes(entry, state, selection.rules.scoring)]
    return Board(project, revision, selection, state, tuple(chosen), tuple(shown), tuple(every))


def uncounted_jobs(board: Board) -> tuple[str, ...]:
    """Why each chosen Job that counts nowhere on the board doesn't, in words. One query if any is chosen."""
    if not (chosen := board.state.job):
        return ()
    jobs = Job.objects.visible(board.project).filter(
        revision=board.revision, track_ref=board.selection.reference, client_job_id__in=chosen
    )
    found = {job_id: (at, why) for job_id, at, why in jobs.values_list(*ASIDE)}
    words = []
    for job_id in chosen:
        set_aside_at, reason = found.get(job_id, (None, ""))
        if job_id not in found:
            words.append(f"{job_id} is not a Job of this release and track.")
        elif set_aside_at:
            words.append(f"{job_id} was set aside ({reason}), so it counts nowhere.")
    return formats.clean_texts(words)
