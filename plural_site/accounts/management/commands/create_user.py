from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from plural_site.accounts.actions import create_user
from plural_site.accounts.tokens import sign_in_path


class Command(BaseCommand):
    help = "Creates a person. Without a password it prints a link that signs them in once, for a day."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="", help="how pages call the person")
        parser.add_argument("--password-file", type=Path, help="file with the password on its first line")

    def handle(self, *args: Any, email: str, name: str, password_file: Path | None, **options: Any) -> None:
        password = _first_line(password_file) if password_file else None
        try:
            user = create_user(email=email, name=name, password=password)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        if password is None:
            self.stdout.write(settings.PLURAL_SITE_URL + sign_in_path(user))


def _first_line(path: Path) -> str:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"Can't read the password file: {error}") from error
    if not lines or not lines[0]:
        raise CommandError(f"The first line of {path} is empty.")
    return lines[0]
