"""What is gathered of a trajectory besides its steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jobs.domain.trajectory import values

MAX_WORDS = 200
"""Notes or problems kept of one file."""
MAX_EMBEDDED = 2_000
MAX_HANDLE = 200


@dataclass(slots=True)
class About:
    """`totals` as declared: input, output, cached, cost, calls without a cost."""

    agent: str = ""
    model: str = ""
    session: str = ""
    totals: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    continued: str = ""
    embedded: list[tuple[str, str, int, int]] = field(default_factory=list)
    """(handle, trajectory id, offset, bytes) of each trajectory inside the file."""

    def note(self, text: str) -> None:
        if len(self.notes) < MAX_WORDS:
            self.notes.append(values.storable(text[:1000]))

    def problem(self, text: str) -> None:
        if len(self.problems) < MAX_WORDS:
            self.problems.append(values.storable(text[:1000]))
        elif len(self.problems) == MAX_WORDS:
            self.problems.append("There are more problems than are listed here.")

    def embed(self, ident: str, offset: int, size: int) -> None:
        """Its handle is its id, where that can stand in an address and is not taken."""
        if len(self.embedded) == MAX_EMBEDDED:
            self.problem(f"Only the first {MAX_EMBEDDED} embedded trajectories can be opened.")
        if len(self.embedded) >= MAX_EMBEDDED:
            return
        handle = ident if 0 < len(ident) <= MAX_HANDLE and ident.isprintable() and "#" not in ident else ""
        if not handle or any(handle == taken for taken, *_ in self.embedded):
            handle = f"{len(self.embedded) + 1}~{handle}"[:MAX_HANDLE].rstrip("~")
        self.embedded.append((handle, ident, offset, size))
