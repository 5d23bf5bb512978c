"""What anybody can recompute from the stored bytes of a manifest and the records beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.domain.identity import sha256_digest
from benchmarks.domain.types import DomainError
from hub.domain.consistency import content_problems, structure_problems
from hub.domain.consistency_results import compared
from hub.domain.manifest import Manifest, ManifestResult
from hub.domain.recompute import Figures, alike, ranking, recompute
from hub.domain.records import StoredRecord, check_chain, parse_record
from hub.domain.stored import manifest_bytes, parse_manifest, reference_of
from hub.domain.words import result_names, value_text

MOST_PROBLEMS = 5
NOT_RECOMPUTABLE: Mapping[str, str] = {
    "A Task's score and its counts of attempts": "single attempts are not in a manifest; the score is only "
    "held against what so many valid attempts and successes allow",
    "Cost and time per attempt": "a manifest has their means only, over all Tasks",
    "Outcomes that are cancelled or pending": "a manifest has them for all Tasks together; the others add up",
    "Reasons against ranking that come from the attempts themselves": "which model answered which attempt "
    "is not in a manifest",
    "Examples": "which attempts are the first of their kind is not in a manifest",
}
"""Figures that a manifest gives and that can't be computed from the rest of it, each with why."""


@dataclass(frozen=True, slots=True)
class Check:
    what: str
    expected: str
    found: str
    ok: bool


def verify(
    data: bytes, records: Sequence[StoredRecord], *, digest: str = "", reference: str = ""
) -> list[Check]:
    """Every check of a stored manifest and of its release's records, whether it holds or not.

    `digest` and `reference` are those under which it is served; without them the digest has to be one that
    the records name.
    """
    found = sha256_digest(data)
    named = _named(records)
    expected = digest or (found if found in named else ", ".join(named) or "a digest that a record names")
    checks = [Check("Digest of the stored bytes", expected, found, expected == found)]
    try:
        manifest = parse_manifest(data)
    except DomainError as error:
        return [
            *checks,
            Check("Form", "plural.benchmark-publication/1", str(error), ok=False),
            _chain(records),
        ]
    computed = reference_of(manifest, found)
    canonical = sha256_digest(manifest_bytes(manifest))
    broken = structure_problems(manifest)
    problems = broken or content_problems(manifest)
    return [
        *checks,
        Check("Reference", reference or computed, computed, reference in ("", computed)),
        Check("Digest that the published client computes", found, canonical, found == canonical),
        Check(
            "Consistency",
            "0 problems",
            "; ".join(
                [f"{len(problems)} problems", *(f"{p.field}: {p.message}" for p in problems[:MOST_PROBLEMS])]
            ),
            not problems,
        ),
        *([] if broken else _figures(manifest)),
        _chain(records),
        *_record(manifest, found, records),
    ]


def _named(records: Sequence[StoredRecord]) -> list[str]:
    """Digests of manifests that the records name."""
    named = []
    for stored in records:
        try:
            record = parse_record(stored.body)
        except DomainError:
            continue
        if record.manifest is not None:
            named.append(record.manifest)
    return list(dict.fromkeys(named))


def _figures(manifest: Manifest) -> Iterator[Check]:
    """Of a manifest whose parts and references are sound; what isn't is told by the consistency."""
    names = result_names(manifest)
    recomputed = {result.id: recompute(manifest, result) for result in manifest.results}
    for result in manifest.results:
        yield from _of_result(manifest, result, names[result.id], recomputed[result.id])
    yield from _ranks(manifest, recomputed, names)


def _of_result(manifest: Manifest, result: ManifestResult, name: str, figures: Figures) -> Iterator[Check]:
    categories = [category.name for category in manifest.categories]
    for path, found, expected in compared(result, figures):
        words = path.split(".")
        if words[0] == "categories":
            words = ["category", f"`{categories[int(words[1])]}`,", words[2]]
        what = " ".join(words).replace("_", " ").replace("uncertainty", "interval").replace("tasks", "Tasks")
        yield Check(f"{name}: {what}", value_text(expected), value_text(found), alike(found, expected))
    for task, named in zip(result.tasks, manifest.tasks, strict=True):
        rate = task.successes / task.valid if task.valid else None
        expected = None if manifest.scoring.success_threshold is None else rate
        yield Check(
            f"{name}: success rate at Task `{named.name}`",
            value_text(expected),
            value_text(task.success_rate),
            alike(task.success_rate, expected),
        )
    yield Check(
        f"{name}: may rank",
        f"no: {' '.join(figures.issues)}" if figures.issues else "yes, where no other reason is given",
        "yes" if result.eligible else f"no: {' '.join(result.ineligible_reasons)}",
        not (result.eligible and figures.issues) and result.eligible != bool(result.ineligible_reasons),
    )


def _ranks(
    manifest: Manifest, recomputed: Mapping[str, Figures], names: Mapping[str, str]
) -> Iterator[Check]:
    """Ranks by the scores as they stand against ranks by the scores as they come out."""
    by_tasks = replace(
        manifest,
        results=tuple(replace(result, score=recomputed[result.id].score) for result in manifest.results),
    )
    for track in manifest.tracks:
        expected = ranking(by_tasks, track.reference)
        for result_id, rank in ranking(manifest, track.reference).items():
            yield Check(
                f"{names[result_id]}: rank",
                value_text(expected[result_id]),
                value_text(rank),
                expected[result_id] == rank,
            )


def _chain(records: Sequence[StoredRecord]) -> Check:
    fault = check_chain(records)
    sound = f"{len(records)} without a gap or a fork"
    if not records:
        return Check("Chain of records", "at least one record", "none", ok=False)
    return Check("Chain of records", sound, fault.message if fault else sound, fault is None)


def _record(manifest: Manifest, digest: str, records: Sequence[StoredRecord]) -> Iterator[Check]:
    """Whether each record that names the manifest is about its release."""
    expected = f"{manifest.publication.id}, release {manifest.release.version}"
    for stored in records:
        try:
            record = parse_record(stored.body)
        except DomainError:
            continue
        if record.manifest == digest:
            found = f"{record.subject.publication}, release {record.subject.release}"
            yield Check(f"Record {record.sequence}: what it is about", expected, found, expected == found)
