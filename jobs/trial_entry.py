"""How a Trial enters a leaderboard, which Jobs hold it, and which Trials stand beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, Sum
from django.http import Http404
from django.urls import reverse

from benchmarks.board.parts import Choice
from benchmarks.board.words import short_hash
from benchmarks.domain.types import Scoring
from benchmarks.links import board_href, revision_label
from jobs.models import Tally, Trial
from jobs.querysets import TrialQuerySet, counting
from jobs.rows import OUTCOME_WORDS
from jobs.tracks import UNTRACKED
from jobs.trial_links import TrialLinks
from jobs.trial_pages import AttemptMark, EntryPart, HeldRow, Neighbours
from plural_site import formats
from plural_site.accounts.models import Project

MOST_COPIES = 50
MOST_ATTEMPTS = 64
MOST_CATEGORIES = 20
SAME_AGENT, SAME_TASK = "Same Agent", "Same Task"


def copies_of(project: Project, trial_id: str) -> list[Trial]:
    """The Trial as each Job of the project holds it, in the order in which they came in."""
    found = Trial.objects.visible(project).filter(client_trial_id=trial_id).order_by("pk")
    related = found.select_related(
        "job__revision__resource",
        "job__revision__release",
        "job__task_revision__resource",
        "job_agent__configuration",
        "pin",
    )
    return list(related[:MOST_COPIES])


def chosen(copies: Sequence[Trial], job: str = "") -> Trial:
    """The copy of the Job with this id; for '' the one that counts, else the first. Raises Http404."""
    if not copies:
        raise Http404("No such Trial in this project.")
    if job:
        named = [trial for trial in copies if trial.job.client_job_id == job]
        if not named:
            raise Http404("This Job holds no such Trial.")
        return named[0]
    return next((trial for trial in copies if not why_not_counted(trial, copies)), copies[0])


def links_of(project: Project, trial: Trial, copies: Sequence[Trial]) -> TrialLinks:
    job = "" if chosen(copies) == trial else trial.job.client_job_id
    return TrialLinks(project.slug, trial.client_trial_id, job)


def why_not_counted(trial: Trial, copies: Sequence[Trial]) -> str:
    """Why this copy counts on no board, '' where it does."""
    job = trial.job
    if job.set_aside_at is not None:
        reason = formats.clean_text(job.set_aside_reason)
        return f"its Job was set aside on {formats.date_text(job.set_aside_at)} ({reason})"
    if job.revision is None:
        return "its Job ran a single Task, which is on no leaderboard"
    if trial.pin is None:
        return "its Task is none of the release’s"
    for other in copies:
        if other.pk >= trial.pk:
            break
        if _place(other) == _place(trial) and other.job.set_aside_at is None and other.pin is not None:
            return "the copy that came in first counts"
    return ""


def _place(trial: Trial) -> tuple[Any, ...]:
    return trial.job.revision_id, trial.job.track_ref, trial.job_agent.configuration_id


def held_rows(project: Project, shown: Trial, copies: Sequence[Trial]) -> tuple[HeldRow, ...]:
    """Empty where one Job alone holds it."""
    if len(copies) < 2:
        return ()
    rows = []
    for trial in copies:
        why_not = why_not_counted(trial, copies)
        rows.append(
            HeldRow(
                job_href=reverse("jobs:job", args=[project.slug, trial.job.client_job_id]),
                job_id=trial.job.client_job_id,
                started=formats.datetime_text(trial.job.started_at),
                counts=f"does not count: {why_not}" if why_not else "counts",
                href=links_of(project, trial, copies).page(),
                is_shown=trial == shown,
            )
        )
    return tuple(rows)


# Its entry -------------------------------------------------------------------------------------------


def entry_part(project: Project, trial: Trial, copies: Sequence[Trial], scoring: Scoring) -> EntryPart:
    """Three queries for a Trial at a Task of a release, none for another."""
    revision, pin = trial.job.revision, trial.pin
    why_not = why_not_counted(trial, copies)
    words = [f"It counts on no leaderboard: {why_not}."] if why_not else []
    if revision is None or pin is None:
        return EntryPart(tuple(words), "", (), "")
    track = trial.job.track_ref
    board = board_href(project, revision, track=track or UNTRACKED)
    whole = revision.pins.aggregate(whole=Sum("weight"))["whole"] or 0.0
    share = f" of {whole:g} ({formats.percent(pin.weight / whole)})" if whole > 0 else ""
    release = f"{formats.clean_text(revision.resource.name)} {revision_label(revision)}"
    words.append(f"Its Task weighs {pin.weight:g}{share} in {release}.")
    if not why_not:
        words += _task_words(trial, scoring)
    if not track:
        words.append("Its Job ran on no track: it is shown as evidence and never ranked.")
    proof = {"track": track or UNTRACKED, "entry": short_hash(trial.job_agent.configuration.content_hash)}

    def proof_href(**more: str) -> str:
        query = urlencode({**proof, **more, "figure": "score"})
        return "" if why_not else f"{board_href(project, revision)}/proof?{query}"

    categories = [
        Choice(formats.clean_text(category.name), proof_href(category=category.slug), current=False)
        for category in pin.categories.all()[:MOST_CATEGORIES]
    ]
    return EntryPart(tuple(words), proof_href(), tuple(categories), board)


def _task_words(trial: Trial, scoring: Scoring) -> Iterable[str]:
    tally = Tally.objects.filter(
        revision=trial.job.revision,
        track_ref=trial.job.track_ref,
        configuration_id=trial.job_agent.configuration_id,
        scope=Tally.Scope.TASK,
        key=trial.task_name,
    ).first()
    if tally is None:
        return
    valid = tally.valid
    yield (
        f"The entry has {formats.count(tally.attempts)} attempt{'' if tally.attempts == 1 else 's'} at this "
        f"Task, {formats.count(valid)} of them valid"
        + (f", with a mean of {score_words(tally.score, scoring)}." if valid else ".")
    )


def score_words(score: float | None, scoring: Scoring) -> str:
    low, high = scoring.score_range
    unit = formats.score_unit(low, high)
    text = formats.score_text(score, low, high)
    return f"{text} {unit}" if unit and score is not None else text


# Trials beside it ------------------------------------------------------------------------------------


def _scope(project: Project, trial: Trial) -> TrialQuerySet:
    """Trials that were run under the same rules: same release and track, or the same single Task."""
    found = Trial.objects.visible(project).filter(counting("job__"), job__track_ref=trial.job.track_ref)
    if trial.job.revision_id:
        return found.filter(job__revision=trial.job.revision_id)
    return found.filter(job__revision=None, job__task_revision=trial.job.task_revision_id)


def _at_task(trial: Trial) -> Q:
    return Q(pin=trial.pin_id) if trial.pin_id else Q(pin=None, task_digest=trial.task_digest)


def neighbours(project: Project, trial: Trial, scoring: Scoring) -> tuple[Neighbours, ...]:
    """Four queries. The order ends with the Trial's id, which its copies share: no step leads to a copy."""
    scope = _scope(project, trial).select_related("job_agent")
    by_agent = scope.filter(job_agent__configuration=trial.job_agent.configuration_id)
    by_task = scope.filter(_at_task(trial))
    return (
        _beside(SAME_AGENT, project, trial, by_agent, scoring),
        _beside(SAME_TASK, project, trial, by_task, scoring),
    )


