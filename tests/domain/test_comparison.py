"""Paired comparison: worked figures (T numbers: statistics.md), brute force, and what must always hold."""

from __future__ import annotations

import itertools
import math
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.comparison import (
    Comparison,
    Difference,
    TaskScore,
    compare,
)
from benchmarks.domain.neighbours import ranges_of, rank_ranges
from benchmarks.domain.scoring import aggregate, competition_ranks
from benchmarks.domain.significance import (
    DRAWS,
    benjamini_hochberg,
    detectable_difference,
    holm,
    mcnemar,
    sign_flip,
    sign_flip_bound,
    student_t_quantile,
    student_t_within,
    tasks_needed,
)
from benchmarks.domain.types import Attempt, Scoring

A16 = [1, 1, 1, 0, 1, 1, 0, 1, 1, 0]
B16 = [1, 0, 1, 0, 1, 0, 0, 1, 0, 0]
D18 = [0.4, 0.2, 0, -0.2, 0.6, 0.2, 0.2, 0]

shares = st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
boards = st.lists(st.tuples(shares, shares), min_size=1, max_size=30)
terms = st.lists(
    st.sampled_from([-0.6, -0.2, 0.0, 0.2, 0.4, 1 / 3]) | st.floats(-10, 10), min_size=1, max_size=11
)


def entry(scores: Sequence[float], valid: int = 1) -> dict[str, TaskScore]:
    return {f"task-{i}": TaskScore(float(score), valid) for i, score in enumerate(scores)}


def repeatable(seed: int | str | bytes) -> random.Random:
    return random.Random(seed)  # noqa: S311  nothing secret


def headline(comparison: Comparison) -> Difference:
    assert comparison.weighted is not None
    return comparison.weighted


def by_brute_force(values: list[float]) -> float:
    """Share of sign patterns whose exact sum is at least as far from zero, sums within 1e-9 alike."""
    exact = [abs(Fraction(value)) for value in values]
    reach = abs(sum(map(Fraction, values), Fraction(0))) - max(exact) * Fraction(1, 10**9)
    sums = [Fraction(0)]
    for value in exact:
        sums = [part + sign * value for part in sums for sign in (1, -1)]
    hits: int = sum(abs(total) >= reach for total in sums)
    return hits / len(sums)


def test_t6_competition_ranks() -> None:
    assert competition_ranks([0.80, 0.78, 0.78, 0.70, 0.55]) == [1, 2, 2, 4, 5]
    assert competition_ranks([math.nan, 0.5, None, math.inf, 0.7]) == [None, 2, None, None, 1]


def test_t10_variance_of_all_resamples_of_three_tasks() -> None:
    """The variance of the mean over all 27 resamples is the population variance over n."""
    result = compare(entry([1, 0.5, 0]), entry([0, 0, 0]), Scoring(min_tasks_for_interval=2))
    means = [sum(sample) / 3 for sample in itertools.product([1, 0.5, 0], repeat=3)]
    variance = sum((mean - 0.5) ** 2 for mean in means) / 27
    error = headline(result).standard_error
    assert error is not None
    assert variance == pytest.approx(0.0555556, abs=1e-7)
    assert error**2 * 2 / 3 == pytest.approx(variance, rel=1e-12)


def test_t16_paired_difference_of_passes() -> None:
    result = compare(entry(A16), entry(B16), Scoring())
    found = headline(result)
    assert [found.score_a, found.score_b] == pytest.approx([0.7, 0.4])
    assert found.value == pytest.approx(0.3, rel=1e-12)
    assert found.standard_error == pytest.approx(0.152753, abs=5e-7)
    assert found.low == pytest.approx(-0.045550, abs=5e-7)
    assert found.high == pytest.approx(0.645550, abs=5e-7)
    assert (found.test.method, found.test.for_a, found.test.for_b) == ("mcnemar", 3, 0)
    assert found.test.p == 0.25 == sign_flip([a - b for a, b in zip(A16, B16, strict=True)]).p
    assert found.test.too_few
    assert found.test.finding().startswith("Too few Tasks differ to tell: 3 Tasks differ")
    t = found.value / 0.15275252316519466
    assert 1 - student_t_within(t, 9) == pytest.approx(0.081126, abs=5e-7)


