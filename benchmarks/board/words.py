"""Words and small conversions that a board's page, chart and files share."""

from __future__ import annotations

from benchmarks.domain.types import Scoring
from plural_site import formats

INTERVAL_WORDS = "Bars are 95 % intervals (normal, over Tasks) and leave out how attempts at one Task vary."
SMALLEST_P = 0.0001


def plain_name(text: str) -> str:
    """A name from outside as the state of a board holds it."""
    return formats.clean_text(text).strip()


def from_shown(value: float, scoring: Scoring) -> float:
    """A score as readers write it (per cent for the range 0 to 1) in the score's own units."""
    return value / 100 if formats.score_unit(*scoring.score_range) else value


def threshold_words(scoring: Scoring) -> str:
    if scoring.success_threshold is None:
        return "This release has no pass mark"
    mark = formats.score_text(scoring.success_threshold, *scoring.score_range)
    unit = formats.score_unit(*scoring.score_range)
    return f"Share of valid attempts at or above {mark}{' ' + unit if unit else ''}"


def short_hash(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]


def p_text(p: float) -> str:
    """Three significant digits."""
    return f"<{SMALLEST_P}" if p < SMALLEST_P else f"{p:.3g}"
