from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import time_machine
from django.http.response import HttpResponseBase
from pytest_django import DjangoAssertNumQueries

from plural_site.accounts.actions import create_api_key, create_project, personal_account, record
from plural_site.accounts.audit_words import WORDS, add_words, sentence, verb_words
from plural_site.accounts.models import AuditEvent, Project, User

if TYPE_CHECKING:
    from tests.conftest import ClientAs

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
LOG = "/projects/triage/settings/audit"


def text(response: HttpResponseBase) -> str:
    return b"".join(iter(response)).decode()


@pytest.mark.parametrize(
    ("verb", "detail", "expected"),
    [
        (
            "project.set_member",
            {"user": "cy@example.org", "role": "viewer", "may_publish": True},
            "made cy@example.org viewer of the project, with the right to publish",
        ),
        ("invitation.create", {"email": "", "role": "viewer"}, "invited anybody with the link as viewer"),
        (
            "project.delete",
            {"slug": "x", "removed": {"Jobs": 1200, "Trials": 0}},
            "deleted the project x with 1\u202f200 Jobs, 0 Trials",
        ),
        ("project.change", {}, "changed the project’s name or notice"),
        ("account.create", {}, "created the account something"),
        ("account.create", {"slug": "{role.__class__}"}, "created the account {role.__class__}"),
        ("account.create", {"slug": "a\0\u202eb"}, "created the account a␀⟨U+202E⟩b"),
        ("thing.done_well", {"x": 1}, "thing: done well (job 7)"),
    ],
)
def test_event_in_words(verb: str, detail: dict[str, object], expected: str) -> None:
    assert sentence(verb, detail, "jobs.job", "7") == expected


def test_apps_add_words_and_verbs_are_listed_readably() -> None:
    add_words({"test.made_up": "did {what}"})
    try:
        assert sentence("test.made_up", {"what": "it"}, "x", "1") == "did it"
    finally:
        del WORDS["test.made_up"]
    assert verb_words("project.set_member") == "Project set member"


def test_log_says_who_did_what_by_which_key(
    project: Project, ann: User, ben: User, client_as: ClientAs
) -> None:
    key, _ = create_api_key(actor=ben, account=project.account, project=project)
    record(key, "job.import", project, project=project)
    page = client_as(ann).get(LOG).content.decode()
    assert "created the project triage" in page
    assert "made cy@example.org viewer of the project" in page
    assert f"{key.prefix}…" in page
    assert re.search(r"Ben</bdi><span class=\"sub\">by the key", page)


def test_log_is_filtered_by_person_verb_and_day(
    project: Project, ann: User, ben: User, client_as: ClientAs
) -> None:
    for day, (user, verb) in enumerate([(ann, "a.one"), (ben, "a.one"), (ann, "a.two")]):
        with time_machine.travel(NOON + timedelta(days=day), tick=False):
            record(user, verb, project, project=project, label=f"L{day}")
    browser = client_as(ann)

    def shown(query: str) -> int:
        page = browser.get(f"{LOG}.json?{query}")
        return len(json.loads(text(page))["events"])

    assert shown("who=BEN@example") == 1
    assert shown("verb=a.one") == 2
    assert shown("verb=a.one&who=Ann") == 1
    assert shown("since=2026-12-01&until=2026-12-01&verb=a.one") == 1
    assert shown("since=2026-12-02&verb=a.two") == 1
    assert shown("until=2026-11-29") == 0
    everything = AuditEvent.objects.filter(project=project).count()
    for nonsense in ("since=x", "since=2026-13-45", "verb=';--", "who=%00", "until=9999-99-99", "cursor=zzz"):
        assert shown(nonsense) == everything
        assert browser.get(f"{LOG}?{nonsense}").status_code == 200
    page = browser.get(f"{LOG}?verb=a.two").content.decode()
    assert '<option value="a.two" selected>' in page
    assert f"{LOG}.csv?verb=a.two" in page


