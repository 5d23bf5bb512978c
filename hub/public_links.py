"""Addresses of the public pages."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from hub.public_read import Place


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses around one manifest of a publication. Those of a preview are '': nothing is there yet."""

    path: str
    """Of the page that shows the manifest."""
    publication: str = ""
    manifest: str = ""
    """Of the manifest at its digest, which shows the same for ever."""
    is_pinned: bool = False
    """Whether the page is about this manifest whatever comes after it."""

    def result(self, result_id: str) -> str:
        base = self.manifest if self.is_pinned else self.publication
        return f"{base}/results/{result_id}" if base else ""

    def part(self, name: str, query: str = "") -> str:
        """Something made of the manifest: a file, a chart, its verification."""
        return f"{self.manifest}/{name}{f'?{query}' if query else ''}" if self.manifest else ""


def publication_href(place: Place) -> str:
    return reverse("hub:publication", args=[place.account, place.slug])


def release_href(place: Place, version: str) -> str:
    """The current release has the publication's own address."""
    if version == place.current.version:
        return publication_href(place)
    return reverse("hub:release", args=[place.account, place.slug, version])


def manifest_href(place: Place, digest: str) -> str:
    return reverse("hub:manifest", args=[place.account, place.slug, digest])


def history_href(place: Place) -> str:
    return reverse("hub:history", args=[place.account, place.slug])


def diff_href(place: Place, old: str, new: str) -> str:
    path = reverse("hub:diff", args=[place.account, place.slug])
    return f"{path}?{urlencode({'from': old, 'to': new})}"


def json_href(digest: str) -> str:
    return f"/api/v1/public/benchmark-manifests/{digest}"


def absolute(path: str) -> str:
    """An address to be used outside the site."""
    return f"{settings.PLURAL_SITE_URL.rstrip('/')}{path}"


def links_of(place: Place, path: str, digest: str, *, is_pinned: bool) -> Links:
    return Links(path, publication_href(place), manifest_href(place, digest), is_pinned)
