"""What a page shows of the command line that repeats a run. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommandPart:
    """`lines` are to be copied as they are; `rerun` repeats the Job in the checkout that ran it."""

    words: str
    lines: tuple[str, ...]
    rerun: str
    notes: tuple[str, ...]
