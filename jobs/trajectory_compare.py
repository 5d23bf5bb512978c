"""Two trajectories beside each other: where they part, what each did, and what state each left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q
from django.urls import reverse

from benchmarks.board.parts import Choice, Fact
from benchmarks.pages import Crumb, Figure
from jobs.domain.room import Room
from jobs.domain.trajectory.align import WINDOW, Run, align, runs
from jobs.models import Trial
from jobs.querysets import counting
from jobs.rows import OUTCOME_WORDS
from jobs.selectors import scoring_of
from jobs.trajectories import facts_of
from jobs.trajectory_links import number
from jobs.trajectory_page import cost_figure, time_figure
from jobs.trajectory_pages import (
    AttemptChoice,
    PagerPart,
    PairRow,
    SideHead,
    SideView,
    StatesPart,
    TrajectoryComparePage,
)
from jobs.trajectory_sides import TEXT_SHOWN, Side, open_side, places, said_of, signatures
from jobs.trajectory_states import states_part
from jobs.trajectory_steps import clean, figures, source_words
from jobs.trial_entry import score_words
from jobs.trial_links import TrialLinks
from plural_site import formats
from plural_site.accounts.models import Project

PER_PAGE = 50
"""Rows; a run of equal steps is one."""
MOST_EQUAL = 15
"""Pairs of such a run that are listed."""
TEXTS_ROOM, NAMES_ROOM = 300_000, 120_000
MOST_CHOICES = 60


@dataclass(frozen=True, slots=True)
class CompareQuery:
    """`window` and `page` from 1."""

    a: str = ""
    b: str = ""
    window: int = 1
    page: int = 1

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> CompareQuery:
        a, b = (query.get(name, "") for name in ("a", "b"))
        return cls(a, b, max(number(query.get("window", "")), 1), max(number(query.get("page", "")), 1))


def compare_page(project: Project, query: CompareQuery) -> TrajectoryComparePage:
    """Raises Http404 where there is no such Trial."""
    a = open_side("A", project, query.a, query.window)
    b = open_side("B", project, query.b, query.window) if query.b else None
    return _Page(project, query, a, b).page()


class _Page:
    def __init__(self, project: Project, query: CompareQuery, a: Side, b: Side | None) -> None:
        self.project, self.query, self.a, self.b = project, query, a, b
        self.scoring = scoring_of(a.trial.job.revision)
        self.texts, self.names = (Room(size, 0, clean) for size in (TEXTS_ROOM, NAMES_ROOM))
        both = b is not None and a.rows and b.rows
        any_rows = b is not None and (a.rows or b.rows)
        self.runs: list[Run] = runs(align(signatures(a), signatures(b))) if b and any_rows else []
        self.has_both = bool(both)
        self.last = max(-(-len(self.runs) // PER_PAGE), 1)
        self.page_number = min(query.page, self.last)
        self.difference = next((at for at, run in enumerate(self.runs) if run.kind != "equal"), None)

    def page(self) -> TrajectoryComparePage:
        a, b = self.a, self.b
        choices, more = self._choices()
        slug = self.project.slug
        return TrajectoryComparePage(
            crumbs=(
                Crumb(self.project.name, reverse("jobs:project", args=[slug])),
                Crumb(a.trial.client_trial_id, a.opened.shown.links.page()),
                Crumb("Trajectory", a.opened.links.page()),
                Crumb("Compare"),
            ),
            task=formats.clean_text(a.trial.task_name),
            a=self._head(a),
            b=self._head(b) if b else None,
            warning=_warning(a.trial, b.trial) if b else "",
            landmarks=tuple(self._landmarks()),
            summary=tuple(self._summary()),
            bound=self._bound(),
            rows=tuple(self._rows()),
            pager=self._pager(),
            windows=self._windows(),
            states=states_part(a.opened.shown.stored, b.opened.shown.stored) if b else StatesPart((), ""),
            choices=choices,
            choices_more=more,
            swap_href=self._href(a=self.query.b, b=self.query.a) if b else "",
        )

    def _head(self, side: Side) -> SideHead:
        trial, index = side.trial, side.index
        outcome, tone = OUTCOME_WORDS[trial.outcome]
        facts: list[Fact] = []
        if index is not None:
            about = facts_of(index)
            facts = [
                Fact("Steps", Figure(formats.count(about.steps))),
                Fact("Time", time_figure(about.started, about.ended)),
                Fact("Cost", cost_figure(about.totals)),
            ]
        missing = side.opened.missing
        if side.opened.waits_for:
            missing = "Its trajectory is large and has not been read yet: open it once first."
        elif index is not None and not index.steps:
            missing = "Its trajectory has no steps."
        return SideHead(
            letter=side.letter,
            trial_id=trial.client_trial_id,
            agent=formats.clean_text(trial.job_agent.name),
            attempt=f"attempt {trial.attempt}",
            outcome=outcome,
            tone=tone,
            score=score_words(trial.score, scoring_of(trial.job.revision)) if trial.score is not None else "",
            facts=tuple(facts),
            trial_href=side.opened.shown.links.page(),
            trajectory_href=side.opened.links.page(),
            missing=missing,
        )

    # What is said of the two ------------------------------------------------------------------------

    def _landmarks(self) -> list[Choice]:
        found = []
        if self.difference is not None and self.has_both:
            row = self.runs[self.difference].pairs[0]
            where = " and ".join(
                f"step {side.rows[at].number} of {side.letter}"
                for side, at in ((self.a, row.a), (self.b, row.b))
                if side and at is not None
            )
            label = f"First difference{self._here()}: {where}"
            found.append(Choice(label, self._row_href(self.difference), current=False))
        for side in filter(None, (self.a, self.b if self.runs else None)):
            if side.first_error:
                label = f"First error of {side.letter}: step {formats.count(side.first_error)}"
                found.append(Choice(label, self._step_href(side, side.first_error), current=False))
        return found

    def _here(self) -> str:
        return " in this window" if self.query.window > 1 else ""

    def _summary(self) -> list[str]:
        if not self.runs:
            return []
        counts = dict.fromkeys(("equal", "differs", "only a", "only b"), 0)
        for run in self.runs:
            counts[run.kind] += len(run.pairs)
        words = [
            f"{formats.count(counts['equal'])} equal",
            f"{formats.count(counts['differs'])} of the same kind that differ",
            f"{formats.count(counts['only a'])} only in A",
            f"{formats.count(counts['only b'])} only in B",
        ]
        shown = [words[0], *(word for word in words[1:] if not word.startswith("0 "))]
        found = [f"Steps: {', '.join(shown)}."]
        if self.difference is None:
            found.append(f"There is no difference{self._here() or ' in what is compared here'}.")
        found += [
            f"{side.letter} has no step with an error." for side in self._sides() if not side.first_error
        ]
        return found

    def _sides(self) -> list[Side]:
        return [side for side in (self.a, self.b) if side is not None and side.index is not None]

    def _bound(self) -> str:
        if not self.runs:
            return ""
        words = (
            "Two steps are equal where source, calls and text are the same; of texts over 4,000 characters, "
            "their beginning and length. Ids, times, costs and rewards don’t count."
        )
        if self._most_steps() > WINDOW:
            words += (
                f" Steps are aligned {formats.count(WINDOW)} at a time: those after them begin anew, side by"
                " side."
            )
        unread = [side for side in self._sides() if len(side.steps) < len(side.rows)]
        for side in unread:
            words += f" Of {side.letter}, only the first {formats.count(len(side.steps))} of these were read."
        return words

    def _most_steps(self) -> int:
        return max((side.index.steps for side in self._sides() if side.index), default=0)

    # Rows ------------------------------------------------------------------------------------------

    def _rows(self) -> list[PairRow]:
        first = (self.page_number - 1) * PER_PAGE
        return [self._row(at) for at in range(first, min(first + PER_PAGE, len(self.runs)))]

    def _row(self, at: int) -> PairRow:
        run = self.runs[at]
        marks = []
        if at == self.difference and self.has_both:
            marks.append(f"first difference{self._here()}")
        for side in self._sides():
            numbers = {side.rows[place].number for place in places(side, run.pairs)}
            if side.first_error in numbers:
                marks.append(f"first error of {side.letter}")
        if run.kind == "equal":
            return self._equal(at, run, tuple(marks))
        pair = run.pairs[0]
        words = {"differs": "differs", "only a": "only in A", "only b": "only in B"}[run.kind]
        return PairRow(
            anchor=f"row-{at + 1}",
            kind=run.kind,
            words=words,
            a=self._view(self.a, pair.a),
            b=self._view(self.b, pair.b),
            marks=tuple(marks),
        )

    def _equal(self, at: int, run: Run, marks: tuple[str, ...]) -> PairRow:
        count = len(run.pairs)
        pairs = []
        for pair in run.pairs[:MOST_EQUAL]:
            a, b = self._view(self.a, pair.a, brief=True), self._view(self.b, pair.b, brief=True)
            if a and b:
                pairs.append((a, b))
        return PairRow(
            anchor=f"row-{at + 1}",
            kind="equal",
            words=f"{formats.count(count)} equal step{'' if count == 1 else 's'}",
            a=None,
            b=None,
            count=count,
            pairs=tuple(pairs),
            pairs_more=count - len(pairs),
            marks=marks,
        )

    def _view(self, side: Side | None, at: int | None, *, brief: bool = False) -> SideView | None:
        if side is None or at is None:
            return None
        row = side.rows[at]
        text = ""
        if not brief and at < len(side.steps):
            said, left = said_of(side.steps[at])
            cut = self.texts.text(said, TEXT_SHOWN)
            text = cut.text + ("…" if cut.left_out or left else "")
        title = self.names.text(row.title, 120).text
        return SideView(
            number=row.number,
            href=side.opened.links.page(step=row.number, anchor=f"step-{row.number}"),
            source=source_words(row.source, lambda text: self.names.text(text, 60).text),
            title=title or "Nothing to show",
            text=text,
            figures=figures(row),
            is_error=row.is_error,
        )

    # Addresses -------------------------------------------------------------------------------------

    def _href(self, *, a: str = "", b: str = "", window: int = 1, page: int = 1, anchor: str = "") -> str:
        return compare_href(
            self.project.slug, a or self.query.a, b or self.query.b, window=window, page=page, anchor=anchor
        )

    def _row_href(self, at: int) -> str:
        return self._href(window=self.query.window, page=at // PER_PAGE + 1, anchor=f"row-{at + 1}")

    def _step_href(self, side: Side, step: int) -> str:
        window = (step - 1) // WINDOW + 1
        if window != self.query.window:
            return self._href(window=window)
        place = step - 1 - (window - 1) * WINDOW
        for at, run in enumerate(self.runs):
            if place in places(side, run.pairs):
                return self._row_href(at)
        return side.opened.links.page(step=step, anchor=f"step-{step}")

    def _pager(self) -> PagerPart:
        page, last, window = self.page_number, self.last, self.query.window

        def to(wanted: int) -> str:
            return self._href(window=window, page=wanted, anchor="rows") if 1 <= wanted <= last else ""

        return PagerPart(
            words=f"Page {formats.count(page)} of {formats.count(last)}",
            first_href=to(1) if page > 1 else "",
            previous_href=to(page - 1),
            next_href=to(page + 1),
            last_href=to(last) if page < last else "",
        )

    def _windows(self) -> tuple[Choice, ...]:
        """The windows around this one, the first and the last; empty where there is only one."""
        last = -(-self._most_steps() // WINDOW)
        if last < 2:
            return ()
        here = self.query.window
        wanted = sorted({1, last, *range(max(here - 3, 1), min(here + 3, last) + 1)})
        return tuple(
            Choice(
                f"{formats.count((at - 1) * WINDOW + 1)}–{formats.count(at * WINDOW)}",
                self._href(window=at, anchor="rows"),
                current=at == here,
            )
            for at in wanted
        )

    # Others ----------------------------------------------------------------------------------------

    def _choices(self) -> tuple[tuple[AttemptChoice, ...], int]:
        """Other attempts at the Task, of every Agent. One query."""
        trial = self.a.trial
        found = Trial.objects.visible(self.project).filter(counting("job__"), _at_task(trial))
        related = found.select_related("job_agent", "job").order_by(
            "job_agent__name", "attempt", "client_trial_id", "pk"
        )
        by_id = {other.client_trial_id: other for other in related[: 3 * MOST_CHOICES]}
        shown = {trial.client_trial_id: "A"}
        if self.b:
            shown.setdefault(self.b.trial.client_trial_id, "B")
        rows = [self._choice(other, shown) for other in list(by_id.values())[:MOST_CHOICES]]
        return tuple(rows), len(by_id) - len(rows)

    def _choice(self, trial: Trial, shown: Mapping[str, str]) -> AttemptChoice:
        outcome, tone = OUTCOME_WORDS[trial.outcome]
        known = trial.score is not None
        score = Figure(
            score_words(trial.score, self.scoring) if known else formats.DASH, "" if known else "No score"
        )
        current = shown.get(trial.client_trial_id, "")
        return AttemptChoice(
            agent=formats.clean_text(trial.job_agent.name[:200]),
            job=trial.job.client_job_id,
            attempt=formats.count(trial.attempt),
            outcome=outcome,
            tone=tone,
            score=score,
            href="" if current else self._href(b=trial.client_trial_id),
            trial_href=TrialLinks(self.project.slug, trial.client_trial_id).page(),
            current=current,
        )


def compare_href(
    project: str, a: str, b: str = "", *, window: int = 1, page: int = 1, anchor: str = ""
) -> str:
    """Ids of Trials are words that an address takes as they are."""
    query = f"a={a}" + (f"&b={b}" if b else "")
    query += (f"&window={window}" if window > 1 else "") + (f"&page={page}" if page > 1 else "")
    path = reverse("jobs:compare-trajectories", args=[project])
    return f"{path}?{query}" + (f"#{anchor}" if anchor else "")


def _warning(a: Trial, b: Trial) -> str:
    if a.client_trial_id == b.client_trial_id:
        return "A and B are the same Trial."
    if a.task_digest == b.task_digest:
        return ""
    if a.task_name == b.task_name:
        return "A and B ran different versions of this Task, so a difference may come from the Task itself."
    other = formats.clean_text(b.task_name)
    return f"A and B are at different Tasks (B: {other}), so little can be read from a difference."


def _at_task(trial: Trial) -> Q:
    if trial.pin_id:
        return Q(pin=trial.pin_id)
    return Q(pin=None, job__task_revision=trial.job.task_revision_id, task_digest=trial.task_digest)
