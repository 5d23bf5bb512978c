"""Every address x everybody who may ask for it. An address that is not listed here fails the test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction
from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from hub.domain.assemble import assemble
from hub.models import Manifest, ManifestRecord
from jobs.models import ImportRun, Job, Trial
from plural_site.accounts.actions import (
    create_api_key,
    create_project,
    create_user,
    personal_account,
    set_project_member,
)
from plural_site.accounts.actions_people import create_organization, invite
from plural_site.accounts.models import (
    Account,
    AccountMembership,
    AccountRole,
    ApiKey,
    Invitation,
    KeyAbility,
    Project,
    ProjectRole,
    User,
)
from tests.access import public_addresses, settings_addresses
from tests.builders import BenchmarkSpec, make_job, track
from tests.domain.hub.made import MADE
from tests.frozen_rows import frozen
from tests.importing import bring

if TYPE_CHECKING:
    from tests.conftest import ClientAs

SIGN_IN, OK, GONE, ABSENT, NO_METHOD, UNAUTHENTICATED = 302, 200, 410, 404, 405, 401
FORBIDDEN, UNPROCESSABLE = 403, 422
PEOPLE = ("anonymous", "dee", "oli", "cy", "ben", "max", "ann")
MEMBERS = {"anonymous": SIGN_IN, "dee": ABSENT, "cy": OK, "ben": OK, "ann": OK}
ANYONE = dict.fromkeys(PEOPLE, OK)


@dataclass(frozen=True)
class Address:
    path: str
    expected: Mapping[str, int]
    post: Mapping[str, int]


def address(path: str, expected: Mapping[str, int], post: int | Mapping[str, int] = NO_METHOD) -> Address:
    """`post` for people who may see the address; nobody may change anything by one that they may not see."""
    by_person = (
        post if isinstance(post, Mapping) else {"anonymous": SIGN_IN} | dict.fromkeys(PEOPLE[1:], post)
    )
    return Address(path, _for_all(expected), _for_all(by_person))


def _for_all(by_person: Mapping[str, int]) -> Mapping[str, int]:
    """Unless an address says otherwise, oli, who is in another project only, gets what dee does, and max,
    a manager who doesn't own the account, what ben does."""
    return {"oli": by_person["dee"], "max": by_person["ben"], **by_person}


WRITERS = MEMBERS | {"cy": FORBIDDEN}
NO_PAGE = {"anonymous": SIGN_IN} | dict.fromkeys(PEOPLE[1:], NO_METHOD)


def for_writers(status: int) -> Mapping[str, int]:
    """`SIGN_IN` is the status of every redirect."""
    return WRITERS | {"ben": status, "ann": status}


