"""From a number on the board to the page that proves it, and on to the Trials behind it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import BOARD, OpenPage, Site
from tests.e2e.test_pages import check


def test_from_a_number_to_its_trials(reader: Page) -> None:
    reader.goto(BOARD)
    row = reader.locator("tbody.entry", has=reader.get_by_role("link", name="quick", exact=True))
    row.locator("td.num:not(.rank) > a").first.click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("Score: 50.0 %")
    expect(reader.get_by_text("Unrounded: score = 0.5")).to_be_visible()
    terms = reader.locator(".formula li").first
    terms.get_by_text("10 terms, one a line").click()
    expect(terms.locator(".terms > li")).to_have_count(10)
    funnel = reader.get_by_role("region", name="From planned to counted")
    funnel.get_by_role("row", name="Counted").get_by_role("link").click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("40 Trials")
    reader.go_back()
    reader.get_by_role("link", name="95 % interval").click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("95 % interval")


@pytest.mark.parametrize("figure", ["rank", "score", "interval", "pass", "cost", "pending", "jobs"])
def test_a_proof(reader: Page, figure: str) -> None:
    reader.goto(BOARD)
    reader.goto(reader.locator("tbody.entry td.rank a").first.get_attribute("href") or "")
    reader.goto(reader.url.replace("figure=rank", f"figure={figure}"))
    expect(reader.get_by_role("heading", level=1)).to_have_count(1)
    check(reader)


def test_a_proof_with_odd_names(open_page: OpenPage, site: Site) -> None:
    page = open_page(site.stranger)
    page.goto("/projects/odd/benchmarks/odd-bench@1.0.0")
    page.locator("tbody.entry td.num:not(.rank) > a").first.click()
    expect(page.get_by_text("Unrounded:")).to_be_visible()
    check(page)
