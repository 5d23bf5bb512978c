"""The pages that search the Trials of one Job, or of a track of a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count
from django.urls import reverse

from benchmarks.board.parts import Option
from benchmarks.board.words import short_hash
from benchmarks.domain.types import Scoring
from benchmarks.links import board_href, revision_label
from benchmarks.models import Revision
from benchmarks.pages import Crumb, Figure
from jobs import search
from jobs.compare_links import whole_number
from jobs.filters import MOST_TEXT, contains
from jobs.job_page import crumbs
from jobs.models import Job, JobAgent, Trial
from jobs.querysets import TrialQuerySet, counting
from jobs.rows import OUTCOME_WORDS, job_href, with_query
from jobs.search import Matches, Snippet
from jobs.search_pages import AgentCounts, HitRow, SearchForm, SearchPage, TrialHits
from jobs.search_texts import Progress, progress
from jobs.selectors import scoring_of
from jobs.tracks import select_track
from jobs.trial_entry import score_words
from jobs.trial_links import TrialLinks
from plural_site import formats
from plural_site.accounts.models import Project

TRIALS_A_PAGE, HITS_A_TRIAL = 20, 3
PASSED, FAILED, NEITHER = "passed", "failed", "neither"
VERDICTS = {PASSED: "Passed", FAILED: "Failed", NEITHER: "Neither"}
TIPS = (
    "It looks through what Agents, tools and Environments said: the first trajectory of each Trial’s last "
    "execution.",
    "Words are taken literally, signs and spaces too: half a word, a path, a line of code, an error message.",
    "Capitals don’t matter (É is é), accents do (é is not e).",
)


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """`text` is what is looked for, '' for nothing."""

    text: str = ""
    agent: str = ""
    outcome: str = ""
    task: str = ""
    page: int = 1

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> SearchQuery:
        """What makes no sense is left out."""
        outcome = query.get("outcome", "")
        return cls(
            search.cleaned(query.get("q", "")),
            query.get("agent", ""),
            outcome if outcome in VERDICTS else "",
            query.get("task", "").replace("\0", "").strip()[:MOST_TEXT],
            whole_number(query.get("page", "")),
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """What is searched. `agents`: by key of the column `by`, value in the address and name, in order."""

    project: Project
    jobs: Sequence[int]
    trials: TrialQuerySet
    by: str
    agents: Mapping[int, tuple[str, str]]
    scoring: Scoring
    path: str
    carried: Mapping[str, str]
    crumbs: tuple[Crumb, ...]
    of: str
    is_one_job: bool


class _Row(NamedTuple):
    trial: int
    agent: int
    task: int
    attempt: int
    outcome: str
    score: float | None


def job_scope(project: Project, job: Job) -> Scope:
    """`job` as `find_job` gives it."""
    own = job_href(project, job.client_job_id)
    return Scope(
        project=project,
        jobs=[job.pk],
        trials=Trial.objects.filter(job=job),
        by="job_agent",
        agents={agent.pk: (str(agent.position), agent.name) for agent in job.agents.all()},
        scoring=scoring_of(job.revision),
        path=reverse("jobs:job-search", args=[project.slug, job.client_job_id]),
        carried={},
        crumbs=crumbs(project, Crumb(job.client_job_id, own), Crumb("Search")),
        of=job.client_job_id,
        is_one_job=True,
    )


def benchmark_scope(project: Project, revision: Revision, track: str) -> Scope:
    """The Trials that the board of a track takes. Five queries. Raises Http404 without such a track."""
    selection = select_track(revision, track)
    board = board_href(project, revision, track=selection.key)
    agents = JobAgent.objects.filter(
        counting("job__"), job__revision=revision, job__track_ref=selection.reference
    )
    columns = ("job", "configuration", "configuration__content_hash", "name")
    rows = list(agents.order_by("-job__started_at", "-pk").values_list(*columns))
    named: dict[int, tuple[str, str]] = {}
    for _, configuration, digest, name in rows:
        named.setdefault(configuration, (short_hash(digest), name))
    counted = Trial.objects.filter(
        counting("job__"), job__revision=revision, job__track_ref=selection.reference, pin__isnull=False
    )
    label = f"{formats.clean_text(revision.resource.name)} {revision_label(revision)}"
    return Scope(
        project=project,
        jobs=sorted({job for job, *_ in rows}),
        trials=counted.first_copies(),
        by="job_agent__configuration",
        agents=dict(sorted(named.items(), key=lambda item: item[1][1].casefold())),
        scoring=selection.rules.scoring,
        path=f"{board_href(project, revision)}/search",
        carried={"track": selection.key},
        crumbs=(
            Crumb(project.name, reverse("jobs:project", args=[project.slug])),
            Crumb(label, board),
            Crumb("Search"),
        ),
        of=f"{label}, {selection.reference or 'no track'}",
        is_one_job=False,
    )


def search_page(scope: Scope, query: SearchQuery) -> SearchPage:
    """A fixed number of queries, whatever there is to find. Finds what is indexed, and indexes nothing."""
    return _Page(scope, query).page()


class _Page:
    def __init__(self, scope: Scope, query: SearchQuery) -> None:
        self.scope, self.query, self.scoring = scope, query, scope.scoring
        self.is_judged = self.scoring.success_threshold is not None
        self.agent = next((key for key, (value, _) in scope.agents.items() if value == query.agent), None)
        self.filters = {
            "agent": query.agent if self.agent is not None else "",
            "outcome": query.outcome if self.is_judged else "",
            "task": query.task,
        }
        self.rows = self._rows() if query.text else []
        self.found = search.find(query.text, [row.trial for row in self.rows])
        there = {PASSED, FAILED, *map(self.verdict, self.rows)} if self.is_judged else ()
        self.verdicts = [verdict for verdict in VERDICTS if verdict in there]
        """Columns of the counts."""

    def _rows(self) -> list[_Row]:
        trials = self.scope.trials
        if self.agent is not None:
            trials = trials.filter(**{self.scope.by: self.agent})
        if self.query.task:
            trials = trials.filter(contains("task_name", self.query.task))
        columns = ("pk", self.scope.by, "task_position", "attempt", "outcome", "score")
        rows = [_Row(*row) for row in trials.order_by().values_list(*columns)]
        places = {key: at for at, key in enumerate(self.scope.agents)}
        return sorted(rows, key=lambda row: (row.task, places[row.agent], row.attempt, row.trial))

    def page(self) -> SearchPage:
        scope, query = self.scope, self.query
        state = progress(scope.jobs) if query.text else Progress(0, 0, 0)
        outcome = self.filters["outcome"]
        listed = [
            row
            for row in self.rows
            if row.trial in self.found.steps and (not outcome or self.verdict(row) == outcome)
        ]
        pages = max(-(-len(listed) // TRIALS_A_PAGE), 1)
        number = min(query.page, pages)
        start = (number - 1) * TRIALS_A_PAGE
        shown = listed[start : start + TRIALS_A_PAGE]
        go_on = bool(query.text) and not state.is_done
        return SearchPage(
            crumbs=scope.crumbs,
            title=f"“{formats.clean_text(query.text)}”" if query.text else "Search Trials",
            of=scope.of,
            is_of_job=scope.is_one_job,
            form=self._form(),
            tips=TIPS,
            words=formats.clean_text(query.text),
            claim=self._claim(listed) if query.text else "",
            filters=tuple(self._filter_words()),
            clear_href=self.href(agent="", outcome="", task="") if any(self.filters.values()) else "",
            progress=_progress_words(state) if go_on else "",
            go_on_href=self.href(page=number) if go_on else "",
            notes=tuple(_notes(query.text, self.found, self.rows, state)) if query.text else (),
            heads=self._heads(),
            counts=tuple(self._counts()) if self.found.steps else (),
            passed_words=self._passed_words(),
            trials=self._trials(shown),
            place=f"Trials {start + 1} to {start + len(shown)} of {formats.count(len(listed))}"
            if pages > 1
            else "",
            previous_href=self.href(page=number - 1) if number > 1 else "",
            next_href=self.href(page=number + 1) if number < pages else "",
        )

    def href(self, *, page: int = 1, **changes: str) -> str:
        own = {"q": self.query.text, **self.filters, **changes, "page": str(page) if page > 1 else ""}
        return with_query(
            self.scope.path, {**self.scope.carried, **{name: text for name, text in own.items() if text}}
        )

    def verdict(self, row: _Row) -> str:
        """By the rule of the release's success rate; `NEITHER` for what that leaves out."""
        scoring, value = self.scoring, None
        if row.outcome == "scored":
            value = row.score
        elif row.outcome == "agent_failure" and scoring.agent_failure == "zero":
            value = scoring.score_range[0]
        if value is None or scoring.success_threshold is None or row.task == Trial.UNPLANNED:
            return NEITHER
        return PASSED if value >= scoring.success_threshold else FAILED

    # Words ------------------------------------------------------------------------------------------

    def _form(self) -> SearchForm:
        named = [(value, formats.clean_text(name)) for value, name in self.scope.agents.values()]
        outcomes = [(key, label if key != NEITHER else "Neither of them") for key, label in VERDICTS.items()]
        return SearchForm(
            action=self.scope.path,
            carried=tuple(self.scope.carried.items()),
            text=self.query.text,
            longest=search.LONGEST,
            agents=tuple(Option(value, name, value == self.filters["agent"]) for value, name in named),
            outcomes=tuple(
                Option(value, label, value == self.filters["outcome"])
                for value, label in (outcomes if self.is_judged else ())
            ),
            task=self.query.task,
        )

    def _filter_words(self) -> Iterator[str]:
        if self.agent is not None:
            yield f"Agent {formats.clean_text(self.scope.agents[self.agent][1])}"
        if self.filters["outcome"]:
            label = VERDICTS[self.filters["outcome"]].lower()
            yield "Trials that neither passed nor failed" if label == NEITHER else f"Trials that {label}"
        if self.query.task:
            yield f"Tasks with “{formats.clean_text(self.query.task)}”"

    def _claim(self, listed: Sequence[_Row]) -> str:
        outcome = self.filters["outcome"]
        whole = sum(1 for row in self.rows if not outcome or self.verdict(row) == outcome)
        if not listed:
            return f"In none of {formats.count(whole)} Trials."
        steps = sum(self.found.steps[row.trial] for row in listed)
        return (
            f"In {formats.count(len(listed))} of {formats.count(whole)} Trial{'' if whole == 1 else 's'}, "
            f"{formats.count(steps)} step{'' if steps == 1 else 's'}."
        )

    def _passed_words(self) -> str:
        if not self.is_judged:
            return "This release has no pass mark, so that no Trial passes or fails."
        mark = score_words(self.scoring.success_threshold, self.scoring)
        failure = (
            f"an agent failure counts as {score_words(self.scoring.score_range[0], self.scoring)}"
            if self.scoring.agent_failure == "zero"
            else "agent failures are left out"
        )
        return (
            f"Passed, as in the success rate: a valid attempt at or above {mark}; {failure}. Neither: errors "
            "of the infrastructure, and what was cancelled or is pending."
        )

    # Counts -----------------------------------------------------------------------------------------

    def _heads(self) -> tuple[str, ...]:
        return (*(VERDICTS[verdict] for verdict in self.verdicts), "All")

    def _counts(self) -> Iterator[AgentCounts]:
        totals: dict[tuple[int, str], list[int]] = {}
        for row in self.rows:
            for verdict in (self.verdict(row), ""):
                both = totals.setdefault((row.agent, verdict), [0, 0])
                both[0] += row.trial in self.found.steps
                both[1] += 1
        for key, (value, name) in self.scope.agents.items():
            if (key, "") not in totals:
                continue
            yield AgentCounts(
                formats.clean_text(name),
                self.href(agent=value, outcome=""),
                tuple(
                    self._count(value, verdict, *totals.get((key, verdict), (0, 0)))
                    for verdict in (*self.verdicts, "")
                ),
            )

    def _count(self, agent: str, verdict: str, hits: int, total: int) -> Figure:
        if not total:
            return Figure(formats.DASH, "No such Trial")
        href = self.href(agent=agent, outcome=verdict) if hits else ""
        return Figure(
            f"{formats.count(hits)} of {formats.count(total)}", note=formats.percent(hits / total), href=href
        )

    # Hits -------------------------------------------------------------------------------------------

    def _trials(self, rows: Sequence[_Row]) -> tuple[TrialHits, ...]:
        """In four queries at most."""
        keys = [row.trial for row in rows]
        related = Trial.objects.select_related("job", "job_agent").defer("notes", "job__notes", "job__files")
        trials = {trial.pk: trial for trial in related.filter(pk__in=keys)}
        ids = [trial.client_trial_id for trial in trials.values()]
        held = Trial.objects.visible(self.scope.project).filter(client_trial_id__in=ids).order_by()
        copies = dict(held.values_list("client_trial_id").annotate(n=Count("pk")))
        found = search.snippets(self.query.text, keys, HITS_A_TRIAL)
        return tuple(
            self._trial(trials[row.trial], row, found[row.trial], copies)
            for row in rows
            if row.trial in trials
        )

    def _trial(
        self, trial: Trial, row: _Row, found: Sequence[Snippet], copies: Mapping[str, int]
    ) -> TrialHits:
        project, job = self.scope.project, trial.job.client_job_id
        several = copies.get(trial.client_trial_id, 1) > 1
        links = TrialLinks(project.slug, trial.client_trial_id, job if several else "")
        verdict, (outcome, tone) = self.verdict(row), OUTCOME_WORDS[row.outcome]
        result = score_words(row.score, self.scoring) if row.outcome == "scored" else outcome.lower()
        more = self.found.steps[row.trial] - len(found)
        if verdict != NEITHER:
            outcome, tone = VERDICTS[verdict], "good" if verdict == PASSED else "bad"
        return TrialHits(
            task=formats.clean_text(trial.task_name),
            agent=formats.clean_text(trial.job_agent.name),
            about=f"attempt {trial.attempt} · {result}",
            verdict=outcome,
            tone=tone,
            href=links.page(),
            job_id="" if self.scope.is_one_job else job,
            job_href="" if self.scope.is_one_job else job_href(project, job),
            hits=tuple(_hit(trial.pk, snippet, links) for snippet in found),
            more=Figure(
                f"{formats.count(more)} more step{'' if more == 1 else 's'}",
                href=_trajectory(links, q=self.query.text),
            )
            if more > 0
            else None,
        )


