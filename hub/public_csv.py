"""The board of a manifest as CSV: what is shown, in the order in which it is, unrounded."""

from __future__ import annotations

import csv
import io
from typing import Any

from benchmarks.board.columns import Columns
from hub.public_board import PublicBoard, PublicEntry
from plural_site.formats import clean_text, spreadsheet_text

COLUMNS = (
    "rank",
    "agent",
    "model",
    "harness",
    "provenance",
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
    "cost",
    "cost_measured",
    "cost_attempts",
    "cost_is_lower_bound",
    "latency",
    "latency_measured",
    "latency_attempts",
    "attempts",
    "eligible",
    "ineligible_reasons",
    "result",
    "configuration",
    "track",
    "release",
    "manifest",
)


def board_csv(board: PublicBoard) -> str:
    """UTF-8 text with a header line. Unknown is empty; a column for each Category's score comes last."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow([*COLUMNS, *(_cell(f"category.{found.id}") for found in board.categories)])
    ordered = sorted(Columns(board).ordered(board.shown), key=lambda entry: entry.rank is None)
    for entry in ordered:
        values = _values(board, entry)
        scores = [figures.score for figures in entry.categories]
        writer.writerow([_cell(value) for value in (*(values[name] for name in COLUMNS), *scores)])
    return target.getvalue()


def _values(board: PublicBoard, entry: PublicEntry) -> dict[str, Any]:
    figures, result = entry.overall, entry.result
    same = (
        *("score", "low", "high", "standard_error", "coverage", "success_rate", "successes", "valid"),
        *("cost", "cost_measured", "cost_attempts", "latency", "latency_measured", "latency_attempts"),
        "attempts",
    )
    return {
        **{name: getattr(figures, name) for name in same},
        "rank": entry.rank,
        "agent": entry.names[0],
        "model": entry.model,
        "harness": entry.harness,
        "provenance": result.provenance,
        "interval_unavailable_reason": figures.unavailable_reason,
        "complete_coverage": result.complete_coverage,
        "completion_rate": result.completion_rate,
        "cost_is_lower_bound": figures.cost_partial,
        "eligible": result.eligible,
        "ineligible_reasons": "; ".join(result.ineligible_reasons),
        "result": result.id,
        "configuration": result.configuration,
        "track": result.track,
        "release": board.published.manifest.release.version,
        "manifest": board.published.digest,
    }


def _cell(value: Any) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, int | float) else spreadsheet_text(clean_text(str(value)))
