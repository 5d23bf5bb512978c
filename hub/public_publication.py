"""The page of a publication: one manifest, at its release's address or at its digest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from django.urls import reverse

from benchmarks.board.parts import Fact, TrackTab
from benchmarks.board.table import measured_words, score_words
from benchmarks.domain.arithmetic import plain
from benchmarks.domain.identity import rules_hash
from benchmarks.domain.tracks import describe_scoring, describe_track
from benchmarks.domain.types import Track
from benchmarks.pages import Crumb, Figure
from hub.citation import citation_of
from hub.domain.manifest import Manifest, ManifestResult, ManifestTask
from hub.domain.times import parse_time
from hub.domain.words import counted
from hub.public_board import PublicBoard, PublicState, chosen_track, public_board, public_table
from hub.public_history import record_row
from hub.public_links import (
    Links,
    absolute,
    history_href,
    json_href,
    manifest_href,
    publication_href,
    release_href,
)
from hub.public_notices import notices_of
from hub.public_pages import (
    BoardPart,
    EndedResult,
    ManifestFacts,
    ProvenanceLabel,
    PublicationPage,
    PublicCategory,
    PublicTask,
    PublicTrack,
    ReleaseRow,
)
from hub.public_read import Place, Published, RecordLine
from hub.public_words import PROVENANCE, STATUS
from plural_site import formats, markdown

clean = formats.clean_text


def publication_page(
    place: Place, record: RecordLine, published: Published, links: Links, state: PublicState
) -> PublicationPage:
    """A stored manifest. Raises Http404 where the state names a track that it doesn't have."""
    page = manifest_page(published, links, state)
    line = place.line(record.version)
    withdrawn = line.withdrawal is not None
    return replace(
        page,
        crumbs=(
            Crumb("Hub", reverse("hub:home")),
            Crumb(page.title, publication_href(place) if links.is_pinned else ""),
            *((Crumb(f"Manifest {record.sequence} of release {record.version}"),) if links.is_pinned else ()),
        ),
        is_withdrawn=withdrawn,
        notices=notices_of(place, line, record, published, is_pinned=links.is_pinned),
        releases=tuple(_releases(place, record.version)),
        records=tuple(record_row(place, line, each) for each in reversed(line.records))
        if withdrawn and not links.is_pinned
        else (),
        manifest=_stored_facts(place, record, published, links, page.manifest),
        citation=citation_of(published, record, manifest_href(place, record.manifest_digest)),
        canonical_href=absolute(links.path),
    )


def manifest_page(published: Published, links: Links, state: PublicState) -> PublicationPage:
    """What a manifest says by itself, stored or about to be. Raises as `publication_page`."""
    manifest = published.manifest
    title = clean(manifest.publication.title)
    track = chosen_track(published, state.track)
    board = public_board(published, links, track, state) if track else None
    return PublicationPage(
        crumbs=(),
        title=title,
        version=manifest.release.version,
        publisher=clean(manifest.publisher.name),
        description=clean(manifest.about.description),
        is_pinned=links.is_pinned,
        is_withdrawn=manifest.status == "withdrawn",
        is_preview=not links.manifest,
        notices=(),
        board=_board_part(board) if board else None,
        ended=tuple(_ended(manifest, links)),
        provenance=tuple(_labels(manifest)),
        measured=tuple(_measured(manifest)),
        purpose=clean(manifest.about.purpose),
        success=clean(manifest.about.success),
        limitations=formats.clean_texts(manifest.about.limitations),
        license=clean(manifest.about.license),
        scoring=formats.clean_texts(describe_scoring(manifest.scoring)),
        tracks=tuple(map(track_words, manifest.tracks)),
        categories=tuple(_categories(manifest)),
        tasks=tuple(_task(manifest, task, at) for at, task in enumerate(manifest.tasks, start=1)),
        has_instructions=any(task.instructions for task in manifest.tasks),
        public_fields=formats.clean_texts(manifest.boundary.public_routing_fields),
        private_material=formats.clean_texts(manifest.boundary.private_evaluation_material),
        disclosed=tuple(_disclosed(manifest)),
        releases=(),
        records=(),
        manifest=_facts(published),
        citation=None,
        canonical_href="",
        summary=_summary(manifest, title),
    )