PUBLISHERS = dict(
    zip(
        ("anonymous", "dee", "cy", "ben", "ann"),
        (SIGN_IN, ABSENT, FORBIDDEN, FORBIDDEN, SIGN_IN),
        strict=True,
    )
)
IN_PROJECT = "projects/{project}"
API = "api/v1/benchmarks/{slug}/revisions/{selector}/leaderboard"
MATRIX = {
    "healthz": address("/healthz", ANYONE, dict.fromkeys(PEOPLE, NO_METHOD)),
    "readyz": address("/readyz", ANYONE, dict.fromkeys(PEOPLE, NO_METHOD)),
    # Off, as no token is set; tests/test_monitoring.py has it on.
    "metrics": address("/metrics", dict.fromkeys(PEOPLE, ABSENT), dict.fromkeys(PEOPLE, NO_METHOD)),
    "": address("/", {"dee": OK} | dict.fromkeys(("anonymous", "oli", "cy", "ben", "ann"), SIGN_IN)),
    "sign-in": address(
        "/sign-in",
        {"anonymous": OK} | dict.fromkeys(PEOPLE[1:], SIGN_IN),
        {"anonymous": OK} | dict.fromkeys(PEOPLE[1:], SIGN_IN),
    ),
    "sign-in/<str:uid>/<str:token>": address(
        "/sign-in/MQ/abc-def", dict.fromkeys(PEOPLE, GONE), dict.fromkeys(PEOPLE, GONE)
    ),
    "sign-out": address("/sign-out", {"anonymous": SIGN_IN} | dict.fromkeys(PEOPLE[1:], NO_METHOD), SIGN_IN),
    "theme": address("/theme", dict.fromkeys(PEOPLE, NO_METHOD), dict.fromkeys(PEOPLE, SIGN_IN)),
    "projects/<slug:project>": address(f"/{IN_PROJECT}", MEMBERS),
    "projects/<slug:project>/benchmarks/<slug:slug>": address(f"/{IN_PROJECT}/benchmarks/{{slug}}", MEMBERS),
    "projects/<slug:project>/benchmarks/<slug:slug>/revisions/<int:number>/release": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}/revisions/1/release", WRITERS, for_writers(UNPROCESSABLE)
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>/compare-releases": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}/compare-releases", MEMBERS
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>/updates": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}/updates", MEMBERS
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>/updates/save": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}/updates/save",
        for_writers(SIGN_IN),  # nothing is newer
        for_writers(UNPROCESSABLE),
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}@{{selector}}", MEMBERS
    ),
    r"^projects/(?P<project>[-a-z0-9]+)/benchmarks/(?P<slug>[-a-z0-9]+)@(?P<selector>[^/]+)"
    r"/leaderboard\.(?P<kind>csv|json)$": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}@{{selector}}/leaderboard.csv", MEMBERS
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>/compare": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}@{{selector}}/compare", MEMBERS
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>/grid": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}@{{selector}}/grid", MEMBERS
    ),
    r"^projects/(?P<project>[-a-z0-9]+)/benchmarks/(?P<slug>[-a-z0-9]+)@(?P<selector>[^/]+)"
    r"/chart\.json$": address(f"/{IN_PROJECT}/benchmarks/{{slug}}@{{selector}}/chart.json", MEMBERS),
    "projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>/proof": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}@{{selector}}/proof?entry={{agent}}&figure=score", MEMBERS
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>/tasks/<int:position>": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}@{{selector}}/tasks/1", MEMBERS
    ),
    "projects/<slug:project>/agents": address(f"/{IN_PROJECT}/agents", MEMBERS),
    "projects/<slug:project>/agents/<slug:digits>": address(f"/{IN_PROJECT}/agents/{{agent}}", MEMBERS),
    "projects/<slug:project>/jobs": address(f"/{IN_PROJECT}/jobs", MEMBERS),
    "projects/<slug:project>/jobs/<slug:job_id>": address(f"/{IN_PROJECT}/jobs/{{job}}", MEMBERS),
    "projects/<slug:project>/jobs/<slug:job_id>/search": address(
        f"/{IN_PROJECT}/jobs/{{job}}/search?q=look", MEMBERS
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>/search": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}@{{selector}}/search?q=look", MEMBERS
    ),
    "projects/<slug:project>/jobs/<slug:job_id>/live": address(f"/{IN_PROJECT}/jobs/{{job}}/live", MEMBERS),
    "projects/<slug:project>/jobs/<slug:job_id>/set-aside": address(
        f"/{IN_PROJECT}/jobs/{{job}}/set-aside",
        MEMBERS | {"cy": FORBIDDEN},
        {"anonymous": SIGN_IN, "dee": ABSENT, "cy": FORBIDDEN, "ben": UNPROCESSABLE, "ann": UNPROCESSABLE},
    ),
    "projects/<slug:project>/jobs/<slug:job_id>/close": address(
        f"/{IN_PROJECT}/jobs/{{job}}/close",
        MEMBERS | {"cy": FORBIDDEN},
        {"anonymous": SIGN_IN, "dee": ABSENT, "cy": FORBIDDEN, "ben": UNPROCESSABLE, "ann": UNPROCESSABLE},
    ),
    "projects/<slug:project>/imports": address(f"/{IN_PROJECT}/imports", MEMBERS),
    "projects/<slug:project>/imports/new": address(
        f"/{IN_PROJECT}/imports/new", WRITERS, for_writers(UNPROCESSABLE)
    ),
    "projects/<slug:project>/imports/uploads": address(
        f"/{IN_PROJECT}/imports/uploads", NO_PAGE, for_writers(UNPROCESSABLE)
    ),
    "projects/<slug:project>/imports/<int:number>": address(f"/{IN_PROJECT}/imports/{{run}}", MEMBERS),
    "projects/<slug:project>/imports/<int:number>/live": address(
        f"/{IN_PROJECT}/imports/{{run}}/live", MEMBERS
    ),
    "projects/<slug:project>/imports/<int:number>/parts/<int:part>": address(
        f"/{IN_PROJECT}/imports/{{run}}/parts/0",
        NO_PAGE,
        for_writers(ABSENT),  # it is an upload of nobody here
    ),
    "projects/<slug:project>/imports/<int:number>/cancel": address(
        f"/{IN_PROJECT}/imports/{{run}}/cancel", NO_PAGE, for_writers(SIGN_IN)
    ),
    "projects/<slug:project>/imports/<int:number>/retry": address(
        f"/{IN_PROJECT}/imports/{{run}}/retry", NO_PAGE, for_writers(SIGN_IN)
    ),
    "projects/<slug:project>/imports/<int:number>/undo": address(
        f"/{IN_PROJECT}/imports/{{run}}/undo", WRITERS, for_writers(SIGN_IN)
    ),
    "projects/<slug:project>/publish": address(f"/{IN_PROJECT}/publish", MEMBERS),
    "projects/<slug:project>/benchmarks/<slug:slug>/publish": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}/publish", NO_PAGE, PUBLISHERS
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>/publish/discard": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}/publish/discard", PUBLISHERS, PUBLISHERS
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>/publish/done/<str:digest>": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}/publish/done/sha256:00",
        {"anonymous": SIGN_IN} | dict.fromkeys(PEOPLE[1:], ABSENT),  # nothing is published
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>/publish/check/reader": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}/publish/check/reader", PUBLISHERS
    ),
    "projects/<slug:project>/benchmarks/<slug:slug>/publish/<slug:name>": address(
        f"/{IN_PROJECT}/benchmarks/{{slug}}/publish/release",
        PUBLISHERS,
        PUBLISHERS | {"anonymous": UNAUTHENTICATED},  # with what was sent, to be sent again
    ),
    "projects/<slug:project>/storage": address(f"/{IN_PROJECT}/storage", MEMBERS),
    "projects/<slug:project>/storage/retention": address(
        f"/{IN_PROJECT}/storage/retention",
        NO_PAGE,
        MEMBERS | {"cy": FORBIDDEN, "ben": FORBIDDEN, "max": UNPROCESSABLE, "ann": UNPROCESSABLE},
    ),
    "projects/<slug:project>/trials": address(f"/{IN_PROJECT}/trials", MEMBERS),
    "projects/<slug:project>/trials/<slug:trial_id>": address(f"/{IN_PROJECT}/trials/{{trial}}", MEMBERS),
    "projects/<slug:project>/trials/<slug:trial_id>/receipt": address(
        f"/{IN_PROJECT}/trials/{{trial}}/receipt", MEMBERS
    ),
    "projects/<slug:project>/trials/<slug:trial_id>/trajectory": address(
        f"/{IN_PROJECT}/trials/{{trial}}/trajectory", MEMBERS
    ),
    "projects/<slug:project>/trials/<slug:trial_id>/trajectory/steps/<int:number>": address(
        f"/{IN_PROJECT}/trials/{{trial}}/trajectory/steps/1", MEMBERS
    ),
    "projects/<slug:project>/trials/<slug:trial_id>/trajectory/steps/<int:number>/raw": address(
        f"/{IN_PROJECT}/trials/{{trial}}/trajectory/steps/1/raw", MEMBERS
    ),
    "projects/<slug:project>/trials/<slug:trial_id>/trajectory/steps/<int:number>/blocks/<int:part>": address(
        f"/{IN_PROJECT}/trials/{{trial}}/trajectory/steps/1/blocks/0", MEMBERS
    ),
    "projects/<slug:project>/trials/<slug:trial_id>/trajectory/steps/<int:number>/images/<int:part>": address(
        f"/{IN_PROJECT}/trials/{{trial}}/trajectory/steps/1/images/0",
        {"anonymous": SIGN_IN} | dict.fromkeys(PEOPLE[1:], ABSENT),  # its first part is no picture
    ),
    "projects/<slug:project>/trajectories/compare": address(
        f"/{IN_PROJECT}/trajectories/compare?a={{trial}}&b={{trial}}", MEMBERS
    ),
    "projects/<slug:project>/trials/<slug:trial_id>/executions/<int:number>/files/<path:path>": address(
        f"/{IN_PROJECT}/trials/{{trial}}/executions/0/files/result.json", MEMBERS
    ),
    "api/v1/openapi.json": address("/api/v1/openapi.json", ANYONE, ANYONE),
    "api/v1/benchmarks/<slug>/revisions/<selector>/leaderboard": address(
        f"/{API}?project={{project}}",
        MEMBERS | {"anonymous": UNAUTHENTICATED},
        dict.fromkeys(PEOPLE, NO_METHOD),
    ),
}
MATRIX |= {
    pattern: address(path, ANYONE, dict.fromkeys(PEOPLE, NO_METHOD))
    for pattern, path in public_addresses.ADDRESSES.items()
}
MATRIX |= {pattern: Address(*entry) for pattern, entry in settings_addresses.ADDRESSES.items()}
IGNORED = {"api/v1/"}
"""Root of the API, which only names addresses within Python and answers 404."""


