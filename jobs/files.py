"""Files that an execution left, served out of its pack."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import Http404, StreamingHttpResponse
from django.utils.http import content_disposition_header

from jobs.models import Execution, Trial
from plural_site.db import blobs

CHUNK = 1 << 16
SHOWN = ("text/", "application/json", "application/jsonl", "application/x-ndjson")
POLICY = "default-src 'none'; sandbox"


def file_response(trial: Trial, number: int, path: str) -> StreamingHttpResponse:
    """The bytes as they were captured: text is shown as plain text, everything else is a download.

    Nothing in them can run: they come from outside. Raises Http404 where there is no such file.
    """
    execution = Execution.objects.filter(trial=trial, number=number).first()
    found = next((file for file in execution.files if file[0] == path), None) if execution else None
    if execution is None or found is None:
        raise Http404("This execution left no such file.")
    if not blobs.exists(execution.pack_id):
        raise Http404("This file is no longer in the store.")
    _, _, offset, size, media_type, *_ = found
    shown = media_type.startswith(SHOWN)
    response = StreamingHttpResponse(
        _chunks(execution.pack_id, offset, size),
        content_type="text/plain; charset=utf-8" if shown else "application/octet-stream",
    )
    response.headers["Content-Length"] = str(size)
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    name = path.rsplit("/", 1)[-1]
    if not shown and (disposition := content_disposition_header(as_attachment=True, filename=name)):
        response.headers["Content-Disposition"] = disposition
    return response


def _chunks(pack: str, offset: int, size: int) -> Iterator[bytes]:
    with blobs.open_blob(pack) as stream:
        stream.seek(offset)
        while size and (chunk := stream.read(min(size, CHUNK))):
            size -= len(chunk)
            yield chunk
