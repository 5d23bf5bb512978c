"""The bytes that would become public, what in them looks private, and how that is settled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from hub.candidate import Builder, Candidate
from hub.domain.leaks import Finding, PrivateMaterial, Settlement, scan, settle
from hub.domain.manifest import Manifest
from hub.domain.stored import digest_of, manifest_bytes
from hub.private_material import private_material
from hub.redaction import redacted
from hub.wizard import DraftView


@dataclass(frozen=True, slots=True)
class Checked:
    """A candidate as bytes, with everything that was found in them."""

    candidate: Candidate
    manifest: Manifest
    body: bytes
    findings: tuple[Finding, ...]
    settlement: Settlement

    @property
    def digest(self) -> str:
        return digest_of(self.body)


class Checking:
    def __init__(self, view: DraftView) -> None:
        self.view = view
        self.builder = Builder(view)

    @cached_property
    def private(self) -> PrivateMaterial:
        return private_material(self.builder.gathering, self.view.choices)

    def check(self, at: datetime) -> Checked:
        """The bytes that this draft stands for at the time `at`. Raises DomainError."""
        candidate = self.builder.build(at)
        manifest, chosen = candidate.manifest, self.view.choices
        findings = self.scan(manifest_bytes(manifest), manifest)
        if any(finding.id in chosen.redacted for finding in findings):
            manifest = redacted(manifest, [found for found in findings if found.id in chosen.redacted])
            findings = self.scan(manifest_bytes(manifest), manifest)
        settled = settle(findings, chosen.waived)
        return Checked(candidate, manifest, manifest_bytes(manifest), tuple(findings), settled)

    def scan(self, body: bytes, manifest: Manifest) -> list[Finding]:
        return scan(body, self.private, public_names(manifest), public_texts(manifest))


def public_names(manifest: Manifest) -> set[str]:
    """Names that are public as such, so that a private text that is just one of them gives nothing away."""
    return {
        *(task.name for task in manifest.tasks),
        *(tool for task in manifest.tasks for tool in task.requirements.tools),
        *(task.requirements.environment for task in manifest.tasks),
        *(verifier.name for task in manifest.tasks for verifier in task.verifiers),
        *(category.id for category in manifest.categories),
        *(category.name for category in manifest.categories),
        *(track.id for track in manifest.tracks),
        *(found.model for found in manifest.configurations),
        *(found.label for found in manifest.configurations),
        *(found.harness for found in manifest.configurations if found.harness),
    }


def public_texts(manifest: Manifest) -> set[str]:
    """Texts that are public whatever is published."""
    return {*manifest.boundary.public_routing_fields, *manifest.boundary.private_evaluation_material}
