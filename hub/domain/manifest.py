"""The manifest: everything that is public about one Benchmark release, as plain values.

Field names, defaults and order of meaning are those of `plural.benchmark-publication/1`. Scores are in the
units of `scoring.score_range`, shares from 0 to 1, costs USD, durations seconds, times ISO 8601 in UTC.
Nothing here holds private material unless the publisher disclosed it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.domain.types import JsonObject, Outcome, Scoring, Track, TrackKind, Uncertainty

MANIFEST_SCHEMA: Literal["plural.benchmark-publication/1"] = "plural.benchmark-publication/1"
PUBLIC_ROUTING_FIELDS = (
    "publication, publisher, release, track, configuration, and result identifiers",
    "Task names, descriptions, categories, applicability, and requirements",
    "score semantics: range, success threshold, weights, and Verifier names and kinds",
    "per-Task and per-category scores, coverage, sample counts, and uncertainty",
    "measured cost and latency with their units and denominators",
    "provenance, evaluation dates, lineage, license, and correction status",
)
PRIVATE_EVALUATION_MATERIAL = (
    "Task initial State and reset options, which can hold the answer",
    "Verifier definitions, rubrics, and expected outputs",
    "Verifier findings, unless the publisher disclosed them",
    "Task instructions, unless the publisher disclosed them",
    "trace contents, unless the publisher disclosed them",
    "resource contents, secrets, and API keys",
)
COST_UNIT = "USD per attempt"
COST_LOWER_BOUND = "USD per attempt (lower bound)"
"""Where at least one attempt's cost is known in part only."""
LATENCY_UNIT = "seconds per attempt"

