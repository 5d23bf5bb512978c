"""Small valid Jobs, written from scratch as the client leaves them: every id and hash is consistent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.domain import definitions
from benchmarks.domain.identity import plain_hash, sha256_digest

Json = dict[str, Any]
START = datetime(2026, 11, 1, 8, 0, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one Trial ended. `before` are the failed executions that were retried, oldest first.

    `scores` gives the Verifier's parts; without a score there is no Verifier result unless the status is
    awaiting_review. `artifacts` come besides the ATIF trajectory, which `trajectory=False` leaves out.
    """

    status: str = "succeeded"
    score: float | None = 1.0
    error_code: str | None = None
    error_message: str | None = None
    stop_reason: str = "environment_terminated"
    cost_usd: float | None = 0.01
    latency_seconds: float | None = 2.0
    calls_missing_cost: int = 0
    scores: Mapping[str, float] = field(default_factory=dict)
    evidence: Sequence[Any] = ("as expected",)
    feedback: str = ""
    models: tuple[str, ...] | None = None
    """Models that the trajectory's calls report; None for the Agent's own."""
    trajectory: bool = True
    artifacts: Mapping[str, bytes] = field(default_factory=dict)
    before: tuple[Outcome, ...] = ()


def failed(error_code: str, stop_reason: str = "error", **changes: Any) -> Outcome:
    """A Trial without a score, a cost or a trajectory."""
    values = {"score": None, "cost_usd": None, "trajectory": False, "error_message": f"{error_code} happened"}
    return Outcome(status="failed", error_code=error_code, stop_reason=stop_reason, **{**values, **changes})


CANCELLED = Outcome(
    status="cancelled", score=None, stop_reason="", cost_usd=None, latency_seconds=None, trajectory=False
)
AWAITING_REVIEW = Outcome(status="awaiting_review", score=None)


@dataclass(frozen=True, kw_only=True)
class AgentSpec:
    name: str = "solo"
    model: str = "sim/one"
    instructions: str = ""
    harness: str | None = None
    """Name of a custom harness; None for the built-in loop."""
    harness_version: str = "0.1.0"
    fallback_models: tuple[str, ...] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    version: str = "1.0.0"


@dataclass(frozen=True, kw_only=True)
class BenchmarkSpec:
    """A release. `tasks` are display names; `task_text` is put into each one's instructions."""

    name: str = "Demo Bench"
    slug: str = "demo-bench"
    version: str = "1.0.0"
    tasks: tuple[str, ...] = ("first", "second")
    task_text: Mapping[str, str] = field(default_factory=dict)
    categories: tuple[Json, ...] = ()
    scoring: Mapping[str, Any] = field(default_factory=dict)
    tracks: tuple[Json, ...] = ()
    default_view: str = "agents"
    description: str = "Jobs made for tests."
    purpose: str = "Shows that reading works."
    success: str = "The answer is right."
    limitations: tuple[str, ...] = ("Says nothing about any model.",)
    license: str = "Apache-2.0"
    forked_from: str | None = None


def agents_named(names: Iterable[str]) -> list[AgentSpec]:
    """Agents, each with a model of its own."""
    return [AgentSpec(name=name, model=f"sim/{name}") for name in names]


def category(ident: str, *tasks: str, **changes: Any) -> Json:
    return {
        "id": ident,
        "name": ident.title(),
        "description": "",
        "tasks": list(tasks),
        "taxonomy": None,
        **changes,
    }


def track(ident: str = "open", kind: str = "agents", **changes: Any) -> Json:
    return {
        "id": ident,
        "version": "1.0.0",
        "name": ident.title(),
        "kind": kind,
        "description": "",
        "attempts": 1,
        "max_retries": 0,
        "harnesses": [],
        "instructions": "none" if kind == "models" else "any",
        "temperature": None,
        "max_tokens": None,
        "tools": "Environment actions only.",
        "max_turns": None,
        "max_seconds": None,
        "max_cost_usd": None,
        **changes,
    }


def scoring(**changes: Any) -> Json:
    return {
        "metric": "Score",
        "description": "Share of right answers.",
        "aggregation": "weighted_mean",
        "score_range": [0.0, 1.0],
        "success_threshold": 1.0,
        "task_weights": {},
        "coverage_required": 1.0,
        "agent_failure": "zero",
        "infrastructure_error": "exclude",
        "harness_timeout": "infrastructure_error",
        "min_tasks_for_interval": 5,
        **changes,
    }


