"""The command line that runs again what a Job ran, for a Job's page and for an entry's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.links import revision_label
from benchmarks.models import Kind, Revision, Track
from jobs.command_pages import CommandPart
from jobs.domain.command_line import (
    BUILT_IN_HARNESS,
    Ran,
    RanAgent,
    command_lines,
    is_by_model_alone,
    rerun_line,
)
from jobs.models import Job, JobAgent
from jobs.stored_files import StoredFiles
from plural_site import formats
from plural_site.accounts.models import Project

RUN_RECORD = "run.json"
LARGEST_RECORD = 4 * 1024 * 1024
"""It names every input of the run, so it grows with the Tasks."""


def command_part(project: Project, job: Job, agents: Sequence[JobAgent], *, words: str) -> CommandPart | None:
    """Lines for these Agents of a Job (`with_source`); None where nobody knows what ran. Two queries."""
    revision = job.revision or job.task_revision
    if revision is None:
        return None
    record = _run_record(job)
    slugs = _slugs(project, agents)
    track_id, _, version = job.track_ref.rpartition("@")
    track = Track.objects.filter(revision=revision, track_id=track_id, version=version).first()
    ran = Ran(
        kind="benchmark" if job.revision else "task",
        slug=revision.resource.slug,
        content_hash=revision.content_hash,
        title=_title(revision),
        agents=tuple(_agent(job, agent, record, slugs) for agent in agents),
        attempts=job.attempts,
        track_id=track_id,
        track_attempts=track.attempts if track else 0,
    )
    found = command_lines(ran)
    return CommandPart(
        words=words,
        lines=found.lines,
        rerun=rerun_line(job.client_job_id, job.rerun_of_trial) if record else "",
        notes=formats.clean_texts(found.notes),
    )


def _run_record(job: Job) -> Mapping[str, Any]:
    """How the client was called; {} where the Job did not leave that, or the store has lost it."""
    return StoredFiles(job.pack_id, job.files).read_json(RUN_RECORD, LARGEST_RECORD).value or {}


def _slugs(project: Project, agents: Sequence[JobAgent]) -> dict[str, str]:
    """Folder names that the project knows Agents by, by content hash."""
    rows = Revision.objects.filter(
        resource__project=project,
        resource__kind=Kind.AGENT,
        content_hash__in={agent.configuration.content_hash for agent in agents},
    )
    return dict(rows.order_by("-pk").values_list("content_hash", "resource__slug"))


def _agent(job: Job, agent: JobAgent, record: Mapping[str, Any], slugs: Mapping[str, str]) -> RanAgent:
    """From run.json where it tells, else from the content and from what the project calls the Agent."""
    configuration = agent.configuration
    content = configuration.content
    named = record.get("agent")
    slug = slugs.get(configuration.content_hash, "")
    harness, is_sure = agent.harness, job.origin == Job.Origin.RECORDED
    if isinstance(named, str) and named:
        kind, _, folder = named.partition("/")
        is_saved = kind == "agent" and bool(folder)
        slug, is_sure = (folder if is_saved else ""), True
        called = record.get("harness")
        harness = called if isinstance(called, str) else harness
    elif is_by_model_alone(content):
        slug, harness = "", BUILT_IN_HARNESS
    secrets = content.get("secret_names")
    return RanAgent(
        name=agent.name,
        slug=slug,
        content_hash=configuration.content_hash,
        model=configuration.model,
        harness=harness,
        is_sure=is_sure,
        secrets=tuple(name for name in secrets if isinstance(name, str)) if isinstance(secrets, list) else (),
    )


def _title(revision: Revision) -> str:
    name = formats.clean_text(revision.resource.name)
    return f"{name} {revision_label(revision)}"
