"""Entries of a leaderboard, read from tallies: a few rows, whatever the number of attempts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.board.words import short_hash
from benchmarks.domain.scoring import competition_ranks
from benchmarks.domain.types import Consistency
from benchmarks.models import Configuration, Revision
from jobs import tallies
from jobs.models import JobAgent, Tally
from jobs.querysets import counting
from plural_site import formats


@dataclass(frozen=True, slots=True)
class Entry:
    """One Agent configuration on one release and track. `rank` is None where it isn't ranked."""

    configuration: Configuration
    rank: int | None
    shares_rank: bool
    overall: Tally
    categories: tuple[Tally, ...]
    tasks: tuple[Tally, ...]
    agents: tuple[JobAgent, ...]
    """Its appearances in Jobs, latest start first; each with its `job`."""

    @property
    def key(self) -> str:
        return short_hash(self.configuration.content_hash)

    @property
    def model(self) -> str:
        return self.configuration.model

    @property
    def names(self) -> tuple[str, ...]:
        """Every name it ran under, the latest first: it calls itself by that."""
        return tuple(dict.fromkeys(agent.name for agent in self.agents))

    @property
    def harness(self) -> str:
        """Name and version, "built-in loop" for none."""
        latest = self.agents[0]
        return f"{latest.harness} {latest.harness_version}".strip() or "built-in loop"

    @property
    def place(self) -> str:
        """The rank as it is shown: "1", "2=" where others share it, or an en dash."""
        return formats.DASH if self.rank is None else f"{self.rank}{'=' if self.shares_rank else ''}"

    @property
    def jobs(self) -> int:
        return len({agent.job_id for agent in self.agents})

    @property
    def planned(self) -> int:
        return self.overall.planned

    @property
    def consistency(self) -> Consistency:
        return Consistency(**self.overall.detail["consistency"])

    @property
    def missing(self) -> int:
        """Planned Trials that left nothing. One that another Job holds too isn't missing there."""
        recorded: int = self.overall.detail.get("recorded", self.overall.attempts)
        return max(self.overall.planned - recorded, 0)


def load_entries(
    revision: Revision, track_ref: str, *, with_tasks: bool = False, jobs: Sequence[str] = ()
) -> list[Entry]:
    """The entries in order of rank; those without one after them, by name.

    `jobs` limits them to these Jobs (by the client's id): their figures are then computed from the Trials,
    else read from tallies in three queries, whatever the number of entries, Jobs and Trials.
    """
    by_scope: dict[str, dict[int, list[Tally]]] = defaultdict(lambda: defaultdict(list))
    for row in _tallies(revision, track_ref, with_tasks, jobs):
        by_scope[row.scope][row.configuration_id].append(row)
    agents = _agents(revision, track_ref, jobs)
    overall = [rows[0] for rows in by_scope[Tally.Scope.OVERALL].values()]
    scores = [row.score if row.eligible else None for row in overall]
    ranks = competition_ranks(scores)
    entries = [
        Entry(
            configuration=agents[row.configuration_id][0].configuration,
            rank=rank,
            shares_rank=rank is not None and ranks.count(rank) > 1,
            overall=row,
            categories=tuple(by_scope[Tally.Scope.CATEGORY][row.configuration_id]),
            tasks=tuple(by_scope[Tally.Scope.TASK][row.configuration_id]),
            agents=tuple(agents[row.configuration_id]),
        )
        for row, rank in zip(overall, ranks, strict=True)
    ]
    return sorted(
        entries, key=lambda entry: (entry.rank is None, entry.rank or 0, entry.names, entry.configuration.pk)
    )


def _tallies(revision: Revision, track_ref: str, with_tasks: bool, jobs: Sequence[str]) -> Iterable[Tally]:
    if jobs:
        return tallies.compute(revision, track_ref, jobs=jobs)
    scopes = [Tally.Scope.OVERALL, Tally.Scope.CATEGORY] + ([Tally.Scope.TASK] if with_tasks else [])
    rows = Tally.objects.board(revision, track_ref).filter(scope__in=scopes)
    return rows.order_by("configuration_id", "position")


def _agents(revision: Revision, track_ref: str, jobs: Sequence[str]) -> dict[int, list[JobAgent]]:
    found = JobAgent.objects.filter(counting("job__"), job__revision=revision, job__track_ref=track_ref)
    if jobs:
        found = found.filter(job__client_job_id__in=jobs)
    agents: dict[int, list[JobAgent]] = defaultdict(list)
    # A definition and what a Job keeps of its files may be large, and no figure needs them.
    found = found.select_related("job", "configuration").defer(
        "figures", "job__aggregates", "job__notes", "job__files", "configuration__definition"
    )
    for agent in found.order_by("-job__started_at", "-job_id", "position"):
        agents[agent.configuration_id].append(agent)
    return agents
