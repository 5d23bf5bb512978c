"""The page of a Task in a release: what it asks, and every Agent's attempts at it side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Avg, F
from django.http import Http404, QueryDict
from django.urls import reverse

from benchmarks.board.parts import Choice, TrackTab
from benchmarks.board.state import BoardState
from benchmarks.domain.consistency import spread
from benchmarks.domain.difficulty import SCALE, difficulty, mean_score, place_words
from benchmarks.links import revision_label
from benchmarks.models import TaskPin
from benchmarks.pages import Crumb, Figure
from jobs.agent_pages import AgentGroup, TaskPage
from jobs.attempts import LEGEND, AttemptRows, attempt_numbers
from jobs.board import Board
from jobs.compare_links import grid_href, task_page_href, trials_href, whole_number
from jobs.entries import Entry
from jobs.links import agent_href, task_href
from jobs.models import Tally
from jobs.task_content import TaskContent
from jobs.tracks import UNTRACKED
from plural_site import formats

AGENTS_A_PAGE = 20
NAMES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """Page of Agents."""

    agents: int = 1

    @classmethod
    def parse(cls, query: QueryDict) -> TaskQuery:
        return cls(whole_number(query.get("agents", "")))


def task_state(query: QueryDict) -> BoardState:
    """Of a board's state what this page takes: the track, and the Jobs that alone count."""
    state = BoardState.parse(query)
    return BoardState(track=state.track, job=state.job)


def task_page(board: Board, position: int, query: TaskQuery) -> TaskPage:
    """`position` counts from 1. Raises Http404 where the release has no such Task."""
    pins = board.revision.pins.select_related("task_revision").filter(position=position - 1)
    pin = pins.first() if 1 <= position <= len(board.selection.task_names) else None
    if pin is None:
        raise Http404("This release has no such Task.")
    return _Page(board, pin, query).page()


