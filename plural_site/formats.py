"""How figures, dates and outside text are written on a page. Pure functions.

Unknown (None, NaN, infinite) is always `DASH`, never zero. Negative numbers carry a true minus sign and
thousands a narrow no-break space.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

DASH = "–"
MINUS = "\u2212"
THIN_SPACE = "\u202f"
NO_BREAK_SPACE = "\u00a0"
BAR_WIDTH = 160.0

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MAX_DECIMALS = 9
_SMALLEST_MONEY = 1e-6
_LARGEST_FIXED = 1e15


@dataclass(frozen=True, slots=True)
class BarGeometry:
    """Abscissas from 0 to 160 on the score range, to one decimal. None where there is nothing to draw."""

    point_x: float | None
    low_x: float | None
    width: float | None


def score_text(value: float | None, low: float, high: float) -> str:
    """A score on the range [low, high]: per cent for [0, 1], else its own units.

    The decimals depend on the range alone, so they are the same all the way down a column.
    """
    value = _known(value)
    if value is None:
        return DASH
    if _is_share(low, high):
        return _fixed(value * 100, 1)
    decimals = _decimals(high - low)
    return _short(value) if decimals is None else _fixed(value, decimals)


def score_unit(low: float, high: float) -> str:
    """The unit that stands in the column head: "%" for the range [0, 1], else ''."""
    return "%" if _is_share(low, high) else ""


def money(value: float | None) -> str:
    """US dollars: two significant digits below a dollar, cents from there on; only zero is "$0"."""
    value = _known(value)
    if value is None:
        return DASH
    if value == 0:
        return "$0"
    sign, size = (MINUS if value < 0 else ""), abs(value)
    if size < _SMALLEST_MONEY:
        return f"{sign}<$0.000001"
    exponent = int(f"{size:.1e}".partition("e")[2])
    decimals = max(2, 1 - exponent)
    return f"{sign}${_fixed(size, decimals)}"


def seconds(value: float | None) -> str:
    """A duration in seconds with its unit: one decimal, whole from 1,000 s on."""
    value = _known(value)
    if value is None:
        return DASH
    if 0 < value < 0.05:
        return f"<0.1{NO_BREAK_SPACE}s"
    return f"{_fixed(value, 0 if abs(value) >= 1000 else 1)}{NO_BREAK_SPACE}s"


def percent(value: float | None) -> str:
    """A share from 0 to 1 in per cent. A share short of 1 never reads as 100, one above 0 never as 0."""
    value = _known(value)
    if value is None:
        return DASH
    shown = value * 100
    if 99.95 <= shown < 100 - 1e-7:
        return f">99.9{NO_BREAK_SPACE}%"
    if 1e-7 < shown < 0.05:
        return f"<0.1{NO_BREAK_SPACE}%"
    return f"{_fixed(shown, 1)}{NO_BREAK_SPACE}%"


def count(value: int | None) -> str:
    return DASH if value is None else _group(f"{value:d}")


def date_text(moment: datetime | None) -> str:
    """E.g. "2 Nov 2026", in UTC."""
    if moment is None:
        return DASH
    moment = _utc(moment)
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def datetime_text(moment: datetime | None) -> str:
    """E.g. "2 Nov 2026, 14:05 UTC"."""
    return DASH if moment is None else f"{date_text(moment)}, {_utc(moment):%H:%M} UTC"


def bytes_text(size: int | None) -> str:
    """A size in decimal units, e.g. "999 B", "1.2 kB", "3.4 GB"."""
    if size is None:
        return DASH
    if size < 1000:
        return f"{size}{NO_BREAK_SPACE}B"
    amount, unit = size / 1000, "kB"
    for larger in ("MB", "GB", "TB"):
        if amount < 999.95:
            break
        amount, unit = amount / 1000, larger
    return f"{_fixed(amount, 1)}{NO_BREAK_SPACE}{unit}"


def interval_bar(
    score: float | None, low: float | None, high: float | None, range_low: float, range_high: float
) -> BarGeometry:
    """Where a score and its interval lie on the score range, cut off at its ends."""
    scale = 0.5 if math.isinf(range_high - range_low) else 1.0

    def place(value: float) -> float:
        share = (value * scale - range_low * scale) / (range_high * scale - range_low * scale)
        return round(min(max(share, 0.0), 1.0) * BAR_WIDTH, 1)

    score, low, high = _known(score), _known(low), _known(high)
    point_x = None if score is None else place(score)
    if low is None or high is None:
        return BarGeometry(point_x, None, None)
    low_x = place(low)
    return BarGeometry(point_x, low_x, round(place(high) - low_x, 1))


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_TERMINAL_CODE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor moves
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles and hyperlinks
    r"|\x1b[@-Z\\^_]"
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def clean_text(text: str) -> str:
    """Outside text without terminal codes, and with every other hidden control made visible.

    Line ends become "\\n". Direction overrides show as "⟨U+202E⟩", control characters as their
    pictures ("␀"), lone surrogates as U+FFFD. What is left may stand in XML, too. The result is still to be
    escaped.
    """
    text = _TERMINAL_CODE.sub("", text.replace("\r\n", "\n"))
    return _HIDDEN.sub(lambda match: _visible(ord(match.group())), text)


def spreadsheet_text(text: str) -> str:
    """`text` for a cell of a CSV file: what a spreadsheet would run as a formula gets a "'" in front."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def json_text(value: Any) -> str:
    """Indented JSON that is safe to print: hidden controls stand as "\\u202e". Raises ValueError for NaN."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    return _HIDDEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def clean_texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(clean_text(text) for text in texts)


def _visible(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"⟨U+{code:04X}⟩"


def _known(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _is_share(low: float, high: float) -> bool:
    return low == 0 and high == 1


def _decimals(span: float) -> int | None:
    """Decimals that tell a thousandth of the span apart; None where that takes too many."""
    if math.isinf(span):
        return 0
    decimals = max(0, 3 - math.ceil(math.log10(span)))
    return decimals if decimals <= _MAX_DECIMALS else None


def _fixed(value: float, decimals: int) -> str:
    return _short(value) if abs(value) >= _LARGEST_FIXED else _group(f"{value:.{decimals}f}")


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-", MINUS)


def _group(digits: str) -> str:
    negative = digits.startswith("-")
    whole, point, rest = digits.lstrip("-").partition(".")
    sign = MINUS if negative and (whole + rest).strip("0") else ""
    if len(whole) > 3:
        whole = f"{int(whole):,}".replace(",", THIN_SPACE)
    return f"{sign}{whole}{point}{rest}"


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
