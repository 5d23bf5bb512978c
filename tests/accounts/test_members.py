from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from plural_site.accounts.access import Need, can, project_for
from plural_site.accounts.actions import (
    create_api_key,
    create_project,
    create_user,
    personal_account,
    set_project_member,
)
from plural_site.accounts.actions_people import (
    create_organization,
    may_make_password_link,
    remove_account_member,
    set_account_role,
)
from plural_site.accounts.models import (
    Account,
    AccountKind,
    AccountMembership,
    AccountRole,
    AuditEvent,
    Project,
    ProjectMembership,
    ProjectRole,
    User,
)

if TYPE_CHECKING:
    from tests.conftest import ClientAs


@pytest.fixture
def org(ann: User, ben: User) -> Account:
    """Owned by ann; ben is a member."""
    account = create_organization(actor=ann, slug="acme", name="Acme")
    AccountMembership.objects.create(account=account, user=ben, role=AccountRole.MEMBER)
    return account


def roles(account: Account) -> dict[str, str]:
    return dict(AccountMembership.objects.filter(account=account).values_list("user__name", "role"))


def test_organization_is_made_from_the_web_with_a_slug_from_its_name(ann: User, client_as: ClientAs) -> None:
    browser = client_as(ann)
    assert browser.post("/accounts/new", {"name": "Acme & Sons"}).headers["Location"] == "/accounts/acme-sons"
    account = Account.objects.get(slug="acme-sons")
    assert (account.kind, roles(account)) == (AccountKind.ORGANIZATION, {"Ann": "owner"})
    assert (
        browser.post("/accounts/new", {"name": "Acme & Sons"}).headers["Location"] == "/accounts/acme-sons-2"
    )
    refused = browser.post("/accounts/new", {"name": "x", "slug": "acme-sons"}).content.decode()
    assert "acme-sons-3" in refused
    assert "<title>Error: " in refused
    assert browser.post("/accounts/new", {"name": "日本"}).headers["Location"] == "/accounts/account"


def test_last_owner_can_neither_leave_nor_step_down(org: Account, ann: User, ben: User) -> None:
    with pytest.raises(ValidationError, match="last owner"):
        remove_account_member(actor=ann, account=org, user=ann)
    with pytest.raises(ValidationError, match="last owner"):
        set_account_role(actor=ann, account=org, user=ann, role=AccountRole.MEMBER)
    set_account_role(actor=ann, account=org, user=ben, role=AccountRole.OWNER)
    set_account_role(actor=ann, account=org, user=ann, role=AccountRole.MEMBER)
    assert roles(org) == {"Ann": "member", "Ben": "owner"}


def test_owner_who_can_not_sign_in_does_not_count_as_the_remaining_one(
    org: Account, ann: User, ben: User
) -> None:
    set_account_role(actor=ann, account=org, user=ben, role=AccountRole.OWNER)
    User.objects.filter(pk=ben.pk).update(is_active=False)
    with pytest.raises(ValidationError, match="last owner"):
        remove_account_member(actor=ann, account=org, user=ann)


@pytest.fixture
def _closed_threads() -> Iterator[None]:
    yield
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_two_owners_removing_each_other_at_once_leave_one(_closed_threads: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    people = [create_user(email=f"{name}@example.org", name=name) for name in ("one", "two")]
    account = create_organization(actor=people[0], slug="acme")
    AccountMembership.objects.create(account=account, user=people[1], role=AccountRole.OWNER)
    barrier = threading.Barrier(2)

    def leave(user: User) -> None:
        barrier.wait()
        try:
            remove_account_member(actor=user, account=account, user=user)
        except ValidationError:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=leave, args=(user,)) for user in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(roles(account).values()) == ["owner"]


def test_who_is_removed_from_an_account_loses_its_projects_and_keys(
    org: Account, project: Project, ann: User, ben: User, client_as: ClientAs
) -> None:
    inside = create_project(actor=ann, account=org, slug="inside")
    set_project_member(actor=ann, project=inside, user=ben, role=ProjectRole.VIEWER)
    assert client_as(ben).get("/projects/inside").status_code == 200
    owner = client_as(ann)
    path = f"/accounts/acme/members/{ben.pk}/remove"
    assert "Remove Ben?" in owner.get(path).content.decode()
    assert owner.post(path).headers["Location"] == "/accounts/acme/members"
    assert client_as(ben).get("/projects/inside").status_code == 404
    assert client_as(ben).get("/accounts/acme").status_code == 404
    assert client_as(ben).get(f"/projects/{project.slug}").status_code == 200
    verbs = AuditEvent.objects.filter(account=org, actor=ann).values_list("verb", flat=True)
    assert {"account.remove_member", "project.remove_member"} <= set(verbs)


def test_member_leaves_and_may_do_nothing_else(
    org: Account, ann: User, ben: User, client_as: ClientAs
) -> None:
    member = client_as(ben)
    assert member.post(f"/accounts/acme/members/{ann.pk}/remove").status_code == 403
    assert member.post(f"/accounts/acme/members/{ben.pk}/role", {"role": "owner"}).status_code == 403
    assert member.post("/accounts/acme/members", {"role": "owner"}).status_code == 403
    assert member.post("/accounts/acme/projects/new", {"name": "x"}).status_code == 403
    page = member.get("/accounts/acme/members").content.decode()
    assert "Invite somebody" not in page
    assert page.count("/remove") == 1
    assert member.post(f"/accounts/acme/members/{ben.pk}/remove").headers["Location"] == "/accounts"
    assert roles(org) == {"Ann": "owner"}


