"""Files and pictures made from published manifests, with what caches need to know."""

from __future__ import annotations

from typing import Literal

from django.http import Http404, HttpRequest, HttpResponse

from hub.badges import badge_svg, publication_badge, result_badge
from hub.bundle import bundle_bytes
from hub.citation import citation_of
from hub.feeds import CONTENT_TYPE, entries_of, etag_of, publication_feed, site_feed
from hub.public import Target, target, target_of_result
from hub.public_board import PublicBoard, PublicState, chosen_track, public_board
from hub.public_csv import board_csv
from hub.public_http import FOR_A_WHILE, answer, made_from, unchanged
from hub.public_links import absolute, manifest_href
from hub.public_read import find_place, stored_bytes
from hub.public_result import result_of
from hub.public_verify import stored_records
from hub.views_public import public

CSV = "text/csv; charset=utf-8"
SVG = "image/svg+xml"


@public
def chart(request: HttpRequest, account: str, slug: str, digest: str) -> HttpResponse:
    from benchmarks.board.charts import figure_json  # noqa: PLC0415  Plotly is large, and no page needs it

    board = _board(request, account, slug, digest)
    etag = made_from(digest, request.META.get("QUERY_STRING", ""))
    if response := unchanged(request, etag, FOR_A_WHILE):
        return response
    return answer(figure_json(board), "application/json", etag, FOR_A_WHILE)


@public
def leaderboard_csv(request: HttpRequest, account: str, slug: str, digest: str) -> HttpResponse:
    board = _board(request, account, slug, digest)
    filename = f"{slug}-{board.published.manifest.release.version}.csv"
    etag = made_from(digest, request.META.get("QUERY_STRING", ""))
    if response := unchanged(request, etag, FOR_A_WHILE):
        return response
    return answer(board_csv(board), CSV, etag, FOR_A_WHILE, filename=filename)


def _board(request: HttpRequest, account: str, slug: str, digest: str) -> PublicBoard:
    found = target(account, slug, digest=digest)
    state = PublicState.parse(request.GET)
    track = chosen_track(found.published, state.track)
    if track is None:
        raise Http404("This release has no track.")
    return public_board(found.published, found.links, track, state)


@public
def bundle(request: HttpRequest, account: str, slug: str, digest: str) -> HttpResponse:
    found = target(account, slug, digest=digest)
    etag = made_from(digest, found.line.head.digest)
    if response := unchanged(request, etag, FOR_A_WHILE):
        return response
    records = stored_records(found.place.pk, found.line.version)
    reference = f"plural:benchmark/{slug}@{found.line.version}#{digest}"
    address = absolute(manifest_href(found.place, digest))
    body = bundle_bytes(stored_bytes(digest), records, reference, address)
    filename = f"{slug}-{found.line.version}-{digest.removeprefix('sha256:')[:12]}.zip"
    return answer(body, "application/zip", etag, FOR_A_WHILE, filename=filename)


@public
def badge(request: HttpRequest, account: str, slug: str, version: str = "", digest: str = "") -> HttpResponse:
    found = target(account, slug, version=version, digest=digest)
    return _badge(request, found, "")


@public
def badge_of_result(request: HttpRequest, account: str, slug: str, result: str) -> HttpResponse:
    return _badge(request, target_of_result(account, slug, result), result)


def _badge(request: HttpRequest, found: Target, result_id: str) -> HttpResponse:
    etag = made_from(found.record.manifest_digest, found.line.head.digest)
    if response := unchanged(request, etag, FOR_A_WHILE, is_open=True):
        return response
    if result_id:
        result = result_of(found.published, result_id)
        shown = result_badge(found.published, found.line, result)
    else:
        shown = publication_badge(found.published, found.line, pinned=found.links.is_pinned)
    return answer(badge_svg(shown), SVG, etag, FOR_A_WHILE, is_open=True)


@public
def citation(
    request: HttpRequest, account: str, slug: str, digest: str, kind: Literal["bib", "cff"]
) -> HttpResponse:
    found = target(account, slug, digest=digest)
    etag = made_from(digest, kind)
    if response := unchanged(request, etag, FOR_A_WHILE):
        return response
    shown = citation_of(found.published, found.record, manifest_href(found.place, digest))
    text, content_type = {
        "bib": (shown.bibtex, "application/x-bibtex; charset=utf-8"),
        "cff": (shown.cff, "text/yaml; charset=utf-8"),
    }[kind]
    name = f"{slug}.bib" if kind == "bib" else "CITATION.cff"
    return answer(text, content_type, etag, FOR_A_WHILE, filename=name)


@public
def feed(request: HttpRequest) -> HttpResponse:
    entries = entries_of()
    etag = made_from(etag_of(entries))
    if response := unchanged(request, etag, FOR_A_WHILE, is_open=True):
        return response
    return answer(site_feed(entries), CONTENT_TYPE, etag, FOR_A_WHILE, is_open=True)


@public
def feed_of_publication(request: HttpRequest, account: str, slug: str) -> HttpResponse:
    place = find_place(account, slug)
    entries = entries_of(place)
    etag = made_from(etag_of(entries))
    if response := unchanged(request, etag, FOR_A_WHILE, is_open=True):
        return response
    return answer(publication_feed(place, entries), CONTENT_TYPE, etag, FOR_A_WHILE, is_open=True)
