"""The freeze: whole or not at all, one line of records, whoever presses when."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client

from hub.domain.records import StoredRecord, check_chain
from hub.models import Draft, Manifest, ManifestRecord
from plural_site.accounts.actions import create_user, set_project_member
from plural_site.accounts.models import AuditEvent, Project, ProjectRole, User
from tests.builders import BenchmarkSpec, agents_named, track
from tests.conftest import ClientAs
from tests.forms import form_with
from tests.importing import record
from tests.publishing import Publisher

SPEC = BenchmarkSpec(tracks=(track(),))
PUBLISHERS = 6


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def agents(project: Project, tmp_path: Path) -> list[str]:
    names = [f"agent-{number}" for number in range(PUBLISHERS)]
    record(project, tmp_path, benchmark=SPEC, agents=agents_named(names), track_id="open")
    return names


def public() -> list[Any]:
    return [
        [*Manifest.objects.values_list("digest", flat=True)],
        [*ManifestRecord.objects.values_list("digest", flat=True)],
        Draft.objects.count(),
        AuditEvent.objects.count(),
    ]


def kill_at(number: int) -> Callable[..., Any]:
    """Ends the process before its statement of that number."""
    seen = 0

    def wrapper(execute: Callable[..., Any], *args: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == number:
            raise Killed
        return execute(*args)

    return wrapper


# A read that is cut off leaves a cursor of the server open, which the end of the process would close.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.django_db(transaction=True)
def test_a_process_that_dies_at_any_statement_publishes_nothing(
    agents: list[str], ann: User, client_as: ClientAs
) -> None:
    publisher = Publisher(client_as(ann))
    publisher.start()
    digest = publisher.to_the_check(agents[0])
    fields = {**form_with(publisher.page("check"), "digest"), "do": "freeze"}
    before, number = public(), 0
    while not Manifest.objects.exists():
        number += 1
        try:
            with connection.execute_wrapper(kill_at(number)):
                publisher.client.post(f"{publisher.path}/check", fields)
        except Killed:
            connection.close()
            assert public() == before, f"killed at statement {number}"
    assert number > 15
    assert Manifest.objects.get().digest == digest
    assert check_chain(stored()) is None


def stored() -> list[StoredRecord]:
    rows = ManifestRecord.objects.order_by("sequence")
    return [StoredRecord(row.digest, bytes(row.body)) for row in rows]


@pytest.mark.skipif(connection.vendor == "sqlite", reason="threads of one SQLite in memory don't wait")
@pytest.mark.django_db(transaction=True)
def test_records_have_no_gap_and_no_fork_when_many_publish_at_once(
    agents: list[str], project: Project, ann: User
) -> None:
    people = [create_user(email=f"p{number}@example.org", name=f"P{number}") for number in range(PUBLISHERS)]
    for person in people:
        set_project_member(
            actor=ann, project=project, user=person, role=ProjectRole.CONTRIBUTOR, may_publish=True
        )
    start = threading.Barrier(PUBLISHERS)
    failures: list[BaseException] = []

    def publish(person: User, agent: str) -> None:
        try:
            client = Client()
            client.force_login(person)
            publisher = Publisher(client)
            publisher.start()
            publisher.to_the_check(agent)
            start.wait(timeout=60)
            while publisher.freeze().status_code != 302:  # refused: look at what the others did, and go on
                pass
        except BaseException as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=publish, args=pair) for pair in zip(people, agents, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [*ManifestRecord.objects.order_by("sequence").values_list("sequence", flat=True)] == [
        *range(1, PUBLISHERS + 1)
    ]
    assert check_chain(stored()) is None
    newest = ManifestRecord.objects.latest("sequence").manifest
    assert newest.results.filter(status="accepted").count() == PUBLISHERS
    assert not Draft.objects.exists()
