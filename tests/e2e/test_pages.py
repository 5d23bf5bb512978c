"""What holds on every page: accessible in both themes, no sideways scroll, no error in the console."""

from __future__ import annotations

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

from tests.e2e.conftest import BOARD, NewContext, OpenPage, Site

PAGES = {
    "project": "/projects/demo",
    "benchmark": "/projects/demo/benchmarks/support-triage",
    "board": BOARD,
    "categories": f"{BOARD}?track=open@1.0.0&view=categories",
    "untracked": f"{BOARD}?track=none",
    "jobs": "/projects/demo/jobs",
    "job": "/projects/demo/jobs > region Jobs",
    "trials": "/projects/demo/trials?benchmark=support-triage",
    "trial": "/projects/demo/trials?benchmark=support-triage > region Trials",
    "failed trial": "/projects/demo/trials?benchmark=support-triage&outcome=agent_failure > region Trials",
}
PLAIN = {
    "sign in": "/sign-in",
    "spent link": "/sign-in/MQ/none-at-all",
    "bad cursor": "/projects/demo/jobs?cursor=rubbish",
    "nothing here": "/projects/demo/nowhere",
}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1440, "height": 900}


def visit(page: Page, way: str) -> None:
    """Goes to an address; "> region NAME" follows the first link of that table."""
    address, _, region = way.partition(" > region ")
    page.goto(address)
    if region:
        page.get_by_role("region", name=region).locator("tbody th a").first.click()
        page.wait_for_load_state()


def check(page: Page) -> None:
    """With everything unfolded."""
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.set_viewport_size(DESK)
    page.evaluate("document.querySelectorAll('main details').forEach((details) => { details.open = true })")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        found = Axe().run(page)
        assert found.violations_count == 0, f"{theme}: {found.generate_report()}"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_a_project(reader: Page, name: str) -> None:
    visit(reader, PAGES[name])
    notice = reader.get_by_role("region", name="About this project")
    expect(notice).to_contain_text("Agents of these Jobs are scripts")
    expect(reader.get_by_role("heading", level=1)).to_have_count(1)
    check(reader)


@pytest.mark.parametrize("path", ["/projects/odd", "/projects/odd/benchmarks/odd-bench@1.0.0"])
def test_a_page_with_odd_names(open_page: OpenPage, site: Site, path: str) -> None:
    page = open_page(site.stranger)
    page.goto(path)
    check(page)


@pytest.mark.parametrize("name", PLAIN)
def test_a_page_outside_of_projects(new_context: NewContext, name: str) -> None:
    """Most of these are errors, which the browser logs, so the console is not watched."""
    page = new_context().new_page()
    page.goto(PLAIN[name])
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    check(page)


@pytest.mark.parametrize("name", ["board", "untracked", "project", "jobs", "trials", "trial"])
def test_no_column_is_cut_off_on_a_desk(reader: Page, name: str) -> None:
    reader.set_viewport_size(DESK)
    visit(reader, PAGES[name])
    for box in reader.locator(".table-box").all():
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_a_theme_stays_chosen(reader: Page) -> None:
    reader.goto(f"{BOARD}?track=none&sort=cost")
    reader.get_by_role("button", name="Dark theme").click()
    expect(reader.locator("html")).to_have_attribute("data-theme", "dark")
    expect(reader.get_by_role("button", name="Dark theme")).to_have_attribute("aria-pressed", "true")
    assert reader.url.endswith(f"{BOARD}?track=none&sort=cost")
    reader.goto("/projects/demo/jobs")
    background = reader.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(20, 23, 28)"
    reader.get_by_role("button", name="Theme of the system").click()
    expect(reader.locator("html")).to_have_attribute("data-theme", "")


def test_paper_shows_the_table_and_the_address(reader: Page) -> None:
    reader.set_viewport_size(DESK)
    reader.goto(BOARD)
    reader.emulate_media(media="print", color_scheme="dark")
    expect(reader.get_by_role("navigation", name="Project")).to_be_hidden()
    expect(reader.get_by_role("button", name="Dark theme")).to_be_hidden()
    expect(reader.locator("footer .print-only")).to_have_text(reader.url)
    assert reader.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert reader.evaluate("getComputedStyle(document.querySelector('.table-box')).overflowX") == "visible"