@pytest.mark.parametrize(
    ("for_a", "for_b", "p"),
    [(3, 0, 0.25), (9, 2, 0.065430), (12, 2, 0.012939), (15, 5, 0.041389), (0, 0, 1.0), (4, 4, 1.0)],
)
def test_t17_mcnemar(for_a: int, for_b: int, p: float) -> None:
    assert mcnemar(for_a, for_b) == mcnemar(for_b, for_a) == pytest.approx(p, abs=5e-7)


def test_t18_sign_flip() -> None:
    result = compare(entry([0.4 + d for d in D18], 5), entry([0.4] * 8, 5), Scoring())
    found = headline(result)
    assert found.value == pytest.approx(0.175, rel=1e-12)
    assert found.test.p == 10 / 64
    assert found.test.method == "sign_flip_exact"
    assert "more than one valid attempt" in found.test.why
    assert [found.low, found.high] == pytest.approx([-0.033407, 0.383407], abs=5e-7)


@pytest.mark.parametrize(("n", "p"), [(4, 0.125), (5, 0.0625), (6, 0.03125), (7, 0.015625)])
def test_smallest_p_of_n_differing_tasks(n: int, p: float) -> None:
    test = headline(compare(entry([1] * n), entry([0] * n), Scoring())).test
    assert test.p == p
    assert test.too_few is (n < 6)


def test_t19_overlapping_intervals_can_be_told_apart() -> None:
    rng = repeatable(5)
    base = [rng.uniform(0.1, 0.8) for _ in range(60)]
    better = [score + rng.uniform(0.0, 0.2) for score in base]
    rules = Scoring()
    single = [
        aggregate(
            list(entry(scores)),
            [Attempt(task, 1, "succeeded", s.score) for task, s in entry(scores).items()],
            scoring=rules,
        ).uncertainty
        for scores in (better, base)
    ]
    assert single[0].low is not None
    assert single[1].high is not None
    assert single[0].low < single[1].high
    found = headline(compare(entry(better), entry(base), rules))
    assert found.test.p < 0.001
    assert found.low is not None
    assert found.low > 0
    assert found.test.finding() == "The difference is larger than chance explains."


def test_t20_power() -> None:
    noise = 2 * (1 / 6)
    assert tasks_needed(0.03, 1 / 9, noise) == pytest.approx(3876, abs=0.5)
    assert tasks_needed(0.03, 1 / 9, noise / 5) == pytest.approx(1551, abs=1)
    assert tasks_needed(0.03, 1 / 9, 0) == pytest.approx(969, abs=0.5)
    assert detectable_difference(89, 1 / 9, noise) == pytest.approx(0.197978, abs=5e-7)
    assert detectable_difference(89, 1 / 9, noise / 5) == pytest.approx(0.125212, abs=5e-7)
    assert detectable_difference(500, 1 / 9, noise) == pytest.approx(0.083527, abs=5e-7)


def test_detectable_difference_is_estimated_from_the_pair() -> None:
    rng = repeatable(11)
    a, b = (
        {f"t{i}": TaskScore(rng.choice([0.0, 0.5, 1.0]), 4, None, 0.5) for i in range(40)} for _ in range(2)
    )
    result = compare(a, b, Scoring())
    error = headline(result).standard_error
    assert error is not None
    assert result.detectable.difference == pytest.approx(2.801585 * error, rel=1e-6)
    between = 40 * error**2 - 2 * 0.25 / 4
    assert result.detectable.with_more_attempts == pytest.approx(detectable_difference(40, between, 0))
    single = compare(entry(A16), entry(B16), Scoring()).detectable
    assert single.with_more_attempts is None
    assert single.tasks_for_observed == 21


