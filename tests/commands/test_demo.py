"""`manage.py demo` in a process of its own, on a database that it sets up itself."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def demo(data: Path, *options: str) -> subprocess.CompletedProcess[str]:
    kept = ("PATH", "HOME", "LANG", "VIRTUAL_ENV")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", "demo", *options],
        cwd=ROOT,
        env={**environment, "DATA_DIR": str(data), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,  # nothing may prompt
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def counts(data: Path) -> list[int]:
    (database,) = data.glob("*.sqlite3")
    with closing(sqlite3.connect(database)) as connection:
        tables = (
            "accounts_user",
            "accounts_project",
            "jobs_job",
            "jobs_trial",
            "jobs_execution",
            "jobs_tally",
        )
        return [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables]  # noqa: S608


def test_demo_gets_ready_and_can_be_run_again(tmp_path: Path) -> None:
    first = demo(tmp_path, "--no-serve", "--port", "8123")
    assert first.returncode == 0, first.stderr
    assert "19 Jobs are in the project demo" in first.stdout
    assert "http://127.0.0.1:8123/projects/demo" in first.stdout
    assert re.search(r"Sign in +http://127\.0\.0\.1:8123/sign-in/\S+/\S+", first.stdout)
    password = r"demo@example\.test with the password (\S+)"
    before = counts(tmp_path)
    assert before[:4] == [1, 1, 19, 270]
    second = demo(tmp_path, "--no-serve")
    assert second.returncode == 0, second.stderr
    assert counts(tmp_path) == before
    said = [re.search(password, run.stdout) for run in (first, second)]
    assert all(said)
    assert said[0][1] != said[1][1]  # type: ignore[index]


def test_demo_refuses_a_port_that_is_taken_before_it_does_anything(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        run = demo(tmp_path, "--port", str(taken.getsockname()[1]))
    assert run.returncode == 1
    assert "--port N" in run.stderr
    assert not list(tmp_path.glob("*.sqlite3"))


@pytest.mark.parametrize("port", ["-1", "70000"])
def test_demo_refuses_what_is_no_port(port: str, tmp_path: Path) -> None:
    assert demo(tmp_path, "--port", port).returncode == 1
