"""A publication with a past, put into the database of the site under test (by `manage.py shell`)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hub.domain.assemble import assemble, revise
from hub.domain.facts import StatusChange
from hub.domain.manifest import Disclosure, ManifestPublication
from tests.domain.hub import recorded
from tests.domain.hub.made import MADE
from tests.frozen_rows import frozen

START = datetime(2026, 11, 2, 14, 5, tzinfo=UTC)
DAY = timedelta(days=1)
LONG = "a-benchmark-with-a-name-that-nobody-would-give-" * 3


def publish() -> None:
    """Release 1.0.0 with results withdrawn and corrected, release 1.1.0, and one publication withdrawn."""
    *early, late = recorded.all_results("1.0.0")
    early = [replace(each, provenance="plural_executed") if at % 2 else each for at, each in enumerate(early)]
    first = assemble(**{**recorded.inputs("1.0.0", early), "published_at": START})
    frozen(first, account="desk", at=START)
    second = assemble(**{**recorded.inputs("1.0.0", [late]), "published_at": START + DAY, "previous": first})
    frozen(second, account="desk", at=START + DAY)
    withdrawn = next(result.id for result in second.results if "quick" in result.id)
    why = "Ran on the wrong policy text."
    third = revise(second, published_at=START + 2 * DAY, changes=[StatusChange(withdrawn, True, why)])
    frozen(third, "withdraw", why, result=withdrawn, account="desk", at=START + 2 * DAY)
    rambler = next(each for each in early if "rambler" in each.id)
    cost = "Costs were read from the wrong column."
    again = replace(rambler, id="res_rambler_again", supersedes=rambler.id, reason=cost)
    fourth = assemble(
        **{**recorded.inputs("1.0.0", [again]), "published_at": START + 3 * DAY, "previous": third}
    )
    frozen(fourth, "correct", cost, result=rambler.id, account="desk", at=START + 3 * DAY)
    disclosed = {"disclosure": Disclosure(task_instructions=True, verifier_findings=True)}
    newest = assemble(**{**recorded.inputs("1.1.0"), **disclosed, "published_at": START + 4 * DAY})
    frozen(newest, account="desk", at=START + 4 * DAY)
    publication = ManifestPublication("pub_gone", "gone", f"<b>Gone</b> {LONG}", "/hub/desk/gone")
    gone = assemble(**{**MADE, "publication": publication, "published_at": START})
    frozen(gone, account="desk", at=START)
    ended = revise(gone, published_at=START + DAY, status="withdrawn")
    frozen(ended, "withdraw", "The Tasks were not ours.", account="desk", at=START + DAY)
