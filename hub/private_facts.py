"""How much private material stands behind a publication, counted."""

from __future__ import annotations

from benchmarks.models import Configuration, Kind
from hub.domain.disclosure import PrivateFacts
from hub.gathering import Gathering
from hub.wizard import DraftView
from jobs.models import Job, Trial


def private_facts(view: DraftView) -> PrivateFacts:
    """Of the chosen release; five queries."""
    if view.draft.release is None:
        return PrivateFacts()
    revision = view.draft.release.revision
    gathering = Gathering(revision)
    contents = [pin.task_revision.content for pin in gathering.pins]
    jobs = Job.objects.visible(view.project).filter(revision=revision)
    picked = {job for pick in view.choices.picks for job in pick.jobs}
    verifiers = [held for held in gathering.pinned.values() if held.resource.kind == Kind.VERIFIER]
    trials = Trial.objects.filter(job__in=jobs)
    return PrivateFacts(
        tasks=len(contents),
        expected_answers=sum(content.get("expected") is not None for content in contents),
        initial_states=sum(bool(content.get("initial_state")) for content in contents),
        verifiers=len(verifiers),
        resources=sum(len(content.get("resources") or ()) for content in contents),
        agents_with_instructions=_with_instructions(view),
        trials=trials.count(),
        other_jobs=jobs.exclude(client_job_id__in=picked).count(),
    )


def _with_instructions(view: DraftView) -> int:
    digests = {pick.configuration for pick in view.choices.picks}
    found = Configuration.objects.filter(project=view.project, content_hash__in=digests)
    return sum(bool(configuration.content["instructions"].strip()) for configuration in found)
