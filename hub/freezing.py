"""From a draft to what is public: the preview, and the freeze of exactly the bytes that were shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from benchmarks.domain.types import DomainError
from hub import drafts
from hub.checking import Checked, Checking
from hub.domain.consistency import consistency
from hub.domain.manifest import Manifest as Content
from hub.domain.records import RecordKind, StoredRecord, Subject, next_record, store
from hub.listing import list_publication
from hub.models import Draft, Manifest, ManifestRecord, Publication, PublishedResult
from hub.wizard import DraftView
from plural_site.accounts.actions import record
from plural_site.accounts.models import User

VALID_FOR = timedelta(hours=24)
"""An older preview is made anew."""


class Moved(DomainError):
    """What would be published is no longer what was shown."""


def is_current(draft: Draft, head: ManifestRecord | None, now: datetime) -> bool:
    """Whether the preview that a draft holds may still be frozen, as far as the clock and the Hub go."""
    return (
        draft.candidate_at is not None
        and now - draft.candidate_at < VALID_FOR
        and draft.candidate_base == (head.manifest.digest if head else "")
    )


def preview(view: DraftView, now: datetime | None = None) -> Checked:
    """Makes the bytes anew where the stored ones are missing, old or of another state, and stores them.

    Raises DomainError where there can be no manifest.
    """
    draft, at = view.draft, now or timezone.now()
    kept = is_current(draft, view.head, at)
    checked = Checking(view).check(draft.candidate_at if kept and draft.candidate_at else at)
    if not kept or checked.digest != draft.candidate_digest:
        if kept:  # the evidence moved: a new time, so that nobody takes it for what was shown
            checked = Checking(view).check(at)
        _store(view, checked, at)
    return checked


def freeze(view: DraftView, *, actor: User, seen: int, digest: str) -> Manifest:
    """Publishes exactly the bytes whose digest was shown. All or nothing.

    Raises Moved where they are not what would be published now, DomainError where something is open, and
    drafts.DraftChanged. The caller has checked Need.PUBLISH.
    """
    draft = view.draft
    if draft.candidate is None or draft.candidate_digest != digest:
        raise Moved("What would be published is no longer what was shown. Read what changed, then decide.")
    if not is_current(draft, view.head, timezone.now()) or draft.candidate_at is None:
        raise Moved("The preview is out of date, so it was made anew. Read it again, then decide.")
    checked = Checking(view).check(draft.candidate_at)
    if checked.body != bytes(draft.candidate):
        raise Moved(
            "Something behind the preview moved, so it was made anew. Read what changed, then decide."
        )
    if hindrance := hindrance_of(view, checked):
        raise DomainError(hindrance)
    with transaction.atomic():
        publication = Publication.objects.select_for_update(of=("self",)).get(pk=view.publication.pk)
        locked = drafts.lock(draft, seen)
        head = ManifestRecord.objects.head(publication, checked.manifest.release.version)
        if not is_current(locked, head, timezone.now()) or locked.candidate_digest != digest:
            raise Moved("Somebody published meanwhile. Read what changed, then decide.")
        return _insert(view, checked, publication, head, actor)


def hindrance_of(view: DraftView, checked: Checked) -> str:
    """Why these bytes can't be frozen, in words; '' where they can."""
    if checked.settlement.open:
        number = len(checked.settlement.open)
        return f"{number} finding{' is' if number == 1 else 's are'} open. Settle each before publishing."
    if changes_nothing(checked):
        return "Nothing would change: this is what is public already."
    if problems := consistency(checked.manifest):
        return f"The manifest is not consistent: {problems[0].field} {problems[0].message}"
    if step_of(checked).kind != "publish" and not reason_of(view):
        return "Say in step 2 why what is published changes. Readers see it."
    return ""


def changes_nothing(checked: Checked) -> bool:
    """Whether all but the time is as it is published now."""
    base = checked.candidate.base
    if base is None:
        return False
    at = base.release.published_at
    return replace(checked.manifest, release=replace(checked.manifest.release, published_at=at)) == base


@dataclass(frozen=True, slots=True)
class Step:
    """What the step from the current manifest to the next one is. `result` where it is about one alone."""

    kind: RecordKind
    result: str | None = None


