"""Who gets a project, through a session and through a key."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone

from plural_site.accounts.access import (
    AccountNeed,
    Need,
    account_for,
    authenticate_key,
    can,
    project_for,
    project_for_key,
    projects_of,
)
from plural_site.accounts.actions import (
    create_api_key,
    create_project,
    personal_account,
    set_project_member,
)
from plural_site.accounts.models import (
    AccountMembership,
    AccountRole,
    ApiKey,
    KeyAbility,
    Project,
    ProjectMembership,
    ProjectRole,
    User,
)

ALLOWED = {
    "ann": set(Need),
    "ben": {Need.READ, Need.WRITE},
    "cy": {Need.READ},
}
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize("need", Need)
@pytest.mark.parametrize("name", ALLOWED)
def test_members_get_what_their_role_allows(
    name: str, need: Need, project: Project, request: pytest.FixtureRequest
) -> None:
    user = request.getfixturevalue(name)
    if need in ALLOWED[name]:
        assert project_for(user, project.slug, need) == project
    else:
        with pytest.raises(PermissionDenied):
            project_for(user, project.slug, need)
    assert can(project_for(user, project.slug, Need.READ), need) == (need in ALLOWED[name])


@pytest.mark.parametrize("need", Need)
def test_stranger_gets_the_same_404_as_for_no_project(need: Need, project: Project, dee: User) -> None:
    messages = set()
    tries: list[tuple[User | AnonymousUser, str]] = [
        (dee, project.slug),
        (dee, "no-such"),
        (dee, "a\0b"),
        (dee, f"{project.slug}\n"),
        (AnonymousUser(), project.slug),
    ]
    for user, slug in tries:
        with pytest.raises(Http404) as missing:
            project_for(user, slug, need)
        messages.add(str(missing.value))
    assert len(messages) == 1
    assert not projects_of(dee).exists()
    assert not projects_of(AnonymousUser()).exists()


def test_owner_of_the_account_manages_without_membership_and_member_of_it_does_not(
    project: Project, ann: User, dee: User
) -> None:
    ProjectMembership.objects.filter(user=ann).delete()
    assert project_for(ann, project.slug, Need.MANAGE).role == "manager"
    AccountMembership.objects.create(account=project.account, user=dee, role=AccountRole.MEMBER)
    with pytest.raises(Http404):
        project_for(dee, project.slug, Need.READ)


def test_archived_project_is_read_only_for_all(project: Project, ann: User, ben: User) -> None:
    Project.objects.update(archived_at=timezone.now())
    found = project_for(ben, project.slug, Need.READ)
    assert found == project
    assert not can(found, Need.WRITE)
    for user, need in ((ann, Need.WRITE), (ann, Need.MANAGE), (ben, Need.WRITE)):
        with pytest.raises(PermissionDenied, match="archived"):
            project_for(user, project.slug, need)
    for need in (Need.ADMINISTER, Need.DELETE):  # to bring it back, take people out, end it
        assert project_for(ann, project.slug, need) == project


def test_manager_who_is_no_owner_deletes_nothing_and_publishes_by_right_only(
    project: Project, ann: User, ben: User
) -> None:
    for may_publish in (False, True):
        set_project_member(
            actor=ann, project=project, user=ben, role=ProjectRole.MANAGER, may_publish=may_publish
        )
        found = project_for(ben, project.slug, Need.ADMINISTER)
        assert can(found, Need.PUBLISH) == may_publish
        with pytest.raises(PermissionDenied, match="Only owners"):
            project_for(ben, project.slug, Need.DELETE)
    key, _ = create_api_key(actor=ann, account=project.account, project=project)
    for need in (Need.PUBLISH, Need.ADMINISTER, Need.DELETE):
        with pytest.raises(PermissionDenied):
            project_for_key(key, project.slug, need)


def test_account_is_found_by_who_is_in_it(project: Project, ann: User, ben: User) -> None:
    account = project.account
    assert account_for(ann, account.slug, AccountNeed.OWN) == (account, AccountRole.OWNER)
    for user in (ben, AnonymousUser()):
        with pytest.raises(Http404):
            account_for(user, account.slug, AccountNeed.READ)
    AccountMembership.objects.create(account=account, user=ben, role=AccountRole.MEMBER)
    assert account_for(ben, account.slug, AccountNeed.READ) == (account, AccountRole.MEMBER)
    with pytest.raises(PermissionDenied):
        account_for(ben, account.slug, AccountNeed.OWN)
    with pytest.raises(Http404):
        account_for(ann, "a\0b", AccountNeed.READ)


def test_project_is_found_in_one_query(
    project: Project, ann: User, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert project_for(ann, project.slug, Need.READ).account.slug == "ann"


def test_key_is_authenticated_by_its_secret_only(project: Project, ben: User) -> None:
    key, secret = create_api_key(actor=ben, account=project.account, project=project)
    assert authenticate_key(secret) == key
    assert key.secret_sha256 == hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in str(vars(key))
    wrong = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    for other in (wrong, key.prefix, secret[12:], "", "plural_", secret + "\n", "é" * 50, "\0" * 50):
        assert authenticate_key(other) is None


@pytest.mark.parametrize(
    "change",
    [{"revoked_at": NOON}, {"expires_at": NOON}, {"user__is_active": False}],
    ids=["revoked", "expired", "person inactive"],
)
def test_dead_key_is_refused(change: dict[str, object], project: Project, ben: User) -> None:
    key, secret = create_api_key(actor=ben, account=project.account, project=project)
    if "user__is_active" in change:
        User.objects.filter(pk=ben.pk).update(is_active=False)
    else:
        ApiKey.objects.filter(pk=key.pk).update(**change)
    with time_machine.travel(NOON, tick=False):
        assert authenticate_key(secret) is None


def test_key_lives_until_it_expires(project: Project, ben: User) -> None:
    _, secret = create_api_key(
        actor=ben, account=project.account, project=project, expires_at=NOON + timedelta(microseconds=1)
    )
    with time_machine.travel(NOON, tick=False):
        assert authenticate_key(secret) is not None


def test_last_use_of_a_key_is_written_at_most_once_an_hour(project: Project, ben: User) -> None:
    key, secret = create_api_key(actor=ben, account=project.account, project=project)
    for minutes, expected in ((0, 0), (59, 0), (60, 60), (61, 60)):
        with time_machine.travel(NOON + timedelta(minutes=minutes), tick=False):
            authenticate_key(secret)
        key.refresh_from_db()
        assert key.last_used_at == NOON + timedelta(minutes=expected)


@pytest.fixture
def other_project(ann: User) -> Project:
    return create_project(actor=ann, account=personal_account(ann), slug="other")


def test_account_key_reaches_projects_by_slug_and_id(
    project: Project, other_project: Project, ann: User
) -> None:
    key, _ = create_api_key(actor=ann, account=project.account)
    for found in (project, other_project):
        assert project_for_key(key, found.slug, Need.WRITE) == found
        assert project_for_key(key, str(found.pk), Need.READ) == found
    for name in (None, "", "no-such", "9" * 30, "-1", "1e3"):
        with pytest.raises(Http404):
            project_for_key(key, name, Need.READ)


def test_slug_comes_before_id(project: Project, ann: User) -> None:
    numeric = create_project(actor=ann, account=project.account, slug=str(project.pk))
    key, _ = create_api_key(actor=ann, account=project.account)
    assert project_for_key(key, str(project.pk), Need.READ) == numeric


def test_limited_key_reaches_its_project_only(project: Project, other_project: Project, ann: User) -> None:
    key, _ = create_api_key(actor=ann, account=project.account, project=project)
    assert project_for_key(key, None, Need.WRITE) == project
    assert project_for_key(key, project.slug, Need.WRITE) == project
    with pytest.raises(Http404):
        project_for_key(key, other_project.slug, Need.READ)


def test_key_does_no_more_than_person_and_ability_and_never_manages(
    project: Project, ann: User, ben: User, cy: User, dee: User
) -> None:
    reading, _ = create_api_key(actor=ben, account=project.account, project=project, ability=KeyAbility.READ)
    viewer, _ = create_api_key(actor=cy, account=project.account, project=project)
    manager, _ = create_api_key(actor=ann, account=project.account, project=project)
    stranger, _ = create_api_key(actor=dee, account=project.account, project=project)
    assert project_for_key(reading, project.slug, Need.READ) == project
    for key, need in ((reading, Need.WRITE), (viewer, Need.WRITE), (manager, Need.MANAGE)):
        with pytest.raises(PermissionDenied):
            project_for_key(key, project.slug, need)
    with pytest.raises(Http404):
        project_for_key(stranger, project.slug, Need.READ)


def test_account_key_does_not_reach_projects_of_other_accounts(project: Project, ben: User) -> None:
    key, _ = create_api_key(actor=ben, account=personal_account(ben))
    with pytest.raises(Http404):
        project_for_key(key, project.slug, Need.READ)
