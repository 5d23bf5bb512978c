"""Finding the Jobs in what somebody hands over: a folder, or an archive of one."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from jobs.domain.parsed import ImportProblemError, Note
from jobs.domain.readers import archives
from jobs.domain.readers.archives import Limits
from jobs.domain.readers.folders import DiskFolder, Folder, JobFolder, Names, join, name_problem
from jobs.domain.readers.packed import PackedFiles, PackedFolder
from jobs.domain.readers.project_copies import MAX_BYTES, MAX_COPIED, ProjectCopies
from jobs.domain.readers.strict_json import shown

__all__ = ["JobFolder", "Limits", "Source", "open_archive", "open_source"]

_SEARCH_DEPTH = 8
_MAX_FOLDERS = 100_000
_STORE_FILES = {"lock.json", "config.json", "run.json", "events.jsonl", "result.json"}


@dataclass(frozen=True, slots=True)
class _Project:
    """A project that declares Benchmarks; `packed` is its folder where it lies in an archive."""

    label: str
    benchmarks: tuple[str, ...]
    packed: Folder | None


class Source:
    """What was found, in order of its place. Labels are relative to what was handed over."""

    def __init__(self, root: Path, jobs: list[JobFolder], projects: list[_Project]) -> None:
        """`root` is what was handed over or, for an archive, an empty folder for what is needed of it."""
        self.notes: list[Note] = []
        """What `benchmark_folders` had to leave out."""
        self._root, self._jobs, self._projects = root, jobs, projects
        self._folders: list[Path] | None = None

    def job_folders(self) -> list[JobFolder]:
        return list(self._jobs)

    def benchmark_folders(self) -> list[Path]:
        """`benchmarks/<slug>/` folders that hold a benchmark.yaml, with their projects around them.

        Those of an archive, and what else of a project they may name, are written to disk when they are
        first asked for. Raises ImportProblemError where the disk takes no more.
        """
        if self._folders is None:
            copies = ProjectCopies(self._root)
            self._folders = [
                self._root / project.label / "benchmarks" / slug
                for project in self._projects
                if project.packed is None or self._copied(copies, project.label, project.packed)
                for slug in project.benchmarks
            ]
        return list(self._folders)

    def _copied(self, copies: ProjectCopies, label: str, packed: Folder) -> bool:
        done = copies.add(packed)
        if not done:
            message = (
                f"was left out: projects in an archive may have {MAX_COPIED} files and folders "
                f"and {MAX_BYTES >> 20} MiB beside their Jobs. Import the project as a folder"
            )
            self.notes.append(Note(join(label, "benchmarks"), "", message))
        return done


@contextmanager
def open_source(path: Path, scratch: Path, limits: Limits | None = None) -> Iterator[Source]:
    """Take a project folder, a `.plural/jobs` folder, a Job folder, or a tar or zip of any of these.

    An archive is unpacked into `scratch`, where nothing of it is left when the context ends. Raises
    `ImportProblemError` for an archive that is refused and where no Job or Benchmark is found.
    """
    name = shown(path.name) or "."
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError):
        raise ImportProblemError(name, "", "is missing or can't be opened") from None
    if stat.S_ISDIR(mode):
        with DiskFolder.open(str(real), "") as folder:
            source = _found(folder, real, real.name, name)
        yield source
    elif stat.S_ISREG(mode):
        with _unpacked(
            archives.unpack(str(real), name, str(scratch), limits or Limits()), scratch, name
        ) as it:
            yield it
    else:
        raise ImportProblemError(name, "", "is neither a file nor a folder")


@contextmanager
def open_archive(
    file: IO[bytes], size: int, name: str, scratch: Path, limits: Limits | None = None
) -> Iterator[Source]:
    """As `open_source`, for an archive of `size` bytes that is open, and seekable, already."""
    name = shown(name) or "."
    files = archives.unpack_file(file, size, name, str(scratch), limits or Limits())
    with _unpacked(files, scratch, name) as source:
        yield source


@contextmanager
def _unpacked(files: PackedFiles, scratch: Path, name: str) -> Iterator[Source]:
    with closing(files), tempfile.TemporaryDirectory(prefix="unpacked-", dir=scratch) as target:
        yield _found(PackedFolder(files, files.top), Path(target), "", name)


def _found(folder: Folder, root: Path, root_name: str, shown_name: str) -> Source:
    search = _Search(root)
    search.look(folder, root_name, 0)
    if not search.jobs and not search.projects:
        message = (
            "holds no Job: give a project folder, its .plural/jobs, or one Job's folder (with lock.json)"
        )
        raise ImportProblemError(shown_name, "", message)
    return Source(root, search.jobs, search.projects)


class _Search:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders = 0
        self.jobs: list[JobFolder] = []
        self.projects: list[_Project] = []

    def look(self, folder: Folder, name: str, depth: int) -> None:
        """Take `folder` for what it is: a Job, a project, or a folder to look further into."""
        self._folders += 1
        if depth > _SEARCH_DEPTH or self._folders > _MAX_FOLDERS:
            return
        inside = _inside(folder)
        packed = folder if isinstance(folder, PackedFolder) else None
        if _is_job(name, inside):
            _check_label(folder.label)
            path = "" if packed else os.path.join(self._root, folder.label)  # noqa: PTH118
            self.jobs.append(JobFolder(path, folder.label, name, packed))
            return
        if "benchmarks" in inside.folders and (benchmarks := _benchmarks(folder)):
            _check_label(folder.label)
            self.projects.append(_Project(folder.label, benchmarks, packed))
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


def _inside(folder: Folder) -> Names:
    """Names in a folder. Links are passed over, but refused where Jobs would be expected behind them."""
    names = folder.names()
    for name in sorted(names.links):
        if name in (".plural", "jobs") or name.startswith("job_"):
            raise ImportProblemError(
                shown(join(folder.label, name)), "", "is a link; that is not allowed here"
            )
    return names


def _check_label(label: str) -> None:
    problem = name_problem(label)
    if problem:
        raise ImportProblemError(shown(label), "", problem)


def _is_job(name: str, inside: Names) -> bool:
    if name.startswith("job_"):
        return bool(inside.files & _STORE_FILES) or "trials" in inside.folders
    return {"lock.json", "config.json"} <= inside.files


def _benchmarks(project: Folder) -> tuple[str, ...]:
    """Folders in benchmarks/ that hold a benchmark.yaml."""
    with project.folder("benchmarks") as parent:
        return tuple(slug for slug in sorted(parent.names().folders) if _is_benchmark(parent, slug))


def _is_benchmark(parent: Folder, slug: str) -> bool:
    with parent.folder(slug) as folder:
        return "benchmark.yaml" in folder.names().files
