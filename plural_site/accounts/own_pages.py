"""What people see of themselves and of their accounts."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from plural_site.accounts.access import projects_of
from plural_site.accounts.frame import Frame, account_frame, own_frame
from plural_site.accounts.models import (
    Account,
    AccountKind,
    AccountMembership,
    AccountRole,
    BrowserSession,
    User,
)
from plural_site.accounts.selectors import ProjectRow, project_row
from plural_site.accounts.sessions import public_id
from plural_site.formats import DASH, clean_text, datetime_text

KIND_WORDS = {AccountKind.PERSONAL: "personal", AccountKind.ORGANIZATION: "organization"}


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    browser: str
    since: str
    seen: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class SessionsPage:
    frame: Frame
    rows: tuple[SessionRow, ...]
    others: int


@dataclass(frozen=True, slots=True)
class AccountRow:
    name: str
    slug: str
    href: str
    kind: str
    role: str
    projects: int


@dataclass(frozen=True, slots=True)
class AccountsPage:
    frame: Frame
    rows: tuple[AccountRow, ...]
    new_href: str


@dataclass(frozen=True, slots=True)
class AccountPage:
    """`new_href` is '' for who can't create projects here."""

    frame: Frame
    kind: str
    role: str
    rows: tuple[ProjectRow, ...]
    new_href: str


def sessions_page(user: User, current_key: str) -> SessionsPage:
    """Live sessions, this one first, then the one seen last."""
    found = BrowserSession.objects.filter(user=user, expire_date__gt=timezone.now()).order_by("-last_seen_at")
    rows = [
        SessionRow(
            id=public_id(session.session_key),
            browser=clean_text(session.browser) or "Unknown browser",
            since=datetime_text(session.signed_in_at) if session.signed_in_at else DASH,
            seen=datetime_text(session.last_seen_at),
            is_current=session.session_key == current_key,
        )
        for session in found
    ]
    rows.sort(key=lambda row: not row.is_current)
    return SessionsPage(own_frame("sessions"), tuple(rows), sum(not row.is_current for row in rows))


def accounts_page(user: User) -> AccountsPage:
    memberships = (
        AccountMembership.objects.filter(user=user)
        .select_related("account")
        .annotate(projects=Count("account__projects"))
        .order_by("account__kind", "account__name")
    )
    rows = [
        AccountRow(
            name=clean_text(membership.account.name),
            slug=membership.account.slug,
            href=reverse("accounts:account", args=[membership.account.slug]),
            kind=KIND_WORDS[AccountKind(membership.account.kind)],
            role=membership.role,
            projects=membership.projects,
        )
        for membership in memberships
    ]
    rows.sort(key=lambda row: row.kind != "personal")
    return AccountsPage(own_frame("accounts"), tuple(rows), reverse("accounts:account-new"))


def account_page(user: User, account: Account, role: AccountRole) -> AccountPage:
    """Its projects, as far as `user` may read them."""
    is_owner = role is AccountRole.OWNER
    return AccountPage(
        frame=account_frame(account, role, "account"),
        kind=KIND_WORDS[AccountKind(account.kind)],
        role=role,
        rows=tuple(project_row(project) for project in projects_of(user).filter(account=account)),
        new_href=reverse("accounts:project-new", args=[account.slug]) if is_owner else "",
    )
