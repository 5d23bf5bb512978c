"""A small release, made up: two Tasks, one category, one track, one result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from benchmarks.domain.types import Attempt, Category, Scoring, Track
from hub.domain.facts import AgentFacts, ReleaseFacts, ResultFacts, TaskFacts
from hub.domain.manifest import (
    Disclosure,
    ManifestAbout,
    ManifestPublication,
    ManifestPublisher,
    ManifestRequirements,
    ManifestVerifier,
)

AT = datetime(2026, 11, 30, 18, tzinfo=UTC)
LATER = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
ADA = ManifestPublisher("acc_1", "Ada")
AGENTS_TRACK = Track(id="open", name="Open", kind="agents")
MODELS_TRACK = Track(id="models", name="Models", kind="models", instructions="none", temperature=0.0)


def digest(text: str) -> str:
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def task(name: str, **more: Any) -> TaskFacts:
    return TaskFacts(
        name=name,
        version="1.0.0",
        content_hash=digest(f"task {name}"),
        requirements=ManifestRequirements("desk", tools=("look", "answer"), max_turns=8),
        verifiers=(ManifestVerifier("check", "deterministic"),),
        **more,
    )


def agent(label: str = "bot", **more: Any) -> AgentFacts:
    return AgentFacts(
        content_hash=digest(f"agent {label}"), label=label, **{"model": f"maker/{label}-1", **more}
    )


def attempts(
    scores: Sequence[float | None], statuses: Sequence[str] = (), prefix: str = "trl"
) -> list[Attempt]:
    """One attempt of each Task, a then b; one without a score hit a limit or is as `statuses` says."""
    return [
        Attempt(
            name,
            1,
            statuses[at] if statuses else "succeeded" if score is not None else "failed",
            score=None if statuses and statuses[at] != "succeeded" else score,
            stop_reason=None if score is not None else "max_turns",
            cost_usd=0.25,
            latency_seconds=3,
            trial_id=f"{prefix}_{name}",
        )
        for at, (name, score) in enumerate(zip("ab", scores, strict=False))
    ]


def facts(
    result_id: str = "res_1",
    scores: Sequence[float | None] = (1.0, 0.25),
    statuses: Sequence[str] = (),
    **more: Any,
) -> ResultFacts:
    values = {
        "track": "open@1.0.0",
        "agent": agent(),
        "provenance": "plural_executed",
        "submitted_by": ADA,
        "jobs": ["job_1"],
        "attempts": attempts(scores, statuses),
        "evaluated_from": AT,
        "evaluated_to": AT,
    }
    return ResultFacts(id=result_id, **{**values, **more})


MADE: dict[str, Any] = {
    "publication": ManifestPublication("pub_1", "desk", "Desk", "/hub/ada/desk"),
    "publisher": ADA,
    "release": ReleaseFacts(
        id="rev_1",
        benchmark_id="ben_1",
        version="1.0.0",
        content_hash=digest("release"),
        tasks=[task("a"), task("b")],
        scoring=Scoring(task_weights={"b": 3.0}),
        categories=[Category("first", "First", tasks=("a",))],
        tracks=[AGENTS_TRACK, MODELS_TRACK],
    ),
    "results": [facts()],
    "about": ManifestAbout(purpose="Tells who can work a desk."),
    "disclosure": Disclosure(),
    "published_at": AT,
}
