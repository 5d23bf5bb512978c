"""What lower apps ask of the Hub: what goes with a project, what rests on a Job, words for the log."""

from __future__ import annotations

from collections.abc import Collection

from hub.choices import Choices
from hub.domain.codec import FormError
from hub.domain.stored import parse_manifest
from hub.models import Draft, Manifest, Publication
from jobs.models import Job
from plural_site.accounts.removal import Counted, Removal

WORDS = {
    "publication.correct": "corrected {title} {version} on the Hub, manifest {sequence}: “{reason}”",
    "publication.publish": "published {title} {version} on the Hub, manifest {sequence}",
    "publication.restore": "published {title} {version} on the Hub again, manifest {sequence}: “{reason}”",
    "publication.withdraw": "withdrew from {title} {version} on the Hub, manifest {sequence}: “{reason}”",
}
"""How the audit log tells what became public."""


class HubRemoval(Removal):
    """Drafts go. What is published stays, and then belongs to no project."""

    def counts(self) -> list[Counted]:
        drafts = Draft.objects.filter(publication__project=self.project)
        return [Counted("Drafts of publications", drafts.count())]

    def remove(self) -> None:
        publications = Publication.objects.filter(project=self.project)
        Draft.objects.filter(publication__in=publications).delete()
        publications.filter(records__isnull=True).delete()
        Publication.objects.filter(project=self.project).update(project=None, resource=None)


def rests_on(keys: Collection[int]) -> dict[int, str]:
    """Of these Jobs those that a draft or a manifest names, and so have to stay, with the reason.

    Four queries, one more where manifests are read for the first time.
    """
    jobs = {
        (project, job): key
        for key, project, job in Job.objects.filter(pk__in=keys).values_list("pk", "project", "client_job_id")
    }
    projects = {project for project, _ in jobs}
    found: dict[int, str] = {}
    for project, job in published_jobs(projects):
        if key := jobs.get((project, job)):
            found[key] = f"A published result rests on {job}: its evidence stays."
    drafts = Draft.objects.filter(publication__project__in=projects)
    for draft in drafts.select_related("person", "publication").order_by("pk"):
        for job in {job for pick in Choices.load(draft.choices).picks for job in pick.jobs}:
            if key := jobs.get((draft.publication.project_id or 0, job)):
                reason = f"A draft of {draft.person} for {draft.publication.title} names {job}."
                found.setdefault(key, f"{reason} Discard the draft first.")
    return found


def published_jobs(projects: Collection[int]) -> set[tuple[int, str]]:
    """(project, client's id) of the Jobs that manifests of these projects name."""
    rows = Manifest.objects.filter(publication__project__in=projects)
    found = dict(rows.values_list("digest", "publication__project"))
    unread = [digest for digest in found if digest not in _named]
    for digest, body in Manifest.objects.filter(digest__in=unread).values_list("digest", "body"):
        try:
            results = parse_manifest(bytes(body)).results
        except FormError:  # damaged: the check of everything stored says so
            continue
        _named[digest] = frozenset(job for one in results for job in one.reproducibility.evaluation_ids)
    return {(project, job) for digest, project in found.items() for job in _named.get(digest, ())}


_named: dict[str, frozenset[str]] = {}
"""Jobs that a manifest names, by its digest: a manifest never changes."""