def patterns(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        route = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from patterns(entry, route)
        elif isinstance(entry, URLPattern):
            yield route


def filled(path: str, project: Project) -> str:
    job = Job.objects.filter(project=project).order_by("pk").first()
    trial = Trial.objects.filter(job=job).order_by("pk").first()
    values = {
        "account": "acme",
        "account_invitation": _first(Invitation.objects.filter(account__slug="acme")),
        "account_key": _first(ApiKey.objects.filter(account__slug="acme")),
        "invitation": _first(Invitation.objects.filter(project=project)),
        "key": _first(ApiKey.objects.filter(project=project)),
        "digest": Manifest.objects.values_list("digest", flat=True).first(),
        "run": _first(ImportRun.objects.filter(project=project)),
        "member": _first(User.objects.filter(name="Cy")),
        "owner": _first(User.objects.filter(name="Ann")),
    }
    return path.format(
        **values,
        project=project.slug,
        slug="demo-bench",
        selector="1.0.0",
        job=job.client_job_id if job else "job_none",
        trial=trial.client_trial_id if trial else "trl_none",
        agent=trial.job_agent.configuration.content_hash.removeprefix("sha256:")[:12] if trial else "none",
    )


def _first(rows: QuerySet[Any]) -> int:
    found: int | None = rows.order_by("pk").values_list("pk", flat=True).first()
    return found or 0


@pytest.fixture
def people(project: Project, ann: User, ben: User, cy: User, dee: User) -> dict[str, User | None]:
    """dee has nothing, oli another project only; cy reads, ben contributes, max manages, ann owns."""
    oli, manager = (create_user(email=f"{name}@example.org", name=name.title()) for name in ("oli", "max"))
    create_project(actor=oli, account=personal_account(oli), slug="of-oli")
    set_project_member(actor=ann, project=project, user=manager, role=ProjectRole.MANAGER)
    return {"anonymous": None, "dee": dee, "oli": oli, "cy": cy, "ben": ben, "max": manager, "ann": ann}


@pytest.fixture
def organization(project: Project, ann: User, ben: User) -> Account:
    """The account "acme": ann owns it, ben is a member. Keys and invitations there and in `project`."""
    account = create_organization(actor=ann, slug="acme")
    AccountMembership.objects.create(account=account, user=ben, role=AccountRole.MEMBER)
    invite(actor=ann, place=account, role=AccountRole.MEMBER)
    invite(actor=ann, place=project, role=ProjectRole.VIEWER)
    create_api_key(actor=ben, account=project.account, project=project)
    create_api_key(actor=ann, account=account)
    return account


@pytest.fixture
def published(db: None) -> ManifestRecord:
    return frozen(assemble(**MADE))


@pytest.fixture
def with_job(project: Project, tmp_path: Path) -> Path:
    folder = make_job(tmp_path / "one", benchmark=BenchmarkSpec(tracks=(track(),)), track_id="open")
    bring(project, folder)
    return folder


@pytest.fixture
def other_project(ann: User, tmp_path: Path) -> Project:
    """Another project of ann's account, which ben and cy have nothing to do with."""
    other = create_project(actor=ann, account=personal_account(ann), slug="other")
    bring(other, make_job(tmp_path / "other", key="other"))
    return other


def test_every_address_is_listed() -> None:
    assert set(patterns(get_resolver())) - IGNORED == set(MATRIX)


def test_everybody_gets_what_they_may_see(
    with_job: Path,
    published: ManifestRecord,
    project: Project,
    organization: Account,
    people: dict[str, User | None],
    client_as: ClientAs,
) -> None:
    wrong = []
    for pattern, entry in MATRIX.items():
        path = filled(entry.path, project)
        for name, user in people.items():
            for method, expected in (("get", entry.expected), ("post", entry.post)):
                with transaction.atomic():  # nobody finds what others have changed
                    got = getattr(client_as(user), method)(path).status_code
                    transaction.set_rollback(True)
                if got != expected[name]:
                    wrong.append(f"{method} {pattern} by {name}: {got}, not {expected[name]}")
    assert wrong == []


def body(response: HttpResponseBase, path: str) -> str:
    """What a person reads, without the address that they asked for and what is new each time."""
    text = unescape(b"".join(iter(response)).decode()).replace(path, "PATH")
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "TOKEN", text)
    return re.sub(r"[0-9a-f]{32}", "ID", text)


