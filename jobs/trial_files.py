"""Logs and files of an execution, with the beginning or the end of what they hold."""

from __future__ import annotations

import json
from collections.abc import Sequence

from jobs.domain.room import Room
from jobs.files import SHOWN, image_type
from jobs.models import Execution
from jobs.stored_files import StoredFile, StoredFiles, removed_words
from jobs.trial_links import TrialLinks
from jobs.trial_pages import FileRow, FilesPart, LogRow
from jobs.trial_runs import MANIFEST, why_no_artifacts
from plural_site import formats

LOGS = (
    ("stdout", "logs/stdout.log"),
    ("stderr", "logs/stderr.log"),
    ("verifier stdout", "logs/verifier.stdout.log"),
    ("verifier stderr", "logs/verifier.stderr.log"),
)
TAIL_LINES, TAIL_SIZE, LOGS_SIZE = 40, 16_384, 80_000
HEAD_LINES, HEAD_SIZE, PREVIEW_SIZE = 100, 16_384, 160_000
LAID_OUT = 65_536
"""Bytes up to which JSON is parsed for a preview."""
MOST_TEXT = 8_000
"""Characters of one preview or log."""
MOST_ROWS, ROWS_SIZE, ROW_MARKUP = 200, 200_000, 900
PATH_SHOWN = 300
ARTIFACTS = "artifacts/"


def log_rows(stored: StoredFiles, execution: Execution, links: TrialLinks) -> tuple[LogRow, ...]:
    room = Room(LOGS_SIZE, 0, formats.clean_text)
    rows = []
    for name, path in LOGS:
        href = links.file(execution.number, path)
        rows.append(_log(name, stored, stored.get(path), href, room))
    return tuple(rows)


def _log(name: str, stored: StoredFiles, file: StoredFile | None, href: str, room: Room) -> LogRow:
    if file is None:
        return LogRow(name, "", "", "The run left no such log.", "")
    size = formats.bytes_text(file.size)
    if not file.size:
        return LogRow(name, size, "", "Empty.", "")
    if file.removed:
        return LogRow(name, size, "", f"It was {removed_words(file)}.", "")
    data = stored.tail(file, TAIL_SIZE)
    if not data:
        return LogRow(name, size, "", "It is no longer in the store.", "")
    text = _lines_of(data.decode("utf-8", "replace"))
    whole = len(data) == file.size
    if not whole and "\n" in text:
        text = text.partition("\n")[2]  # the first line is cut
    lines = text.rstrip("\n").split("\n")
    shown = "\n".join(lines[-TAIL_LINES:])[-MOST_TEXT:]
    tail = room.text(shown, MOST_TEXT)
    if whole and len(lines) <= TAIL_LINES and shown == "\n".join(lines) and not tail.left_out:
        return LogRow(name, size, tail.text, "", href)
    return LogRow(name, size, tail.text, f"Its end, of {size}.", href)


def _lines_of(text: str) -> str:
    """A progress bar that goes back to the start of its line begins a new one here."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def files_part(stored: StoredFiles, execution: Execution, links: TrialLinks, start: int) -> FilesPart:
    """Artifacts first; from the file at `start` on as many as a page holds."""
    files = sorted(stored.files, key=lambda file: (not file.path.startswith(ARTIFACTS), file.path))
    start = start if 0 <= start < len(files) else 0
    rows = _Rows(stored, execution.number, links).first(files[start : start + MOST_ROWS])
    artifacts = sum(file.path.startswith(ARTIFACTS) and file.path != MANIFEST for file in files)
    end = start + len(rows)
    words = f"{formats.count(len(files))} files, {formats.count(artifacts)} of them artifacts."
    if len(rows) < len(files):
        words += f" These are {formats.count(start + 1)} to {formats.count(end)}."
    words += _gone_words([file for file in files if file.removed])
    return FilesPart(
        rows=tuple(rows),
        words=words,
        artifacts=artifacts,
        missing="" if artifacts else why_no_artifacts(execution),
        previous_href=links.page(execution=execution.number, files=max(start - MOST_ROWS, 0)) + "#files"
        if start
        else "",
        next_href=links.page(execution=execution.number, files=end) + "#files" if end < len(files) else "",
    )


def _gone_words(gone: Sequence[StoredFile]) -> str:
    if not gone:
        return ""
    latest = max(gone, key=lambda file: file.removed)
    was = f"{formats.count(len(gone))} of them {'was' if len(gone) == 1 else 'were'}"
    return f" {was} {removed_words(latest)}; their digests stay."


class _Rows:
    def __init__(self, stored: StoredFiles, number: int, links: TrialLinks) -> None:
        self.stored, self.number, self.links = stored, number, links
        self.room, self.previews = (Room(size, 0, formats.clean_text) for size in (ROWS_SIZE, PREVIEW_SIZE))

    def first(self, files: Sequence[StoredFile]) -> list[FileRow]:
        """As many as there is room for, at least one."""
        rows: list[FileRow] = []
        for file in files:
            href, download = (
                self.links.file(self.number, file.path, download=wanted) for wanted in (False, True)
            )
            if not self.room.spend(ROW_MARKUP + 2 * len(href) + len(download)) and rows:
                break
            rows.append(self._row(file, href, download))
        return rows

    def _row(self, file: StoredFile, href: str, download: str) -> FileRow:
        path = self.room.text(file.path, PATH_SHOWN)
        image = image_type(self.stored, file)
        preview, note = ("", "") if image or file.removed else _preview(self.stored, file, self.previews)
        return FileRow(
            path=path.text + ("…" if path.left_out else ""),
            size=formats.bytes_text(file.size),
            role=formats.clean_text(file.role),
            digest=file.digest,
            short_digest=file.digest.removeprefix("sha256:")[:12],
            href="" if file.removed else href,
            download_href="" if file.removed else download,
            recorded=file.recorded,
            image_href=href if image else "",
            preview=preview,
            preview_note=note,
            removed=removed_words(file),
        )


def _preview(stored: StoredFiles, file: StoredFile, room: Room) -> tuple[str, str]:
    """The first lines of a text, and what is left out of it. Logs stand elsewhere on the page."""
    if not file.size or file.path.startswith("logs/") or room.size <= 0:
        return "", ""
    if not file.media_type.startswith(SHOWN) and file.size > HEAD_SIZE * 64:
        return "", ""
    most = LAID_OUT if file.media_type.startswith("application/json") and file.size <= LAID_OUT else HEAD_SIZE
    data = stored.read(file, most=most)
    whole = len(data) == file.size
    if b"\0" in data[:4096] or not _is_text(data, whole=whole):
        return "", ""
    text = data.decode("utf-8", "replace")
    lines = _lines_of(_laid_out(text) if most == LAID_OUT else text).split("\n", HEAD_LINES)
    shown = room.text("\n".join(lines[:HEAD_LINES]), MOST_TEXT)
    if whole and len(lines) <= HEAD_LINES and not shown.left_out:
        return shown.text, ""
    return shown.text, f"Its beginning, of {formats.bytes_text(file.size)}."


def _laid_out(text: str) -> str:
    """A line of JSON over several lines; anything else as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def _is_text(data: bytes, *, whole: bool) -> bool:
    try:
        (data if whole else data[: len(data) - 4]).decode()
    except UnicodeDecodeError as error:
        return not whole and error.start >= len(data) - 8
    return True
