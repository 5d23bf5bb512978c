"""Public pages read the tables of the Hub alone, and cost the same however much is published."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hub.domain.assemble import assemble, revise
from hub.domain.facts import StatusChange
from hub.domain.manifest import Manifest, ManifestPublication
from hub.models import ManifestRecord
from hub.public_read import read_published
from plural_site.accounts.models import User
from tests.access import public_addresses
from tests.domain.hub.made import AT, MADE, agent, facts
from tests.frozen_rows import frozen
from tests.hub.conftest import Story, forget_all

if TYPE_CHECKING:
    from tests.conftest import ClientAs

OF_HUB = {
    *("hub_publication", "hub_manifest", "hub_manifestrecord", "hub_publishedresult"),
    *("hub_listing", "hub_facet"),
}
OF_A_SIGN_IN = {"accounts_browsersession", "accounts_user"}
PLACE = 2
"""The publication, and its records."""
COSTS = {
    "hub": 9,
    "hub/feed.atom": 1,
    "hub/resolve": 0,
    public_addresses.PLACE: PLACE + 1,
    f"{public_addresses.PLACE}/history": PLACE,
    f"{public_addresses.PLACE}/diff": PLACE + 1,
    f"{public_addresses.PLACE}/results/<str:result>": PLACE + 2,
    f"{public_addresses.PLACE}/feed.atom": PLACE + 1,
    public_addresses.MANIFEST: PLACE + 1,
    f"{public_addresses.MANIFEST}/verify": PLACE + 2,
    f"{public_addresses.MANIFEST}/bundle.zip": PLACE + 2,
    f"{public_addresses.MANIFEST}/chart.json": PLACE + 1,
    f"{public_addresses.API}/resolve": PLACE,
    f"{public_addresses.API}/benchmark-manifests/<digest>": 1,
    f"{public_addresses.API}/benchmark-manifests/<digest>/records": PLACE + 1,
}
"""Queries of a visitor whose manifest is not in memory yet; one fewer where it is."""


def tables(run: Callable[[], Any]) -> set[str]:
    with CaptureQueriesContext(connection) as captured:
        run()
    named = re.compile(r'(?:FROM|JOIN|INTO|UPDATE) "(\w+)"')
    return {name for query in captured for name in named.findall(query["sql"])}


def address(pattern: str, record: ManifestRecord) -> str:
    return public_addresses.ADDRESSES[pattern].format(digest=record.manifest.digest)


@pytest.mark.parametrize("pattern", public_addresses.ADDRESSES)
def test_visitors_touch_the_tables_of_the_hub_only(
    client: Client, story: Story, ann: User, client_as: ClientAs, pattern: str
) -> None:
    path = address(pattern, story.first)
    assert tables(lambda: client.get(path)) <= OF_HUB
    signed_in = client_as(ann)
    signed_in.get(path)  # notes the visit
    forget_all()
    assert tables(lambda: signed_in.get(path)) <= OF_HUB | OF_A_SIGN_IN


def busy(number: int, results: int) -> Manifest:
    return assemble(
        **{
            **MADE,
            "publication": ManifestPublication(f"pub_{number}", f"desk-{number}", "Desk", "/hub/ada/desk"),
            "results": [
                facts(f"res_{number}_{n}", (n / results, 0.5), agent=agent(f"agent-{n}"))
                for n in range(results)
            ],
        }
    )


@pytest.mark.parametrize(("pattern", "cost"), COSTS.items())
def test_pages_cost_the_same_however_much_is_published(
    client: Client, story: Story, pattern: str, cost: int
) -> None:
    path = address(pattern, story.first)

    def queries() -> int:
        forget_all()
        with CaptureQueriesContext(connection) as captured:
            assert client.get(path).status_code == 200
        return len(captured)

    assert queries() == cost
    for number in range(3):
        frozen(busy(number, 4))
    grow(story)
    assert queries() == cost


def grow(story: Story) -> None:
    """Many more steps of the release, and results that were withdrawn."""
    now = read_published(bytes(story.corrected.manifest.body), story.corrected.manifest.digest).manifest
    for step in range(1, 5):
        withdrawn = step % 2 == 1
        when = AT + timedelta(days=10 + step)
        change = StatusChange("res_3", withdrawn, "On second thoughts.")
        now = revise(now, published_at=when, changes=[change])
        kind: Any = "withdraw" if withdrawn else "restore"
        frozen(now, kind, "On second thoughts.", result="res_3", at=when)


def test_a_manifest_is_read_once(client: Client, story: Story) -> None:
    client.get("/hub/ada/desk")
    with CaptureQueriesContext(connection) as captured:
        client.get("/hub/ada/desk")
    assert len(captured) == PLACE
