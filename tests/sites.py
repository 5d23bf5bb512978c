"""Sites of their own, whose commands are processes: they can be killed, and several may work at once."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import connection

ROOT = Path(__file__).parents[1]
SECONDS = 180


class Site:
    """Settings of the shell do not reach it. Its database is SQLite in `data`, unless another is named."""

    def __init__(self, data: Path, database: str = "") -> None:
        kept = ("PATH", "HOME", "LANG", "VIRTUAL_ENV", "PYTHONPATH")
        self.data = data
        self.environment = {name: os.environ[name] for name in kept if name in os.environ}
        self.environment |= {
            "DATA_DIR": str(data),
            "DJANGO_SETTINGS_MODULE": "plural_site.settings",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if database:
            self.environment["DATABASE_URL"] = database

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Python with these arguments; it has to exit with `code`."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def manage(self, *arguments: object, code: int = 0) -> str:
        """What a command prints, first to stdout."""
        done = self.run("manage.py", *map(str, arguments), code=code)
        return done.stdout + done.stderr

    def start(self, *arguments: object) -> subprocess.Popen[bytes]:
        """A command in a process group of its own."""
        return subprocess.Popen(
            [sys.executable, "manage.py", *map(str, arguments)],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def worker(self) -> subprocess.Popen[bytes]:
        return self.start("work")

    def rows(self, query: str) -> list[Any]:
        """From its SQLite."""
        with contextlib.closing(sqlite3.connect(self.data / "plural-site.sqlite3", timeout=20)) as own:
            return own.execute(query).fetchall()


SEED = """
import sys, django
django.setup()
from pathlib import Path
from django.core.management import call_command
from plural_site.accounts.actions import create_project, create_user, personal_account
from tests.uploading import enqueue
call_command("migrate", verbosity=0)
ann = create_user(email="ann@example.org", name="Ann")
project = create_project(actor=ann, account=personal_account(ann), slug="triage")
for path in sorted(Path(sys.argv[1]).glob("*.tgz")):
    enqueue(project, ann, path.read_bytes(), path.name)
"""
"""Makes the database, Ann with a project, and queues the archives in a folder."""


@contextmanager
def fresh_postgresql() -> Iterator[str]:
    """Address of an empty database on the server that the suite runs on."""
    import psycopg  # noqa: PLC0415 - only where the suite runs on PostgreSQL

    told = connection.settings_dict
    pairs = (("host", "HOST"), ("port", "PORT"), ("user", "USER"), ("password", "PASSWORD"))
    server = {name: told[key] for name, key in pairs if told[key]}
    name = f"site_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(dbname="postgres", autocommit=True, **server) as own:
        own.execute(f'CREATE DATABASE "{name}"')
    try:
        yield f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}"
    finally:
        with psycopg.connect(dbname="postgres", autocommit=True, **server) as own:
            own.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
