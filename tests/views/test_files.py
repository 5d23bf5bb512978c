"""Files of an execution as a browser gets them: nothing runs, pictures are checked, ranges are exact."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from django.test import Client

from jobs.files import POLICY, Wanted, wanted_range
from jobs.models import Execution, Trial
from jobs.trial_pages import FileRow
from plural_site.accounts.models import Project, User
from plural_site.db import blobs
from tests.builders import Outcome, make_job
from tests.importing import bring

if TYPE_CHECKING:
    from tests.conftest import ClientAs

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
WEBP = b"RIFF\x10\0\0\0WEBPVP8 "
SCRIPT = b"<script>alert(1)</script>"
TEXT = bytes(range(32, 127)) * 40
PLAIN, DOWNLOAD = "text/plain; charset=utf-8", "application/octet-stream"
FILES: dict[str, tuple[bytes, str]] = {
    "plot.png": (PNG, "image/png"),
    "photo.JPEG": (b"\xff\xd8\xff\xe0" + b"\0" * 20, "image/jpeg"),
    "old.gif": (b"GIF89a" + b"\0" * 20, "image/gif"),
    "new.webp": (WEBP, "image/webp"),
    "liar.png": (SCRIPT, DOWNLOAD),
    "other.png": (b"GIF89a" + b"\0" * 20, DOWNLOAD),
    "tiny.png": (b"\x89PN", DOWNLOAD),
    "empty.png": (b"", DOWNLOAD),
    "sound.webp": (b"RIFF\x10\0\0\0WAVEfmt ", DOWNLOAD),
    "drawing.svg": (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", DOWNLOAD),
    "page.html": (SCRIPT, DOWNLOAD),
    "hidden.bin": (PNG, DOWNLOAD),
    "big.json": (TEXT, PLAIN),
    "empty.json": (b"", PLAIN),
}


@pytest.fixture
def visitor(project: Project, ann: User, client_as: ClientAs) -> Client:
    return client_as(ann)


@pytest.fixture
def trial(project: Project, tmp_path: Path) -> Trial:
    files = {name: data for name, (data, _) in FILES.items()}
    bring(project, make_job(tmp_path, single_task="alone", outcomes=lambda a, t, n: Outcome(artifacts=files)))
    return Trial.objects.get()


def address(trial: Trial, name: str) -> str:
    path = f"/projects/triage/trials/{trial.client_trial_id}/executions/0/files/artifacts/"
    return f"{path}{quote(name)}"


def asked(visitor: Client, trial: Trial, name: str, **headers: str) -> Any:
    return visitor.get(address(trial, name), headers=headers)


def test_each_file_comes_whole_and_as_what_it_was_found_to_be(trial: Trial, visitor: Client) -> None:
    for name, (data, kind) in FILES.items():
        response = asked(visitor, trial, name)
        assert (response.status_code, response.headers["Content-Type"]) == (200, kind), name
        assert response.getvalue() == data
        assert response.headers["Content-Length"] == str(len(data))
        assert response.headers["Content-Security-Policy"] == POLICY == "sandbox; default-src 'none'"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Accept-Ranges"] == "bytes"
        attached = response.headers.get("Content-Disposition", "")
        assert attached.startswith("attachment") is (kind == DOWNLOAD), name


def test_any_file_can_be_downloaded(trial: Trial, visitor: Client) -> None:
    for name in ("plot.png", "big.json"):
        response = visitor.get(address(trial, name), {"download": "1"})
        assert response.headers["Content-Type"] == DOWNLOAD
        assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("0-9", 0, 9), ("100-", 100, 3799), ("-7", 3793, 3799), ("3790-999999", 3790, 3799), ("0-0", 0, 0)],
)
def test_a_range_is_exactly_those_bytes(
    trial: Trial, visitor: Client, text: str, first: int, last: int
) -> None:
    assert len(TEXT) == 3800
    response = asked(visitor, trial, "big.json", Range=f"bytes={text}")
    assert (response.status_code, response.getvalue()) == (206, TEXT[first : last + 1])
    assert response.headers["Content-Range"] == f"bytes {first}-{last}/3800"
    assert response.headers["Content-Length"] == str(last - first + 1)
    assert response.headers["Content-Security-Policy"] == POLICY


@pytest.mark.parametrize(
    ("header", "size", "wanted"),
    [
        ("", 10, Wanted(None)),
        ("bytes=0-4", 10, Wanted((0, 4))),
        ("bytes=5-", 10, Wanted((5, 9))),
        ("bytes=-3", 10, Wanted((7, 9))),
        ("bytes=-30", 10, Wanted((0, 9))),
        ("bytes=8-30", 10, Wanted((8, 9))),
        ("bytes=10-", 10, Wanted(None, False)),
        ("bytes=-0", 10, Wanted(None, False)),
        ("bytes=0-", 0, Wanted(None, False)),
        ("bytes=-1", 0, Wanted(None, False)),
        ("bytes=5-4", 10, Wanted(None)),
        ("bytes=-", 10, Wanted(None)),
        ("bytes=0-1,3-4", 10, Wanted(None)),
        ("items=0-1", 10, Wanted(None)),
        ("bytes=a-b", 10, Wanted(None)),
        ("bytes=²-", 10, Wanted(None)),
        ("bytes=" + "9" * 40 + "-", 10, Wanted(None)),
    ],
)
def test_ranges_are_read(header: str, size: int, wanted: Wanted) -> None:
    assert wanted_range(header, size) == wanted


def test_a_range_beyond_the_end_is_refused(trial: Trial, visitor: Client) -> None:
    response = asked(visitor, trial, "big.json", Range="bytes=99999-")
    assert (response.status_code, response.content) == (416, b"")
    assert response.headers["Content-Range"] == f"bytes */{len(TEXT)}"
    assert response.headers["Content-Security-Policy"] == POLICY


def test_a_browser_that_holds_the_file_gets_it_no_second_time(trial: Trial, visitor: Client) -> None:
    etag = asked(visitor, trial, "big.json").headers["ETag"]
    again = asked(visitor, trial, "big.json", **{"If-None-Match": f'"x", W/{etag}'})
    assert (again.status_code, again.content) == (304, b"")
    resumed = asked(visitor, trial, "big.json", Range="bytes=5-", **{"If-Range": etag})
    assert resumed.status_code == 206
    changed = asked(visitor, trial, "big.json", Range="bytes=5-", **{"If-Range": '"other"'})
    assert (changed.status_code, changed.getvalue()) == (200, TEXT)


def test_head_has_the_same_headers_and_no_bytes(trial: Trial, visitor: Client) -> None:
    response = visitor.head(address(trial, "big.json"))
    assert (response.status_code, response.headers["Content-Length"]) == (200, str(len(TEXT)))
    assert response.getvalue() == b""


def test_files_are_for_members_alone(trial: Trial, dee: User, cy: User, client_as: ClientAs) -> None:
    for name in ("plot.png", "big.json"):
        assert client_as(cy).get(address(trial, name)).status_code == 200
        assert client_as(dee).get(address(trial, name)).status_code == 404
        assert client_as(None).get(address(trial, name)).status_code == 302


def test_what_is_not_there_is_not_found(trial: Trial, visitor: Client) -> None:
    for name in ("none.txt", "../result.json", "plot.png/", "\0", "x" * 3000):
        assert asked(visitor, trial, name).status_code == 404, name
    blobs.delete(Execution.objects.get().pack_id)
    assert asked(visitor, trial, "plot.png").status_code == 404


def rows(visitor: Client, trial: Trial) -> dict[str, FileRow]:
    response = visitor.get(f"/projects/triage/trials/{trial.client_trial_id}")
    page = response.context["page"]
    return {row.path.removeprefix("artifacts/"): row for row in page.files.rows}


def test_page_shows_checked_pictures_and_beginnings_of_texts(trial: Trial, visitor: Client) -> None:
    found = rows(visitor, trial)
    pictures = {name for name, row in found.items() if row.image_href}
    assert pictures == {name for name, (_, kind) in FILES.items() if kind.startswith("image/")}
    assert found["page.html"].preview == SCRIPT.decode()
    assert found["liar.png"].preview == SCRIPT.decode()
    assert (found["tiny.png"].preview, found["hidden.bin"].preview, found["empty.json"].preview) == (
        "",
        "",
        "",
    )
    assert found["big.json"].preview == TEXT.decode()
    assert found["big.json"].recorded == "agrees"
    for row in found.values():
        for href in (row.href, row.download_href):
            assert visitor.get(href).status_code == 200


def test_a_preview_is_the_first_hundred_lines(project: Project, visitor: Client, tmp_path: Path) -> None:
    long = "".join(f"{n}é\n" for n in range(5000)).encode()
    files = {"long.txt": long, "wide.txt": b"x" * 100_000, "cut.txt": "é".encode() * 9000}
    outcome = Outcome(artifacts={**files, "one-line.json": b'{"a":["\xc3\xa9",1.0]}'})
    bring(project, make_job(tmp_path, single_task="alone", outcomes=lambda a, t, n: outcome))
    found = rows(visitor, Trial.objects.get())
    assert found["long.txt"].preview.split("\n") == [f"{n}é" for n in range(100)]
    assert found["long.txt"].preview_note.startswith("Its beginning, of")
    assert 0 < len(found["wide.txt"].preview) <= 8000
    assert set(found["cut.txt"].preview) == {"é"}
    assert found["one-line.json"].preview == '{\n  "a": [\n    "é",\n    1.0\n  ]\n}'
