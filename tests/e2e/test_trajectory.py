"""A trajectory in a browser: by keyboard, by links alone, on a phone, and two of them side by side."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.builders import AgentSpec, Outcome, make_job
from tests.e2e.conftest import OpenPage, Person, Site
from tests.e2e.test_pages import DESK, PHONE, check
from tests.e2e.test_trial import open_trial
from tests.trajectories import atif, step

HOSTILE = "<img src=x onerror=alert(1)> \x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\ \u202e"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


def _steps(agent: str) -> list[Any]:
    steps = [step(number, size=60) for number in range(1, 121)]
    wrong = {"results": [{"source_call_id": "c", "content": "refused", "extra": {"is_error": True}}]}
    for number in (7, 70):
        steps[number - 1]["observation"] = wrong
    steps[1]["message"] = HOSTILE
    steps[2]["reasoning_content"] = "I think so.\n" * 60
    picture = {"type": "image", "source": {"media_type": "image/png", "data": PNG}}
    steps[3]["message"] = [{"type": "text", "text": "\n".join(map(str, range(90)))}, picture]
    steps[4]["message"] = "A needle, said the agent."
    steps[99]["message"] = "Another needle."
    if agent == "second":
        steps[9]["message"] = "Something else."
        del steps[20]
    return steps


@dataclass(frozen=True, slots=True)
class Long:
    """A member of the project "long", and its two Trials at one Task: of the first and the second Agent."""

    person: Person
    trials: tuple[str, str]


@pytest.fixture(scope="module")
def long(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Long:
    folder = tmp_path_factory.mktemp("long")
    job = make_job(
        folder / "job",
        single_task="long",
        agents=(AgentSpec(name="first"), AgentSpec(name="second", model="sim/two")),
        outcomes=lambda agent, task, number: Outcome(
            artifacts={"atif-trajectory.json": json.dumps(atif(_steps(agent))).encode()}
        ),
    )
    person = Person("walker@example.test", "correct horse battery")
    secret = folder / "password"
    secret.write_text(person.password)
    site.manage("create_user", person.email, "--password-file", str(secret))
    site.manage("create_project", "long", "--owner", person.email)
    site.manage("import_jobs", str(job), "--project", "long")
    found = {
        "Something else." in (trial / "executions/0/artifacts/atif-trajectory.json").read_text(): trial.name
        for trial in (job / "trials").iterdir()
    }
    return Long(person, (found[False], found[True]))


@pytest.fixture
def trials(long: Long) -> tuple[str, str]:
    return long.trials


@pytest.fixture
def walker(open_page: OpenPage, long: Long) -> Page:
    return open_page(long.person)


def address(trial: str) -> str:
    return f"/projects/long/trials/{trial}/trajectory"


def current(page: Page) -> str:
    """Number of the step that the keyboard is at."""
    return page.locator(".step[aria-current]").get_attribute("data-step") or ""


def test_from_a_trial_to_its_trajectory_and_on_to_another(reader: Page) -> None:
    open_trial(reader, outcome="scored")
    reader.get_by_role("link", name="Open the trajectory").click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("Trajectory")
    check(reader)
    reader.get_by_role("link", name="Compare with…").click()
    reader.get_by_role("region", name="Attempts to compare with").get_by_role(
        "link", name="Compare"
    ).first.click()
    expect(reader.get_by_role("heading", name="Step by step")).to_be_visible()
    check(reader)


def test_a_long_trajectory_is_accessible(walker: Page, trials: tuple[str, str]) -> None:
    walker.goto(f"{address(trials[0])}?q=needle")
    expect(walker.locator("#found")).to_contain_text("2 steps found.")
    check(walker)
    walker.goto(f"{address(trials[0])}/steps/4")
    check(walker)
    walker.goto(f"/projects/long/trajectories/compare?a={trials[0]}&b={trials[1]}")
    expect(walker.get_by_text("First difference: step 10 of A and step 10 of B")).to_be_visible()
    check(walker)


def test_keys_move_through_steps_and_pages(walker: Page, trials: tuple[str, str]) -> None:
    walker.set_viewport_size(DESK)
    walker.goto(address(trials[0]))
    walker.keyboard.press("j")
    walker.keyboard.press("j")
    assert current(walker) == "2"
    expect(walker.locator(".outline a[aria-current]")).to_contain_text("2")
    walker.keyboard.press("k")
    assert current(walker) == "1"
    walker.keyboard.press("n")
    assert current(walker) == "7"
    walker.keyboard.press("n")
    walker.wait_for_url("**step=70#step-70")
    assert current(walker) == "70"
    walker.keyboard.press("p")
    walker.wait_for_url("**step=7#step-7")
    walker.goto(f"{address(trials[0])}?step=50#step-50")
    walker.keyboard.press("j")
    walker.wait_for_url("**page=2#step-51")
    walker.keyboard.press("k")
    walker.wait_for_url("**/trajectory#step-50")


def test_keys_fold_search_and_are_listed(walker: Page, trials: tuple[str, str]) -> None:
    walker.goto(f"{address(trials[0])}?step=3#step-3")
    body = walker.locator("#step-3 .step-body")
    walker.keyboard.press("f")
    expect(body).not_to_have_attribute("open", "")
    walker.keyboard.press("f")
    expect(body).to_have_attribute("open", "")
    walker.get_by_role("link", name="Fold all", exact=True).click()
    expect(walker.locator(".step-body[open]")).to_have_count(0)
    assert "fold=all" in walker.url
    walker.get_by_role("link", name="Unfold all").click()
    expect(walker.locator("#step-3 .reasoning details").first).to_have_attribute("open", "")
    walker.keyboard.press("/")
    expect(walker.get_by_role("searchbox", name="Search")).to_be_focused()
    walker.keyboard.type("needle?jk")
    expect(walker.get_by_role("searchbox", name="Search")).to_have_value("needle?jk")
    walker.get_by_role("searchbox", name="Search").fill("needle")
    walker.keyboard.press("Enter")
    walker.wait_for_url("**q=needle**")
    walker.keyboard.press("n")
    assert current(walker) == "5"
    walker.keyboard.press("n")
    walker.wait_for_url("**step=100**")
    assert current(walker) == "100"


def test_single_keys_can_be_turned_off(walker: Page, trials: tuple[str, str]) -> None:
    walker.goto(address(trials[0]))
    walker.keyboard.press("?")
    dialog = walker.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Single keys work on this device").uncheck()
    walker.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    walker.keyboard.press("j")
    expect(walker.locator(".step[aria-current]")).to_have_count(0)
    walker.reload()
    walker.keyboard.press("j")
    expect(walker.locator(".step[aria-current]")).to_have_count(0)
    walker.get_by_role("button", name="Keyboard").click()
    dialog.get_by_label("Single keys work on this device").check()
    dialog.get_by_role("button", name="Close").click()
    walker.keyboard.press("j")
    assert current(walker) == "1"


def test_everything_is_there_without_a_script(
    open_page: OpenPage, long: Long, trials: tuple[str, str]
) -> None:
    page = open_page(long.person, java_script_enabled=False)
    page.set_viewport_size(DESK)
    page.goto(address(trials[0]))
    expect(page.locator(".outline").get_by_role("link")).to_have_count(50)
    expect(page.locator(".outline").get_by_role("link").first).to_be_visible()
    expect(page.get_by_role("button", name="Keyboard")).to_be_hidden()
    page.get_by_role("searchbox", name="Search").fill("needle")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Step 100", exact=True).click()
    expect(page.locator("#step-100")).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="Fold all", exact=True).click()
    expect(page.locator(".step-body[open]")).to_have_count(1)
    page.goto(address(trials[0]))
    page.get_by_label("Step", exact=True).fill("77")
    page.get_by_role("button", name="Go").click()
    expect(page.locator("#step-77")).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="Next error").click()
    expect(page.locator("#step-7")).to_have_attribute("aria-current", "true")
    text = page.locator("#step-2 pre").first
    expect(text).to_contain_text("<img src=x onerror=alert(1)> link")


def test_a_picture_is_drawn(walker: Page, trials: tuple[str, str]) -> None:
    walker.goto(f"{address(trials[0])}/steps/4")
    picture = walker.get_by_role("img", name=re.compile("^Picture"))
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("naturalWidth", 1)
    walker.get_by_text("50 more lines").click()
    expect(walker.locator("#step-4 .more-text pre")).to_contain_text("89")


def test_outline_is_folded_on_a_phone(walker: Page, trials: tuple[str, str]) -> None:
    walker.set_viewport_size(PHONE)
    walker.goto(address(trials[0]))
    row = walker.locator(".outline a").first
    expect(row).to_be_hidden()
    walker.get_by_text("Steps of this page").click()
    expect(row).to_be_visible()
    walker.goto(f"/projects/long/trajectories/compare?a={trials[0]}&b={trials[1]}")
    a, b = (walker.locator(".sides").first.locator(".side").nth(n).bounding_box() for n in (0, 1))
    assert a and b and b["y"] >= a["y"] + a["height"]
