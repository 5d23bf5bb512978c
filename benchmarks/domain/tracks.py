"""Declared rules of a release: reading and checking them, conformance and limits of a track."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from benchmarks.domain.fields import FieldProblem, FieldReader, RulesError
from benchmarks.domain.types import Category, ConfigurationFacts, Scoring, Track, TrackKind

__all__ = [
    "BUILT_IN_LOOP",
    "FieldProblem",
    "RulesError",
    "check_conformance",
    "check_limits",
    "check_release_rules",
    "describe_scoring",
    "describe_track",
    "parse_category",
    "parse_scoring",
    "parse_track",
]

BUILT_IN_LOOP = "the built-in loop"
TRACK_KINDS: tuple[TrackKind, ...] = ("agents", "models")
MAX_ATTEMPTS = 32
MAX_RETRIES = 10
MIN_TASKS_FOR_INTERVAL = 2
EXACT_INTEGERS = 2**53

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_TAXONOMY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}(:[a-z0-9][a-z0-9._/-]{0,127})?")
_SEMANTIC_VERSION = re.compile(
    r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}"
    r"(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
)
_TRACK = Track(id="", name="", kind="agents")
_SCORING = Scoring()
AbsentThreshold = Literal["top", "none"]


def parse_track(value: object, at: str = "") -> Track:
    """Read one track. `at` is its dotted path. Raises RulesError with every problem."""
    fields = FieldReader(value, at)
    track = Track(
        id=_slug(fields),
        name=fields.text("name", filled=True),
        kind=fields.choice("kind", TRACK_KINDS),
        version=fields.text("version", _TRACK.version),
        description=fields.text("description", _TRACK.description),
        attempts=fields.integer("attempts", _TRACK.attempts, low=1, high=MAX_ATTEMPTS),
        max_retries=fields.integer("max_retries", _TRACK.max_retries, low=0, high=MAX_RETRIES),
        harnesses=fields.texts("harnesses"),
        instructions=fields.choice("instructions", ("any", "none"), "any"),
        temperature=fields.optional_number("temperature"),
        max_tokens=fields.optional_integer("max_tokens", low=1),
        tools=fields.text("tools", _TRACK.tools),
        max_turns=fields.optional_integer("max_turns", low=1),
        max_seconds=fields.optional_number("max_seconds", above=0),
        max_cost_usd=fields.optional_number("max_cost_usd", above=0),
    )
    if not fields.wrong("version") and not _SEMANTIC_VERSION.fullmatch(track.version):
        fields.problem(
            "version", f"must be a semantic version such as 1.0.0 or 2.1.0-rc.1, not {track.version!r}"
        )
    if track.kind == "models":
        if len(track.harnesses) > 1:
            fields.problem("harnesses", f"track {track.id!r} compares models, so it can name one at most")
        if track.instructions != "none":
            fields.problem("instructions", f"track {track.id!r} compares models, so write 'none' here")
    fields.finish()
    return track


def parse_category(value: object, at: str = "") -> Category:
    """Read one category. Raises RulesError with every problem."""
    fields = FieldReader(value, at)
    category = Category(
        id=_slug(fields),
        name=fields.text("name", filled=True),
        description=fields.text("description", ""),
        tasks=fields.texts("tasks", some=True),
        taxonomy=fields.optional_text("taxonomy"),
    )
    if category.taxonomy is not None and not _TAXONOMY.fullmatch(category.taxonomy):
        fields.problem("taxonomy", f"must look like 'namespace:identifier', not {category.taxonomy!r}")
    fields.finish()
    return category


def parse_scoring(value: object, at: str = "", *, absent_threshold: AbsentThreshold = "top") -> Scoring:
    """Read the scoring rules. Raises RulesError with every problem.

    `absent_threshold` says what a left-out `success_threshold` means: the top of the range in a file,
    no pass/fail notion on the wire, where nulls are dropped. A written null is always the latter.
    """
    fields = FieldReader(value, at)
    bounds = _score_range(fields)
    low, high = bounds or _SCORING.score_range
    threshold = fields.optional_number("success_threshold")
    if not fields.has("success_threshold") and absent_threshold == "top":
        threshold = high
    scoring = Scoring(
        metric=fields.text("metric", _SCORING.metric),
        description=fields.text("description", _SCORING.description),
        aggregation=fields.choice("aggregation", ("weighted_mean",), "weighted_mean"),
        score_range=(low, high),
        success_threshold=threshold,
        task_weights=fields.numbers_by_name("task_weights"),
        coverage_required=fields.number("coverage_required", _SCORING.coverage_required),
        agent_failure=fields.choice("agent_failure", ("zero", "exclude"), "zero"),
        infrastructure_error=fields.choice("infrastructure_error", ("exclude",), "exclude"),
        harness_timeout=fields.choice(
            "harness_timeout", ("infrastructure_error", "agent_failure"), "infrastructure_error"
        ),
        min_tasks_for_interval=fields.integer(
            "min_tasks_for_interval", _SCORING.min_tasks_for_interval, low=MIN_TASKS_FOR_INTERVAL
        ),
    )
    if bounds and threshold is not None and not low <= threshold <= high:
        fields.problem("success_threshold", f"must be inside score_range, {low:g} to {high:g}")
    share = scoring.coverage_required
    if not fields.wrong("coverage_required") and not 0 < share <= 1:
        fields.problem("coverage_required", f"must be above 0 and at most 1, not {share:g}")
    for name, weight in scoring.task_weights.items():
        if weight <= 0:
            fields.problem(f"task_weights.{name}", f"must be greater than 0, not {weight:g}")
    fields.finish()
    return scoring


def check_release_rules(
    task_names: Sequence[str],
    categories: Sequence[Category],
    scoring: Scoring,
    tracks: Sequence[Track],
    default_view: TrackKind,
) -> list[str]:
    """Everything the rules say about this release that isn't so, in the order of the rules."""
    return list(_release_problems(frozenset(task_names), categories, scoring, tracks, default_view))