def _board_part(board: PublicBoard) -> BoardPart:
    return BoardPart(
        claim=measured_words(len(board.entries), board.task_count, board.track),
        claim_more=score_words(board),
        mix=_mix(board),
        tabs=tuple(_tabs(board)),
        table=public_table(board),
        cost_scope=board.cost_scope if board.state.view else "",
        track_rules=formats.clean_texts(describe_track(board.track)),
        matches_nothing=bool(board.entries) and not board.shown,
        this_href=board.href(),
        csv_href=board.part_href("leaderboard.csv"),
        json_href=json_href(board.published.digest) if board.links.manifest else "",
    )


def _mix(board: PublicBoard) -> str:
    """One list of ranks may hold results of different provenance: then it says so."""
    counts = Counter(entry.result.provenance for entry in board.entries if entry.rank is not None)
    words = [f"{counts[key]} {found.label.lower()}" for key, found in PROVENANCE.items() if counts[key]]
    if not words:
        return ""
    if len(words) == 1:
        return f"All ranked results are {words[0].partition(' ')[2]}."
    return f"Ranked together: {', '.join(words[:-1])} and {words[-1]}."


def _tabs(board: PublicBoard) -> Iterator[TrackTab]:
    manifest = board.published.manifest
    counts = Counter(result.track for result in manifest.results if result.status == "accepted")
    for track in manifest.tracks:
        yield TrackTab(
            label=clean(track.name),
            detail=track.reference,
            count=counts[track.reference],
            href=board.href(track=track.reference, sort=""),
            current=track == board.track,
        )


def _ended(manifest: Manifest, links: Links) -> Iterator[EndedResult]:
    low, high = manifest.scoring.score_range
    labels = {found.id: clean(found.label) for found in manifest.configurations}
    corrected_by = {result.supersedes: result for result in manifest.results if result.supersedes}
    for result in manifest.results:
        if result.status == "accepted":
            continue
        by = corrected_by.get(result.id)
        yield EndedResult(
            name=labels[result.configuration],
            href=links.result(result.id),
            track=result.track,
            status=STATUS[result.status],
            tone="bad" if result.status == "withdrawn" else "warn",
            score=_score(result, low, high),
            reason=clean(result.status_reason or ""),
            by=Figure(labels[by.configuration], href=links.result(by.id)) if by else None,
        )


def _score(result: ManifestResult, low: float, high: float) -> str:
    text, unit = formats.score_text(result.score, low, high), formats.score_unit(low, high)
    return f"{text}{formats.NO_BREAK_SPACE}{unit}" if unit and result.score is not None else text


def _labels(manifest: Manifest) -> Iterator[ProvenanceLabel]:
    counts = Counter(result.provenance for result in manifest.results if result.status == "accepted")
    for key, words in PROVENANCE.items():
        if counts[key]:
            yield ProvenanceLabel(words.label, counts[key], words.means, words.means_not)


def _measured(manifest: Manifest) -> Iterator[Fact]:
    accepted = [result for result in manifest.results if result.status == "accepted"]
    attempts = sum(sum(result.outcomes.values()) for result in accepted)
    jobs = {job for result in accepted for job in result.reproducibility.evaluation_ids}
    models = sorted({clean(use.model) for found in manifest.configurations for use in found.models_used})
    tracks = counted(len(manifest.tracks), "track")
    yield Fact("Results", Figure(formats.count(len(accepted)), note=f"on {tracks}"))
    yield Fact("Tasks", Figure(formats.count(len(manifest.tasks))))
    yield Fact("Attempts", Figure(formats.count(attempts), note=f"from {counted(len(jobs), 'Job')}"))
    yield Fact("Evaluated", Figure(evaluated_words(accepted)))
    if models:
        yield Fact("Models that answered", Figure(", ".join(models[:_MOST_MODELS])))


_MOST_MODELS = 20


def evaluated_words(results: Sequence[ManifestResult]) -> str:
    """From the first start to the last end, e.g. "2 Nov 2026 to 4 Nov 2026"."""
    starts = [moment for result in results if (moment := parse_time(result.evaluated_from or ""))]
    ends = [moment for result in results if (moment := parse_time(result.evaluated_to or ""))]
    if not starts and not ends:
        return formats.DASH
    first, last = (formats.date_text(each) for each in (min(starts or ends), max(ends or starts)))
    return first if first == last else f"{first} to {last}"


def track_words(track: Track) -> PublicTrack:
    return PublicTrack(
        reference=track.reference,
        name=clean(track.name),
        kind=track.kind,
        description=clean(track.description),
        rules=formats.clean_texts(describe_track(track)),
        rules_hash=rules_hash(track),
    )


