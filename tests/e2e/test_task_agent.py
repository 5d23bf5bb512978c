"""A Task's page and an Agent's page: the ways to them, and how they look on a desk and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.builders import AgentSpec, BenchmarkSpec, make_job, track
from tests.e2e.conftest import BOARD, LONG, OpenPage, Site
from tests.e2e.test_pages import PHONE, check

PROJECT = "/projects/demo"
WIDE = {"width": 1280, "height": 900}


@pytest.fixture(scope="session")
def eight(site: Site, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of a Task with eight attempts of two Agents, one with a name that is too long."""
    folder = tmp_path_factory.mktemp("eight")
    make_job(
        folder,
        benchmark=BenchmarkSpec(name="Eight", slug="eight", tracks=(track(attempts=8),)),
        agents=[AgentSpec(name="short"), AgentSpec(name=LONG, model="sim/" + "m" * 80)],
        attempts=8,
        outcomes=lambda agent, task, attempt: attempt % 2,
        track_id="open",
    )
    site.manage("import_jobs", str(folder), "--project", "odd")
    return "/projects/odd/benchmarks/eight@1.0.0/tasks/1"


def tops(page: Page) -> list[int]:
    """How far down each attempt of the first Agent stands."""
    cells = page.locator(".attempts tbody tr").first.locator(".cell")
    return [round((cell.bounding_box() or {"y": -1})["y"]) for cell in cells.all()]


def test_eight_attempts_fit_on_a_desk_and_wrap_on_a_phone(
    open_page: OpenPage, site: Site, eight: str
) -> None:
    page = open_page(site.stranger)
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    page.goto(eight)
    assert len(tops(page)) == 8 and len(set(tops(page))) == 1
    box = page.get_by_role("region", name="Attempts by Agent")
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    page.set_viewport_size(PHONE)
    assert len(tops(page)) == 8 and 1 < len(set(tops(page))) <= 8
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    check(page)


def from_the_grid(page: Page) -> None:
    page.goto(f"{BOARD}/grid?track=open@1.0.0")
    page.get_by_role("rowheader").get_by_role("link", name="bill-proration", exact=True).click()


def from_the_benchmark(page: Page) -> None:
    page.goto(f"{PROJECT}/benchmarks/support-triage?revision=1")
    page.get_by_role("region", name="Tasks").get_by_role("link", name="bill-proration").click()


@pytest.mark.parametrize("way", [from_the_grid, from_the_benchmark])
def test_the_ways_to_a_task(reader: Page, way: Callable[[Page], None]) -> None:
    way(reader)
    expect(reader.get_by_role("heading", level=1)).to_contain_text("bill-proration Task 2 of 10")
    if way is from_the_grid:
        expect(reader.get_by_role("link", name="Open systems")).to_have_attribute("aria-current", "page")
    expected = reader.get_by_text("proration line looks strange")
    expect(expected).to_be_hidden()
    reader.get_by_text("Expected answer, State").click()
    expect(expected).to_be_visible()
    reader.get_by_role("link", name="Next Task").click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("Task 3 of 10")
    reader.locator(".cell").first.click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("bill-refund-window")


def test_the_ways_to_an_agent(reader: Page) -> None:
    reader.goto(BOARD)
    row = reader.locator("tbody.entry").first
    row.locator("summary").click()
    row.get_by_role("link", name="Page of this Agent").click()
    heading = reader.get_by_role("heading", level=1)
    expect(heading).to_contain_text("steady")
    address = reader.url
    assert re.search(r"/projects/demo/agents/[0-9a-f]{12}$", address)
    reader.goto(f"{BOARD}/grid")
    reader.get_by_role("link", name="Agent steady").click()
    expect(reader).to_have_url(address)
    reader.get_by_role("navigation", name="Project").get_by_role("link", name="Agents").click()
    reader.get_by_label("Find").fill("stead")
    reader.get_by_label("Find").press("Enter")
    reader.get_by_role("link", name="steady", exact=True).click()
    expect(reader).to_have_url(address)
    reader.get_by_role("region", name="Entries on leaderboards").get_by_role(
        "link", name="Support Triage 1.0.0"
    ).first.click()
    expect(reader).to_have_url(re.compile("#entry-"))


@pytest.mark.parametrize("name", ["task", "untracked task", "agents", "agent", "alike"])
def test_the_pages_are_accessible(reader: Page, name: str) -> None:
    if name.endswith("task"):
        reader.goto(f"{BOARD}/tasks/10{'?track=none' if name != 'task' else ''}")
    else:
        reader.goto(f"{PROJECT}/agents")
        if name != "agents":
            wanted = "sleeper" if name == "alike" else "playbook"
            reader.get_by_role("link", name=wanted, exact=True).click()
            reader.wait_for_url("**/agents/*")
    expect(reader.get_by_role("heading", level=1)).to_have_count(1)
    check(reader)


def test_long_names_do_not_widen_the_pages(open_page: OpenPage, site: Site, eight: str) -> None:
    page = open_page(site.stranger)
    for path in ("/projects/odd/agents", f"/projects/odd/agents?q={LONG[:40]}"):
        page.goto(path)
        check(page)
    page.locator("tbody th a").first.click()
    page.wait_for_url("**/agents/*")
    check(page)


def test_paths_of_the_machine_are_nowhere(reader: Page, site: Site, eight: str) -> None:
    folder = Path(__file__).parents[2].as_posix()
    reader.goto(f"{PROJECT}/agents")
    for href in [link.get_attribute("href") for link in reader.locator("tbody th a").all()]:
        reader.goto(str(href))
        assert folder not in reader.content() and "/tmp/" not in reader.content()  # noqa: S108
