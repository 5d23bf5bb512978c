from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command
from django.test import Client

from plural_site.accounts.access import authenticate_key
from plural_site.accounts.models import Account, ApiKey, Project, User


def _run(*arguments: Any) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_create_user_prints_a_link_that_signs_in(db: None, client: Client) -> None:
    printed = _run("create_user", "eve@example.org", "--name", "Eve").splitlines()
    assert len(printed) == 1
    path = printed[0].removeprefix("http://127.0.0.1:8000")
    assert client.post(path).headers["Location"] == "/"
    assert client.session["_auth_user_id"] == str(User.objects.get(email="eve@example.org", name="Eve").pk)


def test_create_user_takes_a_password_from_a_file_and_prints_nothing(db: None, tmp_path: Path) -> None:
    (tmp_path / "p").write_text("a long enough one\nsecond line\n")
    assert _run("create_user", "eve@example.org", "--password-file", tmp_path / "p") == ""
    assert authenticate(username="eve@example.org", password="a long enough one") is not None


@pytest.mark.parametrize(
    ("content", "message"), [(None, "Can't read"), ("", "is empty"), ("abc\n", "too short")]
)
def test_create_user_refuses_a_bad_password_file(
    content: str | None, message: str, db: None, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "p").write_text(content)
    with pytest.raises(CommandError, match=message):
        _run("create_user", "eve@example.org", "--password-file", tmp_path / "p")
    assert not User.objects.exists()


def test_create_project_and_api_key(dee: User) -> None:
    assert _run("create_project", "demo", "--owner", "DEE@example.org") == "Created the project demo.\n"
    project = Project.objects.get(slug="demo")
    assert project.account == Account.objects.get(slug="dee")
    limited = authenticate_key(_run("create_api_key", dee.email, "--project", "demo").rstrip("\n"))
    wide = authenticate_key(_run("create_api_key", dee.email).rstrip("\n"))
    assert limited is not None
    assert wide is not None
    assert (limited.user, limited.project, wide.project) == (dee, project, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create_user", "dee@example.org"], "already"),
        (["create_user", "nonsense"], "valid email"),
        (["create_project", "x", "--owner", "nobody@example.org"], "There is no person nobody@example.org"),
        (["create_project", "Not A Slug", "--owner", "dee@example.org"], "can't be a project's slug"),
        (["create_project", "triage", "--owner", "dee@example.org"], "'triage-2' is free"),
        (["create_project", "x"], "--owner"),
        (["create_api_key", "nobody@example.org"], "There is no person"),
        (["create_api_key", "dee@example.org", "--project", "triage"], "has no project 'triage'"),
        (["create_api_key", "dee@example.org", "--project", "no-such"], "has no project 'no-such'"),
    ],
)
def test_commands_refuse_with_a_reason(
    arguments: list[str], message: str, project: Project, dee: User
) -> None:
    with pytest.raises(CommandError, match=message):
        _run(*arguments)
    assert Project.objects.count() == 1
    assert not ApiKey.objects.exists()
