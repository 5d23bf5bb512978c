"""Columns of the leaderboard and the order that a reader asks for. Sorting never changes a rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from benchmarks.board.neighbours import RANGE, has_ranges
from benchmarks.board.parts import Column
from benchmarks.board.types import Board, Entry
from benchmarks.board.words import INTERVAL_WORDS, threshold_words
from plural_site import formats

SortValue = float | str | None
E = TypeVar("E", bound=Entry)
ALWAYS = ("rank", "agent", "score")
"""Columns that can't be hidden."""
PROVENANCE = "provenance"
PROVENANCE_WORDS = "Who ran it and how that was checked; what each label means stands below the board"
RANGE_WORDS = (
    "Ranks that the entry may have: paired sign-flip tests of all pairs of ranked entries at the 5 % level, "
    "adjusted by Holm's method"
)


@dataclass(frozen=True, slots=True)
class Sort:
    key: str
    descending: bool

    @classmethod
    def parse(cls, text: str) -> Sort:
        return cls(text.removeprefix("-"), text.startswith("-"))


@dataclass(frozen=True, slots=True)
class Sorter:
    """A column that can be sorted by; `first` is the direction of the first click."""

    label: str
    value: Callable[[Entry], SortValue]
    unit: str = ""
    title: str = ""
    numeric: bool = True
    minor: bool = True
    first: str = "descending"


class Columns:
    """The columns of a board's view and its order."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.low, self.high = board.scoring.score_range
        self.sorters = {key: sorter for key, sorter in self._sorters().items() if key not in board.lacks}
        self.left_out = (
            *(key for key in board.state.hide if key not in ALWAYS),
            *sorted(board.lacks),
            *(() if has_ranges(board) else (RANGE,)),
        )
        """Keys of columns that rows leave out as the heads do."""
        sort = Sort.parse(board.state.sort)
        self.sort = sort if sort.key in self.sorters else Sort("rank", descending=False)

    def ordered(self, entries: Sequence[E]) -> list[E]:
        """Entries in the chosen order, unknown values last in both directions."""
        value = self.sorters[self.sort.key].value
        known = [entry for entry in entries if value(entry) is not None]
        unknown = [entry for entry in entries if value(entry) is None]
        known.sort(key=lambda entry: cast("Any", value(entry)), reverse=self.sort.descending)
        return known + unknown

    def caption(self) -> str:
        label = self.sorters[self.sort.key].label
        if self.sort.key == "rank":
            order = "Best score first" if not self.sort.descending else "Lowest rank first"
        else:
            order = (
                f"By {label[0].lower() + label[1:]}, {'highest' if self.sort.descending else 'lowest'} first"
            )
        return f"{order}; unknown values last. Rank is always by score; equal scores share a rank."

    def heads(self) -> list[Column]:
        columns = []
        for key, sorter in self.sorters.items():
            if key in self.left_out:
                continue
            current = key == self.sort.key
            first_descending = sorter.first == "descending"
            descending = not self.sort.descending if current else first_descending
            columns.append(
                Column(
                    key=key,
                    label=sorter.label,
                    unit=sorter.unit,
                    title=sorter.title,
                    numeric=sorter.numeric,
                    href=self.board.href(
                        sort=f"{'-' if descending else ''}{key}"
                        if (key, descending) != ("rank", False)
                        else ""
                    ),
                    sort=("descending" if self.sort.descending else "ascending") if current else "",
                    minor=sorter.minor,
                )
            )
            if key == "score":
                columns.append(Column("interval", "95 % interval", title=INTERVAL_WORDS, numeric=False))
                if RANGE not in self.left_out:
                    columns.append(Column(RANGE, "Rank range", title=RANGE_WORDS, minor=True))
        if PROVENANCE not in self.left_out and not self.board.state.view:
            columns.append(
                Column(PROVENANCE, "Provenance", title=PROVENANCE_WORDS, numeric=False, minor=True)
            )
        return columns

    def hideable(self) -> dict[str, str]:
        """Labels of the columns that can be left out, by key."""
        found = {RANGE: "Rank range"} if has_ranges(self.board) else {}
        found |= {key: sorter.label for key, sorter in self.sorters.items() if key not in ALWAYS}
        if not self.board.state.view and PROVENANCE not in self.board.lacks:
            found[PROVENANCE] = "Provenance"
        return found

    def _sorters(self) -> dict[str, Sorter]:
        unit = formats.score_unit(self.low, self.high)
        sorters = {
            "rank": Sorter("Rank", lambda e: e.rank, first="ascending", minor=False),
            "agent": Sorter(
                "Agent", lambda e: e.names[0].casefold(), numeric=False, minor=False, first="ascending"
            ),
            "score": Sorter("Score", lambda e: e.overall.score, unit, minor=False),
        }
        if self.board.state.view:
            for position, category in enumerate(self.board.categories):
                sorters[f"category.{category.id}"] = Sorter(
                    formats.clean_text(category.name), _category_score(position), unit
                )
            return sorters
        return sorters | {
            "success": Sorter(
                "Success", lambda e: e.overall.success_rate, "%", threshold_words(self.board.scoring)
            ),
            "spread": Sorter(
                "Spread",
                lambda e: e.consistency.spread,
                unit,
                "Mean over Tasks of the standard deviation "
                "of the attempts at one Task, in the units of the score",
                first="ascending",
            ),
            "pass": Sorter(
                "pass^k",
                lambda e: e.consistency.pass_hat,
                "%",
                "Chance that k attempts at one Task all succeed, mean over Tasks. k is the track's number of "
                "attempts, less where a Task has fewer valid ones",
            ),
            "coverage": Sorter(
                "Coverage", lambda e: e.overall.coverage, "%", "Weight of Tasks with a valid attempt, of all"
            ),
            "cost": Sorter("Cost", lambda e: e.overall.cost, "$ per attempt", first="ascending"),
            "total": Sorter("Total", lambda e: e.overall.cost_total, "$", first="ascending"),
            "latency": Sorter("Time", lambda e: e.overall.latency, "s per attempt", first="ascending"),
            "attempts": Sorter("Attempts", lambda e: float(e.overall.attempts)),
            "jobs": Sorter("Jobs", lambda e: float(e.jobs)),
        }


def _category_score(position: int) -> Callable[[Entry], SortValue]:
    return lambda entry: entry.categories[position].score
