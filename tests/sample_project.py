"""The project folder of the demo, for tests that read, break and repair it."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ARCHIVE = Path(__file__).parents[1] / "jobs" / "demo" / "support-triage.tar.gz"
SLUG = "support-triage"
BENCHMARK = f"benchmarks/{SLUG}/benchmark.yaml"
TASK = "tasks/acct-delete-data/task.yaml"
ENVIRONMENT = "environments/helpdesk/environment.yaml"
APPS_ENVIRONMENT = "environments/status-desk/environment.yaml"
VERIFIER = "verifiers/reply-check/verifier.yaml"
HUMAN_VERIFIER = "verifiers/tone-review/verifier.yaml"

Edit = Callable[[Path], None]
"""Changes a project whose folder it is given."""


def unpack(target: Path) -> Path:
    """The project below `target`, with the definitions in its Jobs but none of their Trials."""
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            path = Path(member.name)
            if ".plural" not in path.parts or path.name in ("run.json", "config.json"):
                archive.extract(member, target)  # our own file; filters came with 3.11.4
    return target / SLUG


def job_files(project: Path, name: str) -> Iterator[dict[str, Any]]:
    for path in sorted(project.glob(f".plural/jobs/*/{name}")):
        yield json.loads(path.read_text("utf-8"))


def swap(file: str, old: str, new: str) -> Edit:
    def edit(project: Path) -> None:
        text = (project / file).read_text("utf-8")
        assert old in text, f"{old!r} is not in {file}"
        (project / file).write_text(text.replace(old, new, 1), "utf-8")

    return edit


def add(file: str, text: str) -> Edit:
    def edit(project: Path) -> None:
        with (project / file).open("a", encoding="utf-8") as opened:
            opened.write(text)

    return edit


def put(file: str, content: str | bytes) -> Edit:
    def edit(project: Path) -> None:
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).write_bytes(content.encode() if isinstance(content, str) else content)

    return edit


def remove(file: str) -> Edit:
    return lambda project: (project / file).unlink()
