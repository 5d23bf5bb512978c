"""What is made from published bytes: archives, citations, badges, feeds, charts and tables to download."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.types import DomainError
from hub.badges import Badge, badge_svg
from hub.bundle import bundle_bytes, read_bundle
from hub.citation import bibtex, cff
from hub.domain.assemble import assemble
from hub.domain.manifest import Manifest, ManifestPublication, ManifestPublisher
from hub.domain.stored import digest_of, manifest_bytes
from hub.models import ManifestRecord
from hub.public_read import RecordLine, read_published
from plural_site.formats import clean_text
from tests.domain.hub.made import AT, MADE, agent, facts
from tests.frozen_rows import frozen
from tests.hub.conftest import Story, two_results, withdraw_release

DESK = "/hub/ada/desk"
ATOM = "{http://www.w3.org/2005/Atom}"
SVG = "{http://www.w3.org/2000/svg}"
NASTY = 'Ünïcode & {braces} 100% #1_a~^\\ "quoted" <b>\u202e\n two'


def at(record: ManifestRecord, part: str = "") -> str:
    return f"{DESK}/manifests/{record.manifest.digest}{part}"


# Archives


def test_the_archive_verifies_without_the_site(
    client: Client, story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    response = client.get(at(story.first, "/bundle.zip"))
    assert response.headers["Content-Disposition"].startswith('attachment; filename="desk-1.0.0-')
    path = tmp_path / "bundle.zip"
    path.write_bytes(response.content)
    call_command("verify_publication", str(path))
    assert "checks hold" in capsys.readouterr().out
    bundle = read_bundle(response.content)
    assert bundle.manifest == bytes(story.first.manifest.body)
    assert bundle.records is not None
    assert [record.digest for record in bundle.records] == [
        story.first.digest,
        story.withdrawn.digest,
        story.corrected.digest,
    ]


def test_the_same_content_gives_the_same_archive(client: Client, story: Story) -> None:
    path = at(story.first, "/bundle.zip")
    first, second = client.get(path), client.get(path)
    assert first.content == second.content
    assert client.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304


def archive(**files: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as found:
        for name, body in files.items():
            found.writestr(name, body)
    return target.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"PK",
        b"PK\x03\x04" + b"x" * 100,
        archive(**{"other.txt": b""}),
        archive(**{"manifest.json": b"{}"}),
        archive(**{"manifest.json": b"{}", "records.jsonl": b""})[:-30],
    ],
)
def test_archives_that_can_not_be_read_say_so(data: bytes) -> None:
    with pytest.raises(DomainError):
        read_bundle(data)


@given(st.binary(max_size=200))
def test_whatever_a_file_holds_it_is_read_or_refused(data: bytes) -> None:
    try:
        read_bundle(data)
    except DomainError as error:
        assert str(error)


# verify_publication


def verified(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    call_command("verify_publication", *arguments)
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(CommandError) as error:
        call_command("verify_publication", *arguments)
    return f"{capsys.readouterr().out}{error.value}"


def test_the_command_checks_references_and_digests(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    digest = story.first.manifest.digest
    for named in (digest, f"plural:benchmark/desk@1.0.0#{digest}"):
        assert "checks hold" in verified(capsys, named)
    assert f"holds   Digest of the stored bytes: {digest}" in verified(capsys, digest, "--all")
    wrong = refused(capsys, f"plural:benchmark/desk@1.1.0#{digest}")
    assert "FAILED  Reference" in wrong and "1 of" in wrong
    assert "Nothing is published" in refused(capsys, f"sha256:{'0' * 64}")
    assert "no reference" in refused(capsys, "plural:benchmark/desk")


def test_the_command_names_what_was_changed(
    story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = bytes(story.first.manifest.body).replace(b'"score":0.4375', b'"score":0.9375', 1)
    path = tmp_path / "manifest.json"
    path.write_bytes(body)
    said = refused(capsys, str(path))
    assert "FAILED  Result bot on open@1.0.0: score: found 0.9375; expected 0.4375" in said
    assert "chain is not checked" in said
    records = bytes(story.first.body) + b"\n"
    bundle = tmp_path / "bundle.zip"
    bundle.write_bytes(archive(**{"manifest.json": body, "records.jsonl": records}))
    assert "FAILED  Digest of the stored bytes" in refused(capsys, str(bundle))
    bundle.write_bytes(
        archive(**{"manifest.json": bytes(story.first.manifest.body), "records.jsonl": b"{}\n"})
    )
    assert "FAILED  Chain of records" in refused(capsys, str(bundle))


def test_the_command_reads_a_manifest_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], db: None
) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(manifest_bytes(two_results()))
    assert "checks hold" in verified(capsys, str(path))
    assert "can't be read" in refused(capsys, str(tmp_path / "none.json"))
    path.write_bytes(b"\xff not json")
    assert "FAILED  Form" in refused(capsys, str(path))


# Citations


def strange(text: str = NASTY) -> Manifest:
    publication = ManifestPublication("pub_1", "desk", text, "/hub/ada/desk")
    return assemble(**{**MADE, "publication": publication, "publisher": ManifestPublisher("acc", text)})


def line_of(digest: str) -> RecordLine:
    return RecordLine("1.0.0", 1, "publish", "", "Ann", AT, "sha256:r", 1, digest, "")


def test_a_citation_holds_reference_and_permanent_address(client: Client, story: Story) -> None:
    bib = client.get(at(story.first, "/citation.bib"))
    text = bib.content.decode()
    assert text.startswith("@misc{desk2026,\n") and r"\url{http://127.0.0.1:8000" in text
    assert story.first.manifest.digest in text and "month = nov" in text
    found = yaml.safe_load(client.get(at(story.first, "/citation.cff")).content)
    assert (found["cff-version"], found["title"], str(found["date-released"])) == (
        "1.2.0",
        "Desk",
        "2026-11-30",
    )
    assert found["identifiers"][0]["value"].endswith(story.first.manifest.digest)
    assert client.get(at(story.first, "/citation.txt")).status_code == 404


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40))
def test_any_title_can_be_cited(text: str) -> None:
    body = manifest_bytes(strange(f"x{text}"))
    published = read_published(body, digest_of(body))
    record = line_of(published.digest)
    entry = bibtex(published, record, "https://x.example/a")
    plain = entry.replace("\\{", "").replace("\\}", "").replace("\\textbackslash{}", "")
    assert plain.count("{") == plain.count("}") and entry.endswith("\n}\n")
    found = yaml.safe_load(cff(published, record, "https://x.example/a"))
    assert set(found) >= {"title", "authors", "url"} and len(found["authors"]) == 1


# Badges


def test_a_badge_names_the_release_that_it_speaks_for(client: Client, story: Story) -> None:
    response = client.get(f"{DESK}/badge.svg")
    assert response.headers["Content-Type"] == "image/svg+xml"
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert title_of(response.content) == "Desk: 1.1.0 · 1 result"
    assert title_of(client.get(f"{DESK}/releases/1.0.0/badge.svg").content) == "Desk: 1.0.0 · 1 result"
    short = story.first.manifest.digest.removeprefix("sha256:")[:7]
    assert title_of(client.get(at(story.first, "/badge.svg")).content) == f"Desk: 1.0.0 #{short} · 2 results"
    badges = {
        "res_3": "Desk 1.0.0: bot: 37.5 %, rank 1 of 1",
        "res_2": "Desk 1.0.0: other: withdrawn",
        "res_1": "Desk 1.0.0: bot: corrected",
    }
    for result, words in badges.items():
        assert title_of(client.get(f"{DESK}/results/{result}/badge.svg").content) == words


def test_a_badge_says_that_its_release_was_withdrawn(client: Client, story: Story) -> None:
    path = at(story.next_release, "/badge.svg")
    etag = client.get(path).headers["ETag"]
    withdraw_release(story.last)
    later = client.get(path, headers={"If-None-Match": etag})
    assert later.status_code == 200 and title_of(later.content).endswith("withdrawn")
    assert title_of(client.get(f"{DESK}/badge.svg").content) == "Desk: 1.0.0 · 1 result"
    assert title_of(client.get(f"{DESK}/results/res_1.1.0/badge.svg").content).endswith("withdrawn")


def title_of(svg: bytes) -> str:
    root = ET.fromstring(svg)  # noqa: S314  our own
    return root.findtext(f"{SVG}title") or ""


@given(st.text(max_size=100), st.text(max_size=100))
def test_any_words_make_a_badge_that_is_drawn_by_attributes(label: str, message: str) -> None:
    root = ET.fromstring(badge_svg(Badge(clean_text(label), clean_text(message), "#000")))  # noqa: S314
    assert int(root.attrib["width"]) >= 24 and not any("style" in each.attrib for each in root.iter())


# Feeds


def test_feeds_tell_what_happened_newest_first(client: Client, story: Story) -> None:
    response = client.get(f"{DESK}/feed.atom")
    feed = ET.fromstring(response.content)  # noqa: S314
    entries = feed.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}title") for entry in entries] == [
        "Desk 1.1.0: published",
        "Desk 1.0.0: result corrected",
        "Desk 1.0.0: result withdrawn",
        "Desk 1.0.0: published",
    ]
    assert entries[1].findtext(f"{ATOM}summary") == "The cost was wrong."
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert ids[0] == f"urn:sha256:{story.next_release.digest.removeprefix('sha256:')}"
    assert len(set(ids)) == len(ids)
    site = client.get("/hub/feed.atom")
    assert len(ET.fromstring(site.content).findall(f"{ATOM}entry")) == 4  # noqa: S314
    etag = response.headers["ETag"]
    assert client.get(f"{DESK}/feed.atom", headers={"If-None-Match": etag}).status_code == 304
    withdraw_release(story.last)
    assert client.get(f"{DESK}/feed.atom", headers={"If-None-Match": etag}).status_code == 200


def test_feeds_hold_strange_texts_and_may_be_empty(client: Client, db: None) -> None:
    assert len(ET.fromstring(client.get("/hub/feed.atom").content).findall(f"{ATOM}entry")) == 0  # noqa: S314
    frozen(strange("a\x07b <&> \u202e"))
    feed = ET.fromstring(client.get("/hub/feed.atom").content)  # noqa: S314
    assert feed.findtext(f"{ATOM}entry/{ATOM}title") == "a␇b <&> ⟨U+202E⟩ 1.0.0: published"


# Charts and tables


def test_the_chart_shows_the_results_of_the_manifest(client: Client, story: Story) -> None:
    figure = json.loads(client.get(at(story.first, "/chart.json")).content)
    hovers = [text for trace in figure["data"] for text in trace.get("hovertext", [])]
    assert {text.partition("</b>")[0] for text in hovers} == {"<b>bot", "<b>other"}
    only = json.loads(client.get(at(story.first, "/chart.json"), {"q": "other"}).content)
    assert sum(len(trace.get("hovertext", [])) for trace in only["data"]) == 1
    assert client.get(at(story.first, "/chart.json"), {"track": "closed"}).status_code == 404


def test_the_table_to_download_is_what_is_shown(client: Client, story: Story) -> None:
    response = client.get(at(story.first, "/leaderboard.csv"), {"sort": "score"})
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert [(row["rank"], row["agent"], row["score"]) for row in rows] == [
        ("2", "bot", "0.4375"),
        ("1", "other", "0.875"),
    ]
    first = rows[0]
    assert first["provenance"] == "plural_executed" and first["manifest"] == story.first.manifest.digest
    assert (first["category.first"], first["cost_is_lower_bound"]) == ("1.0", "false")


def test_no_cell_is_a_formula(client: Client, db: None) -> None:
    record = frozen(assemble(**{**MADE, "results": [facts(agent=replace(agent(), label="=1+1"))]}))
    rows = list(csv.reader(io.StringIO(client.get(at(record, "/leaderboard.csv")).content.decode())))
    assert rows[1][1] == "'=1+1"


def test_the_readme_of_an_archive_gives_the_digest_to_compare(story: Story) -> None:
    body = bytes(story.first.manifest.body)
    data = bundle_bytes(body, [], "plural:x", "https://x.example")
    with zipfile.ZipFile(io.BytesIO(data)) as found:
        assert story.first.manifest.digest.removeprefix("sha256:") in found.read("README.txt").decode()
