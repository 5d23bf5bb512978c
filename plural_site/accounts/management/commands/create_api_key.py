from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.http import Http404

from plural_site.accounts.access import Need, project_for
from plural_site.accounts.actions import create_api_key, personal_account
from plural_site.accounts.management import person


class Command(BaseCommand):
    help = "Creates an API key and prints it. It is not kept, so it can't be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="the person for whom the key acts")
        parser.add_argument(
            "--project", metavar="SLUG", help="limit the key to this project (default: all of the account)"
        )

    def handle(self, *args: Any, email: str, project: str | None, **options: Any) -> None:
        user = person(email)
        if project is None:
            _, secret = create_api_key(actor=user, account=personal_account(user))
        else:
            try:
                limit = project_for(user, project, Need.READ)
            except (Http404, PermissionDenied) as error:
                raise CommandError(f"{user.email} has no project {project!r}.") from error
            _, secret = create_api_key(actor=user, account=limit.account, project=limit)
        self.stdout.write(secret)
