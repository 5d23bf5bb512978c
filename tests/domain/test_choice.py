"""Frontier and choice: worked figures (T numbers: statistics.md), every doubt, and what must always hold."""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.choice import Candidate, Choice, Figures, choose, frontier
from benchmarks.domain.scoring import aggregate
from benchmarks.domain.types import Attempt, DomainError, Measure, Scoring, Uncertainty

T26 = {
    "a": (1, 0.50),
    "b": (2, 0.70),
    "c": (2, 0.65),
    "d": (4, 0.72),
    "e": (4, 0.72),
    "f": (6, 0.71),
    "g": (None, 0.90),
    "h": (10, 0.80),
}


def candidate(
    name: str,
    score: float | None,
    cost: float | None = None,
    latency: float | None = None,
    low: float | None = None,
    high: float | None = None,
    *,
    partial: bool = False,
    ranked: bool = True,
    measured: int = 4,
) -> Candidate:
    return Candidate(
        key=name,
        name=name.upper(),
        score=score,
        uncertainty=Uncertainty(low, high),
        cost=Measure(cost, measured if cost is not None else 0, 4, partial=partial),
        latency=Measure(latency, 4, 4),
        ranked=ranked,
    )


def chosen(choice: Choice) -> str | None:
    return choice.chosen.key if choice.chosen else None


def order(choice: Choice) -> str:
    return "".join(c.key for c in ([choice.chosen] if choice.chosen else []) + list(choice.runners_up))


def reasons(choice: Choice) -> dict[str, str]:
    return {drop.candidate.key: drop.reason for drop in choice.dropped}


amounts = st.sampled_from([None, 0.0, 0.1, 0.102, 0.105, 0.106, 0.2, 1.0]) | st.floats(0, 10)
scores = st.sampled_from([None, 0.0, 0.5, 0.7, 0.700000001, 1.0]) | st.floats(-1, 1)
candidates = st.lists(
    st.builds(
        candidate,
        st.sampled_from("abcdefgh"),
        scores,
        amounts,
        amounts,
        partial=st.booleans(),
        measured=st.sampled_from([4, 4, 3]),
        ranked=st.sampled_from([True, True, True, False]),
    ),
    max_size=12,
    unique_by=lambda c: c.key,
)


def test_t26_frontier_keeps_ties_and_leaves_out_the_unknown() -> None:
    points = [candidate(name, score, cost) for name, (cost, score) in T26.items()]
    assert "".join(c.key for c in frontier(points)) == "abdeh"
    assert frontier(points[::-1]) == frontier(points)


def test_lower_bounds_and_unranked_entries_are_not_on_the_frontier_and_push_nobody_off() -> None:
    solid = candidate("solid", 0.5, 1.0)
    for other in (
        candidate("partial", 0.9, 0.1, partial=True),
        candidate("half", 0.9, 0.1, measured=2),
        candidate("unranked", 0.9, 0.1, ranked=False),
        candidate("unscored", None, 0.1),
        candidate("not-a-number", math.nan, 0.1),
    ):
        assert frontier([other, solid]) == (solid,)
    assert frontier([candidate("free", 0.1, 0.0), solid])[0].key == "free"
    assert frontier([]) == ()


def test_frontier_by_latency() -> None:
    quick, slow = candidate("quick", 0.5, None, 1.0), candidate("slow", 0.9, 0.1, 9.0)
    assert frontier([slow, quick], by="latency") == (quick, slow)
    assert frontier([slow, quick]) == (slow,)


def test_t24_and_t25_costs_and_times_of_attempts() -> None:
    """The cost is the mean over the attempts that told one; the choice doesn't rest on it and says so."""
    times = [3, 4, 5, 6, 7, 8, 9, 10, 60, 100]
    costs = [0.10, 0.20, None, 0.40]
    attempts = [
        Attempt(f"t{i}", 1, "succeeded", float(i != 1), cost_usd=cost, latency_seconds=float(times[i]))
        for i, cost in enumerate(costs)
    ]
    result = aggregate(["t0", "t1", "t2", "t3"], attempts, scoring=Scoring())
    assert result.cost.value == pytest.approx(0.233333, abs=5e-7)
    assert (result.cost.measured, result.cost.attempts) == (3, 4)
    assert result.cost.total == pytest.approx(0.70)
    entry = Candidate("a", "A", result.score, result.uncertainty, result.cost, result.latency)
    answer = choose([entry], floor=0.5)
    assert chosen(answer) is None
    assert reasons(answer) == {
        "a": "It reaches the floor, but its cost is known for only 3 of its 4 attempts."
    }
    slow = aggregate(
        ["t"],
        [Attempt("t", i, "succeeded", 1.0, latency_seconds=float(t)) for i, t in enumerate(times)],
        scoring=Scoring(),
    )
    assert slow.latency.value == pytest.approx(21.2)


