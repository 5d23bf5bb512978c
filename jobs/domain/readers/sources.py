"""Finding the Jobs in what somebody hands over: a folder, or an archive of one."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers import archives
from jobs.domain.readers.archives import Limits
from jobs.domain.readers.folders import Folder, JobFolder, join
from jobs.domain.readers.strict_json import shown

__all__ = ["JobFolder", "Limits", "Source", "open_source"]

_SEARCH_DEPTH = 8
_MAX_FOLDERS = 100_000
_STORE_FILES = {"lock.json", "config.json", "run.json", "events.jsonl", "result.json"}


@dataclass(frozen=True, slots=True)
class Source:
    """What was found, in order of its place. Labels are relative to `root`, what was handed over."""

    root: Path
    jobs: tuple[JobFolder, ...]
    projects: tuple[Path, ...]

    def job_folders(self) -> list[JobFolder]:
        return list(self.jobs)

    def benchmark_folders(self) -> list[Path]:
        """`benchmarks/<slug>/` folders that hold a benchmark.yaml."""
        return [
            folder
            for project in self.projects
            for folder in sorted((project / "benchmarks").iterdir())
            if _is_plain_file(folder / "benchmark.yaml")
        ]


@contextmanager
def open_source(path: Path, scratch: Path, limits: Limits | None = None) -> Iterator[Source]:
    """Take a project folder, a `.plural/jobs` folder, a Job folder, or a tar or zip of any of these.

    An archive is unpacked into a temporary folder inside `scratch`, gone when the context ends. Raises
    `ImportProblemError` for an archive that is refused and where no Job or Benchmark is found.
    """
    name = path.name or "."
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError):
        raise ImportProblemError(name, "", "is missing or can't be opened") from None
    if stat.S_ISDIR(mode):
        yield _found(str(real), real.name, name)
    elif stat.S_ISREG(mode):
        with tempfile.TemporaryDirectory(prefix="unpacked-", dir=scratch) as target:
            archives.unpack(str(real), name, target, limits or Limits())
            yield _found(target, "", name)
    else:
        raise ImportProblemError(name, "", "is neither a file nor a folder")


def _found(root: str, root_name: str, shown_name: str) -> Source:
    search = _Search(root)
    with Folder.open(root, "") as folder:
        search.look(folder, root_name, 0)
    source = Source(Path(root), tuple(search.jobs), tuple(search.projects))
    if not source.jobs and not source.benchmark_folders():
        message = (
            "holds no Job: give a project folder, its .plural/jobs, or one Job's folder (with lock.json)"
        )
        raise ImportProblemError(shown_name, "", message)
    return source


class _Search:
    def __init__(self, root: str) -> None:
        self._root = root
        self._folders = 0
        self.jobs: list[JobFolder] = []
        self.projects: list[Path] = []

    def look(self, folder: Folder, name: str, depth: int) -> None:
        """Take `folder` for what it is: a Job, a project, or a folder to look further into."""
        self._folders += 1
        if depth > _SEARCH_DEPTH or self._folders > _MAX_FOLDERS:
            return
        inside = _inside(folder)
        if _is_job(name, inside):
            self.jobs.append(JobFolder(os.path.join(self._root, folder.label), folder.label, name))  # noqa: PTH118
            return
        if "benchmarks" in inside.folders:
            self.projects.append(Path(self._root, folder.label))
        if ".plural" in inside.folders and self._look_into_store(folder, depth):
            return
        for inner in sorted(inside.folders):
            if inner[0] != ".":
                with folder.folder(inner) as found:
                    self.look(found, inner, depth + 1)

    def _look_into_store(self, project: Folder, depth: int) -> bool:
        with project.folder(".plural") as store:
            if "jobs" not in _inside(store).folders:
                return False
            with store.folder("jobs") as jobs:
                self.look(jobs, "jobs", depth + 1)
        return True


@dataclass(frozen=True, slots=True)
class _Inside:
    files: set[str]
    folders: set[str]


def _inside(folder: Folder) -> _Inside:
    """Names in a folder. Links are passed over, but refused where Jobs would be expected behind them."""
    files: set[str] = set()
    folders: set[str] = set()
    with os.scandir(folder.fd) as entries:
        for entry in entries:
            if entry.is_symlink():
                if entry.name in (".plural", "jobs") or entry.name.startswith("job_"):
                    label = shown(join(folder.label, entry.name))
                    raise ImportProblemError(label, "", "is a link; that is not allowed here")
            elif entry.is_dir(follow_symlinks=False):
                folders.add(entry.name)
            else:
                files.add(entry.name)
    return _Inside(files, folders)


def _is_job(name: str, inside: _Inside) -> bool:
    if name.startswith("job_"):
        return bool(inside.files & _STORE_FILES) or "trials" in inside.folders
    return {"lock.json", "config.json"} <= inside.files


def _is_plain_file(path: Path) -> bool:
    return not path.parent.is_symlink() and not path.is_symlink() and path.is_file()
