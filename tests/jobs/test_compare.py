"""Comparisons: figures worked out here by hand, verdicts, bounds, and what can't be compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.http import QueryDict

from benchmarks.board.neighbours import Marks
from benchmarks.board.state import BoardState
from benchmarks.board.words import p_text
from jobs.board import Board
from jobs.board_page import board_page
from jobs.compare import LISTED, CompareQuery, compare_page
from jobs.compare_links import MOST_COMPARED, compare_href, entry_key
from jobs.compare_pages import ComparePage, Pair
from jobs.neighbours import neighbour_marks
from plural_site.accounts.models import Project
from tests.builders import AgentSpec, BenchmarkSpec, Outcome, agents_named, failed, make_job, scoring, track
from tests.importing import bring, only_board, record

MINUS = "\u2212"
T_9 = 2.2621571628540993
"""Student's t, 0.975, 9 degrees of freedom."""


def names(count: int) -> tuple[str, ...]:
    return tuple(f"task-{at:02}" for at in range(count))


def board_of(
    project: Project,
    folder: Path,
    scores: dict[str, Sequence[float | Outcome]],
    *,
    attempts: int = 1,
    jobs: tuple[str, ...] = (),
    track_id: str | None = "open",
    **rules: Any,
) -> Board:
    """One Job in which each Agent gets its scores, in the order of the Tasks."""
    tasks = names(len(next(iter(scores.values()))))
    spec = BenchmarkSpec(tasks=tasks, tracks=(track(attempts=attempts),), scoring=scoring(**rules))
    record(
        project,
        folder,
        benchmark=spec,
        agents=agents_named(scores),
        attempts=attempts,
        track_id=track_id,
        outcomes=lambda agent, task, attempt: scores[agent][tasks.index(task)],
    )
    return load(project, track="open" if track_id else "none", jobs=jobs)


def load(project: Project, track: str = "open", jobs: tuple[str, ...] = ()) -> Board:
    return only_board(project, BoardState(track=track, job=jobs).query())


def keys(board: Board) -> dict[str, str]:
    return {entry.names[0]: entry_key(entry) for entry in board.entries}


def compared(board: Board, a: str, *others: str, page: str = "") -> ComparePage:
    key = keys(board)
    query = QueryDict(mutable=True)
    query["a"] = key[a]
    query.setlist("b", [key[name] for name in others])
    query["page"] = page
    return compare_page(board, CompareQuery.parse(query))


def only(page: ComparePage) -> Pair:
    (pair,) = page.pairs
    return pair


def facts(pair: Pair) -> dict[str, tuple[str, str]]:
    return {fact.label: (fact.figure.text, fact.figure.note) for fact in pair.facts}


A16 = [1, 1, 1, 0, 1, 1, 0, 1, 1, 0]
B16 = [1, 0, 1, 0, 1, 0, 0, 1, 0, 0]


def test_worked_example_with_too_few_differing_tasks(project: Project, tmp_path: Path) -> None:
    """T16 of the statistics: difference 0.3, t interval [-0.045550, 0.645550], p = 0.25 by 3 : 0."""
    pair = only(compared(board_of(project, tmp_path, {"ace": A16, "bee": B16}), "ace", "bee"))
    assert pair.verdict == "ace and bee can't be told apart on these Tasks."
    assert not pair.apart
    assert pair.finding.startswith("Too few Tasks differ to tell: 3 Tasks differ")
    found = facts(pair)
    assert found["Difference of scores"][0] == "+30.0 points"
    assert f"{MINUS}4.6 to +64.6" in found["Difference of scores"][1]
    assert found["p"][0] == "0.25"
    assert "McNemar" in found["p"][1]
    assert found["Scores on common Tasks"] == ("70.0 and 40.0", "")
    assert found["Common Tasks"] == ("10", "ace better at 3, bee better at 0, equal at 7")
    assert "Difference without weights" not in found
    assert (pair.differing, pair.equal, pair.missing) == (3, 7, ())
    assert [task.task for task in pair.tasks] == ["task-01", "task-05", "task-08"]


def test_the_better_one_is_named_whichever_is_the_baseline(project: Project, tmp_path: Path) -> None:
    board = board_of(project, tmp_path, {"ace": [1] * 9 + [0], "bee": [0] * 10})
    error = math.sqrt(0.09 / 9)  # of nine ones and a zero
    low, high = 90 - 100 * T_9 * error, 90 + 100 * T_9 * error
    words = f"ace is better than bee by 90.0 points (95 % interval +{low:.1f} to +{high:.1f})."
    first, second = only(compared(board, "ace", "bee")), only(compared(board, "bee", "ace"))
    assert first.verdict == second.verdict == words
    assert first.apart
    assert (first.difference.text, second.difference.text) == ("+90.0", f"{MINUS}90.0")
    assert first.p == second.p
    assert float(first.p.title) == 2 / 2**9
    assert first.bar.point_x == 160 - (second.bar.point_x or 0)
    assert {task.better for task in first.tasks} == {"ace"} == {task.better for task in second.tasks}


