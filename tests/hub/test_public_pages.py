"""Pages of the public Hub: what stands, what was withdrawn, and what never changes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from hub.domain.assemble import assemble
from hub.domain.manifest import Disclosure, ManifestAbout
from hub.domain.stored import manifest_bytes
from hub.models import ManifestRecord, Publication
from hub.public_board import PublicState
from hub.public_links import Links
from hub.public_pages import PublicationPage
from hub.public_publication import manifest_page
from hub.public_read import read_published
from plural_site.db.frozen import thaw
from tests.domain.hub.made import AT, MADE, agent, digest, facts, task
from tests.frozen_rows import frozen
from tests.hub.conftest import DAY, Story, two_results, withdraw_release
from tests.hub.crawling import crawl

DESK = "/hub/ada/desk"


def page_of(
    client: Client, path: str, status: int = 200, *, of: dict[str, str] | None = None, **query: str
) -> Any:
    """`of` are parameters that Python has no name for."""
    response = client.get(path, {**query, **(of or {})})
    assert response.status_code == status, path
    return response.context["page"]


def at(record: ManifestRecord, part: str = "") -> str:
    return f"{DESK}/manifests/{record.manifest.digest}{part}"


def titles(page: PublicationPage) -> list[str]:
    return [notice.title for notice in page.notices]


def test_every_link_of_the_hub_leads_somewhere(client: Client, story: Story) -> None:
    found = crawl(client)
    assert {path: page.status for path, page in found.items() if page.status != 200} == {}
    for path, page in found.items():
        for link in page.links:
            assert link, path
            target, _, anchor = link.partition("#")
            assert target or anchor in page.ids, (path, link)
    assert len(found) > 100
    assert {at(story.first, "/verify"), f"{DESK}/feed.atom", at(story.first, "/bundle.zip")} <= set(found)


def test_the_newest_release_that_stands_is_the_current_one(client: Client, story: Story) -> None:
    page = page_of(client, DESK)
    assert (page.version, page.notices, page.is_pinned) == ("1.1.0", (), False)
    older = page_of(client, f"{DESK}/releases/1.0.0")
    assert older.version == "1.0.0" and titles(older) == ["Release 1.1.0 is newer"]
    assert [(row.version, row.manifests, row.is_this) for row in older.releases] == [
        ("1.1.0", 1, False),
        ("1.0.0", 3, True),
    ]
    assert client.get(f"{DESK}/releases/2.0.0").status_code == 404


def test_a_later_correction_of_an_older_release_does_not_make_it_current(
    client: Client, story: Story
) -> None:
    third = read_published(bytes(story.corrected.manifest.body), story.corrected.manifest.digest).manifest
    fourth = assemble(
        **{**MADE, "results": [], "about": ManifestAbout(purpose="Said better."), "previous": third}
    )
    frozen(fourth, "correct", "Said better.", at=AT + 8 * DAY)
    assert page_of(client, DESK).version == "1.1.0"
    assert page_of(client, f"{DESK}/releases/1.0.0").purpose == "Said better."


def test_what_a_manifest_says_stays_the_same_for_ever(client: Client, db: None) -> None:
    manifest = two_results()
    record = frozen(manifest)
    before = page_of(client, at(record))
    bytes_before = client.get(f"/api/v1/public/benchmark-manifests/{record.manifest.digest}").content
    assert before.notices == ()
    withdraw_release(manifest)
    after = page_of(client, at(record))
    assert titles(after) == ["Release 1.0.0 was withdrawn"]
    same = {name for name in before.__dataclass_fields__ if getattr(before, name) != getattr(after, name)}
    assert same == {"notices", "is_withdrawn", "releases"}
    assert client.get(f"/api/v1/public/benchmark-manifests/{record.manifest.digest}").content == bytes_before


def test_an_outdated_manifest_says_what_came_after(client: Client, story: Story) -> None:
    page = page_of(client, at(story.first))
    assert titles(page) == ["A newer manifest of this release exists", "Release 1.1.0 is newer"]
    newer = page.notices[0]
    assert "2 newer ones followed; the last says: Result corrected. The cost was wrong." in newer.text
    assert [link.href for link in newer.links][0] == f"{DESK}/releases/1.0.0"
    assert len(page.board.table.rows) == 2


def test_ended_results_are_struck_with_the_reason_and_take_no_rank(client: Client, story: Story) -> None:
    page = page_of(client, f"{DESK}/releases/1.0.0")
    assert [row.rank for row in page.board.table.rows] == ["1"] and not page.board.table.unranked
    assert {(each.status, each.reason) for each in page.ended} == {
        ("withdrawn", "It ran on old Tasks."),
        ("corrected", "The cost was wrong."),
    }
    html = client.get(f"{DESK}/releases/1.0.0").content.decode()
    assert "<s><a href=" in html
    gone = page_of(client, f"{DESK}/results/res_2")
    assert titles(gone)[0] == "This result was withdrawn" and gone.rank == "–" and gone.is_ended
    corrected = page_of(client, f"{DESK}/results/res_1")
    assert titles(corrected)[0] == "This result was corrected"
    assert [link.href for link in corrected.corrections] == [f"{DESK}/results/res_3"]
    then = page_of(client, at(story.first, "/results/res_1"))
    assert (then.status, then.rank, then.of) == ("accepted", "2", "of 2 ranked")


def test_a_withdrawn_release_gives_way_to_an_older_one_and_says_so(client: Client, story: Story) -> None:
    withdraw_release(story.last)
    page = page_of(client, DESK)
    assert (page.version, titles(page)) == ("1.0.0", ["Release 1.1.0 came later and was withdrawn"])
    assert "by Bea: An answer leaked. Release 1.0.0 is the newest that stands." in page.notices[0].text
    gone = page_of(client, f"{DESK}/releases/1.1.0", 410)
    assert titles(gone) == ["Release 1.1.0 was withdrawn"] and len(gone.records) == 2
    assert "Release 1.0.0, which stands" in [link.text for link in gone.notices[0].links]


def test_a_withdrawn_publication_stays_at_its_address(client: Client, db: None) -> None:
    manifest = two_results()
    first = frozen(manifest)
    last = withdraw_release(manifest, "The Tasks were not ours.")
    response = client.get(DESK)
    assert response.status_code == 410
    html = response.content.decode()
    assert "The Tasks were not ours." in html and "by Bea" in html and "9 Dec 2026" in html
    assert 'class="data board"' not in html  # nothing of it is ranked here
    for record in (first, last):
        assert 'class="data board"' in client.get(at(record)).content.decode()
    assert client.get(f"{DESK}/results/res_1").status_code == 410
    assert client.get(at(first, "/results/res_1")).status_code == 200
    listed = page_of(client, "/hub")
    assert listed.listings == () and listed.withdrawn.text == "Show 1 withdrawn one too"
    (card,) = page_of(client, listed.withdrawn.href).listings
    assert card.is_withdrawn


def test_htmx_gets_the_board_alone_and_the_plain_address(client: Client, story: Story) -> None:
    query = {"q": "", "sort": "-score", "track": "open@1.0.0"}
    response = client.get(DESK, query, headers={"HX-Request": "true"})
    assert response.content.decode().startswith('<div id="board">')
    assert response.headers["HX-Push-Url"] == f"{DESK}?track=open%401.0.0&sort=-score"
    assert "HX-Request" in response.headers["Vary"]


def test_categories_say_that_costs_are_of_the_whole(client: Client, story: Story) -> None:
    path = at(story.first)
    words = "Cost and time are public for the whole release only"
    assert words not in client.get(path).content.decode()
    assert words in client.get(path, {"view": "categories"}).content.decode()
    chart = page_of(client, path, category="first").board.table.chart
    assert any(words in note for note in chart.notes)
    chooser = page_of(client, path, floor="10").board.table.chooser
    assert words in chooser.note


def test_provenance_says_what_it_means_and_what_not(client: Client, story: Story) -> None:
    page = page_of(client, at(story.first))
    assert [(label.label, label.count) for label in page.provenance] == [
        ("Plural-executed", 1),
        ("Self-reported", 1),
    ]
    assert "nothing in it is signed" in page.provenance[0].means_not
    assert page.board.mix == "Ranked together: 1 plural-executed and 1 self-reported."


def test_a_result_says_how_to_run_it_again(client: Client, story: Story) -> None:
    page = page_of(client, at(story.first, "/results/res_1"))
    assert page.commands == (
        "plural benchmark pull desk@1.0.0 --with-deps",
        "plural run --benchmark desk@1.0.0 --model maker/bot-1 --evaluation-track open",
    )
    hashes = dict(page.hashes)
    result = two_results().results[0]
    assert hashes["Agent configuration"] == result.configuration
    assert hashes["Rules of track open@1.0.0"] == result.reproducibility.track_rules_hash
    assert hashes["Release reference"].endswith(story.first.manifest.digest)
    assert page.jobs == ("job_1",)
    assert [(task.name, task.score.text, task.attempts) for task in page.tasks] == [
        ("a", "100.0", "1 of 1"),
        ("b", "25.0", "1 of 1"),
    ]
    assert client.get(f"{DESK}/results/res_9").status_code == 404
    assert client.get(at(story.first, "/results/res_3")).status_code == 404


def test_an_agent_of_its_own_is_named_by_its_hash(client: Client, db: None) -> None:

    special = agent(temperature=0.5, instructions_digest=digest("be kind"))
    frozen(assemble(**{**MADE, "results": [facts(agent=special)]}))
    page = page_of(client, f"{DESK}/results/res_1")
    assert page.commands[1].endswith("--agent NAME --evaluation-track open")
    assert any(special.content_hash in note for note in page.command_notes)
    assert dict(page.hashes)["Agent’s instructions"] == digest("be kind")


def test_history_lists_every_manifest_with_kind_reason_and_who(client: Client, story: Story) -> None:
    page = page_of(client, f"{DESK}/history")
    assert [(line.version, line.is_current) for line in page.lines] == [("1.1.0", True), ("1.0.0", False)]
    assert [(row.sequence, row.title, row.reason) for row in page.lines[1].records] == [
        (3, "Result corrected", "The cost was wrong."),
        (2, "Result withdrawn", "It ran on old Tasks."),
        (1, "Published", ""),
    ]
    assert page.lines[1].records[2].diff is None and {row.by for row in page.lines[1].records} == {"Ann"}


def test_differences_are_readable_both_ways_and_from_nothing(client: Client, story: Story) -> None:
    old, new = story.first.manifest.digest, story.corrected.manifest.digest
    page = page_of(client, f"{DESK}/diff", of={"from": old, "to": new})
    assert [row.sequence for row in page.between] == [2, 3]
    added = [row for row in page.rows if row.sign == "added"]
    assert len(added) == 1 and "The cost was wrong." in added[0].reason
    back = page_of(client, page.swap_href)
    assert [row.sign for row in back.rows].count("removed") == 1 and back.between == ()
    whole = page_of(client, f"{DESK}/diff", to=old)
    assert {row.sign for row in whole.rows} == {"added"} and whole.old is None
    across = page_of(client, f"{DESK}/diff", of={"from": new})
    assert across.new.version == "1.1.0"
    for wrong in ({"from": old, "to": old}, {"from": "sha256:1", "to": new}, {"to": "x"}):
        assert client.get(f"{DESK}/diff", wrong).status_code == 404


def test_what_is_not_published_is_not_there(client: Client, story: Story) -> None:
    other = "sha256:" + "0" * 64
    for path in (
        "/hub/ada/other",
        "/hub/bea/desk",
        f"{DESK}/manifests/{other}",
        f"{DESK}/manifests/{other}/verify",
        f"{DESK}/manifests/sha256:abc",
        f"/api/v1/public/benchmark-manifests/{other}",
    ):
        assert client.get(path).status_code == 404, path


def test_a_publication_without_a_record_shows_nothing(client: Client, story: Story) -> None:

    Publication.objects.create(account_slug="ada", slug="draft", title="Secret plans")
    assert client.get("/hub/ada/draft").status_code == 404
    assert client.get("/hub/ada/draft/feed.atom").status_code == 404


def test_references_lead_to_their_manifest(client: Client, story: Story) -> None:
    reference = f"plural:benchmark/desk@1.0.0#{story.first.manifest.digest}"
    response = client.get("/hub/resolve", {"ref": f" {reference} "})
    assert (response.status_code, response.headers["Location"]) == (302, at(story.first))
    wrong = {
        reference.replace("1.0.0", "1.1.0"): 400,
        reference.replace("desk", "disk"): 400,
        "plural:benchmark/desk@1.0.0": 400,
        f"plural:benchmark/desk@1.0.0#sha256:{'0' * 64}": 404,
        "<script>": 400,
    }
    for text, status in wrong.items():
        page = page_of(client, "/hub/resolve", status, ref=text)
        assert page.problem and page.reference == text


def test_bytes_that_are_no_manifest_are_said_to_be_unreadable(client: Client, db: None) -> None:
    record = frozen(two_results(), body=b"{}")
    assert client.get(DESK).status_code == 410
    assert page_of(client, at(record), 410).why
    assert client.get(f"/api/v1/public/benchmark-manifests/{record.manifest.digest}").content == b"{}"
    assert page_of(client, at(record, "/verify")).failed


@pytest.mark.django_db
def test_changed_bytes_are_told_to_the_reader(client: Client) -> None:
    record = frozen(two_results())
    thaw(connection)
    body = manifest_bytes(two_results()).replace(b"Tells who", b"Shows who")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE hub_manifest SET body = %s WHERE id = %s", [body, record.manifest_id])
    page = page_of(client, DESK)
    assert titles(page) == ["The stored bytes don’t match their digest"]
    verified = page_of(client, at(record, "/verify"))
    assert verified.tone == "bad" and verified.failed[0].what == "Digest of the stored bytes"


def test_figures_of_older_rules_are_shown_as_published_and_said_to_be_so(client: Client, db: None) -> None:
    old = manifest_bytes(two_results())
    body = re.sub(rb'"score":0\.4375', b'"score":0.4321', old, count=1)
    assert body != old
    record = frozen(two_results(), body=body)
    page = page_of(client, DESK)
    assert titles(page) == ["Scored by older rules"]
    assert "43.2" in {row.score.text for row in page.board.table.rows}
    assert any("score" in check.what for check in page_of(client, at(record, "/verify")).failed)


def test_pages_tell_machines_what_they_are(client: Client, story: Story, settings: Any) -> None:
    settings.PLURAL_SITE_URL = "https://plural.example.org"
    html = client.get(DESK).content.decode()
    assert '<meta property="og:title" content="Desk 1.1.0">' in html
    assert '<link rel="canonical" href="https://plural.example.org/hub/ada/desk">' in html
    assert 'type="application/atom+xml"' in html
    assert "1 published result on 2 Tasks." in html


def test_the_preview_is_the_page_without_what_is_not_there_yet(db: None) -> None:

    body = manifest_bytes(two_results())
    page = manifest_page(read_published(body, "sha256:x"), Links("/preview"), PublicState())
    assert page.is_preview and page.citation is None and page.board is not None
    assert page.board.table.rows[0].href == "" and page.manifest.json_href == ""


def test_disclosed_instructions_are_shown_as_clean_markdown(client: Client, db: None) -> None:

    release = replace(
        MADE["release"],
        tasks=[task("a", instructions="Do **this** <script>alert(1)</script>"), task("b")],
    )
    frozen(assemble(**{**MADE, "release": release, "disclosure": Disclosure(task_instructions=True)}))
    html = client.get(DESK).content.decode()
    assert "<strong>this</strong>" in html and "<script>alert" not in html
