"""Changes of a project itself: its name, whether it is archived, its end. The caller has checked access."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from plural_site.accounts.actions import record
from plural_site.accounts.models import ApiKey, AuditEvent, Project, User
from plural_site.accounts.removal import Removal, removals
from plural_site.db.frozen import ThawError, thawed


@transaction.atomic
def change_project(*, actor: User, project: Project, name: str, notice: str) -> None:
    """A new name and notice; the slug, which addresses carry, stays."""
    if (name, notice) != (project.name, project.notice):
        project.name, project.notice = name, notice
        project.save(update_fields=["name", "notice"])
        record(actor, "project.change", project, project=project, name=name, notice=notice)


@transaction.atomic
def archive_project(*, actor: User, project: Project, archived: bool) -> None:
    """An archived project can be read only. Doing it twice changes nothing."""
    locked = Project.objects.select_for_update().get(pk=project.pk)
    if (locked.archived_at is not None) == archived:
        return
    locked.archived_at = timezone.now() if archived else None
    locked.save(update_fields=["archived_at"])
    record(actor, "project.archive" if archived else "project.unarchive", locked, project=locked)


def delete_project(*, actor: User, project: Project, typed_slug: str) -> None:
    """Deletes the project with all that apps have registered; its audit events stay with the account.

    Raises ValidationError where the typed slug is another or something stands in the way.
    """
    if typed_slug != project.slug:
        raise ValidationError(f"Type the project's slug, {project.slug}, to delete it.")
    parts = removals(project)
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        hindrance = next((text for part in parts if (text := part.hindrance())), "")
        if hindrance:
            raise ValidationError(hindrance)
        detail = {counted.label: counted.number for part in parts for counted in part.counts()}
        record(
            actor,
            "project.delete",
            project,
            account=project.account,
            slug=project.slug,
            name=project.name,
            removed=detail,
        )
        _delete_rows(project, parts)
    for part in parts:
        part.after_commit()


def _delete_rows(project: Project, parts: list[Removal]) -> None:
    for part in parts:
        part.remove()
    # A key without a project would be one for the whole account, so it is revoked in the same statement.
    # It is not deleted: audit events name it.
    ApiKey.objects.filter(project=project).update(
        revoked_at=Coalesce("revoked_at", models.Value(timezone.now())),
        project=None,
        deleted_project=project.slug,
    )
    frozen = dict.fromkeys(model for part in parts for model in part.frozen)
    try:
        with thawed(AuditEvent, *frozen):
            for part in parts:
                part.remove_frozen()
            AuditEvent.objects.filter(project=project).update(
                project=None, project_slug=project.slug, account=project.account_id
            )
            project.delete()  # within, as it also writes to the log that no event names it any more
    except ThawError as error:
        raise ValidationError(str(error)) from error
