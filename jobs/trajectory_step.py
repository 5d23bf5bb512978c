"""One step alone, with all of its parts, and its parts by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse

from benchmarks.board.parts import Choice
from benchmarks.pages import Crumb
from jobs.domain.trajectory.types import EMBEDDED
from jobs.files import PLAIN, POLICY, file_response, image_type
from jobs.models import StepIndex
from jobs.stored_files import removed_words
from jobs.trajectories import image_bytes, outline, read_step, stream_block, stream_raw_step
from jobs.trajectory_links import TrajectoryQuery, number
from jobs.trajectory_open import Opened
from jobs.trajectory_page import FOLDS, trial_crumbs
from jobs.trajectory_pages import PagerPart, StepPage
from jobs.trajectory_steps import STEP_BLOCKS, Look, step_views
from plural_site import formats
from plural_site.errors import GoneError

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT_LIMIT = 100_000
"""Characters of one part."""


def index_of(opened: Opened) -> StepIndex:
    """Raises Http404 where there is no trajectory, or where it is still to be read."""
    if opened.is_gone:
        raise GoneError(opened.missing)
    if opened.index is None:
        raise Http404(opened.missing or "This trajectory has to be opened first.")
    return opened.index


def step_page(opened: Opened, at: int, query: Mapping[str, str]) -> StepPage:
    """Raises Http404 where there is no such step."""
    index = index_of(opened)
    shown, links, fold = opened.shown, opened.links, TrajectoryQuery.parse(query).fold
    step = read_step(index, at)
    parts = len(step.blocks)
    last = max(-(-parts // STEP_BLOCKS), 1)
    page = min(max(number(query.get("page", "")), 1), last)
    first = (page - 1) * STEP_BLOCKS
    look = Look(
        links,
        shown.execution.number if shown.execution else 0,
        opened.by_path,
        fold,
        text_limit=TEXT_LIMIT,
        blocks=(first, STEP_BLOCKS),
    )
    row = outline(index, at, 1)[0]

    def to(wanted: int) -> str:
        return links.step(at, page=wanted, fold=fold) if 1 <= wanted <= last else ""

    trajectory = links.page(step=at, anchor=f"step-{at}")
    crumbs = trial_crumbs(shown, Crumb("Trajectory", trajectory), Crumb(f"Step {formats.count(at)}"))
    return StepPage(
        crumbs=crumbs,
        task=formats.clean_text(shown.trial.task_name),
        agent=formats.clean_text(shown.trial.job_agent.name),
        number=at,
        of=formats.count(index.steps),
        step=step_views([(row, step)], look)[0],
        pager=PagerPart(
            words=f"Page {formats.count(page)} of {formats.count(last)}",
            first_href=to(1) if page > 1 else "",
            previous_href=to(page - 1),
            next_href=to(page + 1),
            last_href=to(last) if page < last else "",
        ),
        previous_href=links.step(at - 1, fold=fold) if at > 1 else "",
        next_href=links.step(at + 1, fold=fold) if at < index.steps else "",
        trajectory_href=trajectory,
        folds=tuple(
            Choice(label, links.step(at, page=page, fold=value), current=fold == value)
            for value, label in FOLDS
        ),
    )


def raw_response(opened: Opened, at: int) -> HttpResponseBase:
    """The bytes of a step as plain text, of any size."""
    return _text(stream_raw_step(index_of(opened), at))


def block_response(opened: Opened, at: int, block: int) -> HttpResponseBase:
    return _text(stream_block(index_of(opened), at, block))


def image_response(opened: Opened, at: int, block: int) -> HttpResponseBase:
    """A picture in a step, or a file that it names. Raises Http404 for what is no picture of a known type."""
    index, stored = index_of(opened), opened.shown.stored
    blocks = read_step(index, at).blocks
    image = blocks[block].image if 0 <= block < len(blocks) else None
    if image is not None and image.path != EMBEDDED and stored is not None:
        file = stored.get(image.path)
        if file is not None and file.removed:
            raise GoneError(f"This picture was {removed_words(file)}.")
        if file is None or not image_type(stored, file):
            raise Http404("This is no PNG, JPEG, GIF or WebP picture.")
        return file_response(opened.shown.trial, index.execution.number, file.path)
    kind, data = image_bytes(index, at, block)
    return _safe(HttpResponse(data), kind)


def _text(pieces: Iterator[bytes]) -> HttpResponseBase:
    return _safe(StreamingHttpResponse(pieces), PLAIN)


def _safe(response: HttpResponseBase, kind: str) -> HttpResponseBase:
    """Nothing in it can run, since it comes from outside."""
    response.headers["Content-Type"] = kind
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
