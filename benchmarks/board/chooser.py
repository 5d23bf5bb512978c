"""\"Which one?\" on the board page: the Agent to take by the reader's floor, overall and per category."""

from __future__ import annotations

from benchmarks.board.candidates import candidates, listed
from benchmarks.board.parts import ChooserPart, ChooserPick
from benchmarks.board.state import number
from benchmarks.board.types import Board
from benchmarks.board.words import from_shown
from benchmarks.domain.choice import Candidate, Choice, Figures, choose
from benchmarks.domain.types import Category
from plural_site import formats

TOLERANCE = "5"
"""Per cent of the cheapest cost, as in `choose`."""
RUNNERS_UP = 3


def chooser_part(board: Board) -> ChooserPart:
    return _Chooser(board).part()


class _Chooser:
    def __init__(self, board: Board) -> None:
        self.board = board
        self.low, self.high = board.scoring.score_range
        self.unit = formats.score_unit(self.low, self.high)
        self.figures = Figures(score=self._score, cost=formats.money, latency=formats.seconds)
        self.tolerance = board.state.tolerance or TOLERANCE

    def part(self) -> ChooserPart:
        state, board = self.board.state, self.board
        floor = number(state.floor)
        example = self._example()
        overall, categories = None, []
        if floor is not None:
            overall = self._pick(floor, None)
            categories = [self._pick(floor, category) for category in board.categories]
        return ChooserPart(
            action=board.path,
            carried=state.hidden("floor", "tolerance"),
            floor=state.floor,
            tolerance=self.tolerance,
            unit=self.unit,
            asked="" if floor is None else self._asked(floor),
            overall=overall,
            categories=tuple(categories),
            differs=self._differs(overall, categories),
            note=board.cost_scope if categories else "",
            example=f"at least {self._score(example)}",
            example_href=board.href(floor=f"{self._shown(example):g}"),
            clear_href=board.href(floor="", tolerance=""),
        )

    def _pick(self, floor: float, category: Category | None) -> ChooserPick:
        points = candidates(self.board, category)
        choice = choose(
            points,
            floor=from_shown(floor, self.board.scoring),
            tolerance=(number(self.tolerance) or 0.0) / 100,
            figures=self.figures,
        )
        chosen = choice.chosen
        return ChooserPick(
            scope=formats.clean_text(category.name) if category else "Overall",
            name=chosen.name if chosen else "",
            href=f"#entry-{chosen.key}" if chosen else "",
            cost=formats.money(chosen.cost.value) if chosen else "",
            score=self._score(chosen.score) if chosen and chosen.score is not None else "",
            reasons=choice.reasons,
            doubts=choice.doubts,
            runners_up=tuple(self._runner(point) for point in choice.runners_up[:RUNNERS_UP]),
            more=max(len(choice.runners_up) - RUNNERS_UP, 0),
            dropped=self._dropped(choice),
        )

    def _runner(self, point: Candidate) -> str:
        score = self._score(point.score) if point.score is not None else formats.DASH
        return f"{point.name}: {formats.money(point.cost.value)}, {score}"

    @staticmethod
    def _dropped(choice: Choice) -> tuple[str, ...]:
        return tuple(f"{dropped.candidate.name}: {dropped.reason}" for dropped in choice.dropped)

    def _asked(self, floor: float) -> str:
        among = len(self.board.shown)
        who = f"the {among} entries shown" if among != 1 else "the 1 entry shown"
        return (
            f"Of {who}, at least {self._score(from_shown(floor, self.board.scoring))}; costs within "
            f"{self.tolerance} % of the cheapest count as the same."
        )

    @staticmethod
    def _differs(overall: ChooserPick | None, categories: list[ChooserPick]) -> str:
        if overall is None or not overall.name:
            return ""
        other = [pick.scope for pick in categories if pick.href != overall.href]
        return f"{overall.name} is not the choice on {listed(other, most=5)}." if other else ""

    def _example(self) -> float:
        """A floor that makes sense here: the pass mark if something ranked reaches it, else a round number
        that the best one does."""
        scores = [entry.overall.score for entry in self.board.shown if entry.rank is not None]
        best = max((score for score in scores if score is not None), default=None)
        mark = self.board.scoring.success_threshold
        if mark is not None and (best is None or best >= mark):
            return mark
        if best is None:
            return self.low + (self.high - self.low) / 2
        tenths = int((best - self.low) / (self.high - self.low) * 10)
        return self.low + (self.high - self.low) * tenths / 10

    def _shown(self, score: float) -> float:
        return score * 100 if self.unit else score

    def _score(self, score: float) -> str:
        text = formats.score_text(score, self.low, self.high)
        return f"{text}{formats.NO_BREAK_SPACE}{self.unit}" if self.unit else text
