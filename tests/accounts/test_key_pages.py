from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from plural_site.accounts.access import authenticate_key
from plural_site.accounts.actions import create_api_key, create_project, personal_account
from plural_site.accounts.models import ApiKey, AuditEvent, KeyAbility, Project, User

if TYPE_CHECKING:
    from tests.conftest import ClientAs

FORM = {"label": "laptop", "place": "project:triage", "ability": "write", "days": "90"}


def test_key_is_shown_once_and_works(project: Project, ben: User, client_as: ClientAs) -> None:
    browser = client_as(ben)
    page = browser.post("/account/keys", FORM)
    (secret,) = set(re.findall(r"plural_[\w-]{43}", page.content.decode()))
    assert "no-store" in page.headers["Cache-Control"]
    assert secret not in browser.get("/account/keys").content.decode()
    key = authenticate_key(secret)
    assert key is not None
    assert (key.user, key.project, key.account, key.ability) == (ben, project, project.account, "write")
    assert key.expires_at is not None
    assert (key.expires_at - key.created_at).days in (89, 90)
    assert key.label == "laptop"


def test_key_for_a_whole_account_without_an_end(project: Project, ben: User, client_as: ClientAs) -> None:
    client_as(ben).post("/account/keys", {**FORM, "place": "account:ann", "ability": "read", "days": ""})
    key = ApiKey.objects.get()
    assert (key.project, key.account, key.ability, key.expires_at) == (None, project.account, "read", None)


@pytest.mark.parametrize(
    "change",
    [
        {"place": "project:other"},
        {"place": "account:dee"},
        {"place": ""},
        {"ability": "publish"},
        {"days": "10000"},
        {"label": ""},
        {"label": "x" * 201},
        {"label": "a\0b"},
    ],
)
def test_what_a_key_can_not_be_is_refused(
    change: dict[str, str], project: Project, ben: User, dee: User, client_as: ClientAs
) -> None:
    create_project(actor=dee, account=personal_account(dee), slug="other")
    page = client_as(ben).post("/account/keys", FORM | change)
    assert page.status_code == 200
    assert "error-summary" in page.content.decode()
    assert not ApiKey.objects.exists()


def test_revoking_is_asked_logged_and_final(
    project: Project, ben: User, dee: User, client_as: ClientAs
) -> None:
    key, secret = create_api_key(actor=ben, account=project.account, project=project, label="<b>ci</b>")
    path = f"/account/keys/{key.pk}/revoke"
    browser = client_as(ben)
    assert "&lt;b&gt;ci&lt;/b&gt;" in browser.get(path).content.decode()
    assert authenticate_key(secret) is not None
    assert client_as(dee).post(path).status_code == 404
    for _ in range(2):
        assert browser.post(path).status_code == 302
    assert authenticate_key(secret) is None
    assert AuditEvent.objects.filter(verb="api_key.revoke", project=project, actor=ben).count() == 1
    page = browser.get("/account/keys").content.decode()
    assert "Expired and revoked keys (1)" in page
    assert path not in page


def test_managers_see_and_end_keys_of_their_project_and_owners_those_of_the_account(
    project: Project, ann: User, ben: User, dee: User, client_as: ClientAs
) -> None:
    limited, _ = create_api_key(actor=ben, account=project.account, project=project, label="limited")
    wide, _ = create_api_key(actor=ben, account=project.account, label="wide")
    create_api_key(actor=dee, account=project.account, label="of a stranger")
    other = create_project(actor=ann, account=project.account, slug="other")
    elsewhere, _ = create_api_key(actor=ann, account=project.account, project=other, label="elsewhere")
    owner = client_as(ann)
    page = owner.get("/projects/triage/settings/keys").content.decode()
    assert f"/projects/triage/settings/keys/{limited.pk}/revoke" in page
    assert "wide" in page
    assert f"/keys/{wide.pk}/" not in page
    assert "elsewhere" not in page
    assert "of a stranger" not in page
    assert owner.post(f"/projects/triage/settings/keys/{wide.pk}/revoke").status_code == 404
    assert owner.post(f"/projects/triage/settings/keys/{elsewhere.pk}/revoke").status_code == 404
    assert owner.post(f"/projects/triage/settings/keys/{limited.pk}/revoke").status_code == 302
    assert "elsewhere" in owner.get("/accounts/ann/keys").content.decode()
    assert owner.post(f"/accounts/ann/keys/{wide.pk}/revoke").status_code == 302
    assert ApiKey.objects.filter(revoked_at=None).count() == 2


def test_database_keeps_a_key_of_a_deleted_project_revoked(project: Project, ann: User) -> None:
    key, _ = create_api_key(actor=ann, account=project.account, ability=KeyAbility.READ)
    for change in (
        {"deleted_project": "x"},
        {"deleted_project": "x", "project": project, "revoked_at": timezone.now()},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            ApiKey.objects.filter(pk=key.pk).update(**change)
