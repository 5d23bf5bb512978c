"""Benchmarks are told apart by their slug, also where they hold the same content."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.models import Resource
from jobs.imports import import_path
from jobs.models import Job, Tally
from plural_site.accounts.models import Project
from tests.builders import AgentSpec, BenchmarkSpec, make_job
from tests.importing import bring

ONE = BenchmarkSpec(slug="bench-one")
TWO = replace(ONE, slug="bench-two")


def benchmarks(project: Project) -> dict[str, list[str]]:
    """Slugs, and the Jobs that ran on each."""
    return {
        resource.slug: sorted(
            Job.objects.filter(revision__resource=resource).values_list("client_job_id", flat=True)
        )
        for resource in Resource.objects.filter(project=project, kind="benchmark")
    }


@pytest.mark.parametrize("together", [True, False])
def test_same_content_of_two_benchmarks_stays_apart(project: Project, tmp_path: Path, together: bool) -> None:
    first = make_job(tmp_path / "jobs", benchmark=ONE, outcomes=lambda agent, task, attempt: 1.0)
    second = make_job(tmp_path / "jobs", benchmark=TWO, key="two", outcomes=lambda agent, task, attempt: 0.0)
    for path in [tmp_path / "jobs"] if together else [first, second]:
        bring(project, path)
    assert benchmarks(project) == {"bench-one": [first.name], "bench-two": [second.name]}
    scores = Tally.objects.filter(scope=Tally.Scope.OVERALL).order_by("revision__resource__slug")
    assert list(scores.values_list("score", flat=True)) == [1.0, 0.0]
    assert import_path(project=project, actor=None, path=tmp_path / "jobs").count("unchanged") == 2


def test_job_that_names_no_benchmark_goes_where_its_content_is(project: Project, tmp_path: Path) -> None:
    named = make_job(tmp_path / "a", benchmark=ONE)
    bring(project, named)
    nameless = make_job(tmp_path / "b", benchmark=ONE, agents=[AgentSpec(name="other")], run_json=False)
    bring(project, nameless)
    assert benchmarks(project) == {"bench-one": sorted([named.name, nameless.name])}
