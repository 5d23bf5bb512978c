"""Difficulty of a Task in words, and its place among the Tasks of its release."""

from __future__ import annotations

import pytest

from benchmarks.domain.difficulty import difficulty, mean_score, ordinal, place_words, share


@pytest.mark.parametrize(
    ("mean", "word"),
    [
        (1.0, "very easy"),
        (0.9, "very easy"),
        (0.89, "easy"),
        (0.7, "easy"),
        (0.4, "medium"),
        (0.1, "hard"),
        (0.0999, "very hard"),
        (0.0, "very hard"),
    ],
)
def test_words_go_by_the_place_on_the_range(mean: float, word: str) -> None:
    assert difficulty(mean, 0, 1) == word
    assert difficulty(mean * 40 - 20, -20, 20) == word


def test_rounding_makes_no_task_harder() -> None:
    assert difficulty(0.1 + 0.2 + 0.4, 0, 1) == "easy"
    assert place_words(0.3, [0.3, 0.1 + 0.2], 0, 1) == "as hard as every other of the 2 Tasks"


def test_place_among_the_tasks() -> None:
    means = [0.1, 0.2, 0.2, 0.9]
    assert place_words(0.1, means, 0, 1) == "the hardest of 4 Tasks"
    assert place_words(0.2, means, 0, 1) == "the 2nd hardest of 4 Tasks, with 1 other alike"
    assert place_words(0.9, means, 0, 1) == "the easiest of 4 Tasks"
    assert place_words(0.5, [0.5], 0, 1) == ""
    assert place_words(0.1, [0.1, 0.1, 0.1, 0.5], 0, 1) == "the hardest of 4 Tasks, with 2 others alike"


def test_numbers_in_words() -> None:
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th")
    ]


def test_extreme_scores_stay_finite() -> None:
    assert mean_score([]) is None
    assert mean_score([1.5e308, 1.5e308]) == 1.5e308
    assert share(0.0, -1.7e308, 1.7e308) == 0.5
