"""From newer revisions to a release in a browser: what would change, saving it, a version, scores."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import builders
from tests.builders import START, BenchmarkSpec, agents_named, category, make_job, scoring, track
from tests.e2e.conftest import TIMEOUT, NewContext, OpenPage, Sessions, Site
from tests.e2e.test_pages import PHONE, check

TASKS = tuple(f"ticket-{number:02}" for number in range(1, 9))
TEXT = "# Refund\n\n" + "\n".join(f"{number}. Rule {number} of the desk." for number in range(1, 30))
README = (
    "from benchmarks.models import Resource; "
    "Resource.objects.filter(slug='help-desk').update(readme='# Desk')"
)
Desk = Callable[[str], str]


def score(agent: str, task: str, _attempt: int) -> float:
    return 1.0 if agent == "alpha" or task in TASKS[:5] else 0.0


@pytest.fixture
def desk(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Makes a project of the stranger's with two revisions of a Benchmark, of which newer parts came in."""

    def made(slug: str) -> str:
        rules = {"tracks": (track(),), "scoring": scoring()}
        groups = (category("all", *TASKS[1:]),)
        old = BenchmarkSpec(
            name="Help desk",
            slug="help-desk",
            tasks=TASKS,
            task_text={TASKS[1]: TEXT},
            categories=groups,
            **rules,  # type: ignore[arg-type]
        )
        new = BenchmarkSpec(
            name="Help desk",
            slug="help-desk",
            tasks=(TASKS[2], *TASKS[1:2], *TASKS[3:], "ticket-09"),
            task_text={TASKS[1]: TEXT.replace("Rule 9 ", "Rule nine ")},
            categories=groups,
            **rules,  # type: ignore[arg-type]
        )
        jobs = tmp_path / slug
        for number, spec in enumerate((old, new)):
            agents = agents_named(("alpha", "beta"))
            started = START + timedelta(days=number)
            make_job(jobs, benchmark=spec, agents=agents, outcomes=score, track_id="open", started=started)
        monkeypatch.setattr(
            builders,
            "ENVIRONMENT",
            {**builders.ENVIRONMENT, "description": "Politely, one question at a time."},
        )
        changed = BenchmarkSpec(task_text={TASKS[3]: "Answer shortly."})
        make_job(jobs, benchmark=changed, single_task=TASKS[3], started=START + timedelta(days=3))
        site.manage("create_project", slug, "--owner", site.stranger.email)
        site.manage("import_jobs", str(jobs), "--project", slug)
        site.manage("shell", "-v0", "-c", README)
        return f"/projects/{slug}/benchmarks/help-desk"

    return made


def test_pages_of_releases_are_accessible(open_page: OpenPage, site: Site, desk: Desk) -> None:
    page, benchmark = open_page(site.stranger), desk("desk-read")
    for path in (
        benchmark,
        f"{benchmark}/updates",
        f"{benchmark}/updates?chosen=1",
        f"{benchmark}/updates/save",
        f"{benchmark}/revisions/2/release",
        f"{benchmark}/compare-releases",
        f"{benchmark}/compare-releases?from=2&to=2",
    ):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        check(page)


def test_from_newer_parts_to_a_release_without_script(
    new_context: NewContext, sessions: Sessions, site: Site, desk: Desk
) -> None:
    """The console is not watched: the browser logs that a form is refused."""
    state = sessions(site.stranger)
    page = new_context(storage_state=state, viewport=PHONE, java_script_enabled=False).new_page()
    page.set_default_timeout(TIMEOUT)
    benchmark = desk("desk-write")
    page.goto(benchmark)
    expect(page.get_by_role("heading", name="1 Task and 1 Environment have newer revisions")).to_be_visible()
    page.get_by_role("link", name="See what would change").click()
    page.get_by_label("desk", exact=True).uncheck()
    page.get_by_role("button", name="Show what would change").click()
    expect(page).to_have_url(re.compile(r"chosen=1&take=[0-9a-f]{10}$"))
    expect(page.get_by_role("heading", name="Tasks updated 1")).to_be_visible()
    page.get_by_label("desk", exact=True).check()
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_role("heading", name="Tasks updated 8")).to_be_visible()
    expect(page.get_by_role("heading", name="Environment desk")).to_be_visible()
    shown = page.locator("code[data-what='the content hash']").inner_text()
    page.get_by_role("link", name="Save as revision 3…").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Save revision 3?")
    expect(page.locator("code[data-what='the content hash']")).to_have_text(shown)
    page.get_by_role("button", name="Save revision 3").click()
    expect(page.locator("p.said")).to_have_text("Revision 3 is saved and current.")
    expect(page.get_by_role("heading", level=1)).to_contain_text("revision 3")
    give_a_version(page)
    page.get_by_role("link", name=re.compile(r"with 1\.1\.0.*revision 1$")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("1.0.0 and 1.1.0 compared")
    expect(page.get_by_role("heading", name="Nothing is comparable")).to_be_visible()


def give_a_version(page: Page) -> None:
    """Asked, refused without the confirmation and with a taken version, then given."""
    page.get_by_role("link", name="Give a version…").first.click()
    expect(page.get_by_label("Version", exact=True)).to_have_value("1.1.0")
    page.get_by_role("button", name="Give the version").click()
    expect(page.get_by_role("alert")).to_contain_text("Confirm that you know")
    page.get_by_label("I know that a version").check()
    page.get_by_label("Version", exact=True).fill("1.0.0")
    page.get_by_role("button", name="Give the version").click()
    expect(page.get_by_role("alert")).to_contain_text("Version 1.0.0 is revision 1, for ever")
    page.get_by_label("I know that a version").check()
    page.get_by_label("Version", exact=True).fill("1.1.0")
    page.get_by_role("button", name="Give the version").click()
    expect(page.locator("p.said")).to_have_text("Revision 3 is version 1.1.0 now.")
    expect(page.get_by_role("heading", level=1)).to_contain_text("1.1.0 · revision 3")


def test_from_the_board_to_scores_on_what_did_not_change(open_page: OpenPage, site: Site, desk: Desk) -> None:
    page, benchmark = open_page(site.stranger), desk("desk-compare")
    page.goto(f"{benchmark}@2")
    page.get_by_text("Releases", exact=True).click()
    page.get_by_role("link", name="Compare releases").click()
    expect(page.get_by_text("6 of the 8 Tasks of revision 2 compare")).to_be_visible()
    box = page.get_by_role("region", name="Agents on both releases")
    row = box.get_by_role("row", name=re.compile("beta"))
    expect(row).to_contain_text("50.0")
    expect(row).to_contain_text("6 of 6 Tasks")
    page.get_by_text("Which Tasks compare, and why the others don’t").click()
    expect(page.get_by_text("They are in revision 2 only")).to_be_visible()
    expect(page.locator(".line-diff ins")).to_contain_text("Rule nine")
    page.get_by_role("link", name="Swap the two").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("revision 2 and 1.0.0 compared")


def test_the_line_that_repeats_a_job_is_copied_whole(reader: Page) -> None:
    reader.goto("/projects/demo/jobs")
    reader.get_by_role("region", name="Jobs").locator("tbody th a").first.click()
    section = reader.locator("section:has(#again)")
    expect(section.locator("pre").first).to_contain_text("plural run --")
    expect(section.get_by_role("button", name="Copy").first).to_be_visible()
