"""The site as it is deployed: gunicorn, workers, perhaps nginx, and people who talk to it over HTTP.

Everything listens on 127.0.0.1 or on a Unix socket, and ends with the block that started it.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import requests

from tests.ports import is_open

ROOT = Path(__file__).parents[1]
KEPT = ("PATH", "LANG", "VIRTUAL_ENV", "PYTHONPATH")
PASSWORD = "correct horse battery"
PATIENCE = 60.0
"""Seconds that a process has to come up, or to end."""

Process = subprocess.Popen[bytes]


def wait_for(what: Callable[[], bool], why: str = "it took too long", patience: float = PATIENCE) -> None:
    give_up = time.monotonic() + patience
    while not what():
        if time.monotonic() > give_up:
            raise TimeoutError(why)
        time.sleep(0.05)


class Serving:
    """`data` becomes DATA_DIR; logs go beside it. Its processes are in sessions of their own."""

    def __init__(self, data: Path, port: int, **environment: str) -> None:
        self.data, self.port, self.url = data, port, f"http://127.0.0.1:{port}"
        self.environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.environment |= {"DATA_DIR": str(data), "HOME": str(data), "PYTHONDONTWRITEBYTECODE": "1"}
        self.environment |= {"IP_RATE_LIMIT": "0", **environment}
        self.processes: list[Process] = []
        data.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, places: TracebackType | None
    ) -> None:
        for process in reversed(self.processes):
            end(process)

    def manage(self, *arguments: str, **environment: str) -> str:
        """Runs a command and returns what it prints."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def add_person(self, email: str, project: str = "") -> None:
        secret = self.data / "password"
        secret.write_text(PASSWORD)
        self.manage("create_user", email, "--password-file", str(secret))
        if project:
            self.manage("create_project", project, "--owner", email)

    def start(self, name: str, *command: str, **environment: str) -> Process:
        log = self.data.with_name(f"{self.data.name}-{name}.log").open("ab")
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment | environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log.close()
        self.processes.append(process)
        return process

    def log(self, name: str) -> str:
        return self.data.with_name(f"{self.data.name}-{name}.log").read_text()

    def web(self, *options: str, workers: int = 3) -> Process:
        """gunicorn, once it answers."""
        process = self.start(
            "web",
            *(sys.executable, "-m", "gunicorn", "-c", "python:plural_site.gunicorn_conf"),
            *(options or ("--bind", f"127.0.0.1:{self.port}")),
            WEB_CONCURRENCY=str(workers),
        )
        if not options:
            wait_for(lambda: is_open(self.port), self.log("web"))
        return process

    def worker(self) -> Process:
        return self.start("worker", sys.executable, "manage.py", "work")


def kill(process: Process) -> None:
    """With all that it started, at once."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def end(process: Process) -> None:
    """As a service manager does."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            kill(process)


class Person(requests.Session):
    """Somebody with a browser that runs the site's scripts."""

    def __init__(self, url: str, email: str = "") -> None:
        super().__init__()
        self.url, self.token = url, ""
        if email:
            self.sign_in(email)

    def request(self, method: Any, url: Any, *args: Any, **options: Any) -> requests.Response:
        options.setdefault("timeout", 120)
        return super().request(method, self.url + url if str(url).startswith("/") else url, *args, **options)

    def sign_in(self, email: str) -> None:
        self.token_of("/sign-in")
        answer = self.form("/sign-in", username=email, password=PASSWORD)
        if answer.status_code != 302:
            raise RuntimeError(f"{email} could not sign in: {answer.status_code}")

    def token_of(self, page: str) -> str:
        """Of the forms on a page."""
        answer = self.get(page)
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', answer.text)
        if not found:
            raise RuntimeError(f"{page} has no form: {answer.status_code} {answer.text[:300]}")
        self.token = found[1]
        return self.token

    def form(self, address: str, **fields: Any) -> requests.Response:
        headers = {"Referer": self.url + address}
        fields["csrfmiddlewaretoken"] = self.token
        return self.post(address, data=fields, headers=headers, allow_redirects=False)

    def begin(self, project: str, name: str, data: bytes) -> dict[str, Any]:
        """Announces an upload, or finds out how far it came."""
        answer = self.form(
            f"/projects/{project}/imports/uploads",
            name=name,
            size=len(data),
            fingerprint=hashlib.sha256(name.encode() + data).hexdigest(),
        )
        answer.raise_for_status()
        begun: dict[str, Any] = answer.json()
        return begun

    def part(self, begun: dict[str, Any], number: int, data: bytes) -> requests.Response:
        start = number * begun["part_size"]
        part = data[start : start + begun["part_size"]]
        headers = {
            "Content-Type": "application/octet-stream",
            "X-Part-SHA256": hashlib.sha256(part).hexdigest(),
            "X-CSRFToken": self.token,
            "Referer": self.url + begun["href"],
        }
        return self.post(f"{begun['parts_href']}{number}", data=part, headers=headers)

    def upload(self, project: str, name: str, data: bytes) -> str:
        """All of it. Returns the address of its import."""
        begun = self.begin(project, name, data)
        for number in range(begun["first"], -(-len(data) // begun["part_size"])):
            self.part(begun, number, data).raise_for_status()
        href: str = begun["href"]
        return href
