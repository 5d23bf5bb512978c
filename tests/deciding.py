"""A board to choose from: entries of every kind of cost, one that isn't ranked, two categories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from plural_site.accounts.models import Project
from tests.builders import (
    AgentSpec,
    BenchmarkSpec,
    Outcome,
    agents_named,
    category,
    failed,
    make_job,
    scoring,
    track,
)
from tests.importing import bring

BOARD = "/projects/triage/benchmarks/demo-bench@1.0.0"
CHART = f"{BOARD}/chart.json"
TASKS = ("a", "b", "c", "d", "e", "f")
SPEC = BenchmarkSpec(
    tasks=TASKS,
    categories=(category("early", "a", "b", "c"), category("late", "f")),
    tracks=(track("open"), track("empty")),
    scoring=scoring(success_threshold=0.75),
)
FIGURES = {
    # score on every Task but f, score on f, USD, seconds, calls without a cost
    "cheap": (0.5, 0.5, 0.01, 4.0, 0),
    "middle": (0.8, 0.2, 0.02, 3.0, 0),
    "quick": (0.8, 0.8, 0.0205, 1.0, 0),
    "dear": (1.0, 1.0, 0.5, 8.0, 0),
    "worse": (0.6, 0.6, 0.4, 2.0, 0),
    "bound": (0.9, 0.9, 0.001, 2.0, 1),
    "silent": (0.9, 0.9, None, None, 0),
    "partly": (0.55, 0.55, 0.03, 5.0, 0),
    "absent": (0.9, 0.9, 0.002, 2.0, 0),
}
"""cheap, quick and dear are the frontier by cost; bound's cost is a lower bound; absent left out a Task."""


def happened(agent: str, task: str, _attempt: int) -> Outcome | None:
    if agent == "absent" and task == "d":
        return None
    score, last, cost, seconds, missing = FIGURES[agent]
    if agent == "partly" and task in "ab":
        cost = None
    if agent == "middle" and task == "f":
        cost = 0.05
    return Outcome(
        score=last if task == "f" else score,
        cost_usd=cost,
        latency_seconds=seconds,
        calls_missing_cost=missing,
    )


@pytest.fixture(name="recorded")
def some_recorded(project: Project, tmp_path: Path) -> None:
    agents = agents_named(FIGURES)
    make_job(tmp_path, benchmark=SPEC, agents=agents, outcomes=happened, track_id="open", key="1")
    make_job(
        tmp_path,
        benchmark=SPEC,
        agents=[AgentSpec(name="idle", model="sim/idle")],
        outcomes=lambda *_: failed("provider_unavailable"),
        track_id="open",
        key="2",
    )
    bring(project, tmp_path)


def page_of(visitor: Client, **query: Any) -> Any:
    response = visitor.get(BOARD, query)
    assert response.status_code == 200
    return response.context["page"]
