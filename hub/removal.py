"""What lower apps ask of the Hub: what goes with a project, what rests on a Job, words for the log."""

from __future__ import annotations

from hub.choices import Choices
from hub.domain.stored import parse_manifest
from hub.models import Draft, Manifest, Publication
from jobs.models import ImportRun, Job
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


def rests_on(run: ImportRun) -> list[str]:
    """Why the Jobs of an import can't go: a draft or a manifest names them."""
    jobs = set(Job.objects.filter(added_by=run).values_list("client_job_id", flat=True))
    reasons = []
    drafts = Draft.objects.filter(publication__project=run.project_id)
    for draft in drafts.select_related("person", "publication"):
        named = {job for pick in Choices.load(draft.choices).picks for job in pick.jobs}
        if named & jobs:
            reasons.append(
                f"A draft of {draft.person} for {draft.publication.title} names some of its Jobs. "
                "Discard the draft first."
            )
    published = jobs & published_jobs(run.project_id)
    if published:
        reasons.append(f"A published result rests on {', '.join(sorted(published)[:5])}: its evidence stays.")
    return reasons


def published_jobs(project: int) -> set[str]:
    """Client's ids of the Jobs that manifests of this project name."""
    found: set[str] = set()
    for body in Manifest.objects.filter(publication__project=project).values_list("body", flat=True):
        for result in parse_manifest(bytes(body)).results:
            found.update(result.reproducibility.evaluation_ids)
    return found
