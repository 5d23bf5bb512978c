"""From the board to a decision: filters, the chart, which Agent to take."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error, Page, Route, ViewportSize, expect

from tests.builders import AgentSpec, BenchmarkSpec, Outcome, make_job, track
from tests.e2e.conftest import BOARD, LONG, NewContext, OpenPage, Sessions, Site
from tests.e2e.test_board import is_same_document, mark, ranked
from tests.e2e.test_pages import DESK, PHONE, THEMES

CROWD = "/projects/odd/benchmarks/crowd@1.0.0"
ANSWER = ".chooser .pick"


@pytest.fixture(scope="module")
def crowd(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 entries that are close to each other."""
    jobs: Path = tmp_path_factory.mktemp("crowd")
    costs = {f"agent-with-a-name-{place}": 0.01 * 1.1**place for place in range(30)}
    make_job(
        jobs,
        benchmark=BenchmarkSpec(name="Crowd", slug="crowd", tasks=tuple("abcdef"), tracks=(track("open"),)),
        agents=[AgentSpec(name=name, model=f"sim/{name}") for name in costs],
        outcomes=lambda agent, task, _: Outcome(
            score=(len(agent) * 7 + ord(task) * int(agent.rpartition("-")[2]) * 3) % 10 / 10,
            cost_usd=costs[agent],
        ),
        track_id="open",
    )
    site.manage("import_jobs", str(jobs), "--project", "odd")
    return jobs


def plot(page: Page) -> None:
    """Brings the chart into view and waits until it is drawn."""
    page.locator(".plot").scroll_into_view_if_needed()
    expect(page.locator(".plot .main-svg").first).to_be_visible()


def names(page: Page) -> list[str]:
    return page.locator(".plot .annotation-text").all_text_contents()


def collisions(page: Page) -> list[str]:
    """Pairs of names in the plot whose boxes meet."""
    boxes = [
        (text.text_content(), box)
        for text in page.locator(".plot .annotation-text").all()
        if (box := text.bounding_box())
    ]
    return [
        f"{one} and {other}"
        for place, (one, a) in enumerate(boxes)
        for other, b in boxes[place + 1 :]
        if a["x"] < b["x"] + b["width"]
        and b["x"] < a["x"] + a["width"]
        and a["y"] < b["y"] + b["height"] - 2
        and b["y"] < a["y"] + a["height"] - 2
    ]


def test_the_chart_is_drawn_when_it_comes_into_view(reader: Page) -> None:
    asked: list[str] = []
    reader.on("request", lambda request: asked.append(request.url))
    reader.set_viewport_size({"width": 1280, "height": 300})
    reader.goto(BOARD)
    reader.wait_for_load_state("networkidle")
    assert not any("plotly" in url or "chart.json" in url for url in asked)
    plot(reader)
    assert sorted(names(reader)) == ["quick", "rambler", "steady"]  # not all of wobbly's costs are known
    expect(reader.locator(".plot .modebar")).to_have_count(0)
    expect(reader.get_by_role("img", name="Cost against correctness")).to_be_visible()
    reader.locator("#chart-x-2").click()
    expect(reader.get_by_role("img", name="Time against correctness")).to_be_visible()
    expect(reader).to_have_url(re.compile("x=latency"))
    plot(reader)
    assert sum("plotly" in url for url in asked) == 1
    assert sum("chart.json" in url for url in asked) == 2


