"""Which files are of which kind, and which Jobs have outlived a rule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.types import DomainError
from jobs.domain.file_kinds import REMOVABLE, FileKind, kind_of
from jobs.domain.retention import JobAge, Rule, outlived, parse_rule

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
KINDS = tuple(kind.value for kind in REMOVABLE)


@pytest.mark.parametrize(
    ("path", "role", "kind"),
    [
        ("result.json", "", FileKind.RECORDS),
        ("receipt.json", "", FileKind.RECORDS),
        ("receipt.json", "result", FileKind.RECORDS),
        ("artifacts/manifest.json", "", FileKind.RECORDS),
        ("artifacts/manifest.json", "trajectory", FileKind.RECORDS),
        ("reviews/tone/result.json", "", FileKind.RECORDS),
        ("reviews/tone/trajectory.json", "", FileKind.RECORDS),
        ("something.new", "", FileKind.RECORDS),
        ("logs/stdout.log", "", FileKind.LOGS),
        ("artifacts/atif-trajectory.json", "", FileKind.TRAJECTORIES),
        ("artifacts/episode.jsonl", "", FileKind.TRAJECTORIES),
        ("artifacts/deep/sub-Trajectory-2.JSONL", "", FileKind.TRAJECTORIES),
        ("artifacts/steps.bin", "episode", FileKind.TRAJECTORIES),
        ("artifacts/result.json", "result", FileKind.ARTIFACTS),
        ("artifacts/shot.png", "", FileKind.ARTIFACTS),
        ("artifacts/logs/x.log", "", FileKind.ARTIFACTS),
    ],
)
def test_files_are_known_by_their_names(path: str, role: str, kind: FileKind) -> None:
    assert kind_of(path, role) is kind


def ages() -> st.SearchStrategy[list[JobAge]]:
    moments = st.integers(0, 400).map(lambda days: NOW - timedelta(days=days))
    made = st.builds(
        JobAge,
        key=st.just(0),
        group=st.integers(1, 3),
        started_at=moments,
        came_at=moments,
        is_open=st.booleans(),
    )
    return st.lists(made, max_size=30).map(
        lambda jobs: [
            JobAge(key, job.group, job.started_at, job.came_at, job.is_open) for key, job in enumerate(jobs)
        ]
    )


@given(ages(), st.none() | st.integers(1, 300), st.none() | st.integers(1, 8))
def test_nothing_young_new_or_open_goes(jobs: list[JobAge], days: int | None, newest: int | None) -> None:
    if days is None and newest is None:
        return
    going = set(outlived(Rule(days, newest, KINDS), jobs, NOW))
    for job in jobs:
        newer = [
            other
            for other in jobs
            if other.group == job.group and (other.started_at, other.key) > (job.started_at, job.key)
        ]
        is_young = days is not None and job.came_at >= NOW - timedelta(days=days)
        is_new = newest is not None and len(newer) < newest
        assert (job.key in going) == (not (job.is_open or is_young or is_new))


@given(ages(), st.integers(1, 300), st.integers(1, 8))
def test_a_looser_bound_never_takes_more(jobs: list[JobAge], days: int, newest: int) -> None:
    going = set(outlived(Rule(days, newest, KINDS), jobs, NOW))
    assert going <= set(outlived(Rule(days, None, KINDS), jobs, NOW))
    assert going <= set(outlived(Rule(None, newest, KINDS), jobs, NOW))
    assert set(outlived(Rule(days + 1, newest + 1, KINDS), jobs, NOW)) <= going


def test_form_becomes_a_rule() -> None:
    assert parse_rule(" 30 ", "", ["logs", "trajectories", "records"]) == Rule(
        30, None, ("trajectories", "logs")
    )
    assert parse_rule("", "5", ["artifacts"]) == Rule(None, 5, ("artifacts",))


@pytest.mark.parametrize(
    ("days", "newest", "kinds", "message"),
    [
        ("", "", ["logs"], "how long"),
        ("0", "", ["logs"], "days has to be"),
        ("-1", "", ["logs"], "days has to be"),
        ("1.5", "", ["logs"], "days has to be"),
        ("٣", "", ["logs"], "days has to be"),
        ("1" * 500, "", ["logs"], "days has to be"),
        ("36501", "", ["logs"], "from 1 to 36500"),
        ("", "x", ["logs"], "newest Jobs has to be"),
        ("1", "", [], "at least one kind"),
        ("1", "", ["records"], "at least one kind"),
    ],
)
def test_form_that_makes_no_rule_says_why(days: str, newest: str, kinds: list[str], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        parse_rule(days, newest, kinds)