def test_floor_then_cost() -> None:
    answer = choose(
        [
            candidate("poor", 0.4, 0.01),
            candidate("dear", 0.9, 2.0, 1.0, 0.85, 0.95),
            candidate("cheap", 0.8, 0.5, 9.0, 0.75, 0.85),
            candidate("middle", 0.7, 1.0, 5.0, 0.7, 0.75),
        ],
        floor=0.7,
    )
    assert order(answer) == "cheapmiddledear"
    assert reasons(answer) == {"poor": "Its score of 0.4 is below the floor of 0.7."}
    assert answer.reasons == (
        "3 Agents reach the floor of 0.7 at a known cost. CHEAP scores 0.8.",
        "Of these it costs the least, $0.5 per attempt, and none is within 5 % of that.",
    )
    assert answer.doubts == ()
    assert not answer.uncertain


def test_latency_breaks_the_tie_of_costs_about_the_same_as_the_cheapest() -> None:
    """b is within 5 % of a, and c within 5 % of b but not of a: no chain leads from a to c."""
    some = [
        candidate("a", 0.8, 1.00, 9.0),
        candidate("b", 0.8, 1.05, 5.0),
        candidate("c", 0.8, 1.10, 1.0),
    ]
    answer = choose(some, floor=0.5)
    assert order(answer) == "bac"
    assert answer.reasons[1:] == (
        "It costs $1.05 per attempt. A costs about the same: all are within 5 % of the cheapest, $1.",
        "Of these it is the fastest, 5 s per attempt.",
    )
    assert order(choose(some, floor=0.5, tolerance=0.0)) == "abc"
    assert order(choose(some, floor=0.5, tolerance=0.1)) == "cba"
    unknown = [replace(some[1], latency=Measure()), *some[::2]]
    assert chosen(choose(unknown, floor=0.5)) == "a"


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (candidate("b", 0.9, 1.01, 5.0), "B is as fast, 5 s per attempt; the lower cost decides."),
        (candidate("b", 0.7, 1.0, 5.0), "B is as fast, 5 s per attempt; the higher score decides."),
        (
            candidate("b", 0.8, 1.0, 5.0),
            "B is as fast, 5 s per attempt; B has the same score and cost, so the order of names decides: "
            "take either.",
        ),
    ],
)
def test_equal_latency(other: Candidate, words: str) -> None:
    first = candidate("a", 0.8, 1.0, 5.0)
    for some in ([first, other], [other, first]):
        answer = choose(some, floor=0.5)
        assert chosen(answer) == "a"
        assert answer.reasons[-1] == words


def test_no_latency_known() -> None:
    answer = choose([candidate("a", 0.8, 1.0), candidate("b", 0.8, 0.99)], floor=0.5)
    assert chosen(answer) == "b"
    assert answer.reasons[-1] == "No latency is known; the lower cost decides."


def test_everything_dropped_has_its_reason() -> None:
    answer = choose(
        [
            candidate("unranked", 0.9, 0.1, ranked=False),
            candidate("unscored", None, 0.1),
            candidate("low", 0.6999, 0.1),
            candidate("unpriced", 0.9),
            candidate("partial", 0.9, 0.1, partial=True),
        ],
        floor=0.7,
        figures=Figures(score="{:.1f}".format, cost="USD {:.2f}".format),
    )
    assert answer.chosen is None
    assert reasons(answer) == {
        "unranked": "Not ranked, so it isn't compared.",
        "unscored": "It has no score.",
        "low": "Its score is below the floor of 0.7 before rounding.",
        "unpriced": "It reaches the floor, but its cost is unknown.",
        "partial": "It reaches the floor, but its cost is known only to be USD 0.10 or more: some calls "
        "reported none.",
    }
    assert answer.reasons == (
        "2 Agents reach the floor of 0.7, but none at a known cost, so none can be preferred by cost.",
    )


def test_nothing_to_choose() -> None:
    assert choose([], floor=0.5).reasons == ("There is no Agent to choose from.",)
    answer = choose([candidate("a", 0.2, 1.0), candidate("b", 0.4, 1.0)], floor=0.5)
    assert answer.reasons == ("No ranked Agent reaches the floor of 0.5.", "The nearest is B with 0.4.")
    unranked = choose([candidate("a", 0.9, 1.0, ranked=False)], floor=0.5)
    assert unranked.reasons == ("No ranked Agent reaches the floor of 0.5.",)


