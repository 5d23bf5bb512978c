"""One Trial in a browser: from what it counts as to its Verifiers, files and receipt, by keyboard too."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage, Site
from tests.e2e.test_pages import DESK, check

TRIALS = "/projects/demo/trials?benchmark=support-triage"
RETRIED = "job_d42445b348530e121bab61bd"


def open_trial(page: Page, *, outcome: str = "", job: str = "", agent: str = "") -> None:
    """The first Trial of a list."""
    query = "".join(f"&{name}={value}" for name, value in (("outcome", outcome), ("job", job)) if value)
    page.goto(f"{TRIALS if not job else '/projects/demo/trials?'}{query}")
    rows = page.get_by_role("region", name="Trials").locator("tbody tr")
    if agent:
        rows = rows.filter(has_text=agent)
    rows.first.locator("th a").click()
    expect(page.get_by_role("heading", name="How it counts")).to_be_visible()


def test_from_a_trial_to_its_receipt_and_back(reader: Page) -> None:
    open_trial(reader, outcome="scored")
    reader.get_by_role("link", name="Recompute every digest").click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("Receipt")
    expect(reader.get_by_text(re.compile("All [0-9]+ recomputed digests match"))).to_be_visible()
    check(reader)
    reader.get_by_role("link", name="Back to the Trial").click()
    reader.get_by_role("link", name="How the score of its entry is made").click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("Score")


def test_neighbours_are_reached_by_keyboard(reader: Page) -> None:
    open_trial(reader, outcome="scored")
    address = reader.url
    following = reader.get_by_role("link", name=re.compile("^Next of the same agent"))
    following.focus()
    reader.keyboard.press("Enter")
    reader.wait_for_url(lambda url: url != address)
    back = reader.get_by_role("link", name=re.compile("^Previous of the same agent"))
    back.focus()
    reader.keyboard.press("Enter")
    reader.wait_for_url(address)


def test_an_earlier_execution_has_its_own_page(reader: Page) -> None:
    open_trial(reader, job=RETRIED, agent="tech-login-loop")
    expect(
        reader.get_by_text("Tried again, because the Job retries after provider unavailable").first
    ).to_be_visible()
    reader.get_by_role("link", name="Show execution 0").click()
    expect(reader.get_by_text("This is execution 0.")).to_be_visible()
    expect(reader.get_by_role("region", name="End of stderr")).to_contain_text("HTTP 503")
    check(reader)
    reader.get_by_role("link", name="Show execution 2").click()
    expect(reader.get_by_text("This is execution 0.")).to_have_count(0)


@pytest.mark.parametrize("outcome", ["scored", "agent_failure", "infrastructure_error", "cancelled"])
def test_a_trial_of_each_outcome(reader: Page, outcome: str) -> None:
    open_trial(reader, outcome=outcome)
    check(reader)


def test_previews_unfold_without_a_script(open_page: OpenPage, site: Site) -> None:
    page = open_page(site.reader, java_script_enabled=False)
    page.set_viewport_size(DESK)
    open_trial(page, outcome="scored")
    row = page.get_by_role("region", name="Files").locator("tbody tr", has_text="artifacts/apps.json")
    row.get_by_text("Preview").click()
    expect(row.get_by_role("region", name="Preview of artifacts/apps.json")).to_contain_text("initial")