def test_log_goes_on_page_by_page_while_more_comes(project: Project, ann: User, client_as: ClientAs) -> None:
    for number in range(120):
        record(ann, "a.one", project, project=project, n=number)
    browser, seen, path = client_as(ann), 0, f"{LOG}?verb=a.one"
    for _ in range(5):
        page = browser.get(path).content.decode()
        seen += page.count("<time ")
        record(ann, "a.one", project, project=project, n="later")
        following = re.search(r'rel="next" href="([^"]+)"', page)
        if not following:
            break
        path = following[1].replace("&amp;", "&")
    assert seen == 120


def test_export_is_safe_for_spreadsheets_and_whole(project: Project, ann: User, client_as: ClientAs) -> None:
    ann.name = '=HYPERLINK("http://evil")'
    ann.save()
    record(ann, "a.one", project, project=project, note='ä, "x"\n', number=1)
    browser = client_as(ann)
    response = browser.get(f"{LOG}.csv")
    assert response.headers["Content-Disposition"] == 'attachment; filename="triage-audit-log.csv"'
    rows = list(csv.DictReader(io.StringIO(text(response), newline="")))
    assert len(rows) == AuditEvent.objects.filter(project=project).count()
    assert rows[0]["person"] == '\'=HYPERLINK("http://evil")'
    assert json.loads(rows[0]["detail"]) == {"note": 'ä, "x"\n', "number": 1}
    assert rows[0]["email"] == "ann@example.org"
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]
    values = json.loads(text(browser.get(f"{LOG}.json")))["events"]
    assert values[0]["person"] == '=HYPERLINK("http://evil")'
    assert values[0]["verb"] == "a.one"
    assert datetime.fromisoformat(values[0]["time"]).tzinfo is not None


@pytest.mark.parametrize("address", [LOG, "/accounts/ann/audit"])
def test_landmarks_have_names_of_their_own(
    address: str, project: Project, ann: User, client_as: ClientAs
) -> None:
    page = client_as(ann).get(address).content.decode()
    headings = dict(re.findall(r'<h2 id="([^"]+)">([^<]+)</h2>', page))
    names = [headings[ident] for ident in re.findall(r'<section[^>]* aria-labelledby="([^"]+)"', page)]
    names += re.findall(r'role="region" aria-label="([^"]+)"', page)
    assert len(names) >= 2 and len(names) == len(set(names))


def test_empty_export_is_valid(project: Project, ann: User, client_as: ClientAs) -> None:
    browser = client_as(ann)
    assert json.loads(text(browser.get(f"{LOG}.json?who=nobody-at-all"))) == {"events": []}
    assert text(browser.get(f"{LOG}.csv?who=nobody-at-all")).startswith("time,person,")


def test_account_log_holds_that_of_its_projects_and_no_other(
    project: Project, ann: User, dee: User, client_as: ClientAs
) -> None:
    create_project(actor=dee, account=personal_account(dee), slug="theirs")
    page = client_as(ann).get("/accounts/ann/audit").content.decode()
    assert "created the project triage" in page
    assert "created the person ann@example.org" in page
    assert "theirs" not in page
    assert "dee@example.org" not in page


@pytest.mark.parametrize("events", [3, 40])
def test_log_takes_the_same_queries_for_any_number(
    events: int,
    project: Project,
    ann: User,
    client_as: ClientAs,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(events):
        record(ann, "a.one", project, project=project, n=number)
    browser = client_as(ann)
    with django_assert_num_queries(2 + 1 + 2):
        browser.get(LOG)
    with django_assert_num_queries(3 + 2):
        browser.get("/accounts/ann/audit")


def test_what_is_done_to_jobs_has_words() -> None:
    said = sentence("job.set_aside", {"job": "job_1", "reason": "wrong key"}, "jobs.job", "1")
    assert said == "set the Job job_1 aside: “wrong key”"
