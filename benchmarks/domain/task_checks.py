"""Whether a Task can be in a Benchmark with the Environment and the Verifiers that it pins. Pure.

Contents are hashed ones, as a project holds them. What the published client refuses when it builds such a
Task is refused here, as far as contents tell it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from benchmarks.domain.tracks import check_limits
from benchmarks.domain.types import JsonObject, Scoring, Track


def environment_problems(
    task: str, content: JsonObject, environment: JsonObject, tracks: Sequence[Track]
) -> Iterator[str]:
    """Limits beyond a track's caps, State that no App has, live Apps, and parties."""
    limits = environment.get("limits")
    if isinstance(limits, Mapping):
        turns, seconds, cost = (limits.get(key) for key in ("max_turns", "max_seconds", "max_cost_usd"))
        if _is_number(turns) and _is_number(seconds):
            for track in tracks:
                yield from check_limits(
                    track, task, max_turns=int(turns), max_seconds=seconds, max_cost_usd=cost
                )
    apps = {str(app.get("name")): app for app in _mappings(environment.get("apps"))}
    state = content.get("initial_state")
    if isinstance(state, Mapping):
        yield from _state_problems(task, state, apps)
    for name, app in apps.items():
        changing = [
            str(action.get("name")) for action in _mappings(app.get("actions")) if _may_change(action)
        ]
        if app.get("control") == "live" and changing:
            yield (
                f"Task {task!r} uses the live App {name!r}, whose actions {', '.join(changing)} change State "
                "that can't be reset."
            )
    if environment.get("party") is not None:
        yield f"Task {task!r} is played by several Agents at once, which no Benchmark takes."


def verifier_problems(
    task: str, verifiers: Sequence[tuple[str, JsonObject]], scoring: Scoring
) -> Iterator[str]:
    """Of a Task's Verifiers (name, content): none that scores, criteria beyond the score range."""
    if not any(_scores(content) for _, content in verifiers):
        yield f"Task {task!r} has no Verifier that scores what the Agent did."
    low, high = scoring.score_range
    for name, content in verifiers:
        if content.get("kind") == "deterministic":
            continue  # code scores as it likes; its criteria are words
        for criterion in _mappings(content.get("criteria")):
            lowest, highest = criterion.get("min_score", 0), criterion.get("max_score", 1)
            if _is_number(lowest) and _is_number(highest) and (lowest < low or highest > high):
                yield (
                    f"Task {task!r}: criterion {criterion.get('name')!r} of the Verifier {name} scores "
                    f"{lowest:g} to {highest:g}, but the Benchmark's score_range is {low:g} to {high:g}."
                )


def _state_problems(task: str, state: JsonObject, apps: Mapping[str, JsonObject]) -> Iterator[str]:
    """A single App may be given its State without its name."""
    only = next(iter(apps)) if len(apps) == 1 else None
    keyed = {only: state} if only is not None and set(state) != {only} else state
    for name, values in keyed.items():
        app = apps.get(str(name))
        if app is None:
            known = ", ".join(apps) or "none"
            yield f"Task {task!r} has State for {name!r}, which is no App of its Environment (Apps: {known})."
            continue
        schema = app.get("state_schema")
        fields = schema.get("properties") if isinstance(schema, Mapping) else None
        if not isinstance(fields, Mapping) or not isinstance(values, Mapping):
            continue
        if more := ", ".join(sorted(values.keys() - fields.keys())):
            yield f"Task {task!r} sets {more} in its initial State, which the App {name!r} doesn't have."


def _scores(verifier: JsonObject) -> bool:
    return verifier.get("kind") != "deterministic" or verifier.get("check") is not None


def _may_change(action: JsonObject) -> bool:
    return action.get("mutates_state") is not False


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _mappings(value: Any) -> list[JsonObject]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
