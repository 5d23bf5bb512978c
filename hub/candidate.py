"""The manifest that a draft stands for. Nothing here writes.

Given the same draft, evidence and time it always comes out as the same bytes.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Container
from dataclasses import astuple, dataclass, replace
from datetime import datetime

from benchmarks.domain.types import DomainError
from hub.choices import Choices, Pick, Text
from hub.domain.assemble import assemble, revise
from hub.domain.facts import ResultFacts, StatusChange
from hub.domain.manifest import (
    Disclosure,
    Manifest,
    ManifestAbout,
    ManifestPublication,
    ManifestPublisher,
    ManifestResult,
)
from hub.domain.stored import parse_manifest, reference_of
from hub.gathering import Gathering
from hub.models import ManifestRecord, Publication
from hub.wizard import DraftView


@dataclass(frozen=True, slots=True)
class Candidate:
    """`base` is the current manifest of the same release, None where nothing of it is public yet."""

    manifest: Manifest
    base: Manifest | None


class Builder:
    def __init__(self, view: DraftView) -> None:
        if view.draft.release is None:
            raise DomainError("No release is chosen.")
        self.view, self.release = view, view.draft.release
        self.gathering = Gathering(self.release.revision)

    def build(self, at: datetime, choices: Choices | None = None) -> Candidate:
        """Raises DomainError where there can be no such manifest, with every reason."""
        chosen = choices or self.view.choices
        head = self.view.head
        base = parse_manifest(bytes(head.manifest.body)) if head else None
        if chosen.withdraws_release:
            if base is None:
                raise DomainError("Nothing of this release is public, so there is nothing to withdraw.")
            return Candidate(revise(base, published_at=at, status="withdrawn"), base)
        text = chosen.text or default_text(self.view)
        publisher = ManifestPublisher(self.view.publication.account_slug, text.publisher)
        results, changes = self._results(chosen, publisher, base)
        manifest = assemble(
            publication=self._publication(text),
            publisher=publisher,
            release=self.gathering.release(chosen),
            results=results,
            about=ManifestAbout(text.description, text.purpose, text.success, text.limitations, text.license),
            disclosure=Disclosure(chosen.instructions, chosen.findings),
            published_at=at,
            previous=_shown(base, at),
            supersedes=self._release_before() if base is None else None,
            changes=changes,
        )
        return Candidate(manifest, base)

    def _release_before(self) -> str | None:
        """Reference of the newest manifest, of another release."""
        newest = latest_record(self.view.publication)
        if newest is None:
            return None
        body = bytes(newest.manifest.body)
        return reference_of(parse_manifest(body), newest.manifest.digest)

    def _publication(self, text: Text) -> ManifestPublication:
        found = self.view.publication
        return ManifestPublication(f"pub_{found.pk}", found.slug, text.title, found.get_absolute_url())

    def _results(
        self, choices: Choices, publisher: ManifestPublisher, base: Manifest | None
    ) -> tuple[list[ResultFacts], list[StatusChange]]:
        published = {result.id: result for result in base.results} if base else {}
        changes = [StatusChange(name, withdrawn=True, reason=why) for name, why in choices.withdrawn.items()]
        results = []
        for pick in choices.picks:
            found = self.gathering.result(
                pick,
                "",
                publisher,
                supersedes=_accepted(base, pick),
                findings=choices.findings,
            )
            if found is None:
                raise DomainError(
                    f"A picked result on {pick.track} has no attempt in its Jobs. Pick again in step 2."
                )
            name = self._result_id(found)
            if (old := published.get(name)) is None:
                results.append(replace(found, id=name))
            elif old.status == "withdrawn":
                changes.append(StatusChange(name, withdrawn=False))
            elif old.status == "superseded":
                results.append(replace(found, id=_next_free(name, published)))
        return results, changes

    def _result_id(self, found: ResultFacts) -> str:
        """Made from what it is and rests on, so that the same evidence never counts as another result."""
        evidence = sorted(repr(astuple(attempt)) for attempt in found.attempts)
        parts = [
            f"pub_{self.view.publication.pk}",
            self.release.revision.content_hash,
            found.track,
            found.agent.content_hash,
            *found.jobs,
            *evidence,
        ]
        whole = "\n".join(parts)
        return f"res_{hashlib.sha256(whole.encode()).hexdigest()[:16]}"


def _shown(base: Manifest | None, at: datetime) -> Manifest | None:
    """The current manifest, as published again where it is withdrawn."""
    if base is None or base.status == "published":
        return base
    return revise(base, published_at=at, status="published")


def default_text(view: DraftView) -> Text:
    """What the publication says now, else what the release itself says."""
    previous = parse_manifest(bytes(view.head.manifest.body)) if view.head else None
    previous = previous or latest_manifest(view.publication)
    rules = view.draft.release.revision.rules if view.draft.release else None
    if previous is not None:
        about = previous.about
        return Text(
            title=previous.publication.title,
            description=about.description,
            purpose=about.purpose,
            success=about.success,
            limitations=about.limitations,
            license=about.license,
            publisher=previous.publisher.name,
        )
    return Text(
        title=view.resource.name,
        description=rules.description if rules else "",
        purpose=rules.purpose if rules else "",
        success=rules.success if rules else "",
        limitations=rules.limitations if rules else (),
        license=rules.license if rules else "",
        publisher=view.project.account.name,
    )


def latest_record(publication: Publication) -> ManifestRecord | None:
    """The publication's newest record, of whichever release."""
    records = ManifestRecord.objects.filter(publication=publication).select_related("manifest")
    return records.order_by("pk").last()


def latest_manifest(publication: Publication) -> Manifest | None:
    record = latest_record(publication)
    return parse_manifest(bytes(record.manifest.body)) if record else None


def _accepted(base: Manifest | None, pick: Pick) -> str | None:
    found: ManifestResult | None = next(
        (
            result
            for result in (base.results if base else ())
            if result.status == "accepted" and (result.track, result.configuration) == pick.key
        ),
        None,
    )
    return found.id if found else None


def _next_free(name: str, taken: Container[str]) -> str:
    return next(free for number in itertools.count(2) if (free := f"{name}-{number}") not in taken)
