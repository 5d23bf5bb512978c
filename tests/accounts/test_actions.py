from __future__ import annotations

import pytest
from django.contrib.auth import authenticate
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction

from plural_site.accounts.actions import (
    create_api_key,
    create_project,
    create_user,
    personal_account,
    record,
    set_password,
    set_project_member,
)
from plural_site.accounts.models import (
    Account,
    AccountKind,
    AccountMembership,
    ApiKey,
    AuditEvent,
    Machine,
    Project,
    ProjectMembership,
    ProjectRole,
    User,
)
from plural_site.accounts.tokens import sign_in_path, user_of_link


def test_create_user_makes_a_person_with_an_account_and_says_so(db: None) -> None:
    user = create_user(email=" Eve@Example.ORG ", password="a long enough one")
    assert user.email == "eve@example.org"
    assert authenticate(username="EVE@example.org", password="a long enough one") == user
    account = personal_account(user)
    assert (account.slug, account.kind) == ("eve", AccountKind.PERSONAL)
    event = AuditEvent.objects.get()
    assert (event.actor, event.verb, event.object_id) == (user, "user.create", str(user.pk))
    assert event.detail == {"email": "eve@example.org", "slug": "eve"}
    assert event.account == account


@pytest.mark.parametrize(
    ("email", "slug"),
    [
        ("ann@example.net", "ann-2"),
        ("Ann.Lee+x@example.org", "ann-lee-x"),
        ("___@example.org", "person"),
        ("a" * 64 + "@example.org", "a" * 64),
    ],
)
def test_create_user_finds_a_free_slug(email: str, slug: str, ann: User) -> None:
    assert personal_account(create_user(email=email)).slug == slug


@pytest.mark.parametrize(
    ("email", "password", "message"),
    [
        ("ANN@example.org", None, "already"),
        ("nonsense", None, "valid email"),
        ("", None, "valid email"),
        ("eve@example.org", "short", "too short"),
        ("eve@example.org", "password123", "too common"),
        ("eve@example.org", "eve@example.org", "similar"),
    ],
)
def test_create_user_refuses_and_leaves_nothing(
    email: str, password: str | None, message: str, ann: User
) -> None:
    with pytest.raises(ValidationError, match=message):
        create_user(email=email, password=password)
    assert User.objects.count() == Account.objects.count() == AuditEvent.objects.count() == 1


def test_user_without_password_can_not_sign_in_with_one(db: None) -> None:
    create_user(email="eve@example.org")
    for password in ("", "!", "None"):
        assert authenticate(username="eve@example.org", password=password) is None


def test_set_password_replaces_the_password_and_ends_links(ann: User) -> None:
    path = sign_in_path(ann)
    with pytest.raises(ValidationError, match="too short"):
        set_password(actor=ann, user=ann, password="short")
    set_password(actor=ann, user=ann, password="a long enough one")
    assert authenticate(username=ann.email, password="a long enough one") == ann
    _, _, uid, token = path.split("/")
    assert user_of_link(uid, token, User.objects.all()) is None
    assert AuditEvent.objects.filter(verb="user.set_password").count() == 1


def test_create_project_is_for_owners_of_the_account(ann: User, dee: User) -> None:
    project = create_project(actor=ann, account=personal_account(ann), slug="a-1", notice="Only scripts.")
    assert (project.name, project.notice) == ("a-1", "Only scripts.")
    event = AuditEvent.objects.get(project=project)
    assert (event.actor, event.verb) == (ann, "project.create")
    with pytest.raises(PermissionDenied):
        create_project(actor=dee, account=personal_account(ann), slug="b")
    assert Project.objects.count() == 1


@pytest.mark.parametrize("slug", ["", "-a", "A", "a_b", "a b", "ä", "a\n", "a" * 81])
def test_project_slug_is_refused_by_action_and_by_database(slug: str, ann: User) -> None:
    account = personal_account(ann)
    with pytest.raises(ValidationError, match="slug"):
        create_project(actor=ann, account=account, slug=slug)
    with pytest.raises(Exception, match="project_slug|too long"), transaction.atomic():
        Project.objects.create(account=account, slug=slug, name="x")


def test_taken_slug_is_refused_with_a_free_one(project: Project, dee: User) -> None:
    with pytest.raises(ValidationError, match="'triage' is taken. 'triage-2' is free."):
        create_project(actor=dee, account=personal_account(dee), slug="triage")


def test_create_api_key_is_of_one_account(project: Project, ann: User, dee: User) -> None:
    key, secret = create_api_key(actor=ann, account=project.account, project=project, label="laptop")
    assert secret.startswith(key.prefix)
    assert len(secret) == 50
    event = AuditEvent.objects.get(verb="api_key.create")
    assert event.detail == {"prefix": key.prefix, "ability": "write"}
    with pytest.raises(ValidationError, match="not of the account dee"):
        create_api_key(actor=dee, account=personal_account(dee), project=project)
    assert ApiKey.objects.count() == 1


def test_set_project_member_replaces_the_role(project: Project, ann: User, cy: User) -> None:
    set_project_member(actor=ann, project=project, user=cy, role=ProjectRole.CONTRIBUTOR)
    assert ProjectMembership.objects.get(project=project, user=cy).role == ProjectRole.CONTRIBUTOR


def test_record_by_a_key_names_the_key_alone(project: Project, ann: User) -> None:
    key, _ = create_api_key(actor=ann, account=project.account)
    event = record(key, "test", project, project=project, digest="sha256:00")
    assert (event.actor, event.actor_key, event.object_digest) == (None, key, "sha256:00")


def test_record_by_a_machine_names_nobody(project: Project) -> None:
    event = record(Machine.COMMAND, "test", project, project=project)
    assert (event.actor, event.actor_key, event.machine) == (None, None, "command")


def test_database_refuses_what_actions_never_write(project: Project, ann: User) -> None:
    account = project.account
    key, _ = create_api_key(actor=ann, account=account)
    rows = [
        User(email="ANN@example.org"),
        Account(slug="x", name="x", kind="other"),
        Account(slug="X", name="x", kind=AccountKind.PERSONAL),
        AccountMembership(account=account, user=ann, role="member"),
        AccountMembership(account=Account.objects.create(slug="o", kind="organization"), user=ann, role="x"),
        ProjectMembership(project=project, user=ann, role="viewer"),
        ProjectMembership(project=project, user=create_user(email="eve@example.org"), role="owner"),
        ApiKey(user=ann, account=account, prefix="x", secret_sha256="0" * 64, ability="publish"),
        ApiKey(user=ann, account=account, prefix="x", secret_sha256="x", ability="read"),
        ApiKey(user=ann, account=account, prefix="x", secret_sha256=key.secret_sha256, ability="read"),
        AuditEvent(verb="nobody", object_type="x", object_id="1"),
        AuditEvent(actor=ann, actor_key=key, verb="both", object_type="x", object_id="1"),
        AuditEvent(actor=ann, machine="command", verb="both", object_type="x", object_id="1"),
        AuditEvent(machine="dream", verb="nothing known", object_type="x", object_id="1"),
    ]
    for row in rows:
        with pytest.raises(IntegrityError), transaction.atomic():
            row.save(force_insert=True)
