"""API keys: those of a person, and those that reach an account or a project."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from plural_site.accounts.access import projects_of
from plural_site.accounts.frame import Frame, account_frame, own_frame, project_frame
from plural_site.accounts.models import (
    Account,
    AccountMembership,
    AccountRole,
    ApiKey,
    KeyAbility,
    Project,
    User,
)
from plural_site.formats import clean_text, count, date_text, datetime_text

ABILITY_WORDS = {KeyAbility.READ: "read", KeyAbility.WRITE: "read and write"}


@dataclass(frozen=True, slots=True)
class KeyRow:
    """`state` is live, expired or revoked; `revoke_href` is '' where there is nothing to revoke."""

    label: str
    prefix: str
    owner: str
    reaches: str
    ability: str
    created: str
    expires: str
    used: str
    state: str
    revoke_href: str


@dataclass(frozen=True, slots=True)
class KeysPage:
    """`secret` stands here once, right after the key was made."""

    frame: Frame
    rows: tuple[KeyRow, ...]
    ended: tuple[KeyRow, ...]
    shows_owner: bool
    note: str
    limit: str
    secret: str = ""
    secret_label: str = ""
    secret_use: str = ""


def own_keys_page(user: User, *, secret: str = "", made: ApiKey | None = None) -> KeysPage:
    keys = ApiKey.objects.filter(user=user)
    rows = [_row(key, reverse("accounts:key-revoke", args=[key.pk])) for key in _ordered(keys)]
    return KeysPage(
        frame=own_frame("keys"),
        rows=_live(rows),
        ended=_ended(rows),
        shows_owner=False,
        note="A key acts for you: it never does more than you may, and it never publishes or manages.",
        limit=limit_words(),
        secret=secret,
        secret_label=clean_text(made.label) if made else "",
        secret_use=f"export PLURAL_API_KEY={secret}" if secret else "",
    )


def account_keys_page(account: Account, role: AccountRole) -> KeysPage:
    keys = ApiKey.objects.filter(account=account)
    rows = [
        _row(key, reverse("accounts:account-key-revoke", args=[account.slug, key.pk]))
        for key in _ordered(keys)
    ]
    return KeysPage(
        frame=account_frame(account, role, "account-keys"),
        rows=_live(rows),
        ended=_ended(rows),
        shows_owner=True,
        note="Everybody's keys of this account. People make them on their own page of API keys.",
        limit=limit_words(),
    )


def project_keys_page(project: Project) -> KeysPage:
    """Keys limited to the project, and those of the account whose person is in the project."""
    readers = Q(user__projects__project=project) | Q(
        user__accounts__account=project.account_id, user__accounts__role=AccountRole.OWNER
    )
    wide = Q(account=project.account_id, project=None, deleted_project="") & readers
    keys = ApiKey.objects.filter(Q(project=project) | wide).distinct()
    rows = [
        _row(
            key,
            reverse("accounts:project-key-revoke", args=[project.slug, key.pk])
            if key.project_id == project.pk
            else "",
        )
        for key in _ordered(keys)
    ]
    return KeysPage(
        frame=project_frame(project, "project-keys"),
        rows=_live(rows),
        ended=_ended(rows),
        shows_owner=True,
        note="Keys that reach this project. Those for the whole account are ended by their person or by an "
        "owner of the account; any of them stops working here when its person leaves the project.",
        limit=limit_words(),
    )


def places_for_keys(user: User) -> list[tuple[str, str]]:
    """What a new key of `user` can reach: single projects, then whole accounts."""
    projects = list(projects_of(user))
    accounts = {project.account_id: project.account for project in projects}
    for membership in AccountMembership.objects.filter(user=user).select_related("account"):
        accounts[membership.account_id] = membership.account
    return [
        *((f"project:{row.slug}", f"the project {clean_text(row.name)} ({row.slug})") for row in projects),
        *(
            (f"account:{row.slug}", f"all your projects in the account {clean_text(row.name)}")
            for row in sorted(accounts.values(), key=lambda row: row.slug)
        ),
    ]


def limit_words() -> str:
    limit = settings.KEY_RATE_LIMIT
    return f"A key may send {count(limit)} requests a minute." if limit else ""


def _ordered(keys: QuerySet[ApiKey]) -> QuerySet[ApiKey]:
    return keys.select_related("user", "account", "project").order_by("-created_at", "-pk")


def _live(rows: list[KeyRow]) -> tuple[KeyRow, ...]:
    return tuple(row for row in rows if row.state == "live")


def _ended(rows: list[KeyRow]) -> tuple[KeyRow, ...]:
    return tuple(row for row in rows if row.state != "live")


def _row(key: ApiKey, revoke_href: str) -> KeyRow:
    state = "revoked" if key.revoked_at else "expired" if _is_past(key.expires_at) else "live"
    if key.project:
        reaches = f"project {clean_text(key.project.name)}"
    elif key.deleted_project:
        reaches = f"project {key.deleted_project}, deleted"
    else:
        reaches = f"account {clean_text(key.account.name)}"
    return KeyRow(
        label=clean_text(key.label) or "no label",
        prefix=key.prefix,
        owner=clean_text(str(key.user)),
        reaches=reaches,
        ability=ABILITY_WORDS[KeyAbility(key.ability)],
        created=date_text(key.created_at),
        expires=date_text(key.expires_at) if key.expires_at else "never",
        used=f"{datetime_text(key.last_used_at)}" if key.last_used_at else "never",
        state=state,
        revoke_href=revoke_href if state == "live" else "",
    )


def _is_past(moment: datetime | None) -> bool:
    return moment is not None and moment <= timezone.now()
