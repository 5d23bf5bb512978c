"""The data of the pages of this app, as frozen values, and the way from an address to a revision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import Avg, Count, F
from django.http import Http404
from django.urls import reverse

from benchmarks.domain.definitions import BenchmarkRules, rules_from_content
from benchmarks.domain.difficulty import SCALE, difficulty
from benchmarks.domain.tracks import check_limits, describe_scoring, describe_track
from benchmarks.domain.types import Track
from benchmarks.links import (
    benchmark_href,
    board_href,
    compare_releases_href,
    release_href,
    revision_label,
    search_href,
    task_href,
)
from benchmarks.models import Kind, Resource, Revision, TaskPin
from benchmarks.pages import (
    BenchmarkPage,
    CategoryWords,
    Crumb,
    Figure,
    RevisionRow,
    TaskRow,
    TrackWords,
)
from benchmarks.track_example import TRACK_EXAMPLE
from benchmarks.update_note import updates_note
from plural_site import formats, markdown
from plural_site.accounts.models import Project


def find_benchmark(project: Project, slug: str) -> Resource:
    """Raises Http404 where the project has no such Benchmark."""
    benchmarks = Resource.objects.for_project(project).benchmarks()
    found = benchmarks.filter(slug=slug).first() if "\0" not in slug else None
    if found is None:
        raise Http404("No such Benchmark in this project.")
    return found


def find_revision(resource: Resource, selector: str) -> Revision:
    """The revision that `selector` names, the current one for ''. Raises Http404 where none does."""
    revisions = resource.revisions.with_release().select_related("resource")
    found = revisions.select(selector) if selector else revisions.filter(pk=resource.current_id or 0).first()
    if found is None:
        raise Http404(f"Benchmark {resource.slug} has no revision {selector}.")
    return found


def benchmark_crumbs(project: Project, resource: Resource, *more: Crumb) -> tuple[Crumb, ...]:
    """The way to a Benchmark's page, which is a link where there is `more`."""
    href = benchmark_href(project, resource.slug) if more else ""
    return (
        Crumb(project.name, reverse("jobs:project", args=[project.slug])),
        Crumb(formats.clean_text(resource.name), href),
        *more,
    )


def benchmark_page(project: Project, slug: str, selector: str, *, can_write: bool) -> BenchmarkPage:
    """The Benchmark as its revision `selector` declares it, the current one for ''. Raises Http404."""
    resource = find_benchmark(project, slug)
    revision = find_revision(resource, selector)
    content = revision.content
    rules = rules_from_content(content)
    pins = list(revision.pins.prefetch_related("categories").select_related("task_revision"))
    revisions = tuple(_revisions(project, resource, can_write=can_write))
    return BenchmarkPage(
        crumbs=benchmark_crumbs(project, resource),
        name=formats.clean_text(resource.name),
        slug=resource.slug,
        version=revision.version,
        number=revision.number,
        content_hash=revision.content_hash,
        board_href=board_href(project, revision),
        search_href=search_href(project, revision),
        release_href=_release_href(project, revision) if can_write else "",
        updates=updates_note(project, resource),
        current_label=next(
            (row.version or f"revision {row.number}" for row in revisions if row.is_current), ""
        ),
        description=formats.clean_text(rules.description),
        purpose=formats.clean_text(rules.purpose),
        success=formats.clean_text(rules.success),
        limitations=formats.clean_texts(rules.limitations),
        license=formats.clean_text(rules.license),
        readme_html=markdown.render(resource.readme) if resource.readme else "",
        scoring=formats.clean_texts(describe_scoring(rules.scoring)),
        tasks=tuple(_tasks(project, revision, rules, pins)),
        tasks_words=_tasks_words(rules),
        categories=tuple(
            CategoryWords(
                category.id,
                formats.clean_text(category.name),
                formats.clean_text(category.description),
                category.taxonomy or "",
                formats.clean_texts(category.tasks),
            )
            for category in rules.categories
        ),
        tracks=tuple(_tracks(project, revision, rules, pins)),
        track_example="" if rules.tracks else TRACK_EXAMPLE,
        revisions=revisions,
    )


def _tasks(project: Project, revision: Revision, rules: BenchmarkRules, pins: list[TaskPin]) -> list[TaskRow]:
    shared = Counter(pin.task_digest for pin in pins)
    track = rules.default_track
    query = {"track": track.reference} if track else {}
    means = _means(revision, rules)
    return [
        TaskRow(
            position=pin.position + 1,
            name=formats.clean_text(pin.name),
            version=formats.clean_text(pin.version),
            content_hash=pin.task_digest,
            short_hash=pin.task_digest.removeprefix("sha256:")[:12],
            weight=f"{pin.weight:g}",
            categories=tuple(formats.clean_text(category.name) for category in pin.categories.all()),
            shared_with=next(
                (
                    formats.clean_text(other.name)
                    for other in pins
                    if other.task_digest == pin.task_digest and other.pk != pin.pk
                ),
                "",
            )
            if shared[pin.task_digest] > 1
            else "",
            href=task_href(project, revision, pin.position + 1, **query),
            difficulty=_difficulty(means.get(pin.name), rules.scoring.score_range),
        )
        for pin in pins
    ]


