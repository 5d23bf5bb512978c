"""What is shown once something has been published."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404
from django.urls import reverse

from benchmarks.models import Resource
from benchmarks.pages import Crumb
from hub.domain.stored import parse_manifest, reference_of
from hub.models import Manifest, RecordKind
from hub.publish_overview import DID
from hub.publish_pages import DonePage
from plural_site import formats
from plural_site.accounts.models import Project


def is_published(slug: str, digest: str) -> bool:
    return Manifest.objects.filter(publication__resource__slug=slug, digest=digest).exists()


def done_page(project: Project, resource: Resource, digest: str) -> DonePage:
    """Raises Http404 where the Benchmark has published no such manifest."""
    manifest = (
        Manifest.objects.filter(publication__resource=resource, digest=digest)
        .select_related("publication", "record")
        .first()
    )
    if manifest is None:
        raise Http404("Nothing was published under this digest.")
    content = parse_manifest(bytes(manifest.body))
    reference = reference_of(content, digest)
    path = manifest.publication.get_absolute_url()
    title = formats.clean_text(content.publication.title)
    address = settings.PLURAL_SITE_URL + path
    overview = reverse("hub:publish", args=[project.slug])
    year = manifest.published_at.year
    return DonePage(
        crumbs=(
            Crumb(project.name, reverse("jobs:project", args=[project.slug])),
            Crumb(
                formats.clean_text(resource.name),
                reverse("benchmarks:benchmark", args=[project.slug, resource.slug]),
            ),
            Crumb("Publish", overview),
        ),
        title=f"{title} {content.release.version} is {DID[RecordKind(manifest.record.kind)]}",
        reference=reference,
        digest=digest,
        address=address,
        as_of_address=f"{address}/manifests/{digest}",
        citation=(
            f"{formats.clean_text(content.publisher.name)} ({year}). {title}, release "
            f"{content.release.version}. {reference}"
        ),
        what_next=(
            ("See it as readers do", path),
            ("Check it: every digest and figure recomputed", f"{path}/manifests/{digest}/verify"),
            ("Publish more, correct or withdraw", overview),
        ),
    )
