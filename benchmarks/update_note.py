"""What a Benchmark's page says of newer revisions of what it pins."""

from __future__ import annotations

from collections import Counter

from benchmarks.domain.updates import find_offers
from benchmarks.links import updates_href
from benchmarks.models import Resource
from benchmarks.pages import Figure
from benchmarks.pinned import current_pins
from plural_site import formats
from plural_site.accounts.models import Project

KINDS = {"task": "Task", "environment": "Environment", "verifier": "Verifier"}


def updates_note(project: Project, resource: Resource) -> Figure | None:
    """How much of what the current revision pins has newer revisions, with the way to them. Three queries."""
    pinned = current_pins(resource)
    counts = Counter(offer.kind for offer in find_offers(pinned.pins, pinned.newest))
    if not counts:
        return None
    parts = [
        f"{formats.count(counts[kind])} {word}{'' if counts[kind] == 1 else 's'}"
        for kind, word in KINDS.items()
        if counts[kind]
    ]
    words = f"{', '.join(parts[:-1])} and {parts[-1]}" if parts[1:] else parts[0]
    text = f"{words} {'has a newer revision' if counts.total() == 1 else 'have newer revisions'}"
    return Figure(text, href=updates_href(project, resource.slug))
