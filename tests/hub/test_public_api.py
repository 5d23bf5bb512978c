"""What is published over HTTP: exact bytes, and what caches and scripts need to know."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from django.test import Client

from hub.domain.records import StoredRecord, check_chain
from hub.domain.stored import manifest_bytes
from plural_site.accounts import limits
from tests.frozen_rows import frozen
from tests.hub.conftest import Story, two_results, withdraw_release

API = "/api/v1/public/benchmark-manifests"


def test_a_manifest_is_served_as_its_exact_bytes(client: Client, story: Story) -> None:
    digest = story.first.manifest.digest
    response = client.get(f"{API}/{digest}")
    assert response.content == manifest_bytes(two_results())
    assert f"sha256:{hashlib.sha256(response.content).hexdigest()}" == digest
    headers = response.headers
    assert headers["Content-Type"] == "application/json" and headers["ETag"] == f'"{digest}"'
    assert headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"


@pytest.mark.parametrize("part", ["", "/records"])
def test_what_is_known_already_is_not_sent_again(client: Client, story: Story, part: str) -> None:
    path = f"{API}/{story.first.manifest.digest}{part}"
    etag = client.get(path).headers["ETag"]
    again = client.get(path, headers={"If-None-Match": etag})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", etag)
    assert again.headers["Access-Control-Allow-Origin"] == "*"
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    head = client.head(path)
    assert (head.status_code, head.content, head.headers["ETag"]) == (200, b"", etag)


def test_nothing_is_unchanged_that_is_not_there(client: Client, db: None) -> None:
    digest = f"sha256:{'0' * 64}"
    response = client.get(f"{API}/{digest}", headers={"If-None-Match": f'"{digest}"'})
    assert response.status_code == 404 and response.json()["detail"]


@pytest.mark.parametrize("digest", ["sha256:abc", "latest", "sha256:" + "G" * 64, "x" * 2000])
def test_what_is_no_digest_is_refused(client: Client, db: None, digest: str) -> None:
    assert client.get(f"{API}/{digest}").status_code == 422


def test_records_are_the_whole_chain_and_grow(client: Client, story: Story) -> None:
    path = f"{API}/{story.next_release.manifest.digest}/records"
    first = client.get(path)
    assert first.content == bytes(story.next_release.body) + b"\n"
    assert "immutable" not in first.headers["Cache-Control"]
    withdraw_release(story.last)
    later = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert later.status_code == 200
    lines = [line for line in later.content.split(b"\n") if line]
    stored = [StoredRecord(f"sha256:{hashlib.sha256(line).hexdigest()}", line) for line in lines]
    assert check_chain(stored) is None
    assert [json.loads(line)["kind"] for line in lines] == ["publish", "withdraw"]


def test_references_are_resolved(client: Client, story: Story) -> None:
    def resolved(digest: str, version: str = "1.0.0") -> dict[str, Any]:
        response = client.get("/api/v1/public/resolve", {"ref": f"plural:benchmark/desk@{version}#{digest}"})
        assert response.status_code == 200, response.content
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        found: dict[str, Any] = response.json()
        return found

    found = resolved(story.first.manifest.digest)
    newest = story.corrected.manifest.digest
    assert (found["status"], found["is_newest"]) == ("published", False)
    assert found["newest"] == f"plural:benchmark/desk@1.0.0#{newest}"
    assert resolved(newest)["is_newest"]
    withdraw_release(story.last)
    assert resolved(story.next_release.manifest.digest, "1.1.0")["status"] == "withdrawn"
    path = found["manifest"].partition("8000")[2] or found["manifest"]
    assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    ("reference", "status"),
    [
        ("", 422),
        ("plural:benchmark/desk@1.0.0", 422),
        (f"plural:benchmark/desk@1.0.0#sha256:{'0' * 64}", 404),
        ("plural:benchmark/\u202e@1#sha256:1", 422),
    ],
)
def test_a_reference_that_leads_nowhere_says_why(
    client: Client, db: None, reference: str, status: int
) -> None:
    response = client.get("/api/v1/public/resolve", {"ref": reference})
    assert response.status_code == status and response.json()["detail"]


def test_a_reference_with_another_version_is_refused(client: Client, story: Story) -> None:
    reference = f"plural:benchmark/desk@9.9.9#{story.first.manifest.digest}"
    response = client.get("/api/v1/public/resolve", {"ref": reference})
    assert response.status_code == 422 and "desk@1.0.0" in response.json()["detail"]


def test_a_manifest_without_a_record_is_not_public(client: Client, db: None) -> None:
    record = frozen(two_results())
    orphan = type(record.manifest).objects.create(
        publication=record.publication,
        version="1.0.0",
        schema_version="plural.benchmark-publication/1",
        digest=f"sha256:{'1' * 64}",
        body=b"{}",
        published_at=record.at,
    )
    assert client.get(f"{API}/{orphan.digest}").status_code == 404
    assert client.get(f"/hub/ada/desk/manifests/{orphan.digest}").status_code == 404


@pytest.mark.parametrize("header", [None, "Bearer no-such-key"])
def test_requests_are_bounded_with_and_without_a_key(
    client: Client, story: Story, settings: Any, header: str | None
) -> None:
    settings.IP_RATE_LIMIT = 5
    limits.forget()
    headers = {"Authorization": header} if header else {}
    path = f"{API}/{story.first.manifest.digest}"
    statuses = [client.get(path, headers=headers).status_code for _ in range(8)]
    assert statuses[0] == 200 and statuses[-1] == 429
    limits.forget()
