"""The Hub's first page: search, facets with counts, paging and what it says when there is nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from benchmarks.domain.types import Category
from hub.domain.assemble import assemble
from hub.domain.manifest import ManifestAbout, ManifestPublication, ManifestPublisher
from hub.public_home import PAGE_SIZE, HubQuery
from hub.public_pages import HubHomePage
from tests.domain.hub.made import MADE
from tests.frozen_rows import frozen


def publish(
    slug: str, *, licence: str = "MIT", taxonomy: str | None = None, publisher: str = "Ada", days: int = 0
) -> None:
    first = Category("first", "First", tasks=("a",), taxonomy=taxonomy)
    release = replace(MADE["release"], categories=[first])
    manifest = assemble(
        **{
            **MADE,
            "publication": ManifestPublication(f"pub_{slug}", slug, f"About {slug}", f"/hub/ada/{slug}"),
            "publisher": ManifestPublisher("acc", publisher),
            "release": release,
            "about": ManifestAbout(description=f"Straße of {slug}.", license=licence),
        }
    )
    frozen(manifest, at=timezone.now() - timedelta(days=days))


@pytest.fixture
def shelf(db: None) -> None:
    publish("apples", taxonomy="fruit:sweet", days=1)
    publish("pears", taxonomy="fruit:sweet", licence="CC0-1.0", publisher="Bea", days=20)
    publish("nuts", taxonomy="fruit:hard", licence="CC0-1.0", days=100)


def home(client: Client, query: str = "") -> HubHomePage:
    response = client.get(f"/hub{query}")
    assert response.status_code == 200
    page: HubHomePage = response.context["page"]
    return page


def found(page: HubHomePage) -> list[str]:
    return [listing.title.removeprefix("About ") for listing in page.listings]


def counts(page: HubHomePage, key: str) -> dict[str, int]:
    (group,) = [group for group in page.facets if group.key == key]
    return {value.label: value.count for value in group.values}


def test_an_empty_hub_says_so(client: Client, db: None) -> None:
    page = home(client)
    assert page.is_empty and "Nothing is published yet" in client.get("/hub").content.decode()


def test_the_last_updated_come_first(client: Client, shelf: None) -> None:
    page = home(client)
    assert found(page) == ["apples", "pears", "nuts"] and page.total == "3 Benchmarks"
    assert page.listings[1].publisher == "Bea" and page.listings[1].results == "1 result on 2 Tasks"
    assert page.listings[0].taxonomies == ("fruit:sweet",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pears", ["pears"]),
        ("PEARS strasse", ["pears"]),
        ("straße", ["apples", "pears", "nuts"]),
        ("bea", ["pears"]),
        ("%", []),
        ("zzz", []),
    ],
)
def test_search_holds_every_word_whatever_its_case(
    client: Client, shelf: None, text: str, expected: list[str]
) -> None:
    response = client.get("/hub", {"q": text})
    assert found(response.context["page"]) == expected
    if not expected:
        assert "No Benchmark matches" in response.content.decode()


def test_facets_count_what_they_would_leave(client: Client, shelf: None) -> None:
    page = home(client)
    assert counts(page, "taxonomy") == {"fruit:sweet": 2, "fruit:hard": 1}
    assert counts(page, "licence") == {"CC0-1.0": 2, "MIT": 1}
    assert counts(page, "kind") == {"whole Agents": 3}
    assert counts(page, "publisher") == {"Ada": 2, "Bea": 1}
    assert list(counts(page, "updated").values()) == [1, 2, 3]
    narrowed = home(client, "?licence=CC0-1.0")
    assert found(narrowed) == ["pears", "nuts"]
    assert counts(narrowed, "licence") == {"CC0-1.0": 2, "MIT": 1}  # its own choice aside
    assert counts(narrowed, "taxonomy") == {"fruit:hard": 1, "fruit:sweet": 1}
    assert list(counts(narrowed, "updated").values()) == [0, 1, 2]


def test_every_facet_value_leads_to_as_many_as_it_says(client: Client, shelf: None) -> None:
    for start in ("", "?licence=CC0-1.0", "?q=straße&kind=agents&updated=30"):
        for group in home(client, start).facets:
            for value in group.values:
                if not value.chosen and not any(other.chosen for other in group.values):
                    page = home(client, value.href.removeprefix("/hub"))
                    assert len(page.listings) == value.count, (start, group.key, value)


def test_values_of_one_facet_widen_and_facets_narrow(client: Client, shelf: None) -> None:
    both = home(client, "?licence=CC0-1.0&licence=MIT")
    assert len(both.listings) == 3
    assert found(home(client, "?licence=CC0-1.0&licence=MIT&publisher=Bea")) == ["pears"]
    assert [each.text for each in both.chosen] == ["Licence: CC0-1.0", "Licence: MIT"]
    one = home(client, both.chosen[0].href.removeprefix("/hub"))
    assert found(one) == ["apples"]


@pytest.mark.parametrize("query", ["?updated=x&withdrawn=2&cursor=zz", "?kind=&licence=", "?nothing=1"])
def test_rubbish_means_the_default(client: Client, shelf: None, query: str) -> None:
    assert len(home(client, query).listings) == 3


def test_unknown_values_find_nothing_and_can_be_taken_away(client: Client, shelf: None) -> None:
    page = home(client, "?licence=%3Cb%3E%E2%80%AE")
    assert found(page) == [] and page.chosen[0].text == "Licence: <b>⟨U+202E⟩"
    assert found(home(client, page.chosen[0].href.removeprefix("/hub"))) == ["apples", "pears", "nuts"]


def test_pages_neither_repeat_nor_leave_out(client: Client, db: None) -> None:
    for number in range(PAGE_SIZE + 3):
        publish(f"b{number}", days=number)
    first = home(client, "?licence=MIT")
    assert len(first.listings) == PAGE_SIZE and first.total == f"{PAGE_SIZE + 3} Benchmarks"
    second = home(client, first.next_href.removeprefix("/hub"))
    assert found(first) + found(second) == [f"b{number}" for number in range(PAGE_SIZE + 3)]
    assert (second.next_href, second.first_href) == ("", "/hub?licence=MIT")


def test_htmx_gets_the_list_alone(client: Client, shelf: None) -> None:
    response = client.get("/hub?q=nuts", headers={"HX-Request": "true"})
    assert response.content.decode().startswith('<div id="listings">')


def test_a_query_survives_its_address() -> None:
    query: Any = HubQuery.parse(QueryDict("q=a&licence=b&licence=b&kind=c&updated=7&withdrawn=1"))
    assert query.pairs() == [("kind", "c"), ("licence", "b"), ("updated", "7"), ("withdrawn", "1")]
