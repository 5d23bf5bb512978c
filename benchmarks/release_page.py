"""The page that asks which version a revision gets."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import Http404

from benchmarks.actions import candidate_of
from benchmarks.domain.releasing import (
    Candidate,
    latest_version,
    missing,
    suggest_version,
    version_problem,
)
from benchmarks.domain.revision_diff import match_tasks, scores_may_differ
from benchmarks.links import benchmark_href
from benchmarks.models import Revision
from benchmarks.pages import Crumb, Figure, ReleasePage, Suggestion
from benchmarks.pinned import pinned_tasks
from benchmarks.selectors import benchmark_crumbs, find_benchmark
from plural_site import formats
from plural_site.accounts.models import Project


def find_numbered(project: Project, slug: str, number: int) -> Revision:
    """A revision of a Benchmark by its number, with its resource and release. Raises Http404."""
    resource = find_benchmark(project, slug)
    found = resource.revisions.with_release().filter(number=number).first() if number < 2**31 else None
    if found is None:
        raise Http404(f"Benchmark {slug} has no revision {number}.")
    found.resource = resource
    return found


def release_page(project: Project, revision: Revision) -> ReleasePage:
    """`revision` as `find_numbered` gives it. Seven queries."""
    candidate = candidate_of(revision)
    resource, name = revision.resource, formats.clean_text(revision.resource.name)
    back_href = benchmark_href(project, resource.slug, revision=str(revision.number))
    counts = {
        "Tasks": revision.pins.count(),
        "Tracks": revision.tracks.count(),
        "Jobs that ran it": revision.jobs.filter(state="ready").count(),
    }
    suggestions = () if revision.version else _suggestions(candidate, revision)
    return ReleasePage(
        crumbs=benchmark_crumbs(project, resource, Crumb("Give a version")),
        title=f"Give revision {revision.number} a version",
        name=name,
        number=revision.number,
        version=revision.version,
        content_hash=revision.content_hash,
        facts=tuple((label, Figure(formats.count(number))) for label, number in counts.items()),
        missing=formats.clean_texts(missing(candidate)),
        suggestions=suggestions,
        preselected=suggestions[0].version if suggestions else "",
        taken=tuple(sorted(candidate.taken.items(), key=lambda item: -item[1])),
        back_href=back_href,
    )


def _suggestions(candidate: Candidate, revision: Revision) -> tuple[Suggestion, ...]:
    """The version that came with the content, then the one that fits what changed, then the other one."""
    found: dict[str, str] = {}
    claimed, taken = revision.claimed_version, candidate.taken
    if claimed and claimed not in taken and not version_problem(claimed):
        found[claimed] = "the version that came with this content"
    latest = latest_version(taken)
    if not latest:
        found.setdefault(suggest_version(taken), "MAJOR.MINOR.PATCH, the first of its kind")
        return _suggested(found)
    only_texts = not _scores_may_differ(revision, taken[latest])
    what = "only texts" if only_texts else "Tasks, scoring or tracks"
    found.setdefault(suggest_version(taken, is_patch=only_texts), f"{what} are other ones than in {latest}")
    size = "larger" if only_texts else "smaller"
    found.setdefault(suggest_version(taken, is_patch=not only_texts), f"the next one for a {size} change")
    return _suggested(found)


def _suggested(found: Mapping[str, str]) -> tuple[Suggestion, ...]:
    return tuple(Suggestion(version, why) for version, why in found.items() if version)


def _scores_may_differ(revision: Revision, number: int) -> bool:
    """From those of the revision of this number. Three queries."""
    other = revision.resource.revisions.get(number=number)
    changes = match_tasks(pinned_tasks(other), pinned_tasks(revision))
    return scores_may_differ(changes, other.content, revision.content)
