"""Entries of one board compared with a chosen baseline, Task by Task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.urls import reverse

from benchmarks.board.parts import Option
from benchmarks.domain.comparison import Comparison, compare
from benchmarks.domain.significance import holm
from benchmarks.links import revision_label
from benchmarks.pages import Crumb
from jobs.board import Board
from jobs.board_rows import RowBuilder
from jobs.compare_links import MOST_COMPARED, compare_href, entry_key, grid_href, whole_number
from jobs.compare_pages import ComparePage, Pair
from jobs.compare_pairs import PairBuilder
from jobs.difference_texts import scale_of
from jobs.entries import Entry
from jobs.neighbours import neighbour_marks
from jobs.task_scores import task_figures
from plural_site import formats

LISTED = 20
"""Tasks of each pair where several are compared."""
PER_PAGE = 100
FEWEST_DIGITS = 7


@dataclass(frozen=True, slots=True)
class CompareQuery:
    """Which entries an address asks for, by the start of their content hash."""

    a: str = ""
    b: tuple[str, ...] = ()
    page: int = 1

    @classmethod
    def parse(cls, query: QueryDict) -> CompareQuery:
        """Rubbish means the default."""
        others = tuple(dict.fromkeys(text for text in query.getlist("b") if text))
        return cls(query.get("a", ""), others, whole_number(query.get("page", "")))


def labels(entries: Sequence[Entry]) -> dict[int, str]:
    """A name for each entry, by configuration, that no other on the board has."""
    names = {entry.configuration.pk: formats.clean_text(entry.names[0]) for entry in entries}
    counts = Counter(names.values())
    return {
        entry.configuration.pk: name if counts[name] == 1 else f"{name} ({entry_key(entry)[:FEWEST_DIGITS]})"
        for entry, name in zip(entries, names.values(), strict=True)
    }


def compare_page(board: Board, query: CompareQuery) -> ComparePage:
    return _Page(board, query).page()


class _Page:
    def __init__(self, board: Board, query: CompareQuery) -> None:
        self.board, self.query = board, query
        self.low, self.high = board.scoring.score_range
        self.labels = labels(board.entries)
        self.problems: list[str] = []
        self.a = self._find(query.a) if query.a else None
        found = [entry for key in query.b[:MOST_COMPARED] if (entry := self._find(key))]
        self.others = [
            entry for at, entry in enumerate(found) if entry is not self.a and entry not in found[:at]
        ]
        self._note_problems()

    def _find(self, key: str) -> Entry | None:
        matching = [entry for entry in self.board.entries if entry_key(entry).startswith(key)]
        if len(matching) == 1 and len(key) >= FEWEST_DIGITS:
            return matching[0]
        chosen = " with the chosen Jobs" if self.board.state.job else ""
        self.problems.append(f"No entry of this board{chosen} is called {formats.clean_text(key[:20])}.")
        return None

    def _note_problems(self) -> None:
        if len(self.query.b) > MOST_COMPARED:
            self.problems.append(f"At most {MOST_COMPARED} entries are compared with a baseline at once.")
        if self.query.b and not self.query.a:
            self.problems.append("Choose a baseline.")
        if self.a is not None and not self.others:
            self.problems.append(f"Choose what to compare with {self.labels[self.a.configuration.pk]}.")

    def page(self) -> ComparePage:
        board, resource = self.board, self.board.revision.resource
        entries = [self.a, *self.others] if self.a is not None and self.others else []
        rows = RowBuilder(board)
        compared = self._compared(entries)
        differing = sum(task.difference != 0 for task in compared[0].tasks) if len(compared) == 1 else 0
        pages = max(-(-differing // PER_PAGE), 1)
        page = min(self.query.page, pages)
        scale = scale_of(compared, self.high - self.low)
        pairs = self._pairs(entries, compared, scale, page)
        project = board.project
        return ComparePage(
            crumbs=(
                Crumb(project.name, reverse("jobs:project", args=[project.slug])),
                Crumb(
                    f"{formats.clean_text(resource.name)} {revision_label(board.revision)}",
                    board.href(sort=""),
                ),
                Crumb("Compare"),
            ),
            title=self._title(entries),
            board_href=board.href(sort=""),
            grid_href=grid_href(board),
            claim=self._claim(),
            action=f"{board.path}/compare",
            carried=(("track", board.selection.key), *(("job", job) for job in board.state.job)),
            baselines=self._options([self.a] if self.a else []),
            others=self._options(self.others),
            problems=tuple(self.problems),
            warnings=tuple(
                (self.labels[entry.configuration.pk], formats.clean_texts(entry.overall.reasons))
                for entry in entries
                if entry.rank is None
            ),
            rows=tuple(rows.row(entry) for entry in entries),
            range_low=formats.score_text(self.low, self.low, self.high),
            range_high=formats.score_text(self.high, self.low, self.high),
            unit=formats.score_unit(self.low, self.high),
            scale=formats.score_text(scale, self.low, self.high) if scale else "",
            pairs=tuple(pairs),
            adjusted=f"p is adjusted for {len(pairs)} comparisons by Holm's method."
            if len(pairs) > 1
            else "",
            previous_href=self._page_href(entries, page - 1) if page > 1 else "",
            next_href=self._page_href(entries, page + 1) if page < pages else "",
        )

    def _compared(self, entries: Sequence[Entry]) -> list[Comparison]:
        """The first entry against each other one."""
        scoring = self.board.scoring
        figures = task_figures(self.board, entries) if entries else {}
        scores = [
            {
                name: score
                for name, found in figures[entry.configuration.pk].items()
                if (score := found.paired(scoring))
            }
            for entry in entries
        ]
        return [compare(scores[0], other, scoring) for other in scores[1:]]

    def _pairs(
        self, entries: Sequence[Entry], compared: Sequence[Comparison], scale: float, page: int
    ) -> list[Pair]:
        pairs, alone = [], len(compared) == 1
        marks = neighbour_marks(self.board).by_entry.get(entry_key(entries[0]), {}) if entries else {}
        shown = slice((page - 1) * PER_PAGE, page * PER_PAGE) if alone else slice(LISTED)
        for b, comparison, p in zip(entries[1:], compared, adjusted_ps(compared), strict=True):
            a = entries[0]
            builder = PairBuilder(
                scoring=self.board.scoring,
                board=self.board,
                a=a,
                b=b,
                names=(self.labels[a.configuration.pk], self.labels[b.configuration.pk]),
                comparison=comparison,
                adjusted=p,
                scale=scale,
                mark=marks.get(entry_key(b)),
            )
            href = "" if alone else compare_href(self.board, entry_key(a), [entry_key(b)])
            pairs.append(builder.pair(shown=shown, alone_href=href))
        return pairs

    def _title(self, entries: Sequence[Entry]) -> str:
        if not entries:
            return "Compare entries"
        names = [self.labels[entry.configuration.pk] for entry in entries]
        return f"{names[0]} compared with {names[1] if len(names) == 2 else f'{len(names) - 1} others'}"

    def _claim(self) -> str:
        track, chosen = self.board.selection.track, len(self.board.state.job)
        if track is None:
            rules = "run on no track, so nothing held these Agents to the same rules or number of attempts"
        else:
            attempts = f"{track.attempts} attempt{'s' if track.attempts > 1 else ''}"
            rules = f"the same track ({track.reference}), {attempts} asked for at each Task"
        jobs = f" Only the {chosen} Job{'s' if chosen > 1 else ''} chosen on the board." if chosen else ""
        return (
            f"The same release ({revision_label(self.board.revision)}), its Tasks and scoring rules; {rules}."
            f"{jobs} Only common Tasks count: those where both have a valid attempt."
        )

    def _options(self, chosen: Sequence[Entry]) -> tuple[Option, ...]:
        return tuple(
            Option(
                entry_key(entry),
                f"{entry.place} {self.labels[entry.configuration.pk]}",
                entry in chosen,
            )
            for entry in self.board.entries
        )

    def _page_href(self, entries: Sequence[Entry], page: int) -> str:
        a, *others = map(entry_key, entries)
        return compare_href(self.board, a, others, page)


def adjusted_ps(compared: Sequence[Comparison]) -> list[float | None]:
    """Of each comparison that has a test, p by Holm's method; None where there is but one comparison."""
    if len(compared) == 1:
        return [None]
    by_order = iter(holm([found.weighted.test.p for found in compared if found.weighted]))
    return [next(by_order) if found.weighted else None for found in compared]
