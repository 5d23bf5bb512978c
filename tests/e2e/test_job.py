"""Jobs in a browser: a page with its own news, the slowest Trial, and a Job that is set aside."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.builders import START, BenchmarkSpec, make_job, track
from tests.e2e.conftest import OpenPage, Site
from tests.e2e.test_pages import check

SPEC = BenchmarkSpec(name="News", slug="news", tasks=("first", "second"), tracks=(track(),))
KILLED, RAMBLER = "job_e86b83ed7eab59004be003a3", "job_0b5ea98804f4685286ce0b32"


@pytest.fixture(scope="module")
def running(site: Site, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A Job as it is now, which is in the stranger's project, and as it will be."""
    folder = tmp_path_factory.mktemp("news")
    now = make_job(
        folder / "now",
        benchmark=SPEC,
        track_id="open",
        started=START + timedelta(days=1),
        outcomes=lambda agent, task, _: 1.0 if task == "first" else None,
        result_json=False,
    )
    later = make_job(folder / "later", benchmark=SPEC, track_id="open", started=START + timedelta(days=1))
    site.manage("import_jobs", str(now), "--project", "odd")
    return now, later


def test_a_running_job_brings_its_news_and_stops_asking(
    site: Site, open_page: OpenPage, running: tuple[Path, Path]
) -> None:
    page = open_page(site.stranger)
    page.goto(f"/projects/odd/jobs/{running[0].name}")
    status = page.locator("#job-status")
    expect(status).to_have_text("No result yet")
    looked = page.locator("#job-live > .claim b").inner_text()
    expect(page.locator("#job-live > .claim b")).not_to_have_text(looked, timeout=15_000)
    page.get_by_placeholder("Task’s name").fill("sec")
    site.manage("import_jobs", str(running[1]), "--project", "odd")
    expect(status).to_have_text("Succeeded", timeout=15_000)
    expect(page.locator("#trials-list tbody tr")).to_have_count(2)
    expect(page.get_by_placeholder("Task’s name")).to_have_value("sec")
    expect(page.locator("[hx-trigger]")).to_have_count(0)


def test_without_script_there_is_a_way_to_reload(site: Site, open_page: OpenPage) -> None:
    page = open_page(site.reader, java_script_enabled=False)
    page.goto(f"/projects/demo/jobs/{KILLED}")
    page.get_by_role("link", name="Reload").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("No result yet")


def test_the_slowest_trial_is_two_clicks_away(reader: Page) -> None:
    reader.goto(f"/projects/demo/jobs/{RAMBLER}")
    trials = reader.get_by_role("region", name="Trials")
    trials.get_by_role("link", name="Time").click()
    expect(trials.get_by_role("columnheader", name="Time")).to_have_attribute("aria-sort", "descending")
    seconds = [float(text.split()[0]) for text in trials.locator("tbody td:nth-child(7)").all_inner_texts()]
    assert seconds == sorted(seconds, reverse=True)
    trials.locator("tbody th a").first.click()
    expect(reader).to_have_url(re.compile("/trials/trl_"))


def test_a_job_is_set_aside_and_counts_again(
    site: Site, open_page: OpenPage, running: tuple[Path, Path]
) -> None:
    page = open_page(site.stranger)
    board, job = "/projects/odd/benchmarks/news@1.0.0", f"/projects/odd/jobs/{running[0].name}"
    page.goto(job)
    page.get_by_role("link", name="Set aside…").click()
    page.get_by_label("Reason").fill("The key ran out.")
    page.get_by_role("button", name="Set the Job aside").click()
    expect(page.get_by_role("heading", name=re.compile("^Set aside by"))).to_be_visible()
    page.goto(board)
    page.get_by_role("link", name="1 Job set aside").click()
    row = page.get_by_role("region", name="Jobs").locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("The key ran out.")
    row.get_by_role("link", name=running[0].name).click()
    page.get_by_role("link", name="Let it count again…").click()
    page.get_by_role("button", name="Let the Job count again").click()
    page.goto(board)
    expect(page.get_by_role("link", name="1 Job set aside")).to_have_count(0)


@pytest.mark.parametrize(
    "path", ["", "?q=zzz", f"/{RAMBLER}", f"/{KILLED}", f"/{RAMBLER}/set-aside", f"/{KILLED}/close"]
)
def test_pages_of_jobs_are_accessible_and_fit(path: str, reader: Page) -> None:
    reader.goto(f"/projects/demo/jobs{path}")
    check(reader)
