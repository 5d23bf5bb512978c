"""Attempts at one Task: one row an Agent, one cell an attempt, and what each attempt number came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Avg, Case, Count, F, FloatField, Q, Value, When
from django.urls import reverse

from benchmarks.domain.consistency import spread
from benchmarks.models import TaskPin
from benchmarks.pages import Figure
from jobs.agent_pages import AgentAttempts, AttemptCell, AttemptNumber
from jobs.board import Board
from jobs.compare_links import trials_href
from jobs.entries import Entry
from jobs.links import agent_href
from jobs.models import Tally, Trial
from plural_site import formats

ATTEMPTS_SHOWN = 32
"""Of each Agent; a track allows no more."""
SHAPES = {
    "agent_failure": ("▲", "agent failure", "bad"),
    "infrastructure_error": ("!", "infrastructure error", "warn"),
    "cancelled": ("⊘", "cancelled", "neutral"),
    "pending": ("…", "pending", "neutral"),
}
LEGEND = (
    ("✓", "passed"),
    ("✗", "did not pass"),
    ("▲", "agent failure"),
    ("!", "infrastructure error"),
    ("⊘", "cancelled"),
    ("…", "pending"),
)
FIELDS = (
    "client_trial_id",
    "attempt",
    "outcome",
    "score",
    "cost_usd",
    "cost_partial",
    "latency_seconds",
    "job__client_job_id",
)


class AttemptRows:
    """`tallies` are the board's own figures at the Task, by configuration."""

    def __init__(self, board: Board, pin: TaskPin, tallies: Mapping[int, Tally]) -> None:
        self.board, self.pin, self.tallies = board, pin, tallies
        self.low, self.high = board.scoring.score_range
        self.mark = board.scoring.success_threshold

    def rows(self, entries: Sequence[Entry]) -> tuple[AgentAttempts, ...]:
        """One query, for at most ATTEMPTS_SHOWN attempts of each entry."""
        wanted = {
            trial: entry.configuration.pk
            for entry in entries
            for trial in self._trial_ids(entry)[:ATTEMPTS_SHOWN]
        }
        trials = Trial.objects.counted(
            self.board.revision,
            self.board.selection.reference,
            sorted(set(wanted.values())),
            self.board.state.job or None,
        ).filter(pin=self.pin, client_trial_id__in=wanted)
        found: dict[tuple[int, str], dict[str, Any]] = {
            (trial["job_agent__configuration_id"], trial["client_trial_id"]): trial
            for trial in trials.values("job_agent__configuration_id", *FIELDS)
        }
        return tuple(self._row(entry, found) for entry in entries)

    def _trial_ids(self, entry: Entry) -> list[str]:
        tally = self.tallies.get(entry.configuration.pk)
        ids: list[str] = tally.detail["trial_ids"] if tally else []
        return ids

    def _row(self, entry: Entry, found: Mapping[tuple[int, str], dict[str, Any]]) -> AgentAttempts:
        tally = self.tallies.get(entry.configuration.pk)
        ids = self._trial_ids(entry)
        shown = [(entry.configuration.pk, trial) for trial in ids[:ATTEMPTS_SHOWN]]
        score = tally.score if tally else None
        bar = formats.interval_bar(score, None, None, self.low, self.high)
        deviation = tally.detail["spread"] if tally else None
        passed = f"{tally.successes} of {tally.valid}".replace(" ", formats.NO_BREAK_SPACE) if tally else ""
        rest = len(ids) - len(shown)
        rank = "not ranked" if entry.rank is None else f"rank {entry.rank}{'=' if entry.shares_rank else ''}"
        return AgentAttempts(
            agent=formats.clean_text(entry.names[0]),
            agent_href=agent_href(self.board.project, entry.configuration),
            detail=formats.clean_text(f"{entry.configuration.model} · {entry.harness}"),
            rank=rank,
            score=Figure(self._text(score), "No valid attempt" if score is None else str(score)),
            fill=None if score is None else round((bar.point_x or 0) / formats.BAR_WIDTH * 100, 1),
            spread="" if deviation is None else f"sd {self._text(deviation)}",
            passed=f"{passed} passed" if tally and tally.valid and self.mark is not None else "",
            trials_href=trials_href(self.board, entry, self.pin.name),
            cells=tuple(self._cell(found[key]) for key in shown if key in found),
            more=f"{formats.count(rest)} more" if rest > 0 else "",
            remark=self._remark(tally),
        )

    def _remark(self, tally: Tally | None) -> str:
        track = self.board.selection.track
        tried = tally.attempts if tally else 0
        if not tried:
            return "No attempt was recorded."
        if track is not None and tried < track.attempts:
            return f"{tried} of the track’s {track.attempts} attempts."
        return ""

    def _cell(self, trial: Mapping[str, Any]) -> AttemptCell:
        shape, outcome, tone = self._shape(trial)
        score = self._text(trial["score"]) if trial["outcome"] == "scored" else ""
        least = "at least " if trial["cost_partial"] else ""
        cost, latency = trial["cost_usd"], trial["latency_seconds"]
        unit = formats.score_unit(self.low, self.high)
        words = (
            f"attempt {trial['attempt']}: {outcome}",
            f"score {score}{' ' + unit if unit else ''}" if score else self._no_score(trial),
            f"cost {least}{formats.money(cost)}" if cost is not None else "cost unknown",
            f"time {formats.seconds(latency)}" if latency is not None else "time unknown",
            formats.clean_text(trial["job__client_job_id"]),
        )
        return AttemptCell(
            href=reverse("jobs:trial", args=[self.board.project.slug, trial["client_trial_id"]]),
            number=trial["attempt"],
            shape=shape,
            words=", ".join(words),
            score=score or formats.DASH,
            tone=tone,
        )

    def _shape(self, trial: Mapping[str, Any]) -> tuple[str, str, str]:
        if trial["outcome"] != "scored":
            return SHAPES[trial["outcome"]]
        if self.mark is None:
            return "", "scored", "neutral"
        return ("✓", "passed", "good") if trial["score"] >= self.mark else ("✗", "did not pass", "bad")

    def _no_score(self, trial: Mapping[str, Any]) -> str:
        if trial["outcome"] == "agent_failure" and self.board.scoring.agent_failure == "zero":
            return f"no score, counts as {self._text(self.low)}"
        return "no score, left out" if trial["outcome"] != "pending" else "no score yet"

    def _text(self, value: float | None) -> str:
        return formats.score_text(value, self.low, self.high)