def test_several_are_adjusted_and_share_a_scale(project: Project, tmp_path: Path) -> None:
    board = board_of(project, tmp_path, {"ace": [1] * 10, "bee": [0] * 7 + [1] * 3, "cat": [0] * 6 + [1] * 4})
    page = compared(board, "ace", "cat", "bee")
    assert [pair.b for pair in page.pairs] == ["cat", "bee"]
    assert [float(pair.p.title) for pair in page.pairs] == [2 / 2**6, 2 * 2 / 2**7]
    assert "2 comparisons by Holm" in page.adjusted
    assert page.scale == "100.0"
    assert all(pair.alone_href for pair in page.pairs)
    alone = compared(board, "ace", "cat")
    assert (alone.adjusted, only(alone).p.text) == ("", "0.0312")


def test_weights_make_the_headline_the_difference_of_the_scores_on_the_board(
    project: Project, tmp_path: Path
) -> None:
    board = board_of(
        project,
        tmp_path,
        {"ace": [1, 1, 1, 1, 1, 1, 0], "bee": [0, 1, 0, 0, 0, 0, 0.5]},
        task_weights={"task-00": 5.0},
    )
    page = compared(board, "ace", "bee")
    ace, bee = (float(row.score.title) for row in page.rows)
    pair = only(page)
    assert float(pair.difference.title) == ace - bee
    assert math.isclose(ace - bee, (5 + 4 - 0.5) / 11)
    assert facts(pair)["Difference without weights"][0] == "+64.3 points"  # 4.5 of 7
    assert [task.difference.text for task in pair.tasks][-1] == f"{MINUS}50.0"


def test_tasks_that_are_not_common_are_listed_and_count_nowhere(project: Project, tmp_path: Path) -> None:
    lost = failed("provider_unavailable")
    board = board_of(
        project,
        tmp_path,
        {"ace": [1, 1, 1, 1, 1, lost, lost], "bee": [0, 0, 0, 0, lost, 1, lost]},
        min_tasks_for_interval=2,
    )
    page = compared(board, "ace", "bee")
    pair = only(page)
    assert pair.difference.text == "+100.0"
    assert [(missing.reason, [task.text for task in missing.tasks]) for missing in pair.missing] == [
        ("bee has no valid attempt at 1", ["task-04"]),
        ("ace has no valid attempt at 1", ["task-05"]),
        ("Neither has a valid attempt at 1", ["task-06"]),
    ]
    assert [agent for agent, _ in page.warnings] == ["ace", "bee"]
    assert all(reasons for _, reasons in page.warnings)
    assert pair.bar.width is None
    assert "same at every common Task" in pair.bar.reason


def test_no_common_task(project: Project, tmp_path: Path) -> None:
    lost = failed("provider_unavailable")
    pair = only(compared(board_of(project, tmp_path, {"ace": [1, lost], "bee": [lost, 1]}), "ace", "bee"))
    assert "no Task in common" in pair.verdict
    assert (pair.difference.text, pair.p.text, pair.facts) == ("–", "–", ())
    assert pair.bar.point_x is None


@pytest.mark.parametrize(
    ("limits", "high", "low", "difference"),
    [([-1.0, 1.0], 1.0, -1.0, "+2.00"), ([0.0, 100.0], 80.0, 60.5, "+19.5")],
)
def test_other_ranges_keep_their_units(
    limits: list[float], high: float, low: float, difference: str, project: Project, tmp_path: Path
) -> None:
    board = board_of(
        project,
        tmp_path,
        {"ace": [high] * 8, "bee": [low] * 7 + [high]},
        score_range=limits,
        success_threshold=None,
    )
    page = compared(board, "ace", "bee")
    pair = only(page)
    assert pair.tasks[0].difference.text == difference
    assert "points" not in pair.verdict
    assert pair.verdict.startswith("ace is better than bee by ")
    assert page.unit == ""
    assert 80 < (pair.bar.point_x or 0) <= 160


def test_equal_entries(project: Project, tmp_path: Path) -> None:
    pair = only(compared(board_of(project, tmp_path, {"ace": [1] * 8, "bee": [1] * 8}), "ace", "bee"))
    assert (pair.difference.text, pair.p.text, pair.differing, pair.equal) == ("0.0", "1", 0, 8)
    assert not pair.apart
    assert "no Tasks differ" in pair.finding
    assert facts(pair)["Smallest difference these Tasks can show"][0] == "–"


