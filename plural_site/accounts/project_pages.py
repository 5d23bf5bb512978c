"""Settings of a project."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from plural_site.accounts.access import Need, can
from plural_site.accounts.frame import Frame, project_frame
from plural_site.accounts.models import Project
from plural_site.accounts.removal import removals
from plural_site.formats import bytes_text, clean_text, count, datetime_text


@dataclass(frozen=True, slots=True)
class ProjectSettingsPage:
    """`archived_since` is '' while it isn't archived, `delete_href` for who may not delete."""

    frame: Frame
    slug: str
    account: str
    archived_since: str
    archive_href: str
    delete_href: str
    leave_href: str


@dataclass(frozen=True, slots=True)
class Going:
    label: str
    number: str


@dataclass(frozen=True, slots=True)
class DeletePage:
    frame: Frame
    name: str
    slug: str
    going: tuple[Going, ...]
    hindrance: str
    back_href: str


def project_settings_page(project: Project) -> ProjectSettingsPage:
    arguments = [project.slug]
    return ProjectSettingsPage(
        frame=project_frame(project, "project-settings"),
        slug=project.slug,
        account=clean_text(project.account.name),
        archived_since=datetime_text(project.archived_at) if project.archived_at else "",
        archive_href=reverse("accounts:project-archive", args=arguments),
        delete_href=reverse("accounts:project-delete", args=arguments) if can(project, Need.DELETE) else "",
        leave_href=reverse("accounts:project-leave", args=arguments) if not project.owned else "",
    )


def delete_page(project: Project) -> DeletePage:
    parts = removals(project)
    return DeletePage(
        frame=project_frame(project, "project-settings"),
        name=clean_text(project.name),
        slug=project.slug,
        going=tuple(
            Going(counted.label, bytes_text(counted.number) if counted.is_bytes else count(counted.number))
            for part in reversed(parts)
            for counted in part.counts()
        ),
        hindrance=next((text for part in parts if (text := part.hindrance())), ""),
        back_href=reverse("accounts:project-settings", args=[project.slug]),
    )