def test_t21_holm_and_benjamini_hochberg() -> None:
    ps = [0.041, 0.004, 0.30, 0.020, 0.011]
    assert holm(ps) == pytest.approx([0.082, 0.02, 0.30, 0.06, 0.044])
    assert benjamini_hochberg(ps) == pytest.approx([0.05125, 0.02, 0.30, 0.1 / 3, 0.0275])
    assert holm([]) == benjamini_hochberg([]) == []
    assert holm([0.4, 0.4, 1.0]) == [1.0, 1.0, 1.0]


def test_t22_rank_ranges() -> None:
    assert ranges_of(4, [(0, 2), (0, 3), (1, 3)]) == [(1, 2), (1, 3), (2, 4), (3, 4)]


def test_t23_rank_ranges_of_separate_intervals() -> None:
    intervals = [(0.74, 0.86), (0.72, 0.84), (0.73, 0.83), (0.64, 0.76), (0.48, 0.62)]
    better = [(i, j) for i, a in enumerate(intervals) for j, b in enumerate(intervals) if a[0] > b[1]]
    assert ranges_of(5, better) == [(1, 4)] * 4 + [(5, 5)]


QUANTILES = [  # t at 0.975 and 0.995, as SciPy 1.17 has them
    (1, 12.7062047362, 63.6567411629),
    (2, 4.3026527297, 9.9248432009),
    (3, 3.1824463053, 5.8409093097),
    (4, 2.7764451052, 4.6040948713),
    (5, 2.5705818356, 4.0321429836),
    (9, 2.2621571628, 3.2498355416),
    (10, 2.228138852, 3.1692726726),
    (30, 2.0422724563, 2.7499956536),
    (88, 1.9872898648, 2.6328580385),
    (2999, 1.9607553192, 2.577469682),
]


@pytest.mark.parametrize(("degrees", "at_975", "at_995"), QUANTILES)
def test_student_t_quantiles(degrees: int, at_975: float, at_995: float) -> None:
    assert student_t_quantile(0.975, degrees) == pytest.approx(at_975, rel=1e-9)
    assert student_t_quantile(0.995, degrees) == pytest.approx(at_995, rel=1e-9)
    assert student_t_within(student_t_quantile(0.975, degrees), degrees) == pytest.approx(0.95, rel=1e-12)
    assert student_t_quantile(0.5, degrees) == pytest.approx(0, abs=1e-12)


@given(terms)
def test_exact_p_equals_brute_force(values: list[float]) -> None:
    found = sign_flip(values)
    assert found.exact
    differing = [value for value in values if value]
    assert found.p == (by_brute_force(differing) if differing else 1.0)


@pytest.mark.parametrize("n", [2, 7, 12])
def test_p_of_twelve_terms_equals_brute_force(n: int) -> None:
    rng = repeatable(n)
    for values in (
        [rng.gauss(0.5, 1) for _ in range(n)],
        [rng.choice([-2, 1, 3]) / 7 for _ in range(n)],
        [rng.choice([-1, 1]) * 0.3 for _ in range(n)],
    ):
        assert sign_flip(values).p == by_brute_force(values)


def test_many_terms_are_drawn_repeatably_and_near_the_exact_p() -> None:
    rng = repeatable(8)
    steps = [rng.choice([-2, -1, 1, 2, 3]) / 5 for _ in range(60)]
    off_grid = [step + rng.uniform(-1, 1) * 1e-5 for step in steps]
    exact, drawn = sign_flip(steps), sign_flip(off_grid)
    assert (exact.exact, drawn.exact) == (True, False)
    assert drawn.p == pytest.approx(exact.p, rel=0.15)
    assert sign_flip([-value for value in reversed(off_grid)]) == drawn
    assert (drawn.p * 10_001) == pytest.approx(round(drawn.p * 10_001))


