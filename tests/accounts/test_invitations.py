from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import time_machine
from django.core import mail as django_mail
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from plural_site.accounts import mail
from plural_site.accounts.access import Need, project_for
from plural_site.accounts.actions import create_user, personal_account, set_project_member
from plural_site.accounts.actions_people import (
    accept_invitation,
    create_organization,
    invite,
    open_invitation,
    revoke_invitation,
)
from plural_site.accounts.models import (
    Account,
    AccountMembership,
    AccountRole,
    AuditEvent,
    Invitation,
    Project,
    ProjectMembership,
    ProjectRole,
    User,
)

if TYPE_CHECKING:
    from tests.conftest import ClientAs

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def org(ann: User) -> Account:
    return create_organization(actor=ann, slug="acme", name="Acme")


def managed(user: User, project: Project) -> Project:
    return project_for(user, project.slug, Need.MANAGE)


def test_invitation_gives_its_role_once_and_is_logged(
    project: Project, ann: User, dee: User, ben: User
) -> None:
    invitation, secret = invite(
        actor=ann, place=managed(ann, project), role=ProjectRole.CONTRIBUTOR, may_publish=True
    )
    assert secret not in str(vars(invitation))
    accept_invitation(user=dee, secret=secret)
    held = ProjectMembership.objects.get(project=project, user=dee)
    assert (held.role, held.may_publish) == (ProjectRole.CONTRIBUTOR, True)
    with pytest.raises(ValidationError, match="no longer works"):
        accept_invitation(user=ben, secret=secret)
    verbs = AuditEvent.objects.filter(
        object_type="accounts.invitation", project=project, account=project.account
    )
    assert list(verbs.order_by("pk").values_list("verb", "actor")) == [
        ("invitation.create", ann.pk),
        ("invitation.accept", dee.pk),
    ]


def test_invitation_lasts_seven_days(org: Account, ann: User, dee: User) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        _, secret = invite(actor=ann, place=org, role=AccountRole.MEMBER)
        clock.shift(timedelta(days=7) - timedelta(seconds=1))
        assert open_invitation(secret)
        clock.shift(timedelta(seconds=1))
        assert open_invitation(secret) is None
        with pytest.raises(ValidationError):
            accept_invitation(user=dee, secret=secret)


def test_revoked_or_unknown_invitation_is_refused(org: Account, ann: User) -> None:
    invitation, secret = invite(actor=ann, place=org, role=AccountRole.MEMBER)
    revoke_invitation(actor=ann, invitation=invitation)
    revoke_invitation(actor=ann, invitation=invitation)
    assert AuditEvent.objects.filter(verb="invitation.revoke").count() == 1
    for text in (secret, secret[:-1], "", "\0", "\udc80"):
        assert open_invitation(text) is None


def test_invitation_is_worth_no_more_than_its_author(
    project: Project, org: Account, ann: User, ben: User
) -> None:
    set_project_member(actor=ann, project=project, user=ben, role=ProjectRole.MANAGER, may_publish=True)
    _, plain = invite(actor=ben, place=managed(ben, project), role=ProjectRole.VIEWER)
    _, publishing = invite(actor=ben, place=managed(ben, project), role=ProjectRole.VIEWER, may_publish=True)
    assert open_invitation(plain)
    assert open_invitation(publishing)
    set_project_member(actor=ann, project=project, user=ben, role=ProjectRole.MANAGER)
    assert open_invitation(publishing) is None
    assert open_invitation(plain)
    set_project_member(actor=ann, project=project, user=ben, role=ProjectRole.CONTRIBUTOR)
    assert open_invitation(plain) is None
    _, to_account = invite(actor=ann, place=org, role=AccountRole.OWNER)
    AccountMembership.objects.filter(account=org, user=ann).update(role=AccountRole.MEMBER)
    assert open_invitation(to_account) is None


def test_right_to_publish_is_given_by_who_has_it(project: Project, ann: User, ben: User) -> None:
    set_project_member(actor=ann, project=project, user=ben, role=ProjectRole.MANAGER)
    with pytest.raises(PermissionDenied, match="may publish"):
        invite(actor=ben, place=managed(ben, project), role=ProjectRole.VIEWER, may_publish=True)


def test_accepting_never_lowers_a_role(project: Project, org: Account, ann: User, ben: User) -> None:
    set_project_member(actor=ann, project=project, user=ben, role=ProjectRole.CONTRIBUTOR, may_publish=True)
    _, secret = invite(actor=ann, place=managed(ann, project), role=ProjectRole.VIEWER)
    accept_invitation(user=ben, secret=secret)
    held = ProjectMembership.objects.get(project=project, user=ben)
    assert (held.role, held.may_publish) == (ProjectRole.CONTRIBUTOR, True)
    _, secret = invite(actor=ann, place=org, role=AccountRole.MEMBER)
    accept_invitation(user=ann, secret=secret)
    assert AccountMembership.objects.get(account=org, user=ann).role == AccountRole.OWNER


def test_personal_account_takes_no_members(ann: User) -> None:
    with pytest.raises(ValidationError, match="personal account"):
        invite(actor=ann, place=personal_account(ann), role=AccountRole.MEMBER)


