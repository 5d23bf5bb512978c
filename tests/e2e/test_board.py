"""Reading the leaderboard, and the way from a number to what stands behind it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import BOARD, LONG, OpenPage, Site

BY_RANK = ["1 steady", "2 quick", "3 rambler"]
CHEAPEST_FIRST = ["2 quick", "3 rambler", "1 steady"]


def ranked(page: Page) -> list[str]:
    """Rank and Agent of each ranked row, from the top, once the page has loaded whole."""
    page.wait_for_load_state()
    rows = page.locator("tbody.entry:not(.unranked) > tr:first-child")
    ranks = rows.locator("td.rank > a:not(.alike)").all_inner_texts()
    agents = rows.locator("th.agent > a").all_inner_texts()
    return [f"{rank} {agent}" for rank, agent in zip(ranks, agents, strict=True)]


def sorted_by(page: Page) -> list[str]:
    """Each column said to be sorted, with its direction, once the page has loaded whole."""
    page.wait_for_load_state()
    heads = page.locator("th[aria-sort]")
    return [
        f"{head.locator('a').inner_text().split()[0]} {head.get_attribute('aria-sort')}"
        for head in heads.all()
    ]


def mark(page: Page) -> None:
    """Sets something that a new page would lose."""
    page.evaluate("window.sameDocument = true")


def is_same_document(page: Page) -> bool:
    return page.evaluate("window.sameDocument === true") is True


def test_from_the_first_page_to_a_file(reader: Page, site: Site) -> None:
    reader.goto("/")
    expect(reader).to_have_url(f"{site.url}/projects/demo")
    reader.get_by_role("link", name="Leaderboard of Support Triage").click()
    reader.get_by_text("Releases", exact=True).click()
    reader.get_by_role("link", name="1.0.0", exact=True).click()
    expect(reader).to_have_url(f"{site.url}{BOARD}")
    reader.get_by_role("link", name="steady", exact=True).click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("20 Trials")
    reader.get_by_role("region", name="Trials").get_by_role("link", name="bill-proration").first.click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("bill-proration")
    expect(reader.get_by_text("it counts as it is")).to_be_visible()
    reader.get_by_role("link", name="artifacts/state.json", exact=True).click()
    assert "{" in reader.inner_text("body")
    assert reader.url.endswith("/artifacts/state.json")


def test_open_rows_stay_open_when_the_table_is_sorted_or_filtered(reader: Page) -> None:
    reader.goto(BOARD)
    mark(reader)
    details = reader.get_by_text("What became of the attempts")
    expect(details.first).to_be_hidden()
    reader.locator("tbody.entry", has_text="quick").locator("summary").click()
    expect(details.filter(visible=True)).to_have_count(1)
    for key in ("Cost", "Success"):
        reader.get_by_role("columnheader", name=key).get_by_role("link").click()
        expect(reader.locator("th[aria-sort]")).to_contain_text(key)
        expect(details.filter(visible=True)).to_have_count(1)
    expect(reader.locator("tbody.entry", has_text="quick").locator(".row-toggle")).to_have_attribute(
        "open", ""
    )
    reader.locator("tbody.entry", has_text="quick").locator("summary").click()
    reader.get_by_role("columnheader", name="Cost").get_by_role("link").click()
    expect(reader.locator("th[aria-sort]")).to_contain_text("Cost")
    expect(details.filter(visible=True)).to_have_count(0)
    assert is_same_document(reader)


def test_sorting_reorders_and_keeps_the_ranks(reader: Page) -> None:
    reader.goto(BOARD)
    assert ranked(reader) == BY_RANK and sorted_by(reader) == ["Rank ascending"]
    mark(reader)
    cost = reader.get_by_role("columnheader", name="Cost").get_by_role("link")
    cost.click()
    expect(reader).to_have_url(re.compile("sort=cost$"))
    expect(reader.locator("th[aria-sort]")).to_contain_text("Cost")
    assert ranked(reader) == CHEAPEST_FIRST and sorted_by(reader) == ["Cost ascending"]
    expect(cost).to_be_focused()
    cost.click()
    expect(reader).to_have_url(re.compile("sort=-cost$"))
    expect(reader.locator("th[aria-sort=descending]")).to_contain_text("Cost")
    assert ranked(reader) == CHEAPEST_FIRST[::-1]
    assert is_same_document(reader)

    reader.go_back()
    expect(reader.locator("th[aria-sort=ascending]")).to_contain_text("Cost")
    assert ranked(reader) == CHEAPEST_FIRST
    reader.go_back()
    expect(reader.locator("th[aria-sort]")).to_contain_text("Rank")
    assert ranked(reader) == BY_RANK


def test_every_column_sorts_as_a_reader_expects(reader: Page) -> None:
    reader.goto(BOARD)
    small_is_good = {"Agent", "Cost", "Total", "Time", "Spread"}
    for head in reader.locator("thead th a").all():
        label = head.inner_text().split()[0]
        direction = "-" if label != "Rank" and label not in small_is_good else ""
        if label == "Rank":  # the order it is in
            direction = "-"
        address = head.get_attribute("href") or ""
        assert f"sort={direction}" in address and (direction or "sort=-" not in address), label


def test_a_track_swaps_the_board_alone(reader: Page, site: Site) -> None:
    reader.goto(BOARD)
    mark(reader)
    tab = reader.get_by_role("link", name="Open systems")
    tab.click()
    expect(reader.get_by_role("link", name="playbook", exact=True)).to_be_visible()
    expect(reader).to_have_url(re.compile("track=open"))
    expect(tab).to_have_attribute("aria-current", "page")
    expect(tab).to_be_focused()
    expect(reader.locator("#announcer")).to_have_text("3 ranked, 0 not ranked")
    expect(reader.locator("#board")).to_have_count(1)
    assert is_same_document(reader)
    assert ranked(reader)[0] == "1 playbook"

    reader.get_by_role("link", name="Untracked evidence").click()
    expect(reader.get_by_role("heading", name="Untracked evidence is never ranked")).to_be_visible()
    expect(reader.locator(".unranked td.rank").first).to_contain_text("–")
    assert ranked(reader) == []


def test_categories_have_a_view_of_their_own(reader: Page) -> None:
    reader.goto(BOARD)
    reader.get_by_role("link", name="Categories").click()
    expect(reader.get_by_role("columnheader", name="Billing")).to_be_visible()
    expect(reader.get_by_role("columnheader", name="Cost")).to_have_count(0)
    reader.reload()
    row = reader.get_by_role("row", name="steady")
    expect(row.get_by_text("4 of 4 Tasks").first).to_be_visible()
    row.locator("td.category a").first.click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("Score: 100.0 % steady · Billing")
    reader.get_by_role("link", name="Trials", exact=True).click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("8 Trials")


def test_entries_without_a_rank_say_why(reader: Page) -> None:
    reader.goto(BOARD)
    expect(reader.get_by_text("fixes temperature at 0")).to_be_visible()
    reader.goto(f"{BOARD}?track=none")
    expect(reader.get_by_text("acct-delete-data").first).to_be_visible()
    expect(reader.locator(".entry .reasons")).to_have_count(reader.locator(".entry").count())


def test_a_board_without_track_interval_or_pass_mark(open_page: OpenPage, site: Site) -> None:
    page = open_page(site.stranger)
    page.goto("/projects/odd/benchmarks/odd-bench")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Odd <b>Bench</b>")
    page.get_by_role("main").get_by_role("link", name="Leaderboard").first.click()
    expect(page.get_by_role("heading", name="This release declares no track")).to_be_visible()
    row = page.get_by_role("row", name="<i>tilted</i>")
    expect(row.get_by_role("img")).to_have_accessible_name("0.25, no interval")
    expect(page.get_by_role("link", name=LONG)).to_be_visible()
    page.get_by_text("Details of <i>tilted</i>").locator("xpath=..").click()
    expect(page.get_by_text("This release has no pass mark").first).to_be_visible()
    expect(page.locator("dt", has_text="Interval").first).to_be_visible()


def test_the_keyboard_is_enough(reader: Page) -> None:
    reader.goto(BOARD)
    reader.keyboard.press("Tab")
    expect(reader.get_by_role("link", name="Skip to the content")).to_be_focused()
    reader.keyboard.press("Enter")
    expect(reader.get_by_role("main")).to_be_focused()
    sort = reader.get_by_role("columnheader", name="Time").get_by_role("link")
    for _ in range(40):
        reader.keyboard.press("Tab")
        if sort.evaluate("link => link === document.activeElement"):
            break
    reader.keyboard.press("Enter")
    expect(reader.locator("th[aria-sort=ascending]")).to_contain_text("Time")
    assert ranked(reader) == CHEAPEST_FIRST
    expect(sort).to_be_focused()
    for _ in range(40):
        reader.keyboard.press("Tab")
        if reader.evaluate("document.activeElement.matches('.row-toggle > summary')"):
            break
    reader.keyboard.press("Space")
    expect(reader.locator(".breakdown").first).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_everything_works_without_script(open_page: OpenPage, site: Site, width: int) -> None:
    page = open_page(site.reader, java_script_enabled=False, viewport={"width": width, "height": 800})
    page.goto(BOARD)
    page.locator("thead th.score a").click()
    expect(page).to_have_url(re.compile("sort=-score$"))
    page.get_by_role("link", name="Open systems").click()
    expect(page).to_have_url(re.compile("track=open"))
    assert ranked(page)[0] == "1 playbook"
    page.get_by_role("link", name="Categories").click()
    expect(page).to_have_url(re.compile("view=categories"))
    page.locator(".row-toggle > summary").first.click()
    expect(page.locator(".breakdown").first).to_be_visible()
    page.get_by_role("button", name="Dark theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page).to_have_url(re.compile("view=categories"))
    page.get_by_text("Releases", exact=True).click()
    page.get_by_role("link", name="1.1.0", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("1.1.0")
