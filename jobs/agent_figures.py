"""What all attempts of one Agent took and how they ended, over its Jobs. Bounded whatever their number.

Counts, means and ranks are found by the database; what comes back is a few hundred rows at most. From
MOST_ATTEMPTS on the latest so many are taken, and the page says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber

from benchmarks.domain.scoring import RAN
from benchmarks.models import Configuration
from jobs.domain.percentiles import Quantiles, quantiles, wanted_ranks
from jobs.models import JobAgent, Tally, Trial
from jobs.querysets import TrialQuerySet, counting

MOST_ATTEMPTS = 100_000
MOST_GROUPS = 500
_SCALE = 2.0**40
"""Amounts are divided by it before they are added up: their sum may be too large for a database.

A mean by the database itself won't do: PostgreSQL's also adds up squares.
"""

Ending = tuple[str, str, str]
"""Outcome, error code, stop reason."""


@dataclass(frozen=True, slots=True)
class Measured:
    """An amount per attempt: USD or seconds. `mean` and `quantiles` are None where nothing was measured."""

    count: int
    mean: float | None
    quantiles: Quantiles | None
    partial: bool = False
    """Some are lower bounds."""


@dataclass(frozen=True, slots=True)
class AgentFigures:
    total: int
    """Attempts of all counting Jobs, each Trial once."""
    taken: int
    """The latest of them, which the rest is about."""
    ran: int
    """Scored, or an agent failure: those that cost and time are measured over."""
    cost: Measured
    latency: Measured
    endings: Mapping[Ending, int] = field(default_factory=dict)
    models: Mapping[str, int] = field(default_factory=dict)
    """Attempts that report calling a model; one may call several."""
    silent: int = 0
    """Attempts that report none."""
    is_cut: bool = False
    """There are more kinds of endings than were read."""


def agent_figures(configuration: Configuration) -> AgentFigures:
    """Eight queries at most."""
    trials, held = _population(configuration)
    if held > MOST_ATTEMPTS:
        latest = trials.order_by("-pk").values_list("pk", flat=True)
        trials = trials.filter(pk__gte=latest[MOST_ATTEMPTS - 1])
    ran = trials.filter(outcome__in=RAN)
    sums = ran.aggregate(
        ran=Count("pk"),
        costs=Count("cost_usd"),
        cost=Sum(F("cost_usd") / _SCALE),
        partial=Count("pk", filter=Q(cost_partial=True, cost_usd__isnull=False)),
        times=Count("latency_seconds"),
        time=Sum(F("latency_seconds") / _SCALE),
    )
    endings: Counter[Ending] = Counter()
    models: Counter[str] = Counter()
    silent = 0
    groups = _groups(trials)
    for group in groups:
        endings[group["outcome"], group["error_code"], group["stop_reason"]] += group["n"]
        silent += 0 if group["models_used"] else group["n"]
        models.update(dict.fromkeys(map(str, group["models_used"]), group["n"]))
    return AgentFigures(
        total=held,
        taken=min(held, MOST_ATTEMPTS),
        ran=sums["ran"],
        cost=_measured(ran, "cost_usd", sums["costs"], sums["cost"], bool(sums["partial"])),
        latency=_measured(ran, "latency_seconds", sums["times"], sums["time"]),
        endings=dict(endings.most_common()),
        models=dict(models.most_common()),
        silent=silent,
        is_cut=len(groups) == MOST_GROUPS,
    )


def _population(configuration: Configuration) -> tuple[TrialQuerySet, int]:
    """Trials of counting Jobs at the Tasks of their source, each once, and how many they are.

    Tallies count each Trial once and the Jobs' Agents each copy: only where they differ are there copies,
    which take long to leave out.
    """
    trials = Trial.objects.filter(
        counting("job__"), job_agent__configuration=configuration, task_position__gt=Trial.UNPLANNED
    )
    own = JobAgent.objects.filter(counting("job__"), configuration=configuration)
    kept = F("recorded") - F("unplanned")
    held = own.aggregate(
        of_releases=Sum(kept, filter=Q(job__revision__isnull=False)),
        of_tasks=Sum(kept, filter=Q(job__revision__isnull=True)),
    )
    once = Tally.objects.filter(configuration=configuration, scope=Tally.Scope.OVERALL)
    counted = once.aggregate(n=Sum("attempts"))["n"] or 0
    if counted != (held["of_releases"] or 0):
        trials = trials.first_copies()
        return trials, trials.count()
    return trials, counted + (held["of_tasks"] or 0)


def _groups(trials: TrialQuerySet) -> list[dict[str, Any]]:
    """How many attempts ended alike and called the same models, the most frequent first."""
    alike = trials.order_by().values("outcome", "error_code", "stop_reason", "models_used")
    found: QuerySet[Any, Any] = alike.annotate(n=Count("pk"))
    return list(found.order_by("-n", "outcome", "error_code", "stop_reason")[:MOST_GROUPS])


def _measured(
    trials: TrialQuerySet, column: str, count: int, total: float | None, partial: bool = False
) -> Measured:
    if not count or total is None:
        return Measured(0, None, None)
    ranked = trials.filter(**{f"{column}__isnull": False}).annotate(
        rank=Window(RowNumber(), order_by=F(column).asc())
    )
    values = dict(ranked.filter(rank__in=wanted_ranks(count)).order_by().values_list("rank", column))
    return Measured(count, total / count * _SCALE, quantiles(count, values), partial)
