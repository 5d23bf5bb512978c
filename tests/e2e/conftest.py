"""The site as `manage.py demo` serves it, started once for all browser tests, and people to look at it with.

The site runs in its own process on its own data, so tests here touch no database and only read it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect

from tests.builders import AgentSpec, BenchmarkSpec, make_job
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
BOARD = "/projects/demo/benchmarks/support-triage@1.0.0"
LONG = "an-agent-with-a-name-that-nobody-would-give-" * 4
SETTINGS = (
    "ALLOWED_HOSTS",
    "DATABASE_URL",
    "DEBUG",
    "DJANGO_SETTINGS_MODULE",
    "PLURAL_SITE_URL",
    "SECRET_KEY",
)

TIMEOUT = 15_000  # milliseconds; what is slow here is a busy machine

expect.set_options(timeout=TIMEOUT)

NewContext = Callable[..., BrowserContext]
OpenPage = Callable[..., Page]


@dataclass(frozen=True, slots=True)
class Person:
    email: str
    password: str


Sessions = Callable[[Person], StorageState]


@dataclass(frozen=True, slots=True)
class Site:
    """`reader` is in the demo's project; `stranger` is not, and has a project "odd" of their own."""

    url: str
    reader: Person
    stranger: Person
    manage: Callable[..., str]
    """Runs a management command and returns what it prints."""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
    return {**browser_type_launch_args, "executable_path": chromium, "args": flags}


@pytest.fixture(scope="session")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Needs the browser first, so that nothing is imported where there is none."""
    folder = tmp_path_factory.mktemp("site")
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    environment |= {"DATA_DIR": str(folder / "data"), "PYTHONUNBUFFERED": "1"}

    def manage(*arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    port = free_port()
    with subprocess.Popen(
        [sys.executable, "manage.py", "demo", "--port", str(port)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        try:
            reader = _printed_person(server)
            stranger = Person("stranger@example.test", "correct horse battery")
            secret = folder / "password"
            secret.write_text(stranger.password)
            manage("create_user", stranger.email, "--password-file", str(secret))
            manage("create_project", "odd", "--owner", stranger.email)
            manage("import_jobs", str(_odd_jobs(folder)), "--project", "odd")
            yield Site(f"http://127.0.0.1:{port}", reader, stranger, manage)
        finally:
            server.terminate()


def _printed_person(server: subprocess.Popen[str]) -> Person:
    """Waits until the demo says that it serves, and takes the person from what it printed."""
    assert server.stdout is not None
    printed: list[str] = []
    for line in server.stdout:
        printed.append(line)
        if line.startswith("Quit the server"):
            break
    threading.Thread(target=deque, args=(server.stdout, 0), daemon=True).start()  # the pipe must not fill up
    found = re.search(r"or as\s+(\S+) with the password (\S+)", "".join(printed))
    assert found, "".join(printed)
    return Person(*found.groups())


def _odd_jobs(folder: Path) -> Path:
    """A Job that strains the pages: a long name, markup in names, negative scores, no track, no interval."""
    spec = BenchmarkSpec(
        name="Odd <b>Bench</b>",
        slug="odd-bench",
        scoring={"score_range": [-1.0, 1.0], "success_threshold": None},
    )
    agents = (AgentSpec(name=LONG, model="sim/" + "m" * 80), AgentSpec(name="<i>tilted</i>"))
    jobs = folder / "odd"
    make_job(jobs, benchmark=spec, agents=agents, outcomes=lambda agent, *_: -0.5 if agent == LONG else 0.25)
    return jobs


@pytest.fixture(scope="session")
def base_url(site: Site) -> str:
    """Lets tests go to paths."""
    return site.url


def sign_in(page: Page, person: Person) -> None:
    page.goto("/sign-in")
    page.get_by_label("E-mail address").fill(person.email)
    page.get_by_label("Password").fill(person.password)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()


@pytest.fixture(scope="session")
def sessions(browser: Browser, site: Site) -> Sessions:
    """Signs each person in once."""
    states: dict[Person, StorageState] = {}

    def state(person: Person) -> StorageState:
        if person not in states:
            context = browser.new_context(base_url=site.url)
            page = context.new_page()
            sign_in(page, person)
            page.wait_for_url("**/projects/*")
            states[person] = context.storage_state()
            context.close()
        return states[person]

    return state


@pytest.fixture
def open_page(new_context: NewContext, sessions: Sessions) -> Iterator[OpenPage]:
    """Opens a page in a browser of its own, signed in as the given person (None for nobody).

    Further arguments are Playwright's for a new context. The test fails if a page logs an error, which
    a violation of the content security policy is too.
    """
    errors: list[str] = []

    def opened(person: Person | None, **options: Any) -> Page:
        page = new_context(storage_state=sessions(person) if person else None, **options).new_page()
        page.set_default_timeout(TIMEOUT)
        page.on(
            "console", lambda said: errors.append(said.text) if said.type in {"error", "warning"} else None
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield opened
    assert errors == []


@pytest.fixture
def reader(site: Site, open_page: OpenPage) -> Page:
    """A member of the demo's project, at no page yet."""
    return open_page(site.reader)
