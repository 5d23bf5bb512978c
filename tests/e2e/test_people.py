"""Inviting, keys, sessions and the end of a project, in a browser. Makes its own people and projects."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.conftest import NewContext, OpenPage, Person, Site, sign_in

NUMBERS = count()
PASSWORD = "correct horse battery"


@pytest.fixture
def owner(site: Site, open_page: OpenPage, tmp_path: Path) -> Page:
    """A new person, signed in, who owns the account "boss-N" and nothing else."""
    person = Person(f"boss-{next(NUMBERS)}@example.test", PASSWORD)
    secret = tmp_path / "password"
    secret.write_text(person.password)
    site.manage("create_user", person.email, "--password-file", str(secret))
    page = open_page(None)
    sign_in(page, person)
    expect(page.get_by_role("heading", level=1)).to_have_text("Projects")
    return page


def make_project(page: Page, name: str) -> str:
    """Address of a new project in the person's own account."""
    page.goto("/")
    page.get_by_role("link", name="New project").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create project").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    return urlsplit(page.url).path


def shown_link(page: Page) -> str:
    return urlsplit(page.locator(".callout pre").inner_text()).path


def test_an_invited_person_joins_and_is_removed(owner: Page, open_page: OpenPage) -> None:
    project = make_project(owner, f"Shared {next(NUMBERS)}")
    owner.get_by_role("link", name="Settings").click()
    owner.get_by_role("navigation", name="Settings").get_by_role("link", name="Members").click()
    owner.get_by_label("Role").select_option("contributor")
    owner.get_by_role("button", name="Make invitation link").click()
    link = shown_link(owner)

    page = open_page(None)
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_contain_text("invites you to the project Shared")
    page.get_by_label("Your name").fill("Newcomer")
    page.get_by_label("E-mail address").fill(f"newcomer-{next(NUMBERS)}@example.test")
    page.get_by_label("Password").fill("a long enough one")
    page.get_by_role("button", name="Accept and sign in").click()
    expect(page).to_have_url(re.compile(f"{project}$"))
    expect(page.get_by_role("status").first).to_contain_text("Welcome to the project Shared")
    expect(page.get_by_role("link", name="Settings")).to_have_count(0)

    owner.goto(f"{project}/settings/members")
    row = owner.get_by_role("row", name="Newcomer")
    expect(row.get_by_role("combobox")).to_have_value("contributor")
    row.get_by_role("combobox").select_option("viewer")
    row.get_by_role("button", name="Save").click()
    expect(owner.get_by_text("Newcomer is viewer now.")).to_be_visible()
    owner.get_by_role("row", name="Newcomer").get_by_role("link", name="Remove").click()
    owner.get_by_role("button", name="Remove from the project").click()
    expect(owner.get_by_role("row", name="Newcomer")).to_have_count(0)
    owner.get_by_role("link", name="Audit log").click()
    expect(owner.get_by_role("table")).to_contain_text("out of the project")


def test_a_key_is_copied_once_and_revoked(owner: Page) -> None:
    owner.context.grant_permissions(["clipboard-read", "clipboard-write"])
    make_project(owner, f"Keyed {next(NUMBERS)}")
    owner.locator(".user-menu > summary").click()
    owner.get_by_role("link", name="API keys").click()
    owner.get_by_label("Label").fill("laptop")
    owner.get_by_role("button", name="Make key").click()
    secret = owner.locator(".callout pre").first.inner_text()
    assert re.fullmatch(r"plural_[\w-]{43}", secret)
    owner.get_by_role("button", name="Copy the key").click()
    assert owner.evaluate("navigator.clipboard.readText()") == secret
    owner.goto("/account/keys")
    assert secret not in owner.content()
    owner.get_by_role("row", name="laptop").get_by_role("link", name="Revoke").click()
    expect(owner.get_by_role("heading", name="Revoke the key “laptop”?")).to_be_visible()
    owner.get_by_role("button", name="Revoke key").click()
    expect(owner.get_by_text("Expired and revoked keys (1)")).to_be_visible()


def test_another_session_is_ended_from_here(owner: Page, site: Site, new_context: NewContext) -> None:
    owner.goto("/account")
    email = owner.locator(".user-menu > summary").get_attribute("title")
    assert email
    other = new_context().new_page()
    sign_in(other, Person(email, PASSWORD))
    owner.goto("/account/sessions")
    expect(owner.get_by_role("row")).to_have_count(3)
    owner.get_by_role("button", name=re.compile("^End the session in Chrome on Linux")).click()
    expect(owner.get_by_text("One session has ended.")).to_be_visible()
    other.goto("/account")
    expect(other).to_have_url(re.compile("/sign-in"))


def test_a_project_is_deleted_by_its_slug(owner: Page) -> None:
    project = make_project(owner, f"Doomed {next(NUMBERS)}")
    slug = project.rpartition("/")[2]
    owner.goto(f"{project}/settings")
    owner.get_by_role("link", name="Delete this project").click()
    owner.get_by_label("Slug of the project").fill("something else")
    owner.get_by_role("button", name="Delete this project").click()
    expect(owner).to_have_title(re.compile("^Error: "))
    owner.get_by_label("Slug of the project").fill(slug)
    owner.get_by_role("button", name="Delete this project").click()
    expect(owner.get_by_text(f"The project {slug} is deleted.")).to_be_visible()


def test_it_works_without_script_by_keyboard_alone(owner: Page, new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False, storage_state=owner.context.storage_state()).new_page()
    page.goto("/account")
    page.locator(".user-menu > summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.goto("/accounts/new")
    page.get_by_label("Name").fill(f"Scriptless {next(NUMBERS)}")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Scriptless")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_and_never_scroll_sideways(
    owner: Page, new_context: NewContext, scheme: str
) -> None:
    project = make_project(owner, f"Looked at {next(NUMBERS)}")
    owner.goto(f"{project}/settings/members")
    owner.get_by_role("button", name="Make invitation link").click()
    link = shown_link(owner)
    account = owner.goto("/account/projects/new")
    assert account
    own = urlsplit(owner.url).path.removesuffix("/projects/new")
    paths = [
        *(
            "/account",
            "/account/password",
            "/account/sessions",
            "/account/keys",
            "/accounts",
            "/accounts/new",
        ),
        *(own, f"{own}/members", f"{own}/keys", f"{own}/audit", f"{own}/settings", f"{own}/projects/new"),
        *(f"{project}/settings{end}" for end in ("", "/members", "/keys", "/audit", "/delete")),
        *(link, "/forgot-password"),
    ]
    state = owner.context.storage_state()
    page = new_context(
        storage_state=state, color_scheme=scheme, viewport={"width": 390, "height": 844}
    ).new_page()
    wrong = []
    for path in paths:
        page.goto(path)
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]})
        wrong += [f"{path}: {violation['id']}" for violation in found.response["violations"]]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong.append(f"{path} scrolls sideways")
    assert wrong == []
