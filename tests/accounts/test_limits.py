from __future__ import annotations

from collections.abc import Iterator

import pytest
import time_machine
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries, Settings

from plural_site.accounts import limits
from plural_site.accounts.actions import create_api_key
from plural_site.accounts.models import Project, RequestCount, User

START = 1_800_000_000  # the start of a minute
API = "/api/v1/benchmarks/none/revisions/1/leaderboard"


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    limits.forget()
    yield
    limits.forget()


def allowed(subject: str, limit: int, tries: int) -> int:
    count = 0
    for _ in range(tries):
        try:
            limits.check(subject, limit)
            count += 1
        except limits.TooManyRequestsError:
            pass
    return count


@pytest.mark.parametrize(
    ("before", "count", "second", "expected"),
    [
        (0, 0, 0, 60),
        (60, 0, 0, 0),
        (60, 0, 30, 30),
        (60, 20, 30, 10),
        (0, 60, 59, 0),
        (60, 60, 59, 0),
        (7, 0, 1, 53),
    ],
)
def test_room_counts_a_sliding_minute(before: int, count: int, second: float, expected: int) -> None:
    assert limits.room(60, before, count, second) == expected


@pytest.mark.parametrize(
    ("before", "count", "second"), [(60, 0, 0), (0, 60, 10), (60, 60, 59.5), (30, 45, 5), (600, 1, 3)]
)
def test_there_is_room_after_the_time_that_is_said_and_not_a_second_before(
    before: int, count: int, second: float
) -> None:
    def room_at(moment: float) -> int:
        if moment < 60:
            return limits.room(60, before, count, moment)
        return limits.room(60, count, 0, moment - 60)

    assert room_at(second) == 0
    left = limits.seconds_until_room(60, before, count, second)
    assert room_at(second + left) >= 1
    assert left == 1 or room_at(second + left - 1.001) == 0


@pytest.mark.parametrize("limit", [1, 5, 60, 600])
def test_one_process_keeps_the_limit_to_the_request(limit: int, db: None) -> None:
    with time_machine.travel(START, tick=False) as clock:
        assert allowed("key:1", limit, limit + 20) == limit
        clock.shift(59)
        assert allowed("key:1", limit, 5) == 0
        clock.shift(61)
        assert allowed("key:1", limit, limit + 20) == limit


def test_processes_share_what_they_count(db: None) -> None:
    with time_machine.travel(START, tick=False):
        first = allowed("key:1", 60, 50)
        limits.forget()  # as another process, which knows only the database
        second = allowed("key:1", 60, 50)
    assert first == 50
    assert 0 < second <= 60 + 60 // limits.SLACK - 50


def test_slow_clients_cost_no_queries_and_fast_ones_few(
    db: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with time_machine.travel(START, tick=False):
        with django_assert_max_num_queries(0):
            allowed("ip:192.0.2.1", 600, 60)
        with django_assert_max_num_queries(30 * 5):  # 5 a write: savepoint, insert, select, update, release
            allowed("ip:192.0.2.1", 600, 540)
        with django_assert_max_num_queries(5):
            allowed("ip:192.0.2.1", 600, 1000)
    assert RequestCount.objects.get().count == 600


def test_no_limit_counts_nothing(db: None) -> None:
    assert allowed("key:1", 0, 1000) == 1000
    assert not RequestCount.objects.exists()


def test_key_beyond_its_limit_gets_429_in_the_shape_of_the_api(
    project: Project, ann: User, ben: User, settings: Settings
) -> None:
    settings.KEY_RATE_LIMIT, settings.IP_RATE_LIMIT = 3, 3
    _, one = create_api_key(actor=ann, account=project.account, project=project)
    _, other = create_api_key(actor=ben, account=project.account, project=project)
    client = Client()
    with time_machine.travel(START, tick=False):
        statuses = [client.get(API, headers={"Authorization": f"Bearer {one}"}).status_code for _ in range(5)]
        assert statuses == [404, 404, 404, 429, 429]
        response = client.get(API, headers={"Authorization": f"Bearer {one}"})
        assert int(response.headers["Retry-After"]) >= 1
        assert list(response.json()) == ["detail"]
        assert client.get(API, headers={"Authorization": f"Bearer {other}"}).status_code == 404


@pytest.mark.parametrize("header", [None, "Bearer plural_" + "x" * 43])
def test_requests_without_a_good_key_are_bounded_by_ip_address(
    header: str | None, db: None, settings: Settings
) -> None:
    settings.IP_RATE_LIMIT = 2
    sent = {"Authorization": header} if header else {}
    client = Client()
    with time_machine.travel(START, tick=False):
        assert [client.get(API, headers=sent).status_code for _ in range(3)] == [401, 401, 429]
        assert client.get(API, headers=sent, REMOTE_ADDR="192.0.2.7").status_code == 401


def test_pages_without_a_sign_in_are_bounded_and_others_are_not(ann: User, settings: Settings) -> None:
    settings.IP_RATE_LIMIT = 2
    client = Client()
    with time_machine.travel(START, tick=False):
        assert [client.get("/sign-in").status_code for _ in range(3)] == [200, 200, 429]
        page = client.get("/sign-in")
        assert "Too many requests" in page.content.decode()
        assert "Retry-After" in page.headers
        assert client.get("/healthz").status_code == 200
        client.force_login(ann)
        assert client.get("/account").status_code == 200


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, "192.0.2.1", "203.0.113.9"),
        (1, "192.0.2.1", "192.0.2.1"),
        (1, "198.51.100.1, 192.0.2.1", "192.0.2.1"),
        (2, "198.51.100.1, 192.0.2.1", "198.51.100.1"),
        (2, "192.0.2.1", "203.0.113.9"),
        (1, "", "203.0.113.9"),
        (1, "nonsense", "unknown"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (1, "::ffff:192.0.2.1", "192.0.2.1"),
    ],
)
def test_client_address_is_the_one_that_our_own_proxies_saw(
    proxies: int, forwarded: str, expected: str, settings: Settings
) -> None:
    settings.PROXIES = proxies
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    request = RequestFactory().get("/", headers=headers, REMOTE_ADDR="203.0.113.9")
    assert limits.client_ip(request) == expected
