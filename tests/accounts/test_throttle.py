from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from plural_site.accounts.models import Throttle, User
from plural_site.accounts.throttle import (
    BY_ADDRESS,
    BY_IP,
    Rule,
    Try,
    begin_try,
    forget_old,
    wait,
    wait_text,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
RULE = Rule(free=3, first=timedelta(seconds=10), longest=timedelta(seconds=60))
PASSWORD = "correct horse battery"


@pytest.mark.parametrize(
    ("failures", "since", "expected"),
    [
        (0, 0, 0),
        (2, 0, 0),
        (3, 0, 10),
        (3, 4, 6),
        (3, 10, 0),
        (3, 500, 0),
        (4, 0, 20),
        (6, 0, 60),
        (10**9, 0, 60),
    ],
)
def test_wait_doubles_up_to_a_bound(failures: int, since: int, expected: int) -> None:
    found = wait(RULE, failures, NOON, NOON + timedelta(seconds=since))
    assert found == timedelta(seconds=expected)


@pytest.mark.parametrize("rule", [BY_ADDRESS, BY_IP])
def test_nobody_is_locked_out_for_ever(rule: Rule) -> None:
    assert wait(rule, 10**6, NOON, NOON) == rule.longest <= timedelta(minutes=15)
    assert wait(rule, 10**6, NOON, NOON + rule.longest) == timedelta(0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 second"), (5, "5 seconds"), (119.5, "2 minutes"), (120, "2 minutes"), (121, "3 minutes")],
)
def test_waiting_time_is_said_in_words(seconds: float, words: str) -> None:
    assert wait_text(timedelta(seconds=seconds)) == words


def sign_in(client: Client, password: str = "", email: str = "ann@example.org") -> int:
    return client.post("/sign-in", {"username": email, "password": password or "wrong"}).status_code


def test_guessing_is_slowed_and_the_person_gets_in_after_the_wait(ann: User, client: Client) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        for _ in range(5):
            assert sign_in(client) == 200
        response = client.post("/sign-in", {"username": "ANN@example.org ", "password": PASSWORD})
        assert response.status_code == 429
        assert response.headers["Retry-After"] == "5"
        assert "Wait 5 seconds" in response.content.decode()
        clock.shift(timedelta(seconds=4))
        assert sign_in(client, PASSWORD) == 429  # does not lengthen the wait
        clock.shift(timedelta(seconds=1))
        assert sign_in(client, PASSWORD) == 302
    assert not Throttle.objects.filter(failures__gte=6).exists()
    with time_machine.travel(NOON + timedelta(seconds=6), tick=False):
        assert sign_in(Client()) == 200  # cleared


def test_one_ip_address_is_slowed_over_many_addresses_and_not_cleared_by_a_success(
    ann: User, client: Client
) -> None:
    with time_machine.travel(NOON, tick=False):
        for number in range(19):
            assert sign_in(client, email=f"p{number}@example.org") == 200
        assert sign_in(Client(), PASSWORD) == 302
        assert sign_in(client, email="p20@example.org") == 200
        assert sign_in(client, PASSWORD) == 429


def test_others_from_elsewhere_are_not_slowed(ann: User, dee: User) -> None:
    with time_machine.travel(NOON, tick=False):
        for _ in range(6):
            begin_try(purpose="sign in", address=ann.email, ip="192.0.2.1")
        assert isinstance(begin_try(purpose="sign in", address=ann.email, ip="192.0.2.9"), timedelta)
        assert isinstance(begin_try(purpose="sign in", address=dee.email, ip="192.0.2.1"), Try)
        assert isinstance(begin_try(purpose="forgot", address=ann.email, ip="192.0.2.1"), Try)


def test_failures_are_forgotten_after_an_hour_and_rows_after_a_day(ann: User) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        for _ in range(12):
            begin_try(purpose="sign in", address=ann.email, ip="192.0.2.1")
            clock.shift(timedelta(minutes=3))
        clock.shift(timedelta(hours=1))
        begun = begin_try(purpose="sign in", address=ann.email, ip="192.0.2.1")
        assert isinstance(begun, Try)
        assert set(Throttle.objects.values_list("failures", flat=True)) == {1}
        forget_old()
        assert Throttle.objects.count() == 2
        clock.shift(timedelta(days=1, seconds=1))
        forget_old()
        assert not Throttle.objects.exists()
