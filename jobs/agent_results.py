"""The entries of one Agent on the boards of a project: the same figures as there, by the same code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from benchmarks.board.state import BoardState
from benchmarks.domain.definitions import BenchmarkRules
from benchmarks.domain.scoring import competition_ranks
from benchmarks.links import revision_label
from benchmarks.models import Configuration
from benchmarks.pages import Figure
from jobs.agent_pages import ResultRow
from jobs.board import Board
from jobs.board_rows import RowBuilder
from jobs.compare_links import entry_key
from jobs.entries import Entry
from jobs.models import Tally
from jobs.tracks import UNTRACKED, Selection
from plural_site import formats
from plural_site.accounts.models import Project

RESULTS_A_PAGE = 20

Place = tuple[int, str]
"""Revision and track reference."""


def result_rows(
    project: Project, configuration: Configuration, number: int
) -> tuple[tuple[ResultRow, ...], int, int]:
    """Page `number` of the entries, newest release first, with its number and that of all entries.

    Three queries.
    """
    rows = Tally.objects.filter(configuration=configuration, scope=Tally.Scope.OVERALL)
    total = rows.count()
    number = min(number, max(-(-total // RESULTS_A_PAGE), 1))
    start = (number - 1) * RESULTS_A_PAGE
    related = rows.select_related("revision__resource", "revision__release")
    found = list(related.order_by("-revision_id", "-track_ref")[start : start + RESULTS_A_PAGE])
    ranked = _ranked(found)
    rules: dict[int, BenchmarkRules] = {}
    shown = []
    for tally in found:
        key = tally.revision_id
        if key not in rules:
            rules[key] = tally.revision.rules
        shown.append(_row(project, configuration, tally, rules[key], ranked[key, tally.track_ref]))
    return tuple(shown), number, total


def _ranked(tallies: Sequence[Tally]) -> dict[Place, list[float]]:
    """Scores of all eligible entries of these boards."""
    found: dict[Place, list[float]] = defaultdict(list)
    rows = Tally.objects.filter(
        revision__in={tally.revision_id for tally in tallies},
        scope=Tally.Scope.OVERALL,
        eligible=True,
    )
    for revision, track, score in rows.values_list("revision_id", "track_ref", "score"):
        if score is not None:
            found[revision, track].append(score)
    return found


def _row(
    project: Project, configuration: Configuration, tally: Tally, rules: BenchmarkRules, scores: list[float]
) -> ResultRow:
    revision = tally.revision
    track = next((track for track in rules.tracks if track.reference == tally.track_ref), None)
    state = BoardState(track=tally.track_ref or UNTRACKED)
    board = Board(project, revision, Selection(rules, track, (), (), {}), state, (), (), ())
    own = tally.score if tally.eligible else None
    rank = dict(zip(scores, competition_ranks(scores), strict=True)).get(own) if own is not None else None
    entry = Entry(configuration, rank, scores.count(own) > 1 if own is not None else False, tally, (), (), ())
    build = RowBuilder(board)
    links = build.links(entry)
    of = f"of {len(scores)} ranked"
    place = formats.DASH if rank is None else f"{rank}{'=' if entry.shares_rank else ''}"
    return ResultRow(
        release=f"{formats.clean_text(revision.resource.name)} {revision_label(revision)}",
        release_href=f"{board.href()}#entry-{entry_key(entry)}",
        track=tally.track_ref or "no track",
        rank=Figure(place, note="not ranked" if rank is None else of, href=links.figure("rank")),
        reasons=() if rank is not None else formats.clean_texts(tally.reasons),
        score=build.score(tally, links.figure("score")),
        unit=formats.score_unit(*rules.scoring.score_range),
        interval=build.interval(tally, links.figure("interval")),
        coverage=build.coverage(tally, links.figure("coverage")),
        attempts=Figure(formats.count(tally.attempts), href=links.trials),
        cost=build.cost(tally, links.figure("cost")),
        latency=build.latency(tally, links.figure("latency")),
        proof_href=links.figure("score"),
    )