def _hit(trial: int, snippet: Snippet, links: TrialLinks) -> HitRow:
    return HitRow(
        anchor=f"hit-{trial}-{snippet.step}",
        step=snippet.step,
        href=_trajectory(links, step=str(snippet.step), anchor=f"step-{snippet.step}"),
        before=formats.clean_text(snippet.before),
        match=formats.clean_text(snippet.match),
        after=formats.clean_text(snippet.after),
    )


def _trajectory(links: TrialLinks, anchor: str = "", **query: str) -> str:
    """The Trial's own page where the site has none of trajectories."""
    path = links.trajectory()
    if not path:
        return links.page()
    more = with_query("", query)
    joined = f"{path}&{more[1:]}" if "?" in path else f"{path}{more}"
    return f"{joined}#{anchor}" if anchor else joined


def _progress_words(state: Progress) -> str:
    return f"Indexed {formats.count(state.indexed)} of {formats.count(state.total)} Trials; results so far."


def _notes(text: str, found: Matches, rows: Sequence[_Row], state: Progress) -> Iterator[str]:
    if state.unread:
        n = formats.count(state.unread)
        yield f"{n} Trial{'' if state.unread == 1 else 's'} left a trajectory that can’t be read."
    if found.stopped_at is not None:
        looked = sum(row.trial <= found.stopped_at for row in rows)
        yield (
            "The index knows words of three characters and more. For this, only the first "
            f"{formats.count(search.SCANNED)} texts were looked through, those of {formats.count(looked)} of "
            f"{formats.count(len(rows))} Trials."
        )
    elif len(text) < search.SHORTEST:
        yield "The index knows words of three characters and more; for this, every text was looked through."
