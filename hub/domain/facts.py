"""What `assemble` takes: plain values of a release, its Tasks and the results picked for publication.

Private material has no place here: no definitions, rubrics, expected answers, States, Harness settings or
prompts. Two fields can hold text that is public only when disclosed, `TaskFacts.instructions` and
`ResultFacts.findings`; `assemble` drops both where the disclosure doesn't cover them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from benchmarks.domain.types import Attempt, Category, JsonObject, Scoring, Track, TrackKind
from hub.domain.manifest import (
    ManifestPublisher,
    ManifestRequirements,
    ManifestVerifier,
    ModelUse,
    Provenance,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFacts:
    """A Task of the release under its display name, on which scoring joins.

    `description` and `applicability` are typed by the publisher for the manifest. `instructions` are the
    Task's own; leave them out where they are not disclosed.
    """

    name: str
    version: str
    content_hash: str
    requirements: ManifestRequirements
    verifiers: tuple[ManifestVerifier, ...] = ()
    description: str = ""
    applicability: JsonObject = field(default_factory=dict)
    instructions: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFacts:
    """A revision with its version and declared rules. `tasks` are in the release's order."""

    id: str
    benchmark_id: str
    version: str
    content_hash: str
    tasks: Sequence[TaskFacts]
    scoring: Scoring
    categories: Sequence[Category] = ()
    tracks: Sequence[Track] = ()
    default_view: TrackKind = "agents"
    forked_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFacts:
    """An Agent configuration. `harness` is None for the built-in loop.

    `instructions_digest` is None where it has no instructions (white space only is none).
    """

    content_hash: str
    label: str
    model: str
    provider: str | None = None
    fallback_models: tuple[str, ...] = ()
    harness: str | None = None
    harness_version: str | None = None
    instructions_digest: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFacts:
    """One configuration on one track (`id@version`), from exactly the Jobs in `jobs`.

    `attempts` are the Trials of those Jobs, each once, in any order. `findings` are what Verifiers found,
    by Trial id. `blocking_issues` are reasons against ranking beyond those that the configuration, the
    models used and the attempts show by themselves. `supersedes` is the published result that this one
    corrects, for the reason in `reason`.
    """

    id: str
    track: str
    agent: AgentFacts
    provenance: Provenance
    submitted_by: ManifestPublisher
    jobs: Sequence[str]
    attempts: Sequence[Attempt]
    models_used: Sequence[ModelUse] = ()
    evaluated_from: datetime | None = None
    evaluated_to: datetime | None = None
    blocking_issues: Sequence[str] = ()
    findings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    supersedes: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StatusChange:
    """Withdraws a published result, or accepts it again. A withdrawal needs a reason."""

    result: str
    withdrawn: bool
    reason: str = ""
