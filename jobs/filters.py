"""What a list of Jobs or Trials is limited to, from the query of an address and in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q
from django.http import Http404

from benchmarks.domain.scoring import RAN
from benchmarks.links import revision_label
from benchmarks.models import Configuration, Resource, Revision
from benchmarks.selectors import find_benchmark, find_revision
from jobs.models import Job, JobAgent, Trial
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
MOST_TEXT = 200
MOST_KEYS = 1000
NO_WORD = "-"
"""Asks for Trials without an error code or stop reason."""
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


JOB_STATUSES = {
    "succeeded": "succeeded",
    "failed": "with failed Trials",
    "cancelled": "cancelled",
    "awaiting_review": "awaiting review",
    "running": "without a result yet",
    "closed": "closed without a result",
}
"""What Jobs can be asked for by, and in words. Those without a result are open or closed."""
ASIDE = {"only": "set aside", "no": "not set aside"}


@dataclass(frozen=True, slots=True)
class JobFilter:
    source: Source
    benchmark: Resource | None = None
    """Any release of it."""
    status: str = ""
    aside: str = ""
    name: str = ""
    """Part of an Agent's name."""
    q: str = ""
    """Part of a Job's id, of an Agent's name, or of the name of the Benchmark or Task that ran."""

    @classmethod
    def parse(cls, project: Project, query: Mapping[str, str]) -> JobFilter:
        """As `TrialFilter.parse`."""
        status, aside = query.get("status", ""), query.get("aside", "")
        of = query.get("of", "")
        return cls(
            Source.parse(project, query),
            benchmark=find_benchmark(project, of) if of else None,
            status=status if status in JOB_STATUSES else "",
            aside=aside if aside in ASIDE else "",
            name=_text(query, "name").strip()[:MOST_TEXT],
            q=_text(query, "q").strip()[:MOST_TEXT],
        )

    @property
    def words(self) -> tuple[str, ...]:
        words = list(self.source.words)
        if self.benchmark:
            words.append(formats.clean_text(self.benchmark.name))
        if self.status:
            words.append(JOB_STATUSES[self.status])
        if self.aside:
            words.append(ASIDE[self.aside])
        if self.name:
            words.append(f"Agents with “{formats.clean_text(self.name)}”")
        if self.q:
            words.append(f"“{formats.clean_text(self.q)}”")
        return tuple(words)

    @property
    def query(self) -> dict[str, str]:
        own = {name: getattr(self, name) for name in ("status", "aside", "name", "q")}
        own["of"] = self.benchmark.slug if self.benchmark else ""
        return {**self.source.query, **{name: value for name, value in own.items() if value}}

    def apply(self, jobs: JobQuerySet) -> JobQuerySet:
        jobs = jobs.filter(self.source.jobs())
        if self.benchmark:
            jobs = jobs.filter(revision__resource=self.benchmark)
        if self.source.agent:
            jobs = jobs.filter(pk__in=JobAgent.objects.filter(configuration=self.source.agent).values("job"))
        if self.status == "closed":
            jobs = jobs.filter(closed_at__isnull=False)
        elif self.status:
            jobs = jobs.filter(status=self.status, closed_at__isnull=True)
        if self.aside:
            jobs = jobs.filter(set_aside_at__isnull=self.aside == "no")
        if self.name:
            jobs = jobs.filter(_with_agent(self.name))
        if self.q:
            jobs = jobs.filter(
                contains("client_job_id", self.q)
                | contains("revision__resource__name", self.q)
                | contains("task_revision__resource__name", self.q)
                | _with_agent(self.q)
            )
        return jobs


def contains(column: str, text: str) -> Q:
    """Whether a column holds this text literally, in any case.

    SQLite knows the case of ASCII letters alone, so that others are looked for in each of their forms.
    """
    condition = Q()
    for form in dict.fromkeys((text, text.lower(), text.upper(), text.title())):
        condition |= Q(**{f"{column}__icontains": form})
        if text.isascii():
            break
    return condition


