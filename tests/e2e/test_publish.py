"""Publishing in a browser: by keyboard alone, without script, and what each page looks like to axe."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage, Site

PUBLISH = "/projects/demo/benchmarks/support-triage/publish"
PHONE = {"width": 390, "height": 844}


RESULTS, DISCLOSURE, TEXT, CHECK = (
    "Which results become public?",
    "What may readers see of the exam itself?",
    "What do you say about it?",
    "Is this exactly what should become public?",
)


def go_on(page: Page, question: str) -> None:
    """Sends a step and waits for the next one."""
    page.get_by_role("button", name="Save and continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(question)


def start(page: Page, release: str) -> None:
    """A draft of this release, whatever was there before."""
    page.goto(f"{PUBLISH}/discard")
    if page.url.endswith("/discard"):
        page.get_by_role("button", name="Discard the draft").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Publish")
    page.get_by_role("button", name=re.compile("^(Start a draft|Publish more).*Support Triage")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Which release do you want to publish?")
    page.get_by_role("radio", name=re.compile(f"^{re.escape(release)}")).check()
    go_on(page, RESULTS)


def test_a_release_is_published_by_keyboard_alone(reader: Page) -> None:
    start(reader, "1.0.0")
    reader.get_by_role("checkbox", name=re.compile(r"steady\b.*desk-sim")).focus()
    reader.keyboard.press("Space")
    for _ in range(40):
        reader.keyboard.press("Tab")
        if reader.evaluate("document.activeElement.textContent") == "Save and continue":
            break
    reader.keyboard.press("Enter")
    expect(reader.get_by_role("heading", level=1)).to_have_text(DISCLOSURE)
    reader.get_by_role("button", name="Save and continue").press("Enter")
    expect(reader.get_by_role("heading", level=1)).to_have_text(TEXT)
    reader.get_by_label("Licence").fill("CC-BY-4.0")
    reader.keyboard.press("Enter")
    expect(reader.get_by_role("heading", level=1)).to_have_text("Is this exactly what should become public?")
    expect(reader.get_by_text("Nothing open.")).to_be_visible()
    reader.get_by_role("button", name="Freeze and publish this manifest").press("Enter")
    expect(reader.get_by_role("heading", level=1)).to_have_text("Support Triage 1.0.0 is published")
    reader.reload()
    expect(
        reader.get_by_text(re.compile(r"plural:benchmark/support-triage@1\.0\.0#sha256:")).first
    ).to_be_visible()


def test_a_finding_is_settled_without_script(open_page: OpenPage, site: Site) -> None:
    page = open_page(site.reader, java_script_enabled=False)
    start(page, "1.1.0")
    page.locator("input[name=pick]").first.check()
    go_on(page, DISCLOSURE)
    go_on(page, TEXT)
    page.get_by_label("Description", exact=True).fill(
        "Ask ada@" + "example.com, whose files are in /home/" + "ada/exam."
    )
    go_on(page, CHECK)
    expect(page.get_by_role("button", name="Freeze and publish this manifest")).to_be_disabled()
    page.get_by_role("link", name=re.compile("^Findings")).first.click()
    expect(page.locator(".finding").filter(has_text="open").first).to_be_visible()
    while page.get_by_role("button", name="Redact it").count():
        before = page.get_by_role("button", name="Redact it").count()
        page.get_by_role("button", name="Redact it").first.click()
        expect(page.get_by_role("button", name="Redact it")).to_have_count(before - 1)
    page.get_by_role("link", name=re.compile("^Raw manifest")).click()
    expect(page.locator(".manifest-raw")).to_contain_text("[redacted: ")
    page.get_by_role("button", name="Freeze and publish this manifest").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Support Triage 1.1.0 is published")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_step_is_accessible_and_fits_a_phone(open_page: OpenPage, site: Site, scheme: str) -> None:
    page = open_page(site.reader, viewport=PHONE, color_scheme=scheme)
    start(page, "1.0.0")
    page.get_by_role("checkbox", name=re.compile(r"playbook\b")).check()
    go_on(page, DISCLOSURE)
    go_on(page, TEXT)
    go_on(page, CHECK)
    steps = ("release", "results", "disclosure", "text", "check", "check?tab=raw", "check?tab=findings")
    for path in ("/projects/demo/publish", *(f"{PUBLISH}/{step}" for step in steps), f"{PUBLISH}/discard"):
        page.goto(path)
        page.evaluate(
            "document.querySelectorAll('main details').forEach((details) => { details.open = true })"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        found = Axe().run(page)
        assert found.violations_count == 0, f"{path}\n{found.generate_report()}"
