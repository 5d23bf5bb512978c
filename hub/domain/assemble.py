"""From the facts of a release and its results to a manifest, and from a manifest to the next one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from benchmarks.domain.tracks import check_release_rules
from benchmarks.domain.types import DomainError
from hub.domain import carried
from hub.domain.configurations import added_up, configuration, differing, merged
from hub.domain.consistency import consistency
from hub.domain.facts import ReleaseFacts, ResultFacts, StatusChange, TaskFacts
from hub.domain.manifest import (
    Disclosure,
    Manifest,
    ManifestAbout,
    ManifestCategory,
    ManifestConfiguration,
    ManifestPublication,
    ManifestPublisher,
    ManifestRelease,
    ManifestResult,
    ManifestTask,
    PublicationStatus,
)
from hub.domain.results import Terms, result_of
from hub.domain.times import time_text


class AssemblyError(DomainError):
    """There can be no such manifest, with every reason found."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def assemble(
    *,
    publication: ManifestPublication,
    publisher: ManifestPublisher,
    release: ReleaseFacts,
    results: Sequence[ResultFacts],
    about: ManifestAbout,
    disclosure: Disclosure,
    published_at: datetime,
    previous: Manifest | None = None,
    supersedes: str | None = None,
    changes: Sequence[StatusChange] = (),
) -> Manifest:
    """The manifest of these results. The order of `results` and of their attempts never changes a byte.

    `previous` is the current manifest of the same release: its results are carried over as they were
    published, whatever the evidence is now. A result in `results` under the id of a published one is
    computed anew and must come out the same. `supersedes` is the reference of the publication's manifest of
    the release before, for the first manifest of a release; later ones carry it over.
    Raises AssemblyError with every reason why there can be no such manifest.
    """
    _refuse(
        [
            *release_problems(release),
            *_selection_problems(release, results, disclosure),
            *_previous_problems(publication, release, previous),
        ]
    )
    terms = Terms(
        release=release,
        tracks={track.reference: track for track in release.tracks},
        ids={task.name: task.content_hash for task in release.tasks},
        show_findings=disclosure.verifier_findings,
    )
    computed = [result_of(facts, terms) for facts in results]
    combined, problems = carried.combine(previous, computed, {f.id: f.reason for f in results}, changes)
    configurations, disagreements = _configurations(previous, results)
    _refuse([*problems, *disagreements])
    return _finished(
        Manifest(
            publication=publication,
            publisher=publisher,
            release=_release(release, published_at, previous.release.supersedes if previous else supersedes),
            status=previous.status if previous else "published",
            about=about,
            scoring=release.scoring,
            default_view=release.default_view,
            categories=_categories(terms),
            tasks=tuple(_task(task, terms, disclosure) for task in release.tasks),
            tracks=tuple(release.tracks),
            configurations=configurations,
            results=tuple(combined if disclosure.verifier_findings else carried.without_findings(combined)),
            disclosure=disclosure,
        )
    )


def revise(
    previous: Manifest,
    *,
    published_at: datetime,
    changes: Sequence[StatusChange] = (),
    status: PublicationStatus | None = None,
) -> Manifest:
    """`previous` with results or the whole publication withdrawn or accepted again, and nothing else.

    Raises AssemblyError with every reason why that can't be.
    """
    results, problems = carried.combine(previous, [], {}, changes)
    if status == previous.status:
        problems.append(f"The publication is {status} already.")
    if not changes and status is None:
        problems.append("Nothing would change: name a result or a status.")
    _refuse(problems)
    return _finished(
        replace(
            previous,
            release=replace(previous.release, published_at=time_text(published_at)),
            status=status or previous.status,
            results=tuple(results),
        )
    )


def release_problems(release: ReleaseFacts) -> list[str]:
    """Why this release can't be published, whatever the results: two Tasks of one content, broken rules."""
    names = [task.name for task in release.tasks]
    by_content: dict[str, list[str]] = {}
    for task in release.tasks:
        by_content.setdefault(task.content_hash, []).append(task.name)
    return [
        *([] if names else ["The release has no Tasks."]),
        *(f"Two Tasks are called {name!r}." for name, count in Counter(names).items() if count > 1),
        *(
            f"Tasks {', '.join(alike)} have the same content ({content}), and a manifest names Tasks by "
            "their content. Release a version without the copies."
            for content, alike in by_content.items()
            if len(alike) > 1
        ),
        *check_release_rules(
            names, release.categories, release.scoring, release.tracks, release.default_view
        ),
    ]