def check_conformance(track: Track, facts: ConfigurationFacts) -> list[str]:
    """Every reason why a configuration may not run on a track; empty when it conforms."""
    return [
        f"Track {track.reference} {rule}; this configuration {fact}."
        for rule, fact in _conformance_issues(track, facts)
    ]


def check_limits(
    track: Track, task: str, *, max_turns: int, max_seconds: float, max_cost_usd: float | None
) -> list[str]:
    """Every limit of a Task's Environment (seconds, USD) that goes beyond a cap of the track."""
    where = f"Task {task!r}"
    issues = []
    if track.max_turns is not None and max_turns > track.max_turns:
        issues.append(f"{where} allows {max_turns} turns; track {track.reference} allows {track.max_turns}.")
    if track.max_seconds is not None and max_seconds > track.max_seconds:
        issues.append(
            f"{where} allows {_plain(max_seconds)} seconds; "
            f"track {track.reference} allows {_plain(track.max_seconds)}."
        )
    if track.max_cost_usd is not None and (max_cost_usd is None or max_cost_usd > track.max_cost_usd):
        allowed = "any cost" if max_cost_usd is None else f"${_plain(max_cost_usd)}"
        issues.append(
            f"{where} allows {allowed}; "
            f"track {track.reference} allows ${_plain(track.max_cost_usd)} an attempt."
        )
    return issues


def describe_track(track: Track) -> list[str]:
    """Each rule of a track in words, for readers."""
    sentences = [
        "Compares models: everything but the model is held."
        if track.kind == "models"
        else "Compares whole systems: model, Harness and settings may differ.",
        f"{_count(track.attempts, 'attempt')} at every Task.",
        f"Up to {_count(track.max_retries, 'retry', 'retries')} of an attempt that the infrastructure lost."
        if track.max_retries
        else "No retries of an attempt that the infrastructure lost.",
        _harness_rule(track),
        "Agents may have instructions of their own."
        if track.instructions == "any"
        else "Agents have no instructions beyond the Task.",
    ]
    if track.temperature is not None:
        sentences.append(f"Temperature is {_plain(track.temperature)}.")
    if track.max_tokens is not None:
        sentences.append(f"max_tokens is {track.max_tokens}.")
    if track.tools:
        sentences.append(f"Tools: {track.tools}")
    caps = [
        *([_count(track.max_turns, "turn")] if track.max_turns is not None else []),
        *([f"{_plain(track.max_seconds)} seconds"] if track.max_seconds is not None else []),
        *([f"${_plain(track.max_cost_usd)}"] if track.max_cost_usd is not None else []),
    ]
    if caps:
        sentences.append(f"No Task's Environment may allow an attempt more than {', '.join(caps)}.")
    return sentences


