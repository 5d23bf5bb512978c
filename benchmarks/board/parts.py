"""Parts of a page that shows a board, as values a template can print. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.pages import Figure


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """A score with its 95 % interval on the score range, as abscissas from 0 to 160.

    `low_x` and `width` are None without an interval; `point_x` is None without a score. A difference of
    scores is drawn the same way, with zero at 80.
    """

    point_x: float | None
    low_x: float | None
    width: float | None
    label: str
    """For assistive technology, e.g. "98.1, interval 94.2 to 100.0"."""
    text: str
    """E.g. "94.2 – 100.0" or "no interval"."""
    reason: str = ""
    href: str = ""
    """How it was computed."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column head; `sort` is '' , "ascending" or "descending" for the key the table is sorted by."""

    key: str
    label: str
    unit: str = ""
    title: str = ""
    numeric: bool = True
    href: str = ""
    sort: str = ""
    minor: bool = False
    """May be left out on narrow screens (it then stands in the row's details)."""


@dataclass(frozen=True, slots=True)
class CategoryCell:
    name: str
    score: Figure
    fill: float
    """Length of the bar, 0 to 100."""
    interval: str
    coverage: str
    """E.g. "4 of 4 Tasks"."""
    column: str = ""
    """Key of its column."""
    interval_href: str = ""


@dataclass(frozen=True, slots=True)
class BoardRow:
    key: str
    """Configuration content hash, short: the row's id in the page."""
    rank: str
    """"1", "2=" for a shared rank, or an en dash."""
    agent: str
    also_named: tuple[str, ...]
    model: str
    harness: str
    """E.g. "built-in loop" or "playbook-loop 1.2.0"."""
    href: str
    """What the entry's name opens."""
    score: Figure
    interval: IntervalBar
    success: Figure
    spread: Figure
    pass_hat: Figure
    coverage: Figure
    cost: Figure
    total_cost: Figure
    latency: Figure
    jobs: Figure
    attempts: Figure
    """E.g. "40", note "20 planned twice" or "6 of 20 planned" where Trials are missing."""
    outcomes: tuple[Figure, ...]
    """One for each outcome that occurs: text "3", title "agent failures", href to those Trials."""
    categories: tuple[CategoryCell, ...]
    reasons: tuple[str, ...]
    """Why it is not ranked; empty for ranked entries."""
    rank_href: str = ""
    more: tuple[Figure, ...] = ()
    """Where there is more about it; hrefs."""
    rank_range: Figure = Figure("")
    """Ranks that it may have, e.g. "1–3"; text '' where the board doesn't work them out."""
    alike: tuple[Figure, ...] = ()
    """Neighbours in rank that it can't be told apart from: text "≈ 2", href to the comparison."""
    provenance: Figure = Figure("")
    """Who ran it and how it was checked, of published results: a short label, and in full as its title."""


@dataclass(frozen=True, slots=True)
class TrackTab:
    label: str
    detail: str
    """`id@version`, or '' for untracked evidence."""
    count: int
    href: str
    current: bool


@dataclass(frozen=True, slots=True)
class Choice:
    label: str
    href: str
    current: bool


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class BoardFilters:
    """The board's filter form (GET). Names of its fields: q, model, harness, min, cost, ranked, hide, job."""

    action: str
    carried: tuple[tuple[str, str], ...]
    """Hidden fields: the rest of the board's state."""
    text: str
    least: str
    least_unit: str
    most: str
    ranked_only: bool
    models: tuple[Option, ...]
    harnesses: tuple[Option, ...]
    columns: tuple[Option, ...]
    """Columns that can be left out (`hide`); `chosen` ones are."""
    jobs: tuple[Option, ...]
    """Every Job of the board; `chosen` ones alone count, all of them where none is chosen."""
    active: bool
    words: tuple[str, ...]
    """What the board is limited to, e.g. "ranked entries"."""
    narrowing: int
    """How many of model, harness, score, cost and rank do so."""
    clear_href: str
    provenances: tuple[Option, ...] = ()
    """Of published results (`provenance`)."""


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A line of the legend. `kind` is "1" to "6", "rest", "unranked" or "frontier"."""

    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class ChartRow:
    href: str
    """The entry's row in the board."""
    agent: str
    amount: Figure
    score: str
    interval: str
    remark: str
    """E.g. "on the frontier" or "not drawn: of unknown cost"."""


@dataclass(frozen=True, slots=True)
class ChartPart:
    title: str
    says: str
    notes: tuple[str, ...]
    """What isn't drawn, and what is drawn with a reservation."""
    figure_href: str
    """Address of the figure, '' where there is nothing to draw."""
    axes: tuple[Choice, ...]
    scales: tuple[Choice, ...]
    scope: str
    scopes: tuple[Choice, ...]
    """All Tasks and each category; empty where the release has no categories."""
    marks: tuple[ChartMark, ...]
    amount_label: str
    score_unit: str
    rows: tuple[ChartRow, ...]
    """The same as a table: what is drawn from cheap to dear, then the rest."""


@dataclass(frozen=True, slots=True)
class ChooserPick:
    """The choice on the whole release or on one category; `name` is '' where there is none."""

    scope: str
    name: str
    href: str
    cost: str
    score: str
    reasons: tuple[str, ...]
    doubts: tuple[str, ...]
    runners_up: tuple[str, ...]
    more: int
    """Further runners-up."""
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChooserPart:
    """A form (GET) with the fields `floor` and `tolerance`, and what follows from them."""

    action: str
    carried: tuple[tuple[str, str], ...]
    floor: str
    tolerance: str
    """Per cent."""
    unit: str
    asked: str
    """The question in words, '' where no floor is given."""
    overall: ChooserPick | None
    categories: tuple[ChooserPick, ...]
    differs: str
    """On which categories the overall choice isn't the choice."""
    note: str
    """What the costs of categories are of, where they aren't the categories' own."""
    example: str
    example_href: str
    clear_href: str


@dataclass(frozen=True, slots=True)
class Fact:
    label: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class BoardTable:
    """The entries of a board as they are shown, with what narrows, draws and chooses among them."""

    views: tuple[Choice, ...]
    """"Overview" and "Categories"; empty where the release has no categories."""
    filters: BoardFilters
    columns: tuple[Column, ...]
    hidden: tuple[str, ...]
    """Keys of columns that the rows leave out as the heads do."""
    show_categories: bool
    range_low: str
    range_high: str
    rows: tuple[BoardRow, ...]
    """Ranked entries, in the order of the chosen sort."""
    unranked: tuple[BoardRow, ...]
    summary: str
    """E.g. "3 ranked, 1 not ranked"."""
    caption: str
    """Order and what the bars mean."""
    alike_note: str
    """What the marks of neighbours mean; '' where there is nothing to say."""
    chart: ChartPart
    chooser: ChooserPart
