"""What a `verifier.yaml` declares, with every default of the published client in place."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from benchmarks.domain.fields import FieldReader
from benchmarks.domain.manifest_fields import (
    CODE_REFERENCE,
    Parsed,
    as_is,
    finished,
    problems_of,
    read_positive,
    read_version,
)
from benchmarks.domain.types import JsonObject

VARIABLE_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
TOTAL_REWARD = "total_reward"


@dataclass(frozen=True, slots=True)
class VerifierManifest:
    """`declared` is what `verifier_definition` takes, but for the digest of hooks that are code.

    `code` gives those hooks and what they name; `scores` is whether it has a check, and `criteria` are
    (name, lowest, highest score) of what an Agent or a person judges.
    """

    name: str
    kind: str
    declared: JsonObject
    code: Mapping[str, str] = field(default_factory=dict)
    criteria: tuple[tuple[str, float, float], ...] = ()
    scores: bool = True


def parse_verifier(value: object) -> Parsed[VerifierManifest]:
    fields = FieldReader(_with_present_names(value))
    kind = fields.choice("kind", ("deterministic", "agent", "human"), "deterministic")
    criteria = fields.each("criteria", _criterion)
    if kind != "deterministic" and not criteria and not fields.wrong("criteria"):
        fields.problem("criteria", f"must name at least one: a Verifier of kind {kind!r} judges by them")
    declared: dict[str, Any] = {
        "kind": kind,
        "name": fields.text("name", filled=True),
        "version": read_version(fields),
        "info": fields.one("info", as_is, None),
        "criteria": list(criteria),
        "weight": read_positive(fields, "weight", 1.0),
        "metadata": fields.mapping("metadata"),
        "secrets": list(fields.each("secrets", _secret)),
    }
    code: dict[str, str] = {}
    if kind == "deterministic":
        declared |= _hooks(fields, code)
        declared |= {
            "runtime": fields.one("runtime", _verifier_runtime, _verifier_runtime({}, "")),
            "result_path": fields.text("result_path", "verifier-result.json"),
            "evidence_required": fields.choice("evidence_required", (True, False), True),
        }
    elif kind == "agent":
        declared |= {
            "model": fields.text("model", filled=True),
            "instructions": fields.text("instructions", filled=True),
            "provider": fields.optional_text("provider"),
            "fallback_models": list(fields.texts("fallback_models")),
            "runtime": fields.one("runtime", _verifier_runtime, _verifier_runtime({}, "")),
        }
    else:
        declared["instructions"] = fields.text("instructions", "")
    manifest = VerifierManifest(
        name=declared["name"],
        kind=kind,
        declared=declared,
        code=code,
        criteria=tuple((item["name"], item["min_score"], item["max_score"]) for item in criteria),
        scores=kind != "deterministic" or declared["check"] is not None,
    )
    return manifest, problems_of(fields)


def _criterion(value: object, at: str) -> JsonObject:
    fields = FieldReader(value, at)
    low, high = fields.number("min_score", 0.0), fields.number("max_score", 1.0)
    criterion = {
        "name": fields.text("name", filled=True),
        "description": fields.text("description", filled=True),
        "weight": read_positive(fields, "weight", 1.0),
        "min_score": low,
        "max_score": high,
    }
    if not fields.problems and high <= low:
        fields.problem("max_score", "must be above min_score")
    return finished(fields, criterion)


def _secret(value: object, at: str) -> JsonObject:
    fields = FieldReader({"name": value} if isinstance(value, str) else value, at)
    name = fields.text("name", filled=True)
    secret = {
        "name": name,
        "required": fields.choice("required", (True, False), True),
        "description": fields.text("description", ""),
        "scopes": list(fields.texts("scopes")),
    }
    if name and not VARIABLE_NAME.fullmatch(name):
        fields.problem("name", f"must be capitals, digits and '_', not {name!r}")
    return finished(fields, secret)


def _verifier_runtime(value: object, at: str) -> JsonObject:
    renamed = {"network_allowlist": "allowed_hosts", "resources": "compute"}
    if isinstance(value, Mapping):
        value = {renamed.get(key, key): item for key, item in value.items()}
    fields = FieldReader(value, at)
    runtime = {
        "provider": fields.text("provider", "docker", filled=True),
        "image": fields.optional_text("image"),
        "network": fields.text("network", "public"),
        "allowed_hosts": list(fields.texts("allowed_hosts")),
        "compute": fields.one("compute", _compute, _compute({}, "")),
        "timeout_seconds": read_positive(fields, "timeout_seconds", 60.0),
    }
    return finished(fields, runtime)


def _compute(value: object, at: str) -> JsonObject:
    fields = FieldReader(value, at)
    counts = ("memory_mb", "pids", "disk_mb", "storage_mb")
    compute: dict[str, Any] = {"cpu": fields.optional_number("cpu", above=0)}
    compute |= {key: fields.optional_integer(key, low=1) for key in counts}
    return finished(fields, compute)


def _hooks(fields: FieldReader, code: dict[str, str]) -> dict[str, Any]:
    """`check`, `reward` and `hindsight`; those that are code are added to `code`."""
    hooks = {key: _hook(fields, key, code) for key in ("check", "reward", "hindsight")}
    if fields.problems:
        return hooks
    if not any(hooks.values()):
        fields.problem("check", "is missing: give the Verifier a check, a reward or a hindsight")
    if hooks["check"] == {"builtin": TOTAL_REWARD} and hooks["reward"] is None:
        fields.problem("reward", f"is missing: a check of {TOTAL_REWARD} scores by this Verifier's rewards")
    return hooks


def _hook(fields: FieldReader, key: str, code: dict[str, str]) -> Any:
    value = fields.one(key, as_is, None)
    if value is None:
        return None
    if isinstance(value, str) and CODE_REFERENCE.fullmatch(value):
        code[key] = value
        path, _, name = value.rpartition(":")
        return {"python": f"{PurePosixPath(path).name}:{name}"}
    if isinstance(value, Mapping) and value.keys() == {"python"} and isinstance(value["python"], str):
        return dict(value)
    if key == "check" and (check := _total_or_command(value)):
        return check
    also = ", a command or total_reward" if key == "check" else ""
    fields.problem(key, f"must be a reference such as verify.py:check{also}")
    return None


def _total_or_command(value: object) -> Any:
    """The forms that only a check has; None or nothing for any other value."""
    if value in (TOTAL_REWARD, {"builtin": TOTAL_REWARD}):
        return {"builtin": TOTAL_REWARD}
    if isinstance(value, str):
        try:
            return shlex.split(value)
        except ValueError:  # a quote that isn't closed
            return None
    return value if isinstance(value, list) and all(isinstance(word, str) for word in value) else None


def _with_present_names(value: object) -> object:
    """A Verifier's fields under the names they have now; those that no longer mean anything left out."""
    if not isinstance(value, Mapping):
        return value
    fields = {key: item for key, item in value.items() if key not in ("evidence", "required_artifacts")}
    if str(fields.get("schema_version", "2")) == "2":
        fields.pop("schema_version", None)
    for old, new in {"revision": "version", "rubric": "criteria", "command": "check"}.items():
        if old in fields and new not in fields:
            fields[new] = fields.pop(old)
    return fields
