"""Entries of a board as the rules of choosing see them, for the chart and for "Which one?"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchmarks.board.types import Board, Entry, Figures
from benchmarks.domain.choice import Candidate
from benchmarks.domain.types import Category, Measure, Uncertainty
from plural_site import formats


def candidates(board: Board, category: Category | None = None) -> list[Candidate]:
    """The entries shown, with their figures on the whole release or on one category alone.

    Keys are those of the rows' ids in the page. Entries that share a name carry the start of their key.
    """
    names = distinct_names(board.shown)
    return [
        _candidate(entry, name, _figures(entry, category))
        for entry, name in zip(board.shown, names, strict=True)
    ]


def distinct_names(entries: Sequence[Entry]) -> list[str]:
    """A name in one line for each, no two the same."""
    names = [" ".join(formats.clean_text(entry.names[0]).split()) for entry in entries]
    often = Counter(names)
    return [
        name if often[name] == 1 else f"{name} ({entry.key[:7]})"
        for entry, name in zip(entries, names, strict=True)
    ]


def listed(names: Sequence[str], most: int = 3) -> str:
    """E.g. "steady, quick, rambler and 2 more"."""
    first, more = list(names[:most]), len(names) - most
    if more > 0:
        first.append(f"{more} more")
    return first[0] if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]}"


def _figures(entry: Entry, category: Category | None) -> Figures:
    if category is None:
        return entry.overall
    return next(row for row in entry.categories if row.key == category.id)


def _candidate(entry: Entry, name: str, row: Figures) -> Candidate:
    return Candidate(
        key=entry.key,
        name=name,
        score=row.score,
        uncertainty=Uncertainty(row.low, row.high, row.standard_error, row.sample_size),
        cost=Measure(row.cost, row.cost_measured, row.cost_attempts, row.cost_total, row.cost_partial),
        latency=Measure(row.latency, row.latency_measured, row.latency_attempts),
        ranked=entry.rank is not None,
    )
