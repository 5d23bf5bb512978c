"""Which findings are still open, given what people decided. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hub.domain.leaks.types import Finding


@dataclass(frozen=True, slots=True)
class Waiver:
    """Somebody's decision to publish what a finding found. `by` names the person, `at` is ISO 8601 or ''."""

    reason: str
    by: str
    at: str = ""

    @property
    def counts(self) -> bool:
        """A waiver without a reason or a person is none."""
        return bool(self.reason.strip() and self.by.strip())


@dataclass(frozen=True, slots=True)
class Settlement:
    """Findings of one candidate by what became of them, each in the order of the scan.

    `stale` are ids of waivers that no finding has any more: the value was redacted, left out or changed.
    """

    open: tuple[Finding, ...] = ()
    waived: tuple[tuple[Finding, Waiver], ...] = ()
    information: tuple[Finding, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def may_publish(self) -> bool:
        return not self.open


def settle(findings: Iterable[Finding], waivers: Mapping[str, Waiver]) -> Settlement:
    """`waivers` by id of the finding. What has been redacted or left out is simply found no more."""
    still_open, waived, information, seen = [], [], [], set()
    for finding in findings:
        seen.add(finding.id)
        waiver = waivers.get(finding.id)
        if not finding.blocks:
            information.append(finding)
        elif waiver is not None and waiver.counts:
            waived.append((finding, waiver))
        else:
            still_open.append(finding)
    stale = tuple(sorted(set(waivers) - seen))
    return Settlement(tuple(still_open), tuple(waived), tuple(information), stale)


def open_findings(findings: Iterable[Finding], waivers: Mapping[str, Waiver]) -> tuple[Finding, ...]:
    """Findings that block and that nobody has waived with a reason."""
    return settle(findings, waivers).open