class _Page:
    def __init__(self, board: Board, pin: TaskPin, query: TaskQuery) -> None:
        self.board, self.pin = board, pin
        self.low, self.high = board.scoring.score_range
        self.position = pin.position + 1
        self.names = board.selection.task_names
        self.tallies = _tallies(board, pin.name)
        known = [tally.score for tally in self.tallies.values() if tally.score is not None]
        self.scores, self.mean = known, mean_score(known)
        pages = max(-(-len(board.entries) // AGENTS_A_PAGE), 1)
        self.number = min(query.agents, pages)

    def page(self) -> TaskPage:
        board, resource, pin = self.board, self.board.revision.resource, self.pin
        content = TaskContent(board.project, pin, board.selection.rules)
        start = (self.number - 1) * AGENTS_A_PAGE
        visible = board.entries[start : start + AGENTS_A_PAGE]
        numbers, numbers_words = attempt_numbers(board, pin)
        name, label = formats.clean_text(resource.name), revision_label(board.revision)
        more = len(board.entries) > start + AGENTS_A_PAGE
        return TaskPage(
            crumbs=(
                Crumb(board.project.name, reverse("jobs:project", args=[board.project.slug])),
                Crumb(name, reverse("benchmarks:benchmark", args=[board.project.slug, resource.slug])),
                Crumb(f"Leaderboard {label}", board.href(job=())),
                Crumb(formats.clean_text(pin.name)),
            ),
            task=formats.clean_text(pin.name),
            position=self.position,
            total=len(self.names),
            version=formats.clean_text(pin.version),
            content_hash=pin.task_digest,
            benchmark=name,
            label=label,
            claim=self._claim(),
            tabs=tuple(self._tabs()),
            previous=self._neighbour(self.position - 1),
            next=self._neighbour(self.position + 1),
            links=self._links(),
            weight=f"{pin.weight:g}",
            categories=content.categories(board),
            limits=content.limits(),
            instructions_html=content.instructions(),
            seats=content.seats(),
            goals=content.goals(),
            pinned=content.pinned(),
            private=content.private(),
            difficulty="" if self.mean is None else difficulty(self.mean, self.low, self.high),
            difficulty_text=self._difficulty(),
            difficulty_scale=SCALE,
            disagreement=self._disagreement(),
            groups=tuple(self._groups()),
            unit=self._unit(),
            caption=self._caption(),
            legend=LEGEND if board.scoring.success_threshold is not None else LEGEND[2:],
            rows=AttemptRows(board, pin, self.tallies).rows(visible),
            rows_words=self._window(start),
            rows_previous=self._href(agents=self.number - 1) if start else "",
            rows_next=self._href(agents=self.number + 1) if more else "",
            numbers=numbers,
            numbers_words=numbers_words,
        )

    # Addresses

    def _href(self, agents: int) -> str:
        return task_page_href(self.board, self.position, agents=str(agents) if agents > 1 else "")

    def _neighbour(self, position: int) -> Choice | None:
        if not 1 <= position <= len(self.names):
            return None
        name = formats.clean_text(self.names[position - 1])
        return Choice(name, task_page_href(self.board, position), current=False)

    def _links(self) -> tuple[Choice, ...]:
        board = self.board
        benchmark = reverse("benchmarks:benchmark", args=[board.project.slug, board.revision.resource.slug])
        found = {
            "Leaderboard": board.href(),
            "Tasks × Agents": grid_href(board),
            "Trials of this Task": trials_href(board, None, self.pin.name),
            "Benchmark": f"{benchmark}?revision={board.revision.number}",
        }
        return tuple(Choice(label, href, current=False) for label, href in found.items())

    def _tabs(self) -> list[TrackTab]:
        selection = self.board.selection

        def address(track: str) -> str:
            return task_href(self.board.project, self.board.revision, self.position, track=track)

        tabs = [
            TrackTab(
                formats.clean_text(track.name),
                track.reference,
                selection.counts.get(track.reference, 0),
                address(track.reference),
                current=selection.track == track,
            )
            for track in selection.rules.tracks
        ]
        untracked = selection.counts.get("", 0)
        if untracked or not tabs or selection.track is None:
            current = selection.track is None
            tabs.append(TrackTab("Untracked evidence", "", untracked, address(UNTRACKED), current))
        return tabs

    # Words

    def _text(self, value: float | None) -> str:
        return formats.score_text(value, self.low, self.high)

    def _unit(self) -> str:
        return formats.score_unit(self.low, self.high)

    def _with_unit(self, value: float | None) -> str:
        unit = self._unit()
        return f"{self._text(value)}{formats.NO_BREAK_SPACE + unit if unit else ''}"

    def _claim(self) -> str:
        selection = self.board.selection
        agents = len(self.board.entries)
        who = f"{agents} Agent{'' if agents == 1 else 's'}"
        tried = sum(tally.attempts for tally in self.tallies.values())
        times = f"{formats.count(tried)} attempt{'' if tried == 1 else 's'} at this Task"
        if selection.track is None:
            on = "run on no track: evidence only, never ranked"
        else:
            on = f"on the track {selection.reference} ({formats.clean_text(selection.track.name)})"
        jobs = len(self.board.state.job)
        chosen = f" Only the {jobs} chosen Job{'s' if jobs > 1 else ''}." if jobs else ""
        return f"{times} by {who}, {on}.{chosen}"

    def _window(self, start: int) -> str:
        total = len(self.board.entries)
        if total <= AGENTS_A_PAGE:
            return ""
        return f"Agents {start + 1} to {min(start + AGENTS_A_PAGE, total)} of {formats.count(total)}"

    def _caption(self) -> str:
        unit = self._unit()
        scale = f"in {unit}" if unit else f"from {self._text(self.low)} to {self._text(self.high)}"
        return (
            f"By rank on the board. Score is the mean over the valid attempts at this Task, {scale}; "
            "sd is the standard deviation over them. Each Job counts its attempts from 1."
        )

    def _difficulty(self) -> str:
        if self.mean is None:
            return "No Agent has a valid attempt here, so nothing is known."
        count = len(self.scores)
        many = f"over {count} Agents, each counting once" if count > 1 else "of one Agent"
        low, high = self._with_unit(self.low), self._with_unit(self.high)
        kind = "Mean score" if count > 1 else "Score"
        return f"{kind} {self._with_unit(self.mean)} {many}, on a range from {low} to {high}.{self._place()}"

    def _place(self) -> str:
        if self.mean is None:
            return ""
        others = [mean for name, mean in _means(self.board).items() if name != self.pin.name]
        words = place_words(self.mean, [*others, self.mean], self.low, self.high)
        if not words:
            return ""
        unknown = len(self.names) - len(others) - 1
        without = f" that have a valid attempt; {unknown} more have none" if unknown else ""
        return f" It is {words}{without}."

    def _disagreement(self) -> str:
        if len(self.scores) < 2:
            return "Two Agents with a valid attempt are needed to see where they disagree."
        least, most = min(self.scores), max(self.scores)
        if least == most:
            return f"Every Agent scores {self._with_unit(least)} here."
        return (
            f"Agents score from {self._with_unit(least)} to {self._with_unit(most)}; the standard deviation "
            f"over them is {self._text(spread(self.scores))}."
        )

    def _groups(self) -> Iterable[AgentGroup]:
        """Agents by what their attempts came to; without a pass mark those whose attempts differ."""
        has_mark = self.board.scoring.success_threshold is not None
        found: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.board.entries:
            tally = self.tallies.get(entry.configuration.pk)
            if tally is None or not tally.valid:
                found["No valid attempt"].append(entry)
            elif has_mark and tally.successes in (0, tally.valid):
                found["Never pass" if not tally.successes else "Always pass"].append(entry)
            elif has_mark or tally.detail["spread"]:
                found["Sometimes pass" if has_mark else "Attempts differ"].append(entry)
        order = ("Always pass", "Sometimes pass", "Never pass", "Attempts differ", "No valid attempt")
        for label in (label for label in order if found[label]):
            entries = found[label]
            shown = tuple(self._member(entry) for entry in entries[:NAMES_SHOWN])
            yield AgentGroup(label, len(entries), shown, max(len(entries) - NAMES_SHOWN, 0))

    def _member(self, entry: Entry) -> Figure:
        tally = self.tallies.get(entry.configuration.pk)
        note = ""
        if tally is not None and tally.valid:
            passed = f"{tally.successes} of {tally.valid}"
            note = passed if self.board.scoring.success_threshold is not None else self._text(tally.score)
        return Figure(
            formats.clean_text(entry.names[0]),
            note=note,
            href=agent_href(self.board.project, entry.configuration),
        )


def _tallies(board: Board, task: str) -> dict[int, Tally]:
    """The board's own figures of each entry at this Task, by configuration. One query at most."""
    if board.state.job:
        return {
            entry.configuration.pk: row for entry in board.entries for row in entry.tasks if row.key == task
        }
    rows = Tally.objects.board(board.revision, board.selection.reference)
    return {row.configuration_id: row for row in rows.filter(scope=Tally.Scope.TASK, key=task)}


def _means(board: Board) -> Mapping[str, float]:
    """By Task, the mean of the entries' scores. One query at most, which returns one row a Task."""
    if board.state.job:
        found: dict[str, list[float]] = defaultdict(list)
        for entry in board.entries:
            for row in entry.tasks:
                if row.score is not None:
                    found[row.key].append(row.score)
        return {name: mean for name, scores in found.items() if (mean := mean_score(scores)) is not None}
    scale = scale_of(board.scoring.score_range)
    rows = Tally.objects.board(board.revision, board.selection.reference)
    rows = rows.filter(scope=Tally.Scope.TASK, score__isnull=False)
    return {
        name: mean * scale
        for name, mean in rows.order_by().values_list("key").annotate(mean=Avg(F("score") / scale))
    }


def scale_of(score_range: Sequence[float]) -> float:
    """By what scores are divided before a database adds them up: their sum may be too large for it."""
    return max(1.0, *(abs(end) for end in score_range))
