"""The leaderboard page: what it claims, its tabs, filters, columns and rows."""

from __future__ import annotations

from django.urls import reverse

from benchmarks.board.parts import Choice, Option, TrackTab
from benchmarks.board.table import board_table, measured_words, score_words, shows_ranges, who_words
from benchmarks.domain.tracks import describe_track
from benchmarks.links import board_href, compare_releases_href, revision_label
from benchmarks.pages import Crumb, Figure
from benchmarks.track_example import TRACK_EXAMPLE
from jobs.board import Board, uncounted_jobs
from jobs.board_rows import RowBuilder
from jobs.compare_links import benchmark_search_href, compare_href, grid_href
from jobs.models import Job
from jobs.neighbours import neighbour_marks
from jobs.pages import BoardPage
from jobs.rows import with_query
from jobs.tracks import UNTRACKED
from plural_site import formats


def board_page(board: Board) -> BoardPage:
    return _Page(board).page()


class _Page:
    def __init__(self, board: Board) -> None:
        self.board = board
        self.selection, self.state = board.selection, board.state

    def page(self) -> BoardPage:
        board, selection, revision = self.board, self.selection, self.board.revision
        resource = revision.resource
        name = formats.clean_text(resource.name)
        marks = neighbour_marks(board, with_ranges=shows_ranges(board))
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
            claim_more=score_words(board),
            tabs=tuple(self._tabs()),
            releases=tuple(
                Choice(revision_label(other), board_href(board.project, other), other.pk == revision.pk)
                for other in selection.revisions
            ),
            compare_releases_href=self._compare_releases_href(),
            table=board_table(board, board.shown, RowBuilder(board).row, marks, self._jobs()),
            is_untracked=selection.track is None,
            track_rules=formats.clean_texts(describe_track(selection.track)) if selection.track else (),
            track_example="" if selection.rules.tracks else TRACK_EXAMPLE,
            matches_nothing=bool(board.all_entries) and not board.shown,
            csv_href=board.export_href("csv"),
            json_href=board.export_href("json"),
            compare_href=compare_href(board),
            grid_href=grid_href(board),
            search_href=benchmark_search_href(board),
            this_href=board.href(),
            set_aside=self._set_aside(),
            uncounted=uncounted_jobs(board),
        )

    def _compare_releases_href(self) -> str:
        """With the newest revision; that, with the one before it. '' where there is one alone."""
        board, numbers = self.board, [revision.number for revision in self.selection.revisions]
        if len(numbers) < 2:
            return ""
        own, newest = board.revision.number, numbers[0]
        query = {"to": str(own)} if own == newest else {"from": str(own), "to": str(newest)}
        return compare_releases_href(board.project, board.revision.resource.slug, **query)

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

    def _claim(self) -> str:
        track = self.selection.track
        entries, tasks = len(self.board.entries), len(self.selection.task_names)
        if track is None:
            who = who_words(entries, tasks)
            return f"{who}, run on no track: evidence only, never ranked.{self._chosen_jobs()}"
        return f"{measured_words(entries, tasks, track)}{self._chosen_jobs()}"

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

    def _jobs(self) -> list[Option]:
        """Every Job of the board, the latest first."""
        agents = [agent for entry in self.board.all_entries for agent in entry.agents]
        found = {agent.job.client_job_id: agent.job for agent in agents}
        latest = sorted(found.items(), key=lambda item: item[1].started_at, reverse=True)
        return [
            Option(ident, f"{ident} of {formats.date_text(job.started_at)}", ident in self.state.job)
            for ident, job in latest
        ]
