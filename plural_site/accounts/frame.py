"""What pages about people share: tabs, the path to a page, a question before an act, a form."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from plural_site.accounts.models import Account, AccountRole, Project
from plural_site.formats import clean_text


@dataclass(frozen=True, slots=True)
class Crumb:
    label: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    label: str
    href: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """`heading` names whose pages these are; `tabs` are the pages."""

    heading: str
    crumbs: tuple[Crumb, ...] = ()
    tabs: tuple[Tab, ...] = ()


@dataclass(frozen=True, slots=True)
class FormPage:
    """A page that is one form. `danger` makes its button red."""

    frame: Frame
    title: str
    button: str
    text: tuple[str, ...] = ()
    back_href: str = ""
    danger: bool = False


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """Asks before something is done that can't be undone with one click."""

    frame: Frame
    title: str
    text: tuple[str, ...]
    button: str
    back_href: str
    fields: tuple[tuple[str, str], ...] = ()


def _tabs(current: str, entries: list[tuple[str, str, list[str]]]) -> tuple[Tab, ...]:
    """`entries` name addresses of this app, or of another as `app:name`."""
    return tuple(
        Tab(label, reverse(name if ":" in name else f"accounts:{name}", args=arguments), name == current)
        for label, name, arguments in entries
    )


def own_frame(current: str) -> Frame:
    """For pages about the reader."""
    entries: list[tuple[str, str, list[str]]] = [
        ("Profile", "profile", []),
        ("Password", "password", []),
        ("Sessions", "sessions", []),
        ("API keys", "keys", []),
        ("Accounts", "accounts", []),
    ]
    return Frame("Your account", tabs=_tabs(current, entries))


def account_frame(account: Account, role: AccountRole, current: str) -> Frame:
    entries = [
        ("Projects", "account", [account.slug]),
        ("Members", "account-members", [account.slug]),
    ]
    if role is AccountRole.OWNER:
        entries += [
            ("API keys", "account-keys", [account.slug]),
            ("Audit log", "account-audit", [account.slug]),
            ("Settings", "account-settings", [account.slug]),
        ]
    name = clean_text(account.name)
    crumbs = (Crumb("Accounts", reverse("accounts:accounts")), Crumb(name))
    return Frame(name, crumbs, _tabs(current, entries))


def project_frame(project: Project, current: str) -> Frame:
    """For managers."""
    entries = [
        ("General", "project-settings", [project.slug]),
        ("Members", "project-members", [project.slug]),
        ("API keys", "project-keys", [project.slug]),
        ("Storage", "jobs:storage", [project.slug]),
        ("Audit log", "project-audit", [project.slug]),
    ]
    crumbs = (Crumb(clean_text(project.name), project.get_absolute_url()), Crumb("Settings"))
    return Frame("Settings", crumbs, _tabs(current, entries))
