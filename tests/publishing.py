"""Rows of the Hub without what they would be made from."""

from __future__ import annotations

from django.contrib.auth import get_user_model

from benchmarks.models import Resource
from hub.models import Draft, Facet, Listing, Manifest, ManifestRecord, Publication, PublishedResult
from tests.builders import START


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


def hub_rows(resource: Resource) -> Publication:
    """A row in every table of the Hub, and a second manifest that has no record."""
    publication = Publication.objects.create(
        project=resource.project,
        resource=resource,
        account_slug="acme",
        slug=resource.slug,
        title=resource.name,
    )
    manifest, _ = (
        Manifest.objects.create(
            publication=publication,
            version="1.0.0",
            schema_version="plural.benchmark-publication/1",
            digest=digest(number),
            body=b"{}",
            published_at=START,
        )
        for number in (1, 2)
    )
    ManifestRecord.objects.create(
        publication=publication,
        version="1.0.0",
        sequence=1,
        manifest=manifest,
        kind="publish",
        by="Ann",
        at=START,
        digest=digest(3),
        body=b"{}",
    )
    PublishedResult.objects.create(
        manifest=manifest,
        result_id="res_1",
        track_ref="open@1.0.0",
        configuration=digest(4),
        label="steady",
        model="sim/steady",
        status="accepted",
        provenance="self_reported",
        score=0.5,
        eligible=True,
    )
    listing = Listing.objects.create(
        publication=publication,
        manifest=manifest,
        title=publication.title,
        version="1.0.0",
        publisher="Acme",
        results=1,
        tasks=2,
        is_withdrawn=False,
        updated_at=START,
        folded="",
    )
    Facet.objects.create(listing=listing, kind="licence", value="MIT")
    person = get_user_model().objects.create(email="publisher@example.test")
    Draft.objects.create(publication=publication, person=person)
    return publication
