"""Which trajectory an address asks for, and why there may be none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import Http404

from jobs.models import Execution, StepIndex
from jobs.step_indexes import VERSION, removed_trajectory
from jobs.stored_files import StoredFile, StoredFiles, removed_words
from jobs.trajectories import TrajectoryFile, ensure_index, trajectory_files
from jobs.trajectory_links import TrajectoryLinks, TrajectoryQuery, find_file
from jobs.trial_page import Shown, TrialQuery, find_shown
from jobs.trial_runs import MANIFEST, why_no_artifacts
from plural_site.accounts.models import Project
from plural_site.errors import GoneError

BIG_FILE = 20_000_000
"""Bytes. A larger file is read by a request of its own, the first time."""
MOST_TRIED = 4
"""Files that are opened in search of one with steps."""
LOST = "The files of this execution are no longer in the store."


@dataclass(frozen=True, slots=True)
class Opened:
    """A trajectory, or why there is none. `waits_for`: bytes of a file that is still to be read.

    `path` is '' where the execution left no trajectory.
    """

    shown: Shown
    query: TrajectoryQuery
    links: TrajectoryLinks
    files: Sequence[TrajectoryFile]
    path: str = ""
    index: StepIndex | None = None
    missing: str = ""
    waits_for: int = 0
    is_gone: bool = False
    """`missing` tells that it was removed."""

    @property
    def by_path(self) -> dict[str, StoredFile]:
        stored = self.shown.stored
        return {file.path: file for file in stored.files} if stored else {}


def open_trajectory(project: Project, trial_id: str, query: TrajectoryQuery) -> Opened:
    """Raises Http404 where there is no such Trial, execution or trajectory."""
    shown = find_shown(project, trial_id, TrialQuery(query.job, query.execution))
    links = TrajectoryLinks(
        project.slug,
        shown.trial.client_trial_id,
        shown.links.job,
        None if shown.execution is None or shown.execution.is_final else shown.execution.number,
    )
    if shown.execution is None:
        missing = "No execution of this Trial left a record: it was planned, but nothing of it was written."
        return Opened(shown, query, links, (), missing=missing)
    files = trajectory_files(shown.execution)
    opened = Opened(shown, query, links, files)
    if query.file:
        return _opened(opened, find_file(shown.execution, query.file), is_default=False)
    if not files:
        gone = removed_trajectory(shown.execution)
        return replace(opened, missing=_why_none(shown.execution), is_gone=gone is not None)
    first: Opened | None = None
    for file in files[:MOST_TRIED]:
        found = _opened(opened, file.path, is_default=first is None)
        if found.index is None or found.index.steps:
            return found
        first = first or found
    return first or opened


def _opened(opened: Opened, path: str, *, is_default: bool) -> Opened:
    execution = opened.shown.execution
    if execution is None:
        return opened
    links = opened.links if is_default else replace(opened.links, file=path)
    opened = replace(opened, links=links, path=path)
    size = _size_of(execution, path)
    if size > BIG_FILE and not opened.query.is_patient:
        kept = StepIndex.objects.filter(execution=execution, path=path, version=VERSION)
        if not kept.exists():
            return replace(opened, waits_for=size)
    try:
        index = ensure_index(execution, path)
    except GoneError as error:
        return replace(opened, missing=str(error), is_gone=True)
    except Http404:
        if StoredFiles(execution.pack_id, execution.files).is_kept():
            raise
        return replace(opened, missing=LOST)
    return replace(opened, index=index)


def _size_of(execution: Execution, path: str) -> int:
    """Of the file that a trajectory is or lies in; 0 where it was removed."""
    stored = (StoredFile(*file) for file in execution.files)
    sizes = {file.path: 0 if file.removed else file.size for file in stored}
    while path not in sizes and "#" in path:
        path = path.rpartition("#")[0]
    return int(sizes.get(path, 0))


def _why_none(execution: Execution) -> str:
    if gone := removed_trajectory(execution):
        return f"The trajectory was {removed_words(gone)}."
    if any(file[0].startswith("artifacts/") and file[0] != MANIFEST for file in execution.files):
        return "The harness wrote no trajectory, though it left other artifacts."
    return why_no_artifacts(execution)
