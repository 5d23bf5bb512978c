"""What a list of Jobs or Trials is limited to, from the query of an address and in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q
from django.http import Http404

from benchmarks.domain.scoring import RAN
from benchmarks.links import revision_label
from benchmarks.models import Configuration, Revision
from benchmarks.selectors import find_benchmark, find_revision
from jobs.models import Job, JobAgent
from jobs.querysets import JobQuerySet, TrialQuerySet
from jobs.rows import OUTCOME_WORDS
from jobs.tracks import UNTRACKED
from plural_site import formats
from plural_site.accounts.models import Project

OUTCOME_GROUPS = {
    "failed": (("agent_failure", "infrastructure_error"), "failed"),
    "finished": (("scored", "agent_failure", "infrastructure_error", "cancelled"), "finished"),
    "ran": (RAN, "scored or an agent failure"),
    "ended": ((*RAN, "infrastructure_error"), "ended with a score or an error"),
}
"""Several outcomes that can be asked for by one name, and what they are in words."""
HASH_PREFIX = re.compile(r"[0-9a-f]{7,64}")
MEASURED = {"cost": ("cost_usd", "with a cost"), "latency": ("latency_seconds", "with a time")}


@dataclass(frozen=True, slots=True)
class Source:
    """The release, track and Agent that a list is about; each may be left open."""

    revision: Revision | None
    track: str
    agent: Configuration | None
    query: dict[str, str]
    words: tuple[str, ...]

    @classmethod
    def parse(cls, project: Project, query: Mapping[str, str]) -> Source:
        """Raises Http404 where it names what the project does not have."""
        kept: dict[str, str] = {}
        words: list[str] = []
        revision = None
        if slug := query.get("benchmark", ""):
            revision = find_revision(find_benchmark(project, slug), query.get("revision", ""))
            kept |= {"benchmark": slug, "revision": str(revision.number)}
            words.append(f"{formats.clean_text(revision.resource.name)} {revision_label(revision)}")
        if track := _text(query, "track"):
            kept["track"] = track
            words.append("on no track" if track == UNTRACKED else f"track {formats.clean_text(track)}")
        agent = None
        if prefix := query.get("agent", ""):
            agent = _find_agent(project, prefix)
            kept["agent"] = prefix
            named = agent.job_agents.filter(job__state=Job.State.READY)
            name = named.order_by("-job__started_at").values_list("name", flat=True).first()
            words.append(f"Agent {formats.clean_text(name or agent.model)}")
        return cls(revision, track, agent, kept, tuple(words))

    def jobs(self, prefix: str = "") -> Q:
        condition = Q()
        if self.revision:
            condition &= Q(**{f"{prefix}revision": self.revision})
        if self.track:
            condition &= Q(**{f"{prefix}track_ref": "" if self.track == UNTRACKED else self.track})
        return condition


@dataclass(frozen=True, slots=True)
class JobFilter:
    source: Source

    @classmethod
    def parse(cls, project: Project, query: Mapping[str, str]) -> JobFilter:
        return cls(Source.parse(project, query))

    @property
    def words(self) -> tuple[str, ...]:
        return self.source.words

    @property
    def query(self) -> dict[str, str]:
        return self.source.query

    def apply(self, jobs: JobQuerySet) -> JobQuerySet:
        jobs = jobs.filter(self.source.jobs())
        if self.source.agent:
            jobs = jobs.filter(pk__in=JobAgent.objects.filter(configuration=self.source.agent).values("job"))
        return jobs


@dataclass(frozen=True, slots=True)
class TrialFilter:
    source: Source
    task: str
    category: str
    outcome: str
    measured: str
    job: str
    """Ids of the Jobs that alone count, with commas between; '' for all."""

    @classmethod
    def parse(cls, project: Project, query: Mapping[str, str]) -> TrialFilter:
        """Raises Http404 where it names what is not there; unknown values of a fixed list are left out."""
        source = Source.parse(project, query)
        job = _text(query, "job")
        jobs = set(job.split(",")) if job else set()
        if jobs and Job.objects.visible(project).filter(client_job_id__in=jobs).count() < len(jobs):
            raise Http404("No such Job in this project.")
        outcome, measured = query.get("outcome", ""), query.get("measured", "")
        return cls(
            source=source,
            task=_text(query, "task"),
            category=_text(query, "category") if source.revision else "",
            outcome=outcome if outcome in OUTCOME_WORDS or outcome in OUTCOME_GROUPS else "",
            measured=measured if measured in MEASURED else "",
            job=job,
        )

    @property
    def revision(self) -> Revision | None:
        return self.source.revision

    @property
    def track(self) -> str:
        return self.source.track

    @property
    def query(self) -> dict[str, str]:
        own = {name: getattr(self, name) for name in ("task", "category", "outcome", "measured", "job")}
        return {**self.source.query, **{name: value for name, value in own.items() if value}}

    @property
    def words(self) -> tuple[str, ...]:
        words = list(self.source.words)
        if self.job:
            words.append(self.job.replace(",", ", "))
        if self.task:
            words.append(f"Task {formats.clean_text(self.task)}")
        if self.category:
            words.append(f"category {formats.clean_text(self.category)}")
        if self.outcome:
            group = OUTCOME_GROUPS.get(self.outcome)
            words.append(group[1] if group else OUTCOME_WORDS[self.outcome][0].lower())
        if self.measured:
            words.append(f"finished and {MEASURED[self.measured][1]}")
        return tuple(words)

    @property
    def title(self) -> str:
        return f"Trials: {', '.join(self.words)}" if self.words else "Trials"

    def apply(self, trials: TrialQuerySet) -> TrialQuerySet:
        trials = trials.filter(self.source.jobs("job__"))
        if self.source.revision:
            trials = trials.filter(pin__isnull=False).first_copies()
        if self.source.agent:
            trials = trials.filter(job_agent__configuration=self.source.agent)
        if self.job:
            trials = trials.filter(job__client_job_id__in=self.job.split(","))
        if self.task:
            trials = trials.filter(Q(pin__name=self.task) | Q(pin__isnull=True, task_name=self.task))
        if self.category:
            trials = trials.filter(pin__categories__slug=self.category)
        if self.outcome in OUTCOME_GROUPS:
            trials = trials.filter(outcome__in=OUTCOME_GROUPS[self.outcome][0])
        elif self.outcome:
            trials = trials.filter(outcome=self.outcome)
        if self.measured:
            column = MEASURED[self.measured][0]
            trials = trials.filter(**{f"{column}__isnull": False}, outcome__in=RAN)
        return trials


def _text(query: Mapping[str, str], name: str) -> str:
    """Without NUL, which PostgreSQL takes in no text."""
    return query.get(name, "").replace("\0", "")


def _find_agent(project: Project, prefix: str) -> Configuration:
    if not HASH_PREFIX.fullmatch(prefix):
        raise Http404("No such Agent in this project.")
    found = Configuration.objects.filter(project=project, content_hash__startswith=f"sha256:{prefix}")
    agents = list(found[:2])
    if len(agents) != 1:
        raise Http404("No such Agent in this project.")
    return agents[0]