Outcomes = Callable[[str, str, int], Outcome | float | None]
"""From Agent, Task and attempt (from 1) to what happened: a number is a score, None is no result at all."""


def make_job(
    store: Path,
    *,
    benchmark: BenchmarkSpec | None = None,
    single_task: str = "",
    agents: Sequence[AgentSpec] = (AgentSpec(),),
    attempts: int = 1,
    outcomes: Outcomes = lambda agent, task, attempt: 1.0,
    track_id: str | None = None,
    started: datetime = START,
    run_json: bool = True,
    result_json: bool = True,
    rerun_of: str | None = None,
    key: str = "",
) -> Path:
    """Write a Job into `store` (made if absent) and return its folder.

    `single_task` names a Task and makes a Job on that alone, without a release. Two Jobs of the same
    content in one store need different `key`s, as the client gives each run its own id. Without
    `result_json` it looks like a killed Job.
    """
    return _JobWriter(
        store=store,
        benchmark=benchmark or BenchmarkSpec(),
        single_task=single_task,
        agents=tuple(agents),
        attempts=attempts,
        outcomes=outcomes,
        track_id=track_id,
        started=started,
        run_json=run_json,
        result_json=result_json,
        rerun_of=rerun_of,
        key=key,
    ).write()


def change(file: Path, path: str, value: Any) -> None:
    """Set one field of a JSON file, addressed as in error messages: `receipt.task_pin.name`, `tasks[0].x`."""
    document = json.loads(file.read_bytes())
    *steps, last = path.replace("[", ".[").strip(".").split(".")
    target = document
    for step in steps:
        target = target[_step(step)]
    target[_step(last)] = value
    file.write_text(json.dumps(document), encoding="utf-8")


def remove(file: Path, path: str) -> None:
    """Delete one field of a JSON file."""
    document = json.loads(file.read_bytes())
    *steps, last = path.replace("[", ".[").strip(".").split(".")
    target = document
    for step in steps:
        target = target[_step(step)]
    del target[_step(last)]
    file.write_text(json.dumps(document), encoding="utf-8")


def share_trial(one: Path, other: Path, task: str) -> str:
    """Gives the only Trial at a Task in `other` the id of that in `one`, as if both Jobs held it; the id."""

    def trial_at(job: Path) -> Path:
        results = (job / "trials").glob("*/result.json")
        (found,) = [path for path in results if f'"name":"{task}"' in path.read_text("utf-8")]
        return found.parent

    same, folder = trial_at(one).name, trial_at(other)
    for file in folder.rglob("*.json"):
        file.write_text(file.read_text("utf-8").replace(folder.name, same), "utf-8")
    folder.rename(folder.with_name(same))
    return same


def _step(text: str) -> str | int:
    return int(text[1:-1]) if text.startswith("[") else text


