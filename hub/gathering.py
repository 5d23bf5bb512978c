"""From rows of a project to what a manifest is assembled from (`hub.domain.facts`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from benchmarks.domain.types import Attempt, DomainError
from benchmarks.models import Kind, Revision, TaskPin
from hub.choices import Choices, Pick
from hub.domain import extracts
from hub.domain.facts import AgentFacts, ReleaseFacts, ResultFacts, TaskFacts
from hub.domain.manifest import (
    ManifestPublisher,
    ManifestRequirements,
    ModelUse,
    Provenance,
)
from jobs import tallies
from jobs.models import Execution, Job, JobAgent, Trial
from jobs.querysets import counting


class Gathering:
    """A release with all that it pins, read once."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self.rules = revision.rules

    @cached_property
    def pins(self) -> list[TaskPin]:
        return list(self.revision.pins.select_related("task_revision"))

    @cached_property
    def pinned(self) -> dict[str, Revision]:
        """Environments and Verifiers of the Tasks, by content hash."""
        wanted: set[str] = set()
        for pin in self.pins:
            content = pin.task_revision.content
            wanted.update([content["environment"], *content["verifiers"]])
        found = Revision.objects.filter(
            resource__project=self.revision.resource.project_id,
            resource__kind__in=(Kind.ENVIRONMENT, Kind.VERIFIER),
            content_hash__in=wanted,
        )
        return {revision.content_hash: revision for revision in found.select_related("resource")}

    def release(self, choices: Choices) -> ReleaseFacts:
        rules, revision = self.rules, self.revision
        return ReleaseFacts(
            id=f"rev_{revision.pk}",
            benchmark_id=f"ben_{revision.resource_id}",
            version=revision.version,
            content_hash=revision.content_hash,
            tasks=[self._task(pin, choices) for pin in self.pins],
            scoring=rules.scoring,
            categories=rules.categories,
            tracks=rules.tracks,
            default_view=rules.default_view,
            forked_from=revision.forked_from or None,
        )

    def _task(self, pin: TaskPin, choices: Choices) -> TaskFacts:
        content = pin.task_revision.content
        typed = choices.tasks.get(pin.task_digest)
        verifiers = [self.pinned[digest] for digest in content["verifiers"] if digest in self.pinned]
        return TaskFacts(
            name=pin.name,
            version=pin.version,
            content_hash=pin.task_digest,
            requirements=self._requirements(content["environment"]),
            verifiers=tuple(extracts.verifier(held.resource.name, held.content) for held in verifiers),
            description=typed.description if typed else "",
            applicability=dict(typed.applicability) if typed else {},
            instructions=content["instructions"] if choices.instructions else None,
        )

    def _requirements(self, environment: str) -> ManifestRequirements:
        held = self.pinned.get(environment)
        if held is None:
            return ManifestRequirements(environment="unknown")
        return extracts.requirements(held.resource.name, held.content)

    def result(
        self,
        pick: Pick,
        result_id: str,
        publisher: ManifestPublisher,
        *,
        supersedes: str | None,
        findings: bool,
    ) -> ResultFacts | None:
        """None where the Jobs hold no attempt of the configuration on the track.

        Raises DomainError where a named Job is not there any more, or counts no more.
        """
        agents = self._agents(pick)
        missing = sorted(set(pick.jobs) - {agent.job.client_job_id for agent in agents})
        if missing:
            raise DomainError(
                f"A picked result on {pick.track} rests on {', '.join(missing)}, which was removed or set "
                "aside. Pick again in step 2."
            )
        evaluated = list(
            tallies.evaluate(
                self.revision, pick.track, configurations=[agents[0].configuration_id], jobs=list(pick.jobs)
            )
        )
        if not evaluated:
            return None
        attempts = evaluated[0].attempts
        jobs = {agent.job_id: agent.job for agent in agents}.values()
        ends = [job.finished_at for job in jobs if job.finished_at]
        return ResultFacts(
            id=result_id,
            track=pick.track,
            agent=_agent(agents[0]),
            provenance=_provenance(list(jobs)),
            submitted_by=publisher,
            jobs=sorted(job.client_job_id for job in jobs),
            attempts=attempts,
            models_used=[ModelUse(model) for model in self._models(agents, pick)],
            evaluated_from=min(job.started_at for job in jobs),
            evaluated_to=max(ends) if len(ends) == len(jobs) else None,
            findings=self._findings(attempts, agents) if findings else {},
            supersedes=supersedes,
            reason=pick.reason,
        )

    def _agents(self, pick: Pick) -> list[JobAgent]:
        """Its appearances in the Jobs, latest start first."""
        found = JobAgent.objects.filter(
            counting("job__"),
            job__revision=self.revision,
            job__track_ref=pick.track,
            job__client_job_id__in=pick.jobs,
            configuration__content_hash=pick.configuration,
        )
        return list(
            found.select_related("job", "configuration").order_by("-job__started_at", "-job_id", "position")
        )

    def _models(self, agents: Sequence[JobAgent], pick: Pick) -> list[str]:
        trials = Trial.objects.counted(
            self.revision, pick.track, [agents[0].configuration_id], list(pick.jobs)
        ).exclude(models_used=[])
        used: set[str] = set()
        for names in trials.values_list("models_used", flat=True).iterator():
            used.update(names)
        return sorted(used)

    def _findings(self, attempts: Sequence[Attempt], agents: Sequence[JobAgent]) -> dict[str, list[str]]:
        """What Verifiers said of each Trial."""
        executions = Execution.objects.filter(
            trial__job_agent__in=[agent.pk for agent in agents], is_final=True
        ).values_list("trial__client_trial_id", "verifier_results")
        wanted = {attempt.trial_id for attempt in attempts}
        return {
            trial: [text for result in results for text in _said(result)]
            for trial, results in executions.iterator()
            if trial in wanted
        }


def _agent(latest: JobAgent) -> AgentFacts:
    configuration = latest.configuration
    return extracts.agent_facts(
        configuration.content_hash,
        configuration.content,
        label=latest.name,
        harness=latest.harness,
        harness_version=latest.harness_version,
    )


def _provenance(jobs: Sequence[Job]) -> Provenance:
    recorded = all(job.origin == Job.Origin.RECORDED for job in jobs)
    return "plural_executed" if recorded else "self_reported"


def _said(result: Mapping[str, Any]) -> list[str]:
    texts = [*(result.get("evidence") or ()), result.get("feedback") or ""]
    return [text for text in texts if isinstance(text, str) and text.strip()]
