"""A board as JSON and CSV: the entries that are shown, in the order in which they are, unrounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from benchmarks.board.columns import Columns
from benchmarks.board.state import LIMITING, BoardState
from benchmarks.models import Revision
from jobs.board import Board
from jobs.entries import Entry
from jobs.models import Tally
from plural_site.formats import clean_text, json_text, spreadsheet_text

CSV_COLUMNS = (
    "rank",
    "agent",
    "model",
    "harness",
    "configuration",
    "score",
    "low",
    "high",
    "standard_error",
    "interval_unavailable_reason",
    "coverage",
    "complete_coverage",
    "success_rate",
    "successes",
    "valid",
    "completion_rate",
    "spread",
    "pass_hat",
    "k",
    "cost",
    "cost_measured",
    "cost_attempts",
    "cost_total",
    "cost_partial",
    "latency",
    "latency_measured",
    "latency_attempts",
    "attempts",
    "planned",
    "missing",
    "eligible",
    "ineligible_reasons",
    "jobs",
)


def leaderboard_values(board: Board) -> dict[str, Any]:
    """The names of fields are those of the HTTP API."""
    return {
        "benchmark": {"name": board.revision.resource.name, "slug": board.revision.resource.slug},
        "revision": _revision(board.revision),
        "track": board.selection.reference or None,
        "entries": [_entry(entry) for entry in shown_order(board)],
    }


def shown_order(board: Board) -> list[Entry]:
    """Ranked entries in the chosen order, then the others, as on the page."""
    ordered = Columns(board).ordered(board.shown)
    return sorted(ordered, key=lambda entry: entry.rank is None)


def leaderboard_json(board: Board, *, with_tasks: bool = False) -> str:
    """Says what it is limited to, and has "tasks" only where the board was loaded with them."""
    values = leaderboard_values(board)
    if not with_tasks:
        for entry in values["entries"]:
            del entry["tasks"]
    entries = values.pop("entries")
    return json_text({**values, "selection": _selection(board.state), "entries": entries}) + "\n"


def leaderboard_csv(board: Board) -> str:
    """UTF-8 text with a header line. Unknown is empty; text is as on the pages, quoted by "'" where a
    spreadsheet might run it.
    """
    categories = [category.id for category in board.selection.rules.categories]
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow([*CSV_COLUMNS, *(_cell(f"category.{name}") for name in categories)])
    for entry in shown_order(board):
        values = _flat(entry)
        scores = [row.score for row in entry.categories]
        writer.writerow([_cell(value) for value in (*(values[name] for name in CSV_COLUMNS), *scores)])
    return target.getvalue()


def _selection(state: BoardState) -> dict[str, Any]:
    """Parameters of the address that leave something out of the board."""
    filters = {name: getattr(state, name) for name in LIMITING}
    return {"jobs": list(state.job), "filters": {name: text for name, text in filters.items() if text}}


def _flat(entry: Entry) -> dict[str, Any]:
    row, values = entry.overall, _entry(entry)
    consistency = row.detail["consistency"]
    return {
        **values,
        **{name: values["uncertainty"][name] for name in ("low", "high", "standard_error")},
        "interval_unavailable_reason": values["uncertainty"]["unavailable_reason"],
        "successes": row.successes,
        "valid": row.valid,
        **{name: consistency[name] for name in ("spread", "pass_hat", "k")},
        "cost": row.cost,
        "cost_measured": row.cost_measured,
        "cost_attempts": row.cost_attempts,
        "cost_total": row.cost_total,
        "cost_partial": row.cost_partial,
        "latency": row.latency,
        "latency_measured": row.latency_measured,
        "latency_attempts": row.latency_attempts,
        "attempts": row.attempts,
    }


def _cell(value: Any) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    return spreadsheet_text(clean_text(value if isinstance(value, str) else "; ".join(_strings(value))))


def _strings(values: Iterable[Any]) -> list[str]:
    return [str(value) for value in values]


def _revision(revision: Revision) -> dict[str, Any]:
    return {
        "number": revision.number,
        "version": revision.version or None,
        "content_hash": revision.content_hash,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    row = entry.overall
    return {
        "rank": entry.rank,
        "agent": entry.names[0],
        "configuration": entry.configuration.content_hash,
        "model": entry.configuration.model,
        "harness": entry.agents[0].harness or None,
        "score": row.score,
        "uncertainty": _uncertainty(row),
        "coverage": row.coverage,
        "complete_coverage": row.complete_coverage,
        "tasks_covered": row.detail["tasks_covered"],
        "tasks_total": row.detail["tasks_total"],
        "success_rate": row.success_rate,
        "completion_rate": row.completion_rate,
        "cost": _cost(row),
        "latency": _latency(row),
        "outcomes": row.outcomes,
        "planned": row.planned,
        "missing": entry.missing,
        "categories": [_category(category) for category in entry.categories],
        "tasks": [_task(task) for task in entry.tasks],
        "eligible": row.eligible,
        "ineligible_reasons": row.reasons,
        "jobs": list(dict.fromkeys(agent.job.client_job_id for agent in reversed(entry.agents))),
    }


def _uncertainty(row: Tally) -> dict[str, Any]:
    return {
        "low": row.low,
        "high": row.high,
        "standard_error": row.standard_error,
        "sample_size": row.sample_size,
        "unavailable_reason": row.detail.get("unavailable_reason"),
    }


def _cost(row: Tally) -> dict[str, Any]:
    return {
        "value": row.cost,
        "measured": row.cost_measured,
        "attempts": row.cost_attempts,
        "total": row.cost_total,
        "partial": row.cost_partial,
    }


def _latency(row: Tally) -> dict[str, Any]:
    return {"value": row.latency, "measured": row.latency_measured, "attempts": row.latency_attempts}


def _category(row: Tally) -> dict[str, Any]:
    return {
        "id": row.key,
        "name": row.detail["name"],
        "taxonomy": row.detail["taxonomy"],
        "score": row.score,
        "uncertainty": _uncertainty(row),
        "coverage": row.coverage,
        "tasks_covered": row.detail["tasks_covered"],
        "tasks_total": row.detail["tasks_total"],
        "success_rate": row.success_rate,
        "cost": _cost(row),
        "latency": _latency(row),
    }


def _task(row: Tally) -> dict[str, Any]:
    return {
        "task": row.key,
        "attempts": row.attempts,
        "valid": row.valid,
        "successes": row.successes,
        "score": row.score,
        "success_rate": row.success_rate,
        **row.detail,
    }
