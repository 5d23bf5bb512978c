"""People, their project, and what every test needs from the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connections
from django.test import Client, TransactionTestCase

from plural_site.accounts.actions import create_project, create_user, personal_account, set_project_member
from plural_site.accounts.models import Project, ProjectRole, User
from plural_site.db.frozen import thaw
from tests.buckets import Bucket, Server, serving, stored_in

PASSWORD = "correct horse battery"
ClientAs = Callable[[User | None], Client]


@pytest.fixture(scope="session")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("object-store")) as server:
        yield server


@pytest.fixture
def bucket(object_store: Server) -> Iterator[Bucket]:
    """Blobs and uploads lie in this bucket."""
    with stored_in(object_store) as bucket:
        yield bucket


@pytest.fixture(scope="session", autouse=True)
def _thaw_before_flush() -> Iterator[None]:
    """Lets tests with real transactions empty frozen tables; the flush itself puts the triggers back."""
    tear_down = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # not in the stubs

    def thaw_and_tear_down(case: TransactionTestCase) -> None:
        for connection in connections.all():
            thaw(connection)
        tear_down(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", thaw_and_tear_down)
        yield


@pytest.fixture(autouse=True)
def _forms_can_be_kept() -> None:
    """Some tests take every stored file away, the folder that forms are read into with them."""
    Path(str(settings.FILE_UPLOAD_TEMP_DIR)).mkdir(parents=True, exist_ok=True)


def _person(name: str) -> User:
    return create_user(email=f"{name}@example.org", name=name.title(), password=PASSWORD)


@pytest.fixture
def ann(db: None) -> User:
    """Manager of `project`, who may publish; owns its account."""
    return _person("ann")


@pytest.fixture
def ben(db: None) -> User:
    """Contributor to `project`."""
    return _person("ben")


@pytest.fixture
def cy(db: None) -> User:
    """Viewer of `project`."""
    return _person("cy")


@pytest.fixture
def dee(db: None) -> User:
    """Has nothing to do with `project`."""
    return _person("dee")


@pytest.fixture
def project(ann: User, ben: User, cy: User) -> Project:
    project = create_project(actor=ann, account=personal_account(ann), slug="triage", name="Support triage")
    for user, role in (
        (ann, ProjectRole.MANAGER),
        (ben, ProjectRole.CONTRIBUTOR),
        (cy, ProjectRole.VIEWER),
    ):
        set_project_member(actor=ann, project=project, user=user, role=role, may_publish=user is ann)
    return project


@pytest.fixture
def client_as(db: None) -> ClientAs:
    """A browser in which the person is signed in; None for a stranger."""

    def sign_in(user: User | None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def visitor(project: Project, ann: User, client_as: ClientAs) -> Client:
    """A browser in which somebody is signed in who may read `project`."""
    return client_as(ann)