@pytest.mark.parametrize("steps", [2, 4, 1000])
def test_draws_are_eight_signs_of_a_seeded_byte(steps: int) -> None:
    """Worked out sign by sign: however sums are made, p stays what it is."""
    rng = repeatable(steps)
    units = sorted([*range(1, steps + 1), *rng.choices(range(1, steps + 1), k=1500)])
    signed = [unit * rng.choice((1, 1, -1)) for unit in units]
    draw = repeatable(sha256(",".join(map(str, units)).encode()).digest()).randbytes
    sums = [0] * DRAWS
    for start in range(0, len(units), 8):
        eight = list(enumerate(units[start : start + 8]))
        of_byte = [sum(-unit if byte >> bit & 1 else unit for bit, unit in eight) for byte in range(256)]
        for at, byte in enumerate(draw(DRAWS)):
            sums[at] += of_byte[byte]
    hits = sum(abs(total) >= abs(sum(signed)) for total in sums)
    found = sign_flip([term / 1000 for term in signed])
    assert (found.p, found.exact) == ((1 + hits) / (1 + DRAWS), False)


def test_twenty_terms_are_counted_and_more_are_drawn() -> None:
    values = [math.sqrt(k) for k in range(2, 23)]
    assert sign_flip(values[:20]).p == pytest.approx(2 / 2**20)
    assert sign_flip(values) == sign_flip(values[::-1])
    assert sign_flip(values).p == 1 / 10_001


@given(st.lists(st.floats(-10, 10).filter(bool), min_size=1, max_size=11))
def test_bound_is_never_below_the_exact_p(values: list[float]) -> None:
    assert sign_flip_bound(values) == sign_flip(values).p
    assert sign_flip(values).p <= sign_flip_bound(values, count=False) <= 1


@given(boards, st.sampled_from([1, 5]), st.randoms(use_true_random=False))
def test_swapping_negates_and_order_changes_nothing(
    pairs: list[tuple[float, float]], valid: int, rng: random.Random
) -> None:
    a, b = entry([x for x, _ in pairs], valid), entry([y for _, y in pairs], valid)
    rules = Scoring(task_weights={"task-0": 3.0, "task-2": 0.7})
    there, back = compare(a, b, rules), compare(b, a, rules)
    shuffled = dict(rng.sample(list(a.items()), len(a)))
    again = compare(shuffled, b, rules)
    assert (again.weighted, again.plain, again.detectable) == (there.weighted, there.plain, there.detectable)
    for one, other in ((there.weighted, back.weighted), (there.plain, back.plain)):
        assert one is not None
        assert other is not None
        assert one.value == -other.value
        assert one.standard_error == other.standard_error
        assert (one.low, one.high) == (
            (None, None) if other.low is None or other.high is None else (-other.high, -other.low)
        )
        assert one.test.p == other.test.p
        assert 0 < one.test.p <= 1
        assert (one.test.for_a, one.test.for_b) == (other.test.for_b, other.test.for_a)


@given(boards)
def test_headline_is_the_difference_of_the_scores_of_the_board(pairs: list[tuple[float, float]]) -> None:
    rules = Scoring(task_weights={"task-0": 3.0, "task-1": 0.1})
    a, b = entry([x for x, _ in pairs]), entry([y for _, y in pairs])
    scores = [
        aggregate(list(a), [Attempt(t, 1, "succeeded", s.score) for t, s in e.items()], scoring=rules).score
        for e in (a, b)
    ]
    found = headline(compare(a, b, rules))
    assert [found.score_a, found.score_b] == scores