def _beside(name: str, project: Project, trial: Trial, found: TrialQuerySet, scoring: Scoring) -> Neighbours:
    first, value = ("task_position", trial.task_position)
    if name == SAME_TASK:
        first, value = "job_agent__configuration_id", trial.job_agent.configuration_id
    order = (first, "attempt", "client_trial_id")
    values = (value, trial.attempt, trial.client_trial_id)
    before = found.filter(_past(order, values, "lt")).order_by(*(f"-{key}" for key in order)).first()
    after = found.filter(_past(order, values, "gt")).order_by(*order).first()
    return Neighbours(name, *(_neighbour(name, project, other, scoring) for other in (before, after)))


def _past(order: Sequence[str], values: Sequence[Any], way: str) -> Q:
    condition, same = Q(), Q()
    for key, value in zip(order, values, strict=True):
        condition |= same & Q(**{f"{key}__{way}": value})
        same &= Q(**{key: value})
    return condition


def _neighbour(name: str, project: Project, trial: Trial | None, scoring: Scoring) -> Choice:
    if trial is None:
        return Choice("", "", current=False)
    who = trial.task_name if name == SAME_AGENT else trial.job_agent.name
    label = f"{formats.clean_text(who[:80])}, attempt {trial.attempt} · {_result(trial, scoring)}"
    return Choice(label, TrialLinks(project.slug, trial.client_trial_id).page(), current=False)


def _result(trial: Trial, scoring: Scoring) -> str:
    if trial.outcome == "scored":
        return score_words(trial.score, scoring)
    return OUTCOME_WORDS[trial.outcome][0].lower()


def attempts(project: Project, trial: Trial, scoring: Scoring) -> tuple[tuple[AttemptMark, ...], int]:
    """Every attempt at the Task by the Agent, this one among them, and how many more there are."""
    same = _scope(project, trial).filter(
        _at_task(trial), job_agent__configuration=trial.job_agent.configuration_id
    )
    rows = same.order_by("attempt", "client_trial_id", "pk").values_list(
        "client_trial_id", "attempt", "outcome", "score", "job__client_job_id"
    )
    found = {row[0]: row for row in rows[: 2 * MOST_ATTEMPTS + 1]}
    if len(found) < 2:
        return (), 0
    marks = []
    for ident, number, outcome, score, job in list(found.values())[:MOST_ATTEMPTS]:
        words, tone = OUTCOME_WORDS[outcome]
        marks.append(
            AttemptMark(
                attempt=number,
                text=score_words(score, scoring) if outcome == "scored" else words,
                tone="neutral" if outcome == "scored" else tone,
                title=f"Attempt {number} of {job}, {words.lower()}",
                href=TrialLinks(project.slug, ident).page(),
                is_this=ident == trial.client_trial_id,
            )
        )
    return tuple(marks), max(len(found) - MOST_ATTEMPTS, 0)
