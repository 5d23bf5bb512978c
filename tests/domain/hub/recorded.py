"""Facts for manifests from the recorded Jobs of the demo, read without a database."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.domain.definitions import BenchmarkRules, rules_from_content
from benchmarks.domain.types import Attempt, Definition
from hub.domain.extracts import agent_facts, requirements, verifier
from hub.domain.facts import ReleaseFacts, ResultFacts, TaskFacts
from hub.domain.manifest import (
    Disclosure,
    ManifestAbout,
    ManifestPublication,
    ManifestPublisher,
    ModelUse,
)
from jobs.domain.parsed import JobHeader, ParsedAgent, ParsedTrial
from tests.readers.conftest import read_all

ROOT = Path(__file__).parents[3]
ARCHIVE = ROOT / "jobs" / "demo" / "support-triage.tar.gz"
GROUPS: list[dict[str, Any]] = json.loads(
    (ROOT / "tests" / "data" / "plural" / "expected-groups.json").read_text("utf-8")
)["groups"]
PUBLISHER = ManifestPublisher("acc_desk", "Desk team")
PUBLICATION = ManifestPublication(
    "pub_triage", "support-triage", "Support triage", "/hub/desk/support-triage"
)
NOTHING_DISCLOSED = Disclosure()
ALL_DISCLOSED = Disclosure(task_instructions=True, verifier_findings=True)


@dataclass
class Group:
    """One configuration on one release and track."""

    agent: ParsedAgent
    headers: list[JobHeader] = field(default_factory=list)
    trials: list[ParsedTrial] = field(default_factory=list)


@dataclass(frozen=True)
class Recorded:
    benchmark: Definition
    header: JobHeader
    rules: BenchmarkRules
    groups: dict[tuple[str, str], Group]
    """By track reference and configuration."""

    @property
    def definitions(self) -> dict[str, Definition]:
        return {each.content_hash: each for each in self.header.definitions}


@cache
def recorded() -> dict[str, Recorded]:
    """By version."""
    with TemporaryDirectory() as scratch:
        jobs = read_all(ARCHIVE, Path(scratch))
    found: dict[str, Recorded] = {}
    for header, trials in jobs:
        if header.benchmark is None:
            continue
        release = found.setdefault(
            header.benchmark.version,
            Recorded(header.benchmark, header, rules_from_content(header.benchmark.content), {}),
        )
        track = next((t.reference for t in release.rules.tracks if t.id == header.track_id), "")
        by_position: dict[int, list[ParsedTrial]] = defaultdict(list)
        for trial in trials:
            by_position[trial.agent_position].append(trial)
        for agent in header.agents:
            key = (track, agent.definition.content_hash)
            group = release.groups.setdefault(key, Group(agent))
            group.headers.append(header)
            group.trials += by_position[agent.position]
    return found


def release_facts(version: str, *, instructions: bool = False, texts: bool = False) -> ReleaseFacts:
    release = recorded()[version]
    definitions, rules = release.definitions, release.rules
    return ReleaseFacts(
        id=f"rev_{version}",
        benchmark_id="ben_triage",
        version=version,
        content_hash=release.benchmark.content_hash,
        tasks=[
            task_facts(definitions, task.content_hash, task.name, instructions=instructions, texts=texts)
            for task in release.header.tasks
        ],
        scoring=rules.scoring,
        categories=rules.categories,
        tracks=rules.tracks,
        default_view=rules.default_view,
    )


def task_facts(
    definitions: dict[str, Definition], digest: str, name: str, *, instructions: bool, texts: bool
) -> TaskFacts:
    task = definitions[digest]
    environment, *verifiers = (definitions[each] for each in task.dependencies)
    return TaskFacts(
        name=name,
        version=task.version,
        content_hash=digest,
        requirements=requirements(environment.name, environment.content),
        verifiers=tuple(verifier(each.name, each.content) for each in verifiers),
        description=f"Work one ticket about {name}." if texts else "",
        applicability={"language": "en"} if texts else {},
        instructions=task.content["instructions"] if instructions else None,
    )


def result_facts(version: str, track: str, configuration: str, result_id: str = "") -> ResultFacts:
    group = recorded()[version].groups[track, configuration]
    agent = group.agent
    used = sorted({model for trial in group.trials for model in trial.models_used})
    times = [moment for trial in group.trials for moment in (trial.started_at, trial.completed_at) if moment]
    return ResultFacts(
        id=result_id or f"res_{agent.name}_{track}",
        track=track,
        agent=agent_facts(
            configuration,
            agent.definition.content,
            label=agent.name,
            harness=agent.harness,
            harness_version=agent.harness_version,
        ),
        provenance="self_reported",
        submitted_by=PUBLISHER,
        jobs=[header.job_id for header in group.headers],
        attempts=[attempt(trial) for trial in group.trials],
        models_used=[ModelUse(model) for model in used],
        evaluated_from=min(times, default=None),
        evaluated_to=max(times, default=None),
        findings={trial.trial_id: findings(trial) for trial in group.trials},
    )


def attempt(trial: ParsedTrial) -> Attempt:
    return Attempt(
        trial.task_name,
        trial.attempt,
        trial.status,
        trial.score,
        trial.error_code or None,
        trial.stop_reason or None,
        trial.cost_usd,
        trial.latency_seconds,
        trial.trial_id,
        trial.cost_partial,
    )


def findings(trial: ParsedTrial) -> tuple[str, ...]:
    return tuple(
        f"{result.verifier}: {result.feedback}"
        for execution in trial.executions
        if execution.is_final
        for result in execution.verifier_results
    )


def all_results(version: str) -> list[ResultFacts]:
    """Of every configuration on every track, without those that ran on none."""
    return [
        result_facts(version, track, configuration)
        for track, configuration in recorded()[version].groups
        if track
    ]


def inputs(version: str = "1.0.0", results: Sequence[ResultFacts] | None = None) -> dict[str, Any]:
    """Arguments for `assemble`, with everything undisclosed."""
    rules = recorded()[version].rules
    return {
        "publication": PUBLICATION,
        "publisher": PUBLISHER,
        "release": release_facts(version),
        "results": all_results(version) if results is None else results,
        "about": ManifestAbout(
            description=rules.description,
            purpose=rules.purpose,
            success=rules.success,
            limitations=rules.limitations,
            license=rules.license,
        ),
        "disclosure": NOTHING_DISCLOSED,
        "published_at": datetime.fromisoformat("2026-11-30T18:00:00+00:00"),
    }
