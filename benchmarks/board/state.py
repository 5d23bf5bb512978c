"""The state of a leaderboard as it stands in its address."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self
from urllib.parse import urlencode

from django.http import QueryDict

from plural_site import formats

VIEWS = ("", "categories")
AXES = ("", "latency")
SCALES = ("", "linear")
MOST_JOBS = 200
LIMITING = ("q", "model", "harness", "min", "cost", "ranked")
"""Parameters that leave entries out, whatever Jobs count."""


@dataclass(frozen=True, slots=True)
class BoardState:
    """Everything a reader can choose on a board. '' and () mean the default, which the address leaves out.

    `min` and `floor` are in the units that the score is shown in, `cost` in USD per attempt, `tolerance` in
    per cent. `x`, `scale` and `category` are the chart's. Names are those of the address's parameters.
    """

    track: str = ""
    view: str = ""
    sort: str = ""
    job: tuple[str, ...] = ()
    q: str = ""
    model: str = ""
    harness: str = ""
    min: str = ""
    cost: str = ""
    ranked: str = ""
    hide: tuple[str, ...] = ()
    x: str = ""
    scale: str = ""
    category: str = ""
    floor: str = ""
    tolerance: str = ""

    @classmethod
    def parse(cls, query: QueryDict) -> Self:
        """Rubbish means the default. Texts are cleaned as on the pages; compare names cleaned, too."""
        values: dict[str, Any] = {}
        for field in fields(cls):
            given = [formats.clean_text(text.replace("\0", "")).strip() for text in query.getlist(field.name)]
            given = [text for text in given if text]
            if given:
                several = isinstance(field.default, tuple)
                values[field.name] = tuple(dict.fromkeys(given))[:MOST_JOBS] if several else given[-1]
        state = cls(**values)
        tolerance = number(state.tolerance)
        return replace(
            state,
            view=state.view if state.view in VIEWS else "",
            min=state.min if number(state.min) is not None else "",
            cost=state.cost if number(state.cost) is not None else "",
            ranked="1" if state.ranked == "1" else "",
            x=state.x if state.x in AXES else "",
            scale=state.scale if state.scale in SCALES else "",
            floor=state.floor if number(state.floor) is not None else "",
            tolerance=state.tolerance if tolerance is not None and tolerance >= 0 else "",
        )

    def query(self, **changes: Any) -> str:
        """The query of an address with this state, without "?"; '' for the default."""
        state = replace(self, **changes)
        return urlencode([(name, text) for name, values in state._lists().items() for text in values])

    def hidden(self, *own: str) -> tuple[tuple[str, str], ...]:
        """Fields that a form must carry along, without those that are its own."""
        return tuple(
            (name, value) for name, values in self._lists().items() if name not in own for value in values
        )

    def _lists(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, Sequence[str]] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            found[field.name] = value if isinstance(value, tuple) else [value] if value else []
        return found


def number(text: str) -> float | None:
    """A finite number as a reader may write it, with a point or a comma; None for anything else."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def joined(path: str, query: str, **more: str) -> str:
    """An address from its path, a query such as that of a state, and further parameters."""
    query = "&".join(filter(None, (query, urlencode(more))))
    return f"{path}?{query}" if query else path
