"""The page of one Trial: what it counts as and why, what each Verifier said, what it left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404
from django.urls import reverse

from benchmarks.board.parts import Fact
from benchmarks.domain.choice import NOT_PRICED
from benchmarks.domain.types import Scoring
from benchmarks.pages import Crumb, Figure
from jobs.domain.json_tree import Node, tree
from jobs.domain.room import Room
from jobs.links import agent_href, task_href
from jobs.models import Execution, Trial
from jobs.rows import OUTCOME_WORDS, source_of, trial_row
from jobs.selectors import note_words, scoring_of
from jobs.step_indexes import removed_trajectory, trajectory_files
from jobs.stored_files import StoredFiles, removed_words
from jobs.tracks import UNTRACKED
from jobs.trial_config import TrialConfig
from jobs.trial_entry import (
    attempts,
    chosen,
    copies_of,
    entry_part,
    held_rows,
    links_of,
    neighbours,
    score_words,
)
from jobs.trial_evidence import verifiers_part
from jobs.trial_files import files_part, log_rows
from jobs.trial_links import TrialLinks
from jobs.trial_pages import ExecutionRow, TrialPage, VerifiersPart
from jobs.trial_runs import calls_part, state_part, timeline_part
from plural_site import formats
from plural_site.accounts.models import Project

MOST_EXECUTIONS = 50
MOST_NOTES = 40
MOST_ERROR = 1000
MOST_RECORD = 8 * 1024 * 1024
ERRORS_SIZE, RECORD_SIZE, RECORD_NODES = 40_000, 60_000, 400
TONES = {"succeeded": "good", "failed": "bad", "awaiting_review": "info"}
SHOWN_ELSEWHERE = ("verifier_results", "receipt", "error_message")
"""Parts of a result.json that have a place of their own on the page."""
RECEIPT_SHOWN = ("model", "placement", "harness_grant", "runtime_provider", "runtime_identity", "mode")


@dataclass(frozen=True, slots=True)
class TrialQuery:
    """What an address asks for: which copy, which execution (None: the one that counts), which files."""

    job: str = ""
    execution: int | None = None
    files: int = 0

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> TrialQuery:
        execution = query.get("execution", "")
        return cls(
            query.get("job", ""),
            _number(execution, -1) if execution else None,
            _number(query.get("files", ""), 0),
        )


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else otherwise


@dataclass(frozen=True, slots=True)
class Shown:
    """A copy of a Trial and one of its executions, None where it left none."""

    project: Project
    trial: Trial
    copies: Sequence[Trial]
    execution: Execution | None
    links: TrialLinks

    @property
    def stored(self) -> StoredFiles | None:
        return StoredFiles(self.execution.pack_id, self.execution.files) if self.execution else None


def find_trial(project: Project, trial_id: str, job: str = "") -> Trial:
    """The copy that counts, or the one of a Job. Raises Http404 where the project has no such Trial."""
    return chosen(copies_of(project, trial_id), job)


def find_shown(project: Project, trial_id: str, query: TrialQuery) -> Shown:
    """Two queries. Raises Http404 where there is no such Trial, copy or execution."""
    copies = copies_of(project, trial_id)
    trial = chosen(copies, query.job)
    wanted = {"is_final": True} if query.execution is None else {"number": query.execution}
    execution = Execution.objects.filter(trial=trial, **wanted).first()
    if execution is None and query.execution is not None:
        raise Http404("This Trial has no such execution.")
    return Shown(project, trial, copies, execution, links_of(project, trial, copies))


def trial_page(project: Project, trial_id: str, query: TrialQuery) -> TrialPage:
    return _Page(find_shown(project, trial_id, query), query).page()


class _Page:
    def __init__(self, shown: Shown, query: TrialQuery) -> None:
        self.shown, self.query = shown, query
        self.project, self.trial, self.links = shown.project, shown.trial, shown.links
        self.scoring = scoring_of(self.trial.job.revision)
        self.config = TrialConfig(self.trial)
        self.execution = shown.execution or Execution(trial=self.trial, number=0, is_final=True, files=[])
        self.stored = StoredFiles(self.execution.pack_id or "", self.execution.files)

    def page(self) -> TrialPage:
        trial, execution, stored = self.trial, self.execution, self.stored
        executions, total = self._executions()
        outcome, tone = OUTCOME_WORDS[trial.outcome]
        verifiers = verifiers_part(self.project, trial, execution, self.scoring, self.config)
        receipt = stored.read_json("receipt.json", MOST_RECORD)
        marks, more = attempts(self.project, trial, self.scoring)
        verdict, problems = receipt_verdict(trial, stored)
        record, record_missing = self._record(receipt.value or {})
        return TrialPage(
            crumbs=self._crumbs(),
            trial_id=trial.client_trial_id,
            task=formats.clean_text(trial.task_name),
            task_href=self._task_href(),
            agent=formats.clean_text(trial.job_agent.name),
            agent_href=agent_href(self.project, trial.job_agent.configuration),
            about=self._about(),
            outcome=outcome,
            tone=tone,
            claim=_claim(verifiers) if execution.is_final else "",
            why=why(trial, self.scoring if trial.job.revision else None),
            facts=tuple(self._facts(total, verdict)),
            details=tuple(self._details()),
            notes=self._notes(),
            held=held_rows(self.project, trial, self.shown.copies),
            entry=entry_part(self.project, trial, self.shown.copies, self.scoring),
            neighbours=neighbours(self.project, trial, self.scoring),
            attempts=marks,
            attempts_more=more,
            trajectory=self._trajectory(),
            compare_href=self.links.compare(),
            executions=executions,
            executions_total=total,
            shown=execution.number,
            superseded=""
            if execution.is_final
            else "It was tried again, and only the last execution counts. Everything below is of this one.",
            verifiers=verifiers,
            state=state_part(stored, execution),
            calls=calls_part(stored, trial, execution),
            timeline=timeline_part(receipt.value or {}, formats.clean_text(receipt.problem[:300])),
            logs=log_rows(stored, execution, self.links),
            files=files_part(stored, execution, self.links, self.query.files),
            record=record,
            record_missing=record_missing,
            receipt=verdict,
            receipt_problems=problems,
            receipt_href=self.links.receipt(None if execution.is_final else execution.number),
        )

    def _crumbs(self) -> tuple[Crumb, ...]:
        slug, job = self.project.slug, self.trial.job.client_job_id
        return (
            Crumb(self.project.name, reverse("jobs:project", args=[slug])),
            Crumb("Jobs", reverse("jobs:jobs", args=[slug])),
            Crumb(job, reverse("jobs:job", args=[slug, job])),
            Crumb(self.trial.client_trial_id),
        )

    def _task_href(self) -> str:
        """'' for a Task that is in no release."""
        revision, pin = self.trial.job.revision, self.trial.pin
        if revision is None or pin is None:
            return ""
        track = self.trial.job.track_ref or UNTRACKED
        return task_href(self.project, revision, pin.position + 1, track=track)

    def _about(self) -> str:
        planned = self.trial.job.attempts
        of = f" of {formats.count(planned)}" if planned >= self.trial.attempt else ""
        track = f" · {self.trial.job.track_ref}" if self.trial.job.track_ref else ""
        return f"attempt {self.trial.attempt}{of}{track}"

    def _notes(self) -> tuple[str, ...]:
        notes = [note_words(note)[:600] for note in self.trial.notes[:MOST_NOTES]]
        if len(self.trial.notes) > MOST_NOTES:
            notes.append(f"And {formats.count(len(self.trial.notes) - MOST_NOTES)} more notes.")
        return tuple(notes)

    # Facts -----------------------------------------------------------------------------------------

    def _facts(self, executions: int, receipt: Figure) -> list[Fact]:
        trial = self.trial
        row = trial_row(self.project, trial, self.scoring, executions)
        known = trial.score is not None
        score = Figure(score_words(trial.score, self.scoring), row.score.title) if known else row.score
        most = self.config.max_turns
        turns = Figure(
            formats.count(trial.turns)
            + (f" of {formats.count(most)}" if most is not None and trial.turns is not None else ""),
            "" if trial.turns is not None else "Not reported",
        )
        tried = f"execution {executions - 1} counts, those before it failed" if executions > 1 else ""
        why_none = "" if row.stop_reason else "Not reported"
        stopped = Figure(row.stop_reason or formats.DASH, why_none, tried)
        receipt = Figure(receipt.text, receipt.title, href="#receipt")
        return [
            Fact("Score", score),
            Fact("Cost", self._cost(row.cost)),
            Fact("Time", row.latency),
            Fact("Turns", turns),
            Fact("Stopped by", stopped),
            Fact("Run’s record", receipt),
        ]

    def _cost(self, figure: Figure) -> Figure:
        """A cost of exactly 0 for a model that was called is marked."""
        trial = self.trial
        if trial.cost_usd != 0 or not trial.tokens:
            return figure
        title = f"A cost of exactly 0 was reported for {formats.count(trial.tokens)} tokens. {NOT_PRICED}"
        return Figure(figure.text, title, "reported as $0")

    def _details(self) -> list[Fact]:
        trial = self.trial
        source, source_href = source_of(self.project, trial.job)
        tokens = f"{formats.count(trial.input_tokens)} in, {formats.count(trial.output_tokens)} out"
        known = trial.input_tokens is not None or trial.output_tokens is not None
        model = formats.clean_text(trial.job_agent.configuration.model)
        called = formats.clean_text(", ".join(trial.models_used[:10]))
        facts = [
            Fact("Release", Figure(source, href=source_href)),
            Fact("Track", Figure(trial.job.track_ref or "none")),
            Fact("Model", Figure(model, note="" if called in ("", model) else f"called {called}")),
            Fact("Harness", Figure(_harness(trial))),
            Fact("Tokens", Figure(tokens) if known else Figure(formats.DASH, "No tokens were reported")),
            Fact("Started", Figure(formats.datetime_text(trial.started_at))),
            Fact(
                "Seed",
                Figure(formats.DASH, "Not reported") if trial.seed is None else Figure(str(trial.seed)),
            ),
        ]
        if trial.error_code:
            facts.append(Fact("Error", Figure(formats.clean_text(trial.error_code).replace("_", " "))))
        return facts

    def _trajectory(self) -> Figure:
        if not trajectory_files(self.execution):
            gone = removed_trajectory(self.execution)
            return Figure(formats.DASH, removed_words(gone) if gone else "this execution left no trajectory")
        number = None if self.execution.is_final else self.execution.number
        return Figure("Open the trajectory", href=self.links.trajectory(number))

    # Executions ------------------------------------------------------------------------------------

    def _executions(self) -> tuple[tuple[ExecutionRow, ...], int]:
        """The last ones, in order. One query, without what they left."""
        found = list(self.trial.executions.defer("files", "verifier_results"))
        room = Room(ERRORS_SIZE, 0, formats.clean_text)
        rows = [self._execution_row(execution, room) for execution in found[-MOST_EXECUTIONS:]]
        return tuple(rows), len(found)

    def _execution_row(self, execution: Execution, room: Room) -> ExecutionRow:
        error = ": ".join(filter(None, (execution.error_code.replace("_", " "), execution.error_message)))
        started, completed = execution.started_at, execution.completed_at
        duration = (completed - started).total_seconds() if started and completed else None
        return ExecutionRow(
            number=execution.number,
            is_final=execution.is_final,
            is_shown=execution.number == self.execution.number,
            href=self.links.page(execution=None if execution.is_final else execution.number) + "#executions",
            status=formats.clean_text(execution.status).replace("_", " "),
            tone=TONES.get(execution.status, "neutral"),
            error=room.text(error, MOST_ERROR),
            retry=self._retry(execution),
            started=formats.datetime_text(started),
            duration=formats.seconds(duration),
        )

    def _retry(self, execution: Execution) -> str:
        code, config = execution.error_code, self.config
        listed = code in config.retryable_codes
        words = formats.clean_text(code[:100]).replace("_", " ")
        most = config.max_retries
        if not execution.is_final:
            because = f"the Job retries after {words}" if listed else f"it ended with {words or 'a failure'}"
            of = f" of at most {most}" if most is not None else ""
            return f"Tried again, because {because} (retry {execution.number + 1}{of})."
        if not code or most is None:
            return ""
        if listed and most and execution.number >= most:
            return f"Not tried again: all {most} retries were used."
        if not listed and most:
            return f"Not tried again: the Job does not retry after {words}."
        return ""

    # Record ----------------------------------------------------------------------------------------

    def _record(self, receipt: Mapping[str, Any]) -> tuple[Node | None, str]:
        """A tree, or why there is none."""
        result, problem = self.stored.read_json("result.json", MOST_RECORD)
        if result is None:
            return None, f"result.json is not shown: {formats.clean_text(problem[:300]) or 'there is none'}."
        kept = {key: value for key, value in result.items() if key not in SHOWN_ELSEWHERE}
        runtime = {key: receipt[key] for key in RECEIPT_SHOWN if key in receipt}
        info = {key: self.config.task[key] for key in ("metadata", "info") if self.config.task.get(key)}
        value = {"result": kept, "runtime": runtime, "Task": info}
        return tree(
            {key: part for key, part in value.items() if part},
            Room(RECORD_SIZE, RECORD_NODES, formats.clean_text),
        ), ""


def _harness(trial: Trial) -> str:
    agent = trial.job_agent
    return formats.clean_text(f"{agent.harness} {agent.harness_version}".strip()) or "built-in loop"


def _claim(verifiers: VerifiersPart) -> str:
    """E.g. "routing-check gave 100.0 % (weight 1), reply-check 0.0 % (weight 2)."."""
    words: list[str] = []
    for row in verifiers.rows[:4]:
        weight = f" (weight {row.weight.text})" if row.weight.text != formats.DASH else ""
        verb = "" if words else "gave "
        if row.missing or row.score.text == formats.DASH:
            words.append(f"{row.name} gave no score{weight}")
        else:
            words.append(f"{row.name} {verb}{row.score.text}{weight}")
    more = verifiers.total - len(words)
    if more > 0 and words:
        words.append(f"{more} more")
    return f"{', '.join(words)}." if words and not verifiers.missing else ""


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
        return (
            f"The Verifiers gave a score inside the declared range; it counts as it is{_mark(trial, rules)}."
        )
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


def _mark(trial: Trial, rules: Scoring) -> str:
    if rules.success_threshold is None or trial.score is None:
        return ""
    place = "at or above" if trial.score >= rules.success_threshold else "below"
    return f", {place} the success threshold of {score_words(rules.success_threshold, rules)}"


def _cause(trial: Trial) -> str:
    words = filter(None, (trial.stop_reason, trial.error_code))
    return formats.clean_text(", ".join(words) or trial.status).replace("_", " ")


def receipt_verdict(trial: Trial, stored: StoredFiles) -> tuple[Figure, tuple[str, ...]]:
    """What the import found of digests, and its notes on them. Nothing is computed here."""
    recorded = [file for file in stored.files if file.recorded]
    agreeing = sum(file.recorded == "agrees" for file in recorded)
    problems = tuple(
        note_words(note)[:600]
        for note in trial.notes
        if any(word in str(note.get("field", "")) for word in ("receipt", "artifact_hashes", "sha256"))
        or str(note.get("file", "")).endswith(("receipt.json", "selected.json"))
    )[:MOST_NOTES]
    if not recorded:
        return Figure("receipt only", "The run recorded no digest of a file"), problems
    text = f"{formats.count(agreeing)} of {formats.count(len(recorded))} files agree"
    return Figure(text, "As compared when the Job was imported"), problems
