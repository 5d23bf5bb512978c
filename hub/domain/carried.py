"""Published results carried into the next manifest of their release: as they are, corrected, withdrawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hub.domain.facts import StatusChange
from hub.domain.manifest import Manifest, ManifestResult

_LABELS = frozenset({"status", "supersedes", "status_reason", "examples", "ineligible_reasons"})
"""Of a published result, what may come out in other words when it is computed anew, and its state."""


def combine(
    before: Manifest | None,
    computed: Sequence[ManifestResult],
    reasons: Mapping[str, str],
    changes: Sequence[StatusChange],
) -> tuple[list[ManifestResult], list[str]]:
    """All results of the next manifest, and what keeps it from being.

    `computed` holds new results, those that correct a published one, for the reason in `reasons` under
    their id, and published ones computed anew, whose examples are then shown by the new disclosure.
    """
    published = {result.id: result for result in before.results} if before else {}
    found = dict(published)
    problems: list[str] = []
    for result in computed:
        old = published.get(result.id)
        if old is None:
            found[result.id] = result
        elif fields := differing(old, result):
            problems.append(
                f"Result {result.id!r} no longer comes out as it was published (it differs in "
                f"{', '.join(fields)}). Publish the new figures as a correction."
            )
        else:
            found[result.id] = replace(old, examples=result.examples)
        if old is None and result.supersedes is not None:
            problems += _supersede(found, published, result, reasons.get(result.id, ""))
    for change in changes:
        problems += _change(found, published, change)
    return list(found.values()), problems


def differing(published: ManifestResult, computed: ManifestResult) -> list[str]:
    """Names of the figures and facts in which they differ, without what is only wording."""
    one, other = (
        replace(each, uncertainty=replace(each.uncertainty, method=None, unavailable_reason=None))
        for each in (published, computed)
    )
    return [
        name
        for name in ManifestResult.__dataclass_fields__
        if name not in _LABELS and getattr(one, name) != getattr(other, name)
    ]


def without_findings(results: Sequence[ManifestResult]) -> list[ManifestResult]:
    return [
        replace(result, examples=tuple(replace(shown, findings=()) for shown in result.examples))
        for result in results
    ]


def _supersede(
    found: dict[str, ManifestResult],
    published: Mapping[str, ManifestResult],
    result: ManifestResult,
    reason: str,
) -> list[str]:
    """Marks the result that `result` corrects. One that was withdrawn stays so, with its own reason."""
    old = found.get(result.supersedes or "") if result.supersedes in published else None
    if old is None:
        return [f"Result {result.id!r} corrects {result.supersedes!r}, which was not published."]
    if old.status == "superseded":
        return [f"Result {result.id!r} corrects {old.id!r}, which has been corrected already."]
    if old.status == "accepted":
        found[old.id] = replace(old, status="superseded", status_reason=reason)
    return []


def _change(
    found: dict[str, ManifestResult], published: Mapping[str, ManifestResult], change: StatusChange
) -> list[str]:
    old = found.get(change.result) if change.result in published else None
    if old is None:
        return [f"Result {change.result!r} was not published, so its status can't change."]
    wanted = "accepted" if change.withdrawn else "withdrawn"
    if old.status != wanted:
        return [f"Result {old.id!r} is {old.status}: only one that is {wanted} can change so."]
    if not change.withdrawn:
        found[old.id] = replace(old, status="accepted", status_reason=None)
    elif change.reason.strip():
        found[old.id] = replace(old, status="withdrawn", status_reason=change.reason)
    else:
        return [f"The withdrawal of result {old.id!r} must say why."]
    return []
