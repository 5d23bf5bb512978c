"""Names of a manifest's parts and values as readers meet them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from benchmarks.domain.arithmetic import plain
from hub.domain.manifest import Manifest

NOTHING = "none"


def result_names(manifest: Manifest) -> dict[str, str]:
    """By id, e.g. "Result `steady` on controlled@1.0.0", with the id where two would be called the same."""
    labels = {configured.id: configured.label for configured in manifest.configurations}
    names = {
        result.id: f"Result `{labels.get(result.configuration, result.configuration)}` on {result.track}"
        for result in manifest.results
    }
    count = Counter(names.values())
    return {
        result_id: name if count[name] == 1 else f"{name} ({result_id})" for result_id, name in names.items()
    }


def task_names(manifest: Manifest) -> dict[str, str]:
    return {task.id: task.name for task in manifest.tasks}


def value_text(value: Any) -> str:
    """A JSON value in plain words: numbers with every digit, lists by commas."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return plain(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and not any(isinstance(item, dict | list) for item in value):
        texts = [value_text(item) for item in value]
        return ("; " if any(" " in text for text in texts) else ", ").join(texts) or NOTHING
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
