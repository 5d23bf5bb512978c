"""The page that asks before a Job is set aside or closed, and before that is taken back."""

from __future__ import annotations

import enum

from benchmarks.pages import Crumb
from jobs.job_page import crumbs, missing_count
from jobs.job_pages import DecisionPage
from jobs.models import Job
from jobs.rows import job_href
from plural_site import formats
from plural_site.accounts.models import Project


class Kind(enum.Enum):
    SET_ASIDE = "set-aside"
    CLOSE = "close"


WORDS: dict[tuple[Kind, bool], tuple[str, str, tuple[str, ...]]] = {
    (Kind.SET_ASIDE, False): (
        "Set this Job aside?",
        "Set the Job aside",
        (
            "It then counts in no figure of any leaderboard, comparison or export, at once.",
            "Everything that it recorded stays readable, and its own page keeps its figures.",
            "The list of Jobs, this Job and its leaderboard say that it was set aside; the first two say by "
            "whom, when and why.",
            "It can be taken back.",
        ),
    ),
    (Kind.SET_ASIDE, True): (
        "Let this Job count again?",
        "Let the Job count again",
        ("Its Trials count again in the figures of its leaderboard, at once.",),
    ),
    (Kind.CLOSE, False): (
        "Close this Job?",
        "Close the Job",
        (
            "It left no result: closing it says that nothing more will come of it.",
            "Planned Trials that left nothing count as cancelled. No score changes.",
            "An import that brings more of it opens it again, and it can be taken back.",
        ),
    ),
    (Kind.CLOSE, True): (
        "Open this Job again?",
        "Open the Job again",
        ("Its missing Trials are then expected again.",),
    ),
}


def decision_page(project: Project, job: Job, kind: Kind, *, reason: str, error: str) -> DecisionPage:
    is_done = (job.set_aside_at if kind is Kind.SET_ASIDE else job.closed_at) is not None
    title, button, follows = WORDS[kind, is_done]
    href = job_href(project, job.client_job_id)
    missing = missing_count(list(job.agents.all()))
    if kind is Kind.CLOSE and not is_done:
        planned = f"{formats.count(missing)} planned Trial{'' if missing == 1 else 's'}"
        follows = (*follows, f"{planned} of this Job left nothing.")
    return DecisionPage(
        crumbs=crumbs(project, Crumb(job.client_job_id, href), Crumb(title.rstrip("?"))),
        title=title,
        job_id=job.client_job_id,
        back_href=href,
        action=f"{href}/{kind.value}",
        do="undo" if is_done else "do",
        button=button,
        is_grave=not is_done,
        follows=follows,
        needs_reason=not is_done,
        reason=formats.clean_text(reason),
        error=error,
    )
