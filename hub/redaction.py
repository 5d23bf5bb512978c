"""Taking what was found out of the free text of a manifest."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from hub.domain.leaks import Finding, redact_all
from hub.domain.manifest import Manifest
from hub.domain.stored import manifest_bytes, parse_manifest

FREE_TEXT = (
    ("about",),
    ("publication", "title"),
    ("publisher", "name"),
    ("tasks", int, "description"),
    ("tasks", int, "instructions"),
    ("tasks", int, "applicability"),
    ("categories", int, "description"),
    ("tracks", int, "description"),
    ("results", int, "status_reason"),
    ("results", int, "examples", int, "findings"),
)
"""Ways to texts that no rule, name or figure rests on; `int` stands for any position."""


def can_redact(finding: Finding) -> bool:
    return bool(finding.spans) and not finding.in_key and any(_leads(way, finding) for way in FREE_TEXT)


def redacted(manifest: Manifest, findings: Sequence[Finding]) -> Manifest:
    """The manifest with those of these findings replaced that are in free text."""
    content: Any = json.loads(manifest_bytes(manifest))
    by_path: dict[tuple[str | int, ...], list[Finding]] = defaultdict(list)
    for finding in filter(can_redact, findings):
        by_path[finding.path].append(finding)
    for path, found in by_path.items():
        *way, last = path
        place = content
        for part in way:
            place = place[part]
        place[last] = redact_all(place[last], found)
    return parse_manifest(json.dumps(content, ensure_ascii=False).encode())


def _leads(way: Sequence[object], finding: Finding) -> bool:
    if len(finding.path) < len(way):
        return False
    return all(
        isinstance(part, int) if wanted is int else part == wanted
        for wanted, part in zip(way, finding.path, strict=False)
    )
