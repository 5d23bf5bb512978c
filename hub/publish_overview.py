"""The page of a project that says what of it is public, and what is about to be."""

from __future__ import annotations

from collections import defaultdict

from django.db.models import Count, Q
from django.urls import reverse

from benchmarks.models import Resource
from benchmarks.pages import Crumb
from hub.models import Draft, ManifestRecord, Publication, RecordKind
from hub.publish_pages import DraftRow, PublishBenchmark, PublishedRelease, PublishPage
from hub.wizard import STEPS, step_href
from plural_site import formats
from plural_site.accounts.models import Project, User

TONES = {RecordKind.WITHDRAW: "bad", RecordKind.CORRECT: "warn"}
DID = {
    RecordKind.PUBLISH: "published",
    RecordKind.CORRECT: "corrected",
    RecordKind.WITHDRAW: "withdrawn",
    RecordKind.RESTORE: "published again",
}


def publish_page(project: Project, reader: User, *, may_publish: bool) -> PublishPage:
    """Six queries, whatever the number of Benchmarks, releases and drafts."""
    records = _newest_records(project)
    drafts: dict[int, list[Draft]] = defaultdict(list)
    for draft in Draft.objects.filter(publication__project=project).select_related(
        "person", "release", "publication"
    ):
        drafts[draft.publication.resource_id or 0].append(draft)
    publications = {found.resource_id: found for found in Publication.objects.filter(project=project)}
    return PublishPage(
        crumbs=(
            Crumb(project.name, reverse("jobs:project", args=[project.slug])),
            Crumb("Publish"),
        ),
        benchmarks=tuple(
            _benchmark(
                project,
                resource,
                publications.get(resource.pk),
                records.get(resource.pk, []),
                drafts[resource.pk],
                reader=reader,
                may_publish=may_publish,
            )
            for resource in Resource.objects.for_project(project).benchmarks().order_by("name", "pk")
        ),
        may_publish=may_publish,
        who="A manager of the project gives the right to publish, on its page of members.",
    )


def _newest_records(project: Project) -> dict[int, list[ManifestRecord]]:
    """The last record of each release, by Benchmark, newest first."""
    found: dict[tuple[int, str], ManifestRecord] = {}
    records = (
        ManifestRecord.objects.filter(publication__project=project)
        .select_related("publication", "manifest")
        .defer("body", "manifest__body")
        .annotate(accepted=Count("manifest__results", filter=Q(manifest__results__status="accepted")))
    )
    for record in records.order_by("pk"):
        found[record.publication.resource_id or 0, record.version] = record
    newest: dict[int, list[ManifestRecord]] = defaultdict(list)
    for (resource, _), record in sorted(found.items(), key=lambda item: -item[1].pk):
        newest[resource].append(record)
    return newest


def _benchmark(
    project: Project,
    resource: Resource,
    publication: Publication | None,
    records: list[ManifestRecord],
    drafts: list[Draft],
    *,
    reader: User,
    may_publish: bool,
) -> PublishBenchmark:
    own = next((draft for draft in drafts if draft.person_id == reader.pk), None)
    return PublishBenchmark(
        name=formats.clean_text(resource.name),
        href=reverse("benchmarks:benchmark", args=[project.slug, resource.slug]),
        start_href=reverse("hub:publish-start", args=[project.slug, resource.slug]),
        public_href=publication.get_absolute_url() if publication and records else "",
        releases=tuple(_release(record) for record in records),
        drafts=tuple(_draft(project, resource, draft, reader) for draft in drafts) if may_publish else (),
        can_start=may_publish and own is None,
    )


def _release(record: ManifestRecord) -> PublishedRelease:
    accepted = getattr(record, "accepted", 0)
    return PublishedRelease(
        version=record.version,
        status=DID[RecordKind(record.kind)],
        tone=TONES.get(RecordKind(record.kind), "good"),
        results=f"{accepted} result{'' if accepted == 1 else 's'}",
        sequence=record.sequence,
        by=formats.clean_text(record.by),
        at=formats.datetime_text(record.at),
        reason=formats.clean_text(record.reason),
        href=f"{record.publication.get_absolute_url()}/manifests/{record.manifest.digest}",
    )


def _draft(project: Project, resource: Resource, draft: Draft, reader: User) -> DraftRow:
    step = STEPS[draft.reached - 1]
    is_own = draft.person_id == reader.pk
    return DraftRow(
        release=draft.release.version if draft.release else "no release chosen",
        step=f"step {step.number} of {len(STEPS)}, {step.label.lower()}",
        by="you" if is_own else formats.clean_text(str(draft.person)),
        saved=formats.datetime_text(draft.updated_at),
        href=step_href(project, resource.slug, step.name) if is_own else "",
    )
