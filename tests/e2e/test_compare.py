"""Setting entries beside each other in a browser: from the board to the Trials where two differ."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import BOARD, LONG, OpenPage, Site
from tests.e2e.test_pages import PHONE, check

GRID = f"{BOARD}/grid"
ODD = "/projects/odd/benchmarks/odd-bench@1.0.0"


def choose(page: Page, baseline: str, *others: str) -> None:
    page.goto(f"{BOARD}/compare")
    page.get_by_label("Baseline").select_option(label=baseline)
    for other in others:
        page.get_by_label(other, exact=True).check()
    page.get_by_role("main").get_by_role("button", name="Compare").click()


def test_from_the_board_to_the_trials_where_two_differ(reader: Page) -> None:
    reader.goto(BOARD)
    reader.get_by_role("main").get_by_role("link", name="Compare", exact=True).click()
    choose(reader, "1 steady", "2 quick")
    expect(reader.get_by_role("heading", level=1)).to_have_text("steady compared with quick")
    expect(reader.get_by_text("steady is better than quick by 48.1 points")).to_be_visible()
    bar = reader.locator("figure.difference").get_by_role("img")
    expect(bar).to_have_accessible_name(re.compile(r"^\+48\.1, interval \+24\.2 to \+71\.9$"))
    box = reader.get_by_role("region", name="Tasks where steady and quick differ")
    expect(box.locator("tbody tr")).to_have_count(8)
    box.locator("tbody tr").first.locator("td a").first.click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("Agent steady, Task tech-webhook-retries")
    expect(reader.get_by_role("heading", level=1)).to_contain_text("2 Trials")


def test_several_are_adjusted_and_the_unranked_one_is_named(reader: Page) -> None:
    choose(reader, "1 steady", "2 quick", "3 rambler", "– wobbly")
    expect(reader.get_by_text("adjusted for 3 comparisons by Holm's method")).to_be_visible()
    expect(reader.get_by_role("heading", name="Not every entry here is ranked")).to_be_visible()
    expect(
        reader.get_by_role("region", name="Differences from the baseline").locator("tbody tr")
    ).to_have_count(3)
    check(reader)


def test_neighbours_that_cannot_be_told_apart_lead_to_their_comparison(reader: Page) -> None:
    reader.goto(BOARD)
    mark = reader.get_by_role("row", name="quick").get_by_role("link", name="≈ 3")
    expect(mark).to_have_attribute("title", re.compile("Can't be told apart from rambler"))
    expect(reader.get_by_role("row", name="steady").locator(".alike")).to_have_count(0)
    mark.click()
    expect(reader.locator(".pair-verdict")).to_have_text(
        "quick and rambler can't be told apart on these Tasks."
    )
    expect(reader.get_by_text("doesn't say that they are equal")).to_be_visible()


def test_the_grid_sorts_filters_and_leads_to_trials(reader: Page) -> None:
    reader.goto(BOARD)
    reader.get_by_role("link", name="Tasks × Agents").click()
    reader.get_by_role("link", name="Hardest first").click()
    expect(reader).to_have_url(re.compile("sort=difficulty"))
    expect(reader.locator("th[aria-sort=ascending]")).to_contain_text("Mean")
    means = reader.locator(".grid tbody:not(.whole) tr td:nth-last-child(2)").all_inner_texts()
    assert [float(mean) for mean in means] == sorted(float(mean) for mean in means)
    reader.get_by_role("link", name="Technical").click()
    expect(reader.get_by_role("row", name="Score on Technical")).to_be_visible()
    expect(reader.locator(".grid tbody:not(.whole) tr")).to_have_count(4)
    head = reader.get_by_role("columnheader", name="rambler").get_by_role("link", name="rambler", exact=True)
    head.focus()
    reader.keyboard.press("Enter")
    expect(reader.locator("th[aria-sort]")).to_contain_text("rambler")
    cell = reader.get_by_role("row", name="tech-webhook-retries").get_by_role("link", name="0.0", exact=True)
    cell.click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("Task tech-webhook-retries")


def test_scores_of_the_grid_are_those_of_the_board(reader: Page) -> None:
    reader.goto(BOARD)
    scores = reader.locator("tbody.entry > tr:first-child > td:nth-child(3)").all_inner_texts()
    reader.goto(GRID)
    assert reader.locator(".grid .whole td a").all_inner_texts() == scores


def test_on_a_phone_the_task_stays_while_agents_scroll_by(open_page: OpenPage, site: Site) -> None:
    page = open_page(site.reader, viewport=PHONE, java_script_enabled=False)
    page.goto(GRID)
    box = page.get_by_role("region", name="Tasks and Agents")
    task = box.locator("tbody:not(.whole) th").first
    before = task.bounding_box()
    box.evaluate("box => { box.scrollLeft = 200 }")
    assert task.bounding_box() == before
    page.get_by_role("link", name="Most disagreement").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Disagreement")
    choose(page, "1 steady", "2 quick")
    expect(page.locator(".pair-verdict")).to_contain_text("steady is better than quick")


PAGES = {
    "choose": f"{BOARD}/compare",
    "grid": GRID,
    "category": f"{GRID}?category=billing&sort=-disagreement",
    "untracked grid": f"{GRID}?track=none",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_in_both_themes(reader: Page, name: str) -> None:
    reader.goto(PAGES[name])
    expect(reader.get_by_role("heading", level=1)).to_have_count(1)
    check(reader)


def test_odd_names_and_ranges(open_page: OpenPage, site: Site) -> None:
    page = open_page(site.stranger)
    page.goto(f"{ODD}/grid?track=none")
    expect(page.get_by_role("columnheader", name=LONG)).to_be_visible()
    check(page)
    page.goto(f"{ODD}/compare?track=none")
    page.get_by_label("Baseline").select_option(index=0)
    page.get_by_label(f"– {LONG}").check()
    page.get_by_role("main").get_by_role("button", name="Compare").click()
    expect(page.get_by_text("Too few Tasks differ to tell: 2 Tasks differ")).to_be_visible()
    check(page)
