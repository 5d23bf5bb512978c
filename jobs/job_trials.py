"""The Trials of one Job: filtered, sorted, a page at a time, whatever their number.

All that they are filtered and sorted by lies in one index, so that a page of them is found without reading
the rows of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Q

from benchmarks.board.parts import Option
from benchmarks.board.state import number
from benchmarks.domain.types import Scoring
from benchmarks.models import TaskCategory
from jobs.compare_links import whole_number
from jobs.filters import MOST_TEXT, OUTCOME_GROUPS, contains
from jobs.job_figures import WORDS_KEPT, Figures
from jobs.job_pages import JobTrials, Range, TrialFilters
from jobs.list_columns import Head, ListSort
from jobs.models import LISTED, Job, JobAgent, Trial
from jobs.pages import TrialRow
from jobs.querysets import TrialQuerySet
from jobs.rows import OUTCOME_WORDS, job_href, total_words, trial_row, with_query
from plural_site import formats
from plural_site.accounts.models import Project
from plural_site.http import paginate

RANGES = {
    "score": "score",
    "cost": "cost_usd",
    "time": "latency_seconds",
    "tokens": "tokens",
    "turns": "turns",
}
"""What can be limited at both ends, and its column."""
RANGE_WORDS = {"score": "score", "cost": "cost in $", "time": "seconds", "tokens": "tokens", "turns": "turns"}
DEFAULT = "task"


def heads(unit: str) -> tuple[Head, ...]:
    def measured(key: str, label: str, title: str, unit: str = "") -> Head:
        return Head(key, label, (RANGES[key],), numeric=True, unit=unit, title=title, falls_first=True)

    return (
        Head("task", "Task", ("task_position", "job_agent", "attempt"), title="In the release's order"),
        Head("agent", "Agent", ("job_agent", "task_position", "attempt")),
        Head("attempt", "Attempt", ("attempt", "task_position"), numeric=True),
        Head("outcome", "Outcome"),
        measured("score", "Score", "Unknown ones last, both ways", unit),
        measured("cost", "Cost", "Unknown ones last, both ways"),
        measured("time", "Time", "Unknown ones last, both ways"),
        measured("tokens", "Tokens", "Of prompts and answers together"),
        measured("turns", "Turns", "Turns of the model"),
        Head("ended", "Ended by"),
        Head("executions", "Executions", numeric=True, title="The last one counts"),
    )


@dataclass(frozen=True, slots=True)
class JobTrialFilter:
    """What the Trials of a Job are limited to. Texts are '' and numbers 0 where they limit nothing."""

    job: Job
    scoring: Scoring
    agent: JobAgent | None
    task: str
    at: int
    """A Task by its place in the release, from 1 on."""
    category: str
    outcome: str
    error: str
    stop: str
    ends: Mapping[str, str] = field(default_factory=dict)
    """By field of the form (score_min, ...): a number as it was written."""

    @classmethod
    def parse(cls, job: Job, scoring: Scoring, query: Mapping[str, str]) -> JobTrialFilter:
        """What makes no sense is left out."""

        def text(name: str) -> str:
            return query.get(name, "").replace("\0", "").strip()[:MOST_TEXT]

        outcome, position, at = text("outcome"), text("agent"), text("at")
        agents = {str(agent.position): agent for agent in job.agents.all()}
        fields = [f"{name}_{end}" for name in RANGES for end in ("min", "max")]
        return cls(
            job,
            scoring,
            agent=agents.get(position),
            task=text("task"),
            at=whole_number(at) if at.isdigit() and at.strip("0") else 0,
            category=text("category") if job.revision_id else "",
            outcome=outcome if outcome in OUTCOME_WORDS or outcome in OUTCOME_GROUPS else "",
            error=formats.clean_text(text("error")),
            stop=formats.clean_text(text("stop")),
            ends={name: text(name) for name in fields if number(text(name)) is not None},
        )

    @property
    def query(self) -> dict[str, str]:
        own = {name: getattr(self, name) for name in ("task", "category", "outcome", "error", "stop")}
        own["agent"] = str(self.agent.position) if self.agent else ""
        own["at"] = str(self.at or "")
        return {name: value for name, value in own.items() if value} | dict(self.ends)

    @property
    def words(self) -> tuple[str, ...]:
        words = []
        if self.agent:
            words.append(f"Agent {formats.clean_text(self.agent.name)}")
        if self.at:
            words.append(f"Task number {formats.count(self.at)}")
        if self.task:
            words.append(f"Tasks with “{formats.clean_text(self.task)}”")
        if self.category:
            words.append(f"category {formats.clean_text(self.category)}")
        if self.outcome:
            group = OUTCOME_GROUPS.get(self.outcome)
            words.append(group[1] if group else OUTCOME_WORDS[self.outcome][0].lower())
        words += [f"error {_word(self.error)}"] if self.error else []
        words += [f"ended by {_word(self.stop)}"] if self.stop else []
        words += [self._range_words(name) for name in RANGES if self._ends(name) != (None, None)]
        return tuple(words)

    def _ends(self, name: str) -> tuple[float | None, float | None]:
        least, most = (number(self.ends.get(f"{name}_{end}", "")) for end in ("min", "max"))
        return least, most

    def _range_words(self, name: str) -> str:
        least, most = (self.ends.get(f"{name}_{end}", "") for end in ("min", "max"))
        if least and most:
            return f"{RANGE_WORDS[name]} from {least} to {most}"
        return f"{RANGE_WORDS[name]} of at {'least' if least else 'most'} {least or most}"

    def apply(self, trials: TrialQuerySet) -> TrialQuerySet:
        if self.agent:
            trials = trials.filter(job_agent=self.agent)
        if self.outcome:
            group = OUTCOME_GROUPS.get(self.outcome)
            trials = trials.filter(outcome__in=group[0] if group else [self.outcome])
        if self.error:
            trials = trials.filter(error_code__in=self._as_recorded("errors", self.error))
        if self.stop:
            trials = trials.filter(stop_reason__in=self._as_recorded("stops", self.stop))
        return self._within(self._at(trials))

    def _as_recorded(self, kind: str, shown: str) -> list[str]:
        """The words that read like this one once they are fit for a page."""
        words = {word for agent in self.job.agents.all() for word in agent.figures.get(kind, ())}
        return [word for word in words if formats.clean_text(word) == shown] or [shown]

    def _at(self, trials: TrialQuerySet) -> TrialQuerySet:
        if self.at:
            trials = trials.filter(task_position=self.at - 1)
        if self.task:
            trials = trials.filter(self._at_tasks())
        if self.category:
            members = TaskCategory.objects.filter(
                category__revision=self.job.revision_id, category__slug=self.category
            )
            trials = trials.filter(task_position__in=members.values("pin__position"))
        return trials

    def _within(self, trials: TrialQuerySet) -> TrialQuerySet:
        for name, column in RANGES.items():
            least, most = self._ends(name)
            share = 100 if name == "score" and formats.score_unit(*self.scoring.score_range) else 1
            if least is not None:
                trials = trials.filter(**{f"{column}__gte": least / share})
            if most is not None:
                trials = trials.filter(**{f"{column}__lte": most / share})
        return trials

    def _at_tasks(self) -> Q:
        """By the names of the release's Tasks, which are fewer than Trials; others by their own."""
        if self.job.revision is None:
            return contains("task_name", self.task)
        pins = self.job.revision.pins.filter(contains("name", self.task)).order_by()
        condition = Q(task_position__in=list(pins.values_list("position", flat=True)))
        if any(agent.unplanned for agent in self.job.agents.all()):
            condition |= Q(task_position=Trial.UNPLANNED) & contains("task_name", self.task)
        return condition

    def known_count(self) -> int | None:
        """How many there are, where what is kept with the Agents tells: of outcomes, or of words."""
        agents = [self.agent] if self.agent else list(self.job.agents.all())
        match sorted(set(self.query) - {"agent"}):
            case ["error"]:
                return _known_words(agents, "errors", self.error)
            case ["stop"]:
                return _known_words(agents, "stops", self.stop)
            case [] | ["outcome"]:
                return self._known_outcomes(agents)
        return None

    def _known_outcomes(self, agents: Sequence[JobAgent]) -> int:
        group = OUTCOME_GROUPS.get(self.outcome)
        wanted = group[0] if group else [self.outcome] if self.outcome else list(OUTCOME_WORDS)
        counts: list[int] = [agent.outcomes.get(outcome, 0) for agent in agents for outcome in wanted]
        return sum(counts)


