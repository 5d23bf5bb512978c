"""One-table questions, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from hub.models import Listing, ManifestRecord, Publication  # noqa: F401 - named by the base classes


class RecordQuerySet(models.QuerySet["ManifestRecord"]):
    def chain(self, publication: Publication, version: str) -> RecordQuerySet:
        """The records of a release, from its first."""
        return self.filter(publication=publication, version=version).order_by("sequence")

    def head(self, publication: Publication, version: str) -> ManifestRecord | None:
        """The newest record of a release, with its manifest."""
        return self.chain(publication, version).select_related("manifest").last()


class ListingQuerySet(models.QuerySet["Listing"]):
    def matching(self, text: str) -> ListingQuerySet:
        """Listings that hold every word of `text`, whatever its case."""
        found = self
        for word in text.casefold().split():
            found = found.filter(folded__contains=word)
        return found
