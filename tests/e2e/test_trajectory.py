"""A trajectory in a browser: by keyboard, by links alone, on a phone, and two of them side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.builders import AgentSpec, Outcome, make_job
from tests.e2e.conftest import OpenPage, Site
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


@pytest.fixture(scope="module")
def trials(site: Site, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two Trials at one Task in a project of the stranger."""
    folder = make_job(
        tmp_path_factory.mktemp("long"),
        single_task="long",
        agents=(AgentSpec(name="first"), AgentSpec(name="second", model="sim/two")),
        outcomes=lambda agent, task, number: Outcome(
            artifacts={"atif-trajectory.json": json.dumps(atif(_steps(agent))).encode()}
        ),
    )
    site.manage("create_project", "long", "--owner", site.stranger.email)
    site.manage("import_jobs", str(folder), "--project", "long")
    results = [json.loads(path.read_text()) for path in Path(folder).rglob("result.json")]
    found = {
        trial["trial_id"]: trial["agent_name"] if "agent_name" in trial else ""
        for trial in results
        if "trial_id" in trial
    }
    return sorted(found)


@pytest.fixture
def stranger(open_page: OpenPage, site: Site) -> Page:
    return open_page(site.stranger)


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
    reader.get_by_role("region", name="Attempts at this Task").get_by_role(
        "link", name="Compare"
    ).first.click()
    expect(reader.get_by_role("heading", name="Step by step")).to_be_visible()
    check(reader)


def test_a_long_trajectory_is_accessible(stranger: Page, trials: list[str]) -> None:
    stranger.goto(f"{address(trials[0])}?q=needle")
    expect(stranger.locator("#found")).to_contain_text("2 steps found.")
    check(stranger)
    stranger.goto(f"{address(trials[0])}/steps/4")
    check(stranger)
    stranger.goto(f"/projects/long/trajectories/compare?a={trials[0]}&b={trials[1]}")
    expect(stranger.get_by_text("First difference: step 10 of A and step 10 of B")).to_be_visible()
    check(stranger)


def test_keys_move_through_steps_and_pages(stranger: Page, trials: list[str]) -> None:
    stranger.set_viewport_size(DESK)
    stranger.goto(address(trials[0]))
    stranger.keyboard.press("j")
    stranger.keyboard.press("j")
    assert current(stranger) == "2"
    expect(stranger.locator(".outline a[aria-current]")).to_contain_text("2")
    stranger.keyboard.press("k")
    assert current(stranger) == "1"
    stranger.keyboard.press("n")
    assert current(stranger) == "7"
    stranger.keyboard.press("n")
    stranger.wait_for_url("**step=70#step-70")
    assert current(stranger) == "70"
    stranger.keyboard.press("p")
    stranger.wait_for_url("**step=7#step-7")
    stranger.goto(f"{address(trials[0])}?step=50#step-50")
    stranger.keyboard.press("j")
    stranger.wait_for_url("**page=2#step-51")
    stranger.keyboard.press("k")
    stranger.wait_for_url("**/trajectory#step-50")


def test_keys_fold_search_and_are_listed(stranger: Page, trials: list[str]) -> None:
    stranger.goto(f"{address(trials[0])}?step=3#step-3")
    body = stranger.locator("#step-3 .step-body")
    stranger.keyboard.press("f")
    expect(body).not_to_have_attribute("open", "")
    stranger.keyboard.press("f")
    expect(body).to_have_attribute("open", "")
    stranger.get_by_role("link", name="Fold all").click()
    expect(stranger.locator(".step-body[open]")).to_have_count(0)
    assert "fold=all" in stranger.url
    stranger.get_by_role("link", name="Unfold all").click()
    expect(stranger.locator("#step-3 .reasoning details").first).to_have_attribute("open", "")
    stranger.keyboard.press("/")
    expect(stranger.get_by_role("searchbox", name="Search")).to_be_focused()
    stranger.keyboard.type("needle?jk")
    expect(stranger.get_by_role("searchbox", name="Search")).to_have_value("needle?jk")
    stranger.get_by_role("searchbox", name="Search").fill("needle")
    stranger.keyboard.press("Enter")
    stranger.wait_for_url("**q=needle**")
    stranger.keyboard.press("n")
    assert current(stranger) == "5"
    stranger.keyboard.press("n")
    stranger.wait_for_url("**step=100**")
    assert current(stranger) == "100"


def test_single_keys_can_be_turned_off(stranger: Page, trials: list[str]) -> None:
    stranger.goto(address(trials[0]))
    stranger.keyboard.press("?")
    dialog = stranger.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Single keys work on this device").uncheck()
    stranger.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    stranger.keyboard.press("j")
    expect(stranger.locator(".step[aria-current]")).to_have_count(0)
    stranger.reload()
    stranger.keyboard.press("j")
    expect(stranger.locator(".step[aria-current]")).to_have_count(0)
    stranger.get_by_role("button", name="Keyboard").click()
    dialog.get_by_label("Single keys work on this device").check()
    dialog.get_by_role("button", name="Close").click()
    stranger.keyboard.press("j")
    assert current(stranger) == "1"


def test_everything_is_there_without_a_script(open_page: OpenPage, site: Site, trials: list[str]) -> None:
    page = open_page(site.stranger, java_script_enabled=False)
    page.set_viewport_size(DESK)
    page.goto(address(trials[0]))
    expect(page.locator(".outline").get_by_role("link")).to_have_count(50)
    expect(page.locator(".outline").get_by_role("link").first).to_be_visible()
    expect(page.get_by_role("button", name="Keyboard")).to_be_hidden()
    page.get_by_role("searchbox", name="Search").fill("needle")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Step 100", exact=True).click()
    expect(page.locator("#step-100")).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="Fold all").click()
    expect(page.locator(".step-body[open]")).to_have_count(1)
    page.goto(address(trials[0]))
    page.get_by_label("Step", exact=True).fill("77")
    page.get_by_role("button", name="Go").click()
    expect(page.locator("#step-77")).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="Next error").click()
    expect(page.locator("#step-7")).to_have_attribute("aria-current", "true")
    text = page.locator("#step-2 pre").first
    expect(text).to_contain_text("<img src=x onerror=alert(1)> link")


def test_a_picture_is_drawn(stranger: Page, trials: list[str]) -> None:
    stranger.goto(f"{address(trials[0])}/steps/4")
    picture = stranger.get_by_role("img", name=re.compile("^Picture"))
    picture.scroll_into_view_if_needed()
    stranger.wait_for_function("document.querySelector('.picture img').naturalWidth === 1")
    stranger.get_by_text("50 more lines").click()
    expect(stranger.locator("#step-4 .more-text pre")).to_contain_text("89")


def test_outline_is_folded_on_a_phone(stranger: Page, trials: list[str]) -> None:
    stranger.set_viewport_size(PHONE)
    stranger.goto(address(trials[0]))
    row = stranger.locator(".outline a").first
    expect(row).to_be_hidden()
    stranger.get_by_text("Steps of this page").click()
    expect(row).to_be_visible()
    stranger.goto(f"/projects/long/trajectories/compare?a={trials[0]}&b={trials[1]}")
    a, b = (stranger.locator(".sides").first.locator(".side").nth(n).bounding_box() for n in (0, 1))
    assert a and b and b["y"] >= a["y"] + a["height"]
