"""What pages cost: an exact number of queries, the same with more of everything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.template.base import Template
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs.models import Job, Trial
from plural_site.accounts.actions import create_project, set_project_member
from plural_site.accounts.models import Project, ProjectRole, User
from tests.builders import START, AgentSpec, BenchmarkSpec, category, make_job, track
from tests.importing import bring

if TYPE_CHECKING:
    from tests.conftest import ClientAs

SESSION, PROJECT = 2, 1
"""Session and person; the project with the person's role in it."""
SELECTED = 2
"""The Benchmark, and the revision with its release."""


def release(version: str, tasks: int) -> BenchmarkSpec:
    names = tuple(f"task-{n}" for n in range(tasks))
    return BenchmarkSpec(
        version=version,
        tasks=names,
        purpose=f"What {version} is for.",
        categories=(category("all", *names), category("some", names[0])),
        tracks=(track(), track("other")),
    )


def record(project: Project, store: Path, version: str, *, jobs: int, agents: int, tasks: int) -> None:
    for number in range(jobs):
        make_job(
            store,
            benchmark=release(version, tasks),
            agents=[AgentSpec(name=f"agent-{n}", model=f"sim/{n}") for n in range(agents)],
            track_id="open",
            key=f"{version} {number}",
            started=START + timedelta(hours=number),
        )
    bring(project, store)


PAGES = {
    "/": SESSION + 1,
    "/projects/triage": SESSION + PROJECT + 3 + 3,
    "/projects/triage/benchmarks/demo-bench": SESSION + PROJECT + SELECTED + 9 + 3,
    "/projects/triage/benchmarks/demo-bench/revisions/1/release": SESSION + PROJECT + SELECTED + 4,
    "/projects/triage/benchmarks/demo-bench/updates": SESSION + PROJECT + SELECTED + 3,
    "/projects/triage/benchmarks/demo-bench/compare-releases?from=1&to=1": SESSION + PROJECT + 1 + 3 + 2,
    "/projects/triage/benchmarks/demo-bench@1.0.0/tasks/1": SESSION + PROJECT + SELECTED + 3 + 2 + 6,
    "/projects/triage/agents": SESSION + PROJECT + 4,
    "/projects/triage/agents/{agent}": SESSION + PROJECT + 15 + 2,
    "/projects/triage/benchmarks/demo-bench@1.0.0": SESSION + PROJECT + SELECTED + 3 + 2 + 1 + 1,
    "/projects/triage/benchmarks/demo-bench@1.0.0?view=categories": (
        SESSION + PROJECT + SELECTED + 3 + 2 + 1 + 1
    ),
    "/projects/triage/benchmarks/demo-bench@1.0.0/compare": SESSION + PROJECT + SELECTED + 3 + 2,
    "/projects/triage/benchmarks/demo-bench@1.0.0/compare?a={agent}&b={other}": (
        SESSION + PROJECT + SELECTED + 3 + 2 + 2
    ),
    "/projects/triage/benchmarks/demo-bench@1.0.0/grid?category=all": SESSION
    + PROJECT
    + SELECTED
    + 3
    + 2
    + 2,
    "/projects/triage/benchmarks/demo-bench@1.0.0/grid?sort=-disagreement": (
        SESSION + PROJECT + SELECTED + 3 + 2 + 2
    ),
    "/projects/triage/benchmarks/demo-bench@1.0.0/chart.json?floor=50": SESSION + PROJECT + SELECTED + 3 + 2,
    "/projects/triage/benchmarks/demo-bench@1.0.0/proof?entry={agent}&figure=rank": (
        SESSION + PROJECT + SELECTED + 3 + 2 + 4 + 5
    ),
    "/projects/triage/benchmarks/demo-bench@1.0.0/proof?entry={agent}&figure=score&category=some": (
        SESSION + PROJECT + SELECTED + 3 + 2 + 4 + 5
    ),
    "/projects/triage/jobs": SESSION + PROJECT + 3 + 2,
    "/projects/triage/jobs?benchmark=demo-bench&revision=1": SESSION + PROJECT + SELECTED + 3 + 2,
    "/projects/triage/jobs/{job}/search": SESSION + PROJECT + 3 + 1,
    "/projects/triage/benchmarks/demo-bench@1.0.0/search": SESSION + PROJECT + SELECTED + 3 + 1,
    "/projects/triage/jobs/{job}": SESSION + PROJECT + 3 + 1 + 2 + 4 + 2 + 2,
    "/projects/triage/jobs/{job}?task=t&sort=-cost": SESSION + PROJECT + 3 + 1 + 2 + 6 + 2 + 2,
    "/projects/triage/jobs/{job}/live": SESSION + PROJECT + 3 + 1 + 2 + 4 + 2,
    "/projects/triage/jobs/{job}/set-aside": SESSION + PROJECT + 3,
    "/projects/triage/imports": SESSION + PROJECT + 1,
    "/projects/triage/imports/new": SESSION + PROJECT + 3,
    "/projects/triage/imports/{run}": SESSION + PROJECT + 2,
    "/projects/triage/imports/{run}/live": SESSION + PROJECT + 2,
    "/projects/triage/imports/{run}/undo": SESSION + PROJECT + 9 + 4,
    "/projects/triage/storage": SESSION + PROJECT + 6,
    "/projects/triage/trials": SESSION + PROJECT + 6,
    "/projects/triage/trials?benchmark=demo-bench&revision=1&track=open@1.0.0": SESSION
    + PROJECT
    + SELECTED
    + 6,
    "/projects/triage/trials/{trial}": SESSION + PROJECT + 2 + 1 + 1 + 5 + 3,
    "/projects/triage/trials/{trial}?execution=0": SESSION + PROJECT + 2 + 1 + 1 + 5 + 3,
    "/projects/triage/trials/{trial}/receipt": SESSION + PROJECT + 2 + 1,
    "/projects/triage/trials/{trial}/executions/0/files/result.json": SESSION + PROJECT + 2,
    "/api/v1/benchmarks/demo-bench/revisions/1.0.0/leaderboard?project=triage": SESSION
    + PROJECT
    + SELECTED
    + 5,
    "/api/v1/benchmarks/demo-bench/revisions/1.0.0/leaderboard?project=triage&tasks=1": (
        SESSION + PROJECT + SELECTED + 5
    ),
}


