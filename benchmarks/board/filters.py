"""What a board leaves out, and the form that a reader says it with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from benchmarks.board.parts import BoardFilters, Option
from benchmarks.board.state import BoardState, number
from benchmarks.board.types import Board, Entry
from benchmarks.board.words import from_shown, plain_name
from benchmarks.domain.types import Scoring
from plural_site import formats

OWN = ("q", "model", "harness", "min", "cost", "ranked", "hide", "job")
"""Parameters that are fields of the form."""


def passes(entry: Entry, state: BoardState, scoring: Scoring) -> bool:
    """Whether the filters of a board leave the entry in."""
    least, most = number(state.min), number(state.cost)
    if state.q and not any(state.q.casefold() in plain_name(name).casefold() for name in entry.names):
        return False
    if state.model and plain_name(entry.model) != state.model:
        return False
    if state.harness and plain_name(entry.harness) != state.harness:
        return False
    if state.ranked and entry.rank is None:
        return False
    score, cost = entry.overall.score, entry.overall.cost
    if least is not None and (score is None or score < from_shown(least, scoring)):
        return False
    return most is None or (cost is not None and cost <= most)


def board_filters(board: Board, hideable: Mapping[str, str], jobs: Sequence[Option] = ()) -> BoardFilters:
    """The form. `hideable` are the labels of columns that can be left out, by key."""
    state = board.state
    models = Counter(plain_name(entry.model) for entry in board.entries)
    harnesses = Counter(plain_name(entry.harness) for entry in board.entries)
    words = filter_words(board)
    cleared: dict[str, object] = dict.fromkeys(("q", "model", "harness", "min", "cost", "ranked"), "")
    return BoardFilters(
        action=board.path,
        carried=(*state.hidden(*OWN), *(("hide", key) for key in state.hide if key not in hideable)),
        text=state.q,
        least=state.min,
        least_unit=formats.score_unit(*board.scoring.score_range),
        most=state.cost,
        ranked_only=state.ranked == "1",
        models=tuple(_options(models, state.model)),
        harnesses=tuple(_options(harnesses, state.harness)),
        columns=tuple(Option(key, label, key in state.hide) for key, label in hideable.items()),
        jobs=tuple(jobs),
        active=bool(words or state.hide),
        words=tuple(words),
        narrowing=sum(map(bool, (state.model, state.harness, state.min, state.cost, state.ranked))),
        clear_href=board.href(**cleared, hide=(), job=()),
    )


def filter_words(board: Board) -> list[str]:
    """What the board is limited to, in words."""
    state, unit = board.state, formats.score_unit(*board.scoring.score_range)
    words = {
        f"names with “{state.q}”": state.q,
        f"the model {state.model}": state.model,
        f"the harness {state.harness}": state.harness,
        f"scores of at least {state.min}{' ' + unit if unit else ''}": state.min,
        f"known costs of at most ${state.cost} per attempt": state.cost,
        "ranked entries": state.ranked,
        f"{len(state.job)} chosen {'Job' if len(state.job) == 1 else 'Jobs'}": state.job,
    }
    return [text for text, chosen in words.items() if chosen]


def _options(found: Counter[str], chosen: str) -> list[Option]:
    if chosen:
        found.setdefault(chosen, 0)
    return [Option(name, f"{name} ({count})", name == chosen) for name, count in sorted(found.items())]
