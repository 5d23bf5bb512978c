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
    Account,
    AccountRole,
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
    """What may be done in a project; docs/permissions.md says what each covers."""

    READ = "read"
    WRITE = "write"
    MANAGE = "manage"
    ADMINISTER = "administer"
    PUBLISH = "publish"
    DELETE = "delete"


class AccountNeed(enum.Enum):
    READ = "read"
    OWN = "own"


OWNER = "owner"
"""Stands beside the roles of a project for an owner of its account, who is a manager too."""

ROLES_FOR: dict[Need, frozenset[str]] = {
    Need.READ: frozenset({ProjectRole.VIEWER, ProjectRole.CONTRIBUTOR, ProjectRole.MANAGER}),
    Need.WRITE: frozenset({ProjectRole.CONTRIBUTOR, ProjectRole.MANAGER}),
    Need.MANAGE: frozenset({ProjectRole.MANAGER}),
    Need.ADMINISTER: frozenset({ProjectRole.MANAGER}),
    Need.PUBLISH: frozenset({ProjectRole.CONTRIBUTOR, ProjectRole.MANAGER}),  # with the right to publish
    Need.DELETE: frozenset({OWNER}),
}
WHEN_ARCHIVED = frozenset({Need.READ, Need.ADMINISTER, Need.DELETE})
BY_KEY: dict[Need, frozenset[str]] = {
    Need.READ: frozenset({KeyAbility.READ, KeyAbility.WRITE}),
    Need.WRITE: frozenset({KeyAbility.WRITE}),
}
"""What a key may do at most, by its ability; everything else takes a person."""
REFUSALS = {
    Need.PUBLISH: "You have not been given the right to publish here.",
    Need.DELETE: "Only owners of the account may delete its projects.",
}
ROLES_FOR_ACCOUNT: dict[AccountNeed, frozenset[str]] = {
    AccountNeed.READ: frozenset({AccountRole.MEMBER, AccountRole.OWNER}),
    AccountNeed.OWN: frozenset({AccountRole.OWNER}),
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
    if key.ability not in BY_KEY.get(need, ()):
        raise PermissionDenied("This key may not do that.")
    return project


def can(project: Project, need: Need) -> bool:
    """Whether the person who got this project from `project_for` may do there what `need` says."""
    return _has_role(project, need) and (need in WHEN_ARCHIVED or project.archived_at is None)


def account_for(user: User | AnonymousUser, slug: str, need: AccountNeed) -> tuple[Account, AccountRole]:
    """The account and the role of `user` in it. Raises as `project_for`."""
    found = None
    if user.is_authenticated and re.fullmatch(SLUG_PATTERN, slug):
        found = user.accounts.select_related("account").filter(account__slug=slug).first()
    if found is None:
        raise Http404("No such account.")
    if found.role not in ROLES_FOR_ACCOUNT[need]:
        raise PermissionDenied("Only owners of this account may do that.")
    return found.account, AccountRole(found.role)


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


def _has_role(project: Project, need: Need) -> bool:
    roles = {project.role, OWNER} if project.owned else {project.role}
    return not roles.isdisjoint(ROLES_FOR[need]) and (need is not Need.PUBLISH or project.publishable)


def _checked(project: Project | None, need: Need) -> Project:
    if project is None:
        raise Http404("No such project.")
    if not _has_role(project, need):
        raise PermissionDenied(REFUSALS.get(need, "Your role in this project does not allow that."))
    if not can(project, need):
        raise PermissionDenied("This project is archived and can only be read.")
    return project