def filled(path: str, project: Project) -> str:
    job = Job.objects.filter(project=project).earliest("pk")
    agents = [agent.configuration.content_hash.removeprefix("sha256:")[:12] for agent in job.agents.all()]
    return path.format(
        job=job.client_job_id,
        run=job.added_by_id,
        trial=Trial.objects.filter(job=job).earliest("pk").client_trial_id,
        agent=agents[0],
        other=agents[1],
    )


def counts(browser: Client, project: Project) -> dict[str, int]:
    found = {}
    for path in PAGES:
        address = filled(path, project)
        with CaptureQueriesContext(connection) as captured:
            response = browser.get(address)
        assert response.status_code == 200, path
        found[path] = len(captured)
    return found


def test_pages_cost_the_same_with_more_of_everything(
    project: Project, ann: User, client_as: ClientAs, tmp_path: Path
) -> None:
    second = create_project(actor=ann, account=project.account, slug="second")
    browser = client_as(ann)
    record(project, tmp_path / "1", "1.0.0", jobs=2, agents=2, tasks=2)
    before = counts(browser, project)
    assert before == PAGES, before
    record(project, tmp_path / "2", "1.0.0", jobs=4, agents=3, tasks=2)
    record(project, tmp_path / "3", "2.0.0", jobs=2, agents=2, tasks=5)
    record(project, tmp_path / "4", "3.0.0", jobs=1, agents=2, tasks=6)
    for slug in ("third", "fourth"):
        more = create_project(actor=ann, account=project.account, slug=slug)
        set_project_member(actor=ann, project=more, user=ann, role=ProjectRole.MANAGER, may_publish=False)
    assert second.slug == "second"
    assert counts(browser, project) == before


@contextmanager
def no_queries() -> Iterator[None]:
    def refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> None:
        raise AssertionError(f"a template asks the database: {sql}")

    with connection.execute_wrapper(refuse):
        yield


def test_templates_render_without_queries(
    project: Project, ann: User, client_as: ClientAs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_project(actor=ann, account=project.account, slug="second")
    record(project, tmp_path / "1", "1.0.0", jobs=2, agents=2, tasks=2)
    rendered = []
    render = Template.render

    def watched(template: Template, context: Any) -> Any:
        rendered.append(template.name)
        if (request := context.get("request")) is not None:
            request.user.is_authenticated  # noqa: B018 - who asks is known before any page is drawn
        with no_queries():
            return render(template, context)

    monkeypatch.setattr(Template, "render", watched)
    browser = client_as(ann)
    for path in [*PAGES, "/projects/no-such"]:
        browser.get(filled(path, project))
    pages = {name for name in rendered if name and "/_" not in name}
    assert pages >= {
        "jobs/project.html",
        "jobs/board.html",
        "jobs/compare.html",
        "jobs/compare_releases.html",
        "jobs/grid.html",
        "jobs/proof.html",
        "jobs/task.html",
        "jobs/agent.html",
        "jobs/agents.html",
        "jobs/jobs.html",
        "jobs/imports.html",
        "jobs/import.html",
        "jobs/import_new.html",
        "jobs/import_undo.html",
        "jobs/search.html",
        "jobs/storage.html",
        "jobs/job.html",
        "jobs/trials.html",
        "jobs/trial.html",
        "jobs/receipt.html",
        "benchmarks/benchmark.html",
        "benchmarks/release.html",
        "benchmarks/updates.html",
        "accounts/home.html",
        "errors/404.html",
    }
