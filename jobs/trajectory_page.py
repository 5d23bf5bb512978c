"""The page of one trajectory: its facts, an overview, and fifty of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.http import Http404
from django.urls import reverse

from benchmarks.board.parts import Choice, Fact
from benchmarks.pages import Crumb, Figure
from jobs.domain.room import Room
from jobs.domain.trajectory.types import OutlineRow, Step, Totals, TrajectoryFacts
from jobs.models import Execution, StepIndex
from jobs.rows import OUTCOME_WORDS
from jobs.trajectories import PER_PAGE, facts_of, open_page, page_of
from jobs.trajectory_find import EMPTY_SEARCH, search_part
from jobs.trajectory_open import LOST, Opened
from jobs.trajectory_pages import PagerPart, SearchPart, StripPart, TrajectoryPage
from jobs.trajectory_steps import Look, clean, outline_views, step_views
from jobs.trajectory_strip import has_errors, strip_part
from jobs.trial_page import Shown
from plural_site import formats

MOST_LISTED = 100
"""Executions, files or related trajectories."""
WORDS_ROOM, MOST_WORDS = 60_000, 30
FORMATS = {
    "atif": "ATIF",
    "messages": "Chat messages",
    "episode": "Episode record",
    "raw": "Unknown, shown as written",
}
FOLDS = (("", "As usual"), ("all", "Fold all"), ("none", "Unfold all"))
EMPTY_STRIP = StripPart((), 0, 0, 0, 0, (), ())


def trajectory_page(opened: Opened) -> TrajectoryPage:
    return _Page(opened).page()


class _Page:
    def __init__(self, opened: Opened) -> None:
        self.opened, self.query, self.links = opened, opened.query, opened.links
        self.shown, self.index = opened.shown, opened.index
        self.project, self.trial = opened.shown.project, opened.shown.trial
        self.number = self.shown.execution.number if self.shown.execution else 0
        self.steps = self.index.steps if self.index else 0
        self.page_number, self.step = self._place()
        self.found: list[tuple[OutlineRow, Step]] = []
        self.missing = opened.missing
        if self.index is not None:
            self._read(self.index)

    def _place(self) -> tuple[int, int]:
        """Page and marked step; what lies beyond the last one leads there."""
        last = max(page_of(self.steps), 1)
        step = min(self.query.step, self.steps)
        page = page_of(step) if step else max(self.query.page, 1)
        return min(page, last), step

    def _read(self, index: StepIndex) -> None:
        try:
            self.found = open_page(index, self.page_number)
        except Http404:
            self.missing = LOST

    def page(self) -> TrajectoryPage:
        trial, query = self.trial, self.query
        outcome, tone = OUTCOME_WORDS[trial.outcome]
        search = self._search()
        hits = frozenset(hit.number for hit in search.hits)
        look = Look(self.links, self.number, self.opened.by_path, query.fold, marked=self.step, hits=hits)
        rows = [row for row, _ in self.found]
        facts = facts_of(self.index) if self.index else None
        related, more = self._related(facts) if facts else ((), 0)
        room = Room(WORDS_ROOM, 0, clean)
        first, last = (rows[0].number, rows[-1].number) if rows else (0, 0)
        compare = reverse("jobs:compare-trajectories", args=[self.project.slug])
        return TrajectoryPage(
            crumbs=trial_crumbs(self.shown, Crumb("Trajectory")),
            task=formats.clean_text(trial.task_name),
            agent=formats.clean_text(trial.job_agent.name),
            about=f"attempt {trial.attempt}",
            outcome=outcome,
            tone=tone,
            trial_href=self.shown.links.page(execution=self.links.execution),
            compare_href=f"{compare}?a={trial.client_trial_id}",
            missing=self.missing or self._why_empty(facts),
            missing_links=self._missing_links(),
            wait_href=self.links.page(step=query.step, page=query.page, words=query.words, read=True)
            if self.opened.waits_for
            else "",
            wait_words=f"It is {formats.bytes_text(self.opened.waits_for)} and read once, to find its steps.",
            superseded=self._superseded(),
            facts=tuple(self._facts(facts)) if facts else (),
            problems=_bounded(facts.problems, room) if facts else (),
            notes=_bounded(facts.notes, room) if facts else (),
            executions=self._executions(),
            files=self._files(),
            related=related,
            related_more=more,
            raw_href=self._file_href(download=False),
            download_href=self._file_href(download=True),
            strip=strip_part(self.index, self.links, first, last) if self.index and rows else EMPTY_STRIP,
            search=search,
            hidden=tuple(self._hidden()),
            action=reverse("jobs:trajectory", args=[self.project.slug, trial.client_trial_id]),
            pager=self._pager(),
            range_words=f"Steps {formats.count(first)} to {formats.count(last)}"
            f" of {formats.count(self.steps)}",
            last_step=self.steps,
            step=self.step,
            fold=query.fold,
            folds=self._folds(),
            previous_error_href=self._error_href("previous", self.step or first),
            next_error_href=self._error_href("next", self.step or first - 1),
            outline=outline_views(rows, look, marked=self.step, hits=hits),
            steps=step_views(self.found, look),
        )

    def _why_empty(self, facts: TrajectoryFacts | None) -> str:
        if facts is None or facts.steps:
            return ""
        return "No step could be found in this file." if facts.problems else "This trajectory has no steps."

    def _missing_links(self) -> tuple[Choice, ...]:
        href = self.shown.links.page(execution=self.links.execution)
        return (
            Choice("Logs", f"{href}#logs", current=False),
            Choice("Artifacts and files", f"{href}#files", current=False),
            Choice("Executions", f"{href}#executions", current=False),
        )

    def _superseded(self) -> str:
        execution = self.shown.execution
        if execution is None or execution.is_final:
            return ""
        return f"This is execution {execution.number}, which was tried again: only the last one counts."

    # Facts -----------------------------------------------------------------------------------------

    def _facts(self, facts: TrajectoryFacts) -> list[Fact]:
        trial = self.trial
        agent = clean(facts.agent) or formats.clean_text(trial.job_agent.name)
        model = clean(facts.model) or formats.clean_text(trial.job_agent.configuration.model)
        return [
            Fact("Agent", Figure(agent)),
            Fact("Model", Figure(model) if model else Figure(formats.DASH, "No model is named")),
            Fact("Steps", Figure(formats.count(facts.steps))),
            Fact("Time", time_figure(facts.started, facts.ended)),
            Fact("Tokens", _tokens(facts)),
            Fact("Cost", cost_figure(facts.totals)),
            Fact("Format", Figure(FORMATS.get(facts.format, facts.format), note=clean(self.opened.path))),
        ]

    # Other trajectories ----------------------------------------------------------------------------

    def _executions(self) -> tuple[Choice, ...]:
        """One query. Empty where there is only one."""
        found = Execution.objects.filter(trial=self.trial).order_by("-number")
        kept = list(found.values_list("number", "status", "is_final")[:MOST_LISTED])
        if len(kept) < 2:
            return ()
        own = replace(self.links, file="")
        return tuple(
            Choice(
                f"{number}, {formats.clean_text(status).replace('_', ' ')}{' (counts)' if final else ''}",
                replace(own, execution=None if final else number).page(),
                current=number == self.number,
            )
            for number, status, final in reversed(kept)
        )

    def _files(self) -> tuple[Choice, ...]:
        """Empty where there is one alone, and it is shown."""
        path, files = self.opened.path, self.opened.files
        if len(files) < 2 and all(file.path == path for file in files):
            return ()
        return tuple(
            Choice(clean(file.label), replace(self.links, file=file.path).page(), file.path == path)
            for file in files[:MOST_LISTED]
        )

    def _related(self, facts: TrajectoryFacts) -> tuple[tuple[Choice, ...], int]:
        found, path = [], self.opened.path
        if "#" in path and path not in self.opened.by_path:
            found.append(("Back to the trajectory that it is part of", path.rpartition("#")[0]))
        if facts.continued:
            found.append(("It goes on in another file", facts.continued))
        subagents = [(reference.trajectory_id, reference.path) for reference in facts.subagents]
        found += [(f"Subagent {ident or path}", path) for ident, path in subagents if path]
        room = Room(WORDS_ROOM, 0, clean)
        listed = tuple(
            Choice(room.text(words, 200).text, replace(self.links, file=path).page(), current=False)
            for words, path in found[:MOST_LISTED]
        )
        return listed, len(found) - len(listed)

    def _file_href(self, *, download: bool) -> str:
        path = self.opened.path
        while path and path not in self.opened.by_path:
            path = path.rpartition("#")[0]
        return self.links.stored(self.number, path, download=download) if path else ""

    # Search, pages ---------------------------------------------------------------------------------

    def _search(self) -> SearchPart:
        if self.index is None or self.missing:
            return EMPTY_SEARCH
        return search_part(self.index, self.links, self.query, self.page_number)

    def _hidden(self) -> list[tuple[str, str]]:
        """What the address of this page says of job, execution and file."""
        _, _, query = self.links.page().partition("?")
        kept = [("job", self.links.job)] if self.links.job else []
        if self.links.execution is not None:
            kept.append(("execution", str(self.links.execution)))
        if self.query.file and "file=" in query:
            kept.append(("file", self.query.file))
        if self.query.fold:
            kept.append(("fold", self.query.fold))
        return kept

    def _pager(self) -> PagerPart:
        page, last = self.page_number, max(page_of(self.steps), 1)
        words, after, fold = self.query.words, self.query.after, self.query.fold

        def to(number: int, anchor: str = "steps") -> str:
            if not 1 <= number <= last:
                return ""
            return self.links.page(page=number, words=words, after=after, fold=fold, anchor=anchor)

        return PagerPart(
            words=f"Page {formats.count(page)} of {formats.count(last)}",
            first_href=to(1) if page > 1 else "",
            previous_href=to(page - 1),
            next_href=to(page + 1),
            last_href=to(last) if page < last else "",
            step_before_href=to(page - 1, f"step-{(page - 1) * PER_PAGE}"),
            step_after_href=to(page + 1, f"step-{page * PER_PAGE + 1}"),
        )

    def _folds(self) -> tuple[Choice, ...]:
        query = self.query
        return tuple(
            Choice(
                label,
                self.links.page(
                    page=self.page_number if not self.step else 0,
                    step=self.step,
                    words=query.words,
                    after=query.after,
                    fold=fold,
                    anchor=f"step-{self.step}" if self.step else "steps",
                ),
                current=query.fold == fold,
            )
            for fold, label in FOLDS
        )

    def _error_href(self, way: str, step: int) -> str:
        if self.index is None or not self.found or not has_errors(self.index):
            return ""
        return self.links.page(step=max(step, 1) if way == "previous" else step, go=f"{way}-error")


def trial_crumbs(shown: Shown, *more: Crumb) -> tuple[Crumb, ...]:
    slug, job = shown.project.slug, shown.trial.job.client_job_id
    return (
        Crumb(shown.project.name, reverse("jobs:project", args=[slug])),
        Crumb("Jobs", reverse("jobs:jobs", args=[slug])),
        Crumb(job, reverse("jobs:job", args=[slug, job])),
        Crumb(shown.trial.client_trial_id, shown.links.page()),
        *more,
    )


def _bounded(words: Sequence[str], room: Room) -> tuple[str, ...]:
    shown = []
    for text in words[:MOST_WORDS]:
        cut = room.text(text, 600)
        shown.append(cut.text + ("…" if cut.left_out else ""))
    if len(words) > MOST_WORDS:
        shown.append(f"And {formats.count(len(words) - MOST_WORDS)} more.")
    return tuple(shown)


def time_figure(started: datetime | None, ended: datetime | None) -> Figure:
    if started is None or ended is None:
        return Figure(formats.DASH, "No step says when it was")
    return Figure(
        formats.seconds((ended - started).total_seconds()),
        note=f"from {formats.datetime_text(started)}",
    )


def cost_figure(totals: Totals) -> Figure:
    missing, cost = totals.calls_without_cost, totals.cost_usd
    note = f"{formats.count(missing)} call{'' if missing == 1 else 's'} without a cost" if missing else ""
    if cost is None:
        return Figure(formats.DASH, "No call reported a cost", note)
    return Figure(f"{'≥ ' if missing else ''}{formats.money(cost)}", f"{cost:g} USD", note)


def _tokens(facts: TrajectoryFacts) -> Figure:
    totals = facts.totals
    parts = [
        f"{formats.count(amount)} {word}"
        for amount, word in ((totals.input_tokens, "in"), (totals.output_tokens, "out"))
        if amount is not None
    ]
    if not parts:
        return Figure(formats.DASH, "No step reports tokens")
    cached = totals.cached_tokens
    return Figure(", ".join(parts), note=f"{formats.count(cached)} cached" if cached else "")
