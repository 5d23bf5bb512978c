from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from plural_site.accounts.actions import create_project, create_user, personal_account
from plural_site.accounts.models import AuditEvent, Project, User
from plural_site.accounts.tokens import sign_in_path

if TYPE_CHECKING:
    from tests.conftest import ClientAs

PASSWORD = "correct horse battery"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def _person_of(client: Client) -> str | None:
    return client.session.get("_auth_user_id")


def test_stranger_is_sent_to_sign_in_and_back(ann: User, client: Client) -> None:
    response = client.get("/projects/triage?x=1")
    assert response.headers["Location"] == "/sign-in?next=/projects/triage%3Fx%3D1"
    form = {"username": "Ann@Example.org", "password": PASSWORD, "next": "/projects/triage?x=1"}
    assert client.get(response.headers["Location"]).status_code == 200
    response = client.post("/sign-in", form)
    assert response.headers["Location"] == "/projects/triage?x=1"
    assert _person_of(client) == str(ann.pk)


def test_sign_in_does_not_lead_to_other_sites(ann: User, client: Client) -> None:
    form = {"username": ann.email, "password": PASSWORD, "next": "https://evil.example/"}
    assert client.post("/sign-in", form).headers["Location"] == "/"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"username": "ann@example.org", "password": "wrong"}, "do not belong together"),
        ({"username": "nobody@example.org", "password": PASSWORD}, "do not belong together"),
        ({"username": "ann", "password": PASSWORD}, "Enter a whole e-mail address."),
        ({"username": "", "password": ""}, "Enter your password."),
    ],
)
def test_wrong_sign_in_says_what_is_wrong(
    form: dict[str, str], message: str, ann: User, client: Client
) -> None:
    response = client.post("/sign-in", form)
    page = response.content.decode()
    assert response.status_code == 200
    assert "<title>Error: Sign in" in page
    assert page.count('class="error-summary"') == 1
    assert message in page
    assert _person_of(client) is None


def test_inactive_person_can_not_sign_in_or_stay(ann: User, client: Client) -> None:
    client.force_login(ann)
    User.objects.update(is_active=False)
    assert client.get("/").status_code == 302
    assert client.post("/sign-in", {"username": ann.email, "password": PASSWORD}).status_code == 200


def test_sign_out_needs_a_post(ann: User, client_as: ClientAs) -> None:
    client = client_as(ann)
    assert client.get("/sign-out").status_code == 405
    assert client.post("/sign-out").headers["Location"] == "/sign-in"
    assert _person_of(client) is None


def test_link_signs_in_by_its_button_once(ann: User, client: Client) -> None:
    path = sign_in_path(ann)
    for _ in range(2):
        page = client.get(path).content.decode()
        assert "Sign in as ann@example.org?" in page
        assert _person_of(client) is None
    assert client.post(path).headers["Location"] == "/"
    assert _person_of(client) == str(ann.pk)
    assert AuditEvent.objects.filter(verb="user.use_sign_in_link", actor=ann).count() == 1
    again = Client()
    assert again.post(path).status_code == again.get(path).status_code == 410
    assert _person_of(again) is None


def test_link_goes_on_to_next_on_this_site_only(ann: User, client: Client) -> None:
    page = client.get(sign_in_path(ann) + "?next=/projects/a").content.decode()
    assert '<input type="hidden" name="next" value="/projects/a">' in page
    assert client.post(sign_in_path(ann), {"next": "/projects/a"}).headers["Location"] == "/projects/a"
    ann.refresh_from_db()
    assert client.post(sign_in_path(ann), {"next": "//evil.example/"}).headers["Location"] == "/"


def test_second_link_of_the_same_second_is_spent_by_the_first(ann: User, client: Client) -> None:
    with time_machine.travel(NOON) as clock:
        User.objects.update(last_login=timezone.now())
        ann.refresh_from_db()
        path = sign_in_path(ann)
        clock.shift(timedelta(milliseconds=300))
        assert client.post(path).status_code == 302
        assert Client().post(path).status_code == 410


def test_link_lasts_a_day(ann: User, client: Client) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        path = sign_in_path(ann)
        clock.shift(timedelta(days=1))
        assert client.get(path).status_code == 200
        clock.shift(timedelta(seconds=1))
        assert client.get(path).status_code == 410


@pytest.mark.parametrize(
    "path",
    ["/sign-in/MQ/x-y", "/sign-in/!!/x-y", "/sign-in/w6k/x", "/sign-in/OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5/a-b"],
)
def test_made_up_link_is_refused(path: str, ann: User, client: Client) -> None:
    assert client.get(path).status_code == client.post(path).status_code == 410


def test_link_of_another_person_or_an_inactive_one_is_refused(ann: User, dee: User, client: Client) -> None:
    uid = sign_in_path(dee).split("/")[2]
    token = sign_in_path(ann).split("/")[3]
    assert client.post(f"/sign-in/{uid}/{token}").status_code == 410
    User.objects.update(is_active=False)
    assert client.post(sign_in_path(ann)).status_code == 410


def test_home_lists_projects_and_goes_to_the_only_one(
    project: Project, ann: User, client_as: ClientAs
) -> None:
    client = client_as(ann)
    assert client.get("/").headers["Location"] == "/projects/triage"
    create_project(actor=ann, account=personal_account(ann), slug="empty", name="<b>Empty</b>")
    Project.objects.filter(slug="empty").update(archived_at=timezone.now())
    page = client.get("/").content.decode()
    assert "&lt;b&gt;Empty&lt;/b&gt;" in page
    assert 'href="/projects/triage"' in page
    assert page.count("Archived") == 1


def test_home_of_a_person_without_projects_shows_the_command(project: Project, client_as: ClientAs) -> None:
    page = client_as(create_user(email="eve@example.org")).get("/").content.decode()
    assert "manage.py create_project SLUG --owner eve@example.org" in page
    assert "triage" not in page


@pytest.mark.parametrize("projects", [2, 6])
def test_home_takes_the_same_queries_for_any_number_of_projects(
    projects: int, ann: User, client_as: ClientAs, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    for number in range(projects):
        create_project(actor=ann, account=personal_account(ann), slug=f"p-{number}")
    client = client_as(ann)
    with django_assert_num_queries(3):  # type: ignore[operator]
        client.get("/")


@pytest.mark.django_db
def test_theme_is_kept_in_a_cookie_and_cleared(client: Client) -> None:
    assert 'data-theme=""' in client.get("/sign-in").content.decode()
    for chosen, shown in (("dark", "dark"), ("light", "light"), ("", ""), ("dark", "dark"), ("x", "")):
        response = client.post("/theme", {"theme": chosen, "next": "/sign-in?next=/a"})
        assert response.headers["Location"] == "/sign-in?next=/a"
        assert f'data-theme="{shown}"' in client.get("/sign-in").content.decode()
    assert client.post("/theme", {"theme": "dark", "next": "https://evil.example"}).headers["Location"] == "/"
    assert client.get("/theme").status_code == 405
    client.cookies["theme"] = '"><script>'
    assert 'data-theme=""' in client.get("/sign-in").content.decode()
