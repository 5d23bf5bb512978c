from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from plural_site.accounts.actions import create_project, personal_account
from plural_site.accounts.management import person


class Command(BaseCommand):
    help = "Creates a project in the personal account of its owner."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="name in addresses: small letters, digits and hyphens")
        parser.add_argument("--owner", required=True, metavar="EMAIL")
        parser.add_argument("--name", default="", help="title; the slug by default")

    def handle(self, *args: Any, slug: str, owner: str, name: str, **options: Any) -> None:
        user = person(owner)
        try:
            project = create_project(actor=user, account=personal_account(user), slug=slug, name=name)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"Created the project {project.slug}.")
