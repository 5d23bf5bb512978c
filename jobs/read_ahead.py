"""Reading the next Job while the last one is written, in a process of its own where there is a core for it.

The process is a fork that reads one Job, writes into the import's scratch folder and ends: it never touches
the database, and it outlives a killed import by that one Job at most.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

from jobs.domain.evidence import Known
from jobs.domain.parsed import ImportProblemError, JobHeader
from jobs.domain.readers.folders import JobFolder
from jobs.staging import StagedJob, stage

BEAT_SECONDS = 10.0
Beat = Callable[[], None]


class Reading(Protocol):
    """A Job that is being read, or will be."""

    def result(self, beat: Beat) -> StagedJob:
        """Waits for its end, with a beat now and then. Raises what `stage` raises."""

    def cancel(self) -> None:
        """Stops it, if it still goes on."""


def can_read_aside() -> bool:
    """Whether a fork is safe here and can run beside this process."""
    return threading.active_count() == 1 and len(os.sched_getaffinity(0)) > 1


class Here:
    """Reads in this process, when the result is asked for."""

    def __init__(self, folder: JobFolder, header: JobHeader, known: dict[str, Known], target: Path) -> None:
        self._of = (folder, header, known, target)

    def result(self, beat: Beat) -> StagedJob:
        return stage(*self._of, beat)

    def cancel(self) -> None:
        """Nothing has begun."""


class Aside:
    """Reads in a process of its own, from now on."""

    def __init__(self, folder: JobFolder, header: JobHeader, known: dict[str, Known], target: Path) -> None:
        self._label = header.folder
        context = multiprocessing.get_context("fork")
        self._answers, answer = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_read, args=(folder, header, known, target, answer), daemon=True
        )
        self._process.start()
        answer.close()

    def result(self, beat: Beat) -> StagedJob:
        try:
            while not self._answers.poll(BEAT_SECONDS):
                beat()
            found = self._answers.recv()
        except EOFError:
            raise ImportProblemError(
                self._label, "", "could not be read: the process that read it was ended. Import it again."
            ) from None
        finally:
            self.cancel()
        if isinstance(found, StagedJob):
            return found
        if isinstance(found, OSError):
            raise found
        raise ImportProblemError(*found)

    def cancel(self) -> None:
        self._process.kill()
        self._process.join()
        self._answers.close()


def _read(
    folder: JobFolder, header: JobHeader, known: dict[str, Known], target: Path, answer: Connection
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the import is what a person interrupts; it ends this
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        answer.send(stage(folder, header, known, target, _no_beat, in_memory=False))
    except ImportProblemError as error:
        answer.send((error.file, error.field, error.message))
    except OSError as error:
        answer.send(error)


def _no_beat() -> None:
    """The waiting process beats."""