def headers(response: HttpResponseBase) -> dict[str, Any]:
    changing = ("X-Request-ID", "Content-Length", "Set-Cookie")
    return {name: value for name, value in response.headers.items() if name not in changing}


def test_stranger_gets_the_same_404_as_for_what_is_not_there(
    with_job: Path, project: Project, organization: Account, dee: User, client_as: ClientAs
) -> None:
    browser = client_as(dee)
    private = [entry for entry in MATRIX.values() if re.search("{project}|{account}", entry.path)]
    assert len(private) > 5
    for entry in private:
        there = filled(entry.path, project)
        not_there = re.sub(f"{project.slug}|{organization.slug}", "no-such", there)
        ask = browser.post if entry.expected["dee"] == NO_METHOD else browser.get
        hidden, missing = ask(there), ask(not_there)
        assert (hidden.status_code, missing.status_code) == (404, 404)
        assert body(hidden, there) == body(missing, not_there)
        assert headers(hidden) == headers(missing)


def test_things_of_another_project_are_not_reachable_through_ones_own(
    with_job: Path,
    project: Project,
    other_project: Project,
    people: dict[str, User | None],
    client_as: ClientAs,
) -> None:
    """Not even by ann, who may see both: an address shows what is in its project."""
    job = Job.objects.get(project=other_project)
    trial = Trial.objects.filter(job=job).earliest("pk")
    here = f"/projects/{project.slug}"
    agent = trial.job_agent.configuration.content_hash.removeprefix("sha256:")[:12]
    for person in ("ann", "ben"):
        browser = client_as(people[person])
        for path in (
            f"{here}/jobs/{job.client_job_id}",
            f"{here}/trials/{trial.client_trial_id}",
            f"{here}/trials/{trial.client_trial_id}/receipt",
            f"{here}/trials/{trial.client_trial_id}/executions/0/files/result.json",
            f"{here}/trials?job={job.client_job_id}",
        ):
            assert browser.get(path).status_code == 404, path
            owners = client_as(people["ann"]).get(path.replace(project.slug, "other"))
            assert owners.status_code == 200, path
        listing = browser.get(f"{here}/trials?agent={agent}")
        assert trial.client_trial_id not in listing.content.decode()
        assert job.client_job_id not in browser.get(f"{here}/jobs").content.decode()