def line(value: Any) -> bytes:
    """JSON as the store writes it."""
    return (json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def clock(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


ENVIRONMENT: Json = {
    "name": "desk",
    "version": "1.0.0",
    "description": "One question at a time.",
    "readme": "",
    "overview": "",
    "apps": [],
    "guardrails": [],
    "resources": [],
    "metadata": {},
    "python": None,
    "harness_policy": {
        "mode": "allow_all",
        "allowed_harnesses": [],
        "allowed_capabilities": None,
        "denied_capabilities": [],
    },
    "limits": {"max_turns": 8, "max_seconds": 45.0, "max_cost_usd": None},
    "runtime": {
        "provider": "local",
        "targets": ["local"],
        "packages": {"python": []},
        "allowed_hosts": [],
        "build_timeout_seconds": 600.0,
        "compute": {"cpu": None, "memory_mb": None},
        "ref": None,
    },
    "source": {"kind": "local", "digest": sha256_digest(b"desk"), "uri": "/srv/desk"},
}
VERIFIER: Json = {
    "name": "check",
    "version": "1.0.0",
    "kind": "deterministic",
    "criteria": [],
    "check": {"python": "verify.py:check", "digest": sha256_digest(b"check")},
    "metadata": {},
    "secrets": [],
    "info": None,
    "weight": 1.0,
}


@dataclass(kw_only=True)
class _JobWriter:
    store: Path
    benchmark: BenchmarkSpec
    single_task: str
    agents: tuple[AgentSpec, ...]
    attempts: int
    outcomes: Outcomes
    track_id: str | None
    started: datetime
    run_json: bool
    result_json: bool
    rerun_of: str | None
    key: str

    def write(self) -> Path:
        names = (self.single_task,) if self.single_task else self.benchmark.tasks
        self.tasks = [self._task(name) for name in names]
        self.bindings = [{"agent": _agent(spec)} for spec in self.agents]
        config = self._config()
        self.job_id = f"job_{plain_hash([config, self.key])[7:31]}"
        self.agent_digests = [plain_hash(binding) for binding in self.bindings]
        self.release = (
            None
            if self.single_task
            else {
                "name": self.benchmark.name,
                "version": self.benchmark.version,
                "content_hash": config["source"]["benchmark"]["source_hash"],
            }
        )
        self.folder = self.store / self.job_id
        (self.folder / "trials").mkdir(parents=True)
        self._put("config.json", config)
        self._put("lock.json", self._lock(config))
        if self.run_json:
            self._put("run.json", self._run())
        self.moment = self.started + timedelta(seconds=1)
        self.events = [self._event("planned", {"trial_count": len(self.agents) * len(names) * self.attempts})]
        self.results: list[Json] = []
        for position in range(len(self.agents)):
            for task in self.tasks:
                for attempt in range(1, self.attempts + 1):
                    self._trial(position, task, attempt)
        if self.result_json:
            self.events.append(self._event("completed", {}))
            self._put("result.json", self._result())
        (self.folder / "events.jsonl").write_bytes(b"".join(map(line, self.events)))
        return self.folder

    def _put(self, name: str, value: Any) -> None:
        (self.folder / name).write_bytes(line(value))

    def _task(self, name: str) -> Json:
        task: Json = {
            "task_id": name,
            "revision": "1.0.0",
            "schema_version": "2",
            "instructions": self.benchmark.task_text.get(name, f"Answer {name}."),
            "goals": [],
            "info": {},
            "metadata": {},
            "expected": {"answer": name},
            "state": {},
            "reset_options": {},
            "resources": [],
            "environment": ENVIRONMENT,
            "verifiers": [{"verifier": VERIFIER, "weight": 1.0}],
        }
        environment = definitions.environment_definition(ENVIRONMENT).content_hash
        verifier = definitions.verifier_definition(VERIFIER).content_hash
        return {
            **task,
            "source_hash": definitions.task_definition(task, environment, [verifier]).content_hash,
        }

    def _config(self) -> Json:
        spec = self.benchmark
        if self.single_task:
            source: Json = {"kind": "task", "task": self.tasks[0]}
        else:
            declared: Json = {
                "name": spec.name,
                "revision": spec.version,
                "schema_version": "2",
                "description": spec.description,
                "primary_metric": "score",
                "metadata": {},
                "categories": list(spec.categories),
                "scoring": scoring(**spec.scoring),
                "tracks": list(spec.tracks),
                "default_view": spec.default_view,
                "purpose": spec.purpose,
                "success": spec.success,
                "limitations": list(spec.limitations),
                "license": spec.license,
                "forked_from": spec.forked_from,
                "tasks": self.tasks,
            }
            hashes = [task["source_hash"] for task in self.tasks]
            declared["source_hash"] = definitions.benchmark_definition(declared, hashes).content_hash
            source = {"kind": "benchmark", "benchmark": declared}
        return {
            "schema_version": "2",
            "source": source,
            "agents": self.bindings,
            "mode": "eval",
            "attempts": self.attempts,
            "concurrency": 1,
            "per_runtime_concurrency": 1,
            "priority": 0,
            "retry": {"max_retries": 2, "retryable_codes": ["provider_unavailable"]},
            "run_id": plain_hash(self.key)[7:39] if self.run_json else None,
        }

    def _lock(self, config: Json) -> Json:
        hashes = [task["source_hash"] for task in self.tasks]
        spec = {key: value for key, value in config.items() if key != "run_id" or value is not None}
        return {
            "job_id": self.job_id,
            "spec_hash": plain_hash(spec),
            "source_digest": self.release["content_hash"] if self.release else hashes[0],
            "benchmark": self.release,
            "task_pins": [_pin(task) for task in self.tasks],
            "task_digests": hashes,
            "environment_digests": [definitions.environment_definition(ENVIRONMENT).content_hash]
            * len(hashes),
            "verifier_digests": [definitions.verifier_definition(VERIFIER).content_hash] * len(hashes),
            "agent_digests": self.agent_digests,
            "harness_digests": [],
            "model_resolutions": [],
            "mode": "eval",
        }

    def _run(self) -> Json:
        agent = self.bindings[0]["agent"]
        inputs = {
            f"agent/{self.agents[0].name}": definitions.agent_definition(agent).content_hash,
            **{f"task/{task['task_id']}": task["source_hash"] for task in self.tasks},
        }
        source = f"task/{self.single_task}"
        if self.release:
            source = f"benchmark/{self.benchmark.slug}"
            inputs[source] = self.release["content_hash"]
        return {
            "job_id": self.job_id,
            "created_at": self.started.isoformat(timespec="seconds"),
            "source": source,
            "agent": f"agent/{self.agents[0].name}",
            "model": self.agents[0].model,
            "harness": self.agents[0].harness or "native",
            "evaluation_track": self.track_id,
            "rerun_of_job_id": self.rerun_of,
            "rerun_of_trial_id": None,
            "hosted_job_id": None,
            "hosted_project_id": None,
            "location": "local",
            "inputs": {key: {"revision": "local", "content_hash": found} for key, found in inputs.items()},
        }

    def _event(self, kind: str, data: Json) -> Json:
        return {
            "schema_version": "2",
            "sequence": 1 + len(getattr(self, "events", ())),
            "timestamp": clock(self.moment),
            "job_id": self.job_id,
            "type": kind,
            "status": kind,
            "trial_id": None,
            "execution_id": None,
            "message": "",
            "data": data,
        }

    def _trial(self, position: int, task: Json, attempt: int) -> None:
        spec = self.agents[position]
        outcome = self.outcomes(spec.name, task["task_id"], attempt)
        if outcome is None:
            return
        if not isinstance(outcome, Outcome):
            outcome = Outcome(score=float(outcome))
        trial_id = f"trl_{plain_hash([self.job_id, position, task['task_id'], attempt])[7:31]}"
        folder = self.folder / "trials" / trial_id
        result: Json = {}
        for number, one in enumerate((*outcome.before, outcome)):
            result = self._execution(folder, trial_id, position, task, attempt, number, one)
        (folder / "result.json").write_bytes(line(result))
        if outcome.status == "succeeded":
            selected = {
                "execution_id": len(outcome.before),
                "receipt_hash": plain_hash(result["receipt"]),
            }
            (folder / "selected.json").write_bytes(line(selected))
        self.results.append(result)

    def _execution(
        self,
        folder: Path,
        trial_id: str,
        position: int,
        task: Json,
        attempt: int,
        number: int,
        outcome: Outcome,
    ) -> Json:
        started = self.moment
        self.moment += timedelta(seconds=outcome.latency_seconds or 0)
        files = dict(outcome.artifacts)
        if outcome.trajectory:
            models = (self.agents[position].model,) if outcome.models is None else outcome.models
            files.setdefault("atif-trajectory.json", line(_atif(outcome, models)))
        receipt: Json = {
            "trial_id": trial_id,
            "job_id": self.job_id,
            "execution_id": number,
            "retry_count": number,
            "attempt": attempt,
            "task_digest": task["source_hash"],
            "task_pin": _pin(task),
            "benchmark": self.release,
            "environment_digest": definitions.environment_definition(ENVIRONMENT).content_hash,
            "verifier_digests": [definitions.verifier_definition(VERIFIER).content_hash],
            "agent_digest": self.agent_digests[position],
            "harness_digest": "",
            "mode": "eval",
            "artifact_hashes": {path: sha256_digest(data) for path, data in files.items()},
            "started_at": clock(started),
            "completed_at": clock(self.moment),
            "timings": {} if outcome.latency_seconds is None else {"total_seconds": outcome.latency_seconds},
            "phases": [
                {"name": "agent_execution", "started_at": clock(started), "completed_at": clock(self.moment)}
            ],
            "cost_usd": outcome.cost_usd,
            "trust": "self_reported",
        }
        result = _trial_result(outcome, receipt)
        execution = folder / "executions" / str(number)
        (execution / "logs").mkdir(parents=True)
        (execution / "artifacts").mkdir()
        (execution / "result.json").write_bytes(line(result))
        (execution / "receipt.json").write_bytes(line(receipt))
        for name in ("stdout", "stderr", "verifier.stdout", "verifier.stderr"):
            (execution / "logs" / f"{name}.log").write_bytes(b"")
        for path, data in files.items():
            (execution / "artifacts" / path).parent.mkdir(parents=True, exist_ok=True)
            (execution / "artifacts" / path).write_bytes(data)
        manifest = {"schema_version": "1", "artifacts": [_listed(*item) for item in sorted(files.items())]}
        (execution / "artifacts" / "manifest.json").write_bytes(line(manifest))
        return result

    def _result(self) -> Json:
        statuses = [result["status"] for result in self.results]
        status = next((s for s in ("awaiting_review", "failed", "cancelled") if s in statuses), "succeeded")
        return {
            "job_id": self.job_id,
            "plan_hash": plain_hash(self.job_id),
            "status": status,
            "benchmark": self.release,
            "trials": self.results,
            "aggregates": [
                {"agent_name": spec.name, "agent_digest": digest, "model_id": spec.model}
                for spec, digest in zip(self.agents, self.agent_digests, strict=True)
            ],
        }


def _pin(task: Json) -> Json:
    return {"name": task["task_id"], "version": task["revision"], "content_hash": task["source_hash"]}


def _listed(path: str, data: bytes) -> Json:
    media_type = "application/json" if path.endswith(".json") else "application/octet-stream"
    role = "trajectory" if path == "atif-trajectory.json" else None
    return {
        "path": path,
        "sha256": sha256_digest(data),
        "size": len(data),
        "media_type": media_type,
        "role": role,
    }


def _agent(spec: AgentSpec) -> Json:
    agent: Json = {
        "name": spec.name,
        "revision": spec.version,
        "schema_version": "2",
        "model": spec.model,
        "instructions": spec.instructions,
        "routing": {
            "provider": None,
            "fallback_models": list(spec.fallback_models),
            "temperature": spec.temperature,
            "max_tokens": spec.max_tokens,
        },
        "harness": None,
        "harness_package": None,
        "harness_config": {},
        "auth": "environment",
        "secrets": [],
        "endpoint": None,
        "endpoint_key": None,
        "external": None,
        "credentials": {},
        "metadata": {},
    }
    if spec.harness is not None:
        digest = sha256_digest(f"{spec.harness} {spec.harness_version}".encode())
        agent["harness"] = {"name": spec.harness, "revision": spec.harness_version, "digest": digest}
        agent["harness_package"] = {
            "definition": {
                "schema_version": "2",
                "name": spec.harness,
                "revision": spec.harness_version,
                "description": "A loop.",
                "command": ["python", "loop.py"],
                "capabilities": [],
            },
            "source": {"kind": "local", "digest": digest, "uri": "/srv/loop"},
        }
    return agent


def _atif(outcome: Outcome, models: Sequence[str]) -> Json:
    return {
        "schema_version": "ATIF-v1.7",
        "agent": {"name": "agent", "version": "1.0.0"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Answer."},
            *(
                {"step_id": 2 + n, "source": "agent", "message": "!", "llm_call_count": 1, "model_name": name}
                for n, name in enumerate(models)
            ),
        ],
        "final_metrics": {
            "total_prompt_tokens": 100,
            "total_completion_tokens": 10,
            "total_cost_usd": outcome.cost_usd,
            "extra": {"calls_missing_cost": outcome.calls_missing_cost},
        },
    }


def _trial_result(outcome: Outcome, receipt: Json) -> Json:
    verifier_results = []
    scores: Json = {}
    if outcome.score is not None or outcome.status == "awaiting_review":
        verifier_results.append(
            {
                "verifier_name": VERIFIER["name"],
                "verifier_digest": definitions.verifier_definition(VERIFIER).content_hash,
                "kind": "human" if outcome.status == "awaiting_review" else "deterministic",
                "status": outcome.status,
                "score": outcome.score,
                "scores": dict(outcome.scores),
                "evidence": list(outcome.evidence),
                "feedback": outcome.feedback,
                "seats": {},
                "started_at": receipt["started_at"],
                "completed_at": receipt["completed_at"],
            }
        )
        scores = {f"{VERIFIER['name']}.{part}": value for part, value in outcome.scores.items()}
        if outcome.score is not None:
            scores[f"verifier.{VERIFIER['name']}"] = outcome.score
    return {
        "status": outcome.status,
        "score": outcome.score,
        "scores": scores,
        "error_code": outcome.error_code,
        "error_message": outcome.error_message,
        "stop_reason": outcome.stop_reason,
        "turns": 1,
        "seed": None if outcome.latency_seconds is None else 7,
        "trace_id": None,
        "verifier_results": verifier_results,
        "step_reward_total": 0.0,
        "reward_failures": [],
        "receipt": receipt,
    }
