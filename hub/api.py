"""What is published, over HTTP, open to anybody: the exact bytes of manifests and records."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Path, Router, Schema
from ninja.errors import HttpError

from benchmarks.domain.types import DomainError
from hub.public import resolve
from hub.public_http import FOR_A_WHILE, FOR_EVER, answer, unchanged
from hub.public_links import absolute, json_href
from hub.public_read import place_of_manifest, stored_bytes
from hub.public_verify import stored_records
from plural_site.api_auth import Anybody

router = Router(tags=["published"], auth=Anybody())

JSON, JSON_LINES = "application/json", "application/jsonl; charset=utf-8"
MANIFEST = "/public/benchmark-manifests/{digest}"
RECORDS = "/public/benchmark-manifests/{digest}/records"
RESOLVE = "/public/resolve"
Digest = Annotated[str, Path(pattern=r"^sha256:[0-9a-f]{64}$")]


class ResolvedOut(Schema):
    """Where a reference leads. `newest` is the newest reference of the same release."""

    reference: str
    digest: str
    status: str
    """published or withdrawn, of the release."""
    newest: str
    is_newest: bool
    page: str
    manifest: str
    records: str


@router.get(MANIFEST, response={200: dict, 304: None})
def manifest(request: HttpRequest, digest: Digest) -> HttpResponse:
    """A manifest as exactly the bytes whose SHA-256 is the digest. They never change."""
    if request.headers.get("If-None-Match"):
        place_of_manifest(digest)  # nothing is unchanged that isn't there
        if response := unchanged(request, digest, FOR_EVER, is_open=True):
            return response
    return answer(stored_bytes(digest), JSON, digest, FOR_EVER, is_open=True)


@router.get(RECORDS, response={200: str, 304: None})
def records(request: HttpRequest, digest: Digest) -> HttpResponse:
    """The records of the manifest's release, from its first, each the exact bytes of a line."""
    place = place_of_manifest(digest)
    line, _ = place.record(digest)
    etag = line.head.digest
    if response := unchanged(request, etag, FOR_A_WHILE, is_open=True):
        return response
    body = b"".join(record.body + b"\n" for record in stored_records(place.pk, line.version))
    return answer(body, JSON_LINES, etag, FOR_A_WHILE, is_open=True)


@router.get(RESOLVE, response=ResolvedOut)
def resolve_reference(request: HttpRequest, response: HttpResponse, ref: str) -> ResolvedOut:
    """What `plural:benchmark/SLUG@VERSION#sha256:…` names here, and whether something newer exists."""
    try:
        found = resolve(ref)
    except DomainError as error:
        raise HttpError(422, str(error)) from None
    digest = found.record.manifest_digest
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Cache-Control"] = FOR_A_WHILE
    return ResolvedOut(
        reference=found.reference,
        digest=digest,
        status="withdrawn" if found.line.withdrawal else "published",
        newest=found.newest,
        is_newest=found.record is found.line.head,
        page=absolute(found.href),
        manifest=absolute(json_href(digest)),
        records=absolute(f"{json_href(digest)}/records"),
    )


# The server sends the headers of the answers alone.
for _path, _view in ((MANIFEST, manifest), (RECORDS, records)):
    router.add_api_operation(_path, ["HEAD"], _view, include_in_schema=False)
router.add_api_operation(RESOLVE, ["HEAD"], resolve_reference, response=ResolvedOut, include_in_schema=False)
