"""All that must hold inside a manifest: at least what the published client's own model asks for.

A problem names its place by a dotted path with list positions from 0, e.g. `results.0.score`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from benchmarks.domain.fields import FieldProblem, RulesError
from benchmarks.domain.tracks import check_release_rules, parse_category, parse_scoring, parse_track
from benchmarks.domain.types import Category, DomainError
from hub.domain import codec
from hub.domain.configurations import kind_of
from hub.domain.consistency_results import result_problems
from hub.domain.manifest import Manifest, ManifestConfiguration, ManifestResult
from hub.domain.stored import parse_reference
from hub.domain.times import parse_time

Problem = FieldProblem

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_SLUG = re.compile(r"[^\s/@#]+")
_VERSION = re.compile(r"(?![0-9]+\Z)[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}")


def consistency(manifest: Manifest) -> list[Problem]:
    """Everything that doesn't hold, parts first; empty for a manifest that may be frozen.

    Figures are looked at only where all that they refer to is sound.
    """
    return structure_problems(manifest) or content_problems(manifest)


def structure_problems(manifest: Manifest) -> list[Problem]:
    """What is wrong with the parts and the references between them; without any, figures can be computed."""
    return codec.check(manifest) or [
        *_identity(manifest),
        *_unique(manifest),
        *_rules(manifest),
        *_categories_and_tasks(manifest),
        *_configurations(manifest),
        *_references(manifest),
    ]


def content_problems(manifest: Manifest) -> list[Problem]:
    """What is wrong with status, corrections and figures, where the structure is sound."""
    return [
        *_lineage(manifest),
        *(
            problem
            for position, result in enumerate(manifest.results)
            for problem in result_problems(manifest, result, f"results.{position}")
        ),
    ]


def _identity(manifest: Manifest) -> Iterator[Problem]:
    release = manifest.release
    filled = {
        "publication.id": manifest.publication.id,
        "publication.title": manifest.publication.title,
        "publication.path": manifest.publication.path,
        "publisher.account_id": manifest.publisher.account_id,
        "publisher.name": manifest.publisher.name,
        "release.id": release.id,
        "release.benchmark_id": release.benchmark_id,
    }
    yield from (Problem(path, "must not be empty") for path, text in filled.items() if not text.strip())
    if not _SLUG.fullmatch(manifest.publication.slug):
        yield Problem("publication.slug", "must be a name without white space, '/', '@' and '#'")
    if not _VERSION.fullmatch(release.version):
        yield Problem("release.version", f"{release.version!r} is no version")
    if not DIGEST.fullmatch(release.content_hash):
        yield Problem("release.content_hash", "must be sha256: and 64 hex digits")
    if parse_time(release.published_at) is None:
        yield Problem("release.published_at", "must be an ISO 8601 time with a zone")
    if release.supersedes is not None:
        yield from _superseded_release(manifest, release.supersedes)
    if manifest.disclosure.traces:
        yield Problem("disclosure.traces", "traces are never published")


def _superseded_release(manifest: Manifest, supersedes: str) -> Iterator[Problem]:
    try:
        found = parse_reference(supersedes)
    except DomainError as error:
        yield Problem("release.supersedes", str(error))
        return
    if found.slug != manifest.publication.slug:
        yield Problem("release.supersedes", f"is a release of another publication, {found.slug!r}")
    if found.version == manifest.release.version:
        yield Problem("release.supersedes", "is this very release")


def _unique(manifest: Manifest) -> Iterator[Problem]:
    if not manifest.tasks:
        yield Problem("tasks", "must hold at least one Task")
    for path, what, values in (
        ("tasks", "Task id", [task.id for task in manifest.tasks]),
        ("tasks", "Task name", [task.name for task in manifest.tasks]),
        ("categories", "category id", [category.id for category in manifest.categories]),
        ("tracks", "track", [track.reference for track in manifest.tracks]),
        ("configurations", "configuration id", [each.id for each in manifest.configurations]),
        ("results", "result id", [result.id for result in manifest.results]),
    ):
        for value, count in Counter(values).items():
            if count > 1:
                yield Problem(path, f"{what} {value!r} stands {count} times")
            if not value.strip():
                yield Problem(path, f"{what} must not be empty")


def _rules(manifest: Manifest) -> Iterator[Problem]:
    """The declared rules by themselves, as a release of the Benchmark is checked."""
    names = {task.id: task.name for task in manifest.tasks}
    categories = [
        Category(
            id=category.id,
            name=category.name,
            description=category.description,
            taxonomy=category.taxonomy,
            tasks=tuple(names.get(task, task) for task in category.tasks),
        )
        for category in manifest.categories
    ]
    yield from _read(parse_scoring, manifest.scoring, "scoring")
    for position, category in enumerate(categories):
        yield from _read(parse_category, category, f"categories.{position}")
    for position, track in enumerate(manifest.tracks):
        yield from _read(parse_track, track, f"tracks.{position}")
    for message in check_release_rules(
        list(names.values()), categories, manifest.scoring, manifest.tracks, manifest.default_view
    ):
        yield Problem("", message)


def _read(parse: Callable[[object, str], object], value: object, path: str) -> Iterable[Problem]:
    try:
        parse(codec.plain(value), path)
    except RulesError as error:
        return error.problems
    return ()


def _categories_and_tasks(manifest: Manifest) -> Iterator[Problem]:
    known = {task.id for task in manifest.tasks}
    members = [(category.id, frozenset(category.tasks)) for category in manifest.categories]
    for position, category in enumerate(manifest.categories):
        unknown = [task for task in category.tasks if task not in known]
        if unknown:
            yield Problem(f"categories.{position}.tasks", f"names unknown Tasks: {', '.join(unknown)}")
        if len(set(category.tasks)) < len(category.tasks):
            yield Problem(f"categories.{position}.tasks", "names a Task twice")
    for position, task in enumerate(manifest.tasks):
        path = f"tasks.{position}"
        if not DIGEST.fullmatch(task.id):
            yield Problem(f"{path}.id", "must be the Task's content hash")
        of_task = tuple(category for category, tasks in members if task.id in tasks)
        if task.categories != of_task:
            yield Problem(
                f"{path}.categories",
                f"is {_named(task.categories)}; by the categories it is {_named(of_task)}",
            )
        weight = manifest.scoring.task_weights.get(task.name, 1.0)
        if task.weight != weight:
            yield Problem(f"{path}.weight", f"is {task.weight!r}; the scoring rules give it {weight!r}")
        if task.instructions is not None and not manifest.disclosure.task_instructions:
            yield Problem(f"{path}.instructions", "are there, though they are not disclosed")


def _configurations(manifest: Manifest) -> Iterator[Problem]:
    used = {result.configuration for result in manifest.results}
    for position, configured in enumerate(manifest.configurations):
        path = f"configurations.{position}"
        if not DIGEST.fullmatch(configured.id):
            yield Problem(f"{path}.id", "must be the Agent's content hash")
        if configured.id not in used:
            yield Problem(path, "is in no result")
        if (
            configured.kind == "model"
            and kind_of(configured.model, configured.fallback_models, configured.models_used) == "system"
        ):
            yield Problem(f"{path}.kind", "must be 'system': more than one model may answer")
        digest = configured.instructions_digest
        if digest is not None and not DIGEST.fullmatch(digest):
            yield Problem(f"{path}.instructions_digest", "must be sha256: and 64 hex digits")
        if any(use.calls is not None and use.calls < 0 for use in configured.models_used):
            yield Problem(f"{path}.models_used", "can't count fewer than 0 calls")
        yield from _settings(configured, path)


def _settings(configured: ManifestConfiguration, path: str) -> Iterator[Problem]:
    kinds = {"temperature": float, "max_tokens": int}
    for name, value in configured.settings.items():
        if name not in kinds:
            yield Problem(f"{path}.settings.{name}", "is not published: only temperature and max_tokens are")
        elif type(value) is not kinds[name]:
            kind = "a number with a decimal point" if name == "temperature" else "a whole number"
            yield Problem(f"{path}.settings.{name}", f"must be {kind}, not {value!r}")


def _references(manifest: Manifest) -> Iterator[Problem]:
    tracks = {track.reference for track in manifest.tracks}
    configurations = {each.id for each in manifest.configurations}
    tasks = [task.id for task in manifest.tasks]
    categories = [category.id for category in manifest.categories]
    for position, result in enumerate(manifest.results):
        path = f"results.{position}"
        if result.track not in tracks:
            yield Problem(f"{path}.track", f"{result.track!r} is not in the manifest")
        if result.configuration not in configurations:
            yield Problem(f"{path}.configuration", f"{result.configuration!r} is not in the manifest")
        if [item.task_id for item in result.tasks] != tasks:
            yield Problem(f"{path}.tasks", "must be the release's Tasks, each once and in its order")
        if [item.id for item in result.categories] != categories:
            yield Problem(f"{path}.categories", "must be the categories, each once and in their order")
        if not {item.task_id for item in result.examples} <= set(tasks):
            yield Problem(f"{path}.examples", "shows an attempt at an unknown Task")


def _lineage(manifest: Manifest) -> Iterator[Problem]:
    """Status and corrections: who corrects whom, and that nothing counts twice."""
    by_id = {result.id: result for result in manifest.results}
    corrected = Counter(result.supersedes for result in manifest.results if result.supersedes is not None)
    for position, result in enumerate(manifest.results):
        path = f"results.{position}"
        if result.supersedes is not None:
            yield from _correction(result, by_id.get(result.supersedes), path)
        if result.status == "superseded" and not corrected[result.id]:
            yield Problem(f"{path}.status", "is superseded, but no result corrects it")
        if result.status == "accepted" and corrected[result.id]:
            yield Problem(f"{path}.status", "is accepted, though another result corrects it")
        if corrected[result.id] > 1:
            yield Problem(path, "is corrected more than once")
        if (result.status == "accepted") != (result.status_reason is None):
            yield Problem(f"{path}.status_reason", "must be there for what is not accepted, and only there")
        elif result.status_reason is not None and not result.status_reason.strip():
            yield Problem(f"{path}.status_reason", "must not be empty")
        if _leads_to_itself(result, by_id):
            yield Problem(f"{path}.supersedes", "leads back to the result itself")
    yield from _counted_twice(manifest.results)


def _correction(result: ManifestResult, old: ManifestResult | None, path: str) -> Iterator[Problem]:
    if old is None:
        yield Problem(f"{path}.supersedes", f"{result.supersedes!r} is not in the manifest")
    elif old.track != result.track:
        yield Problem(f"{path}.supersedes", f"is a result on another track, {old.track}")


def _leads_to_itself(result: ManifestResult, by_id: dict[str, ManifestResult]) -> bool:
    seen: set[str] = set()
    current: ManifestResult | None = result
    while current is not None and current.supersedes is not None and current.id not in seen:
        seen.add(current.id)
        current = by_id.get(current.supersedes)
    return current is not None and current.id == result.id and bool(seen)


def _counted_twice(results: Sequence[ManifestResult]) -> Iterator[Problem]:
    seen: dict[tuple[str, str, str], str] = {}
    for position, result in enumerate(results):
        key = (result.track, result.configuration, result.submitted_by.account_id)
        if result.status == "accepted" and seen.setdefault(key, result.id) != result.id:
            yield Problem(
                f"results.{position}",
                f"is accepted beside {seen[key]!r}, of the same configuration, track and account",
            )


def _named(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