def attempt_numbers(board: Board, pin: TaskPin) -> tuple[tuple[AttemptNumber, ...], str]:
    """What the attempts of each number came to over all entries, and their spread in words. One query."""
    scoring = board.scoring
    low, high = scoring.score_range
    scale = max(1.0, abs(low), abs(high))
    values: list[When] = [When(outcome="scored", then=F("score") / scale)]
    if scoring.agent_failure == "zero":
        values.append(When(outcome="agent_failure", then=Value(low / scale)))
    trials = Trial.objects.counted(
        board.revision,
        board.selection.reference,
        [entry.configuration.pk for entry in board.entries],
        board.state.job or None,
    ).filter(pin=pin, attempt__lte=ATTEMPTS_SHOWN)
    passed = Q(value__gte=(scoring.success_threshold or 0.0) / scale)
    found = list(
        trials.annotate(value=Case(*values, default=None, output_field=FloatField()))
        .order_by("attempt")
        .values("attempt")
        .annotate(
            mean=Avg("value"), tried=Count("pk"), valid=Count("value"), passed=Count("pk", filter=passed)
        )
    )
    if len(found) < 2:
        return (), ""

    def text(value: float | None) -> str:
        return formats.score_text(value, low, high)

    rows, means = [], []
    for row in found:
        mean = None if row["mean"] is None else row["mean"] * scale
        means += [] if mean is None else [mean]
        bar = formats.interval_bar(mean, None, None, low, high)
        rows.append(
            AttemptNumber(
                number=row["attempt"],
                score=Figure(text(mean), "No valid attempt" if mean is None else str(mean)),
                fill=None if mean is None else round((bar.point_x or 0) / formats.BAR_WIDTH * 100, 1),
                passed=f"{row['passed']} of {row['valid']}" if scoring.success_threshold is not None else "",
                valid=f"{formats.count(row['valid'])} of {formats.count(row['tried'])}",
            )
        )
    deviation = spread(means)
    words = (
        "" if deviation is None else f"From number to number the standard deviation is {text(deviation)}. "
    )
    return tuple(rows), f"{words}Each row takes all Agents’ valid attempts of that number together."
