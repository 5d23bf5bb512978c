"""Every Task of one Job against its Agents, with a mark for each attempt: a page of Tasks at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Sum
from django.urls import reverse

from benchmarks.domain.types import Scoring
from benchmarks.models import TaskPin
from benchmarks.pages import Figure
from jobs.compare_links import whole_number
from jobs.job_pages import JobGrid, Mark, MarksCell, MarksRow
from jobs.models import Job, JobAgent, Trial
from jobs.rows import job_href, with_query
from plural_site import formats
from plural_site.accounts.models import Project

AGENTS_A_PAGE = 6
ATTEMPTS_SHOWN = 20
MARKS_A_PAGE = 400
TASKS_A_PAGE = (5, 50)
"""At least and at most; between them as many as MARKS_A_PAGE allows."""
SHAPES = {
    "agent_failure": ("▲", "agent failure", "bad"),
    "infrastructure_error": ("!", "infrastructure error", "warn"),
    "cancelled": ("⊘", "cancelled", "neutral"),
    "pending": ("…", "pending", "info"),
}
PASSED, NOT_PASSED, PLAIN, NOTHING = "✓", "✗", "●", "·"


@dataclass(frozen=True, slots=True)
class Window:
    """Which Tasks and which Agents are shown, by position, and of how many."""

    tasks: range
    tasks_total: int
    page: int
    agents: range
    agents_total: int
    agents_page: int

    @classmethod
    def of(cls, job: Job, agents: int, tasks: int, query: Mapping[str, str]) -> Window:
        agents_page = min(whole_number(query.get("agents", "")), max(-(-agents // AGENTS_A_PAGE), 1))
        columns = range((agents_page - 1) * AGENTS_A_PAGE, min(agents_page * AGENTS_A_PAGE, agents))
        marks = max(len(columns), 1) * min(job.attempts, ATTEMPTS_SHOWN)
        size = min(max(MARKS_A_PAGE // marks, TASKS_A_PAGE[0]), TASKS_A_PAGE[1])
        page = min(whole_number(query.get("tasks", "")), max(-(-tasks // size), 1))
        shown = range((page - 1) * size, min(page * size, tasks))
        return cls(shown, tasks, page, columns, agents, agents_page)


@dataclass(slots=True)
class _Cell:
    trials: dict[int, tuple[str, str, float | None]] = field(default_factory=dict)
    """By attempt: the Trial's id, outcome and score."""
    attempts: int = 0
    scored: int = 0
    failures: int = 0
    total: float = 0.0


def job_grid(
    project: Project,
    job: Job,
    window: Window,
    *,
    scoring: Scoring,
    pins: Mapping[int, TaskPin],
    kept: Mapping[str, str],
) -> JobGrid | None:
    """In two queries; None where the Job has no Tasks.

    `pins` are those of the shown Tasks, by position; `kept` is what its links carry along.
    """
    agents = list(job.agents.all())[window.agents.start : window.agents.stop]
    if not window.tasks_total or not agents:
        return None
    grid = _Grid(project, job, scoring, window, agents)
    grid.read()

    def href(tasks: int, agents_page: int) -> str:
        pages = {"tasks": tasks, "agents": agents_page}
        own = {name: str(number) for name, number in pages.items() if number > 1}
        return f"{with_query(grid.path, {**kept, **own})}#grid"

    first, last = window.tasks.start, window.tasks.stop
    left, right = window.agents.start, window.agents.stop
    whole, every = last - first == window.tasks_total, right - left == window.agents_total
    passes = scoring.success_threshold is not None
    return JobGrid(
        agents=formats.clean_texts(agent.name for agent in agents),
        rows=tuple(grid.row(position, pins.get(position)) for position in window.tasks),
        legend=_legend(passes),
        caption=_caption(job, scoring),
        tasks_words="" if whole else f"Tasks {first + 1} to {last} of {formats.count(window.tasks_total)}",
        tasks_previous=href(window.page - 1, window.agents_page) if first else "",
        tasks_next=href(window.page + 1, window.agents_page) if last < window.tasks_total else "",
        agents_words="" if every else f"Agents {left + 1} to {right} of {formats.count(window.agents_total)}",
        agents_previous=href(window.page, window.agents_page - 1) if left else "",
        agents_next=href(window.page, window.agents_page + 1) if right < window.agents_total else "",
    )


def _legend(passes: bool) -> tuple[tuple[str, str], ...]:
    scored = ((PASSED, "passed"), (NOT_PASSED, "not passed")) if passes else ((PLAIN, "scored"),)
    return (*scored, *((shape, words) for shape, words, _ in SHAPES.values()), (NOTHING, "left nothing"))


