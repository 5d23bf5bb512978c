"""What a version may be, what a release needs, and which version comes next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.releasing import (
    VERSION,
    Candidate,
    ReleaseRefusedError,
    Texts,
    check_release,
    missing,
    suggest_version,
    version_problem,
)

GOOD = Texts(readme="# Desk", purpose="Answers at a desk.", scoring_description="Share of right answers.")
NUMBERED = r"(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})"


def candidate(version: str = "", texts: Texts | None = GOOD, **taken: int) -> Candidate:
    found = {name.removeprefix("v").replace("_", "."): number for name, number in taken.items()}
    return Candidate(number=3, version=version, taken=found, texts=texts)


@pytest.mark.parametrize(
    "version", ["1.0.0", "1.0.0-rc.1+b_2", "v1", "A", "2026.11", "0" * 63 + "a", "1_", "3."]
)
def test_version_of_the_rules_is_taken(version: str) -> None:
    assert version_problem(version) == ""
    check_release(candidate(), version)


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("", "such as 1.0.0"),
        ("3", "digits only"),
        ("007", "digits only"),
        (".1", "starts with"),
        ("-1.0", "starts with"),
        ("1 0", "letters, digits"),
        ("1.0.0\n", "letters, digits"),
        ("1/0", "letters, digits"),
        ("1.0.ä", "letters, digits"),
        ("٣.٤", "letters, digits"),
        ("٣", "letters, digits"),
        ("a" * 65, "64 characters"),
        ("1.0\0", "letters, digits"),
    ],
)
def test_version_against_the_rules_is_refused(version: str, why: str) -> None:
    assert why in version_problem(version)
    with pytest.raises(ReleaseRefusedError, match=why) as refused:
        check_release(candidate(), version)
    assert not refused.value.is_conflict


@given(st.text())
def test_no_version_has_a_problem_unless_the_pattern_refuses_it(text: str) -> None:
    assert (version_problem(text) == "") == bool(VERSION.match(text))


def test_a_version_names_one_revision_and_a_revision_has_one_version() -> None:
    held, released = candidate(v1_0_0=1), candidate("2.0.0")
    for other, words in ((held, "1.0.0 is revision 1"), (released, "as 2.0.0 already")):
        with pytest.raises(ReleaseRefusedError, match=words) as refused:
            check_release(other, "1.0.0")
        assert refused.value.is_conflict
    check_release(candidate("1.0.0", None, v1_0_0=3), "1.0.0")


def test_every_missing_thing_is_said_together_with_a_wrong_version() -> None:
    bare = candidate(texts=Texts(" \n", "", "Score. <!-- PLURAL-TODO: say more -->"))
    readme, purpose, scoring = missing(bare)
    assert readme.startswith("README.md is missing")
    assert purpose.startswith("purpose in benchmark.yaml is missing")
    assert "scoring.description in benchmark.yaml still holds PLURAL-TODO" in scoring
    with pytest.raises(ReleaseRefusedError) as refused:
        check_release(bare, "7")
    assert len(refused.value.problems) == 4
    assert not refused.value.is_conflict


def test_anything_but_a_benchmark_needs_no_texts() -> None:
    check_release(candidate(texts=None), "1.0.0")


@pytest.mark.parametrize(
    ("taken", "minor", "patch"),
    [
        ((), "1.0.0", "1.0.0"),
        (("1.0.0",), "1.1.0", "1.0.1"),
        (("1.9.3", "1.10.0", "0.99.99"), "1.11.0", "1.10.1"),
        (("beta", "2.0.0-rc.1"), "1.0.0", "1.0.0"),
        (("01.0.0", "3.2.1"), "3.3.0", "3.2.2"),
        (("1." + "9" * 60 + ".0",), "", "1." + "9" * 60 + ".1"),
    ],
)
def test_next_version_follows_the_highest(taken: tuple[str, ...], minor: str, patch: str) -> None:
    numbered = {version: number for number, version in enumerate(taken, start=1)}
    assert suggest_version(numbered) == minor
    assert suggest_version(numbered, is_patch=True) == patch


@given(st.sets(st.from_regex(NUMBERED, fullmatch=True)))
def test_next_version_is_free_and_allowed(taken: set[str]) -> None:
    numbered = {version: number for number, version in enumerate(sorted(taken), start=1)}
    for is_patch in (False, True):
        check_release(Candidate(number=0, taken=numbered), suggest_version(numbered, is_patch=is_patch))