def test_the_chart_follows_the_theme_and_the_width(reader: Page) -> None:
    reader.emulate_media(color_scheme="light")
    reader.goto(f"{BOARD}?floor=60")
    plot(reader)
    colour = "text => getComputedStyle(text).fill"
    text = reader.locator(".plot .annotation-text", has_text="steady")
    assert text.evaluate(colour) == "rgb(26, 29, 33)"
    reader.emulate_media(color_scheme="dark")
    expect(text).to_have_css("fill", "rgb(230, 233, 238)")
    reader.set_viewport_size(PHONE)
    expect(reader.locator(".plot .main-svg").first).to_have_css("width", re.compile("^(2|3)[0-9]{2}px"))
    assert "floor 60.0" in names(reader) and collisions(reader) == []


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_names_do_not_collide_in_a_crowd(
    open_page: OpenPage, site: Site, crowd: Path, size: ViewportSize
) -> None:
    page = open_page(site.stranger, viewport=size)
    page.goto(CROWD)
    plot(page)
    found = names(page)
    assert len(found) >= (20 if size == DESK else 4) and collisions(page) == []
    left = 30 - len(found)
    expect(page.locator("[data-plot-note]")).to_have_text(
        re.compile(f"^{left} names? ha(s|ve) no room" if left else "^$")
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_markup_in_names_stays_text(open_page: OpenPage, site: Site) -> None:
    page = open_page(site.stranger)
    page.goto("/projects/odd/benchmarks/odd-bench@1.0.0")
    plot(page)
    assert "<i>tilted</i>" in names(page)
    assert any(name.startswith(LONG[:20]) and name.endswith("…") for name in names(page))
    expect(page.locator(".plot .annotation-text i")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("theme", THEMES)
def test_chart_and_choice_are_accessible(reader: Page, theme: str) -> None:
    reader.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    reader.goto(f"{BOARD}?floor=45&q=e&hide=jobs&category=billing")
    plot(reader)
    reader.evaluate("document.querySelectorAll('main details').forEach((details) => { details.open = true })")
    found = Axe().run(reader)
    assert found.violations_count == 0, found.generate_report()
    reader.set_viewport_size(PHONE)
    assert reader.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_table_behind_the_chart_is_reached_by_keyboard(reader: Page) -> None:
    reader.goto(BOARD)
    fold = reader.get_by_text("The same as a table")
    fold.focus()
    reader.keyboard.press("Enter")
    table = reader.get_by_role("region", name="Cost against correctness, as a table").get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(5)
    expect(table.get_by_role("row", name="steady")).to_contain_text("on the frontier")
    reader.reload()
    reader.get_by_role("link", name="Show as table").click()
    expect(table).to_be_visible()


def test_which_one_is_answered_for_a_floor(reader: Page) -> None:
    reader.goto(f"{BOARD}?sort=cost")
    mark(reader)
    reader.get_by_label("At least").fill("45")
    reader.get_by_label("At least").press("Enter")
    expect(reader.locator(ANSWER)).to_contain_text("quick")
    expect(reader).to_have_url(re.compile(r"sort=cost&floor=45&tolerance=5$"))
    expect(reader.get_by_label("At least")).to_be_focused()
    assert is_same_document(reader) and ranked(reader)[0] == "2 quick"
    reader.get_by_label("At least").fill("80")
    reader.get_by_role("button", name="Choose").click()
    expect(reader.locator(ANSWER)).to_contain_text("steady")
    reader.go_back()
    expect(reader.locator(ANSWER)).to_contain_text("quick")
    reader.emulate_media(media="print")
    expect(reader.get_by_role("button", name="Choose")).to_be_hidden()
    expect(reader.get_by_text("Of the 4 entries shown, at least 45.0")).to_be_visible()
    expect(reader.locator(ANSWER)).to_be_visible()
    expect(reader.locator(".plot")).to_be_hidden()


def test_filters_swap_the_board_alone(reader: Page) -> None:
    reader.goto(f"{BOARD}?sort=-score")
    mark(reader)
    reader.get_by_label("Find").fill("stea")
    reader.get_by_label("Find").press("Enter")
    expect(reader.locator("#announcer")).to_have_text("1 ranked, 0 not ranked, 3 left out by the filters")
    expect(reader.get_by_label("Find")).to_be_focused()
    assert ranked(reader) == ["1 steady"] and reader.url.endswith("sort=-score&q=stea")
    reader.get_by_label("Find").fill("")
    reader.get_by_text("Filters", exact=True).click()
    reader.get_by_label("Most cost").fill("0.005")
    reader.get_by_label("Ranked only").check()
    reader.locator(".panel:visible").get_by_role("button", name="Apply").click()
    expect(reader.locator(".filtered")).to_contain_text("known costs of at most $0.005")
    assert ranked(reader) == ["2 quick", "3 rambler"]
    reader.locator("#filter-columns").click()
    reader.get_by_label("Coverage").check()
    reader.locator(".panel:visible").get_by_role("button", name="Apply").click()
    expect(reader.get_by_role("columnheader", name="Coverage")).to_have_count(0)
    assert is_same_document(reader)
    reader.go_back()
    expect(reader.get_by_role("columnheader", name="Coverage")).to_be_visible()
    assert ranked(reader) == ["2 quick", "3 rambler"]
    reader.get_by_role("link", name="Clear filters").click()
    expect(reader.locator(".filtered")).to_have_count(0)
    assert len(ranked(reader)) == 3


def test_a_slow_older_answer_never_overwrites_a_newer_one(
    new_context: NewContext, sessions: Sessions, site: Site
) -> None:
    """The request given up is logged by the browser, so the console is not watched."""
    page = new_context(storage_state=sessions(site.reader)).new_page()
    page.goto(BOARD)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("q=stea"), hold)
    page.get_by_label("Find").fill("stea")
    page.get_by_label("Find").press("Enter")
    expect(page.locator("#board")).to_have_attribute("aria-busy", "true")
    page.locator("thead th.cost a").click()
    expect(page).to_have_url(re.compile("sort=cost$"))
    (older,) = held
    with contextlib.suppress(Error):  # the browser no longer wants it
        older.continue_()
    page.wait_for_timeout(500)
    assert len(ranked(page)) == 3 and page.url.endswith("sort=cost")


def test_everything_works_without_script(open_page: OpenPage, site: Site) -> None:
    page = open_page(site.reader, java_script_enabled=False)
    page.goto(BOARD)
    page.get_by_label("Find").fill("e")
    page.locator("#filter-apply").click()
    assert "q=e" in page.url and ranked(page) == ["1 steady", "3 rambler"]
    expect(page.locator(".plot")).to_be_hidden()
    page.get_by_text("The same as a table").click()
    expect(
        page.get_by_role("region", name="Cost against correctness, as a table").get_by_role("table")
    ).to_be_visible()
    page.get_by_role("link", name="at least").click()
    expect(page.locator(ANSWER)).to_contain_text("steady")
    page.get_by_label("At least").fill("20")
    page.get_by_role("button", name="Choose").click()
    assert "floor=20" in page.url and "q=e" in page.url
    expect(page.locator(ANSWER)).to_contain_text("rambler")
    page.locator("#filter-columns").click()
    page.get_by_label("Spread").check()
    page.locator(".panel:visible").get_by_role("button", name="Apply").click()
    expect(page.get_by_role("columnheader", name="Spread")).to_have_count(0)
    expect(page.locator(ANSWER)).to_contain_text("rambler")