def cost(value: float | None, missing: int = 0, seconds: float | None = 1.0) -> Outcome:
    return Outcome(cost_usd=value, calls_missing_cost=missing, latency_seconds=seconds)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (cost(0.5), cost(0.25), "+$0.25"),
        (cost(0.25), cost(0.5), f"{MINUS}$0.25"),
        (cost(0.5, 1), cost(0.25), "≥ +$0.25"),
        (cost(0.5), cost(0.25, 1), "≤ +$0.25"),
        (cost(0.5, 1), cost(0.25, 1), "–"),
        (cost(None), cost(0.25), "–"),
        (cost(0.0), cost(0.0), "$0"),
    ],
)
def test_cost_differences_are_bounds_where_a_cost_is_one(
    a: Outcome, b: Outcome, text: str, project: Project, tmp_path: Path
) -> None:
    pair = only(compared(board_of(project, tmp_path, {"ace": [a, a], "bee": [b, b]}), "ace", "bee"))
    money, seconds = pair.measures
    assert money.difference.text == text
    for outcome, side in ((a, money.a), (b, money.b)):
        known = "measured 0 of 2" if outcome.cost_usd is None else "measured 2 of 2"
        assert side.note == known + (", reported as $0" if outcome.cost_usd == 0 else "")
    assert seconds.difference.text == "0.0\u00a0s"


