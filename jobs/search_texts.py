"""The texts that a search over many Trials looks in: made when somebody searches, in short transactions.

Of each Trial, the first trajectory of its final execution. A `TextMark` says how far that has come; it goes
with what it is of, so that a Trial that grew, or whose step index is made anew, is indexed again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.http import Http404

from jobs.models import Execution, StepIndex, StepText, TextMark
from jobs.step_indexes import first_index
from jobs.trajectory_search import step_texts
from plural_site.formats import clean_text

VERSION = 1
"""Of `fold` and of what is indexed: Trials of another version are indexed anew."""
PART_BITS, STEP_BITS = 13, 24
_FETCHED = 100
_BATCH_CHARACTERS, _BATCH_PIECES = 4_000_000, 200
_PIECE_CHARACTERS = 1_000_000
_LAST_CHARACTER = 0x1FFFF


def fold(text: str) -> str:
    """`text` without case, by Unicode's simple case folding: every character stays one character.

    A is a, É is é, Σ and ς are σ; ß is not ss, and é not e.
    """
    if text.isascii() or not _special().search(text):
        return text.lower()
    return "".join(map(_folded, text))


@cache
def _special() -> re.Pattern[str]:
    """Characters whose lower case is another than their fold, or depends on what stands around them."""
    found = (char for char in map(chr, range(0x80, _LAST_CHARACTER)) if char.lower() != _folded(char))
    return re.compile(f"[Σ{''.join(map(re.escape, found))}]")


def _folded(char: str) -> str:
    found = char.casefold()
    if len(found) > 1:
        found = char.lower()
    return found if len(found) == 1 else char


def text_key(trial: int, step: int = 0, part: int = 0) -> int:
    """Primary key of a text. It says of what the text is, so that a search need not read the row."""
    return (trial << STEP_BITS | step) << PART_BITS | part


@dataclass(frozen=True, slots=True)
class Progress:
    """Trials that can be searched, of those that left something; `unread` of them can't be read."""

    indexed: int
    total: int
    unread: int

    @property
    def is_done(self) -> bool:
        return self.indexed >= self.total


def progress(jobs: Collection[int]) -> Progress:
    """Two queries."""
    marks = _marks(jobs).aggregate(indexed=Count("pk"), unread=Count("pk", filter=~Q(problem="")))
    return Progress(marks["indexed"], _final(jobs).count(), marks["unread"])


def index_texts(jobs: Collection[int], budget_seconds: float = float("inf")) -> int:
    """Indexes Trials of these Jobs that aren't yet, and says of how many it finished that.

    Stops once the time is used up, though within a very large trajectory not before its next piece; the
    next call goes on from there. What can't be read is marked as that and not tried again.
    """
    give_up = time.monotonic() + budget_seconds
    writer = _Writer()
    for execution in _pending(jobs):
        for piece in _pieces(execution):
            writer.add(piece)
            if time.monotonic() > give_up:
                writer.flush()
                return writer.finished
    writer.flush()
    return writer.finished


def _final(jobs: Collection[int]) -> QuerySet[Execution]:
    return Execution.objects.filter(is_final=True, trial__job__in=jobs).order_by()


def _marks(jobs: Collection[int]) -> QuerySet[TextMark]:
    return TextMark.objects.filter(job__in=jobs, is_whole=True, version=VERSION)


def _pending(jobs: Collection[int]) -> Iterator[Execution]:
    """In the order in which they came in. Told apart here: databases plan the join of both badly."""
    done = set(_marks(jobs).values_list("pk", flat=True))
    keys = sorted(key for key in _final(jobs).values_list("pk", flat=True) if key not in done)
    rows = Execution.objects.select_related("text_mark", "trial").defer("verifier_results", "trial__notes")
    for start in range(0, len(keys), _FETCHED):
        yield from rows.filter(pk__in=keys[start : start + _FETCHED]).order_by("pk")


# Reading ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Piece:
    """Texts of the steps from `before` (exclusive) to `upto` of an execution."""

    execution: Execution
    index: StepIndex | None
    before: int
    upto: int
    rows: Sequence[tuple[int, int, str]] = ()
    is_whole: bool = False
    problem: str = ""


