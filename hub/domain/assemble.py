"""From the facts of a release and its results to a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hub.domain.facts import ReleaseFacts, ResultFacts, StatusChange
from hub.domain.manifest import (
    Disclosure,
    Manifest,
    ManifestAbout,
    ManifestPublication,
    ManifestPublisher,
    PublicationStatus,
)


def assemble(
    *,
    publication: ManifestPublication,
    publisher: ManifestPublisher,
    release: ReleaseFacts,
    results: Sequence[ResultFacts],
    about: ManifestAbout,
    disclosure: Disclosure,
    published_at: datetime,
    previous: Manifest | None = None,
    changes: Sequence[StatusChange] = (),
) -> Manifest:
    """The manifest of these results. The order of `results` and of their attempts never changes a byte.

    `previous` is the current manifest of the same release, whose results are carried over as they were
    published, or else that of the publication's release before, which the new one then supersedes. A
    result in `results` under the id of a published one is computed anew and must come out the same.
    Raises AssemblyError with every reason why there can be no such manifest.
    """
    raise NotImplementedError


def revise(
    previous: Manifest,
    *,
    published_at: datetime,
    changes: Sequence[StatusChange] = (),
    status: PublicationStatus | None = None,
) -> Manifest:
    """`previous` with results or the whole publication withdrawn or accepted again, and nothing else."""
    raise NotImplementedError
