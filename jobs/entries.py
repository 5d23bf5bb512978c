"""Entries of a leaderboard, read from tallies: a few rows, whatever the number of attempts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from benchmarks.domain.scoring import competition_ranks
from benchmarks.models import Configuration, Revision
from jobs.models import Job, JobAgent, Tally


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
    def names(self) -> tuple[str, ...]:
        """Every name it ran under, the latest first: it calls itself by that."""
        return tuple(dict.fromkeys(agent.name for agent in self.agents))

    @property
    def missing(self) -> int:
        """Planned Trials that left nothing."""
        return max(self.overall.planned - self.overall.attempts, 0)


def load_entries(revision: Revision, track_ref: str, *, with_tasks: bool = False) -> list[Entry]:
    """The entries in order of rank; those without one after them, by name.

    Three queries, whatever the number of entries, Jobs and Trials.
    """
    scopes = [Tally.Scope.OVERALL, Tally.Scope.CATEGORY] + ([Tally.Scope.TASK] if with_tasks else [])
    by_scope: dict[str, dict[int, list[Tally]]] = defaultdict(lambda: defaultdict(list))
    rows = Tally.objects.board(revision, track_ref).filter(scope__in=scopes)
    for row in rows.select_related("configuration").order_by("configuration_id", "position"):
        by_scope[row.scope][row.configuration_id].append(row)
    agents: dict[int, list[JobAgent]] = defaultdict(list)
    found = JobAgent.objects.filter(
        job__revision=revision, job__track_ref=track_ref, job__state=Job.State.READY
    )
    for agent in found.select_related("job").order_by("-job__started_at", "-job__client_job_id", "position"):
        agents[agent.configuration_id].append(agent)
    overall = [rows[0] for rows in by_scope[Tally.Scope.OVERALL].values()]
    scores = [row.score if row.eligible else None for row in overall]
    ranks = competition_ranks(scores)
    entries = [
        Entry(
            configuration=row.configuration,
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
