"""Numbers, dates and outside text as a page writes them."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plural_site import formats
from plural_site.formats import BarGeometry

THIN = formats.THIN_SPACE
SPACE = formats.NO_BREAK_SPACE
UNKNOWN = [None, math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("value", UNKNOWN)
def test_unknown_is_a_dash_everywhere(value: float | None) -> None:
    assert formats.score_text(value, 0, 1) == "–"
    assert formats.score_text(value, -5, 5) == "–"
    assert formats.money(value) == "–"
    assert formats.seconds(value) == "–"
    assert formats.percent(value) == "–"
    assert formats.interval_bar(value, value, value, 0, 1) == BarGeometry(None, None, None)


def test_absent_counts_sizes_and_dates_are_a_dash() -> None:
    assert formats.count(None) == formats.bytes_text(None) == "–"
    assert formats.date_text(None) == formats.datetime_text(None) == "–"


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.9807692307692307, 0, 1, "98.1"),
        (1, 0, 1, "100.0"),
        (0.0, 0, 1, "0.0"),
        (-0.0, 0, 1, "0.0"),
        (-0.5, -1, 1, "−0.50"),
        (-0.001, -1, 1, "0.00"),
        (0.5, 0, 2, "0.50"),
        (7.25, 0, 10, "7.25"),
        (98.07, 0, 100, "98.1"),
        (312.4, 0, 1000, "312"),
        (12345.6, 0, 20000, f"12{THIN}346"),
        (0.00012, 0, 0.001, "0.000120"),
        (3e-12, 0, 1e-11, "3e−12"),
        (1e300, -1e308, 1e308, "1e+300"),
    ],
)
def test_score_text_has_the_units_of_its_range(value: float, low: float, high: float, text: str) -> None:
    assert formats.score_text(value, low, high) == text


@given(st.lists(st.floats(-20, 80), min_size=2))
def test_score_text_keeps_its_decimals_down_a_column(values: list[float]) -> None:
    texts = [formats.score_text(value, -20, 80) for value in values]
    assert {len(text.partition(".")[2]) for text in texts} == {1}


def test_score_unit_is_per_cent_for_shares_only() -> None:
    assert formats.score_unit(0, 1) == formats.score_unit(0.0, 1.0) == "%"
    assert formats.score_unit(0, 100) == formats.score_unit(-1, 1) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "$0"),
        (-0.0, "$0"),
        (0.02234874, "$0.022"),
        (0.0013, "$0.0013"),
        (0.00995, "$0.010"),
        (0.0996, "$0.10"),
        (0.4469748, "$0.45"),
        (0.999, "$1.00"),
        (12.3, "$12.30"),
        (1234567.5, f"$1{THIN}234{THIN}567.50"),
        (-0.5, "−$0.50"),
        (0.0000012, "$0.0000012"),
        (1e-9, "<$0.000001"),
    ],
)
def test_money_has_two_significant_digits(value: float, text: str) -> None:
    assert formats.money(value) == text


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_money_above_zero_never_reads_as_zero(value: float) -> None:
    assert formats.money(value).strip("$<0., ")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.0"), (0.01, "<0.1"), (0.05, "0.1"), (11.187, "11.2"), (-3, "−3.0"), (5400.2, f"5{THIN}400")],
)
def test_seconds_carry_their_unit(value: float, text: str) -> None:
    assert formats.seconds(value) == f"{text}{SPACE}s"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.0"), (0.0001, "<0.1"), (0.375, "37.5"), (0.9999, ">99.9"), (1 - 1e-12, "100.0"), (1, "100.0")],
)
def test_percent_short_of_an_end_never_reads_as_that_end(value: float, text: str) -> None:
    assert formats.percent(value) == f"{text}{SPACE}%"


def test_count_groups_thousands() -> None:
    assert [formats.count(n) for n in (0, 999, 1000, 1234567, -1000)] == [
        "0",
        "999",
        f"1{THIN}000",
        f"1{THIN}234{THIN}567",
        f"−1{THIN}000",
    ]


def test_dates_are_written_in_utc() -> None:
    evening = datetime(2026, 11, 1, 23, 5, tzinfo=timezone(timedelta(hours=-5)))
    assert formats.date_text(evening) == "2 Nov 2026"
    assert formats.datetime_text(evening) == "2 Nov 2026, 04:05 UTC"
    assert formats.date_text(datetime(2026, 1, 31, tzinfo=UTC)) == "31 Jan 2026"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (3_400_000_000, "3.4 GB"),
    ],
)
def test_bytes_text_changes_unit_before_a_thousand(size: int, text: str) -> None:
    assert formats.bytes_text(size) == text.replace(" ", SPACE)


def test_interval_bar_lies_on_the_score_range() -> None:
    assert formats.interval_bar(0.5, 0.31, 0.69, 0, 1) == BarGeometry(80.0, 49.6, 60.8)
    assert formats.interval_bar(0, -0.5, 0.5, -1, 1) == BarGeometry(80.0, 40.0, 80.0)
    assert formats.interval_bar(-15, None, None, -20, -10) == BarGeometry(80.0, None, None)
    assert formats.interval_bar(0, -1e308, 1e308, -1e308, 1e308) == BarGeometry(80.0, 0.0, 160.0)


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e9, 1e9),
    st.floats(0, 1e9),
    st.floats(-1e6, 1e6),
    st.floats(0.001, 1e6),
)
def test_interval_bar_never_leaves_its_line(
    score: float, low: float, width: float, bottom: float, span: float
) -> None:
    bar = formats.interval_bar(score, low, low + width, bottom, bottom + span)
    assert bar.point_x is not None and bar.low_x is not None and bar.width is not None
    assert 0 <= bar.point_x <= 160
    assert bar.low_x >= 0 <= bar.width
    assert bar.low_x + bar.width <= 160.05


def test_clean_text_drops_terminal_codes_and_shows_what_hides() -> None:
    assert formats.clean_text("a\x1b[31;1mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x1b\\") == "ared link"
    assert formats.clean_text("nul\x00 esc\x1b del\x7f") == "nul␀ esc␛ del␡"
    assert formats.clean_text("one\r\ntwo\tthree\nfour") == "one\ntwo\tthree\nfour"
    assert formats.clean_text("gpj\u202efdp") == "gpj⟨U+202E⟩fdp"
    assert formats.clean_text("\ud800x\udfff") == "\ufffdx\ufffd"
    assert formats.clean_text("客服 مساعد 👩🏽‍💻 é") == "客服 مساعد 👩🏽‍💻 é"


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_clean_text_leaves_nothing_hidden(text: str) -> None:
    clean = formats.clean_text(text)
    assert not any(ord(c) < 32 and c not in "\n\t" for c in clean)
    assert not set(clean) & set(
        "\x7f\x9b\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
    )
    clean.encode()
