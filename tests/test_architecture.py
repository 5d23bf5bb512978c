"""What a reader of this code may rely on: small functions and modules, writes in few places, pages listed."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("plural_site", "benchmarks", "jobs", "hub")
LONGEST_FUNCTION, LONGEST_MODULE = 60, 500

WRITES = {"save", "delete", "create", "get_or_create", "update_or_create", "bulk_create", "bulk_update"}
MAY_WRITE = {
    "plural_site/accounts/actions.py",
    "plural_site/accounts/access.py",  # when a key was last used
    "plural_site/accounts/actions_people.py",
    "plural_site/accounts/actions_projects.py",
    "plural_site/accounts/limits.py",  # counts of requests
    "plural_site/accounts/throttle.py",  # counts of failed tries
    "plural_site/db/blobs.py",  # files, not rows
    "benchmarks/actions.py",
    "benchmarks/folders.py",
    "benchmarks/removal.py",
    "hub/drafts.py",
    "hub/freezing.py",
    "hub/listing.py",
    "hub/removal.py",
    "jobs/actions.py",
    "jobs/file_holds.py",
    "jobs/import_lock.py",
    "jobs/imports.py",
    "jobs/queue.py",
    "jobs/integrity_figures.py",  # derived rows, where it is asked to mend
    "jobs/job_figures.py",
    "jobs/record.py",
    "jobs/removal.py",
    "jobs/restore.py",  # files, not rows
    "jobs/retention.py",
    "jobs/search_texts.py",
    "jobs/sizes.py",
    "jobs/step_indexes.py",
    "jobs/tallies.py",
    "jobs/trimming.py",
    "jobs/undo.py",
    "jobs/uploads.py",
}


def modules() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def test_functions_and_modules_are_small() -> None:
    too_long = []
    for name, text in modules():
        if (lines := text.count("\n")) > LONGEST_MODULE:
            too_long.append(f"{name}: {lines} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    too_long.append(f"{name}:{node.lineno} {node.name}: {lines} lines")
    assert too_long == []


def writes(text: str) -> Iterator[int]:
    """Lines that call a method which writes rows. `update` does on query sets and managers only."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            source = ast.unparse(node.func.value)
            if name in WRITES or (name == "update" and re.search(r"\bobjects\b|\.filter\(|\.all\(", source)):
                yield node.lineno


def test_only_actions_write_rows() -> None:
    found = {name: list(writes(text)) for name, text in modules()}
    assert {name: lines for name, lines in found.items() if lines and name not in MAY_WRITE} == {}
    assert [name for name in MAY_WRITE if not found.get(name)] == []


def test_writes_are_seen() -> None:
    calls = (
        "a.save()",
        "b.objects.filter(x=1).update(y=2)",
        "b.objects.create()",
        "b.all().delete()",
        "h.update(b)",
    )
    assert list(writes("\n".join(calls))) == [1, 2, 3, 4]


def documented() -> dict[str, str]:
    """Template to the dotted name of its page, from CONTEXTS.md; '' for pages without one."""
    found = {}
    for line in (ROOT / "templates" / "CONTEXTS.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 2:
            page = re.match(r"`([\w.]+)`", cells[1])
            for template in re.findall(r"`([\w/]+\.html)`", cells[0]):
                found[template] = page[1] if page else ""
    return found


def test_every_page_template_is_listed_with_its_dataclass() -> None:
    listed = documented()
    folder = ROOT / "templates"
    pages = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.html")
        if not path.name.startswith("_") and path.parent.name not in ("includes", "templates")
    }
    assert {name for name in listed if "/_" not in name} == pages
    for template, dotted in listed.items():
        if dotted:
            module, _, name = dotted.rpartition(".")
            assert is_dataclass(getattr(importlib.import_module(module), name)), template


def test_templates_ask_only_for_fields_that_their_page_has() -> None:
    missing = []
    for template, dotted in documented().items():
        if not dotted:
            continue
        module, _, name = dotted.rpartition(".")
        fields = getattr(importlib.import_module(module), name).__dataclass_fields__
        text = (ROOT / "templates" / template).read_text("utf-8")
        used = set(re.findall(r"\bpage\.([a-z_]+)", text))
        missing += [f"{template}: {field}" for field in sorted(used - set(fields))]
    assert missing == []