def describe_scoring(scoring: Scoring) -> list[str]:
    """Each scoring rule in words, for readers."""
    low, high = (_plain(bound) for bound in scoring.score_range)
    weighted = ", ".join(f"{name} {_plain(weight)}" for name, weight in sorted(scoring.task_weights.items()))
    lost = "An attempt that the Agent failed"
    timeout = (
        "the Agent's failure" if scoring.harness_timeout == "agent_failure" else "lost to infrastructure"
    )
    return [
        *([scoring.description] if scoring.description else []),
        f"{scoring.metric}: from {low} to {high}, higher is better.",
        "A Task's score is the mean of its attempts; the score is the mean of the Tasks' scores"
        + (f", weighted ({weighted}; any other Task 1)." if weighted else ", every Task alike."),
        "Nothing counts as passed or failed: there is no success threshold."
        if scoring.success_threshold is None
        else f"An attempt succeeds from {_plain(scoring.success_threshold)} on.",
        f"{lost} counts as {low}."
        if scoring.agent_failure == "zero"
        else f"{lost} is left out of the score.",
        "An attempt lost to infrastructure, or scored outside that range, is left out and counted apart.",
        f"A Harness that ran past its time and was killed counts as {timeout}.",
        f"To rank, {100 * scoring.coverage_required:.10g}% of the Tasks' weight needs every required attempt."
        if scoring.coverage_required < 1
        else "To rank, every Task needs every required attempt.",
        f"An interval is given from {scoring.min_tasks_for_interval} scored Tasks on.",
    ]


def _release_problems(
    names: frozenset[str],
    categories: Sequence[Category],
    scoring: Scoring,
    tracks: Sequence[Track],
    default_view: TrackKind,
) -> Iterator[str]:
    seen: set[str] = set()
    for category in categories:
        if category.id in seen:
            yield f"Category id {category.id!r} is used twice: give each category its own."
        seen.add(category.id)
        unknown = [task for task in category.tasks if task not in names]
        if unknown:
            named = ", ".join(unknown)
            yield f"Category {category.id!r} names Tasks that the Benchmark doesn't have: {named}."
    unknown = sorted(scoring.task_weights.keys() - names)
    if unknown:
        yield f"task_weights names Tasks that the Benchmark doesn't have: {', '.join(unknown)}."
    for track_id, count in Counter(track.id for track in tracks).items():
        if count > 1:
            yield f"Track id {track_id!r} is used twice: a release holds one version of a track."
    if tracks and all(track.kind != default_view for track in tracks):
        yield f"default_view is {default_view!r}, but no track is of kind {default_view!r}."


def _conformance_issues(track: Track, facts: ConfigurationFacts) -> Iterator[tuple[str, str]]:
    """(what the track rules, what the configuration does), in the order of the rules."""
    harness = facts.harness or BUILT_IN_LOOP
    if track.kind == "models":
        fixed = track.harnesses[0] if track.harnesses else None
        if facts.harness != fixed:
            yield f"holds the Harness to {fixed or BUILT_IN_LOOP}", f"uses {harness}"
        if facts.fallback_models:
            yield "compares single models", f"falls back to {', '.join(facts.fallback_models)}"
    elif track.harnesses and facts.harness not in track.harnesses:
        yield f"allows the Harnesses {', '.join(track.harnesses)}", f"uses {harness}"
    if track.instructions == "none" and facts.instructions.strip():
        yield "allows no Agent instructions", "has some"
    if track.temperature is not None and facts.temperature != track.temperature:
        yield f"fixes temperature at {track.temperature}", _setting(facts.temperature)
    if track.max_tokens is not None and facts.max_tokens != track.max_tokens:
        yield f"fixes max_tokens at {track.max_tokens}", _setting(facts.max_tokens)


def _harness_rule(track: Track) -> str:
    if track.kind == "models":
        return f"The Harness is {track.harnesses[0] if track.harnesses else BUILT_IN_LOOP}."
    return f"Harnesses: {', '.join(track.harnesses)}." if track.harnesses else "Any Harness."


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _setting(value: float | None) -> str:
    return "doesn't set it" if value is None else f"uses {value}"


def _slug(fields: FieldReader) -> str:
    value = fields.text("id")
    if not fields.wrong("id") and not _SLUG.fullmatch(value):
        fields.problem(
            "id",
            f"must be 1 to 64 lower-case letters, digits, '.', '_' or '-', "
            f"starting with a letter or digit, not {value!r}",
        )
    return value


def _score_range(fields: FieldReader) -> tuple[float, float] | None:
    """The declared range or the default one; None, with the problem noted, where it is wrong."""
    if not fields.has("score_range"):
        return _SCORING.score_range
    items = fields.items("score_range")
    bounds = [fields.as_number(item, f"score_range.{n}") for n, item in enumerate(items)]
    match bounds:
        case [float(low), float(high)] if low < high and math.isfinite(high - low):
            return low, high
        case [None, _] | [_, None]:
            return None
    if not fields.wrong("score_range"):
        fields.problem("score_range", "must be two numbers, [low, high], with high above low")
    return None


def _plain(number: float) -> str:
    """Every digit, without an exponent or a trailing .0 where there is no need for one."""
    return str(int(number)) if number == int(number) and abs(number) < EXACT_INTEGERS else repr(float(number))