def test_database_refuses_an_invitation_to_nowhere_both_or_with_a_role_of_the_other(
    project: Project, org: Account, ann: User
) -> None:
    common = {"created_by": ann, "expires_at": timezone.now(), "secret_sha256": "0" * 64}
    for places in (
        {"role": "viewer"},
        {"role": "viewer", "account": org, "project": project},
        {"role": "viewer", "account": org},
        {"role": "owner", "project": project},
        {"role": "viewer", "project": project, "used_at": timezone.now()},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Invitation.objects.create(**common, **places)


def link_of(page: str) -> str:
    found = re.search(r"http://127\.0\.0\.1:8000(/invitations/[\w-]+)", page)
    assert found
    return found[1]


def test_page_shows_the_link_once_and_the_stranger_becomes_a_person(
    project: Project, ann: User, client_as: ClientAs
) -> None:
    manager = client_as(ann)
    address = "/projects/triage/settings/members"
    made = manager.post(address, {"role": "contributor", "email": "Eve@example.org"})
    path = link_of(made.content.decode())
    assert "no-store" in made.headers["Cache-Control"]
    assert path not in manager.get(address).content.decode()
    assert "eve@example.org" in manager.get(address).content.decode()

    eve = Client()
    page = eve.get(path).content.decode()
    assert "Ann invites you to the project Support triage" in page
    assert 'name="email"' not in page
    short = eve.post(path, {"name": "Eve", "password": "short"})
    assert "too short" in short.content.decode()
    assert not User.objects.filter(email="eve@example.org").exists()
    response = eve.post(path, {"name": "Eve", "password": "a long enough one", "email": "x@example.org"})
    assert response.headers["Location"] == "/projects/triage"
    assert eve.get("/projects/triage").status_code == 200
    assert User.objects.get(email="eve@example.org").name == "Eve"
    again = Client().get(path)
    assert again.status_code == 410
    assert "no longer works" in again.content.decode()


def test_signed_in_person_accepts_by_one_button_and_only_the_named_one(
    org: Account, ann: User, ben: User, dee: User, client_as: ClientAs
) -> None:
    _, secret = invite(actor=ann, place=org, role=AccountRole.MEMBER, email=dee.email)
    path = f"/invitations/{secret}"
    other = client_as(ben)
    page = other.get(path).content.decode()
    assert "signed in as" in page
    assert "Accept as" not in page
    assert "This invitation is for dee@example.org." in other.post(path).content.decode()
    named = client_as(dee)
    assert "Accept as dee@example.org" in named.get(path).content.decode()
    assert named.post(path).headers["Location"] == "/accounts/acme"
    assert AccountMembership.objects.get(account=org, user=dee).role == AccountRole.MEMBER


def test_known_address_is_told_to_sign_in_and_nothing_is_spent(org: Account, ann: User, dee: User) -> None:
    _, secret = invite(actor=ann, place=org, role=AccountRole.MEMBER)
    page = Client().post(
        f"/invitations/{secret}", {"name": "x", "email": "DEE@example.org", "password": "a long enough one"}
    )
    assert "already" in page.content.decode()
    assert open_invitation(secret)


def test_sign_in_leads_back_to_the_invitation(org: Account, ann: User, dee: User) -> None:
    _, secret = invite(actor=ann, place=org, role=AccountRole.MEMBER)
    browser = Client()
    page = browser.get(f"/invitations/{secret}").content.decode()
    assert f"/sign-in?next=/invitations/{secret}".replace("/", "%2F") in page.replace("/", "%2F")


def test_invitation_is_sent_where_email_is_configured(
    org: Account, ann: User, client_as: ClientAs, settings: Settings
) -> None:
    settings.EMAIL_HOST = "smtp.example.org"
    page = client_as(ann).post("/accounts/acme/members", {"role": "member", "email": "eve@example.org"})
    mail.outgoing.submit(lambda: None).result(timeout=10)
    (message,) = django_mail.outbox
    assert message.to == ["eve@example.org"]
    assert link_of(page.content.decode()) in message.body
    assert "has been sent" in page.content.decode()


def test_account_name_can_not_break_the_subject(ann: User, client_as: ClientAs, settings: Settings) -> None:
    settings.EMAIL_HOST = "smtp.example.org"
    create_organization(actor=ann, slug="odd", name="Odd\nBcc: x@example.org")
    client_as(ann).post("/accounts/odd/members", {"role": "member", "email": "eve@example.org"})
    mail.outgoing.submit(lambda: None).result(timeout=10)
    (message,) = django_mail.outbox
    assert message.subject == "Invitation to the account Odd Bcc: x@example.org"
    assert message.recipients() == ["eve@example.org"]


def test_two_people_can_not_both_use_one_invitation(org: Account, ann: User, dee: User) -> None:
    _, secret = invite(actor=ann, place=org, role=AccountRole.MEMBER)
    accept_invitation(user=dee, secret=secret)
    eve = create_user(email="eve@example.org")
    with pytest.raises(ValidationError):
        accept_invitation(user=eve, secret=secret)
    assert not AccountMembership.objects.filter(account=org, user=eve).exists()