def keys(project: Project, other: Project, ann: User, ben: User, dee: User) -> dict[str, str]:
    yesterday = timezone.now() - timedelta(days=1)
    account = project.account
    made = {
        "limited to it": create_api_key(actor=ann, account=account, project=project),
        "of the account": create_api_key(actor=ann, account=account),
        "read": create_api_key(actor=ben, account=account, project=project, ability=KeyAbility.READ),
        "limited to another": create_api_key(actor=ann, account=account, project=other),
        "of another account": create_api_key(actor=ben, account=personal_account(ben)),
        "of a stranger": create_api_key(actor=dee, account=personal_account(dee)),
        "expired": create_api_key(actor=ann, account=account, project=project, expires_at=yesterday),
        "revoked": create_api_key(actor=ann, account=account, project=project),
    }
    revoked = made["revoked"][0]
    revoked.revoked_at = yesterday
    revoked.save()
    return {name: secret for name, (_, secret) in made.items()} | {"of nobody": "plural_" + "x" * 43}


def test_keys_reach_what_they_are_for(
    with_job: Path, project: Project, other_project: Project, ann: User, ben: User, dee: User
) -> None:
    path = "/" + API.format(slug="demo-bench", selector="1.0.0")
    expected = {
        "limited to it": OK,
        "of the account": OK,
        "read": OK,
        "limited to another": ABSENT,
        "of another account": ABSENT,
        "of a stranger": ABSENT,
        "expired": UNAUTHENTICATED,
        "revoked": UNAUTHENTICATED,
        "of nobody": UNAUTHENTICATED,
    }
    browser = Client()
    for name, secret in keys(project, other_project, ann, ben, dee).items():
        sent = {"Authorization": f"Bearer {secret}"}
        hidden = browser.get(path, headers={**sent, "X-Project-Id": project.slug})
        assert hidden.status_code == expected[name], name
        assert (
            browser.get(path, headers={**sent, "X-Project-Id": str(project.pk)}).status_code == expected[name]
        )
        missing = browser.get(path, headers={**sent, "X-Project-Id": "no-such"})
        assert missing.status_code == (UNAUTHENTICATED if expected[name] == UNAUTHENTICATED else ABSENT), name
        if expected[name] == ABSENT:
            assert hidden.content == missing.content
            assert headers(hidden) == headers(missing)


def test_a_bad_key_is_not_saved_by_a_session(with_job: Path, project: Project, ann: User) -> None:
    browser = Client()
    browser.force_login(ann)
    path = "/" + API.format(slug="demo-bench", selector="1.0.0")
    sent = {"X-Project-Id": project.slug}
    assert browser.get(path, headers=sent).status_code == OK
    for header in ("Bearer plural_" + "x" * 43, "Basic YTpi", ""):
        assert browser.get(path, headers={**sent, "Authorization": header}).status_code == UNAUTHENTICATED
    assert browser.get(path).status_code == 422
