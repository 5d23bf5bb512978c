"""Which release and which track a reader asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count
from django.http import Http404

from benchmarks.domain.definitions import BenchmarkRules
from benchmarks.domain.types import Track
from benchmarks.models import Revision
from jobs.models import Tally

UNTRACKED = "none"


@dataclass(frozen=True, slots=True)
class Selection:
    """A release with its rules, and the track chosen on it; None for untracked evidence."""

    rules: BenchmarkRules
    track: Track | None
    task_names: tuple[str, ...]
    revisions: tuple[Revision, ...]
    """All revisions of the Benchmark, newest first."""
    counts: Mapping[str, int]
    """Entries on each track reference of this release; '' for untracked evidence."""

    @property
    def reference(self) -> str:
        return self.track.reference if self.track else ""

    @property
    def key(self) -> str:
        """The track as it stands in an address."""
        return self.reference or UNTRACKED


def select_track(revision: Revision, wanted: str) -> Selection:
    """The track named by id or `id@version`, or "none"; '' is the release's default.

    Raises Http404 where the release declares no such track.
    """
    rules = revision.rules
    revisions = revision.resource.revisions.with_release().select_related("resource").order_by("-number")
    counts = Tally.objects.filter(revision=revision, scope=Tally.Scope.OVERALL).values_list("track_ref")
    return Selection(
        rules,
        _track(rules, wanted),
        tuple(revision.pins.values_list("name", flat=True)),
        tuple(revisions),
        dict(counts.annotate(n=Count("pk"))),
    )


def _track(rules: BenchmarkRules, wanted: str) -> Track | None:
    if wanted == UNTRACKED:
        return None
    if not wanted:
        return rules.default_track
    for track in rules.tracks:
        if wanted in (track.id, track.reference):
            return track
    raise Http404(f"This release has no track {wanted}.")
