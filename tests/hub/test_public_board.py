"""A published result on the public board is what its attempts give on a private one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.http import Http404, QueryDict

from benchmarks.board.columns import Columns
from benchmarks.domain.scoring import aggregate
from benchmarks.domain.types import ConfigurationResult, Measure, Scoring
from hub.domain.assemble import assemble
from hub.domain.manifest import Manifest, ManifestPublisher
from hub.domain.stored import digest_of, manifest_bytes
from hub.public_board import (
    PublicBoard,
    PublicEntry,
    PublicFigures,
    PublicState,
    chosen_track,
    public_board,
    public_table,
)
from hub.public_links import Links
from hub.public_read import Published, read_published
from tests.domain.hub import recorded
from tests.domain.hub.made import MADE, agent, attempts, facts

LINKS = Links("/hub/ada/desk", "/hub/ada/desk", "/hub/ada/desk/manifests/x")


def read(manifest: Manifest) -> Published:
    body = manifest_bytes(manifest)
    return read_published(body, digest_of(body))


def board_of(manifest: Manifest, query: str = "") -> PublicBoard:
    found = read(manifest)
    state = PublicState.parse(QueryDict(query))
    track = chosen_track(found, state.track)
    assert track is not None
    return public_board(found, LINKS, track, state)


def measure(figures: PublicFigures) -> Measure:
    return Measure(figures.cost, figures.cost_measured, figures.cost_attempts)


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_figures_are_those_of_the_attempts(version: str) -> None:
    release, results = recorded.release_facts(version), recorded.all_results(version)
    assert results
    for picked in results:
        board = board_of(assemble(**recorded.inputs(version, [picked])), f"track={picked.track}")
        (entry,) = board.entries
        expected = aggregate(
            [task.name for task in release.tasks],
            picked.attempts,
            scoring=release.scoring,
            categories=release.categories,
            required_attempts=board.track.attempts,
            compared_attempts=board.track.attempts,
        )
        assert_same(entry, expected)


def assert_same(entry: PublicEntry, expected: ConfigurationResult) -> None:
    shown, spread, cost = entry.overall, expected.uncertainty, expected.cost
    assert (shown.score, shown.low, shown.high) == (expected.score, spread.low, spread.high)
    assert (shown.coverage, shown.tasks_covered) == (expected.coverage, expected.tasks_covered)
    assert (shown.success_rate, shown.successes) == (expected.success_rate, expected.successes)
    assert measure(shown) == Measure(cost.value, cost.measured, cost.attempts)
    assert shown.cost_partial == (cost.partial and cost.value is not None)
    assert (shown.latency, shown.latency_measured) == (expected.latency.value, expected.latency.measured)
    assert dict(shown.outcomes) == dict(expected.outcomes)
    consistency = entry.consistency
    assert (consistency.k, consistency.pass_hat) == (expected.consistency.k, expected.consistency.pass_hat)
    for figures, category in zip(entry.categories, expected.categories, strict=True):
        assert (figures.key, figures.score) == (category.id, category.score)
        assert (figures.low, figures.high) == (category.uncertainty.low, category.uncertainty.high)
        assert figures.success_rate == category.success_rate
        assert measure(figures) == measure(shown)  # there is no finer one, and the page says so


def some_results() -> Manifest:
    """Two that rank, the first shared by two; one that doesn't; one withdrawn."""
    return assemble(
        **{
            **MADE,
            "results": [
                facts("res_1", (1.0, 0.25)),
                facts("res_2", (1.0, 0.25), agent=agent("twin"), provenance="self_reported"),
                facts("res_3", (0.0, 0.5), agent=agent("low")),
                facts("res_4", (0.5, None), ("succeeded", "running"), agent=agent("late")),
            ],
        }
    )


def test_equal_scores_share_a_rank_and_what_is_pending_has_none() -> None:
    board = board_of(some_results())
    assert [(entry.names[0], entry.place) for entry in board.entries] == [
        ("bot", "1="),
        ("twin", "1="),
        ("low", "3"),
        ("late", "–"),
    ]
    table = public_table(board)
    assert [row.rank for row in table.rows] == ["1=", "1=", "3"]
    assert table.unranked[0].reasons != () and table.summary == "3 ranked, 1 not ranked"


