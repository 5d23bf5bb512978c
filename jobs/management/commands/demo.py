from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.imports import import_path
from jobs.models import Job
from jobs.search_texts import index_texts
from plural_site.accounts.actions import create_project, create_user, personal_account, set_password
from plural_site.accounts.models import Project, User
from plural_site.accounts.tokens import sign_in_path
from plural_site.env import DEFAULT_URL

EMAIL = "demo@example.test"
SLUG = "demo"
NOTICE = (
    "Demo: the Agents of these Jobs are scripts. No model was called, so the scores say nothing about any."
)
MANAGE = Path(__file__).parents[3] / "manage.py"
RECORDED = Path(__file__).parents[2] / "demo" / "support-triage.tar.gz"


class Command(BaseCommand):
    help = "Sets up the database, imports recorded Jobs into a demo project and serves the site."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="exit when everything is ready")
        parser.add_argument("--port", type=int, default=8000, metavar="N", help="serve on this port (8000)")

    def handle(self, *args: Any, no_serve: bool, port: int, **options: Any) -> None:
        if not no_serve:
            _check_port(port)
        self.stdout.write("Setting up the database …")
        call_command("migrate", interactive=False, verbosity=0)
        password = secrets.token_urlsafe(9)
        user = _person(password)
        project = _project(user)
        self.stdout.write("Importing recorded Jobs …")
        report = import_path(project=project, actor=user, path=RECORDED)
        if not report.landed:
            raise CommandError(f"The demo Jobs did not all land: {report.problems[0]}")
        index_texts(list(Job.objects.visible(project).values_list("pk", flat=True)))
        is_set = settings.PLURAL_SITE_URL != DEFAULT_URL
        origin = settings.PLURAL_SITE_URL if is_set else f"http://127.0.0.1:{port}"
        self.stdout.write(
            f"\n{len(report.jobs)} Jobs are in the project {project.slug}.\n\n"
            f"  Site      {origin}/projects/{project.slug}\n"
            f"  Sign in   {origin}{sign_in_path(user)}   (works once)\n"
            f"  or as     {EMAIL} with the password {password}\n"
        )
        if no_serve:
            self.stdout.write(f"Serve it with: {sys.executable} manage.py runserver {port}")
            return
        self.stdout.write("Stop with Ctrl-C.\n")
        self.stdout.flush()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        with _worker():
            call_command("runserver", f"127.0.0.1:{port}", use_reloader=False, skip_checks=True)


@contextmanager
def _worker() -> Iterator[None]:
    """A worker that ends with this process, however that ends."""
    command = [sys.executable, str(MANAGE), "work", "--parent", str(os.getpid())]
    with subprocess.Popen(command) as process:  # noqa: S603 - our own command
        try:
            yield
        finally:
            process.terminate()


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            raise CommandError(
                f"Port {port} can't be used ({error}). Choose another with --port N."
            ) from error


def _person(password: str) -> User:
    """The demo's person, with a new password each time: the last one printed is the one that works."""
    user = User.objects.filter(email=EMAIL).first()
    if user is None:
        return create_user(email=EMAIL, name="Demo", password=password)
    set_password(actor=user, user=user, password=password)
    return user


def _project(user: User) -> Project:
    project = Project.objects.filter(slug=SLUG).first()
    if project is None:
        return create_project(
            actor=user, account=personal_account(user), slug=SLUG, name="Support desk demo", notice=NOTICE
        )
    if project.account != personal_account(user):
        raise CommandError(
            f"The project {SLUG} belongs to somebody else on this site; the demo needs that name."
        )
    return project
