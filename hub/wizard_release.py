"""Step 1: a release. It needs a version, and no two Tasks of one content."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from django.db.models import Count, Max, Q
from django.urls import reverse

from benchmarks.models import Release, Revision, TaskPin
from hub.models import ManifestRecord
from hub.publish_pages import FieldError, ReleaseChoice, ReleasePage
from hub.wizard import STEPS, DraftView
from plural_site import formats

STEP = STEPS[0]


def release_page(view: DraftView, errors: Sequence[FieldError] = ()) -> ReleasePage:
    resource = view.resource
    revisions = resource.revisions.with_release().order_by("-number")
    counts = {
        revision.pk: revision
        for revision in resource.revisions.annotate(
            task_count=Count("pins", distinct=True),
            track_count=Count("tracks", distinct=True),
            job_count=Count("jobs", filter=Q(jobs__state="ready") & ~Q(jobs__track_ref=""), distinct=True),
        ).defer("definition")
    }
    published = dict(
        ManifestRecord.objects.filter(publication=view.publication)
        .values_list("version")
        .annotate(last=Max("sequence"))
    )
    versioned = [revision for revision in revisions if revision.version]
    twins = _twins(versioned)
    current = view.draft.release.version if view.draft.release else ""
    if not current and resource.current_id in {revision.pk for revision in versioned}:
        current = next(revision.version for revision in versioned if revision.pk == resource.current_id)
    return ReleasePage(
        frame=view.frame(STEP, errors),
        choices=tuple(
            ReleaseChoice(
                value=revision.version,
                label=revision.version,
                detail=_detail(counts[revision.pk]),
                hindrances=tuple(_hindrances(twins.get(revision.pk, []), counts[revision.pk])),
                published=(
                    f"published, manifest {published[revision.version]}"
                    if revision.version in published
                    else ""
                ),
                chosen=revision.version == current,
            )
            for revision in versioned
        ),
        unversioned=_unversioned(len(revisions) - len(versioned)),
        benchmark_href=reverse("benchmarks:benchmark", args=[view.project.slug, resource.slug]),
    )


def chosen_release(view: DraftView, data: Mapping[str, str]) -> Release | FieldError:
    """The release that the answer names, or what is wrong with it."""
    found = (
        Release.objects.filter(resource=view.resource, version=data.get("release", ""))
        .select_related("revision")
        .first()
    )
    if found is None:
        return FieldError("release-1", "Choose a release.")
    twins = _twins([found.revision]).get(found.revision_id, [])
    if twins:
        return FieldError("release-1", _same_content(twins))
    return found


def _twins(revisions: Sequence[Revision]) -> dict[int, list[str]]:
    """Names of Tasks that share their content with another of the release, by revision."""
    pins = TaskPin.objects.filter(revision__in=[revision.pk for revision in revisions]).order_by("position")
    rows = list(pins.values_list("revision_id", "task_digest", "name"))
    often = Counter((revision, digest) for revision, digest, _ in rows)
    found: dict[int, list[str]] = defaultdict(list)
    for revision, digest, name in rows:
        if often[revision, digest] > 1:
            found[revision].append(name)
    return found


def _same_content(names: Sequence[str]) -> str:
    listed = ", ".join(formats.clean_texts(names))
    return (
        f"Tasks of this release have the same content ({listed}), so a reader could not tell them apart. "
        "Give the Benchmark a release in which each Task differs."
    )


def _hindrances(twins: Sequence[str], counted: object) -> list[str]:
    found = [_same_content(twins)] if twins else []
    if not getattr(counted, "track_count", 0):
        found.append("It declares no track, so no result of it can be published.")
    return found


def _detail(counted: object) -> str:
    tasks, tracks, jobs = (getattr(counted, name, 0) for name in ("task_count", "track_count", "job_count"))
    return (
        f"{tasks} Task{'' if tasks == 1 else 's'}, {tracks} track{'' if tracks == 1 else 's'}, "
        f"{formats.count(jobs)} Job{'' if jobs == 1 else 's'} on a track"
    )


def _unversioned(number: int) -> str:
    if not number:
        return ""
    some = "1 revision has" if number == 1 else f"{number} revisions have"
    return f"{some} no version and can’t be published before it is given one."
