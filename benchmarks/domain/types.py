"""Plain values that the domain packages share. No database, no Django."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

TrackKind = Literal["models", "agents"]
ResourceKind = Literal["environment", "verifier", "task", "harness", "agent", "benchmark"]
JsonObject = Mapping[str, Any]
Outcome = Literal["pending", "scored", "cancelled", "agent_failure", "infrastructure_error"]


@dataclass(frozen=True, slots=True)
class Scoring:
    """Scoring rules of a release. Scores are in the units of `score_range`, weights are positive."""

    metric: str = "Score"
    description: str = ""
    aggregation: str = "weighted_mean"
    score_range: tuple[float, float] = (0.0, 1.0)
    success_threshold: float | None = 1.0
    task_weights: Mapping[str, float] = field(default_factory=dict)
    coverage_required: float = 1.0
    agent_failure: Literal["zero", "exclude"] = "zero"
    infrastructure_error: Literal["exclude"] = "exclude"
    harness_timeout: Literal["infrastructure_error", "agent_failure"] = "infrastructure_error"
    min_tasks_for_interval: int = 5


@dataclass(frozen=True, slots=True)
class Category:
    id: str
    name: str
    description: str = ""
    tasks: tuple[str, ...] = ()
    taxonomy: str | None = None


@dataclass(frozen=True, slots=True)
class Track:
    """Comparison rules. Times in seconds, costs in USD per attempt."""

    id: str
    name: str
    kind: TrackKind
    version: str = "1.0.0"
    description: str = ""
    attempts: int = 1
    max_retries: int = 0
    harnesses: tuple[str, ...] = ()
    instructions: Literal["none", "any"] = "any"
    temperature: float | None = None
    max_tokens: int | None = None
    tools: str = "Environment actions only."
    max_turns: int | None = None
    max_seconds: float | None = None
    max_cost_usd: float | None = None

    @property
    def reference(self) -> str:
        return f"{self.id}@{self.version}"


@dataclass(frozen=True, slots=True)
class ConfigurationFacts:
    """What conformance with a track looks at. `harness` is None for the built-in loop."""

    model: str
    fallback_models: tuple[str, ...] = ()
    harness: str | None = None
    instructions: str = ""
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One Trial as scoring sees it: the state of its last execution."""

    task: str
    attempt: int
    status: str
    score: float | None = None
    error_code: str | None = None
    stop_reason: str | None = None
    cost_usd: float | None = None
    latency_seconds: float | None = None
    trial_id: str | None = None
    cost_partial: bool = False


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """95 % interval of a score, in its units; `sample_size` counts covered Tasks."""

    low: float | None = None
    high: float | None = None
    standard_error: float | None = None
    sample_size: int = 0
    method: str | None = None
    unavailable_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """Mean cost (USD) or latency (s) per attempt over the `measured` of `attempts` that reported it.

    `total` is the sum over the measured attempts; `partial` says that at least one of them is a
    lower bound.
    """

    value: float | None = None
    measured: int = 0
    attempts: int = 0
    total: float | None = None
    partial: bool = False


@dataclass(frozen=True, slots=True)
class TaskResult:
    task: str
    weight: float
    categories: tuple[str, ...]
    attempts: int
    scored: int
    agent_failures: int
    infrastructure_errors: int
    cancelled: int
    pending: int
    valid: int
    successes: int
    score: float | None
    success_rate: float | None
    score_min: float | None
    score_max: float | None
    spread: float | None
    """Sample standard deviation (n - 1) of the valid values; None below two."""
    complete: bool
    trial_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CategoryResult:
    id: str
    name: str
    taxonomy: str | None
    score: float | None
    uncertainty: Uncertainty
    coverage: float
    tasks_total: int
    tasks_covered: int
    success_rate: float | None
    cost: Measure
    latency: Measure


@dataclass(frozen=True, slots=True)
class Consistency:
    """How attempts at one Task agree, averaged over Tasks (`spread`: over Tasks with two or more values).

    `agreement`, `pass_hat` (pass^k) and `pass_at` (pass@k) are means over covered Tasks of the unbiased
    estimates; `k` is the smallest number of valid attempts of a covered Task, and 0 where nothing is
    covered or the release has no threshold.
    """

    spread: float | None = None
    agreement: float | None = None
    k: int = 0
    pass_hat: float | None = None
    pass_at: float | None = None


@dataclass(frozen=True, slots=True)
class ConfigurationResult:
    score: float | None
    uncertainty: Uncertainty
    coverage: float
    complete_coverage: float
    tasks_total: int
    tasks_covered: int
    success_rate: float | None
    completion_rate: float | None
    cost: Measure
    latency: Measure
    outcomes: Mapping[str, int]
    valid: int
    successes: int
    consistency: Consistency
    tasks: tuple[TaskResult, ...]
    categories: tuple[CategoryResult, ...]
    eligible: bool
    ineligible_reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """One resource as hashed: sha256 over RFC 8785 of {"content", "identity": 2, "kind"} is `content_hash`.

    `name` is the display name (title), `version` the local label ('' for none): labels, outside the hash.
    `dependencies` are content hashes in order: a Task's Environment then Verifiers, a Benchmark's Tasks,
    an Agent's Harness.
    """

    kind: ResourceKind
    name: str
    version: str
    content: JsonObject
    content_hash: str
    dependencies: tuple[str, ...] = ()
    slug: str = ""
    """Folder name where the Job tells it (run.json inputs), else ''."""
    forked_from: str | None = None


class DomainError(ValueError):
    """A rule of the domain is broken; the message names the field and says what to do."""