Provenance = Literal["plural_executed", "independently_reproduced", "self_reported", "legacy"]
ResultStatus = Literal["accepted", "withdrawn", "superseded"]
PublicationStatus = Literal["published", "withdrawn"]
ConfigurationKind = Literal["model", "system"]


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What the publisher chose to make public. `traces` is in the schema and always False here."""

    task_instructions: bool = False
    verifier_findings: bool = False
    traces: bool = False


@dataclass(frozen=True, slots=True)
class ManifestPublication:
    """Identity of the publication across releases. `path` is its address on the site."""

    id: str
    slug: str
    title: str
    path: str


@dataclass(frozen=True, slots=True)
class ManifestPublisher:
    account_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ManifestRelease:
    """The revision that the manifest describes.

    `forked_from` is a reference of the release that the Benchmark derives from, `supersedes` the reference
    of the publication's manifest of another release, the one before.
    """

    id: str
    benchmark_id: str
    version: str
    content_hash: str
    published_at: str
    forked_from: str | None = None
    supersedes: str | None = None


@dataclass(frozen=True, slots=True)
class ManifestAbout:
    description: str = ""
    purpose: str = ""
    success: str = ""
    limitations: tuple[str, ...] = ()
    license: str = ""


@dataclass(frozen=True, slots=True)
class ManifestCategory:
    """`tasks` are Task ids."""

    id: str
    name: str
    description: str = ""
    taxonomy: str | None = None
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ManifestRequirements:
    """What running a Task needs. `tools` are names of actions."""

    environment: str
    runtime_provider: str | None = None
    network: str | None = None
    tools: tuple[str, ...] = ()
    max_turns: int | None = None
    max_seconds: float | None = None
    max_cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ManifestVerifier:
    """A Verifier's name and kind, never its definition."""

    name: str
    kind: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestTask:
    """`id` is the content hash. `instructions` only where they are disclosed."""

    id: str
    name: str
    version: str
    description: str = ""
    categories: tuple[str, ...] = ()
    weight: float = 1.0
    applicability: JsonObject = field(default_factory=dict)
    requirements: ManifestRequirements
    verifiers: tuple[ManifestVerifier, ...] = ()
    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A model that attempts report calling. `calls` is None where nobody counted."""

    model: str
    provider: str | None = None
    calls: int | None = None


@dataclass(frozen=True, slots=True)
class ManifestConfiguration:
    """`id` is the content hash of the Agent, `kind` `system` whenever more than one model may answer.

    `harness` is None for the built-in loop. `settings` holds `temperature` and `max_tokens` where they are
    set and nothing else: the settings of a Harness can hold an answer.
    """

    id: str
    label: str
    group: str
    kind: ConfigurationKind
    model: str
    provider: str | None = None
    fallback_models: tuple[str, ...] = ()
    models_used: tuple[ModelUse, ...] = ()
    harness: str | None = None
    harness_version: str | None = None
    instructions_digest: str | None = None
    settings: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredMean:
    """Mean over the `measured` of `attempts` that reported one."""

    value: float | None = None
    unit: str
    measured: int = 0
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class ManifestTaskResult:
    task_id: str
    score: float | None = None
    valid: int = 0
    attempts: int = 0
    successes: int = 0
    success_rate: float | None = None
    agent_failures: int = 0
    infrastructure_errors: int = 0


@dataclass(frozen=True, slots=True)
class ManifestCategoryResult:
    id: str
    score: float | None = None
    coverage: float = 0.0
    tasks_covered: int = 0
    tasks_total: int = 0


@dataclass(frozen=True, slots=True)
class ManifestExample:
    """An attempt that shows a success or a failure. `findings` only where they are disclosed."""

    task_id: str
    attempt: int
    outcome: Outcome
    score: float | None = None
    stop_reason: str | None = None
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestReproducibility:
    """What somebody needs to run a result again on the same terms. `evaluation_ids` are Jobs."""

    evaluation_ids: tuple[str, ...] = ()
    release_content_hash: str
    track_rules_hash: str
    configuration_hash: str
    task_hashes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestResult:
    """One configuration on one track, from the Jobs in `reproducibility.evaluation_ids`.

    `track` is `id@version`, `supersedes` the result that this one corrects.
    """

    id: str
    track: str
    configuration: str
    provenance: Provenance
    status: ResultStatus = "accepted"
    supersedes: str | None = None
    status_reason: str | None = None
    submitted_by: ManifestPublisher
    evaluated_from: str | None = None
    evaluated_to: str | None = None
    score: float | None = None
    uncertainty: Uncertainty = Uncertainty()
    coverage: float = 0.0
    complete_coverage: float = 0.0
    success_rate: float | None = None
    completion_rate: float | None = None
    cost: MeasuredMean
    latency: MeasuredMean
    outcomes: Mapping[str, int] = field(default_factory=dict)
    eligible: bool = False
    ineligible_reasons: tuple[str, ...] = ()
    tasks: tuple[ManifestTaskResult, ...] = ()
    categories: tuple[ManifestCategoryResult, ...] = ()
    examples: tuple[ManifestExample, ...] = ()
    reproducibility: ManifestReproducibility


@dataclass(frozen=True, slots=True)
class ManifestBoundary:
    """The line between what routing may rely on and private evaluation material, in words."""

    public_routing_fields: tuple[str, ...] = PUBLIC_ROUTING_FIELDS
    private_evaluation_material: tuple[str, ...] = PRIVATE_EVALUATION_MATERIAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    schema_version: Literal["plural.benchmark-publication/1"] = MANIFEST_SCHEMA
    publication: ManifestPublication
    publisher: ManifestPublisher
    release: ManifestRelease
    status: PublicationStatus = "published"
    about: ManifestAbout = ManifestAbout()
    scoring: Scoring
    default_view: TrackKind = "agents"
    categories: tuple[ManifestCategory, ...] = ()
    tasks: tuple[ManifestTask, ...]
    tracks: tuple[Track, ...] = ()
    configurations: tuple[ManifestConfiguration, ...] = ()
    results: tuple[ManifestResult, ...] = ()
    disclosure: Disclosure = Disclosure()
    boundary: ManifestBoundary = ManifestBoundary()
