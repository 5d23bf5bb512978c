"""Who is in an account or a project, and who has been invited."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from plural_site.accounts.access import Need, can
from plural_site.accounts.frame import Frame, account_frame, project_frame
from plural_site.accounts.models import (
    Account,
    AccountKind,
    AccountMembership,
    AccountRole,
    Invitation,
    Project,
    ProjectMembership,
    ProjectRole,
    User,
)
from plural_site.formats import DASH, clean_text, date_text, datetime_text


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    words: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class MemberRow:
    """`roles` is empty where the role can't be changed here; so are the addresses of what can't be done."""

    name: str
    email: str
    role: str
    since: str
    is_reader: bool
    roles: tuple[Choice, ...] = ()
    role_href: str = ""
    may_publish: bool = False
    can_change_publish: bool = False
    remove_href: str = ""
    remove_words: str = "Remove"
    link_href: str = ""


@dataclass(frozen=True, slots=True)
class InvitationRow:
    who: str
    role: str
    by: str
    expires: str
    revoke_href: str


@dataclass(frozen=True, slots=True)
class MembersPage:
    """`link` stands here once, right after it was made, and `link_note` says what it is."""

    frame: Frame
    rows: tuple[MemberRow, ...]
    invitations: tuple[InvitationRow, ...]
    invite_note: str
    can_invite: bool
    shows_publish: bool
    link: str = ""
    link_title: str = ""
    link_note: str = ""


def account_members_page(reader: User, account: Account, role: AccountRole, **link: str) -> MembersPage:
    owns = role is AccountRole.OWNER
    members = list(
        AccountMembership.objects.filter(account=account).select_related("user").order_by("user__email")
    )
    owners = sum(member.role == AccountRole.OWNER for member in members)
    rows = []
    for member in members:
        is_reader = member.user_id == reader.pk
        is_last_owner = member.role == AccountRole.OWNER and owners == 1
        removable = (owns or is_reader) and not is_last_owner
        arguments = [account.slug, member.user_id]
        rows.append(
            MemberRow(
                name=_name(member.user),
                email=clean_text(member.user.email),
                role=member.role,
                since=date_text(member.created_at),
                is_reader=is_reader,
                roles=_choices(AccountRole.values, member.role) if owns and not is_last_owner else (),
                role_href=reverse("accounts:account-member-role", args=arguments),
                remove_href=reverse("accounts:account-member-remove", args=arguments) if removable else "",
                remove_words="Leave" if is_reader else "Remove",
                link_href=reverse("accounts:account-member-link", args=arguments)
                if owns and not is_reader
                else "",
            )
        )
    is_organization = account.kind == AccountKind.ORGANIZATION
    return MembersPage(
        frame=account_frame(account, role, "account-members"),
        rows=tuple(rows),
        invitations=_invitations(Invitation.objects.filter(account=account)) if owns else (),
        invite_note=""
        if is_organization
        else "A personal account has one owner. Invite people to its projects, or make an organization.",
        can_invite=owns and is_organization,
        shows_publish=False,
        **link,
    )


def project_members_page(reader: User, project: Project, **link: str) -> MembersPage:
    memberships = ProjectMembership.objects.filter(project=project).select_related("user")
    owners = list(
        AccountMembership.objects.filter(account=project.account_id, role=AccountRole.OWNER)
        .select_related("user")
        .order_by("user__email")
    )
    owner_rows = [
        MemberRow(
            name=_name(owner.user),
            email=clean_text(owner.user.email),
            role="owner of the account",
            since=date_text(owner.created_at),
            is_reader=owner.user_id == reader.pk,
            may_publish=True,
        )
        for owner in owners
    ]
    owner_ids = {owner.user_id for owner in owners}
    rows = [
        _project_row(reader, project, membership)
        for membership in memberships.order_by("user__email")
        if membership.user_id not in owner_ids
    ]
    return MembersPage(
        frame=project_frame(project, "project-members"),
        rows=(*owner_rows, *rows),
        invitations=_invitations(Invitation.objects.filter(project=project)),
        invite_note="" if can(project, Need.MANAGE) else "An archived project takes no new members.",
        can_invite=can(project, Need.MANAGE),
        shows_publish=True,
        **link,
    )


def _project_row(reader: User, project: Project, membership: ProjectMembership) -> MemberRow:
    arguments = [project.slug, membership.user_id]
    is_reader = membership.user_id == reader.pk
    return MemberRow(
        name=_name(membership.user),
        email=clean_text(membership.user.email),
        role=membership.role,
        since=date_text(membership.created_at),
        is_reader=is_reader,
        roles=_choices(ProjectRole.values, membership.role),
        role_href=reverse("accounts:project-member-role", args=arguments),
        may_publish=membership.may_publish,
        can_change_publish=project.publishable or membership.may_publish,
        remove_href=reverse("accounts:project-member-remove", args=arguments),
        remove_words="Leave" if is_reader else "Remove",
    )


def _name(user: User) -> str:
    return clean_text(user.name) or DASH


def _choices(values: Iterable[str], current: str) -> tuple[Choice, ...]:
    return tuple(Choice(value, value, value == current) for value in values)


def _invitations(invitations: QuerySet[Invitation]) -> tuple[InvitationRow, ...]:
    """Those that still wait to be used."""
    waiting = Q(used_at=None, revoked_at=None, expires_at__gt=timezone.now())
    rows = invitations.filter(waiting).select_related("created_by", "account", "project")
    return tuple(
        InvitationRow(
            who=clean_text(row.email) or "anybody with the link",
            role=f"{row.role}, may publish" if row.may_publish else row.role,
            by=clean_text(str(row.created_by)),
            expires=datetime_text(row.expires_at),
            revoke_href=reverse("accounts:project-invitation-revoke", args=[row.project.slug, row.pk])
            if row.project
            else reverse("accounts:account-invitation-revoke", args=[row.account.slug, row.pk])
            if row.account
            else "",
        )
        for row in rows.order_by("-created_at")
    )
