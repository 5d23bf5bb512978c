"""What the public pages show, as values a template can print. See `benchmarks.pages`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.board.parts import BoardTable, Fact, IntervalBar, TrackTab
from benchmarks.pages import Crumb, Figure


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a facet with the number of listings that it would leave; `href` sets or unsets it."""

    label: str
    count: int
    href: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class FacetGroup:
    key: str
    label: str
    values: tuple[FacetValue, ...]
    more: int
    """Further values, which a search narrows down to."""


@dataclass(frozen=True, slots=True)
class ListingCard:
    title: str
    href: str
    version: str
    publisher: str
    description: str
    results: str
    """E.g. "3 results on 10 Tasks"."""
    kinds: tuple[str, ...]
    taxonomies: tuple[str, ...]
    licence: str
    updated: str
    is_withdrawn: bool


@dataclass(frozen=True, slots=True)
class HubHomePage:
    query: str
    carried: tuple[tuple[str, str], ...]
    """Hidden fields of the search: the facets that are chosen."""
    facets: tuple[FacetGroup, ...]
    chosen: tuple[Figure, ...]
    """Each chosen facet value in words; its href takes it away."""
    total: str
    """E.g. "12 Benchmarks"."""
    listings: tuple[ListingCard, ...]
    next_href: str
    first_href: str
    """'' on the first page."""
    clear_href: str
    is_empty: bool
    """Nothing is published at all."""
    withdrawn: Figure | None
    """How many withdrawn ones the search leaves out, with the address that shows them."""
    feed_href: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a reader has to know before the figures. `tone`: info, warn or bad."""

    tone: str
    title: str
    text: str
    links: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class ProvenanceLabel:
    label: str
    count: int
    """Accepted results of the manifest that carry it."""
    means: str
    means_not: str


@dataclass(frozen=True, slots=True)
class EndedResult:
    """A result that is not ranked any more: withdrawn, or corrected by another."""

    name: str
    href: str
    track: str
    status: str
    tone: str
    score: str
    reason: str
    by: Figure | None
    """The result that corrects it."""


@dataclass(frozen=True, slots=True)
class PublicTask:
    position: int
    name: str
    version: str
    content_hash: str
    short_hash: str
    description: str
    applicability: tuple[tuple[str, str], ...]
    categories: tuple[str, ...]
    weight: str
    needs: tuple[str, ...]
    """What running it takes, e.g. "Environment desk, runtime local" and "at most 20 turns"."""
    verifiers: tuple[str, ...]
    """E.g. "desk-check (deterministic)"."""
    instructions_html: str
    """Sanitised HTML, safe to print unescaped; '' where they are not disclosed."""


@dataclass(frozen=True, slots=True)
class PublicCategory:
    name: str
    id: str
    description: str
    taxonomy: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PublicTrack:
    reference: str
    name: str
    kind: str
    description: str
    rules: tuple[str, ...]
    rules_hash: str


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    version: str
    href: str
    published: str
    manifests: int
    status: str
    tone: str
    is_this: bool


@dataclass(frozen=True, slots=True)
class Citation:
    """Ready to be copied. `text` is a plain sentence, the others are files too."""

    text: str
    bibtex: str
    cff: str
    bibtex_href: str
    cff_href: str


@dataclass(frozen=True, slots=True)
class ManifestFacts:
    """The manifest itself and what can be done with it; hrefs are '' in a preview."""

    reference: str
    digest: str
    short_digest: str
    size: str
    frozen: str
    json_href: str
    verify_href: str
    bundle_href: str
    pinned_href: str
    history_href: str
    badge_href: str
    badge_markdown: str
    csv_href: str
    feed_href: str


@dataclass(frozen=True, slots=True)
class BoardPart:
    """The results of one track; None where the manifest has no track."""

    claim: str
    claim_more: str
    mix: str
    """Which provenances are ranked together."""
    tabs: tuple[TrackTab, ...]
    table: BoardTable
    cost_scope: str
    """What is said of costs under the view of categories."""
    track_rules: tuple[str, ...]
    matches_nothing: bool
    this_href: str
    csv_href: str
    json_href: str


@dataclass(frozen=True, slots=True)
class RecordRow:
    sequence: int
    version: str
    title: str
    """E.g. "Published" or "Result withdrawn"."""
    tone: str
    reason: str
    by: str
    at: str
    digest: str
    short_digest: str
    manifest_href: str
    verify_href: str
    diff: Figure | None
    """Against the manifest before."""
    is_head: bool


@dataclass(frozen=True, slots=True)
class PublicationPage:
    crumbs: tuple[Crumb, ...]
    title: str
    version: str
    publisher: str
    description: str
    is_pinned: bool
    is_withdrawn: bool
    is_preview: bool
    notices: tuple[Notice, ...]
    board: BoardPart | None
    ended: tuple[EndedResult, ...]
    provenance: tuple[ProvenanceLabel, ...]
    measured: tuple[Fact, ...]
    purpose: str
    success: str
    limitations: tuple[str, ...]
    license: str
    scoring: tuple[str, ...]
    tracks: tuple[PublicTrack, ...]
    categories: tuple[PublicCategory, ...]
    tasks: tuple[PublicTask, ...]
    has_instructions: bool
    public_fields: tuple[str, ...]
    private_material: tuple[str, ...]
    disclosed: tuple[str, ...]
    """What the publisher chose to disclose, and what not, in sentences."""
    releases: tuple[ReleaseRow, ...]
    records: tuple[RecordRow, ...]
    """Of a release that was withdrawn, the newest first: what stands instead of its leaderboard."""
    manifest: ManifestFacts
    citation: Citation | None
    canonical_href: str
    """For machines that show a link to this page: absolute."""
    summary: str
    """For them, too: one sentence."""


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """The records of one release, the newest first."""

    version: str
    href: str
    is_current: bool
    records: tuple[RecordRow, ...]


@dataclass(frozen=True, slots=True)
class HistoryPage:
    crumbs: tuple[Crumb, ...]
    title: str
    lines: tuple[HistoryLine, ...]
    diff_action: str
    choices: tuple[tuple[str, str], ...]
    """Digest and words of every manifest, for the form that compares two."""
    feed_href: str


@dataclass(frozen=True, slots=True)
class DiffPart:
    label: str
    old: str
    new: str
    """'' where there is nothing on that side."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    sign: str
    """"added", "removed" or "changed"."""
    what: str
    reason: str
    parts: tuple[DiffPart, ...]
    more: int
    """Further values, which the manifests themselves show."""


