"""Reading the next Jobs while one is written, in a process of its own where there is a core for it.

The process is a fork that reads the Jobs that it is asked for, one after another, writes into the import's
scratch folder, and ends when the import does: it never touches the database, and it outlives a killed
import by the Job at hand at most.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TypeAlias

from jobs.domain.evidence import Known
from jobs.domain.parsed import ImportProblemError, JobHeader
from jobs.domain.readers.folders import JobFolder
from jobs.staging import Segment, Spool, StagedJob, StagedPack, stage

AHEAD = 2
"""Jobs that are read, or asked for, while one is written: two, so that the process need not wait."""
BEAT_SECONDS = 10.0
_Answer: TypeAlias = tuple[Spool, tuple[Segment, ...], StagedPack, int, int] | ImportProblemError | OSError
"""What of a staged Job is not with the waiting process already, or what was wrong."""
Beat = Callable[[], None]
Found: TypeAlias = tuple[JobFolder, JobHeader]
Prepare: TypeAlias = Callable[[JobHeader], tuple[dict[str, Known], Path]]
"""What is stored of a Job's Trials, and the new folder to read it into. Raises ImportProblemError."""


def can_read_aside() -> bool:
    """Whether a fork is safe here and can run beside this process."""
    return threading.active_count() == 1 and len(os.sched_getaffinity(0)) > 1


class Readings:
    """The Jobs of an import in order; `close` ends what still goes on.

    The first is read in this process, for there is nothing to write yet, and so are those that could not be
    begun before the Job before them was written.
    """

    def __init__(self, found: Sequence[Found], prepare: Prepare, *, aside: bool) -> None:
        self._found, self._prepare = found, prepare
        self._aside = Aside(found) if aside else None
        self._begun: deque[_Begun | ImportProblemError | OSError] = deque()
        self._next = 0

    def next(self, beat: Beat) -> StagedJob:
        """Reads the next Job, with a beat now and then. Raises what `stage` raises."""
        position = self._next
        self._next += 1
        current = self._begun.popleft() if self._begun else self._begin(position)
        self._look_ahead(position)
        if isinstance(current, Exception):
            raise current
        if current.aside:
            return current.aside.result(beat)
        folder, header = self._found[position]
        return stage(folder, header, current.known, current.target, beat)

    def _look_ahead(self, position: int) -> None:
        if self._aside is None:
            return
        held = {self._found[position + number][1].job_id for number in range(len(self._begun) + 1)}
        while len(self._begun) < AHEAD:
            following = position + len(self._begun) + 1
            if following == len(self._found):
                return
            job_id = self._found[following][1].job_id
            if job_id in held:  # a copy is to be held against what was written of it
                return
            held.add(job_id)
            self._begun.append(self._begin(following, self._aside))

    def _begin(self, position: int, aside: Aside | None = None) -> _Begun | ImportProblemError | OSError:
        try:
            begun = _Begun(*self._prepare(self._found[position][1]), aside)
            if aside:
                aside.ask(position, begun.known, begun.target)
        except (ImportProblemError, OSError) as error:  # of this Job, and not of the one before it
            return error
        return begun

    def close(self) -> None:
        if self._aside:
            self._aside.close()


@dataclass(frozen=True, slots=True)
class _Begun:
    known: dict[str, Known]
    target: Path
    aside: Aside | None
    """Who reads it already."""


class Aside:
    """A process of its own that reads Jobs, one after another in the order in which they are asked for."""

    def __init__(self, found: Sequence[Found]) -> None:
        self._found = found
        self._asked: deque[tuple[int, Path]] = deque()
        self._running: tuple[BaseProcess, Connection] | None = None

    def ask(self, position: int, known: dict[str, Known], target: Path) -> None:
        """Has a Job read, by its place among those found, into a folder that holds nothing."""
        if known:  # in a file, since a pipe takes little that nobody reads yet
            with (target / "known").open("wb") as file:
                pickle.dump(known, file, pickle.HIGHEST_PROTOCOL)
        self._asked.append((position, target))
        self._tell(position, target)

    def result(self, beat: Beat) -> StagedJob:
        """Waits for the Job that was asked for first, with beats. Raises what `stage` raises."""
        position, _ = self._asked.popleft()
        folder, header = self._found[position]
        answer = self._answer(beat)
        if isinstance(answer, Exception):
            raise answer
        if answer:
            return StagedJob(header, folder.label, *answer)
        self.close()
        for asked in self._asked:  # another process reads on
            self._tell(*asked)
        message = "could not be read: the process that read it was ended. Import it again."
        raise ImportProblemError(header.folder, "", message)

    def _tell(self, position: int, target: Path) -> None:
        if self._running is None:
            context = multiprocessing.get_context("fork")
            ours, theirs = context.Pipe()
            process = context.Process(target=_read_all, args=(self._found, theirs, ours), daemon=True)
            process.start()
            theirs.close()
            self._running = (process, ours)
        with suppress(OSError):  # it was ended, which shows when its answer is waited for
            self._running[1].send((position, target))

    def _answer(self, beat: Beat) -> _Answer | None:
        """None where the process was ended."""
        if self._running is None:
            return None
        line = self._running[1]
        try:
            while not line.poll(BEAT_SECONDS):
                beat()
            answer: _Answer = line.recv()
        except (EOFError, OSError):
            return None
        return answer

    def close(self) -> None:
        if self._running:
            process, line = self._running
            self._running = None
            process.kill()
            process.join()
            line.close()


def _read_all(found: Sequence[Found], line: Connection, others: Connection) -> None:
    others.close()  # else the end of the import would not end this line
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the import is what a person interrupts; it ends this
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.freeze()
    position: int
    try:
        while True:
            position, target = line.recv()
            line.send(_read(*found[position], target))
    except (EOFError, ConnectionError):
        return


def _read(folder: JobFolder, header: JobHeader, target: Path) -> _Answer:
    try:
        known: dict[str, Known] = {}
        if (target / "known").exists():
            known = pickle.loads((target / "known").read_bytes())  # noqa: S301 - as `Aside.ask` wrote it
        staged = stage(folder, header, known, target, _no_beat, in_memory=False)
    except (ImportProblemError, OSError) as error:
        return error
    return (staged.spool, staged.segments, staged.pack, staged.added, staged.replaced)


def _no_beat() -> None:
    """The waiting process beats."""
