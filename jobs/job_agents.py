"""The Agents of a Job with their figures over it alone, beside what the runner wrote of them."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.board.rows import FigureTexts
from benchmarks.board.words import short_hash
from benchmarks.domain.explanation import OUTCOME_NAMES
from benchmarks.pages import Figure
from jobs.domain.runner_figures import Disagreement, disagreements, record_of
from jobs.job_figures import Figures
from jobs.job_pages import AgentFigures, RunnerFigure
from jobs.links import agent_href
from jobs.models import Job, JobAgent
from jobs.rows import job_href
from plural_site import formats
from plural_site.accounts.models import Project

LABELS = {
    "count": "Trials",
    "successes": "Successes",
    "mean_score": "Score",
    "coverage": "Coverage",
    "total_cost": "Total cost",
    "mean_latency_seconds": "Time per Trial",
}


def agent_figures(project: Project, job: Job, agent: JobAgent, figures: Figures) -> AgentFigures:
    overall, texts = figures.overall, FigureTexts(figures.scoring)
    configuration = agent.configuration
    path = f"{job_href(project, job.client_job_id)}?agent={agent.position}"
    few = overall.attempts < overall.planned
    return AgentFigures(
        name=formats.clean_text(agent.name),
        version=formats.clean_text(agent.version),
        href=agent_href(project, configuration),
        model=formats.clean_text(configuration.model),
        harness=formats.clean_text(f"{agent.harness} {agent.harness_version}".strip()) or "built-in loop",
        configuration=configuration.content_hash,
        short_hash=short_hash(configuration.content_hash),
        score=texts.score(overall, ""),
        interval=texts.interval(overall, ""),
        coverage=texts.coverage(overall, ""),
        success=texts.success(overall, ""),
        cost=texts.cost(overall, ""),
        total=texts.total(overall, ""),
        latency=texts.latency(overall, ""),
        attempts=Figure(
            formats.count(overall.attempts),
            note=f"{formats.count(overall.attempts)} of {formats.count(overall.planned)} planned"
            if few
            else "",
            href=f"{path}#trials",
        ),
        outcomes=tuple(
            Figure(formats.count(overall.outcomes[key]), label, href=f"{path}&outcome={key}#trials")
            for key, label in OUTCOME_NAMES.items()
            if overall.outcomes.get(key)
        ),
        reasons=formats.clean_texts(overall.reasons),
        runner=tuple(_runner(job, agent, figures)),
    )


def _runner(job: Job, agent: JobAgent, figures: Figures) -> Iterator[RunnerFigure]:
    reported = record_of(job.aggregates, agent.position, agent.name, agent.configuration.model)
    if reported is None:
        return
    overall = figures.overall
    ours = {
        "count": overall.attempts,
        "successes": overall.successes if figures.scoring.success_threshold is not None else None,
        "mean_score": overall.score,
        "coverage": overall.coverage,
        "total_cost": overall.cost_total,
        "mean_latency_seconds": overall.latency,
    }
    for found in disagreements(reported, ours, figures.runner):
        yield _figure(found, figures)


def _figure(found: Disagreement, figures: Figures) -> RunnerFigure:
    ours = _text(found.figure, found.ours, figures)
    why = "" if found.ours is not None else "Not known by the rules of this release"
    return RunnerFigure(
        LABELS[found.figure], _text(found.figure, found.runner, figures), Figure(ours, why), found.reason
    )


def _text(figure: str, value: float | None, figures: Figures) -> str:
    if value is None:
        return formats.DASH
    low, high = figures.scoring.score_range
    unit = formats.score_unit(low, high)
    return {
        "count": lambda: formats.count(round(value)),
        "successes": lambda: formats.count(round(value)),
        "mean_score": lambda: (
            f"{formats.score_text(value, low, high)}{formats.NO_BREAK_SPACE + unit if unit else ''}"
        ),
        "coverage": lambda: formats.percent(value),
        "total_cost": lambda: formats.money(value),
        "mean_latency_seconds": lambda: formats.seconds(value),
    }[figure]()