@dataclass(frozen=True, slots=True)
class DiffPage:
    crumbs: tuple[Crumb, ...]
    title: str
    old: RecordRow | None
    """None: compared with nothing, before it was published."""
    new: RecordRow
    rows: tuple[DiffRow, ...]
    summary: str
    between: tuple[RecordRow, ...]
    """Records after the old manifest up to the new one, each with its reason."""
    swap_href: str
    history_href: str
    diff_action: str
    choices: tuple[tuple[str, str], ...]
    old_digest: str
    new_digest: str


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A result at one Task."""

    name: str
    score: Figure
    fill: float
    """Length of the bar, 0 to 100."""
    attempts: str
    success: str
    agent_failures: int
    infrastructure_errors: int
    weight: str


@dataclass(frozen=True, slots=True)
class CategoryLine:
    name: str
    score: Figure
    interval: IntervalBar
    coverage: str


@dataclass(frozen=True, slots=True)
class ExampleLine:
    task: str
    attempt: int
    outcome: str
    score: str
    stop_reason: str
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResultPage:
    crumbs: tuple[Crumb, ...]
    name: str
    title: str
    """Of the publication."""
    version: str
    notices: tuple[Notice, ...]
    status: str
    status_tone: str
    is_ended: bool
    rank: str
    of: str
    """E.g. "of 3 ranked"."""
    score: Figure
    unit: str
    interval: IntervalBar
    range_low: str
    range_high: str
    figures: tuple[Fact, ...]
    reasons: tuple[str, ...]
    provenance: ProvenanceLabel
    submitted: tuple[Fact, ...]
    configuration: tuple[Fact, ...]
    models_used: tuple[str, ...]
    hashes: tuple[tuple[str, str], ...]
    """What, and its digest or id, to be copied."""
    jobs: tuple[str, ...]
    track: PublicTrack
    commands: tuple[str, ...]
    command_notes: tuple[str, ...]
    tasks: tuple[TaskLine, ...]
    categories: tuple[CategoryLine, ...]
    cost_scope: str
    examples: tuple[ExampleLine, ...]
    examples_note: str
    board_href: str
    pinned_href: str
    corrections: tuple[Figure, ...]
    """The result that it corrects, and the one that corrects it."""


@dataclass(frozen=True, slots=True)
class CheckRow:
    what: str
    expected: str
    found: str
    ok: bool


@dataclass(frozen=True, slots=True)
class CheckGroup:
    title: str
    ok: int
    failed: int
    rows: tuple[CheckRow, ...]
    """Those that fail first."""
    more: int
    """Further ones, all of which hold."""


@dataclass(frozen=True, slots=True)
class VerifyPage:
    crumbs: tuple[Crumb, ...]
    title: str
    version: str
    digest: str
    reference: str
    tone: str
    summary: str
    failed: tuple[CheckRow, ...]
    groups: tuple[CheckGroup, ...]
    records: tuple[RecordRow, ...]
    not_recomputable: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]
    bundle_href: str
    json_href: str
    manifest_href: str


@dataclass(frozen=True, slots=True)
class ResolvePage:
    """The form that takes a reference, and why the one given leads nowhere."""

    reference: str
    problem: str


@dataclass(frozen=True, slots=True)
class UnreadablePage:
    crumbs: tuple[Crumb, ...]
    digest: str
    why: str
    json_href: str
    history_href: str