def test_weights_change_the_headline_and_its_test() -> None:
    a, b = entry([1, 1, 1, 0, 0, 0, 1]), entry([0, 0, 0, 1, 1, 1, 0])
    result = compare(a, b, Scoring(task_weights={"task-0": 5.0}))
    assert result.plain is not None
    assert headline(result).value == pytest.approx((8 - 3) / 11)
    assert result.plain.value == pytest.approx(1 / 7)
    assert result.plain.test.method == "mcnemar"
    assert "weigh differently" in headline(result).test.why
    assert headline(result).test.p == by_brute_force([5, 1, 1, -1, -1, -1, 1])


def test_only_common_tasks_count() -> None:
    a, b = entry([1, 0, 1, 1]), {"task-3": TaskScore(0.0), "task-0": TaskScore(1.0), "task-9": TaskScore(1.0)}
    result = compare(a, b, Scoring())
    assert [task.task for task in result.tasks] == ["task-0", "task-3"]
    assert (result.only_a, result.only_b) == (("task-1", "task-2"), ("task-9",))
    assert headline(result).value == 0.5
    assert headline(result).unavailable_reason == "An interval needs at least 5 common Tasks; there are 2."
    nothing = compare({}, b, Scoring())
    assert (nothing.weighted, nothing.plain, nothing.detectable.assumes) == (None, None, "No Task is common.")


def test_no_spread_gives_no_interval_instead_of_a_width_of_zero() -> None:
    for a in (entry([1.0] * 9), entry([0.7] * 9)):
        found = compare(a, entry([0.3] * 9), Scoring())
        assert (headline(found).low, headline(found).standard_error) == (None, None)
        assert "same at every common Task" in (headline(found).unavailable_reason or "")
        assert found.detectable.difference is None


def test_rounding_is_no_difference() -> None:
    third = math.fsum([0.1, 0.2, 0.3]) / 3
    assert third != 0.2
    found = compare(entry([third] * 6, 3), entry([0.2] * 6, 3), Scoring())
    assert [task.difference for task in found.tasks] == [0.0] * 6
    assert headline(found).test.p == 1


@pytest.mark.parametrize(
    ("scores", "bounds", "threshold", "method"),
    [
        ([-1.0, 1.0], (-1.0, 1.0), None, "mcnemar"),
        ([0.0, 100.0], (0.0, 100.0), 100.0, "mcnemar"),
        ([20.0, 80.0], (0.0, 100.0), 50.0, "mcnemar"),
        ([60.0, 80.0], (0.0, 100.0), 50.0, "sign_flip_exact"),
        ([20.0, 80.0], (0.0, 100.0), None, "sign_flip_exact"),
    ],
)
def test_test_fits_the_data(
    scores: list[float], bounds: tuple[float, float], threshold: float | None, method: str
) -> None:
    def scored(values: list[float]) -> dict[str, TaskScore]:
        passed = [None if threshold is None else int(value >= threshold) for value in values]
        return {
            f"t{i}": TaskScore(value, 1, count)
            for i, (value, count) in enumerate(zip(values, passed, strict=True))
        }

    low, high = scores
    rules = Scoring(score_range=bounds, success_threshold=threshold)
    found = headline(compare(scored([high] * 7 + [low]), scored([low] * 7 + [high]), rules))
    assert found.test.method == method
    assert found.test.p == mcnemar(7, 1)


def test_rank_ranges_of_clear_groups() -> None:
    good, bad = [1.0] * 18 + [0.0] * 2, [0.0] * 18 + [1.0] * 2
    assert rank_ranges([entry(good), entry(good), entry(bad)], Scoring()) == [(1, 2), (1, 2), (3, 3)]
    assert rank_ranges([entry(good)], Scoring()) == [(1, 1)]
    assert rank_ranges([], Scoring()) == []


