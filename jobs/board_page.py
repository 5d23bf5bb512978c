"""The leaderboard page: what it claims, its tabs, filters, columns and rows."""

from __future__ import annotations

from collections import Counter

from django.urls import reverse

from benchmarks.domain.tracks import describe_track
from benchmarks.links import board_href, revision_label
from benchmarks.pages import Crumb, Figure
from benchmarks.track_example import TRACK_EXAMPLE
from jobs.board import INTERVAL_WORDS, Board, plain_name, uncounted_jobs
from jobs.board_columns import ALWAYS, Columns
from jobs.board_rows import RowBuilder
from jobs.chart_part import chart_part
from jobs.chooser import chooser_part
from jobs.compare_links import benchmark_search_href, compare_href, grid_href
from jobs.models import Job
from jobs.neighbours import RANGE, has_ranges, neighbour_marks
from jobs.pages import BoardFilters, BoardPage, Choice, Option, TrackTab
from jobs.rows import with_query
from jobs.tracks import UNTRACKED
from plural_site import formats


def board_page(board: Board) -> BoardPage:
    return _Page(board).page()


class _Page:
    def __init__(self, board: Board) -> None:
        self.board = board
        self.selection, self.state = board.selection, board.state
        self.scoring = board.scoring
        self.low, self.high = board.scoring.score_range

    def page(self) -> BoardPage:
        board, selection, revision = self.board, self.selection, self.board.revision
        resource = revision.resource
        name = formats.clean_text(resource.name)
        columns, rows = Columns(board), RowBuilder(board)
        ranged = has_ranges(board) and RANGE not in self.state.hide
        marks = neighbour_marks(board, with_ranges=ranged)
        ordered = columns.ordered(board.shown)
        ranked = [entry for entry in ordered if entry.rank is not None]
        unranked = [entry for entry in ordered if entry.rank is None]
        benchmark = reverse("benchmarks:benchmark", args=[board.project.slug, resource.slug])
        return BoardPage(
            crumbs=(
                Crumb(board.project.name, reverse("jobs:project", args=[board.project.slug])),
                Crumb(name, benchmark),
                Crumb(f"Leaderboard {revision_label(revision)}"),
            ),
            name=name,
            slug=resource.slug,
            version=revision.version,
            number=revision.number,
            benchmark_href=benchmark,
            claim=self._claim(),
            claim_more=self._claim_more(),
            tabs=tuple(self._tabs()),
            releases=tuple(
                Choice(revision_label(other), board_href(board.project, other), other.pk == revision.pk)
                for other in selection.revisions
            ),
            views=self._views(),
            filters=self._filters(columns),
            columns=tuple(columns.heads()),
            hidden=(
                *(key for key in self.state.hide if key not in ALWAYS),
                *(() if ranged else (RANGE,)),
            ),
            show_categories=bool(self.state.view),
            range_low=self._text(self.low),
            range_high=self._text(self.high),
            rows=tuple(marks.onto(rows.row(entry)) for entry in ranked),
            unranked=tuple(marks.onto(rows.row(entry)) for entry in unranked),
            summary=self._summary(len(ranked), len(unranked)),
            caption=columns.caption(),
            is_untracked=selection.track is None,
            track_rules=formats.clean_texts(describe_track(selection.track)) if selection.track else (),
            track_example="" if selection.rules.tracks else TRACK_EXAMPLE,
            matches_nothing=bool(board.all_entries) and not board.shown,
            chart=chart_part(board),
            chooser=chooser_part(board),
            csv_href=board.export_href("csv"),
            json_href=board.export_href("json"),
            compare_href=compare_href(board),
            grid_href=grid_href(board),
            search_href=benchmark_search_href(board),
            alike_note=marks.note,
            this_href=board.href(),
            set_aside=self._set_aside(),
            uncounted=uncounted_jobs(board),
        )

    def _set_aside(self) -> Figure | None:
        """How many Jobs of this board a person keeps out of it, and where they are listed."""
        board, reference = self.board, self.selection.reference
        jobs = Job.objects.visible(board.project).filter(
            revision=board.revision, track_ref=reference, set_aside_at__isnull=False
        )
        if not (count := jobs.count()):
            return None
        query = {
            "benchmark": board.revision.resource.slug,
            "revision": str(board.revision.number),
            "track": self.selection.key,
            "aside": "only",
        }
        path = reverse("jobs:jobs", args=[board.project.slug])
        text = f"{formats.count(count)} Job{'' if count == 1 else 's'} set aside"
        note = f"which count{'s' if count == 1 else ''} in none of these figures."
        return Figure(text, note=note, href=with_query(path, query))

    def _text(self, value: float | None) -> str:
        return formats.score_text(value, self.low, self.high)

    def _summary(self, ranked: int, unranked: int) -> str:
        words = f"{ranked} ranked, {unranked} not ranked"
        hidden = len(self.board.entries) - ranked - unranked
        return f"{words}, {hidden} left out by the filters" if hidden else words

    def _claim(self) -> str:
        track = self.selection.track
        tasks, agents = len(self.selection.task_names), len(self.board.entries)
        who = (
            f"{agents} {'Agent' if agents == 1 else 'Agents'} on {tasks} {'Task' if tasks == 1 else 'Tasks'}"
        )
        if track is None:
            return f"{who}, run on no track: evidence only, never ranked.{self._chosen_jobs()}"
        times = f"{track.attempts} attempt{'s' if track.attempts > 1 else ''} each"
        name = formats.clean_text(track.name)
        return f"{who}, {times}, on the track {track.reference} ({name}).{self._chosen_jobs()}"

    def _claim_more(self) -> str:
        low, high = (self._text(end) for end in (self.low, self.high))
        unit = formats.score_unit(self.low, self.high)
        metric = formats.clean_text(self.scoring.metric) or "Score"
        return (
            f"{metric} is the weighted mean over Tasks, from {low} to {high}{' ' + unit if unit else ''}. "
            f"{INTERVAL_WORDS}"
        )

    def _chosen_jobs(self) -> str:
        if not self.state.job:
            return ""
        count = len(self.state.job)
        return f" Only {'the Job' if count == 1 else f'the {count} Jobs'} chosen here."

    def _tabs(self) -> list[TrackTab]:
        counts = self.selection.counts
        tabs = [
            TrackTab(
                label=formats.clean_text(track.name),
                detail=track.reference,
                count=counts.get(track.reference, 0),
                href=self.board.href(track=track.reference, sort="", job=()),
                current=self.selection.track == track,
            )
            for track in self.selection.rules.tracks
        ]
        untracked = counts.get("", 0)
        if untracked or not tabs or self.selection.track is None:
            tabs.append(
                TrackTab(
                    "Untracked evidence",
                    "",
                    untracked,
                    self.board.href(track=UNTRACKED, sort="", job=()),
                    self.selection.track is None,
                )
            )
        return tabs

    def _views(self) -> tuple[Choice, ...]:
        if not self.selection.rules.categories:
            return ()
        return (
            Choice("Overview", self.board.href(view="", sort=""), not self.state.view),
            Choice("Categories", self.board.href(view="categories", sort=""), bool(self.state.view)),
        )

    def _filter_words(self) -> list[str]:
        state, unit = self.state, formats.score_unit(self.low, self.high)
        words = {
            f"names with “{state.q}”": state.q,
            f"the model {state.model}": state.model,
            f"the harness {state.harness}": state.harness,
            f"scores of at least {state.min}{' ' + unit if unit else ''}": state.min,
            f"known costs of at most ${state.cost} per attempt": state.cost,
            "ranked entries": state.ranked,
            f"{len(state.job)} chosen {'Job' if len(state.job) == 1 else 'Jobs'}": state.job,
        }
        return [text for text, chosen in words.items() if chosen]

    def _filters(self, columns: Columns) -> BoardFilters:
        state, board = self.state, self.board
        models = Counter(plain_name(entry.configuration.model) for entry in board.entries)
        harnesses = Counter(plain_name(entry.harness) for entry in board.entries)
        words = self._filter_words()
        jobs = {agent.job.client_job_id: agent.job for entry in board.all_entries for agent in entry.agents}
        return BoardFilters(
            action=board.path,
            carried=(
                *state.hidden("q", "model", "harness", "min", "cost", "ranked", "hide", "job"),
                *(("hide", key) for key in state.hide if key not in columns.hideable()),
            ),
            text=state.q,
            least=state.min,
            least_unit=formats.score_unit(self.low, self.high),
            most=state.cost,
            ranked_only=state.ranked == "1",
            models=tuple(_options(models, state.model)),
            harnesses=tuple(_options(harnesses, state.harness)),
            columns=tuple(Option(key, label, key in state.hide) for key, label in columns.hideable().items()),
            jobs=tuple(
                Option(
                    job_id,
                    f"{job_id} of {formats.date_text(job.started_at)}",
                    job_id in state.job,
                )
                for job_id, job in sorted(jobs.items(), key=lambda item: item[1].started_at, reverse=True)
            ),
            active=bool(words or state.hide),
            words=tuple(words),
            narrowing=sum(map(bool, (state.model, state.harness, state.min, state.cost, state.ranked))),
            clear_href=board.href(q="", model="", harness="", min="", cost="", ranked="", hide=(), job=()),
        )


def _options(found: Counter[str], chosen: str) -> list[Option]:
    if chosen:
        found.setdefault(chosen, 0)
    return [Option(name, f"{name} ({count})", name == chosen) for name, count in sorted(found.items())]
