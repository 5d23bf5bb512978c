"""What the public pages say in words: provenance, records, and a withdrawn thing's end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hub.domain.manifest import Provenance, ResultStatus


@dataclass(frozen=True, slots=True)
class ProvenanceWords:
    """A label for how a result was produced, what it means and what it doesn't."""

    label: str
    means: str
    means_not: str


PROVENANCE: Mapping[Provenance, ProvenanceWords] = {
    "plural_executed": ProvenanceWords(
        "Plural-executed",
        "Recorded live through this site’s API by a key of the publisher’s project: its events and "
        "heartbeats came in order, its hashes match, and its Trials are linked.",
        "That nobody cheated: the run happened on somebody’s machine, and nothing in it is signed. It does "
        "not say either that the Benchmark is a good one.",
    ),
    "independently_reproduced": ProvenanceWords(
        "Independently reproduced",
        "Another project ran the same configuration again on the same release and track.",
        "That both runs scored the same to the last digit, that either is signed, or that the Benchmark "
        "is a good one.",
    ),
    "self_reported": ProvenanceWords(
        "Self-reported",
        "Imported from files of a run, or submitted with the score of each attempt and reviewed by the "
        "publisher.",
        "That anybody else saw the run. Files can be edited before they are imported, and nothing in them "
        "is signed.",
    ),
    "legacy": ProvenanceWords(
        "Legacy",
        "From before runs were recorded on tracks; kept because it was published then.",
        "That the run followed the rules of the track as they are enforced now.",
    ),
}
STATUS: Mapping[ResultStatus, str] = {
    "accepted": "accepted",
    "withdrawn": "withdrawn",
    "superseded": "corrected",
}
RECORD_WORDS: Mapping[str, str] = {
    "publish": "Published",
    "correct": "Corrected",
    "withdraw": "Withdrawn",
    "restore": "Restored",
}
RECORD_TONES: Mapping[str, str] = {"publish": "good", "correct": "info", "withdraw": "bad", "restore": "good"}
COST_OF_WHOLE = (
    "Cost and time are public for the whole release only, so a category shows each result’s cost and time "
    "per attempt over all Tasks, not over its own."
)


def provenance_words(key: Provenance) -> ProvenanceWords:
    return PROVENANCE[key]


def record_words(kind: str, result: str, sequence: int) -> str:
    """E.g. "Published", "Results added" or "Result withdrawn"."""
    words = RECORD_WORDS.get(kind, kind)
    if kind == "publish" and sequence > 1:
        return "Results added"
    return f"Result {words.lower()}" if result and kind != "publish" else words
