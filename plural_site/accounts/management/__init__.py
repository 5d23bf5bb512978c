from __future__ import annotations

from django.core.management.base import CommandError

from plural_site.accounts.models import User


def person(email: str) -> User:
    """The person with this address, for commands. Raises CommandError."""
    try:
        return User.objects.get_by_natural_key(email.strip())
    except User.DoesNotExist as error:
        raise CommandError(f"There is no person {email}. Create one with `manage.py create_user`.") from error
