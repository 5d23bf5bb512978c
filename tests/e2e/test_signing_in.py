"""Who gets in, and what strangers see."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import BOARD, NewContext, OpenPage, Person, Sessions, Site, sign_in


def test_a_link_signs_in_once(site: Site, open_page: OpenPage, new_context: NewContext) -> None:
    link = site.manage("create_user", "newcomer@example.test").strip()
    path = urlsplit(link).path
    page = open_page(None)
    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in as newcomer@example.test?")
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Projects")
    expect(page.get_by_text("create_project SLUG --owner newcomer@example.test")).to_be_visible()

    late = new_context().new_page()
    response = late.goto(path)
    assert response is not None and response.status == 410
    expect(late.get_by_role("heading", level=1)).to_have_text("This link no longer works")


def test_a_password_leads_back_to_the_page_asked_for(site: Site, open_page: OpenPage) -> None:
    page = open_page(None)
    page.goto(f"{BOARD}?track=open@1.0.0")
    expect(page).to_have_url(re.compile(r"/sign-in\?"))
    page.get_by_label("E-mail address").fill(site.reader.email)
    page.get_by_label("Password").fill(site.reader.password)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{site.url}{BOARD}?track=open@1.0.0")

    page.locator(".user-menu > summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{site.url}/sign-in")
    page.goto(BOARD)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_wrong_password_is_said_where_the_reader_is(site: Site, open_page: OpenPage) -> None:
    page = open_page(None)
    sign_in(page, Person(site.reader.email, "a wrong one"))
    expect(page).to_have_title("Error: Sign in · Plural Site")
    summary = page.get_by_role("alert")
    expect(summary).to_be_focused()
    expect(page.get_by_label("E-mail address")).to_have_value(site.reader.email)
    expect(page.get_by_label("Password")).to_have_value("")
    summary.get_by_role("link").click()
    expect(page.get_by_label("E-mail address")).to_be_focused()


@pytest.mark.parametrize("path", ["/projects/demo", "/projects/demo/jobs", BOARD, "/projects/none"])
def test_a_project_of_others_is_not_there(
    site: Site, new_context: NewContext, sessions: Sessions, path: str
) -> None:
    page = new_context(storage_state=sessions(site.stranger)).new_page()
    response = page.goto(path)
    assert response is not None and response.status == 404
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing here")
    assert "Support" not in page.content()
    page.get_by_role("link", name="Your projects").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("odd")