def test_a_floor_as_it_is_printed_keeps_its_entry() -> None:
    assert chosen(choose([candidate("a", 0.1 + 0.2, 1.0)], floor=0.3)) == "a"
    assert chosen(choose([candidate("a", math.nextafter(0.3, 0), 1.0)], floor=0.3)) == "a"
    assert chosen(choose([candidate("a", 0.2999, 1.0)], floor=0.3)) is None


SURE = candidate("sure", 0.8, 1.0, 5.0, 0.75, 0.85)


@pytest.mark.parametrize(
    ("others", "doubt"),
    [
        ([candidate("x", 0.65, 0.5, 1.0, 0.55, 0.72)], "X would be preferred by cost or latency"),
        ([candidate("x", 0.65, 1.02, 1.0, 0.55, 0.72)], "X would be preferred by cost or latency"),
        ([candidate("x", 0.65, 1.02, 9.0, 0.55, 0.72)], None),
        ([candidate("x", 0.65, 2.0, 1.0, 0.55, 0.72)], None),
        ([candidate("x", 0.65, 0.5, 1.0, 0.55, 0.69)], None),
        ([candidate("x", 0.65, 0.5, 1.0, 0.55, 0.72, ranked=False)], None),
        ([candidate("x", 0.9)], "X reaches the floor and may cost no more"),
        ([candidate("x", 0.9, 0.5, partial=True)], "X reaches the floor and may cost no more"),
        ([candidate("x", 0.9, 2.0, partial=True)], None),
        ([candidate("x", 0.9, 0.5, measured=2)], "X reaches the floor and may cost no more"),
        ([candidate("x", 0.9, 2.0, measured=2)], "X reaches the floor and may cost no more"),
        ([candidate("x", 0.9, 2.2, measured=2)], None),
        ([candidate("x", 0.65, 0.5, 1.0, 0.55, 0.72, measured=2)], None),
        ([candidate("x", 0.2)], None),
        ([candidate(name, 0.9) for name in "vwxyz"], "V, W, X and 2 more reach the floor"),
    ],
)
def test_doubts_about_others(others: list[Candidate], doubt: str | None) -> None:
    answer = choose([SURE, *others], floor=0.7)
    assert chosen(answer) == "sure"
    assert answer.uncertain is (doubt is not None)
    assert all(text.startswith(doubt or "nothing") for text in answer.doubts)


def test_what_is_priced_in_part_is_not_preferred_for_it() -> None:
    half = candidate("half", 0.9, 0.1, 1.0, 0.85, 0.95, measured=2)
    answer = choose([half, SURE], floor=0.7)
    assert order(answer) == "sure"
    assert reasons(answer) == {
        "half": "It reaches the floor, but its cost is known for only 2 of its 4 attempts."
    }
    assert answer.doubts == (
        "HALF reaches the floor and may cost no more: the cost isn't fully known; HALF's is known for only "
        "2 of its 4 attempts.",
    )
    assert answer.reasons[0].startswith("1 Agent reaches the floor of 0.7 at a known cost.")


def test_times_of_some_attempts_break_no_tie_and_make_no_frontier() -> None:
    timed = candidate("timed", 0.8, 1.0, 5.0)
    some = replace(candidate("some", 0.8, 1.0), latency=Measure(1.0, 2, 4))
    answer = choose([some, timed], floor=0.7)
    assert order(answer) == "timed" + "some"
    assert answer.reasons[-1] == (
        "Of those whose latency is known for every attempt it is the fastest, 5 s per attempt."
    )
    assert frontier([some, timed], by="latency") == (timed,)
    other = replace(some, key="other", name="OTHER", cost=Measure(1.01, 4, 4))
    assert choose([some, other], floor=0.7).reasons[-1] == (
        "No latency is known for every attempt; the lower cost decides."
    )


def test_a_cost_of_zero_is_a_number_and_a_doubt() -> None:
    answer = choose([SURE, candidate("free", 0.8, 0.0, 5.0, 0.75, 0.85)], floor=0.7)
    assert chosen(answer) == "free"
    assert answer.doubts == (
        "Every attempt of FREE reported a cost of exactly 0. Where its model is not free, the run did not "
        "know the price.",
    )