def test_rank_ranges_cover_the_true_ranks_of_simulated_boards() -> None:
    """All pairs at once are wrong in at most 5 % of boards; of 40 boards, 6 or more wrong: p < 0.02."""
    wrong = 0
    for seed in range(40):
        rng = repeatable(seed)
        difficulty = [rng.uniform(-0.2, 0.2) for _ in range(40)]
        truth = [0.7, 0.6, 0.5, 0.5, 0.3]
        entries = [
            entry([sum(rng.random() < level + d for _ in range(3)) / 3 for d in difficulty], 3)
            for level in truth
        ]
        places = [(1, 1), (2, 2), (3, 4), (3, 4), (5, 5)]
        found = rank_ranges(entries, Scoring())
        wrong += any(
            not (best <= last and first <= worst)
            for (best, worst), (first, last) in zip(found, places, strict=True)
        )
        assert found[0][1] < 5
    assert wrong < 6


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 1.0), (0.0, 100.0)])
def test_boards_without_differences(bounds: tuple[float, float]) -> None:
    rules = Scoring(score_range=bounds, success_threshold=None)
    for score in (*bounds, 0.0):
        same = [entry([score] * 20)] * 200
        assert set(rank_ranges(same[:-1], rules)) == {(1, 199)}
        test = headline(compare(same[0], same[1], rules)).test
        assert (test.p, test.finding()[:46]) == (1.0, "Too few Tasks differ to tell: no Tasks differ,")


def test_scaling_the_range_changes_no_p() -> None:
    rng = repeatable(2)
    a, b = ([rng.random() for _ in range(15)] for _ in range(2))
    plain = headline(compare(entry(a), entry(b), Scoring()))
    wide = headline(
        compare(entry([100 * x for x in a]), entry([100 * x for x in b]), Scoring(score_range=(0, 100)))
    )
    assert wide.test.p == plain.test.p
    assert wide.value == pytest.approx(100 * plain.value)
    assert wide.standard_error == pytest.approx(100 * (plain.standard_error or 0))


@pytest.mark.parametrize("kind", ["pass", "share", "any"])
def test_large_boards_are_quick(kind: str) -> None:
    rng = repeatable(kind)

    def score(level: float) -> float:
        if kind == "any":
            return min(max(rng.gauss(level, 0.2), 0.0), 1.0)
        attempts = 5 if kind == "share" else 1
        return sum(rng.random() < level for _ in range(attempts)) / attempts

    def scores(tasks: int, level: float) -> dict[str, TaskScore]:
        return entry([score(level) for _ in range(tasks)], 5 if kind == "share" else 1)

    started = time.process_time()
    many = rank_ranges([scores(20, 0.9 - i / 250) for i in range(200)], Scoring())
    long = headline(compare(scores(3000, 0.6), scores(3000, 0.5), Scoring()))
    assert time.process_time() - started < 20
    assert all(1 <= best <= worst <= 200 for best, worst in many)
    assert 0 < long.test.p < 0.001
    assert long.low is not None
    assert long.high is not None
    assert long.low < 0.1 < long.high
    one = headline(compare(scores(1, 0.6), scores(1, 0.5), Scoring()))
    assert (one.test.p, one.low) == (1.0, None)


@given(
    st.lists(st.tuples(st.floats(-1.7e308, 1.7e308), st.floats(-1.7e308, 1.7e308)), min_size=1, max_size=8),
    st.dictionaries(st.sampled_from(["task-0", "task-1", "task-2"]), st.floats(1e-300, 1e300)),
)
def test_figures_at_the_limits_of_a_float(
    pairs: list[tuple[float, float]], weights: dict[str, float]
) -> None:
    rules = Scoring(
        score_range=(-1.7e308, 1.7e308),
        success_threshold=None,
        task_weights=weights,
        min_tasks_for_interval=2,
    )
    a, b = entry([x for x, _ in pairs]), entry([y for _, y in pairs])
    a |= {name: replace(score, spread=1e200) for name, score in a.items()}
    found = headline(compare(a, b, rules))
    assert math.isfinite(found.value)
    assert 0 < found.test.p <= 1
    assert not math.isnan(found.low or 0)
    assert rank_ranges([a, b], rules)[0][0] == 1
