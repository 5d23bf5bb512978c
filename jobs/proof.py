"""The page behind a number of a leaderboard: its rule, formula, funnel, Tasks and Trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from django.http import Http404, QueryDict
from django.urls import reverse

from benchmarks.board.parts import BoardRow, Choice, Fact
from benchmarks.board.state import BoardState
from benchmarks.domain.arithmetic import plain
from benchmarks.domain.explain import explain
from benchmarks.domain.explanation import OF_CATEGORY, OF_WHOLE, OUTCOME_NAMES, Case, TaskPart
from benchmarks.domain.tracks import describe_scoring, describe_track
from benchmarks.links import revision_label
from benchmarks.models import Revision
from benchmarks.pages import Crumb, Figure
from jobs import tallies
from jobs.board import Board, load_board
from jobs.board_rows import RowBuilder
from jobs.command_pages import CommandPart
from jobs.command_part import command_part
from jobs.entries import Entry
from jobs.models import Job, Tally
from jobs.proof_pages import ProofJob, ProofPage, ProofRank, ProofStage, ProofStep, ProofTask, ProofTerm
from jobs.rows import OUTCOME_WORDS
from plural_site import formats
from plural_site.accounts.models import Project

MOST_TASKS = 200
MOST_SAMPLES = 40
MOST_TERMS_IN_LINE = 6
TERMS_AT_ENDS = 2

LABELS: dict[str, str] = {
    "rank": "Rank",
    "score": "Score",
    "interval": "95 % interval",
    "success": "Success rate",
    "spread": "Spread over attempts",
    "pass": "All attempts succeed (pass^k)",
    "coverage": "Coverage",
    "complete": "Complete coverage",
    "completion": "Completion rate",
    "cost": "Cost per attempt",
    "total": "Total cost",
    "latency": "Time per attempt",
    "attempts": "Attempts",
    **{key: f"Attempts: {words}" for key, words in OUTCOME_NAMES.items()},
    "jobs": "Jobs",
}
IN_SCORE_UNITS = ("score", "interval", "spread")
SAMPLES = {"valid": "Values that count", "cost": "Costs, $", "latency": "Times, s"}
COUNTED_TRIALS: dict[str, tuple[str, str]] = {
    "cost": ("measured", "cost"),
    "latency": ("measured", "latency"),
    "ended": ("outcome", "ended"),
    **{key: ("outcome", key) for key in OUTCOME_NAMES},
}


@dataclass(frozen=True, slots=True)
class ProofQuery:
    """Which number: of which entry (a short configuration hash), over all Tasks or those of a category."""

    state: BoardState
    entry: str
    figure: str
    category: str
    every_task: bool

    @classmethod
    def parse(cls, query: QueryDict) -> ProofQuery:
        board = BoardState.parse(query)
        return cls(
            state=BoardState(track=board.track, job=board.job),
            entry=query.get("entry", ""),
            figure=query.get("figure", ""),
            category=query.get("category", ""),
            every_task=query.get("all") == "1",
        )


def proof_page(project: Project, revision: Revision, query: ProofQuery) -> ProofPage:
    """Raises Http404 where the board has no such track, entry, category or number."""
    if query.figure not in (OF_CATEGORY if query.category else OF_WHOLE):
        raise Http404("No number of a leaderboard has this name.")
    board = load_board(project, revision, query.state)
    entry = next((e for e in board.entries if e.key == query.entry), None)
    if entry is None:
        raise Http404("This leaderboard has no such entry.")
    tally = next((row for row in entry.categories if row.key == query.category), None)
    if query.category and tally is None:
        raise Http404("This release has no such category.")
    return _Page(board, entry, tally or entry.overall, query).page()


class _Page:
    def __init__(self, board: Board, entry: Entry, tally: Tally, query: ProofQuery) -> None:
        self.board, self.entry, self.tally, self.query = board, entry, tally, query
        self.figure, self.category = query.figure, query.category
        self.explanation = explain(query.figure, self._case(), query.category)
        self.links = RowBuilder(board).links(entry)
        self.most = None if query.every_task else MOST_TASKS

    def page(self) -> ProofPage:
        found, entry, board = self.explanation, self.entry, self.board
        label = LABELS[self.figure]
        return ProofPage(
            crumbs=self._crumbs(label),
            label=label,
            agent=formats.clean_text(entry.names[0]),
            category=formats.clean_text(self.tally.detail["name"]) if self.category else "",
            shown=self._shown(),
            unit=formats.score_unit(*board.scoring.score_range) if self.figure in IN_SCORE_UNITS else "",
            exact=tuple(
                Fact(value.name, Figure(plain(value.value)))
                for value in found.values
                if value.value is not None
            ),
            missing=formats.clean_text(found.missing),
            warnings=tuple(self._warnings()),
            chosen_jobs=len(board.state.job),
            rules=formats.clean_texts(found.rules),
            release_rules=formats.clean_texts(
                [
                    *describe_scoring(board.scoring),
                    *(describe_track(board.selection.track) if board.selection.track else []),
                ]
            ),
            steps=tuple(self._steps()),
            stages=tuple(self._stages()),
            ranking=tuple(self._ranking()) if self.figure == "rank" else (),
            jobs=tuple(self._jobs()) if self.figure == "jobs" else (),
            sample_head=SAMPLES.get(found.counted, "Outcomes"),
            task_head=found.task_head,
            tasks=tuple(self._task(part) for part in found.tasks[: self.most]),
            tasks_total=len(found.tasks),
            all_href=f"{self._href(self.figure)}&all=1" if self.most and len(found.tasks) > self.most else "",
            others=tuple(
                Choice(LABELS[name], self._href(name), name == self.figure)
                for name in (OF_CATEGORY if self.category else OF_WHOLE)
            ),
            command=self._command(),
            trials_href=self._trials(),
            jobs_href=self.links.jobs,
        )

    def _command(self) -> CommandPart | None:
        """Of the latest Job. Five queries."""
        job = Job.objects.with_source().get(pk=self.entry.agents[0].job_id)
        own = [agent for agent in job.agents.all() if agent.configuration_id == self.entry.configuration.pk]
        words = f"One more Job of this entry, as its latest one, {job.client_job_id}, was run."
        return command_part(self.board.project, job, own, words=words)

    def _case(self) -> Case:
        board, entry = self.board, self.entry
        (found,) = tallies.evaluate(
            board.revision,
            board.selection.reference,
            configurations=[entry.configuration.pk],
            jobs=board.state.job or None,
        )
        return Case(
            attempts=found.attempts,
            result=found.result,
            scoring=board.scoring,
            categories=board.selection.rules.categories,
            track=board.selection.track,
            planned=found.planned,
            recorded=found.recorded,
            ranked=[
                (e.names[0], e.overall.score)
                for e in board.entries
                if e.rank is not None and e.overall.score is not None
            ],
            jobs=list(dict.fromkeys(agent.job.client_job_id for agent in entry.agents)),
        )

    def _crumbs(self, label: str) -> tuple[Crumb, ...]:
        project, revision = self.board.project, self.board.revision
        return (
            Crumb(project.name, reverse("jobs:project", args=[project.slug])),
            Crumb(
                formats.clean_text(revision.resource.name),
                reverse("benchmarks:benchmark", args=[project.slug, revision.resource.slug]),
            ),
            Crumb(f"Leaderboard {revision_label(revision)}", self.board.href()),
            Crumb(label),
        )

    def _href(self, figure: str) -> str:
        return self.links.figure(figure, self.category)

    def _trials(self, name: str = "", value: str = "") -> str:
        href = f"{self.links.trials}&{name}={quote(value)}" if name else self.links.trials
        return f"{href}&category={quote(self.category)}" if self.category else href

    # The number ------------------------------------------------------------------------------------

    def _shown(self) -> Figure:
        rows, tally = RowBuilder(self.board), self.tally
        if self.figure in OUTCOME_NAMES:
            return Figure(formats.count(tally.outcomes.get(self.figure, 0)))
        if self.figure in ("complete", "completion"):
            share = tally.complete_coverage if self.figure == "complete" else tally.completion_rate
            return Figure(formats.percent(share))
        if self.category and self.figure == "success":
            return Figure(formats.percent(tally.success_rate))
        if self.figure == "interval":
            return Figure(rows.interval(tally, "").text)
        if self.figure in _OF_TALLY:
            return _OF_TALLY[self.figure](rows, tally, "")
        return _OF_ROW[self.figure](rows.row(self.entry))

    def _warnings(self) -> Iterable[str]:
        """Nothing where board, Trials and printed formula agree, as they always should."""
        for value, stored in zip(self.explanation.values, self._stored(), strict=True):
            if value.value != stored:
                now = "nothing" if value.value is None else plain(value.value)
                before = "nothing" if stored is None else plain(stored)
                yield (
                    f"The board says {before} for {value.name}, its Trials give {now}. It was computed from "
                    "other Trials or by other rules: import its Jobs again."
                )
            if not value.agrees:
                yield (
                    f"The formula as printed does not give {value.name} = "
                    f"{plain(value.value) if value.value is not None else 'nothing'}. Please report this."
                )

    def _stored(self) -> tuple[float | None, ...]:
        """As the board has it, in the order of the explanation's values."""
        tally, entry = self.tally, self.entry
        values: dict[str, tuple[float | None, ...]] = {
            "rank": (entry.rank,),
            "interval": (tally.low, tally.high),
            "jobs": (entry.jobs,),
            **{key: (tally.outcomes.get(key, 0),) for key in OUTCOME_NAMES},
        }
        if self.figure in values:
            return values[self.figure]
        if self.figure in _CONSISTENCY:
            return (getattr(entry.consistency, _CONSISTENCY[self.figure]),)
        stored: float | None = getattr(tally, _COLUMNS[self.figure])
        return (stored,)

    # Formula ---------------------------------------------------------------------------------------

    def _steps(self) -> Iterable[ProofStep]:
        for whole in self.explanation.steps:
            step = whole.cut(self.most) if self.most else whole
            texts = [term.text for term in step.terms] or ["0"]
            if len(texts) > MOST_TERMS_IN_LINE:
                texts = [*texts[:TERMS_AT_ENDS], "…", *texts[-TERMS_AT_ENDS:]]
            several = len(step.terms) > 1 or any(term.label for term in step.terms)
            terms = [ProofTerm(term.text, formats.clean_text(term.label)) for term in step.terms]
            yield ProofStep(step.symbol, " + ".join(texts), step.result, tuple(terms) if several else ())

    # Evidence --------------------------------------------------------------------------------------

    def _stages(self) -> Iterable[ProofStage]:
        counted = self.explanation.counted
        valid = "ran" if self.board.scoring.agent_failure == "zero" else "scored"
        hrefs = {
            "planned": self.links.jobs,
            "attempted": self._trials(),
            "finished": self._trials("outcome", "finished"),
            "scored": self._trials("outcome", "scored"),
            "counted": self._trials("outcome", valid)
            if counted == "valid"
            else self._trials(*COUNTED_TRIALS.get(counted, ())),
        }
        for stage in self.explanation.funnel:
            if stage.count is None:
                yield ProofStage(stage.name, Figure(formats.DASH), stage.how)
            else:
                figure = Figure(formats.count(stage.count), href=hrefs[stage.name])
                yield ProofStage(stage.name, figure, stage.how)

    def _task(self, part: TaskPart) -> ProofTask:
        task = part.result
        href = self.links.trials_with("task", task.task)
        return ProofTask(
            task=formats.clean_text(task.task),
            href=href,
            weight=plain(task.weight),
            attempts=Figure(formats.count(task.attempts), href=href),
            valid=formats.count(task.valid),
            samples=tuple(
                Figure(
                    plain(sample.value)
                    if sample.value is not None
                    else OUTCOME_WORDS[sample.outcome][0].lower(),
                    f"Attempt {sample.attempt}, {OUTCOME_WORDS[sample.outcome][0].lower()}"
                    f"{'' if sample.trial_id else ': left nothing in a Job that was closed'}",
                    href=self._trial_href(sample.trial_id),
                )
                for sample in part.samples[:MOST_SAMPLES]
            ),
            more=max(len(part.samples) - MOST_SAMPLES, 0),
            figure=formats.DASH if part.figure is None else plain(part.figure),
        )

    def _trial_href(self, trial_id: str | None) -> str:
        return reverse("jobs:trial", args=[self.board.project.slug, trial_id]) if trial_id else ""

    def _ranking(self) -> Iterable[ProofRank]:
        rows = RowBuilder(self.board)
        for entry in self.board.entries:
            if entry.rank is not None:
                row = rows.row(entry)
                yield ProofRank(
                    row.rank, row.agent, row.score, entry.configuration == self.entry.configuration
                )

    def _jobs(self) -> Iterable[ProofJob]:
        by_job = {agent.job_id: agent.job for agent in self.entry.agents}
        for job_id, job in by_job.items():
            agents = [agent for agent in self.entry.agents if agent.job_id == job_id]
            yield ProofJob(
                href=reverse("jobs:job", args=[self.board.project.slug, job.client_job_id]),
                job_id=job.client_job_id,
                started=formats.datetime_text(job.started_at),
                planned=formats.count(sum(agent.planned for agent in agents)),
                recorded=formats.count(sum(agent.recorded for agent in agents)),
            )


_OF_TALLY: Mapping[str, Callable[[RowBuilder, Tally, str], Figure]] = {
    "score": RowBuilder.score,
    "success": RowBuilder.success,
    "coverage": RowBuilder.coverage,
    "cost": RowBuilder.cost,
    "total": RowBuilder.total,
    "latency": RowBuilder.latency,
}
_OF_ROW: Mapping[str, Callable[[BoardRow], Figure]] = {
    "rank": lambda row: Figure(row.rank),
    "spread": lambda row: row.spread,
    "pass": lambda row: row.pass_hat,
    "attempts": lambda row: row.attempts,
    "jobs": lambda row: row.jobs,
}
_COLUMNS = {
    "score": "score",
    "success": "success_rate",
    "coverage": "coverage",
    "complete": "complete_coverage",
    "completion": "completion_rate",
    "cost": "cost",
    "total": "cost_total",
    "latency": "latency",
    "attempts": "attempts",
}
_CONSISTENCY = {"spread": "spread", "pass": "pass_hat"}
