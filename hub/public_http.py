"""Answers that anybody may keep: files, JSON and pictures of what is published."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag

from benchmarks.domain.identity import sha256_digest

FOR_EVER = "public, max-age=31536000, immutable"
"""For what is addressed by its digest."""
FOR_A_WHILE = "public, max-age=60, stale-while-revalidate=600"
"""For what a later record may change."""

_LAYOUT = "1"
"""Of what is made from published bytes: another one, and what caches hold is made anew."""


def made_from(*parts: str) -> str:
    """ETag of something that this site makes, from the digests of what it is made from and its address."""
    return f"{_LAYOUT}-{sha256_digest(chr(10).join(parts).encode()).removeprefix('sha256:')[:32]}"


def unchanged(request: HttpRequest, etag: str, cache: str, *, is_open: bool = False) -> HttpResponse | None:
    """304 where the reader has this already, before anything is made."""
    found = get_conditional_response(request, etag=quote_etag(etag))
    return None if found is None else _marked(HttpResponse(status=found.status_code), etag, cache, is_open)


def answer(
    body: bytes | str,
    content_type: str,
    etag: str,
    cache: str,
    *,
    is_open: bool = False,
    filename: str = "",
) -> HttpResponse:
    """`is_open` lets scripts and pages of any origin use it; with `filename` it is a download."""
    response = HttpResponse(body, content_type=content_type)
    if filename:
        response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return _marked(response, etag, cache, is_open)


def _marked(response: HttpResponse, etag: str, cache: str, is_open: bool) -> HttpResponse:
    response.headers["ETag"] = quote_etag(etag)
    response.headers["Cache-Control"] = cache
    if is_open:
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] = "ETag"
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response