def step_of(checked: Checked) -> Step:
    base, manifest = checked.candidate.base, checked.manifest
    if base is None:
        return Step("publish")
    if manifest.status == "withdrawn":
        return Step("withdraw")
    if base.status == "withdrawn":
        return Step("restore")
    before = {result.id: result.status for result in base.results}
    ended = [
        result
        for result in manifest.results
        if before.get(result.id) == "accepted" and result.status != "accepted"
    ]
    if len(ended) == 1:
        return Step("withdraw" if ended[0].status == "withdrawn" else "correct", ended[0].id)
    only_adds = not ended and _without_results(manifest) == _without_results(base)
    same_status = all(before.get(result.id, result.status) == result.status for result in manifest.results)
    return Step("publish" if only_adds and same_status else "correct")


def _without_results(manifest: Content) -> Content:
    release = replace(manifest.release, published_at="")
    return replace(manifest, release=release, results=(), configurations=())


def reason_of(view: DraftView) -> str:
    """What was said for the whole, else the reasons of the results one after another."""
    if view.choices.reason:
        return view.choices.reason
    reasons = [*view.choices.withdrawn.values(), *(pick.reason for pick in view.choices.picks)]
    return "; ".join(dict.fromkeys(filter(None, reasons)))


@transaction.atomic
def _store(view: DraftView, checked: Checked, at: datetime) -> None:
    draft = drafts.lock(view.draft, view.draft.version)
    draft.candidate, draft.candidate_digest, draft.candidate_at = checked.body, checked.digest, at
    draft.candidate_base = view.head.manifest.digest if view.head else ""
    draft.save(update_fields=["candidate", "candidate_digest", "candidate_at", "candidate_base"])
    view.draft.candidate, view.draft.candidate_digest = checked.body, checked.digest
    view.draft.candidate_at, view.draft.candidate_base = at, draft.candidate_base


def _insert(
    view: DraftView, checked: Checked, publication: Publication, head: ManifestRecord | None, actor: User
) -> Manifest:
    content, step, at = checked.manifest, step_of(checked), timezone.now()
    manifest = Manifest.objects.create(
        publication=publication,
        version=content.release.version,
        schema_version=content.schema_version,
        digest=checked.digest,
        body=checked.body,
        published_at=datetime.fromisoformat(content.release.published_at),
    )
    made = next_record(
        StoredRecord(head.digest, bytes(head.body)) if head else None,
        manifest=checked.digest,
        kind=step.kind,
        reason=view.choices.reason if step.kind == "publish" else reason_of(view),
        by=str(actor),
        at=at,
        subject=Subject(content.publication.id, content.release.version, step.result),
    )
    stored = store(made)
    ManifestRecord.objects.create(
        publication=publication,
        version=content.release.version,
        sequence=made.sequence,
        manifest=manifest,
        previous=head,
        kind=step.kind,
        reason=made.reason,
        by=made.by,
        at=at,
        digest=stored.digest,
        body=stored.body,
    )
    PublishedResult.objects.bulk_create(_results(manifest, content))
    if publication.title != content.publication.title:
        publication.title = content.publication.title
        publication.save(update_fields=["title"])
    list_publication(publication, manifest, content, at)
    waived = {name: waiver.reason for name, waiver in view.choices.waived.items()}
    record(
        actor,
        f"publication.{step.kind}",
        publication,
        project=view.project,
        digest=checked.digest,
        title=publication.title,
        version=content.release.version,
        sequence=made.sequence,
        reason=made.reason,
        waived=waived,
    )
    view.draft.delete()
    return manifest


def _results(manifest: Manifest, content: Content) -> list[PublishedResult]:
    found = {configuration.id: configuration for configuration in content.configurations}
    return [
        PublishedResult(
            manifest=manifest,
            result_id=result.id,
            track_ref=result.track,
            configuration=result.configuration,
            label=found[result.configuration].label,
            model=found[result.configuration].model,
            status=result.status,
            provenance=result.provenance,
            score=result.score,
            eligible=result.eligible,
        )
        for result in content.results
    ]