def _caption(job: Job, scoring: Scoring) -> str:
    unit = formats.score_unit(*scoring.score_range)
    scale = f" in {unit}" if unit else ""
    if job.attempts == 1:
        return f"One attempt at each Task: what became of it and its score{scale}."
    return (
        f"{formats.count(job.attempts)} attempts at each Task: the mean score{scale} over the valid "
        "ones, and under it each attempt in order."
    )


class _Grid:
    def __init__(
        self, project: Project, job: Job, scoring: Scoring, window: Window, agents: Sequence[JobAgent]
    ) -> None:
        self.project, self.job, self.scoring, self.window, self.agents = project, job, scoring, window, agents
        self.path = job_href(project, job.client_job_id)
        self.trials_path = reverse("jobs:trial", args=[project.slug, "-"])[:-1]
        self.cells: dict[tuple[int, int], _Cell] = defaultdict(_Cell)

    def read(self) -> None:
        positions = self.window.tasks
        found = Trial.objects.filter(
            job=self.job,
            task_position__gte=positions.start,
            task_position__lt=positions.stop,
            job_agent__in=self.agents,
        )
        shown = found.filter(attempt__lte=ATTEMPTS_SHOWN).values_list(
            "task_position", "job_agent_id", "attempt", "client_trial_id", "outcome", "score"
        )
        for position, agent, attempt, trial_id, outcome, score in shown:
            self.cells[position, agent].trials[attempt] = (trial_id, outcome, score)
        counts = found.order_by().values_list("task_position", "job_agent_id", "outcome")
        for place, owner, kind, number, total in counts.annotate(n=Count("pk"), total=Sum("score")):
            cell = self.cells[place, owner]
            cell.attempts += number
            if kind == "scored":
                cell.scored, cell.total = number, total
            elif kind == "agent_failure":
                cell.failures = number

    def row(self, position: int, pin: TaskPin | None) -> MarksRow:
        name = pin.name if pin else self._own_name(position)
        return MarksRow(
            task=formats.clean_text(name),
            number=position + 1,
            href=self._trials(position),
            cells=tuple(self._cell(position, agent) for agent in self.agents),
        )

    def _own_name(self, position: int) -> str:
        """Of a Job on a single Task."""
        task = self.job.task_revision
        return task.resource.name if task else f"Task {position + 1}"

    def _trials(self, position: int, agent: JobAgent | None = None) -> str:
        query = {"at": str(position + 1)} | ({"agent": str(agent.position)} if agent else {})
        return f"{with_query(self.path, query)}#trials"

    def _cell(self, position: int, agent: JobAgent) -> MarksCell:
        cell = self.cells.get((position, agent.pk)) or _Cell()
        last = min(self.job.attempts, ATTEMPTS_SHOWN)
        score, counted = self._score(cell)
        beyond = cell.attempts - len(cell.trials)
        several = self.job.attempts > 1
        return MarksCell(
            score=self._text(score) if several else "",
            title=f"{counted} of {cell.attempts} attempts counted" if several else "",
            marks=tuple(self._mark(cell.trials.get(attempt), attempt) for attempt in range(1, last + 1)),
            more=Figure(f"{formats.count(beyond)} more", href=self._trials(position, agent))
            if beyond > 0
            else None,
        )

    def _score(self, cell: _Cell) -> tuple[float | None, int]:
        """The mean over the valid attempts, and how many those are."""
        failures = cell.failures if self.scoring.agent_failure == "zero" else 0
        valid = cell.scored + failures
        if not valid:
            return None, 0
        return (cell.total + failures * self.scoring.score_range[0]) / valid, valid

    def _text(self, score: float | None) -> str:
        return formats.score_text(score, *self.scoring.score_range)

    def _mark(self, trial: tuple[str, str, float | None] | None, attempt: int) -> Mark:
        if trial is None:
            return Mark(NOTHING, "", f"Attempt {attempt}: {self._nothing()}", "", "neutral")
        trial_id, outcome, score = trial
        href = f"{self.trials_path}{trial_id}"
        if outcome != "scored":
            shape, words, tone = SHAPES[outcome]
            return Mark(shape, "", f"Attempt {attempt}: {words}", href, tone)
        text, threshold = self._text(score), self.scoring.success_threshold
        if threshold is None or score is None:
            return Mark(PLAIN, text, f"Attempt {attempt}: scored {text}", href, "neutral")
        passed = score >= threshold
        words = f"Attempt {attempt}: {'passed' if passed else 'did not pass'}, {text}"
        return Mark(PASSED if passed else NOT_PASSED, text, words, href, "good" if passed else "neutral")

    def _nothing(self) -> str:
        if self.job.closed_at:
            return "cancelled: it left nothing, and the Job was closed"
        return "left nothing yet" if self.job.status == "running" else "left nothing"