def _means(revision: Revision, rules: BenchmarkRules) -> dict[str, float]:
    """By Task, the mean of the scores of all entries of the default track. One query, one row a Task."""
    scale = max(1.0, *(abs(end) for end in rules.scoring.score_range))  # a sum may be too large
    track = rules.default_track
    rows = revision.tallies.filter(
        track_ref=track.reference if track else "", scope="task", score__isnull=False
    )
    means = rows.order_by().values_list("key").annotate(mean=Avg(F("score") / scale))
    return {name: mean * scale for name, mean in means}


def _difficulty(mean: float | None, score_range: tuple[float, float]) -> Figure:
    if mean is None:
        return Figure(formats.DASH, "No Agent has a valid attempt")
    text, unit = formats.score_text(mean, *score_range), formats.score_unit(*score_range)
    word = difficulty(mean, *score_range)
    return Figure(f"{text}{formats.NO_BREAK_SPACE + unit if unit else ''}", str(mean), word)


def _tasks_words(rules: BenchmarkRules) -> str:
    track = rules.default_track
    on = f"on the track {track.reference}" if track else "run on no track"
    return f"Mean score: over the entries {on}, each counting once. {SCALE}"


def _tracks(
    project: Project, revision: Revision, rules: BenchmarkRules, pins: list[TaskPin]
) -> list[TrackWords]:
    hashes = {track.track_id: track.rules_hash for track in revision.tracks.all()}
    limits = _limits(project, pins)
    return [
        TrackWords(
            reference=track.reference,
            name=formats.clean_text(track.name),
            kind=track.kind,
            description=formats.clean_text(track.description),
            rules=formats.clean_texts(describe_track(track)),
            rules_hash=hashes[track.id],
            limits_broken=formats.clean_texts(_broken(track, pins, limits)),
            href=board_href(project, revision, track=track.reference),
        )
        for track in rules.tracks
    ]


def _limits(project: Project, pins: list[TaskPin]) -> dict[str, dict[str, Any]]:
    """Limits of the Environment of each Task, by the Environment's content hash."""
    tasks = {pin.task_digest: pin.task_revision.content["environment"] for pin in pins}
    environments = Revision.objects.filter(
        resource__project=project, resource__kind=Kind.ENVIRONMENT, content_hash__in=set(tasks.values())
    )
    return {found.content_hash: found.content["limits"] for found in environments}


def _broken(track: Track, pins: list[TaskPin], limits: dict[str, dict[str, Any]]) -> list[str]:
    problems = []
    for pin in pins:
        held = limits.get(pin.task_revision.content["environment"])
        if held is not None:
            problems += check_limits(
                track,
                pin.name,
                max_turns=held["max_turns"],
                max_seconds=held["max_seconds"],
                max_cost_usd=held["max_cost_usd"],
            )
    return problems


def _release_href(project: Project, revision: Revision) -> str:
    return "" if revision.version else release_href(project, revision.resource.slug, revision.number)


def _revisions(project: Project, resource: Resource, *, can_write: bool) -> list[RevisionRow]:
    found = list(resource.revisions.with_release().order_by("-number"))
    counts = {name: _counts(resource, name) for name in ("jobs", "pins", "tracks")}
    numbers = {revision.version: revision.number for revision in found if revision.version}
    rows = []
    for revision in found:
        revision.resource = resource
        claimed = revision.claimed_version
        note = (
            f"claims {claimed}, which is revision {numbers[claimed]}"
            if claimed and claimed != revision.version and claimed in numbers
            else ""
        )
        query = f"benchmark={resource.slug}&revision={revision.number}"
        jobs_href = f"{reverse('jobs:jobs', args=[project.slug])}?{query}"
        rows.append(
            RevisionRow(
                number=revision.number,
                version=revision.version,
                content_hash=revision.content_hash,
                short_hash=revision.content_hash.removeprefix("sha256:")[:12],
                href=board_href(project, revision),
                is_current=revision.pk == resource.current_id,
                tasks=counts["pins"].get(revision.pk, 0),
                tracks=counts["tracks"].get(revision.pk, 0),
                jobs=Figure(formats.count(counts["jobs"].get(revision.pk, 0)), href=jobs_href),
                note=note,
                created=formats.date_text(revision.created_at),
                release_href=_release_href(project, revision) if can_write else "",
                compare=_compared(project, resource, revision, found),
            )
        )
    return rows


def _compared(
    project: Project, resource: Resource, revision: Revision, every: Sequence[Revision]
) -> Figure | None:
    """A comparison of a revision with the current one; of that, with the one before it."""
    current = next((other for other in every if other.pk == resource.current_id), every[0])
    earlier = next((other for other in every if other.number < revision.number), None)
    other = current if revision.pk != current.pk else earlier
    if other is None:
        return None
    old, new = sorted((revision, other), key=lambda each: each.number)
    numbers = {"from": str(old.number), "to": str(new.number)}
    href = compare_releases_href(project, resource.slug, **numbers)
    return Figure(f"with {revision_label(other)}", href=href)


def _counts(resource: Resource, related: str) -> dict[int, int]:
    """How many rows of a relation each revision has; Jobs only once they have landed."""
    landed = {"jobs__state": "ready"} if related == "jobs" else {}
    rows = resource.revisions.filter(**landed).values_list("pk").annotate(n=Count(related)).order_by()
    return dict(rows)