def _with_agent(text: str) -> Q:
    return Q(Exists(JobAgent.objects.filter(contains("name", text), job=OuterRef("pk"))))


@dataclass(frozen=True, slots=True)
class TrialFilter:
    source: Source
    task: str
    category: str
    outcome: str
    measured: str
    job: str
    """Ids of the Jobs that alone count, with commas between; '' for all."""
    error: str = ""
    stop: str = ""

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
            error=_text(query, "error"),
            stop=_text(query, "stop"),
        )

    @property
    def revision(self) -> Revision | None:
        return self.source.revision

    @property
    def track(self) -> str:
        return self.source.track

    @property
    def query(self) -> dict[str, str]:
        fields = ("task", "category", "outcome", "measured", "job", "error", "stop")
        own = {name: getattr(self, name) for name in fields}
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
        if self.error:
            words.append(_ended_by("error", self.error))
        if self.stop:
            words.append(_ended_by("stop reason", self.stop))
        return tuple(words)

    @property
    def title(self) -> str:
        return f"Trials: {', '.join(self.words)}" if self.words else "Trials"

    @property
    def _is_of_figures(self) -> bool:
        """Whether it asks for what figures are made of, not for all that is held."""
        return bool(self.source.revision or self.source.agent)

    @property
    def _job_ids(self) -> list[str]:
        return self.job.split(",") if self.job else []

    @property
    def takes_whole_jobs(self) -> bool:
        others = (self.task, self.category, self.outcome, self.measured, self.error, self.stop)
        return not self._is_of_figures and not any(others)

    def jobs(self, project: Project) -> JobQuerySet:
        """Those whose Trials it asks for."""
        jobs = Job.objects.visible(project).filter(self.source.jobs())
        if self._is_of_figures:
            jobs = jobs.counting()
        if self.source.agent:
            jobs = jobs.filter(pk__in=self.source.agent.job_agents.values("job"))
        return jobs.filter(client_job_id__in=self._job_ids) if self._job_ids else jobs

    def apply(self, jobs: JobQuerySet) -> TrialQuerySet:
        """Trials of these Jobs, which `jobs` gave.

        The keys of the Jobs stand in the query, unless they are many: so that the Trials are found in their
        order, Job by Job, and none is read that the page doesn't show.
        """
        keys = list(jobs.values_list("pk", flat=True)[: MOST_KEYS + 1])
        few = len(keys) <= MOST_KEYS
        trials = Trial.objects.filter(job__in=keys) if few else Trial.objects.filter(job__in=jobs)
        if self._is_of_figures:
            trials = trials.filter(task_position__gt=Trial.UNPLANNED).first_copies(self._job_ids or None)
        if self.source.agent:
            trials = trials.filter(job_agent__configuration=self.source.agent)
        if self.task:
            trials = trials.filter(Q(pin__name=self.task) | Q(pin__isnull=True, task_name=self.task))
        if self.category:
            trials = trials.filter(pin__categories__slug=self.category)
        return self._ended(trials)

    def _ended(self, trials: TrialQuerySet) -> TrialQuerySet:
        if self.outcome:
            outcomes, _ = OUTCOME_GROUPS.get(self.outcome, ((self.outcome,), ""))
            trials = trials.filter(outcome__in=outcomes)
        if self.measured:
            column = MEASURED[self.measured][0]
            trials = trials.filter(**{f"{column}__isnull": False}, outcome__in=RAN)
        for column, word in (("error_code", self.error), ("stop_reason", self.stop)):
            if word:
                trials = trials.filter(**{column: "" if word == NO_WORD else word})
        return trials


def _ended_by(what: str, word: str) -> str:
    return f"no {what}" if word == NO_WORD else f"{what} {formats.clean_text(word).replace('_', ' ')}"


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
