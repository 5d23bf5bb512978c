"""The public Hub as a stranger finds it: find, read, check, cite. With script and without."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

from tests.e2e.conftest import NewContext, OpenPage, Site
from tests.e2e.test_board import is_same_document, mark
from tests.e2e.test_decide import plot
from tests.e2e.test_pages import DESK, PHONE, THEMES

TRIAGE = "/hub/desk/support-triage"
FIRST = f"{TRIAGE}/releases/1.0.0"


@pytest.fixture(scope="module", autouse=True)
def _published(site: Site) -> None:
    site.manage("shell", "-c", "from tests.e2e.published import publish; publish()")


@pytest.fixture
def stranger(open_page: OpenPage) -> Page:
    return open_page(None)


def ranked(page: Page) -> list[str]:
    page.wait_for_load_state()
    return page.locator("tbody.entry:not(.unranked) th.agent > a").all_inner_texts()


def test_a_stranger_finds_reads_and_checks(stranger: Page) -> None:
    stranger.goto("/hub")
    stranger.get_by_role("searchbox", name="Find").fill("ticket")
    stranger.get_by_role("button", name="Search").click()
    expect(stranger).to_have_url(re.compile(r"/hub\?q=ticket"))
    stranger.get_by_role("link", name="Support triage", exact=True).click()
    expect(stranger.get_by_role("heading", level=1)).to_contain_text("1.1.0")
    stranger.get_by_text("Releases", exact=True).first.click()
    stranger.get_by_role("link", name="1.0.0", exact=True).first.click()
    expect(stranger.get_by_role("heading", name="Release 1.1.0 is newer")).to_be_visible()
    assert ranked(stranger) == ["steady", "rambler"]
    stranger.get_by_role("link", name="steady", exact=True).first.click()
    expect(stranger.get_by_role("heading", level=1)).to_contain_text("steady")
    expect(stranger.get_by_text("plural run --benchmark support-triage@1.0.0")).to_be_visible()
    stranger.get_by_role("link", name="Permanent address").click()
    expect(stranger).to_have_url(re.compile(r"/manifests/sha256:[0-9a-f]{64}/results/"))
    stranger.goto(FIRST)
    stranger.get_by_role("link", name="Verify", exact=True).click()
    expect(stranger.get_by_role("heading", name=re.compile(r"^All \d+ checks hold\.$"))).to_be_visible()


def test_sorting_and_filters_swap_the_board_alone(stranger: Page) -> None:
    stranger.goto(FIRST)
    mark(stranger)
    stranger.get_by_role("columnheader", name="Cost").get_by_role("link").click()
    expect(stranger).to_have_url(re.compile("sort=cost$"))
    expect(stranger.locator("th[aria-sort=ascending]")).to_contain_text("Cost")
    assert ranked(stranger) == ["rambler", "steady"]
    stranger.get_by_text("Filters", exact=True).click()
    stranger.locator("#filter-provenance").select_option("plural_executed")
    stranger.get_by_role("button", name="Apply").last.click()
    expect(stranger).to_have_url(re.compile("provenance=plural_executed"))
    expect(stranger.get_by_text("results that are plural-executed")).to_be_visible()
    assert ranked(stranger) == ["rambler"] and is_same_document(stranger)
    stranger.get_by_role("link", name="Clear filters").click()
    expect(stranger.locator("tbody.entry:not(.unranked)")).to_have_count(2)


def test_the_chart_is_drawn_from_the_manifest(stranger: Page) -> None:
    stranger.goto(FIRST)
    plot(stranger)
    expect(stranger.locator(".plot .annotation-text")).to_have_text(["steady", "rambler"])


def test_categories_and_choice_say_what_the_costs_are_of(stranger: Page) -> None:
    stranger.goto(FIRST)
    stranger.get_by_role("link", name="Categories", exact=True).first.click()
    expect(stranger.get_by_text("Cost and time are public for the whole release only").first).to_be_visible()
    stranger.get_by_label("At least").fill("50")
    stranger.get_by_role("button", name="Choose").click()
    expect(stranger.locator(".chooser .pick")).to_contain_text("steady")


def test_everything_works_without_script(open_page: OpenPage) -> None:
    page = open_page(None, java_script_enabled=False)
    page.goto("/hub")
    page.get_by_role("link", name=re.compile("^Apache-2.0")).click()
    expect(page).to_have_url(re.compile("licence=Apache-2.0"))
    page.get_by_role("link", name="Support triage", exact=True).click()
    page.get_by_role("link", name="History", exact=True).first.click()
    page.get_by_label("From").select_option(index=5)
    page.get_by_label("To").select_option(index=1)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("What changed in Support triage")
    expect(page.get_by_role("region", name="What changed")).to_contain_text("Ran on the wrong policy text.")


def test_a_reference_that_leads_nowhere_is_kept_in_its_form(new_context: NewContext) -> None:
    """The browser logs the status 404, so the console is not watched."""
    page = new_context().new_page()
    page.goto("/hub/resolve")
    page.get_by_label("Reference").fill("plural:benchmark/x@1.0.0#sha256:" + "0" * 64)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing published here has this digest.")
    expect(page.get_by_label("Reference")).to_have_value(re.compile("^plural:benchmark/x"))


def test_a_withdrawn_publication_says_who_when_and_why(new_context: NewContext) -> None:
    """The browser logs the status 410, so the console is not watched."""
    stranger = new_context().new_page()
    stranger.goto("/hub?withdrawn=1")
    stranger.get_by_role("link", name=re.compile("Gone")).click()
    expect(stranger.get_by_role("alert")).to_contain_text("by Ann: The Tasks were not ours.")
    expect(stranger.get_by_role("heading", name="What is kept")).to_be_visible()
    expect(stranger.locator("table.board")).to_have_count(0)
    stranger.get_by_role("link", name="Manifest 1", exact=True).click()
    expect(stranger.locator("table.board")).to_have_count(1)
    expect(stranger.get_by_role("heading", name="Release 1.0.0 was withdrawn")).to_be_visible()


def test_public_and_private_pages_look_unlike(open_page: OpenPage, site: Site) -> None:
    page = open_page(site.reader)
    page.goto(TRIAGE)
    expect(page.get_by_text("Anybody can read this page.")).to_be_visible()
    public = page.evaluate("getComputedStyle(document.body).borderInlineStart")
    page.goto("/projects/demo")
    expect(page.get_by_text("private to this project")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).borderInlineStart") != public


PAGES = (
    "/hub",
    "/hub?q=zzz",
    "/hub?withdrawn=1&kind=models",
    TRIAGE,
    f"{FIRST}?view=categories&floor=50",
    f"{TRIAGE}/history",
    f"{TRIAGE}/diff",
    f"{TRIAGE}/results/res_rambler_again",
    f"{TRIAGE}/results/res_quick_controlled@1.0.0",
    "/hub/desk/gone",
    "/hub/resolve?ref=nothing",
)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_every_page_is_accessible_and_fits(new_context: NewContext, size: ViewportSize, theme: str) -> None:
    """Some of these are errors, which the browser logs, so the console is not watched."""
    page = new_context(viewport=size, color_scheme=theme).new_page()
    page.goto(FIRST)
    manifest = page.get_by_role("link", name="Permanent address").get_attribute("href")
    for path in (*PAGES, manifest, f"{manifest}/verify"):
        page.goto(path or "")
        page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], path
        found = Axe().run(page)
        assert found.violations_count == 0, f"{path}\n{found.generate_report()}"


def test_a_printed_page_names_the_manifest(stranger: Page) -> None:
    stranger.goto(TRIAGE)
    stranger.emulate_media(media="print")
    reference = "plural:benchmark/support-triage@1.1.0#sha256:"
    expect(stranger.locator(".print-only").filter(has_text=reference)).to_be_visible()
    expect(stranger.locator(".hub-search")).to_be_hidden()