def test_doubts_about_the_chosen() -> None:
    straddles = choose([candidate("a", 0.72, 1.0, 5.0, 0.61, 0.83)], floor=0.7)
    assert straddles.doubts == (
        "The 95 % interval of A reaches down to 0.61, so its true score may be below the floor of 0.7.",
    )
    bare = choose([candidate("a", 0.72, 1.0)], floor=0.7)
    assert bare.doubts == ("A has no interval, so it can't be said how certain its score is.",)


@pytest.mark.parametrize(
    ("floor", "tolerance"), [(math.nan, 0.05), (math.inf, 0.05), (0, -0.1), (0, math.nan)]
)
def test_floor_and_tolerance_are_checked(floor: float, tolerance: float) -> None:
    with pytest.raises(DomainError, match="floor|tolerance"):
        choose([], floor=floor, tolerance=tolerance)


def test_a_category_may_choose_another_agent() -> None:
    overall = [candidate("a", 0.8, 1.0), candidate("b", 0.9, 2.0)]
    refunds = [candidate("a", 0.3, 1.2), candidate("b", 0.9, 1.9)]
    assert (chosen(choose(overall, floor=0.7)), chosen(choose(refunds, floor=0.7))) == ("a", "b")


@given(candidates)
def test_frontier_by_its_definition(some: list[Candidate]) -> None:
    known = [
        (c.cost.value, c.score, c)
        for c in some
        if c.ranked
        and c.score is not None
        and c.cost.value is not None
        and not c.cost.partial
        and c.cost.measured == c.cost.attempts
    ]
    expected = {
        c.key
        for cost, score, c in known
        if not any(k <= cost and s >= score and (k < cost or s > score) for k, s, _ in known)
    }
    assert {c.key for c in frontier(some)} == expected


@given(candidates, st.sampled_from([-1.0, 0.0, 0.5, 0.7]), st.sampled_from([0.0, 0.05, 1.0]), st.randoms())
def test_choice_by_its_rule(
    some: list[Candidate], floor: float, tolerance: float, rng: random.Random
) -> None:
    answer = choose(some, floor=floor, tolerance=tolerance)
    assert choose(rng.sample(some, len(some)), floor=floor, tolerance=tolerance) == answer
    listed = [*([answer.chosen] if answer.chosen else []), *answer.runners_up]
    assert sorted(c.key for c in [*listed, *(d.candidate for d in answer.dropped)]) == sorted(
        c.key for c in some
    )
    assert all(d.reason for d in answer.dropped)
    assert all("nan" not in text and "None" not in text for text in (*answer.reasons, *answer.doubts))
    if answer.chosen is None:
        assert answer.runners_up == ()
        return
    assert (answer.chosen.score or 0) >= floor - 1e-8
    costs = [c.cost.value for c in listed if c.cost.value is not None]
    assert answer.chosen.cost.value is not None
    assert answer.chosen.cost.value <= min(costs) * (1 + tolerance) * (1 + 1e-8)
    if answer.chosen not in frontier(listed):
        assert "fastest" in answer.reasons[-1] or "decides" in answer.reasons[-1]
    rest = choose([c for c in some if c is not answer.chosen], floor=floor, tolerance=tolerance)
    assert order(rest) == "".join(c.key for c in answer.runners_up)


def test_chosen_is_on_the_frontier_where_cost_decides() -> None:
    rng = random.Random(4)  # noqa: S311  nothing secret
    some = [candidate(f"x{i}", rng.random(), rng.random() + 0.1, rng.random()) for i in range(200)]
    for floor in (0.0, 0.3, 0.6, 0.9):
        answer = choose(some, floor=floor, tolerance=0.0)
        kept = [c for c in some if c.score is not None and c.score >= floor]
        assert answer.chosen in frontier(kept)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 1.0), (0.0, 100.0)])
def test_extreme_boards_are_quick_and_the_same_each_time(bounds: tuple[float, float]) -> None:
    low, high = bounds
    started = time.process_time()
    equal = [candidate(f"x{i:03}", high, 1.0, 1.0, high, high) for i in range(200)]
    answer = choose(equal, floor=high)
    assert chosen(answer) == "x000"
    assert "take either" in answer.reasons[-1]
    assert [c.key for c in answer.runners_up] == [f"x{i:03}" for i in range(1, 200)]
    assert len(frontier(equal)) == 200
    bottom = [candidate(f"x{i}", low, 0.0) for i in range(200)]
    assert choose(bottom, floor=high).chosen is None
    assert choose(bottom, floor=low).chosen is not None
    free = choose([candidate(f"x{i}", high) for i in range(200)], floor=low)
    assert (free.chosen, len(free.dropped)) == (None, 200)
    assert time.process_time() - started < 10
