"""Every write about people, projects and keys. Each leaves an audit event."""

from __future__ import annotations

import hashlib
import itertools
import re
import secrets
from datetime import datetime
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import validate_email
from django.db import models, transaction
from django.utils import timezone

from plural_site.accounts.access import KEY_PREFIX_LENGTH
from plural_site.accounts.models import (
    SLUG_PATTERN,
    Account,
    AccountKind,
    AccountMembership,
    AccountRole,
    ApiKey,
    AuditEvent,
    KeyAbility,
    Machine,
    Project,
    ProjectMembership,
    ProjectRole,
    User,
)
from plural_site.accounts.tokens import user_of_link

Actor = User | ApiKey | Machine


def record(
    actor: Actor,
    verb: str,
    target: models.Model,
    *,
    project: Project | None = None,
    account: Account | None = None,
    digest: str = "",
    **detail: Any,
) -> AuditEvent:
    """Writes the audit event of a change; call it in the transaction of the change.

    It stands in the log of `project` and in that of its account, or of `account` alone.
    """
    return AuditEvent.objects.create(
        actor=actor if isinstance(actor, User) else None,
        actor_key=actor if isinstance(actor, ApiKey) else None,
        machine=actor if isinstance(actor, Machine) else "",
        verb=verb,
        project=project,
        project_slug=project.slug if project else None,
        account_id=project.account_id if project else account.pk if account else None,
        object_type=target._meta.label_lower,
        object_id=str(target.pk),
        object_digest=digest,
        detail=detail,
    )


@transaction.atomic
def create_user(
    *, email: str, name: str = "", password: str | None = None, actor: Actor | None = None
) -> User:
    """A person with a personal account. Without `actor` (on the command line) they count as their own.

    Without a password they come in by a sign-in link only. Raises ValidationError.
    """
    email = email.strip().lower()
    validate_email(email)
    if User.objects.filter(email=email).exists():
        raise ValidationError(f"There is a person with the e-mail address {email} already.")
    user = User(email=email, name=name)
    if password is None:
        user.set_unusable_password()
    else:
        validate_password(password, user)
        user.set_password(password)
    user.save()
    account = Account.objects.create(
        slug=free_slug(Account, email.partition("@")[0]), name=str(user), kind=AccountKind.PERSONAL
    )
    AccountMembership.objects.create(account=account, user=user, role=AccountRole.OWNER)
    record(actor or user, "user.create", user, account=account, email=email, slug=account.slug)
    return user


@transaction.atomic
def set_password(*, actor: Actor, user: User, password: str) -> None:
    """Gives `user` a new password; links made before stop working. Raises ValidationError."""
    validate_password(password, user)
    user.set_password(password)
    user.save(update_fields=["password"])
    record(actor, "user.set_password", user, account=personal_account(user))


@transaction.atomic
def create_project(*, actor: User, account: Account, slug: str, name: str = "", notice: str = "") -> Project:
    """A project of `account`, which `actor` must own. Raises ValidationError, PermissionDenied."""
    if not owns(actor, account):
        raise PermissionDenied(f"{actor} is not an owner of the account {account.slug}.")
    if not re.match(SLUG_PATTERN, slug):
        raise ValidationError(
            f"{slug!r} can't be a project's slug: use up to 80 small letters, digits and hyphens, "
            "starting with a letter or digit."
        )
    if Project.objects.filter(slug=slug).exists():
        raise ValidationError(f"The slug {slug!r} is taken. {free_slug(Project, slug)!r} is free.")
    project = Project.objects.create(account=account, slug=slug, name=name or slug, notice=notice)
    record(actor, "project.create", project, project=project, slug=slug)
    return project


@transaction.atomic
def set_project_member(
    *, actor: Actor, project: Project, user: User, role: ProjectRole, may_publish: bool = False
) -> ProjectMembership:
    """Gives `user` a role in `project`, in place of any they had. The caller has checked Need.MANAGE."""
    membership, _ = ProjectMembership.objects.update_or_create(
        project=project, user=user, defaults={"role": role, "may_publish": may_publish}
    )
    record(
        actor,
        "project.set_member",
        membership,
        project=project,
        user=user.email,
        role=role,
        may_publish=may_publish,
    )
    return membership


@transaction.atomic
def create_api_key(
    *,
    actor: User,
    account: Account,
    project: Project | None = None,
    label: str = "",
    ability: KeyAbility = KeyAbility.WRITE,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A key that acts for `actor`, and its secret, which is not kept. Raises ValidationError."""
    if project is not None and project.account_id != account.pk:
        raise ValidationError(f"The project {project.slug} is not of the account {account.slug}.")
    secret = f"plural_{secrets.token_urlsafe(32)}"
    key = ApiKey.objects.create(
        user=actor,
        account=account,
        project=project,
        label=label,
        prefix=secret[:KEY_PREFIX_LENGTH],
        secret_sha256=hashlib.sha256(secret.encode()).hexdigest(),
        ability=ability,
        expires_at=expires_at,
    )
    record(actor, "api_key.create", key, project=project, account=account, prefix=key.prefix, ability=ability)
    return key, secret


@transaction.atomic
def use_sign_in_link(*, uid: str, token: str) -> User | None:
    """The person whom the link signs in, once: the lock and the new last_login spend it."""
    user = user_of_link(uid, token, User.objects.select_for_update())
    if user is not None:
        user.last_login = timezone.now()
        user.save(update_fields=["last_login"])
        record(user, "user.use_sign_in_link", user, account=personal_account(user))
    return user


def personal_account(user: User) -> Account:
    """The account that came with the person."""
    return Account.objects.filter(
        kind=AccountKind.PERSONAL, memberships__user=user, memberships__role=AccountRole.OWNER
    ).earliest("id")


def owns(user: User, account: Account) -> bool:
    return AccountMembership.objects.filter(account=account, user=user, role=AccountRole.OWNER).exists()


def free_slug(model: type[Account | Project], wanted: str, otherwise: str = "person") -> str:
    """`wanted` as a slug, or `otherwise`, with the first of -2, -3, ... that makes it unused."""
    base = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[:70] or otherwise
    candidates = itertools.chain([base], (f"{base}-{number}" for number in itertools.count(2)))
    return next(slug for slug in candidates if not model._default_manager.filter(slug=slug).exists())
