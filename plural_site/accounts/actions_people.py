"""Changes of who is in an account or a project, and of how a person signs in.

The caller has checked access, except where a rule needs the lock that is taken here.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from plural_site.accounts.actions import (
    create_user,
    free_slug,
    owns,
    personal_account,
    record,
    set_password,
    set_project_member,
)
from plural_site.accounts.models import (
    SLUG_PATTERN,
    Account,
    AccountKind,
    AccountMembership,
    AccountRole,
    ApiKey,
    BrowserSession,
    ExternalIdentity,
    Invitation,
    Project,
    ProjectMembership,
    ProjectRole,
    User,
)
from plural_site.accounts.sessions import public_id
from plural_site.accounts.tokens import user_of_password_link

INVITATION_LASTS = timedelta(days=7)
RANKS = [ProjectRole.VIEWER, ProjectRole.CONTRIBUTOR, ProjectRole.MANAGER]
NO_LONGER = "This invitation no longer works."
LAST_OWNER = "This is the last owner of the account. Make somebody else an owner first."


@transaction.atomic
def create_organization(*, actor: User, slug: str, name: str = "") -> Account:
    """An account that `actor` owns. Raises ValidationError."""
    if not re.match(SLUG_PATTERN, slug):
        raise ValidationError(
            f"{slug!r} can't be an account's slug: use up to 80 small letters, digits and hyphens, "
            "starting with a letter or digit."
        )
    if Account.objects.filter(slug=slug).exists():
        raise ValidationError(f"The slug {slug!r} is taken. {free_slug(Account, slug)!r} is free.")
    account = Account.objects.create(slug=slug, name=name or slug, kind=AccountKind.ORGANIZATION)
    AccountMembership.objects.create(account=account, user=actor, role=AccountRole.OWNER)
    record(actor, "account.create", account, account=account, slug=slug)
    return account


@transaction.atomic
def rename_account(*, actor: User, account: Account, name: str) -> None:
    if name != account.name:
        account.name = name
        account.save(update_fields=["name"])
        record(actor, "account.change", account, account=account, name=name)


# Members


@transaction.atomic
def set_account_role(*, actor: User, account: Account, user: User, role: AccountRole) -> None:
    """A new role for a member. Raises ValidationError where that takes the last owner away."""
    _lock(account)
    membership = AccountMembership.objects.get(account=account, user=user)
    if membership.role == role:
        return
    if role is not AccountRole.OWNER:
        _check_owner_remains(account, user)
    membership.role = role
    membership.save(update_fields=["role"])
    record(actor, "account.set_member", membership, account=account, user=user.email, role=role)


@transaction.atomic
def remove_account_member(*, actor: User, account: Account, user: User) -> None:
    """Takes `user` out of the account and of all its projects. Raises ValidationError for the last owner."""
    _lock(account)
    membership = AccountMembership.objects.get(account=account, user=user)
    _check_owner_remains(account, user)
    record(actor, "account.remove_member", membership, account=account, user=user.email)
    membership.delete()
    for place in ProjectMembership.objects.filter(project__account=account, user=user).select_related(
        "project"
    ):
        _remove_from_project(actor, place)


@transaction.atomic
def change_project_member(
    *, actor: User, project: Project, user: User, role: ProjectRole, may_publish: bool
) -> None:
    """A new role for a member. `project` as `actor` got it. Raises PermissionDenied."""
    membership = ProjectMembership.objects.select_for_update().get(project=project, user=user)
    if (membership.role, membership.may_publish) == (role, may_publish):
        return
    if may_publish and not membership.may_publish:
        check_may_give(project, may_publish=True)
    set_project_member(actor=actor, project=project, user=user, role=role, may_publish=may_publish)


@transaction.atomic
def remove_project_member(*, actor: User, project: Project, user: User) -> None:
    """Takes `user` out of the project; does nothing where they have no role of their own there."""
    membership = (
        ProjectMembership.objects.filter(project=project, user=user).select_related("project").first()
    )
    if membership:
        _remove_from_project(actor, membership)


def check_may_give(project: Project, *, may_publish: bool) -> None:
    """The right to publish is given by who has it. Raises PermissionDenied."""
    if may_publish and not project.publishable:
        raise PermissionDenied("Only somebody who may publish here can give that right.")


def _remove_from_project(actor: User, membership: ProjectMembership) -> None:
    project = membership.project
    record(actor, "project.remove_member", membership, project=project, user=membership.user.email)
    membership.delete()


def _lock(account: Account) -> None:
    """One change of an account's members at a time, so that two owners can't remove each other at once."""
    Account.objects.select_for_update().get(pk=account.pk)


def _check_owner_remains(account: Account, user: User) -> None:
    others = AccountMembership.objects.filter(account=account, role=AccountRole.OWNER, user__is_active=True)
    if owns(user, account) and not others.exclude(user=user).exists():
        raise ValidationError(LAST_OWNER)


# Invitations


@transaction.atomic
def invite(
    *, actor: User, place: Account | Project, role: str, email: str = "", may_publish: bool = False
) -> tuple[Invitation, str]:
    """An invitation and its secret, which is not kept. Raises ValidationError, PermissionDenied."""
    email = email.strip().lower()
    if email:
        validate_email(email)
    project = place if isinstance(place, Project) else None
    account = place if isinstance(place, Account) else None
    if project:
        check_may_give(project, may_publish=may_publish)
    elif account and account.kind != AccountKind.ORGANIZATION:
        raise ValidationError("A personal account has one owner. Invite people to its projects instead.")
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        project=project,
        account=account,
        role=role,
        may_publish=may_publish,
        email=email,
        secret_sha256=_sha256(secret),
        created_by=actor,
        expires_at=timezone.now() + INVITATION_LASTS,
    )
    detail: dict[str, Any] = {"role": role, "email": email, "may_publish": may_publish}
    record(actor, "invitation.create", invitation, project=project, account=account, **detail)
    return invitation, secret


@transaction.atomic
def revoke_invitation(*, actor: User, invitation: Invitation) -> None:
    locked = Invitation.objects.select_for_update().get(pk=invitation.pk)
    if locked.revoked_at is None and locked.used_at is None:
        locked.revoked_at = timezone.now()
        locked.save(update_fields=["revoked_at"])
        record(
            actor,
            "invitation.revoke",
            locked,
            project=locked.project,
            account=locked.account,
            role=locked.role,
            email=locked.email,
        )


def open_invitation(secret: str, *, lock: bool = False) -> Invitation | None:
    """The invitation that this secret still opens: not used, revoked or expired, its author still allowed."""
    invitations = Invitation.objects.select_related("created_by", "account", "project__account")
    if lock:
        invitations = invitations.select_for_update(of=("self",))
    found = invitations.filter(
        secret_sha256=_sha256(secret), used_at=None, revoked_at=None, expires_at__gt=timezone.now()
    ).first()
    return found if found is not None and _author_may(found) else None


@transaction.atomic
def accept_invitation(*, user: User, secret: str) -> Invitation:
    """Gives `user` the role, once. A role that they have already is never lowered. Raises ValidationError."""
    invitation = open_invitation(secret, lock=True)
    if invitation is None:
        raise ValidationError(NO_LONGER)
    if invitation.email and invitation.email != user.email:
        raise ValidationError(f"This invitation is for {invitation.email}.")
    invitation.used_by, invitation.used_at = user, timezone.now()
    invitation.save(update_fields=["used_by", "used_at"])
    if invitation.project is not None:
        _join_project(user, invitation, invitation.project)
    elif invitation.account is not None:
        _join_account(user, invitation, invitation.account)
    return invitation


@transaction.atomic
def accept_as_new_person(*, secret: str, email: str, name: str, password: str) -> tuple[User, Invitation]:
    """Makes the person who accepts. Raises ValidationError."""
    invitation = open_invitation(secret)
    if invitation is None:
        raise ValidationError(NO_LONGER)
    user = create_user(email=invitation.email or email, name=name, password=password)
    return user, accept_invitation(user=user, secret=secret)


def _join_account(user: User, invitation: Invitation, account: Account) -> None:
    membership, made = AccountMembership.objects.get_or_create(
        account=account, user=user, defaults={"role": invitation.role}
    )
    if not made and invitation.role == AccountRole.OWNER:
        membership.role = AccountRole.OWNER
        membership.save(update_fields=["role"])
    record(user, "invitation.accept", invitation, account=account, role=membership.role)


def _join_project(user: User, invitation: Invitation, project: Project) -> None:
    held = ProjectMembership.objects.filter(project=project, user=user).first()
    roles = [ProjectRole(invitation.role), *([ProjectRole(held.role)] if held else [])]
    role = max(roles, key=RANKS.index)
    may_publish = invitation.may_publish or (held is not None and held.may_publish)
    ProjectMembership.objects.update_or_create(
        project=project, user=user, defaults={"role": role, "may_publish": may_publish}
    )
    record(user, "invitation.accept", invitation, project=project, role=role, may_publish=may_publish)


def _author_may(invitation: Invitation) -> bool:
    """An invitation is worth no more than its author is now."""
    author = invitation.created_by
    if not author.is_active:
        return False
    if invitation.account is not None:
        return owns(author, invitation.account)
    project = Project.objects.visible_to(author).filter(invitations=invitation).first()
    return (
        project is not None
        and project.role == ProjectRole.MANAGER
        and (project.publishable or not invitation.may_publish)
    )


# Passwords, sessions, keys


@transaction.atomic
def person_of_identity(*, issuer: str, subject: str, email: str, name: str, new_people: bool) -> User:
    """Who somebody is that a provider vouches for: known already, or by a verified address, or new.

    `email` is '' where it isn't verified. Raises ValidationError.
    """
    known = ExternalIdentity.objects.filter(issuer=issuer, subject=subject).select_related("user").first()
    user = known.user if known else User.objects.filter(email=email.lower()).first() if email else None
    if user is None:
        if not email:
            raise ValidationError("Your provider has not verified your e-mail address.")
        if not new_people:
            raise ValidationError(f"Nobody here has the address {email}. Ask for an invitation.")
        user = create_user(email=email, name=name)
    if not user.is_active:
        raise ValidationError("This person can't sign in any more.")
    if known is None:
        identity = ExternalIdentity.objects.create(user=user, issuer=issuer, subject=subject)
        record(user, "user.link_identity", identity, account=personal_account(user), issuer=issuer)
    return user


@transaction.atomic
def change_profile(*, actor: User, name: str) -> None:
    if name != actor.name:
        actor.name = name
        actor.save(update_fields=["name"])
        record(actor, "user.change", actor, account=personal_account(actor), name=name)


@transaction.atomic
def use_password_link(*, uid: str, token: str, password: str) -> User | None:
    """Sets the password of the person whom the link names, once, and ends all their sessions."""
    user = user_of_password_link(uid, token, User.objects.select_for_update())
    if user is not None:
        set_password(actor=user, user=user, password=password)
        BrowserSession.objects.filter(user=user).delete()
    return user


def may_make_password_link(*, owner: User, account: Account, user: User) -> bool:
    """Whether a link would give `owner` nothing that they don't reach already.

    So only for people with no projects, keys or roles outside the accounts that `owner` owns.
    """
    if user == owner or not user.is_active or not owns(owner, account):
        return False
    if not AccountMembership.objects.filter(account=account, user=user).exists():
        return False
    owned = Account.objects.filter(memberships__user=owner, memberships__role=AccountRole.OWNER).values("pk")
    elsewhere = AccountMembership.objects.filter(user=user).exclude(account__in=owned)
    return not (
        elsewhere.exclude(account__kind=AccountKind.PERSONAL).exists()
        or Project.objects.filter(account__in=elsewhere.values("account")).exists()
        or ProjectMembership.objects.filter(user=user).exclude(project__account__in=owned).exists()
        or ApiKey.objects.filter(user=user, revoked_at=None).exclude(account__in=owned).exists()
    )


@transaction.atomic
def note_password_link(*, actor: User, account: Account, user: User) -> None:
    record(actor, "user.make_password_link", user, account=account, user=user.email)


@transaction.atomic
def end_sessions(*, actor: User, current_key: str, chosen: str | None) -> int:
    """Ends the session of `actor` that pages call `chosen`, or all but the current one; how many ended."""
    own = BrowserSession.objects.filter(user=actor).exclude(session_key=current_key)
    ended: Collection[str] = [
        key for key in own.values_list("session_key", flat=True) if chosen in (None, public_id(key))
    ]
    BrowserSession.objects.filter(session_key__in=ended).delete()
    if ended:
        record(actor, "user.end_sessions", actor, account=personal_account(actor), sessions=len(ended))
    return len(ended)


@transaction.atomic
def revoke_key(*, actor: User, key: ApiKey) -> None:
    """Ends a key for ever. Doing it twice changes nothing."""
    locked = ApiKey.objects.select_for_update().get(pk=key.pk)
    if locked.revoked_at is None:
        locked.revoked_at = timezone.now()
        locked.save(update_fields=["revoked_at"])
        record(
            actor, "api_key.revoke", locked, project=key.project, account=key.account, prefix=locked.prefix
        )


def expiry(days: int | None) -> datetime | None:
    return None if days is None else timezone.now() + timedelta(days=days)


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
