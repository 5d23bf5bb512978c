"""What the Verifiers of an execution said, and how the score follows from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.domain.arithmetic import number
from benchmarks.domain.types import Scoring
from benchmarks.models import Kind, Revision
from benchmarks.pages import Figure
from jobs.domain.json_tree import tree
from jobs.domain.room import Cut, Room
from jobs.models import Execution, Trial
from jobs.trial_config import Binding, TrialConfig, mapping
from jobs.trial_pages import PartRow, VerifierRow, VerifiersPart
from plural_site import formats
from plural_site.accounts.models import Project

MOST_VERIFIERS = 50
MOST_PARTS = 60
MOST_EVIDENCE = 200
MOST_FEEDBACK = 4000
WORDS_SIZE = 150_000
"""Bytes of all names, criteria and feedback of a page."""
EVIDENCE_SIZE, EVIDENCE_NODES, LEAST_NODES = 200_000, 1500, 20
"""Bytes and nodes of all evidence of a page, of which each Verifier has an equal share."""
STATUS_TONES = {"succeeded": "neutral", "failed": "bad", "awaiting_review": "info"}
MARKS = {"met": "good", "partly met": "warn", "not met": "bad"}


@dataclass(frozen=True, slots=True)
class _Criterion:
    name: str
    description: str
    low: float
    high: float
    weight: float | None


def verifiers_part(
    project: Project, trial: Trial, execution: Execution, scoring: Scoring, config: TrialConfig
) -> VerifiersPart:
    """One query: the definitions of the Verifiers."""
    results = execution.verifier_results
    reader = _Reader(scoring, config.bindings, _definitions(project, results))
    ordered = sorted(results, key=lambda found: (found["score"] is None, found["score"] or 0.0))
    reported = {result["verifier"] for result in results}
    silent = [binding for binding in config.bindings if binding.name not in reported]
    why = "" if results else _why_none(execution)
    first = ordered[:MOST_VERIFIERS]
    rows = [reader.row(result, len(first)) for result in first]
    rows += [reader.silent_row(binding, why) for binding in silent[: MOST_VERIFIERS - len(rows)]]
    formula = reader.formula(results) if not silent else ""
    notes = []
    if formula and trial.score is not None and execution.is_final and not reader.agrees(results, trial.score):
        notes.append(
            f"The Trial reports {number(trial.score)}, which is not what this gives. What it reports counts."
        )
    return VerifiersPart(tuple(rows), len(results) + len(silent), formula, tuple(notes), why)


def _definitions(project: Project, results: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    digests = {result["digest"] for result in results[:MOST_VERIFIERS]}
    found = Revision.objects.filter(
        resource__project=project, resource__kind=Kind.VERIFIER, content_hash__in=digests
    )
    return {revision.content_hash: revision.content for revision in found}


def _why_none(execution: Execution) -> str:
    if execution.status == "cancelled":
        return "It was cancelled before its Verifiers had run."
    if execution.error_code == "verifier_failed":
        return (
            "A Verifier raised an error. The run then keeps no result of any Verifier, also of those that "
            "had finished."
        )
    if execution.error_code:
        code = formats.clean_text(execution.error_code[:200]).replace("_", " ")
        return f"It ended before its Verifiers ran ({code})."
    return "The run recorded no result of a Verifier."


class _Reader:
    def __init__(
        self, scoring: Scoring, bindings: Sequence[Binding], definitions: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.scoring, self.definitions = scoring, definitions
        self.weights = {binding.name: binding.weight for binding in bindings}
        self.total = math.fsum(weight for weight in self.weights.values() if weight is not None)
        self.room = Room(WORDS_SIZE, 0, formats.clean_text)

    def row(self, result: Mapping[str, Any], share: int) -> VerifierRow:
        """With so many Verifiers on the page."""
        evidence = result["evidence"]
        nodes = max(EVIDENCE_NODES // share, LEAST_NODES)
        room = Room(EVIDENCE_SIZE // share, nodes, formats.clean_text)
        shown = []
        for item in evidence[:MOST_EVIDENCE]:
            if room.nodes <= 0 or room.size <= 0:
                break
            shown.append(tree(item, room))
        return VerifierRow(
            name=self.room.text(result["verifier"], 200).text,
            kind=formats.clean_text(result["kind"][:40]),
            status=formats.clean_text(result["status"][:40]).replace("_", " "),
            tone=STATUS_TONES.get(result["status"], "neutral"),
            score=self._score(result),
            weight=self._weight(result["verifier"], result["digest"]),
            parts=self._parts(result),
            feedback=self.room.text(result["feedback"], MOST_FEEDBACK),
            evidence=tuple(shown),
            evidence_total=len(evidence),
            missing="",
        )

    def silent_row(self, binding: Binding, why: str) -> VerifierRow:
        return VerifierRow(
            name=self.room.text(binding.name, 200).text,
            kind=formats.clean_text(binding.kind[:40]),
            status="no result",
            tone="neutral",
            score=Figure(formats.DASH),
            weight=self._weight(binding.name, ""),
            parts=(),
            feedback=Cut(""),
            evidence=(),
            evidence_total=0,
            missing=why or "The Task binds this Verifier, but the run recorded no result of it.",
        )

    def _score(self, result: Mapping[str, Any]) -> Figure:
        score = result["score"]
        if score is None:
            waits = result["status"] == "awaiting_review"
            return Figure(formats.DASH, "A person has yet to review it" if waits else "It gave no score")
        unit = formats.score_unit(*self.scoring.score_range)
        text = formats.score_text(score, *self.scoring.score_range)
        return Figure(f"{text}{' ' + unit if unit else ''}", str(score))

    def _weight(self, name: str, digest: str) -> Figure:
        weight = self.weights.get(name)
        if weight is None:
            own = self.definitions.get(digest, {}).get("weight")
            if isinstance(own, int | float):
                return Figure(f"{own:g}", note="the Verifier’s own; the Task’s binding is not known")
            return Figure(formats.DASH, "The Task’s binding is not known")
        share = f"{formats.percent(weight / self.total)} of the score" if self.total > 0 else ""
        return Figure(f"{weight:g}", note=share)

    # Criteria --------------------------------------------------------------------------------------

    def _parts(self, result: Mapping[str, Any]) -> tuple[PartRow, ...]:
        """Declared criteria and parts of the score, worst first; those without a score before all."""
        scores: Mapping[str, float] = result["scores"]
        definition = self.definitions.get(result["digest"], {})
        criteria = {found.name: found for found in map(_criterion, _entries(definition)) if found}
        names = [*criteria, *(name for name in scores if name not in criteria)]
        rows: list[PartRow] = []
        for name in sorted(names, key=lambda name: _share(scores.get(name), criteria.get(name))):
            if len(rows) == MOST_PARTS or self.room.size <= 0:
                break
            rows.append(self._part(name, scores.get(name), criteria.get(name)))
        return tuple(rows)

    def _part(self, name: str, value: float | None, criterion: _Criterion | None) -> PartRow:
        about, weight, text = "", "", formats.DASH
        if criterion:
            about = self.room.text(criterion.description, 600).text
            weight = "" if criterion.weight is None else f"weight {criterion.weight:g}"
        if value is not None:
            text = f"{value:g}" + (f" of {criterion.high:g}" if criterion else "")
        mark = _mark(value, criterion)
        return PartRow(self.room.text(name, 200).text, text, mark, MARKS.get(mark, "neutral"), weight, about)

    # The score -------------------------------------------------------------------------------------

    def formula(self, results: Sequence[Mapping[str, Any]]) -> str:
        """'' where a score or a weight is missing, or where there are too many to be written out."""
        pairs = self._pairs(results)
        if not pairs or len(pairs) > 12:
            return ""
        terms = " + ".join(f"{number(weight)} × {number(score)}" for weight, score in pairs)
        weights = " + ".join(number(weight) for weight, _ in pairs)
        return f"({terms}) / ({weights}) = {number(_mean(pairs))}"

    def agrees(self, results: Sequence[Mapping[str, Any]], score: float) -> bool:
        return math.isclose(_mean(self._pairs(results)), score, rel_tol=1e-9, abs_tol=1e-9)

    def _pairs(self, results: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
        pairs = [(self.weights.get(result["verifier"]), result["score"]) for result in results]
        known = [(weight, score) for weight, score in pairs if weight is not None and score is not None]
        total = math.fsum(weight for weight, _ in known)
        return known if len(known) == len(pairs) and math.isfinite(total) and total > 0 else []


def _mean(pairs: Sequence[tuple[float, float]]) -> float:
    total = math.fsum(weight for weight, _ in pairs)
    return math.fsum(weight * score for weight, score in pairs) / total


def _entries(definition: Mapping[str, Any]) -> list[Any]:
    criteria = definition.get("criteria")
    return criteria if isinstance(criteria, list) else []


def _criterion(entry: Any) -> _Criterion | None:
    found = mapping(entry)
    low, high = found.get("min_score", 0.0), found.get("max_score", 1.0)
    name, weight = found.get("name"), found.get("weight")
    if not isinstance(name, str) or not isinstance(low, int | float) or not isinstance(high, int | float):
        return None
    description = found.get("description")
    return _Criterion(
        name,
        description if isinstance(description, str) else "",
        float(low),
        float(high),
        float(weight) if isinstance(weight, int | float) else None,
    )


def _share(value: float | None, criterion: _Criterion | None) -> float:
    """Where a score lies in its range; -1 without one."""
    if value is None:
        return -1.0
    low, high = (criterion.low, criterion.high) if criterion else (0.0, 1.0)
    return (value - low) / (high - low) if high > low else value


def _mark(value: float | None, criterion: _Criterion | None) -> str:
    if value is None:
        return "no score"
    share = _share(value, criterion)
    if criterion is None and not 0 <= share <= 1:  # nobody says what its range is
        return ""
    return "met" if share >= 1 else "not met" if share <= 0 else "partly met"
