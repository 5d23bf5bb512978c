"""What the pages of this app show."""

from __future__ import annotations

from dataclasses import dataclass

from plural_site.accounts.access import projects_of
from plural_site.accounts.models import User


@dataclass(frozen=True, slots=True)
class ProjectRow:
    name: str
    slug: str
    url: str
    account: str
    role: str
    is_archived: bool


@dataclass(frozen=True, slots=True)
class HomePage:
    projects: tuple[ProjectRow, ...]
    email: str


def home_page(user: User) -> HomePage:
    """The projects that `user` may read, by name."""
    rows = [
        ProjectRow(
            name=project.name,
            slug=project.slug,
            url=project.get_absolute_url(),
            account=project.account.name,
            role=project.role or "",
            is_archived=project.archived_at is not None,
        )
        for project in projects_of(user)
    ]
    return HomePage(projects=tuple(rows), email=user.email)
