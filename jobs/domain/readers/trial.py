"""The Trials of a Job, one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from jobs.domain.parsed import (
    ImportProblemError,
    JobHeader,
    Note,
    ParsedExecution,
    ParsedTrial,
)
from jobs.domain.readers import atif, strict_json
from jobs.domain.readers.execution import RESULT_LIMIT, ExecutionReader, TrialFiles, selection
from jobs.domain.readers.folders import Folder, JobFolder, join
from jobs.domain.readers.packs import PackBuilder
from jobs.domain.readers.progress import status_of
from jobs.domain.readers.strict_json import Fields

MAX_TURNS = 2**31 - 1
_TRIAL_ID = re.compile(r"trl_[0-9a-zA-Z_-]{1,120}", re.ASCII)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,5}", re.ASCII)


def iter_trials(job: JobFolder, header: JobHeader, scratch: Path | None = None) -> Iterator[ParsedTrial]:
    """Trials by id. The consumer closes each one's packs. A planned Trial without a result is no attempt.

    `scratch`: where packs go that memory isn't to hold.
    """
    with job.open() as folder:
        if "trials" not in folder.entries()[1]:
            return
        with folder.folder("trials") as trials:
            files, names = trials.entries()
            if files:
                raise ImportProblemError(
                    join(trials.label, files[0]), "", "is a file where Trials are expected"
                )
            places = _Places(header)
            for name in names:
                if not _TRIAL_ID.fullmatch(name):
                    label = strict_json.shown(join(trials.label, name))
                    raise ImportProblemError(label, "", "is not called like a Trial (trl_…)")
                with trials.folder(name) as trial:
                    parsed = _TrialReader(trial, name, header, places, scratch).read()
                if parsed is not None:
                    yield parsed


class _Places:
    """Which Agent, Task and attempt a receipt stands for; each place is taken once in a Job."""

    def __init__(self, header: JobHeader) -> None:
        self._agents: dict[str, list[int]] = {}
        for agent in header.agents:
            self._agents.setdefault(agent.digest, []).append(agent.position)
        self._tasks = {(task.name, task.content_hash): task.position for task in header.tasks}
        self._taken: set[tuple[int, str, str, int]] = set()

    def task(self, name: str, digest: str) -> int | None:
        return self._tasks.get((name, digest))

    def take(self, receipt: Fields, task_name: str, task_digest: str, attempt: int) -> int:
        """Position of the Agent. Of Agents with one digest the first takes the first Trial."""
        digest = receipt.text("agent_digest")
        if digest not in self._agents:
            raise receipt.problem("agent_digest", "is none of lock.json's agent_digests")
        for position in self._agents[digest]:
            place = (position, task_name, task_digest, attempt)
            if place not in self._taken:
                self._taken.add(place)
                return position
        what = f"attempt {attempt} of Task {strict_json.shown(task_name)[:80]!r} by one Agent"
        raise receipt.problem("attempt", f"belongs to two Trials: {what}")


class _TrialReader:
    def __init__(
        self, folder: Folder, trial_id: str, header: JobHeader, places: _Places, scratch: Path | None
    ) -> None:
        self.folder, self.trial_id, self.header, self.places = folder, trial_id, header, places
        self.scratch = scratch
        self.notes: list[Note] = []
        self.executions: list[ParsedExecution] = []
        self.trajectory = atif.Trajectory()

    def read(self) -> ParsedTrial | None:
        files, folders = self.folder.entries()
        if "result.json" not in files:
            return None
        data = self.folder.read("result.json", RESULT_LIMIT)
        file = join(self.folder.label, "result.json")
        selected = self.folder.read("selected.json", RESULT_LIMIT) if "selected.json" in files else b""
        known = TrialFiles(data, Fields(strict_json.loads(data, file), file), selected)
        try:
            self._read_executions(known, folders)
            if "selected.json" in files:
                self._check_selected(selected)
            return self._parsed(known.fields)
        except BaseException:
            for execution in self.executions:
                execution.pack.spool.close()
            raise

    def _read_executions(self, known: TrialFiles, folders: list[str]) -> None:
        final = known.fields.object("receipt").integer("execution_id", 0)
        kind = "executions" if "executions" in folders or "attempts" not in folders else "attempts"
        with ExitStack() as stack:
            parent = stack.enter_context(self.folder.folder(kind))
            numbers = _numbers(parent)
            if final not in numbers:
                label = join(parent.label, str(final))
                raise ImportProblemError(label, "", "is missing, but result.json's receipt names it")
            reviews = stack.enter_context(self.folder.folder("reviews")) if "reviews" in folders else None
            for number in numbers:
                is_final = number == final
                with parent.folder(str(number)) as folder:
                    pack = PackBuilder(self.scratch)
                    reader = ExecutionReader(folder, number, pack, is_final=is_final, notes=self.notes)
                    parsed = reader.read(
                        known, self.trial_id, self.header.job_id, reviews if is_final else None
                    )
                self.executions.append(parsed)
                if is_final:
                    self.trajectory = reader.trajectory

    def _check_selected(self, data: bytes) -> None:
        final = next(execution for execution in self.executions if execution.is_final)
        if data == selection(final.number, final.receipt_hash):
            return
        file = join(self.folder.label, "selected.json")
        selected = Fields(strict_json.loads(data, file), file)
        if selected.integer("execution_id", 0) != final.number:
            self.notes.append(Note(file, "execution_id", f"is not {final.number}, the one that counts"))
        elif selected.text("receipt_hash") != final.receipt_hash:
            self.notes.append(Note(file, "receipt_hash", f"is not that of the receipt, {final.receipt_hash}"))

    def _parsed(self, result: Fields) -> ParsedTrial:
        receipt = result.object("receipt")
        pin = receipt.object("task_pin")
        name, digest = pin.text("name"), pin.text("content_hash")
        position = self.places.task(name, digest)
        if position is None:
            self._note(pin, "content_hash", "is of a Task that the Job did not plan")
        attempt = receipt.integer("attempt", 1, MAX_TURNS)
        if attempt > self.header.attempts:
            self._note(receipt, "attempt", f"is {attempt}, but the Job planned {self.header.attempts}")
        cost = receipt.number("cost_usd", minimum=0)
        timings = receipt.optional_object("timings")
        return ParsedTrial(
            trial_id=self.trial_id,
            agent_position=self.places.take(receipt, name, digest, attempt),
            task_position=position,
            task_name=name,
            task_digest=digest,
            attempt=attempt,
            status=status_of(result),
            score=result.number("score"),
            error_code=result.optional_text("error_code"),
            error_message=result.free_text("error_message"),
            stop_reason=result.optional_text("stop_reason"),
            turns=result.optional_integer("turns", 0, MAX_TURNS),
            seed=result.optional_integer("seed", -strict_json.MAX_INTEGER),
            cost_usd=cost,
            cost_partial=cost is not None and self.trajectory.calls_missing_cost,
            latency_seconds=timings.number("total_seconds", minimum=0) if timings else None,
            input_tokens=self.trajectory.input_tokens,
            output_tokens=self.trajectory.output_tokens,
            models_used=self.trajectory.models,
            started_at=receipt.time("started_at"),
            completed_at=receipt.time("completed_at"),
            executions=tuple(self.executions),
            notes=tuple(self.notes),
        )

    def _note(self, fields: Fields, key: str, message: str) -> None:
        problem = fields.problem(key, message)
        self.notes.append(Note(problem.file, problem.field, problem.message))


def _numbers(parent: Folder) -> list[int]:
    """Numbers of the executions, which go 0, 1, 2 …"""
    files, names = parent.entries()
    for name in files or [name for name in names if not _NUMBER.fullmatch(name)]:
        label = strict_json.shown(join(parent.label, name))
        raise ImportProblemError(label, "", "is not an execution (a folder called 0, 1, 2 …)")
    numbers = sorted(map(int, names))
    for wanted, number in enumerate(numbers):
        if number != wanted:
            label = join(parent.label, str(wanted))
            raise ImportProblemError(label, "", f"is missing, but execution {number} is there")
    return numbers
