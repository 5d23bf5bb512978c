"""Scores of Agents on the Tasks that two releases have in common, each with its paired difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.board.rows import FigureTexts
from benchmarks.board.state import BoardState
from benchmarks.domain.comparable import Comparable, SubsetScore, by_new_name, score_on
from benchmarks.domain.comparison import Comparison, TaskScores, compare
from benchmarks.domain.types import Track
from benchmarks.links import revision_label
from benchmarks.models import Revision
from benchmarks.pages import Figure
from jobs.board import Board, load_board
from jobs.compare import adjusted_ps
from jobs.compare_links import MOST_COMPARED, entry_key, trials_href
from jobs.difference_texts import DifferenceTexts, scale_of
from jobs.entries import Entry
from jobs.links import agent_href
from jobs.release_compare_pages import ReleaseRow, ReleaseScore, ScoresPart
from jobs.task_scores import task_figures
from plural_site import formats
from plural_site.accounts.models import Project

AGENTS_A_PAGE = MOST_COMPARED


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the releases: its board, and each Agent's scores at the Tasks that compare."""

    board: Board
    label: str
    entries: dict[int, Entry]
    """By configuration, as are the scores."""
    scores: dict[int, TaskScores]


class ReleaseScores:
    """Of two revisions, the older one first, on a track of both."""

    def __init__(
        self, project: Project, revisions: Sequence[Revision], found: Comparable, track: Track
    ) -> None:
        self.project, self.found, self.track = project, found, track
        old, new = revisions
        self.old, self.new = self._side(old, is_old=True), self._side(new, is_old=False)
        self.texts = FigureTexts(found.scoring)
        self.low, self.high = found.scoring.score_range

    def part(self, page: int, href: Callable[[int], str]) -> ScoresPart:
        """Page `page` of the Agents."""
        agents = self._ordered()
        pages = max(-(-len(agents) // AGENTS_A_PAGE), 1)
        page = min(page, pages)
        first = (page - 1) * AGENTS_A_PAGE
        shown = agents[first : first + AGENTS_A_PAGE]
        compared = [self._compare(agent) for agent in shown]
        scale = scale_of(compared, self.high - self.low)
        tested = sum(comparison.weighted is not None for comparison in compared)
        rows = [
            self._row(agent, comparison, p, scale)
            for agent, comparison, p in zip(shown, compared, adjusted_ps(compared), strict=True)
        ]
        words = f"Agents {first + 1} to {first + len(shown)} of {formats.count(len(agents))}"
        return ScoresPart(
            track=self.track.reference,
            words=self._words(),
            rows=tuple(rows),
            unit=formats.score_unit(self.low, self.high),
            scale=formats.score_text(scale, self.low, self.high) if scale else "",
            adjusted=f"p is adjusted for {tested} comparisons by Holm's method." if tested > 1 else "",
            agents_words=words if pages > 1 else "",
            agents_previous=href(page - 1) if page > 1 else "",
            agents_next=href(page + 1) if page < pages else "",
        )

    def _side(self, revision: Revision, *, is_old: bool) -> _Side:
        board = load_board(self.project, revision, BoardState(track=self.track.reference))
        figures = task_figures(board, board.entries)
        scoring = board.scoring
        scores = {
            owner: by_new_name(
                self.found.tasks,
                {name: score for name, one in found.items() if (score := one.paired(scoring))},
                old=is_old,
            )
            for owner, found in figures.items()
        }
        entries = {entry.configuration.pk: entry for entry in board.entries}
        return _Side(board, revision_label(revision), entries, scores)

    def _ordered(self) -> list[int]:
        """Configurations, the best on the newer release first, then those that are on the older one only."""
        every = dict.fromkeys((*self.new.entries, *self.old.entries))

        def place(owner: int) -> tuple[bool, float, bool, float]:
            new, old = (self._score(side, owner).score for side in (self.new, self.old))
            return new is None, -(new or 0.0), old is None, -(old or 0.0)

        return sorted(every, key=place)

    def _score(self, side: _Side, owner: int) -> SubsetScore:
        return score_on(side.scores.get(owner, {}), self.found.scoring)

    def _compare(self, owner: int) -> Comparison:
        """Newer minus older, over the Tasks at which it has a valid attempt in both."""
        new, old = (side.scores.get(owner, {}) for side in (self.new, self.old))
        return compare(new, old, self.found.scoring)

    def _row(self, owner: int, comparison: Comparison, p: float | None, scale: float) -> ReleaseRow:
        entry = self.new.entries.get(owner) or self.old.entries[owner]
        name = formats.clean_text(entry.names[0])
        texts = DifferenceTexts(
            scoring=self.found.scoring,
            names=(f"{name} on {self.new.label}", f"{name} on {self.old.label}"),
            comparison=comparison,
            adjusted=p,
            scale=scale,
        )
        return ReleaseRow(
            key=entry_key(entry),
            agent=name,
            agent_href=agent_href(self.project, entry.configuration),
            model=formats.clean_text(entry.configuration.model),
            harness=formats.clean_text(entry.harness),
            old=self._release_score(self.old, owner),
            new=self._release_score(self.new, owner),
            difference=texts.figure(),
            bar=texts.bar(),
            p=texts.p(),
            verdict=self._verdict(owner, texts),
        )

    def _verdict(self, owner: int, texts: DifferenceTexts) -> str:
        for here, there in ((self.new, self.old), (self.old, self.new)):
            if owner not in here.entries:
                return f"It ran on {there.label} only."
        if texts.comparison.weighted is None:
            return "It has no valid attempt at one of these Tasks in both."
        is_apart = texts.is_apart(texts.comparison.weighted)
        return texts.verdict() if is_apart else texts.finding()

    def _release_score(self, side: _Side, owner: int) -> ReleaseScore:
        entry, found = side.entries.get(owner), self._score(side, owner)
        total = formats.count(len(self.found.tasks))
        if entry is None:
            nothing = Figure(formats.DASH, f"It did not run on {side.label}")
            bar = self.texts.interval_of(None, None, None, "", "")
            return ReleaseScore(nothing, bar, nothing, "did not run")
        href, sure = trials_href(side.board, entry), found.uncertainty
        return ReleaseScore(
            self.texts.score_of(found.score, href),
            self.texts.interval_of(found.score, sure.low, sure.high, sure.unavailable_reason or "", ""),
            Figure(f"{formats.count(found.covered)} of {total}"),
            "" if entry.rank is not None else "not ranked",
        )

    def _words(self) -> str:
        attempts = f"{self.track.attempts} attempt{'s' if self.track.attempts > 1 else ''}"
        return (
            f"Scores over the Tasks that compare, alone: none of them is a leaderboard's. The track "
            f"{self.track.reference}, {attempts} asked for at each Task, has the same rules in both."
        )
