"""Files that an execution left, served out of its pack."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header, parse_etags

from jobs.models import Execution, Trial
from jobs.stored_files import StoredFile, StoredFiles, removed_words
from plural_site.errors import GoneError

SHOWN = ("text/", "application/json", "application/jsonl", "application/x-ndjson")
POLICY = "sandbox; default-src 'none'"
PLAIN, DOWNLOAD = "text/plain; charset=utf-8", "application/octet-stream"
MAGIC_LENGTH = 12
ENDINGS = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}
_RANGE = re.compile(r"bytes=(?P<first>[0-9]{0,18})-(?P<last>[0-9]{0,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request asks for. `span` is first and last byte (inclusive), None for the whole file."""

    span: tuple[int, int] | None
    is_satisfiable: bool = True


def file_response(
    trial: Trial, number: int, path: str, headers: Mapping[str, str] | None = None, *, download: bool = False
) -> HttpResponseBase:
    """The bytes as they were captured, whole or the single range that `headers` ask for.

    Text is shown as plain text, a picture as what it was found to be, everything else is a download:
    nothing in them can run, since they come from outside. Raises Http404 where there is no such
    file, GoneError where it was removed.
    """
    execution = Execution.objects.filter(trial=trial, number=number).first()
    stored = StoredFiles(execution.pack_id, execution.files) if execution else None
    file = stored.get(path) if stored else None
    if stored is None or file is None:
        raise Http404("This execution left no such file.")
    if file.removed:
        raise GoneError(f"This file was {removed_words(file)}.")
    if not stored.is_kept():
        raise Http404("This file is no longer in the store.")
    etag = f'"{file.digest}"'
    headers = headers or {}
    if _knows(headers.get("If-None-Match", ""), etag):
        return _safe(HttpResponse(status=304), file, etag, DOWNLOAD)
    wanted = wanted_range(headers.get("Range", ""), file.size)
    if headers.get("If-Range", etag) != etag:
        wanted = Wanted(None)
    if not wanted.is_satisfiable:
        refused = _safe(HttpResponse(status=416), file, etag, DOWNLOAD)
        refused.headers["Content-Range"] = f"bytes */{file.size}"
        return refused
    return _stream(stored, file, wanted, etag, DOWNLOAD if download else shown_as(stored, file))


def _stream(
    stored: StoredFiles, file: StoredFile, wanted: Wanted, etag: str, kind: str
) -> StreamingHttpResponse:
    first, last = wanted.span or (0, file.size - 1)
    response = StreamingHttpResponse(
        stored.chunks(file, start=first, most=last - first + 1),
        content_type=kind,
        status=206 if wanted.span else 200,
    )
    response.headers["Content-Length"] = str(last - first + 1)
    if wanted.span:
        response.headers["Content-Range"] = f"bytes {first}-{last}/{file.size}"
    _safe(response, file, etag, kind)
    return response


def _safe(response: HttpResponseBase, file: StoredFile, etag: str, kind: str) -> HttpResponseBase:
    response.headers["Content-Type"] = kind
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["ETag"] = etag
    attached = content_disposition_header(as_attachment=True, filename=file.name)
    if kind == DOWNLOAD and attached:
        response.headers["Content-Disposition"] = attached
    return response


def shown_as(stored: StoredFiles, file: StoredFile) -> str:
    """The type under which a browser gets a file."""
    return image_type(stored, file) or (PLAIN if file.media_type.startswith(SHOWN) else DOWNLOAD)


def claimed_image(file: StoredFile) -> str:
    """The type of picture that the run's record or the name says it is, '' for none."""
    by_record = file.media_type.partition(";")[0]
    by_name = ENDINGS.get(file.name.rpartition(".")[2].lower(), "")
    return by_record if by_record in ENDINGS.values() else by_name


def image_type(stored: StoredFiles, file: StoredFile) -> str:
    """The type of a picture whose first bytes agree with what it claims to be, '' for anything else."""
    claimed = claimed_image(file)
    if not claimed or _magic(stored.read(file, most=MAGIC_LENGTH)) != claimed:
        return ""
    return claimed


def _magic(start: bytes) -> str:
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if start.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return ""


def wanted_range(header: str, size: int) -> Wanted:
    """A single range of bytes. Anything else in the header, also several ranges, means the whole file."""
    match = _RANGE.fullmatch(header.strip())
    if not match or not (match["first"] or match["last"]):
        return Wanted(None)
    if not match["first"]:
        length = int(match["last"])
        return Wanted((max(size - length, 0), size - 1)) if length and size else Wanted(None, False)
    first = int(match["first"])
    last = min(int(match["last"]), size - 1) if match["last"] else size - 1
    if match["last"] and int(match["last"]) < first:
        return Wanted(None)
    return Wanted((first, last)) if first < size else Wanted(None, False)


def _knows(header: str, etag: str) -> bool:
    return any(given in ("*", etag, f"W/{etag}") for given in parse_etags(header))
