"""What the pages of this app show."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from plural_site.accounts.access import projects_of
from plural_site.accounts.models import Project, User
from plural_site.formats import clean_text


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
    """`new_href`: where the person makes a project of their own."""

    projects: tuple[ProjectRow, ...]
    email: str
    new_href: str


def home_page(user: User) -> HomePage:
    """The projects that `user` may read, by name."""
    rows = tuple(project_row(project) for project in projects_of(user))
    return HomePage(projects=rows, email=user.email, new_href=reverse("accounts:project-new-own"))


def project_row(project: Project) -> ProjectRow:
    """A row for a project from `projects_of`."""
    return ProjectRow(
        name=clean_text(project.name),
        slug=project.slug,
        url=project.get_absolute_url(),
        account=clean_text(project.account.name),
        role="owner" if project.owned else project.role or "",
        is_archived=project.archived_at is not None,
    )
