"""Uploads in a browser: a folder is dropped and lands, one goes on where it stopped, one without script."""

from __future__ import annotations

import os
import re
import tarfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.builders import BenchmarkSpec, make_job, track
from tests.e2e.conftest import TIMEOUT, OpenPage, Site
from tests.e2e.test_pages import check

SPEC = BenchmarkSpec(name="Dropped", slug="dropped", tracks=(track(),))
NEW = "/projects/odd/imports/new"
NO_SUBTLE = "Object.defineProperty(crypto, 'subtle', { value: undefined })"


def make_project(folder: Path, key: str, big: int = 0) -> Path:
    """A project with a Job, and much that an import doesn't read."""
    make_job(folder / ".plural" / "jobs", benchmark=SPEC, track_id="open", key=key)
    (job,) = (folder / ".plural" / "jobs").glob("job_*")
    artifacts = next(job.glob("trials/*/executions/0/artifacts"))
    (artifacts / ("ä" * 40 + "n" * 90)).write_text("a long name")
    (artifacts / ".hidden").write_bytes(os.urandom(big))
    for waste in (
        ".git/objects/x",
        "node_modules/x/y.js",
        "src/main.py",
        ".plural/cache/z",
        ".plural/jobs/.t/u",
    ):
        (folder / waste).parent.mkdir(parents=True, exist_ok=True)
        (folder / waste).write_bytes(bytes(3_000_000))
    return folder


def drop(page: Page, path: Path) -> None:
    """As the file manager does it."""
    box = page.locator("#drop").bounding_box()
    assert box is not None
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2, "data": data}
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **at})


def landed(page: Page) -> None:
    page.wait_for_url(re.compile(r"/imports/\d+$"))
    expect(page.locator("#import-status")).to_have_text("done", timeout=TIMEOUT)


@pytest.mark.parametrize("subtle", [True, False])
def test_dropped_folder_lands_while_one_watches(
    site: Site, open_page: OpenPage, tmp_path: Path, subtle: bool
) -> None:
    page = open_page(site.stranger)
    if not subtle:  # as over plain http
        page.add_init_script(NO_SUBTLE)
    project = make_project(tmp_path / f"dropped-{subtle}", f"dropped {subtle}")
    page.goto(NEW)
    drop(page, project)
    landed(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"dropped-{subtle}.tar")
    uploaded = page.locator("dl.facts div", has_text="Uploaded")
    expect(uploaded).to_contain_text("kB")  # nothing of what is not read
    page.get_by_role("link", name=re.compile("^job_")).click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_folder_goes_on_where_it_stopped(site: Site, open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(site.stranger)
    project = make_project(tmp_path / "stopped", "stopped", big=30_000_000)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if "/parts/" in request.url else None)
    page.goto(NEW)
    page.route("**/parts/2", lambda route: None)  # never answers
    page.get_by_label("Or a folder").set_input_files(project)
    expect(page.locator("#transfer-text")).to_contain_text("16.8", timeout=TIMEOUT)
    page.goto(NEW)
    page.unroute("**/parts/2")
    expect(page.get_by_role("heading", name="Unfinished uploads")).to_be_visible()
    sent.clear()
    page.get_by_label("Or a folder").set_input_files(project)
    landed(page)
    assert [url.rpartition("/")[2] for url in sent] == ["2", "3"]


def test_cancelled_upload_is_gone(site: Site, open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(site.stranger)
    project = make_project(tmp_path / "cancelled", "cancelled", big=9_000_000)
    page.goto(NEW)
    page.route("**/parts/1", lambda route: None)  # never answers
    page.get_by_label("Or a folder").set_input_files(project)
    expect(page.locator("#transfer-text")).to_contain_text("8.4", timeout=TIMEOUT)
    page.get_by_role("button", name="Cancel the upload", exact=True).click()
    expect(page.get_by_label("Or a folder")).to_be_visible()
    expect(page.get_by_text("cancelled.tar")).to_be_hidden()


def test_folder_without_jobs_is_refused_before_anything_is_sent(
    site: Site, open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page(site.stranger)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"cat")
    page.goto(NEW)
    drop(page, tmp_path / "photos")
    expect(page.locator("#upload-error")).to_contain_text("holds nothing that an import reads")


def test_archive_without_script_and_its_undo(site: Site, open_page: OpenPage, tmp_path: Path) -> None:
    folder = make_project(tmp_path / "plain", "plain")
    with tarfile.open(tmp_path / "plain.tgz", "w:gz") as archive:
        job = next(folder.glob(".plural/jobs/job_*"))
        archive.add(job, job.name)
    page = open_page(site.stranger, java_script_enabled=False)
    page.goto(NEW)
    page.get_by_label("An archive").set_input_files(tmp_path / "plain.tgz")
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url(re.compile(r"/imports/\d+$"))
    for _ in range(60):
        if page.locator("#import-status").inner_text() == "done":
            break
        page.wait_for_timeout(250)
        page.reload()
    page.get_by_role("link", name="Undo this import").click()
    expect(page.get_by_text("These go for ever")).to_be_visible()
    page.get_by_role("button", name="Undo this import").click()
    expect(page.locator("#import-status")).to_have_text("undone")


def test_pages_of_imports_are_accessible(reader: Page) -> None:
    for path in ("imports", "imports/new", "imports/1", "imports/1/undo"):
        reader.goto(f"/projects/demo/{path}")
        check(reader)
