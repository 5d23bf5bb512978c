"""Two releases of a Benchmark: what changed, and the scores of each Agent on only what did not."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import Http404, QueryDict
from django.urls import reverse

from benchmarks.board.parts import Choice, Option
from benchmarks.diff_part import Side, diff_part, stored_side
from benchmarks.domain.comparable import Comparable, Excluded, Release, find_comparable
from benchmarks.domain.types import Track
from benchmarks.links import board_href, revision_label, task_href
from benchmarks.models import Resource, Revision
from benchmarks.pages import Crumb, Figure
from benchmarks.selectors import benchmark_crumbs, find_revision
from jobs.compare_links import whole_number
from jobs.compare_pages import MissingTasks
from jobs.release_compare_pages import CompareReleasesPage, ScoresPart
from jobs.release_scores import ReleaseScores
from plural_site import formats
from plural_site.accounts.models import Project

NAMES_SHOWN = 100


@dataclass(frozen=True, slots=True)
class ReleasesQuery:
    """Selectors of two revisions, '' for the default; a track; pages of updated Tasks and of Agents."""

    old: str = ""
    new: str = ""
    track: str = ""
    page: int = 1
    agents: int = 1

    @classmethod
    def parse(cls, query: QueryDict) -> ReleasesQuery:
        page, agents = (whole_number(query.get(name, "")) for name in ("page", "agents"))
        return cls(query.get("from", ""), query.get("to", ""), query.get("track", ""), page, agents)


def compare_releases_page(project: Project, resource: Resource, query: ReleasesQuery) -> CompareReleasesPage:
    """Raises Http404 where a revision or a track that is asked for isn't there."""
    return _Page(project, resource, query).page()


class _Page:
    def __init__(self, project: Project, resource: Resource, query: ReleasesQuery) -> None:
        self.project, self.resource, self.query = project, resource, query
        self.revisions = list(
            resource.revisions.with_release().select_related("resource").order_by("-number")
        )
        self.new = find_revision(resource, query.new)
        self.old = find_revision(resource, query.old) if query.old else self._before(self.new)
        self.old_side, self.new_side = stored_side(self.old), stored_side(self.new)
        self.found = find_comparable(_release(self.old, self.old_side), _release(self.new, self.new_side))
        self.is_same = self.old.pk == self.new.pk
        self.track = None if self.is_same or self.found.reasons else self._track()

    def page(self) -> CompareReleasesPage:
        old, new = revision_label(self.old), revision_label(self.new)
        diff = None
        if not self.is_same:
            diff, _ = diff_part(
                self.project,
                self.old_side,
                self.new_side,
                page=self.query.page,
                href=lambda page: self._href(page=page, agents=self.query.agents),
            )
        name = formats.clean_text(self.resource.name)
        return CompareReleasesPage(
            crumbs=benchmark_crumbs(self.project, self.resource, Crumb("Compare releases")),
            name=name,
            title=f"{old} and {new}",
            action=self._path,
            old_options=self._options(self.old),
            new_options=self._options(self.new),
            old_label=old,
            new_label=new,
            old_href=board_href(self.project, self.old),
            new_href=board_href(self.project, self.new),
            swap_href=self._href(swap=True),
            is_same=self.is_same,
            reasons=() if self.is_same else formats.clean_texts(self.found.reasons),
            tasks=self._tasks(self.found),
            more_tasks=max(len(self.found.tasks) - NAMES_SHOWN, 0),
            tasks_words=self._tasks_words(),
            excluded=tuple(_excluded(each) for each in self.found.excluded),
            tracks=self._tracks(),
            scores=self._scores(self.track) if self.track else None,
            diff=diff,
        )

    @property
    def _path(self) -> str:
        return reverse("jobs:compare-releases", args=[self.project.slug, self.resource.slug])

    def _href(self, *, track: str = "", page: int = 1, agents: int = 1, swap: bool = False) -> str:
        old, new = (self.new, self.old) if swap else (self.old, self.new)
        query = {"from": str(old.number), "to": str(new.number)}
        query |= {"track": track or (self.track.reference if self.track else "")}
        query |= {"page": str(page) if page > 1 else "", "agents": str(agents) if agents > 1 else ""}
        return f"{self._path}?{urlencode({name: text for name, text in query.items() if text})}"

    def _before(self, revision: Revision) -> Revision:
        """The one before it, or itself where it is the first."""
        earlier = (other for other in self.revisions if other.number < revision.number)
        return next(earlier, revision)

    def _track(self) -> Track:
        wanted, tracks = self.query.track, self.found.tracks
        default = self.new.rules.default_track
        if not wanted:
            return next((track for track in tracks if default and track.id == default.id), tracks[0])
        for track in tracks:
            if wanted in (track.id, track.reference):
                return track
        raise Http404(f"These releases have no track {wanted} in common.")

    def _tracks(self) -> tuple[Choice, ...]:
        if self.track is None:
            return ()
        return tuple(
            Choice(
                f"{formats.clean_text(track.name)} ({track.reference})",
                self._href(track=track.reference),
                track == self.track,
            )
            for track in self.found.tracks
        )

    def _options(self, chosen: Revision) -> tuple[Option, ...]:
        return tuple(
            Option(str(other.number), f"{revision_label(other)}{_number(other)}", other.pk == chosen.pk)
            for other in self.revisions
        )

    def _tasks(self, found: Comparable) -> tuple[Figure, ...]:
        places = {task.name: place for place, task in enumerate(self.new_side.tasks, start=1)}
        return tuple(
            Figure(
                formats.clean_text(pair.new.name),
                href=task_href(self.project, self.new, places[pair.new.name]),
            )
            for pair in found.tasks[:NAMES_SHOWN]
        )

    def _tasks_words(self) -> str:
        number, total = len(self.found.tasks), len(self.new_side.tasks)
        verb = "compares" if number == 1 else "compare"
        of = f"the {formats.count(total)} Tasks of {revision_label(self.new)}"
        same = "content, weight and rules are the same in both"
        return f"{formats.count(number)} of {of} {verb}: {same}."

    def _scores(self, track: Track) -> ScoresPart | None:
        """None where nobody ran on the track."""
        scores = ReleaseScores(self.project, (self.old, self.new), self.found, track)
        part = scores.part(self.query.agents, lambda agents: self._href(page=self.query.page, agents=agents))
        return part if part.rows else None


def _release(revision: Revision, side: Side) -> Release:
    rules = revision.rules
    return Release(revision_label(revision), side.tasks, rules.scoring, rules.tracks)


def _excluded(found: Excluded) -> MissingTasks:
    names = found.tasks[:NAMES_SHOWN]
    figures = tuple(Figure(name) for name in formats.clean_texts(names))
    return MissingTasks(found.reason, figures, len(found.tasks) - len(names))


def _number(revision: Revision) -> str:
    return f" (revision {revision.number})" if revision.version else ""
