"""The page that asks which version a revision gets."""

from __future__ import annotations

from django.http import Http404

from benchmarks.actions import candidate_of
from benchmarks.domain.releasing import Candidate, missing, suggest_version, version_problem
from benchmarks.links import benchmark_href
from benchmarks.models import Revision
from benchmarks.pages import Crumb, Figure, ReleasePage, Suggestion
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
    """`revision` as `find_numbered` gives it. Four queries."""
    candidate = candidate_of(revision)
    resource, name = revision.resource, formats.clean_text(revision.resource.name)
    back_href = benchmark_href(project, resource.slug, revision=str(revision.number))
    counts = {
        "Tasks": revision.pins.count(),
        "Tracks": revision.tracks.count(),
        "Jobs that ran it": revision.jobs.filter(state="ready").count(),
    }
    suggestions = _suggestions(candidate, revision.claimed_version)
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


def _suggestions(candidate: Candidate, claimed: str) -> tuple[Suggestion, ...]:
    """The version that came with the content first, then the next ones; only what is free."""
    found: dict[str, str] = {}
    if claimed and claimed not in candidate.taken and not version_problem(claimed):
        found[claimed] = "the version that came with this content"
    if candidate.taken:
        found.setdefault(suggest_version(candidate.taken), "where Tasks, scoring or tracks are other ones")
        found.setdefault(suggest_version(candidate.taken, is_patch=True), "where only texts are other ones")
    else:
        found.setdefault(suggest_version(candidate.taken), "the first release")
    return tuple(Suggestion(version, why) for version, why in found.items() if version)
