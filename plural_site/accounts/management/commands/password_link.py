from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from plural_site.accounts.management import person
from plural_site.accounts.tokens import password_path


class Command(BaseCommand):
    help = "Prints a link by which a person sets a new password, once, within a day."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        self.stdout.write(settings.PLURAL_SITE_URL + password_path(person(email)))
