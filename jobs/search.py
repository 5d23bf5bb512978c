"""Finding words in all Trials of some Jobs: literally, in any case (see `fold`), one hit a step.

Questions of three characters and more are answered by the database's index (`jobs.search_tables`), others by
looking at a bounded number of texts. Trials are named by primary key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Q

from jobs.models import StepText
from jobs.search_tables import INDEX, TABLE, has_index
from jobs.search_texts import PART_BITS, STEP_BITS, fold, text_key
from jobs.trajectory_search import AROUND, OVERLAP

LONGEST = OVERLAP
"""Characters of a question: more might be cut in two by the parts that texts are kept in."""
SHORTEST = 3
"""Characters that the index needs."""
SCANNED = 100_000
"""Texts that are looked at where the index doesn't help."""
_MOST_RUNS, _GAP = 20, 1_000
_MOST_TRIGRAMS = 50
_TRIGRAM = re.compile(r"[^\W_]{3}")
"""PostgreSQL's index holds runs of letters and digits alone."""

Run = tuple[int, int]
"""Trials from the first to the last, by key."""


@dataclass(frozen=True, slots=True)
class Matches:
    """`steps` that hold the words, by Trial. `stopped_at`: the last Trial looked at; None: all were."""

    steps: Mapping[int, int]
    stopped_at: int | None = None


@dataclass(frozen=True, slots=True)
class Snippet:
    """A step, and the first place in it where the words stand, as they stand there."""

    step: int
    before: str
    match: str
    after: str


def cleaned(question: str) -> str:
    """What is looked for: white space counts, but alone it is nothing ('')."""
    text = question.replace("\0", "").encode(errors="replace").decode()[:LONGEST]
    return text if text.strip() else ""


def find(question: str, trials: Sequence[int]) -> Matches:
    """Which of these Trials hold the words. At most three queries, however many Trials there are."""
    if not question or not trials:
        return Matches({})
    needle, runs, stop = _Needle.of(question), _runs(trials), None
    if not needle.is_indexed:
        stop = _end_of_scan(runs)
        if stop is not None:
            runs = [(first, min(last, stop)) for first, last in runs if first <= stop]
    rows = needle.grouped(PART_BITS + STEP_BITS, f"COUNT(DISTINCT {needle.key} >> {PART_BITS})", runs)
    wanted = set(trials)
    return Matches({trial: steps for trial, steps in rows if trial in wanted}, stop)


def snippets(question: str, trials: Sequence[int], each: int) -> dict[int, list[Snippet]]:
    """The first hits of every Trial, at most `each`. At most three queries."""
    found: dict[int, list[Snippet]] = {trial: [] for trial in trials}
    if not question or not trials:
        return found
    needle = _Needle.of(question)
    rows = needle.grouped(PART_BITS, f"MIN({needle.key})", [(trial, trial) for trial in trials], each)
    texts = StepText.objects.filter(pk__in=[key for _, key in rows]).order_by("pk")
    for trial, step, text in texts.values_list("trial", "step", "text"):
        found[trial].append(_snippet(step, text, needle.text))
    return found


def _snippet(step: int, text: str, needle: str) -> Snippet:
    """`fold` keeps every character's place, so that what is found there is found here."""
    at = max(fold(text).find(needle), 0)
    end = at + len(needle)
    first, last = max(0, at - AROUND), end + AROUND
    return Snippet(
        step,
        ("…" if first else "") + text[first:at],
        text[at:end],
        text[end:last] + ("…" if last < len(text) else ""),
    )


@dataclass(frozen=True, slots=True)
class _Needle:
    """`key`: the column of `table` that holds the keys of texts."""

    text: str
    is_indexed: bool
    table: str
    key: str
    condition: str
    parameters: tuple[str, ...]

    @classmethod
    def of(cls, question: str) -> _Needle:
        text = fold(question)
        if connection.vendor == "postgresql":
            like = "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"
            return cls(text, bool(_TRIGRAM.search(text)), TABLE, "id", "folded LIKE %s", (like,))
        if len(text) >= SHORTEST and has_index(connection):
            condition = f"{INDEX} MATCH %s AND instr(folded, %s) > 0"
            return cls(text, True, INDEX, "rowid", condition, (_trigrams(text), text))
        return cls(text, False, TABLE, "id", "instr(folded, %s) > 0", (text,))

    def grouped(
        self, bits: int, value: str, runs: Sequence[Run], most: int | None = None
    ) -> list[tuple[int, int]]:
        """(key without its last `bits`, value) of the texts that hold the words, at most `most` of a run."""
        end = f" ORDER BY 1 LIMIT {most}" if most else ""
        one = (
            f"SELECT * FROM (SELECT {self.key} >> {bits} AS unit, {value} AS value FROM {self.table} "  # noqa: S608
            f"WHERE {self.condition} AND {self.key} BETWEEN %s AND %s GROUP BY 1{end}) AS run"
        )
        parameters: list[Any] = []
        for first, last in runs:
            parameters += [*self.parameters, text_key(first), text_key(last + 1) - 1]
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join([one] * len(runs)), parameters)
            found: list[tuple[int, int]] = cursor.fetchall()
        return found


def _trigrams(text: str) -> str:
    """All that stand in the text (of a very long one, many), as a question to FTS5."""
    found = dict.fromkeys(text[at : at + SHORTEST] for at in range(len(text) - SHORTEST + 1))
    quoted = ['"' + trigram.replace('"', '""') + '"' for trigram in found]
    return " AND ".join(quoted[:_MOST_TRIGRAMS])


def _runs(trials: Sequence[int]) -> list[Run]:
    """Few runs of keys that hold all of these: the index is only looked at within them."""
    keys = sorted(trials)
    gaps = [(after - before, at) for at, (before, after) in enumerate(zip(keys, keys[1:], strict=False), 1)]
    wide = sorted((gap for gap in gaps if gap[0] > _GAP), reverse=True)[: _MOST_RUNS - 1]
    cuts = [0, *sorted(at for _, at in wide), len(keys)]
    return [(keys[start], keys[end - 1]) for start, end in zip(cuts, cuts[1:], strict=False)]


def _end_of_scan(runs: Sequence[Run]) -> int | None:
    """The last Trial that is looked at, in whole; None where all are."""
    within = Q()
    for run in runs:
        within |= Q(trial__gte=run[0], trial__lte=run[1])
    texts = StepText.objects.filter(within).order_by("trial", "pk")
    beyond = texts.values_list("trial", flat=True)[SCANNED : SCANNED + 1]
    trial = next(iter(beyond), None)
    return None if trial is None else max(trial - 1, runs[0][0])
