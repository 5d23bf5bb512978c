"""The page of one Trial: what it counts as and why, what each Verifier said, what it left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import Http404
from django.urls import reverse

from benchmarks.domain.types import Scoring
from benchmarks.pages import Crumb, Figure
from jobs.models import Execution, Trial
from jobs.pages import ExecutionRow, Fact, FileRow, TrialPage, VerifierRow
from jobs.rows import OUTCOME_WORDS, source_of, trial_row
from jobs.selectors import note_words, scoring_of
from plural_site import formats
from plural_site.accounts.models import Project

EVIDENCE_SHOWN = 200
TONES = {"succeeded": "good", "failed": "bad", "awaiting_review": "info"}


def find_trial(project: Project, trial_id: str) -> Trial:
    """Raises Http404 where the project has no such Trial."""
    found = Trial.objects.visible(project).filter(client_trial_id=trial_id).order_by("pk")
    trial = found.select_related(
        "job__revision__resource", "job__revision__release", "job__task_revision__resource", "job_agent"
    ).first()
    if trial is None:
        raise Http404("No such Trial in this project.")
    return trial


def trial_page(project: Project, trial: Trial) -> TrialPage:
    executions = list(trial.executions.all())
    scoring = scoring_of(trial.job.revision)
    outcome, tone = OUTCOME_WORDS[trial.outcome]
    final = next((execution for execution in executions if execution.is_final), None)
    job_href = reverse("jobs:job", args=[project.slug, trial.job.client_job_id])
    return TrialPage(
        crumbs=(
            Crumb(project.name, reverse("jobs:project", args=[project.slug])),
            Crumb("Jobs", reverse("jobs:jobs", args=[project.slug])),
            Crumb(trial.job.client_job_id, job_href),
            Crumb(trial.client_trial_id),
        ),
        trial_id=trial.client_trial_id,
        task=formats.clean_text(trial.task_name),
        agent=formats.clean_text(trial.job_agent.name),
        attempt=trial.attempt,
        outcome=outcome,
        tone=tone,
        why=why(trial, scoring if trial.job.revision else None),
        facts=tuple(_facts(project, trial, scoring, executions)),
        verifiers=tuple(_verifier(result, scoring) for result in (final.verifier_results if final else [])),
        executions=tuple(_execution(project, trial, execution) for execution in executions),
        notes=tuple(note_words(note) for note in trial.notes),
    )


def why(trial: Trial, scoring: Scoring | None) -> str:
    """Why the Trial counts as what it does, by the rules of its release (None: a Job on a single Task)."""
    rules = scoring or Scoring()
    bottom = rules.score_range[0]
    counts = (
        f"It counts with {bottom:g}, the bottom of the score range."
        if rules.agent_failure == "zero"
        else "This release leaves agent failures out of the score."
    )
    if trial.outcome == "scored":
        return "The Verifiers gave a score inside the declared range; it counts as it is."
    if trial.outcome == "pending":
        return f"It is not settled yet ({trial.status.replace('_', ' ')}). It counts once it is."
    if trial.outcome == "cancelled":
        return "It was cancelled. It counts neither for nor against the Agent."
    if trial.outcome == "agent_failure":
        return f"It ended without a score through the Agent's own doing ({_cause(trial)}). {counts}"
    if trial.score is not None:
        low, high = rules.score_range
        return (
            f"Its score {trial.score:g} lies outside the declared range {low:g} to {high:g}: the Verifier "
            "broke its own rule, so the Trial is left out of the score."
        )
    return (
        f"It ended without a score for a reason that is not the Agent's ({_cause(trial)}), so it is left out "
        "of the score."
    )


def _cause(trial: Trial) -> str:
    words = filter(None, (trial.stop_reason, trial.error_code))
    return formats.clean_text(", ".join(words) or trial.status).replace("_", " ")


def _facts(project: Project, trial: Trial, scoring: Scoring, executions: list[Execution]) -> list[Fact]:
    row = trial_row(project, trial, scoring, len(executions))
    source, source_href = source_of(project, trial.job)
    unit = formats.score_unit(*scoring.score_range)
    score = Figure(
        f"{row.score.text}{' ' + unit if unit and trial.score is not None else ''}", row.score.title
    )
    tokens = (
        Figure(
            f"{formats.count(trial.input_tokens)} in, {formats.count(trial.output_tokens)} out",
        )
        if trial.input_tokens is not None or trial.output_tokens is not None
        else Figure(formats.DASH, "No tokens were reported")
    )
    facts = [
        Fact("Score", score),
        Fact("Cost", row.cost),
        Fact("Time", row.latency),
        Fact("Tokens", tokens),
        Fact("Turns", Figure(formats.count(trial.turns))),
        Fact(
            "Executions",
            Figure(formats.count(len(executions)), note="the last one counts" if executions[1:] else ""),
        ),
        Fact(
            "Stopped by", Figure(row.stop_reason or formats.DASH, "" if row.stop_reason else "Not reported")
        ),
        Fact("Release", Figure(source, href=source_href)),
        Fact("Track", Figure(trial.job.track_ref or "none")),
        Fact("Started", Figure(formats.datetime_text(trial.started_at))),
    ]
    if trial.models_used:
        facts.append(Fact("Models called", Figure(formats.clean_text(", ".join(trial.models_used)))))
    if trial.error_code:
        message = formats.clean_text(next((e.error_message for e in executions if e.is_final), ""))
        facts.append(Fact("Error", Figure(formats.clean_text(trial.error_code), note=message)))
    return facts


def _verifier(result: Mapping[str, Any], scoring: Scoring) -> VerifierRow:
    parts = tuple(
        Fact(formats.clean_text(str(name)), Figure(f"{value:g}")) for name, value in result["scores"].items()
    )
    return VerifierRow(
        name=formats.clean_text(result["verifier"]),
        kind=result["kind"],
        status=result["status"].replace("_", " "),
        score=_verifier_score(result["score"], scoring),
        parts=parts,
        feedback=formats.clean_text(result["feedback"]),
        evidence=tuple(_evidence(item) for item in result["evidence"][:EVIDENCE_SHOWN]),
    )


def _verifier_score(score: float | None, scoring: Scoring) -> Figure:
    if score is None:
        return Figure(formats.DASH, "This Verifier gave no score")
    unit = formats.score_unit(*scoring.score_range)
    return Figure(
        f"{formats.score_text(score, *scoring.score_range)}{' ' + unit if unit else ''}", str(score)
    )


def _evidence(item: Any) -> str:
    return formats.clean_text(item if isinstance(item, str) else str(item))


def _execution(project: Project, trial: Trial, execution: Execution) -> ExecutionRow:
    error = ": ".join(filter(None, (execution.error_code.replace("_", " "), execution.error_message)))
    started, completed = execution.started_at, execution.completed_at
    duration = (completed - started).total_seconds() if started and completed else None
    return ExecutionRow(
        number=execution.number,
        is_final=execution.is_final,
        status=execution.status.replace("_", " "),
        tone=TONES.get(execution.status, "neutral"),
        error=formats.clean_text(error),
        started=formats.datetime_text(started),
        duration=formats.seconds(duration),
        files=tuple(_file(project, trial, execution, file) for file in execution.files),
    )


def _file(project: Project, trial: Trial, execution: Execution, file: Sequence[Any]) -> FileRow:
    path, digest, _offset, size, _media_type, role, recorded = file
    return FileRow(
        path=formats.clean_text(path),
        size=formats.bytes_text(size),
        role=formats.clean_text(role),
        digest=digest,
        href=reverse("jobs:file", args=[project.slug, trial.client_trial_id, execution.number, path]),
        recorded=recorded,
    )