def _known_words(agents: Sequence[JobAgent], kind: str, shown: str) -> int | None:
    """How many Trials ended with the error code, or for the reason, that reads so."""
    total = 0
    for agent in agents:
        words: dict[str, int] | None = agent.figures.get(kind)
        if words is None or len(words) >= WORDS_KEPT:
            return None  # it may be one of those that were left out
        total += sum(times for word, times in words.items() if formats.clean_text(word) == shown)
    return total


def job_trials(
    project: Project, job: Job, query: Mapping[str, str], kept: Sequence[Figures], scoring: Scoring
) -> JobTrials:
    """A page of the Job's Trials, in four queries."""
    chosen = JobTrialFilter.parse(job, scoring, query)
    columns = heads(formats.score_unit(*scoring.score_range))
    sort = ListSort.parse(query.get("sort", ""), columns, DEFAULT)
    path = job_href(project, job.client_job_id)
    cursor = query.get("cursor")
    found = chosen.apply(Trial.objects.filter(job=job))
    known = chosen.known_count()
    if known == 0:  # else every Trial would be looked at for nothing
        found = found.none()
    page = paginate(found.only("pk", *LISTED), order=sort.order, cursor=cursor)
    total = found.count_to_limit() if known is None else known
    sorted_by = {"sort": sort.text} if sort.text != DEFAULT else {}
    now = {**chosen.query, **sorted_by}

    def href(**query: str) -> str:
        return f"{with_query(path, query)}#trials"

    return JobTrials(
        form=_form(job, chosen, kept, path, sorted_by),
        columns=sort.columns(columns, lambda text: href(**chosen.query, sort=text)),
        rows=_rows(project, job, [trial.pk for trial in page.items], scoring),
        total=total,
        total_words=total_words(total, exact=known is not None),
        recorded=job.recorded,
        filters=chosen.words,
        clear_href=href(**sorted_by) if chosen.words else "",
        first_href=href(**now) if cursor else "",
        next_href=href(**now, cursor=page.next_cursor) if page.next_cursor else "",
    )


