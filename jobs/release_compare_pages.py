"""What the comparison of two releases shows. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import Choice, IntervalBar, Option
from benchmarks.diff_pages import DiffPart
from benchmarks.pages import Crumb, Figure
from jobs.compare_pages import MissingTasks


@dataclass(frozen=True, slots=True)
class ReleaseScore:
    """Of one Agent on the Tasks that compare. `remark` says where it isn't ranked there, or did not run."""

    score: Figure
    interval: IntervalBar
    coverage: Figure
    remark: str


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """One Agent configuration on both releases."""

    key: str
    agent: str
    agent_href: str
    model: str
    harness: str
    old: ReleaseScore
    new: ReleaseScore
    difference: Figure
    """Newer minus older."""
    bar: IntervalBar
    p: Figure
    verdict: str


@dataclass(frozen=True, slots=True)
class ScoresPart:
    """Scores on the Tasks that compare, on one track."""

    track: str
    words: str
    """What is the same for all these scores."""
    rows: tuple[ReleaseRow, ...]
    unit: str
    scale: str
    """Half the width of the scale around zero, '' where nothing is drawn."""
    adjusted: str
    """How p was adjusted for several comparisons, '' for one."""
    agents_words: str
    """E.g. "Agents 1 to 20 of 23", '' where all are shown."""
    agents_previous: str
    agents_next: str


@dataclass(frozen=True, slots=True)
class CompareReleasesPage:
    crumbs: tuple[Crumb, ...]
    name: str
    title: str
    action: str
    old_options: tuple[Option, ...]
    new_options: tuple[Option, ...]
    old_label: str
    new_label: str
    old_href: str
    """Its leaderboard, and the newer one's."""
    new_href: str
    swap_href: str
    """The same the other way round."""
    is_same: bool
    """Whether both are one revision: then nothing is compared."""
    reasons: tuple[str, ...]
    """Why no scores compare; empty where some do."""
    tasks: tuple[Figure, ...]
    """Tasks that compare."""
    more_tasks: int
    tasks_words: str
    excluded: tuple[MissingTasks, ...]
    tracks: tuple[Choice, ...]
    scores: ScoresPart | None
    diff: DiffPart | None
