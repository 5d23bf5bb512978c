"""How a publication stands in the Hub's search: derived from the manifest at its address."""

from __future__ import annotations

from datetime import datetime

from hub.domain.manifest import Manifest as Content
from hub.domain.stored import parse_manifest
from hub.models import Facet, Listing, Manifest, Publication
from hub.public_read import find_place


def list_publication(publication: Publication, manifest: Manifest, content: Content, at: datetime) -> None:
    """Replaces the publication's listing once `manifest` has its record. Call it in a transaction.

    It shows the newest release that stands, as the publication's page does: not always `manifest`.
    """
    place = find_place(publication.account_slug, publication.slug)
    current = place.current.head.manifest_digest
    if current != manifest.digest:
        manifest = Manifest.objects.get(digest=current)
        content = parse_manifest(bytes(manifest.body))
    accepted = [result for result in content.results if result.status == "accepted"]
    Listing.objects.filter(publication=publication).delete()
    listing = Listing.objects.create(
        publication=publication,
        manifest=manifest,
        title=content.publication.title,
        description=content.about.description,
        version=content.release.version,
        publisher=content.publisher.name,
        results=len(accepted),
        tasks=len(content.tasks),
        is_withdrawn=content.status == "withdrawn",
        updated_at=at,
        folded=_searched(content),
    )
    Facet.objects.bulk_create(
        Facet(listing=listing, kind=kind, value=value[:500]) for kind, value in sorted(set(_facets(content)))
    )


def _facets(content: Content) -> list[tuple[str, str]]:
    kinds = {track.id: track.kind for track in content.tracks}
    used = {result.track.partition("@")[0] for result in content.results if result.status == "accepted"}
    return [
        *((Facet.Kind.TAXONOMY.value, found.taxonomy) for found in content.categories if found.taxonomy),
        *((Facet.Kind.KIND.value, kinds[track]) for track in used),
        *([(Facet.Kind.LICENCE.value, content.about.license)] if content.about.license else []),
        (Facet.Kind.PUBLISHER.value, content.publisher.name),
    ]


def _searched(content: Content) -> str:
    about = content.about
    texts = [
        content.publication.title,
        content.publication.slug,
        content.publisher.name,
        about.description,
        about.purpose,
        about.license,
        *(task.name for task in content.tasks),
        *(category.name for category in content.categories),
        *(category.taxonomy or "" for category in content.categories),
        *(found.label for found in content.configurations),
        *(found.model for found in content.configurations),
    ]
    return "\n".join(filter(None, texts)).casefold()
