"""What an execution did, read from the files that it left: states, model calls, phases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from benchmarks.domain.json_diff import Change, JsonDiff, Value, diff
from benchmarks.pages import Figure
from jobs.domain import phases as phases_of
from jobs.domain.json_tree import tree
from jobs.domain.model_calls import MAX_LISTED, Call, ModelUse, model_calls
from jobs.domain.phases import Lane, Timeline, timeline
from jobs.domain.room import Room
from jobs.models import Execution, Trial
from jobs.stored_files import StoredFiles, removed_words
from jobs.trial_config import mapping
from jobs.trial_pages import (
    AppState,
    CallRow,
    CallsPart,
    ChangeRow,
    LaneRow,
    PhaseRow,
    StatePart,
    TimelinePart,
)
from plural_site import formats

APPS, STATE, ATIF = "artifacts/apps.json", "artifacts/state.json", "artifacts/atif-trajectory.json"
MANIFEST = "artifacts/manifest.json"
MOST_STATE = 4 * 1024 * 1024
MOST_ATIF = 8 * 1024 * 1024
MOST_APPS = 20
MOST_CHANGES = 100
STATE_SIZE, STATE_NODES = 120_000, 600
CALLS_SIZE = 60_000


def has_artifacts(stored: StoredFiles) -> bool:
    """Whether there is any besides the list of them."""
    return any(file.path.startswith("artifacts/") and file.path != MANIFEST for file in stored.files)


def why_no_artifacts(execution: Execution) -> str:
    """Why an execution left none, '' where nothing explains it."""
    if execution.status == "cancelled":
        return "It was cancelled, and a cancelled execution keeps no artifacts."
    if execution.error_code or execution.stop_reason == "harness_timeout":
        cause = ", ".join(filter(None, (execution.error_code[:200], execution.stop_reason[:200])))
        words = formats.clean_text(cause).replace("_", " ")
        return f"A run keeps no artifacts where the harness crashes, times out or is stopped (here: {words})."
    return "The run recorded no artifacts."


# States ----------------------------------------------------------------------------------------------


def state_part(stored: StoredFiles, execution: Execution) -> StatePart:
    apps = stored.read_json(APPS, MOST_STATE)
    room = Room(STATE_SIZE, STATE_NODES, formats.clean_text)
    if apps.value is not None:
        shown = [_app(name, mapping(app), room) for name, app in list(apps.value.items())[:MOST_APPS]]
        more = len(apps.value) - len(shown)
        note = f"{more} further Apps are in apps.json." if more else ""
        missing = "" if shown else "The Environment has no App that keeps a state."
        return StatePart(tuple(shown), note, missing)
    if apps.problem:
        return StatePart((), "", f"apps.json is not shown: {formats.clean_text(apps.problem[:300])}.")
    state = stored.read_json(STATE, MOST_STATE)
    if state.value is not None:
        final = tree(state.value, room, label="final")
        note = "The run recorded only the final state, so there is nothing to compare it with."
        return StatePart((AppState("State", "", (), note, (final,)),), "", "")
    if state.problem:
        return StatePart((), "", f"state.json is not shown: {formats.clean_text(state.problem[:300])}.")
    if has_artifacts(stored):
        return StatePart((), "", "The run recorded no state of an App.")
    return StatePart((), "", why_no_artifacts(execution))


def _app(name: str, app: Mapping[str, Any], room: Room) -> AppState:
    states = [app[key] for key in ("initial", "final") if key in app]
    if len(states) < 2:
        note = "Only one of its two states is known." if states else "The run recorded no state of it."
        return AppState(room.text(name, 100).text, "", (), note, tuple(tree(state, room) for state in states))
    initial, final = states
    found = diff(initial, final, most=MOST_CHANGES)
    rows = []
    for change in found.changes:
        if room.size <= 0:
            break
        rows.append(_change(change, room))
    control = app.get("control")
    return AppState(
        name=room.text(name, 100).text,
        control=room.text(control, 40).text if isinstance(control, str) else "",
        changes=tuple(rows),
        summary=_changes_in_words(found, len(rows)),
        trees=(tree(initial, room, label="initial"), tree(final, room, label="final")),
    )


def _changes_in_words(found: JsonDiff, shown: int) -> str:
    if not found.total:
        return "Nothing in it changed."
    word = "change" if found.total == 1 else "changes"
    first = f", the first {shown} are shown" if shown < found.total else ""
    return f"{formats.count(found.total)} {word} from initial to final{first}."


def _change(change: Change, room: Room) -> ChangeRow:
    path = room.text(change.path or "the whole state", 400)
    old, new = (_value(value, room) if value else ("", "") for value in (change.old, change.new))
    return ChangeRow(path.text + ("…" if path.left_out else ""), change.kind, old[0], new[0], old[1], new[1])


def _value(value: Value, room: Room) -> tuple[str, str]:
    shown = room.text(value.text)
    left = value.left_out + shown.left_out
    start = f"{formats.count(value.skipped)} equal characters before; " if value.skipped else ""
    note = f"{start}{formats.count(value.length)} characters in all" if left or value.skipped else ""
    return f"{'…' if value.skipped else ''}{shown.text}{'…' if left else ''}", note


# Model calls -----------------------------------------------------------------------------------------


def calls_part(stored: StoredFiles, trial: Trial, execution: Execution) -> CallsPart:
    read = stored.read_json(ATIF, MOST_ATIF)
    if read.value is None:
        return CallsPart((), (), "", (), _why_no_calls(stored, execution, read.problem))
    found = model_calls(read.value)
    if not found.steps:
        return CallsPart((), (), "", (), "The trajectory holds no call of a model.")
    room = Room(CALLS_SIZE, 0, formats.clean_text)
    totals = [_total(use, room) for use in found.models] if len(found.models) > 1 else []
    whole = found.whole
    words = f"{formats.count(whole.calls)} call{'' if whole.calls == 1 else 's'}"
    if found.steps > MAX_LISTED:
        words += f", the first {MAX_LISTED} steps that made one are listed"
    notes = []
    if whole.cost is None:
        notes.append("No call reported a cost.")
    elif whole.without_cost:
        notes.append(
            f"{formats.count(whole.without_cost)} of {formats.count(whole.calls)} calls reported no cost, so "
            "the total is a lower bound."
        )
    reported = found.reported_without_cost
    if reported is not None and reported != whole.without_cost:
        notes.append(f"The run itself counted {formats.count(reported)} calls without a cost.")
    if execution.is_final:
        notes += _compared(whole.cost, trial)
    return CallsPart(
        rows=tuple(_call(call, room) for call in found.listed),
        totals=(*totals, _total(whole, room)),
        words=f"{words}.",
        notes=tuple(notes),
        missing="",
    )


def _why_no_calls(stored: StoredFiles, execution: Execution, problem: str) -> str:
    file = stored.get(ATIF)
    if file is not None and file.removed:
        return f"The trajectory was {removed_words(file)}, and with it its calls of models."
    if problem == "too large":
        size = formats.bytes_text(MOST_ATIF)
        return f"The trajectory is larger than {size}, so its calls are not listed here: see the trajectory."
    if problem:
        return f"The calls can’t be read: {formats.clean_text(problem[:300])}."
    if has_artifacts(stored):
        return "The run recorded no trajectory with usage (atif-trajectory.json)."
    return why_no_artifacts(execution)


def _compared(cost: float | None, trial: Trial) -> list[str]:
    if cost is None:
        return []
    if trial.cost_usd is None:
        return [
            "The receipt has no cost, so none counts, though these calls cost at least "
            f"{formats.money(cost)}."
        ]
    if not math.isclose(cost, trial.cost_usd, rel_tol=1e-6, abs_tol=1e-9):
        return [
            f"The receipt says {formats.money(trial.cost_usd)}, these calls add up to {formats.money(cost)}. "
            "The receipt counts."
        ]
    return []


def _call(call: Call, room: Room) -> CallRow:
    several = f"{call.calls} calls in this step" if call.calls > 1 else ""
    return CallRow(
        step=room.text(call.step, 40).text or formats.DASH,
        model=room.text(call.model, 100).text or formats.DASH,
        input=formats.count(call.input_tokens),
        cached=formats.count(call.cached_tokens),
        output=formats.count(call.output_tokens),
        cost=_cost(call.cost, several),
        seconds=formats.seconds(call.seconds),
    )


def _total(use: ModelUse, room: Room) -> CallRow:
    some = f"without {formats.count(use.without_cost)} calls" if use.without_cost and use.cost else ""
    return CallRow(
        step=formats.count(use.calls),
        model=room.text(use.model, 100).text or "All calls",
        input=formats.count(use.input_tokens),
        cached="",
        output=formats.count(use.output_tokens),
        cost=_cost(use.cost, some, at_least=bool(use.without_cost)),
        seconds="",
    )


def _cost(cost: float | None, note: str, *, at_least: bool = False) -> Figure:
    if cost is None:
        return Figure(formats.DASH, "No cost was reported", note)
    return Figure(f"{'≥ ' if at_least else ''}{formats.money(cost)}", str(cost), note)


# Phases ----------------------------------------------------------------------------------------------


def timeline_part(receipt: Mapping[str, Any], problem: str) -> TimelinePart:
    if problem:
        return TimelinePart((), (), phases_of.WIDTH, "", f"receipt.json is not shown: {problem}.")
    found = timeline(receipt.get("phases"))
    if found is None:
        return TimelinePart(
            (), (), phases_of.WIDTH, "", "The receipt lists no phases, as where nothing was started."
        )
    repeats = any(lane.count > 1 for lane in found.lanes)
    return TimelinePart(
        lanes=tuple(_lane(lane) for lane in found.lanes),
        phases=tuple(
            PhaseRow(_name(phase.name), _after(phase.start), formats.seconds(phase.seconds))
            for phase in found.phases
        )
        if repeats
        else (),
        width=phases_of.WIDTH,
        words=" ".join(_timeline_words(found)),
        missing="",
    )


def _timeline_words(found: Timeline) -> list[str]:
    words = [
        f"{formats.count(found.phases_total)} phase{'' if found.phases_total == 1 else 's'} in "
        f"{formats.seconds(found.seconds)}."
    ]
    if found.lanes_total > len(found.lanes):
        words.append(f"{formats.count(found.lanes_total - len(found.lanes))} further names are not drawn.")
    if found.overlaps:
        words.append("Some overlap, so that their times add up to more.")
    if found.unreadable:
        words.append(f"{formats.count(found.unreadable)} entries without a name or times are left out.")
    return words


def _lane(lane: Lane) -> LaneRow:
    times = f" {formats.count(lane.count)} times" if lane.count > 1 else ""
    return LaneRow(
        name=_name(lane.name),
        count=formats.count(lane.count),
        start=_after(lane.start),
        seconds=formats.seconds(lane.seconds),
        label=f"{_name(lane.name)}:{times} from {_after(lane.start)}, in all {formats.seconds(lane.seconds)}",
        spans=lane.spans,
    )


def _name(name: str) -> str:
    return formats.clean_text(name).replace("_", " ")


def _after(seconds: float) -> str:
    return formats.seconds(seconds)