def _rows(project: Project, job: Job, keys: Sequence[int], scoring: Scoring) -> tuple[TrialRow, ...]:
    trials = Trial.objects.filter(pk__in=keys)
    by_key = {trial.pk: trial for trial in trials.defer("notes", "models_used")}
    tries = dict(trials.values_list("pk").annotate(n=Count("executions")))
    agents = {agent.pk: agent for agent in job.agents.all()}
    for trial in by_key.values():
        trial.job, trial.job_agent = job, agents[trial.job_agent_id]
    return tuple(trial_row(project, by_key[key], scoring, tries[key]) for key in keys)


def _form(
    job: Job, chosen: JobTrialFilter, kept: Sequence[Figures], path: str, sorted_by: Mapping[str, str]
) -> TrialFilters:
    unit = formats.score_unit(*chosen.scoring.score_range)
    labels = {
        "score": f"Score{f', {unit}' if unit else ''}",
        "cost": "Cost, $",
        "time": "Time, s",
        "tokens": "Tokens",
        "turns": "Turns",
    }
    categories = job.revision.categories.values_list("slug", "name") if job.revision else []
    in_panel = (chosen.category, chosen.error, chosen.stop, chosen.at, *chosen.ends)
    return TrialFilters(
        action=path,
        carried=(*sorted_by.items(), *((("at", str(chosen.at)),) if chosen.at else ())),
        task=formats.clean_text(chosen.task),
        agents=tuple(
            Option(str(agent.position), formats.clean_text(agent.name), agent == chosen.agent)
            for agent in job.agents.all()
        ),
        outcomes=tuple(_outcomes(chosen.outcome)),
        categories=tuple(
            Option(slug, formats.clean_text(name), slug == chosen.category) for slug, name in categories
        ),
        errors=tuple(_words([figures.errors for figures in kept], chosen.error)),
        stops=tuple(_words([figures.stops for figures in kept], chosen.stop)),
        ranges=tuple(
            Range(name, labels[name], chosen.ends.get(f"{name}_min", ""), chosen.ends.get(f"{name}_max", ""))
            for name in RANGES
        ),
        narrowing=sum(map(bool, in_panel)),
    )


def _outcomes(chosen: str) -> list[Option]:
    words = {key: label for key, (label, _) in OUTCOME_WORDS.items()}
    words |= {key: label[0].upper() + label[1:] for key, (_, label) in OUTCOME_GROUPS.items()}
    return [Option(key, label, key == chosen) for key, label in words.items()]


def _words(found: Sequence[Mapping[str, int]], chosen: str) -> list[Option]:
    """Words with how often they occur, the most frequent first."""
    counts: dict[str, int] = {chosen: 0} if chosen else {}
    for one in found:
        for word, times in one.items():
            shown = formats.clean_text(word)
            counts[shown] = counts.get(shown, 0) + times
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return [
        Option(word, f"{_word(word)} ({formats.count(counts[word])})", word == chosen) for word in ordered
    ]


def _word(text: str) -> str:
    return text.replace("_", " ")
