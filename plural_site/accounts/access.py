"""The only way to a project, for people and for API keys. What is hidden looks like what is not there."""

from __future__ import annotations

import enum
import hashlib
import hmac
import re
from datetime import timedelta
from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone

from plural_site.accounts.models import (
    SLUG_PATTERN,
    ApiKey,
    KeyAbility,
    Project,
    ProjectQuerySet,
    ProjectRole,
    User,
)
from plural_site.http import HtmxRequest

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

KEY_PREFIX_LENGTH = 12
KEY_PATTERN = re.compile(r"plural_[A-Za-z0-9_-]{43}")
LAST_USED_STEP = timedelta(hours=1)


class SignedInRequest(HtmxRequest):
    """What views get: SignInRequiredMiddleware lets no one else through."""

    user: User


class Need(enum.Enum):
    READ = "read"
    WRITE = "write"
    MANAGE = "manage"


ROLES_FOR = {
    Need.READ: frozenset({ProjectRole.VIEWER, ProjectRole.CONTRIBUTOR, ProjectRole.MANAGER}),
    Need.WRITE: frozenset({ProjectRole.CONTRIBUTOR, ProjectRole.MANAGER}),
    Need.MANAGE: frozenset({ProjectRole.MANAGER}),
}


def projects_of(user: User | AnonymousUser) -> ProjectQuerySet:
    """Every project that `user` may read, archived ones included, by name."""
    if not user.is_authenticated:
        return Project.objects.none()
    return Project.objects.visible_to(user).select_related("account").order_by("name", "id")


def project_for(user: User | AnonymousUser, slug: str, need: Need) -> Project:
    """The project, if `user` may do there what `need` says.

    Raises Http404 when there is no such project or the user has no role in it, PermissionDenied when
    the role is too small or the project is archived and `need` is more than reading.
    """
    return _checked(_named(projects_of(user), slug), need)


def project_for_key(key: ApiKey, slug_or_id: str | None, need: Need) -> Project:
    """As `project_for`, for a key from `authenticate_key`. A slug comes before an id.

    None means the project that the key is limited to. A key never does more than its person may, nor
    anything that needs a manager.
    """
    projects = projects_of(key.user).filter(account=key.account_id)
    if key.project_id is not None:
        projects = projects.filter(pk=key.project_id)
    elif slug_or_id is None:
        raise Http404("No project is named.")
    if slug_or_id is None:
        project = projects.first()
    else:
        project = _named(projects, slug_or_id) or _numbered(projects, slug_or_id)
    project = _checked(project, need)
    if need is Need.MANAGE or (need is Need.WRITE and key.ability != KeyAbility.WRITE):
        raise PermissionDenied("This key may not do that.")
    return project


def can(project: Project, need: Need) -> bool:
    """Whether the person who got this project from `project_for` may do there what `need` says."""
    return project.role in ROLES_FOR[need] and (need is Need.READ or project.archived_at is None)


def authenticate_key(secret: str) -> ApiKey | None:
    """The live key with this secret, of an active person; None for any other text."""
    if not KEY_PATTERN.fullmatch(secret):
        return None
    digest = hashlib.sha256(secret.encode()).hexdigest()
    now = timezone.now()
    keys = ApiKey.objects.select_related("user", "account", "project")
    for key in keys.filter(prefix=secret[:KEY_PREFIX_LENGTH]):
        if hmac.compare_digest(key.secret_sha256, digest):
            expired = key.expires_at is not None and key.expires_at <= now
            if key.revoked_at is not None or expired or not key.user.is_active:
                return None
            if key.last_used_at is None or key.last_used_at <= now - LAST_USED_STEP:
                ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
                key.last_used_at = now
            return key
    return None


def _named(projects: ProjectQuerySet, slug: str) -> Project | None:
    return projects.filter(slug=slug).first() if re.fullmatch(SLUG_PATTERN, slug) else None


def _numbered(projects: ProjectQuerySet, text: str) -> Project | None:
    return projects.filter(pk=int(text)).first() if re.fullmatch(r"[0-9]{1,18}", text) else None


def _checked(project: Project | None, need: Need) -> Project:
    if project is None:
        raise Http404("No such project.")
    if project.role not in ROLES_FOR[need]:
        raise PermissionDenied("Your role in this project does not allow that.")
    if not can(project, need):
        raise PermissionDenied("This project is archived and can only be read.")
    return project