def _categories(manifest: Manifest) -> Iterator[PublicCategory]:
    names = {task.id: clean(task.name) for task in manifest.tasks}
    for found in manifest.categories:
        yield PublicCategory(
            name=clean(found.name),
            id=found.id,
            description=clean(found.description),
            taxonomy=found.taxonomy or "",
            tasks=tuple(names[task] for task in found.tasks),
        )


def _task(manifest: Manifest, task: ManifestTask, position: int) -> PublicTask:
    names = {category.id: clean(category.name) for category in manifest.categories}
    return PublicTask(
        position=position,
        name=clean(task.name),
        version=clean(task.version),
        content_hash=task.id,
        short_hash=task.id.removeprefix("sha256:")[:12],
        description=clean(task.description),
        applicability=tuple(
            (clean(key), clean(value if isinstance(value, str) else formats.json_text(value)))
            for key, value in task.applicability.items()
        ),
        categories=tuple(names[ident] for ident in task.categories),
        weight=plain(task.weight),
        needs=tuple(_needs(task)),
        verifiers=tuple(f"{clean(each.name)} ({clean(each.kind)})" for each in task.verifiers),
        instructions_html=markdown.render(task.instructions) if task.instructions else "",
    )


def _needs(task: ManifestTask) -> Iterator[str]:
    needs = task.requirements
    runtime = f", runtime {needs.runtime_provider}" if needs.runtime_provider else ""
    network = f", network {needs.network}" if needs.network else ""
    yield clean(f"Environment {needs.environment}{runtime}{network}")
    limits = [
        f"{formats.count(needs.max_turns)} turns" if needs.max_turns is not None else "",
        formats.seconds(needs.max_seconds) if needs.max_seconds is not None else "",
        formats.money(needs.max_cost_usd) if needs.max_cost_usd is not None else "",
    ]
    if any(limits):
        yield f"At most {', '.join(filter(None, limits))}"
    if needs.tools:
        yield clean(f"Actions: {', '.join(needs.tools)}")


def _disclosed(manifest: Manifest) -> Iterator[str]:
    chosen = manifest.disclosure
    yield (
        "The publisher disclosed the Tasks’ instructions."
        if chosen.task_instructions
        else "The Tasks’ instructions are not disclosed."
    )
    yield (
        "The publisher disclosed what Verifiers found on example attempts."
        if chosen.verifier_findings
        else "What Verifiers found is not disclosed; example attempts show outcome, score and stop reason."
    )
    yield "Trajectories are never public."


def _releases(place: Place, version: str) -> Iterator[ReleaseRow]:
    for line in place.lines:
        end = line.withdrawal
        yield ReleaseRow(
            version=line.version,
            href=release_href(place, line.version),
            published=formats.date_text(line.first.at),
            manifests=len(line.records),
            status=f"withdrawn {formats.date_text(end.at)}" if end else "published",
            tone="bad" if end else "good",
            is_this=line.version == version,
        )


def _facts(published: Published) -> ManifestFacts:
    return ManifestFacts(
        reference=published.reference,
        digest=published.digest,
        short_digest=published.digest.removeprefix("sha256:")[:12],
        size=formats.bytes_text(published.size),
        frozen="",
        json_href="",
        verify_href="",
        bundle_href="",
        pinned_href="",
        history_href="",
        badge_href="",
        badge_markdown="",
        csv_href="",
        feed_href="",
    )


def _stored_facts(
    place: Place, record: RecordLine, published: Published, links: Links, facts: ManifestFacts
) -> ManifestFacts:
    badge = f"{links.path}/badge.svg"
    title = clean(published.manifest.publication.title).replace("[", "").replace("]", "")
    return replace(
        facts,
        frozen=formats.datetime_text(record.at),
        json_href=json_href(published.digest),
        verify_href=links.part("verify"),
        bundle_href=links.part("bundle.zip"),
        pinned_href=links.manifest,
        history_href=history_href(place),
        badge_href=badge,
        badge_markdown=f"[![{title}]({absolute(badge)})]({absolute(links.path)})",
        csv_href=links.part("leaderboard.csv"),
        feed_href=f"{publication_href(place)}/feed.atom",
    )


def _summary(manifest: Manifest, title: str) -> str:
    accepted = [result for result in manifest.results if result.status == "accepted"]
    results, tasks = counted(len(accepted), "published result"), counted(len(manifest.tasks), "Task")
    what = f"{title} {manifest.release.version}: {results} on {tasks}."
    about = clean(manifest.about.description)
    return f"{what} {about}".strip()