def test_tasks_are_paged_alone_and_cut_short_in_company(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = board_of(project, tmp_path, {"ace": [1] * 23, "bee": [0] * 23, "cat": [0.5] * 23})
    both = compared(board, "ace", "bee", "cat")
    assert [len(pair.tasks) for pair in both.pairs] == [LISTED, LISTED]
    assert (both.previous_href, both.next_href) == ("", "")
    monkeypatch.setattr("jobs.compare.PER_PAGE", 10)
    seen = []
    for number in ("", "2", "3", "99"):
        page = compared(board, "ace", "bee", page=number)
        seen.append([task.task for task in only(page).tasks])
        assert bool(page.previous_href) == (number != "")
        assert bool(page.next_href) == (number in ("", "2"))
    assert (seen[0] + seen[1] + seen[2], seen[3]) == (list(names(23)), seen[2])


def test_chosen_jobs_give_what_the_tallies_give(project: Project, tmp_path: Path) -> None:
    board = board_of(project, tmp_path, {"ace": A16, "bee": B16})
    job = board.entries[0].agents[0].job.client_job_id
    chosen = load(project, jobs=(job,))
    one, other = only(compared(board, "ace", "bee")), only(compared(chosen, "ace", "bee"))
    assert (one.verdict, one.facts, one.difference, one.p) == (
        other.verdict,
        other.facts,
        other.difference,
        other.p,
    )
    assert f"job={job}" in other.tasks[0].a.href
    assert "Only the 1 Job chosen" in compared(chosen, "ace", "bee").claim
    assert neighbour_marks(chosen).by_entry.keys() == neighbour_marks(board).by_entry.keys()


def test_what_an_address_asks_for_in_vain_is_said(project: Project, tmp_path: Path) -> None:
    board = board_of(project, tmp_path, {"ace": [1, 1], "bee": [0, 0]})
    key = keys(board)

    def problems(text: str) -> tuple[str, ...]:
        return compare_page(board, CompareQuery.parse(QueryDict(text))).problems

    assert problems("") == ()
    assert len(problems(f"a={key['ace']}")) == 1
    assert len(problems(f"b={key['ace']}")) == 1
    assert len(problems(f"a={key['ace']}&b={key['ace']}")) == 1
    assert "called 0000000" in problems(f"a={key['ace']}&b=0000000&b={key['bee']}")[0]
    assert problems(f"a={key['ace']}&b={key['bee'][:7]}&b={key['bee']}") == ()
    many = "&".join(f"b={at:07}" for at in range(MOST_COMPARED + 5))
    assert len(problems(f"a={key['ace']}&{many}")) == MOST_COMPARED + 2


def test_entries_of_one_name_are_told_apart_by_their_hash(project: Project, tmp_path: Path) -> None:
    agents = [AgentSpec(name="same", model="sim/one"), AgentSpec(name="same", model="sim/two")]
    bring(
        project,
        make_job(tmp_path, benchmark=BenchmarkSpec(tracks=(track(),)), track_id="open", agents=agents),
    )
    board = load(project)
    page = compare_page(board, CompareQuery.parse(QueryDict("")))
    labels = [option.label for option in page.baselines]
    assert len(set(labels)) == 2
    assert all(entry_key(entry)[:7] in label for entry, label in zip(board.entries, labels, strict=True))


# Marks on the board ------------------------------------------------------------------------------------


def marks(board: Board) -> dict[str, list[str]]:
    found = neighbour_marks(board)
    texts = {name: [mark.text for mark in found.of(key)] for name, key in keys(board).items()}
    return {name: text for name, text in texts.items() if text}


def test_neighbours_that_cannot_be_told_apart_are_marked(project: Project, tmp_path: Path) -> None:
    """ace against bee 8 : 0, p = 2/2^8; bee against cat 3 : 0; cat and dog share the third rank."""
    scores: dict[str, Sequence[float | Outcome]] = {
        "ace": [1] * 12,
        "bee": [0] * 8 + [1] * 4,
        "cat": [0] * 11 + [1],
        "dog": [1] + [0] * 11,
    }
    board = board_of(project, tmp_path, scores)
    assert marks(board) == {"bee": ["≈ 3"], "cat": ["≈ 2"]}
    assert "3 pairs of neighbours" in neighbour_marks(board).note
    (mark,) = neighbour_marks(board).of(keys(board)["bee"])
    assert "too few Tasks differ to tell (3 Tasks differ)" in mark.title
    assert mark.href.endswith(f"a={keys(board)['bee']}&b={keys(board)['cat']}")


def test_boards_of_one_entry_or_too_many_scores_have_no_marks(
    project: Project,
    tmp_path: Path,
    django_assert_num_queries: Callable[[int], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    board = board_of(project, tmp_path, {"ace": [1, 1]})
    with django_assert_num_queries(1):
        assert neighbour_marks(board) == Marks({}, "")
    monkeypatch.setattr("benchmarks.board.neighbours.MOST_SCORES", 1)
    with django_assert_num_queries(0):
        assert "not tested" in neighbour_marks(board).note


# Rank ranges on the board ------------------------------------------------------------------------------


def ranges(board: Board) -> dict[str, str]:
    page = board_page(board)
    return {row.agent: row.rank_range.text for row in (*page.table.rows, *page.table.unranked)}


def test_a_rank_range_holds_the_ranks_that_are_not_ruled_out(project: Project, tmp_path: Path) -> None:
    """ace, bee and cat differ at few Tasks; dog fails where they pass: 17 or more : 0, 6 pairs."""
    scores: dict[str, Sequence[float | Outcome]] = {
        "ace": [1] * 20,
        "bee": [1] * 18 + [0] * 2,
        "cat": [1] * 17 + [0] * 3,
        "dog": [0] * 20,
        "eel": [failed("provider_unavailable")] * 20,
    }
    board = board_of(project, tmp_path, scores)
    assert ranges(board) == {"ace": "1–3", "bee": "1–3", "cat": "1–3", "dog": "4", "eel": "–"}
    page = board_page(board)
    assert [column.key for column in page.table.columns][4] == "range"
    assert "Rank range" in [option.label for option in page.table.filters.columns]
    assert "A rank range such as 1–3" in page.table.alike_note
    row = page.table.rows[0]
    assert row.rank_range.title == "Not told apart from 2 others that are ranked"
    assert row.rank_range.href == compare_href(board, row.key, [other.key for other in page.table.rows[1:]])


def test_equal_entries_share_every_rank(project: Project, tmp_path: Path) -> None:
    board = board_of(project, tmp_path, {name: [1] * 30 for name in ("ace", "bee", "cat")})
    assert ranges(board) == {"ace": "1–3", "bee": "1–3", "cat": "1–3"}


@pytest.mark.parametrize(
    ("state", "most"),
    [(BoardState(hide=("range",)), 12), (BoardState(view="categories"), 12), (BoardState(), 1)],
)
def test_rank_ranges_are_worked_out_only_where_they_are_shown(
    state: BoardState,
    most: int,
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.board.neighbours.MOST_RANGED", most)
    board = replace(board_of(project, tmp_path, {"ace": [1, 1], "bee": [1, 0]}), state=state)
    page = board_page(board)
    assert set(ranges(board).values()) == {""} and "rank range" not in page.table.alike_note
    assert "range" not in [column.key for column in page.table.columns] and "range" in page.table.hidden
    offered = [option.value for option in page.table.filters.columns if option.value == "range"]
    assert offered == (["range"] if "range" in state.hide else [])


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "1"), (0.25, "0.25"), (0.012939, "0.0129"), (2e-5, "<0.0001"), (1e-4, "0.0001")]
)
def test_p_is_written_with_three_digits(p: float, text: str) -> None:
    assert p_text(p) == text
