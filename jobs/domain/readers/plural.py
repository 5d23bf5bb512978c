"""Reader of what the `plural` client leaves under `.plural/jobs/`."""

from __future__ import annotations

from pathlib import Path

from jobs.domain.parsed import Pack
from jobs.domain.readers.folders import JobFolder
from jobs.domain.readers.header import read_header
from jobs.domain.readers.packs import PackBuilder
from jobs.domain.readers.trial import iter_trials

__all__ = ["iter_trials", "pack_job_files", "read_header"]

_JOB_FILES = ("run.json", "config.json", "lock.json", "events.jsonl", "result.json", "cancel")


def pack_job_files(job: JobFolder, scratch: Path | None = None) -> Pack:
    """The Job's own files, without its Trials. The caller closes the pack's spool; see `PackBuilder`."""
    pack = PackBuilder(scratch)
    try:
        with job.open() as folder:
            names = folder.entries()[0]
            for name in _JOB_FILES:
                if name in names:
                    pack.add_file(folder, name, name)
    except BaseException:
        pack.close()
        raise
    return pack.finish()