def _pieces(execution: Execution) -> Iterator[_Piece]:
    index, done = None, 0
    try:
        index = first_index(execution)
        done = _done(execution, index)
        rows: list[tuple[int, int, str]] = []
        size = 0
        for step, parts in groupby(step_texts(index, done) if index else (), key=lambda row: row[0]):
            if size >= _PIECE_CHARACTERS:
                yield _Piece(execution, index, done, rows[-1][0], rows)
                done, rows, size = rows[-1][0], [], 0
            if step < 1 << STEP_BITS:
                found = list(parts)
                rows += found
                size += sum(len(text) for _, _, text in found)
        yield _Piece(execution, index, done, index.steps if index else 0, rows, is_whole=True)
    except DatabaseError:
        raise
    except Exception as error:  # whatever one trajectory does, the others are indexed
        reason = str(error) if isinstance(error, Http404) else f"{type(error).__name__}: {error}"
        problem = clean_text(reason)[:200] or "It can't be read."
        yield _Piece(execution, index, done, done, is_whole=True, problem=problem)


def _done(execution: Execution, index: StepIndex | None) -> int:
    mark: TextMark | None = getattr(execution, "text_mark", None)
    return _upto(mark, index.pk if index else None)


def _upto(mark: TextMark | None, index: int | None) -> int:
    """The last step whose text is there."""
    return mark.upto if mark and mark.version == VERSION and mark.index_id == index else 0


# Writing ----------------------------------------------------------------------------------------------


class _Writer:
    """Gathers pieces and writes many at once: SQLite's index takes them the faster."""

    def __init__(self) -> None:
        self.finished = 0
        self._pieces: list[_Piece] = []
        self._size = 0

    def add(self, piece: _Piece) -> None:
        self._pieces.append(piece)
        self._size += sum(len(text) for _, _, text in piece.rows)
        if self._size >= _BATCH_CHARACTERS or len(self._pieces) >= _BATCH_PIECES:
            self.flush()

    def flush(self) -> None:
        pieces, self._pieces, self._size = self._pieces, [], 0
        try:
            with transaction.atomic():
                finished = _write(pieces)
        except IntegrityError:
            return  # an import replaced one of them, or somebody else was faster: the next call sees
        self.finished += finished


def _write(pieces: Sequence[_Piece]) -> int:
    keys = {piece.execution.pk for piece in pieces}
    marks = {mark.pk: mark for mark in TextMark.objects.select_for_update().filter(pk__in=keys)}
    rows: list[StepText] = []
    fresh, changed = set(), {}
    for piece in pieces:
        mark, index = marks.get(piece.execution.pk), piece.index.pk if piece.index else None
        if _upto(mark, index) != piece.before or (mark and mark.is_whole and mark.version == VERSION):
            continue  # somebody else is at it
        if not piece.before:
            fresh.add(piece.execution.trial_id)
        rows += _rows(piece)
        changed[piece.execution.pk] = marks[piece.execution.pk] = TextMark(
            execution=piece.execution,
            job_id=piece.execution.trial.job_id,
            index_id=index,
            version=VERSION,
            upto=piece.upto,
            is_whole=piece.is_whole,
            problem=piece.problem,
        )
    StepText.objects.filter(trial__in=fresh).delete()
    StepText.objects.bulk_create(rows)
    TextMark.objects.bulk_create(
        changed.values(),
        update_conflicts=True,
        unique_fields=["execution"],
        update_fields=["index", "version", "upto", "is_whole", "problem"],
    )
    return sum(mark.is_whole for mark in changed.values())


def _rows(piece: _Piece) -> Iterator[StepText]:
    trial = piece.execution.trial
    for step, part, text in piece.rows:
        yield StepText(
            pk=text_key(trial.pk, step, part),
            job_id=trial.job_id,
            trial=trial,
            index=piece.index,
            step=step,
            part=part,
            text=text,
            folded=fold(text),
        )