def test_page_says_why_the_last_owner_stays(org: Account, ann: User, client_as: ClientAs) -> None:
    browser = client_as(ann)
    response = browser.post(f"/accounts/acme/members/{ann.pk}/remove", follow=True)
    assert "last owner" in response.content.decode()
    assert roles(org)["Ann"] == "owner"


def test_manager_changes_roles_and_the_right_to_publish_only_with_it(
    project: Project, ann: User, ben: User, cy: User, client_as: ClientAs
) -> None:
    set_project_member(actor=ann, project=project, user=ben, role=ProjectRole.MANAGER)
    manager = client_as(ben)
    path = f"/projects/triage/settings/members/{cy.pk}/role"
    assert manager.post(path, {"role": "contributor"}).status_code == 302
    assert manager.post(path, {"role": "contributor", "may_publish": "on"}).status_code == 403
    held = ProjectMembership.objects.get(project=project, user=cy)
    assert (held.role, held.may_publish) == (ProjectRole.CONTRIBUTOR, False)
    assert not can(project_for(cy, "triage", Need.READ), Need.PUBLISH)
    assert client_as(ann).post(path, {"role": "contributor", "may_publish": "on"}).status_code == 302
    assert can(project_for(cy, "triage", Need.READ), Need.PUBLISH)
    assert manager.post(path, {"role": "viewer", "may_publish": "on"}).status_code == 302
    assert not can(project_for(cy, "triage", Need.READ), Need.PUBLISH)  # a viewer never
    manager.post(path, {"role": "king"})
    assert ProjectMembership.objects.get(project=project, user=cy).role == ProjectRole.VIEWER


def test_manager_removes_and_everybody_may_leave(
    project: Project, ann: User, ben: User, cy: User, client_as: ClientAs
) -> None:
    assert client_as(ann).post(f"/projects/triage/settings/members/{ben.pk}/remove").status_code == 302
    assert client_as(ben).get("/projects/triage").status_code == 404
    leaver = client_as(cy)
    assert "Leave Support triage?" in leaver.get("/projects/triage/leave").content.decode()
    assert leaver.post("/projects/triage/leave").headers["Location"] == "/"
    assert leaver.get("/projects/triage").status_code == 404
    owner = client_as(ann)
    assert owner.post("/projects/triage/leave").status_code == 302
    assert owner.get("/projects/triage").status_code == 200  # the account is still theirs


def test_members_of_another_place_are_not_reached_through_ones_own(
    project: Project, org: Account, ann: User, dee: User, client_as: ClientAs
) -> None:
    browser = client_as(ann)
    for path in (
        f"/projects/triage/settings/members/{dee.pk}/remove",
        f"/projects/triage/settings/members/{dee.pk}/role",
        f"/accounts/acme/members/{dee.pk}/remove",
        f"/accounts/acme/members/{dee.pk}/role",
        f"/accounts/acme/members/{dee.pk}/link",
    ):
        assert browser.post(path, {"role": "viewer"}).status_code == 404


@pytest.mark.parametrize("people", [1, 6])
def test_members_pages_take_the_same_queries_for_any_number(
    people: int,
    org: Account,
    project: Project,
    ann: User,
    client_as: ClientAs,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(people):
        user = create_user(email=f"p{number}@example.org")
        set_project_member(actor=ann, project=project, user=user, role=ProjectRole.VIEWER)
        AccountMembership.objects.create(account=org, user=user, role=AccountRole.MEMBER)
    browser = client_as(ann)
    with django_assert_num_queries(6):
        browser.get("/projects/triage/settings/members")
    with django_assert_num_queries(5):
        browser.get("/accounts/acme/members")


def test_password_link_is_only_for_who_has_nothing_elsewhere(
    org: Account, project: Project, ann: User, ben: User, dee: User, client_as: ClientAs
) -> None:
    def may(user: User) -> bool:
        return may_make_password_link(owner=ann, account=org, user=user)

    assert may(ben)  # a member of org and of a project of ann's own account
    assert not may(ann)
    assert not may(dee)
    outside = create_organization(actor=dee, slug="outside")
    membership = AccountMembership.objects.create(account=outside, user=ben, role=AccountRole.MEMBER)
    assert not may(ben)
    membership.delete()
    theirs = create_project(actor=dee, account=outside, slug="theirs")
    set_project_member(actor=dee, project=theirs, user=ben, role=ProjectRole.VIEWER)
    assert not may(ben)
    ProjectMembership.objects.filter(project=theirs).delete()
    key, _ = create_api_key(actor=ben, account=personal_account(ben))
    assert not may(ben)
    key.revoked_at = key.created_at
    key.save()
    assert may(ben)
    create_project(actor=ben, account=personal_account(ben), slug="own")
    assert not may(ben)
    page = client_as(ann).post(f"/accounts/acme/members/{ben.pk}/link", follow=True).content.decode()
    assert "outside what you own" in page
    assert "/password/" not in page
