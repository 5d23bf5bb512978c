from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

from jobs.domain.parsed import ImportProblemError, JobHeader, ParsedTrial, StoredFile
from jobs.domain.readers import plural
from jobs.domain.readers.sources import Limits, open_source

settings.register_profile("shared-machine", deadline=None, max_examples=60)
settings.load_profile("shared-machine")

Jobs = list[tuple[JobHeader, list[ParsedTrial]]]
Read = Callable[[Path], Jobs]


class Refused(Protocol):
    def __call__(self, path: Path, limits: Limits | None = None) -> ImportProblemError: ...


def read_all(path: Path, scratch: Path, limits: Limits | None = None) -> Jobs:
    """Everything in `path`; the packs are closed."""
    found = []
    with open_source(path, scratch, limits) as source:
        for job in source.job_folders():
            header = plural.read_header(job)
            trials = list(plural.iter_trials(job, header))
            for trial in trials:
                for execution in trial.executions:
                    execution.pack.spool.close()
            plural.pack_job_files(job).spool.close()
            found.append((header, trials))
    return found


def evidence(trial: ParsedTrial) -> list[tuple[StoredFile, ...]]:
    """Every file that stands behind a Trial, by execution."""
    return [execution.pack.files for execution in trial.executions]


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def read(scratch: Path) -> Read:
    return lambda path: read_all(path, scratch)


@pytest.fixture
def refused(scratch: Path) -> Refused:
    """Reads what must not be taken; nothing of it stays behind and no path of this machine is told."""

    def refusal(path: Path, limits: Limits | None = None) -> ImportProblemError:
        with pytest.raises(ImportProblemError) as caught:
            read_all(path, scratch, limits)
        assert list(scratch.iterdir()) == []
        assert str(path.parent) not in str(caught.value)
        return caught.value

    return refusal
