"""What a Job's own configuration says of one Trial: its Task, its Verifiers' weights, when it retries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jobs.models import Trial
from jobs.stored_files import StoredFiles

MOST_CONFIG = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Binding:
    """A Verifier as a Task binds it. `weight` is the binding's own, which may differ from the Verifier's."""

    name: str
    kind: str
    weight: float | None


class TrialConfig:
    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self.files = StoredFiles(trial.job.pack_id, trial.job.files)

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """config.json; empty where it is too large to be read for a page, or lost."""
        return self.files.read_json("config.json", MOST_CONFIG).value or {}

    @cached_property
    def task(self) -> Mapping[str, Any]:
        """The Task's object in config.json, by its content; of several such the one of its name."""
        source = mapping(self.config.get("source"))
        tasks = mapping(source.get("benchmark")).get("tasks") or [source.get("task")]
        found = [
            mapping(task)
            for task in (tasks if isinstance(tasks, list) else [])
            if mapping(task).get("source_hash") == self._trial.task_digest
        ]
        named = [task for task in found if task.get("task_id") == self._trial.task_name]
        return next(iter([*named, *found]), {})

    @cached_property
    def bindings(self) -> tuple[Binding, ...]:
        found = []
        for entry in _list(self.task.get("verifiers")):
            verifier = mapping(mapping(entry).get("verifier"))
            weight: Any = mapping(entry).get("weight")
            if isinstance(verifier.get("name"), str):
                kind = verifier.get("kind")
                known = float(weight) if type(weight) in (int, float) else None
                found.append(Binding(verifier["name"], kind if isinstance(kind, str) else "", known))
        return tuple(found)

    @property
    def max_turns(self) -> int | None:
        limits = mapping(mapping(self.task.get("environment")).get("limits"))
        value = limits.get("max_turns")
        return value if type(value) is int else None

    @property
    def max_retries(self) -> int | None:
        value = mapping(self.config.get("retry")).get("max_retries")
        return value if type(value) is int else None

    @property
    def retryable_codes(self) -> tuple[str, ...]:
        return tuple(map(str, _list(mapping(self.config.get("retry")).get("retryable_codes"))))


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