def test_sorting_changes_no_rank_and_unknown_columns_sort_by_rank() -> None:
    board = board_of(some_results(), "sort=score")
    assert [row.rank for row in public_table(board).rows] == ["3", "1=", "1="]
    for lacking in ("spread", "total", "jobs", "rubbish"):
        assert Columns(board_of(some_results(), f"sort={lacking}")).sort.key == "rank"


def test_columns_without_figures_are_left_out_and_provenance_is_there() -> None:
    table = public_table(board_of(some_results()))
    keys = [column.key for column in table.columns]
    assert not {"spread", "total", "jobs"} & set(keys) and keys[-1] == "provenance"
    row = table.rows[0]
    assert (row.spread.text, row.total_cost.text, row.jobs.text) == ("", "", "")
    assert row.provenance.text == "Plural-executed" and row.provenance.href == "#provenance"
    hidden = public_table(board_of(some_results(), "hide=provenance&hide=cost"))
    assert {"provenance", "cost"} <= set(hidden.hidden)
    assert not {"provenance", "cost"} & {column.key for column in hidden.columns}


def test_results_are_filtered_by_provenance() -> None:
    table = public_table(board_of(some_results(), "provenance=self_reported&q=twin"))
    assert [row.agent for row in table.rows] == ["twin"]
    assert table.filters.words == ("names with “twin”", "results that are self-reported")
    assert "provenance" not in dict(table.filters.carried)
    assert "provenance" not in table.filters.clear_href and "q=" not in table.filters.clear_href
    assert [(option.label, option.chosen) for option in table.filters.provenances] == [
        ("Plural-executed (3)", False),
        ("Self-reported (1)", True),
    ]


@pytest.mark.parametrize("query", ["provenance=proven", "job=job_1", "min=x&cost=nan&view=odd"])
def test_rubbish_in_an_address_means_the_default(query: str) -> None:
    assert PublicState.parse(QueryDict(query)) == PublicState()


def test_tracks_are_chosen_by_id_or_reference() -> None:
    found = read(some_results())
    assert chosen_track(found, "") == chosen_track(found, "open") == chosen_track(found, "open@1.0.0")
    with pytest.raises(Http404):
        chosen_track(found, "closed")


def test_a_cost_known_in_part_is_a_lower_bound() -> None:
    own = [*attempts((1.0, 0.5))]
    partial = [replace(own[0], cost_partial=True), own[1]]
    manifest = assemble(**{**MADE, "results": [facts(attempts=partial)]})
    row = public_table(board_of(manifest)).rows[0]
    assert row.cost.text.startswith("≥ ")


def test_a_preview_has_no_addresses_that_are_not_there_yet() -> None:
    found = read(some_results())
    track = chosen_track(found, "")
    assert track is not None
    board = public_board(found, Links("/drafts/1"), track, PublicState())
    table = public_table(board)
    assert {row.href for row in (*table.rows, *table.unranked)} == {""}
    assert table.chart.figure_href == "" and board.part_href("leaderboard.csv") == ""


def test_other_score_ranges_and_no_threshold_are_shown_in_their_own_units() -> None:
    scoring = Scoring(score_range=(-5.0, 10.0), success_threshold=None)
    changed = replace(MADE["release"], scoring=scoring)
    manifest = assemble(**{**MADE, "release": changed, "results": [facts(scores=(-5.0, 10.0))]})
    table = public_table(board_of(manifest))
    assert (table.range_low, table.range_high) == ("−5.0", "10.0")
    assert table.rows[0].success.text == "–" and table.rows[0].pass_hat.text == "–"


def test_names_from_outside_are_made_harmless() -> None:
    who = ManifestPublisher("acc", "Ada\u202e")
    manifest = assemble(**{**MADE, "publisher": who, "results": [facts(agent=agent("a\u202egent"))]})
    assert public_table(board_of(manifest)).rows[0].agent == "a⟨U+202E⟩gent"
