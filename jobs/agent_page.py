"""The page of one Agent: what it is, how it did, what it took, how its attempts ended, what is like it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F, Max, QuerySet
from django.http import Http404
from django.urls import reverse

from benchmarks.board.words import short_hash
from benchmarks.models import Configuration
from benchmarks.pages import Crumb, Figure
from jobs.agent_figures import MOST_GROUPS, AgentFigures, Measured, agent_figures
from jobs.agent_pages import (
    AgentJobRow,
    AgentPage,
    CalledModel,
    EndingRow,
    MeasureRow,
    NamedRow,
    OtherConfiguration,
    SettingRow,
)
from jobs.agent_results import RESULTS_A_PAGE, result_rows
from jobs.agents_list import harness_words, landed, named
from jobs.command_pages import CommandPart
from jobs.command_part import command_part
from jobs.compare_links import whole_number
from jobs.domain.configurations import differences, instructions_diff, settings
from jobs.domain.percentiles import DEFINITION
from jobs.filters import HASH_PREFIX, NO_WORD
from jobs.links import agent_href
from jobs.models import Job, JobAgent
from jobs.rows import OUTCOME_WORDS, source_of, status_words, with_query
from jobs.tallies import same_model
from plural_site import formats
from plural_site.accounts.models import Project

NAMES_SHOWN = 20
JOBS_SHOWN = 10
OTHERS_SHOWN = 10
ENDINGS_SHOWN = 30
MODELS_SHOWN = 20
DIFFERING_LINES = 40
INSTRUCTIONS_SHOWN = 600
LONGEST_INSTRUCTIONS = 200_000


def find_agent(project: Project, prefix: str) -> Any:
    """The landed configuration whose hash begins with `prefix` (7 hex digits or more), as `named` gives it.

    Raises Http404 where none does, or several.
    """
    prefix = prefix.lower()
    if not HASH_PREFIX.fullmatch(prefix):
        raise Http404("No such Agent in this project.")
    found = landed(project).filter(content_hash__startswith=f"sha256:{prefix}")
    agents = list(named(found)[:2])
    if len(agents) != 1:
        raise Http404("No such Agent in this project.")
    return agents[0]


def agent_page(project: Project, agent: Any, query: Mapping[str, str]) -> AgentPage:
    """`agent` as `find_agent` gives it."""
    return _Page(project, agent, query).page()


class _Page:
    def __init__(self, project: Project, agent: Any, query: Mapping[str, str]) -> None:
        self.project, self.agent = project, agent
        self.configuration: Configuration = agent
        self.content = self.configuration.content
        self.harness = harness_words(agent)
        self.wanted = whole_number(query.get("results", ""))
        self.href = agent_href(project, agent)
        self.trials_path = reverse("jobs:trials", args=[project.slug])
        self.key = short_hash(agent.content_hash)

    def page(self) -> AgentPage:
        agent, project = self.agent, self.project
        results, number, entries = result_rows(project, self.configuration, self.wanted)
        figures = agent_figures(self.configuration)
        names, more_names = self._names()
        others, others_more = self._others()
        text = formats.clean_text(str(self.content.get("instructions") or "")).strip()
        name = formats.clean_text(agent.name)
        agents_path = reverse("jobs:agents", args=[project.slug])
        last = number * RESULTS_A_PAGE
        jobs = self._latest_jobs()
        return AgentPage(
            crumbs=(
                Crumb(project.name, reverse("jobs:project", args=[project.slug])),
                Crumb("Agents", agents_path),
                Crumb(name),
            ),
            name=name,
            model=formats.clean_text(agent.model),
            harness=self.harness or "built-in loop",
            content_hash=agent.content_hash,
            short_hash=self.key,
            claim=self._claim(figures, entries),
            trials_href=self._trials(),
            settings=self._settings(),
            instructions=text[:INSTRUCTIONS_SHOWN],
            instructions_rest=text[INSTRUCTIONS_SHOWN:LONGEST_INSTRUCTIONS],
            instructions_size=_size(text),
            names=names,
            more_names=more_names,
            results=results,
            results_words=_window(last, entries),
            results_previous=self._results(number - 1) if number > 1 else "",
            results_next=self._results(number + 1) if entries > last else "",
            jobs=tuple(self._job(job) for job in jobs),
            command=self._command(jobs),
            jobs_href=with_query(reverse("jobs:jobs", args=[project.slug]), {"agent": self.key}),
            jobs_total=_many(agent.jobs, "Job"),
            measures=(
                _measure("Cost per attempt", figures.cost, figures.ran, "cost", formats.money),
                _measure("Time per attempt", figures.latency, figures.ran, "time", formats.seconds),
            ),
            measures_words=self._measures_words(figures),
            definition=DEFINITION,
            endings=self._endings(figures),
            endings_words=self._endings_words(figures),
            called=self._called(figures),
            called_words=self._called_words(figures),
            others=others,
            others_words=self._others_words(len(others)),
            others_href=with_query(agents_path, {"model": agent.model}) if others_more else "",
        )

    # Addresses

    def _trials(self, **more: str) -> str:
        query = {"agent": self.key, **{name: value for name, value in more.items() if value}}
        return f"{self.trials_path}?{urlencode(query)}"

    def _results(self, number: int) -> str:
        return f"{self.href}{f'?results={number}' if number > 1 else ''}#results"

    # What it is

    def _claim(self, figures: AgentFigures, entries: int) -> str:
        tried = _many(figures.total, "attempt")
        jobs = _many(self.agent.jobs, "Job")
        on = (
            f"{entries} entr{'y' if entries == 1 else 'ies'} on leaderboards"
            if entries
            else "no entry on a leaderboard"
        )
        return f"{tried} in {jobs}, {on}. Last used {formats.datetime_text(self.agent.latest)}."

    def _settings(self) -> tuple[SettingRow, ...]:
        return tuple(
            SettingRow(formats.clean_text(each.label), formats.clean_text(each.words), bool(each.value))
            for each in settings(self.content, self.harness)
        )

    def _names(self) -> tuple[tuple[NamedRow, ...], int]:
        own = JobAgent.objects.filter(configuration=self.configuration, job__state=Job.State.READY)
        alike = own.order_by().values("name", "version", "harness", "harness_version")
        found = list(
            alike.annotate(jobs=Count("job", distinct=True), latest=Max("job__started_at")).order_by(
                "-latest", "name"
            )[: NAMES_SHOWN + 1]
        )
        rows = tuple(
            NamedRow(
                name=formats.clean_text(row["name"]),
                version=formats.clean_text(row["version"]),
                harness=formats.clean_text(f"{row['harness']} {row['harness_version']}".strip())
                or "built-in loop",
                jobs=formats.count(row["jobs"]),
                latest=formats.datetime_text(row["latest"]),
            )
            for row in found[:NAMES_SHOWN]
        )
        return rows, max(len(found) - NAMES_SHOWN, 0)

    def _latest_jobs(self) -> list[Job]:
        own = JobAgent.objects.filter(configuration=self.configuration).values("job")
        jobs = Job.objects.visible(self.project).filter(pk__in=own).with_source()
        return list(jobs.order_by("-started_at", "-pk")[:JOBS_SHOWN])

    def _command(self, jobs: Sequence[Job]) -> CommandPart | None:
        if not jobs:
            return None
        own = [each for each in jobs[0].agents.all() if each.configuration_id == self.configuration.pk]
        words = f"What it ran in its latest Job, {jobs[0].client_job_id}, once more."
        return command_part(self.project, jobs[0], own, words=words)

    def _job(self, job: Job) -> AgentJobRow:
        agents = [each for each in job.agents.all() if each.configuration_id == self.configuration.pk]
        recorded, planned = sum(a.recorded for a in agents), sum(a.planned for a in agents)
        status, tone = status_words(job.status)
        source, source_href = source_of(self.project, job)
        return AgentJobRow(
            href=reverse("jobs:job", args=[self.project.slug, job.client_job_id]),
            job_id=job.client_job_id,
            status=status,
            tone=tone,
            source=source,
            source_href=source_href,
            track=job.track_ref or "no track",
            trials=formats.count(recorded)
            if recorded >= planned
            else f"{formats.count(recorded)} of {formats.count(planned)} planned",
            started=formats.datetime_text(job.started_at),
            remark="set aside, counts nowhere" if job.set_aside_at else "",
        )

    # What its attempts came to

    def _measures_words(self, figures: AgentFigures) -> str:
        total, taken = formats.count(figures.total), formats.count(figures.taken)
        cut = f" Of {total} attempts the latest {taken} are taken." if figures.taken < figures.total else ""
        return (
            "Over the attempts of all its Jobs that were scored or are agent failures, and reported it. "
            f"A board takes those of one release and track alone.{cut}"
        )

    def _endings(self, figures: AgentFigures) -> tuple[EndingRow, ...]:
        rows = []
        for (outcome, error, stop), count in [*figures.endings.items()][:ENDINGS_SHOWN]:
            words, tone = OUTCOME_WORDS[outcome]
            href = self._trials(outcome=outcome, error=error or NO_WORD, stop=stop or NO_WORD)
            rows.append(
                EndingRow(
                    outcome=words,
                    tone=tone,
                    error_code=formats.clean_text(error).replace("_", " "),
                    stop_reason=formats.clean_text(stop).replace("_", " "),
                    count=Figure(formats.count(count), href=href),
                    share=formats.percent(count / figures.taken) if figures.taken else formats.DASH,
                )
            )
        return tuple(rows)

    def _endings_words(self, figures: AgentFigures) -> str:
        if figures.is_cut:
            return f"Only the {MOST_GROUPS} most frequent kinds were read."
        rest = len(figures.endings) - ENDINGS_SHOWN
        return f"{_many(rest, 'rarer kind')} left out." if rest > 0 else ""

    def _called(self, figures: AgentFigures) -> tuple[CalledModel, ...]:
        return tuple(
            CalledModel(formats.clean_text(name), formats.count(count), same_model(self.agent.model, name))
            for name, count in [*figures.models.items()][:MODELS_SHOWN]
        )

    def _called_words(self, figures: AgentFigures) -> str:
        if not figures.models:
            return "No attempt reports which models it called."
        others = sum(not same_model(self.agent.model, name) for name in figures.models)
        words = [f"{_many(figures.silent, 'attempt')} report none."] if figures.silent else []
        if others:
            words.append("Others than its own may keep it from being ranked on a track that compares models.")
        if len(figures.models) > MODELS_SHOWN:
            words.append(f"{len(figures.models) - MODELS_SHOWN} more are left out.")
        return " ".join(words)

    # What is like it

    def _others(self) -> tuple[tuple[OtherConfiguration, ...], bool]:
        alike = landed(self.project).filter(model=self.agent.model).exclude(pk=self.agent.pk)
        latest: QuerySet[Any] = named(alike).order_by(F("latest").desc(), "-pk")
        found: list[Any] = list(latest[: OTHERS_SHOWN + 1])
        return tuple(self._other(row) for row in found[:OTHERS_SHOWN]), len(found) > OTHERS_SHOWN

    def _other(self, row: Any) -> OtherConfiguration:
        content = row.content
        rows = differences(self.content, self.harness, content, harness_words(row))
        lines = instructions_diff(self.content, content, DIFFERING_LINES)
        return OtherConfiguration(
            name=formats.clean_text(row.name),
            href=agent_href(self.project, row),
            latest=formats.datetime_text(row.latest),
            differences=tuple(
                (formats.clean_text(what), formats.clean_text(here), formats.clean_text(there))
                for what, here, there in rows
            ),
            lines=tuple(formats.clean_text(line)[:500] for line in lines),
        )

    def _others_words(self, shown: int) -> str:
        if not shown:
            return "No other configuration of this model has run in this project."
        return "The same model in another configuration, and what differs."


def _measure(label: str, found: Measured, ran: int, what: str, words: Any) -> MeasureRow:
    measured = f"{formats.count(found.count)} of {formats.count(ran)}"
    if found.mean is None or found.quantiles is None:
        none = Figure(formats.DASH, f"No attempt reported a {what}")
        return MeasureRow(label, none, none, none, measured)
    title = " (a lower bound: some calls reported no cost)" if found.partial else ""

    def figure(value: float) -> Figure:
        return Figure(f"{'≥ ' if found.partial else ''}{words(value)}", f"{value}{title}")

    spread = found.quantiles
    return MeasureRow(label, figure(found.mean), figure(spread.median), figure(spread.p90), measured)


def _window(last: int, total: int) -> str:
    """Which entries are shown, '' where all are."""
    if total <= RESULTS_A_PAGE:
        return ""
    return f"Entries {last - RESULTS_A_PAGE + 1} to {min(last, total)} of {formats.count(total)}"


def _many(count: int, thing: str) -> str:
    return f"{formats.count(count)} {thing}{'' if count == 1 else 's'}"


def _size(text: str) -> str:
    if not text:
        return ""
    cut = (
        f", of which the first {formats.count(LONGEST_INSTRUCTIONS)} are here"
        if len(text) > LONGEST_INSTRUCTIONS
        else ""
    )
    return f"{_many(len(text), 'character')} in {_many(len(text.splitlines()), 'line')}{cut}"
