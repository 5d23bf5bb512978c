"""How the final states of two Trials differ."""

from __future__ import annotations

from typing import Any

from benchmarks.domain.json_diff import Value, diff
from jobs.domain.room import Room
from jobs.stored_files import StoredFiles
from jobs.trajectory_pages import StateChange, StatesPart
from jobs.trajectory_steps import clean
from jobs.trial_config import mapping
from jobs.trial_runs import APPS, MOST_STATE
from plural_site import formats

MOST_APPS, MOST_CHANGES = 20, 60
STATES_ROOM = 80_000
KINDS = {"added": "only in B", "removed": "only in A", "changed": "differs"}


def states_part(a: StoredFiles | None, b: StoredFiles | None) -> StatesPart:
    """From A's final states to B's, of the Apps that either has."""
    states: list[dict[str, Any]] = []
    for letter, stored in (("A", a), ("B", b)):
        read = stored.read_json(APPS, MOST_STATE) if stored else None
        if read is None or read.value is None:
            why = f" ({clean(read.problem[:200])})" if read and read.problem else ""
            return StatesPart((), f"{letter} recorded no final state of its Apps{why}.")
        states.append({name: mapping(app).get("final") for name, app in read.value.items()})
    room, total = Room(STATES_ROOM, 0, clean), 0
    rows: list[StateChange] = []
    for name in list(dict.fromkeys([*states[0], *states[1]]))[:MOST_APPS]:
        found = diff(states[0].get(name), states[1].get(name), most=MOST_CHANGES)
        total += found.total
        for change in found.changes:
            if len(rows) < MOST_CHANGES and room.size > 0:
                path = room.text(change.path or "the whole state", 300).text
                old, new = (_text(value, room) for value in (change.old, change.new))
                rows.append(StateChange(room.text(name, 100).text, path, KINDS[change.kind], old, new))
    if not total:
        return StatesPart((), "Both left their Apps in the same final state.")
    differences = f"{formats.count(total)} difference{'' if total == 1 else 's'}"
    more = f", the first {len(rows)} are shown" if len(rows) < total else ""
    return StatesPart(tuple(rows), f"{differences} between the final states{more}.")


def _text(value: Value | None, room: Room) -> str:
    if value is None:
        return ""
    cut = room.text(value.text, 300)
    return f"{'…' if value.skipped else ''}{cut.text}{'…' if cut.left_out or value.left_out else ''}"
