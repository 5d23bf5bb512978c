"""Rows of the private leaderboard: each number opens its proof, each entry its Trials."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from django.urls import reverse

from benchmarks.board.parts import BoardRow
from benchmarks.board.rows import FigureTexts, RowLinks
from benchmarks.pages import Figure
from jobs.board import Board
from jobs.entries import Entry
from jobs.links import agent_href


@dataclass(frozen=True, slots=True)
class EntryLinks:
    """Addresses of an entry's Trials, of its Jobs, and of how its numbers were computed."""

    trials: str
    jobs: str
    proof: str

    def trials_with(self, name: str, value: str) -> str:
        return f"{self.trials}&{name}={quote(value)}"

    def figure(self, name: str, category: str = "") -> str:
        return f"{self.proof}&figure={name}{f'&category={quote(category)}' if category else ''}"


class RowBuilder(FigureTexts):
    def __init__(self, board: Board) -> None:
        super().__init__(board.scoring)
        self.board = board
        self.trials_path = reverse("jobs:trials", args=[board.project.slug])
        self.jobs_path = reverse("jobs:jobs", args=[board.project.slug])

    def links(self, entry: Entry) -> EntryLinks:
        query = {
            "benchmark": self.board.revision.resource.slug,
            "revision": str(self.board.revision.number),
            "track": self.board.selection.key,
            "agent": entry.key,
        }
        jobs = f"{self.jobs_path}?{urlencode(query | {'aside': 'no'})}"
        if self.board.state.job:
            query["job"] = ",".join(self.board.state.job)
        return EntryLinks(f"{self.trials_path}?{urlencode(query)}", jobs, self.board.proof_href(entry))

    def row(self, entry: Entry) -> BoardRow:
        links = self.links(entry)
        more = (
            Figure("Page of this Agent", href=agent_href(self.board.project, entry.configuration)),
            Figure("its Trials here", href=links.trials),
        )
        found = RowLinks(links.trials, links.figure, more)
        return self.board_row(entry, found, with_categories=bool(self.board.state.view))
