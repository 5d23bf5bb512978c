"""Lines of the log: whom and what they are about, in JSON and as text, and nothing that is secret."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, path

from jobs import queue
from plural_site import urls
from plural_site.accounts.actions import create_api_key
from plural_site.accounts.actions_people import invite
from plural_site.accounts.models import Project, ProjectRole, User
from plural_site.accounts.tokens import sign_in_path
from plural_site.logging import SECRET_PATH, Facts, JsonLines, TextLines, config, noted, safe_path
from plural_site.middleware import observed
from tests.conftest import PASSWORD
from tests.uploading import enqueue, packed_bytes


class Captured:
    """What the site logs in a test, in both forms."""

    def __init__(self) -> None:
        self.as_json, self.as_text = io.StringIO(), io.StringIO()
        self.handlers = [
            _handler(self.as_json, JsonLines()),
            _handler(self.as_text, TextLines()),
        ]

    def lines(self, logger: str = "") -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self.as_json.getvalue().splitlines()]
        return [line for line in found if line["logger"].startswith(logger)]

    def everything(self) -> str:
        return self.as_json.getvalue() + self.as_text.getvalue()


def _handler(out: io.StringIO, formatter: logging.Formatter) -> logging.Handler:
    handler = logging.StreamHandler(out)
    handler.addFilter(Facts())
    handler.setFormatter(formatter)
    return handler


@pytest.fixture
def log() -> Iterator[Captured]:
    captured, root = Captured(), logging.getLogger()
    for handler in captured.handlers:
        root.addHandler(handler)
    yield captured
    for handler in captured.handlers:
        root.removeHandler(handler)


def test_a_request_has_one_line_with_who_and_what(log: Captured, project: Project, ben: User) -> None:
    client = Client()
    client.force_login(ben)
    client.get("/projects/triage/jobs?q=typed", headers={"X-Request-ID": "from-the-proxy"})
    (line,) = log.lines("plural_site.request")
    assert line.pop("duration_ms") > 0
    assert line.pop("time").endswith("+00:00")
    assert line.pop("message").startswith("GET /projects/triage/jobs 200 in ")
    assert line == {
        "level": "info",
        "logger": "plural_site.request",
        "request_id": "from-the-proxy",
        "user": ben.pk,
        "method": "GET",
        "path": "/projects/triage/jobs",
        "route": "jobs:jobs",
        "status": 200,
    }
    assert f"[from-the-proxy user={ben.pk} method=GET" in log.as_text.getvalue()


def test_a_request_with_a_key_names_its_person_and_prefix(log: Captured, project: Project, ben: User) -> None:
    key, secret = create_api_key(actor=ben, account=project.account, project=project)
    Client().get(
        "/api/v1/benchmarks/none/revisions/1/leaderboard", headers={"Authorization": f"Bearer {secret}"}
    )
    line = log.lines("plural_site.request")[-1]
    assert (line["user"], line["key"], line["status"]) == (ben.pk, key.prefix, 404)
    assert secret not in log.everything()
    Client().get("/healthz")
    Client().get("/sign-in")
    assert "user" not in log.lines("plural_site.request")[-1]  # the one before it in this thread


def test_what_is_asked_for_all_the_time_is_not_told(log: Captured, db: None) -> None:
    client = Client()
    for address in ("/healthz", "/readyz", "/static/css/base.css"):
        b"".join(client.get(address))
    assert log.lines("plural_site.request") == []


SENT = {"title": "what-somebody-typed", "password": "pass-phrase-of-somebody"}


def _refuse(value: str) -> None:
    raise DatabaseError(f"column x\nDETAIL: Failing row contains ({value}).")


def _break(request: HttpRequest) -> HttpResponse:
    value = request.POST["title"]
    try:
        _refuse(value)
    except DatabaseError as error:
        raise RuntimeError(f"broke\n{value}") from error
    return HttpResponse()


def _with_fault() -> ModuleType:
    module = ModuleType("urls_with_fault")
    vars(module).update(vars(urls) | {"urlpatterns": [path("break", _break), *urls.urlpatterns]})
    return module


def test_nothing_secret_and_no_body_gets_into_the_log(
    log: Captured, project: Project, ann: User, settings: Any
) -> None:
    settings.ROOT_URLCONF = _with_fault()
    link = sign_in_path(ann)
    _, invitation = invite(actor=ann, place=project, role=ProjectRole.VIEWER)
    secrets = [PASSWORD, *SENT.values(), *link.split("/")[3:], invitation]
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    for address in (
        link,
        link + "/",
        link + "x",
        f"/invitations/{invitation}",
        f"/invitations/{invitation}/no",
    ):
        client.get(address)
        client.post(address, SENT)  # refused for want of a token, which Django logs with the path
    client.get("/sign-in", SENT)
    client.post("/break", SENT)
    free = Client(raise_request_exception=False)
    free.post("/sign-in", {"username": ann.email, "password": PASSWORD})
    assert free.post("/break", SENT).status_code == 500
    free.get(
        "/projects/triage",
        headers={"Authorization": f"Bearer {SENT['password']}", "Cookie": "a=pass-phrase-of-somebody"},
    )
    session = free.cookies["sessionid"].value
    found = [secret for secret in [*secrets, session] if secret in log.everything()]
    assert found == []
    error = next(line["error"] for line in log.lines("django.request") if "error" in line)
    assert "DatabaseError: column x\n\nwhich led to\n\n" in error
    assert "in _break" in error and error.endswith("RuntimeError: broke")
    assert len(log.lines("django.security.csrf")) >= 3


def _patterns(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from _patterns(entry, before + str(entry.pattern))
        elif isinstance(entry, URLPattern):
            yield before + str(entry.pattern)


def test_every_address_with_a_secret_is_cut() -> None:
    secret = [
        route for route in _patterns(get_resolver()) if re.search(r"<(str:|path:)?(token|secret)>", route)
    ]
    assert len(secret) >= 3
    for route in secret:
        assert SECRET_PATH.search("/" + route.replace("<str:uid>", "MQ")), route
    assert safe_path("/sign-in/MQ/abc-def") == "/sign-in/…"
    assert safe_path("/projects/x/jobs") == "/projects/x/jobs"
    assert len(safe_path("/" + "x" * 5000)) == 500


def test_lines_of_an_import_carry_its_number(log: Captured, project: Project, ben: User) -> None:
    run = enqueue(project, ben, packed_bytes("readme.txt", b"hello"))
    call_command("work", "--once")
    lines = log.lines("jobs.queue")
    assert [(line["import"], line["project"]) for line in lines] == [(run.pk, "triage")] * 2


def test_faults_of_an_import_carry_its_number(
    log: Captured, project: Project, ben: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*args: Any) -> None:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(queue, "import_claimed", breaks)
    run = enqueue(project, ben, packed_bytes("readme.txt", b"hello"))
    call_command("work", "--once")
    errors = [line for line in log.lines("jobs.queue") if line["level"] == "error"]
    assert errors and all(line["import"] == run.pk for line in errors)
    assert errors[0]["error"].endswith("RuntimeError: no such luck")


def test_a_line_stays_one_line(log: Captured) -> None:
    with noted(user=3):
        logging.getLogger("x").warning("two\nlines\u2028and \x1b[31mred %s", "more\r\n2026-01-01 forged")
    assert len(log.as_json.getvalue().splitlines()) == len(log.as_text.getvalue().splitlines()) == 1
    assert "two\\nlines\\u2028and \\x1b[31mred more\\r\\n2026" in log.as_text.getvalue()
    assert log.lines()[0]["message"].startswith("two\nlines\u2028")


def test_the_request_id_of_one_request_is_not_that_of_the_next() -> None:
    seen: list[str] = []

    def view(request: HttpRequest) -> HttpResponse:
        record = logging.makeLogRecord({})
        Facts().filter(record)
        seen.append(vars(record)["facts"]["request_id"])
        return HttpResponse()

    for given in ("from-the-proxy", "no", ""):
        observed(view)(RequestFactory().get("/", headers={"X-Request-ID": given}))
    assert seen[0] == "from-the-proxy"
    assert all(re.fullmatch("[0-9a-f]{32}", made) for made in seen[1:])
    assert len(set(seen)) == 3


def test_lines_are_json_on_an_https_site_and_text_elsewhere() -> None:
    assert config("json")["formatters"]["line"]["()"] is JsonLines
    assert config("text")["formatters"]["line"]["()"] is TextLines
