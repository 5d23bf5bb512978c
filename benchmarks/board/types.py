"""What a board is drawn from, wherever its figures were read: tallies of Jobs, or a published manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from benchmarks.board.state import BoardState
from benchmarks.domain.types import Category, Consistency, Scoring


class Figures(Protocol):
    """An entry's figures on the whole release or on one Category. Costs in USD, latencies in seconds.

    `key` is '' for the whole, else the Category's id.
    """

    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def score(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def standard_error(self) -> float | None: ...
    @property
    def sample_size(self) -> int: ...
    @property
    def unavailable_reason(self) -> str: ...
    @property
    def success_rate(self) -> float | None: ...
    @property
    def successes(self) -> int: ...
    @property
    def valid(self) -> int: ...
    @property
    def coverage(self) -> float: ...
    @property
    def tasks_covered(self) -> int: ...
    @property
    def tasks_total(self) -> int: ...
    @property
    def cost(self) -> float | None: ...
    @property
    def cost_measured(self) -> int: ...
    @property
    def cost_attempts(self) -> int: ...
    @property
    def cost_total(self) -> float | None: ...
    @property
    def cost_partial(self) -> bool: ...
    @property
    def latency(self) -> float | None: ...
    @property
    def latency_measured(self) -> int: ...
    @property
    def latency_attempts(self) -> int: ...
    @property
    def attempts(self) -> int: ...
    @property
    def outcomes(self) -> Mapping[str, int]: ...
    @property
    def reasons(self) -> Sequence[str]: ...


class Entry(Protocol):
    """One Agent configuration on one release and track. `rank` is None where it isn't ranked."""

    @property
    def key(self) -> str:
        """Short content hash of the configuration: the entry's id in pages and addresses."""

    @property
    def names(self) -> Sequence[str]:
        """Every name it ran under; it calls itself by the first."""

    @property
    def model(self) -> str: ...
    @property
    def harness(self) -> str:
        """Name and version, "built-in loop" for none."""

    @property
    def rank(self) -> int | None: ...
    @property
    def place(self) -> str:
        """The rank as it is shown: "1", "2=" where others share it, or an en dash."""

    @property
    def overall(self) -> Figures: ...
    @property
    def categories(self) -> Sequence[Figures]: ...
    @property
    def jobs(self) -> int:
        """How many Jobs it is made of."""

    @property
    def planned(self) -> int:
        """Attempts that its Jobs planned."""

    @property
    def missing(self) -> int:
        """Planned attempts that left nothing."""

    @property
    def consistency(self) -> Consistency: ...


class Board(Protocol):
    """`entries` are all of them, `shown` those that the filters leave, both by rank."""

    @property
    def scoring(self) -> Scoring: ...
    @property
    def categories(self) -> Sequence[Category]:
        """Categories of the release; each entry has figures on each, in this order, where any has."""

    @property
    def task_count(self) -> int: ...
    @property
    def state(self) -> BoardState: ...
    @property
    def entries(self) -> Sequence[Entry]: ...
    @property
    def shown(self) -> Sequence[Entry]: ...
    @property
    def path(self) -> str: ...
    @property
    def lacks(self) -> frozenset[str]:
        """Keys of columns that it has no figures for."""

    @property
    def cost_scope(self) -> str:
        """'' where cost and time are known for each Category, else what they are shown of instead."""

    def href(self, **changes: Any) -> str:
        """Address of this board with some of its state changed."""

    def part_href(self, part: str, **more: str) -> str:
        """Address of something made from this board: an export, a chart."""