def _selection_problems(
    release: ReleaseFacts, results: Sequence[ResultFacts], disclosure: Disclosure
) -> Iterator[str]:
    tracks = {track.reference for track in release.tracks}
    for result_id, count in Counter(facts.id for facts in results).items():
        if count > 1:
            yield f"Result {result_id!r} is given {count} times."
    for facts in results:
        where = f"Result {facts.id!r} ({facts.agent.label})"
        if facts.track not in tracks:
            yield f"{where} is on track {facts.track!r}, which the release doesn't have."
        if not facts.jobs:
            yield f"{where} names no Jobs."
        trials = Counter(attempt.trial_id for attempt in facts.attempts if attempt.trial_id)
        twice = sorted(trial for trial, count in trials.items() if count > 1)
        if twice:
            yield f"{where} counts Trials more than once: {', '.join(twice[:5])}."
        if facts.supersedes and not facts.reason.strip():
            yield f"{where} corrects {facts.supersedes!r} and must say why."
    if disclosure.traces:
        yield "Traces are never published."


def _previous_problems(
    publication: ManifestPublication, release: ReleaseFacts, previous: Manifest | None
) -> Iterator[str]:
    if previous is None:
        return
    if previous.publication.id != publication.id:
        yield f"The manifest before belongs to another publication, {previous.publication.id!r}."
    if previous.release.version != release.version:
        yield (
            f"The manifest before is of version {previous.release.version}, not of {release.version}: "
            "name it as superseded instead."
        )
    elif previous.release.content_hash != release.content_hash:
        yield (
            f"Version {release.version} was published with the content {previous.release.content_hash}; "
            f"this revision has {release.content_hash}."
        )


def _release(release: ReleaseFacts, published_at: datetime, supersedes: str | None) -> ManifestRelease:
    return ManifestRelease(
        id=release.id,
        benchmark_id=release.benchmark_id,
        version=release.version,
        content_hash=release.content_hash,
        published_at=time_text(published_at),
        forked_from=release.forked_from,
        supersedes=supersedes,
    )


def _categories(terms: Terms) -> tuple[ManifestCategory, ...]:
    return tuple(
        ManifestCategory(
            id=category.id,
            name=category.name,
            description=category.description,
            taxonomy=category.taxonomy,
            tasks=tuple(terms.ids[name] for name in dict.fromkeys(category.tasks)),
        )
        for category in terms.release.categories
    )


def _task(task: TaskFacts, terms: Terms, disclosure: Disclosure) -> ManifestTask:
    release = terms.release
    return ManifestTask(
        id=task.content_hash,
        name=task.name,
        version=task.version,
        description=task.description,
        categories=tuple(category.id for category in release.categories if task.name in category.tasks),
        weight=float(release.scoring.task_weights.get(task.name, 1.0)),
        applicability=task.applicability,
        requirements=task.requirements,
        verifiers=task.verifiers,
        instructions=task.instructions if disclosure.task_instructions else None,
    )


def _configurations(
    before: Manifest | None, results: Sequence[ResultFacts]
) -> tuple[tuple[ManifestConfiguration, ...], list[str]]:
    """Each configuration once, by label, and where two results say different things of one."""
    published = {each.id: each for each in before.configurations} if before else {}
    by_id: dict[str, list[ResultFacts]] = {}
    for facts in results:
        by_id.setdefault(facts.agent.content_hash, []).append(facts)
    found = dict(published)
    problems = []
    for content_hash, of_one in by_id.items():
        latest = max(of_one, key=lambda facts: (_ended(facts), facts.agent.label, facts.id))
        used = added_up(facts.models_used for facts in of_one)
        old = published.get(content_hash)
        new = configuration(latest.agent, merged(old.models_used, used) if old else used)
        others = [configuration(facts.agent, ()) for facts in of_one]
        for other in [old, *others] if old else others:
            if fields := differing(other, new):
                problems.append(
                    f"Configuration {content_hash} is described in two ways, which differ in "
                    f"{', '.join(fields)}: as {other.label!r} and as {new.label!r}."
                )
        found[content_hash] = new
    ordered = sorted(found.values(), key=lambda each: (each.label, each.id))
    return tuple(ordered), list(dict.fromkeys(problems))


def _ended(facts: ResultFacts) -> str:
    return time_text(facts.evaluated_to) if facts.evaluated_to else ""


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise AssemblyError(problems)


def _finished(manifest: Manifest) -> Manifest:
    """Results in one order, whichever they came in, and everything consistent."""
    tracks = {track.reference: position for position, track in enumerate(manifest.tracks)}
    labels = {found.id: found.label for found in manifest.configurations}

    def order(result: ManifestResult) -> tuple[int, str, str, str]:
        return tracks[result.track], labels[result.configuration], result.configuration, result.id

    manifest = replace(manifest, results=tuple(sorted(manifest.results, key=order)))
    problems = consistency(manifest)
    _refuse([f"{problem.field}: {problem.message}" for problem in problems])
    return manifest
